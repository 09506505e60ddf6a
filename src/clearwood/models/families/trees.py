"""A single decision tree."""

from typing import Any

from clearwood.models.entry import Entry, Job
from clearwood.models.families.tasks import ANY
from clearwood.models.spaces import Choice, Whole

__all__ = ["ENTRIES"]


def _tree(job: Job) -> Any:
    from clearwood.models.estimators.pruned_tree import PrunedTreeClassifier, PrunedTreeRegressor

    settings = dict(job.settings)
    if settings["criterion"] is None:
        del settings["criterion"]
    kind = PrunedTreeClassifier if job.task.is_classification else PrunedTreeRegressor
    return kind(random_state=job.seed, **settings)


ENTRIES = (
    Entry(
        name="tree",
        title="Decision tree (CART), pruned by cross-validation",
        family="tree",
        tasks=ANY,
        reading="tree",
        source="scikit-learn DecisionTreeRegressor, DecisionTreeClassifier",
        section="Hiabu 5.1-5.2; Rosso 8; Shah 2.1; course notes 7",
        loss="squared error or Gini impurity + penalty · number of leaves",
        estimates="mean; probability",
        build=_tree,
        defaults={
            "prune": True,
            "folds": 5,
            "max_depth": None,
            "min_samples_leaf": 5,
            "criterion": None,
        },
        space={
            "prune": Choice(True, "one-se"),  # noqa: FBT003 - a value, not a switch
            "max_depth": Whole(2, 12),
            "min_samples_leaf": Whole(1, 50, log=True),
        },
        missing="native",
        complexity=3,
    ),
)
