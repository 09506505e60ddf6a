"""Risk against the number of training rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.neighbors import KNeighborsClassifier

import clearwood as cw
from clearwood import InputError
from clearwood.benchmarking import learning_curve
from clearwood.resampling import HoldOut, KFold, MonteCarlo, splits_of


def test_risk_falls_and_training_loss_rises_with_rows(diabetes):
    curve = learning_curve("ols", diabetes, sizes=[30, 100, 300], seed=1)
    assert (np.diff(curve.risk) < 0).all()
    assert (np.diff(curve.training) > 0).all()
    assert (curve.training < curve.risk).all()
    assert (curve.low < curve.risk).all()
    assert (curve.risk < curve.high).all()


def test_curve_ends_at_the_cross_validated_risk(diabetes):
    curve = learning_curve("ols", diabetes, sizes=[1.0], outer=4, seed=2)
    losses = np.empty(diabetes.n_rows)
    smallest = min(len(split.train) for split in splits_of(diabetes, KFold(4), seed=2))
    assert curve.sizes.tolist() == [smallest]
    for split in splits_of(diabetes, KFold(4), seed=2):
        model = cw.learner("ols").fit(diabetes.take(split.train))
        losses[split.test] = (
            diabetes.y[split.test] - model.predict(diabetes.take(split.test))
        ) ** 2
    # folds differ by a row, so the training sides may too
    assert curve.risk[0] == pytest.approx(losses.mean(), rel=0.01)


class NeedsThreeClasses(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        if len(np.unique(y)) < 3:
            raise ValueError("a class is missing")
        self.model_ = KNeighborsClassifier(1).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def test_smallest_part_has_every_class(wine):
    curve = learning_curve(NeedsThreeClasses(), wine, sizes=[3, 20])
    assert curve.sizes.tolist() == [3, 20]
    assert curve.loss == "log"


@pytest.mark.parametrize(
    ("outer", "kind"),
    [(KFold(3), "naive"), (HoldOut(0.3), "hold-out"), (MonteCarlo(4, 0.3), "corrected")],
)
def test_curve_says_which_interval_it_has(diabetes, outer, kind):
    curve = learning_curve("ols", diabetes, sizes=[50], outer=outer)
    assert curve.interval == kind
    assert kind in repr(curve)


def test_rows_tested_twice_are_one_observation(diabetes):
    once = learning_curve("ols", diabetes, sizes=[200], outer=KFold(3, 1))
    thrice = learning_curve("ols", diabetes, sizes=[200], outer=KFold(3, 3))
    assert thrice.se[0] > 0.85 * once.se[0]


def grouped(n=60, **roles):
    rng = np.random.default_rng(0)
    columns = {
        "x": np.arange(n) + 0.25,
        "who": [f"p{i % 12}" for i in range(n)],
        "when": 7 * np.arange(n),
        "y": rng.normal(size=n),
    }
    return cw.read(columns, target="y", **roles)


class Recorder(RegressorMixin, BaseEstimator):
    """Predicts zero, and keeps the rows it is fitted to."""

    def __init__(self, seen=None):
        self.seen = seen

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        self.seen.append(np.sort(X[:, 0]).astype(int))
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_parts_of_the_training_rows_have_whole_groups():
    recorder = Recorder([])
    table = grouped(group="who").select(("x", "who", "y"))
    curve = learning_curve(recorder, table, sizes=[10, 30], outer=3)
    assert curve.interval == "naive"
    assert [len(rows) for rows in recorder.seen] == [10, 30] * 3
    for rows in recorder.seen:
        assert set(np.bincount(rows % 12, minlength=12)) <= {0, 5}


def test_parts_of_the_training_rows_are_the_most_recent():
    recorder = Recorder([])
    table = grouped(time="when").select(("x", "when", "y"))
    curve = learning_curve(recorder, table, sizes=[5, 10], outer=4)
    assert curve.interval == "per-origin"
    ends = [rows[-1] for rows in recorder.seen]
    assert ends == sorted(ends)
    for rows in recorder.seen:
        assert (np.diff(rows) == 1).all()


@pytest.mark.parametrize("sizes", [[0], [1000], [1.5], [-0.2], ["a"]])
def test_impossible_sizes_are_refused(diabetes, sizes):
    with pytest.raises(InputError, match="sizes="):
        learning_curve("ols", diabetes, sizes=sizes)
