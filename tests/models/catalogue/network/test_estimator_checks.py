"""scikit-learn's own checks of estimators, for networks that are as small as they can be."""

import pytest

from clearwood.models.catalogue.network.estimators import NetworkClassifier, NetworkRegressor

pytest.importorskip("torch")

# what the checks are about is the same in all networks; those for grids do not fit every table
SMALL = {"units": 8, "layers": 1, "epochs": 15, "batch_size": 100, "learning_rate": 0.05}


KNOWN_DIFFERENCES = {
    "check_sample_weight_equivalence_on_dense_data": "two rows of weight 1 and one of weight 2 "
    "fall into other batches",
}


@pytest.mark.estimators(
    NetworkRegressor(**SMALL), NetworkClassifier(**SMALL), expected=KNOWN_DIFFERENCES
)
def test_a_learner_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)
