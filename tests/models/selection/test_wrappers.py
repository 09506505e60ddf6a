"""Searches with the learner itself, against the same search by hand."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.models.selection.candidates import candidates
from clearwood.models.selection.wrappers import WrapperProblem
from clearwood.table import Task


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    town = rng.choice(list("abc"), 80)
    y = X[:, 0] + X[:, 1] + 2 * (town == "a") + 0.5 * rng.normal(size=80)
    return cw.read({**{f"x{j}": X[:, j] for j in range(4)}, "town": town, "y": y}, target="y")


def _held_out(learner, data, names):
    """The squared error of a learner with some columns, over the folds of a search."""
    folds = candidates(data, data.y, None, Task.REGRESSION, 0).folds(3)
    losses = []
    for train, test in folds:
        model = cw.learner(learner).fit(data.select(names).take(train), data.y[train])
        losses.append(np.mean((model.predict(data.select(names).take(test)) - data.y[test]) ** 2))
    return np.mean(losses)


# the one needs a factor for each fold, the other a fit for each set of columns
@pytest.mark.parametrize("learner", ["ols", "knn"])
def test_forward_adds_the_column_with_the_least_held_out_loss(data, learner):
    chosen = []
    for _ in range(3):
        rest = [name for name in data.features if name not in chosen]
        chosen.append(min(rest, key=lambda name: _held_out(learner, data, [*chosen, name])))
    model = cw.learner(learner, select="forward:3").fit(data)
    assert set(model.selected_) == set(chosen)
    assert model.selection_.order[:3] == tuple(chosen)
    assert "town" in chosen  # as a whole, whatever its indicators are


@pytest.mark.parametrize("learner", ["ols", "knn"])
def test_backward_removes_the_column_that_is_missed_least(data, learner):
    kept, removed = list(data.features), []
    while len(kept) > 2:
        least = min(kept, key=lambda name: _held_out(learner, data, [k for k in kept if k != name]))
        kept.remove(least)
        removed.append(least)
    model = cw.learner(learner, select="backward:2").fit(data)
    assert set(model.selected_) == set(kept)
    assert model.selection_.order[-1] == removed[0]


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [("ols", {}), ("ols", {"categories": "target"}), ("ridge", {"alpha": 30.0})],
)
def test_one_factor_gives_the_held_out_loss_of_fits(name, options, is_weighted):
    rng = np.random.default_rng(1)
    rows = {"a": rng.normal(size=60), "twin": None, "town": rng.choice(list("abcd"), 60)}
    rows["twin"] = 2 * rows["a"] - 1
    rows["gaps"] = np.where(rng.random(60) < 0.2, np.nan, rng.normal(size=60))
    data = cw.read({**rows, "y": rows["a"] + rng.normal(size=60)}, target="y")
    weights = rng.choice([0.5, 1.0, 3.0], 60) if is_weighted else None
    these = candidates(data, data.y, weights, Task.REGRESSION, 0)

    def make(names):
        return cw.learner(name, task="regression", **options)

    problem = WrapperProblem(make, data.select(these.names), these, weights)
    train, test = these.folds(3)[0]
    quick = problem.held_out(train, test)
    for chosen in ([1, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0], [1, 1, 1, 1]):
        names = [one for one, is_in in zip(these.names, chosen, strict=True) if is_in]
        fitted = problem.fit(train, names)
        slow = problem.loss(fitted, problem.table.select(names).take(test), test)
        assert quick(np.array(chosen, bool)) == pytest.approx(slow, rel=1e-9)


@pytest.mark.parametrize(("search", "first"), [("forward", "a"), ("backward", "b")])
def test_of_equally_good_columns_the_first_one_moves(search, first):
    rng = np.random.default_rng(2)
    a = rng.normal(size=60)
    data = cw.read({"a": a, "b": a * 3, "y": a + rng.normal(size=60)}, target="y")
    assert cw.learner("ols", select=f"{search}:1").fit(data).selected_ == (first,)


def test_recursive_keeps_what_the_learner_needs(data):
    model = cw.learner("knn", select="recursive:3").fit(data)
    assert set(model.selected_) == {"x0", "x1", "town"}


def test_a_search_for_all_columns_takes_all(data):
    assert cw.learner("ols", select="forward:5").fit(data).selected_ == data.features
