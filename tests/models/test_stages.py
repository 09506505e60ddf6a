"""The number of boosted trees: chosen on rows held out in turn, or on a tenth of many rows."""

from dataclasses import replace

import numpy as np
import pytest

import clearwood as cw
from clearwood.models import Job, Rows, catalogue
from clearwood.models.entries import stages as _stages
from clearwood.table import Task

BOOSTERS = [entry.name for entry in catalogue.entries() if entry.stages and entry.available]


def _rows(task, n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    signal = 2 * np.sin(2 * X[:, 0]) + X[:, 1]
    if task is Task.REGRESSION:
        return Rows(X, signal + rng.normal(size=n))
    if task is Task.COUNT:
        return Rows(X, rng.poisson(np.exp(signal / 3)).astype(float))
    return Rows(X, np.digitize(signal + rng.normal(size=n), [-1, 1]))


def _job(name, task, rows, **changes):
    entry = catalogue.get(name)
    settings = {**entry.defaults, "learning_rate": 0.2, **changes}
    n, columns = rows.X.shape
    return entry, entry.resolved(Job(task, settings, n_rows=n, n_columns=columns))


def _loss(task, y, predicted, weight):
    if task is Task.REGRESSION:
        losses = (y - predicted) ** 2
    elif task is Task.COUNT:
        losses = predicted - y * np.log(predicted)
    else:
        losses = -np.log(predicted[np.arange(len(y)), y.astype(int)])
    return float(weight @ losses)


@pytest.mark.parametrize("task", [Task.REGRESSION, Task.COUNT, Task.MULTICLASS])
@pytest.mark.parametrize("name", BOOSTERS)
def test_the_number_is_where_the_loss_of_all_folds_together_is_smallest(name, task):
    """Each fold is grown in one piece here; growing bit by bit must lead to about the same."""
    rows = _rows(task)
    weight = np.random.default_rng(1).integers(1, 4, len(rows.y)).astype(float)
    rows = replace(rows, weight=weight)
    entry, job = _job(name, task, rows)
    trees = entry.stages.setting
    chosen = _stages.with_best_trees(entry, job, rows, None).settings[trees]
    most = replace(job, settings={**job.settings, trees: 100})
    pooled = np.zeros(100)
    for train, test in _stages._folds(rows.y, None, job):
        model = _stages.fit_boosting(entry, most, rows.take(train), rows.take(test), patience=999)
        stages = entry.stages.at(model, rows.X[test], range(1, 101), task is Task.MULTICLASS)
        pooled += [_loss(task, rows.y[test], predicted, weight[test]) for predicted in stages]
    assert 1 <= chosen < 110
    # other random columns are drawn where a library starts again
    best, base = pooled.min(), pooled[0]
    assert pooled[min(round(chosen / 1.1), 100) - 1] - best <= 0.05 * (base - best)


@pytest.mark.parametrize("name", BOOSTERS)
def test_all_rows_are_fitted_with_the_number_chosen(name):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(250, 3))
    rows = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": x[:, 0] ** 2 + rng.normal(size=250)}
    data = cw.read(rows, target="y")
    model = cw.learner(name, learning_rate=0.3).fit(data)
    trees = model.entry.stages.setting
    number = model.training_["settings"][trees]
    assert model.entry.stages.trees(model.estimator_) == number
    single = cw.learner(name, learning_rate=0.3, **{trees: number}).fit(data)
    np.testing.assert_array_equal(model.predict(data), single.predict(data))
    assert trees not in single.training_["settings"]


def test_noise_gets_few_trees_and_a_strong_signal_many():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (200, 3))
    numbers = []
    for y in (rng.normal(size=200), np.sin(3 * x[:, 0]) * x[:, 1]):
        data = cw.read({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}, target="y")
        numbers.append(
            cw.learner("gbm", learning_rate=0.1).fit(data).training_["settings"]["max_iter"]
        )
    assert numbers[0] < 30
    assert numbers[1] > 100


def test_many_rows_have_a_tenth_held_out_once_and_larger_trees():
    def held_out(n):
        job = Job(Task.REGRESSION, {})
        return sorted(len(test) for _, test in _stages._folds(np.zeros(n), None, job))

    assert held_out(10_000) == [1_000]
    assert held_out(9_999) == [1_999, 2_000, 2_000, 2_000, 2_000]
    entry = catalogue.get("gbm")
    few, many = (
        entry.resolved(Job(Task.REGRESSION, entry.defaults, n_rows=n)).settings
        for n in (9_999, 10_000)
    )
    assert (few["learning_rate"], few["max_leaf_nodes"]) == (0.05, 8)
    assert (many["learning_rate"], many["max_leaf_nodes"]) == (0.1, 31)


def test_every_row_is_held_out_once_and_every_class_can_be_learned():
    y = np.repeat([0, 1, 2], [60, 30, 1])
    folds = list(_stages._folds(y, None, Job(Task.MULTICLASS, {})))
    for train, test in folds:
        assert set(y[train]) == {0, 1, 2}
        assert 5 <= np.sum(y[test] == 1) <= 7
        assert sorted([*train, *test]) == list(range(len(y)))
    held_out = np.concatenate([test for _, test in folds])
    # but for one row of each class, which is always among those that are fitted
    assert len(set(held_out)) == len(held_out) == len(y) - 3


def test_rows_of_one_group_are_held_out_together():
    groups = np.repeat(np.arange(30), 4)
    folds = list(_stages._folds(np.zeros(120), groups, Job(Task.REGRESSION, {})))
    assert len(folds) == 5
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])


def test_too_few_rows_to_hold_any_out_get_the_usual_number():
    rows = _rows(Task.REGRESSION, n=12)
    entry, job = _job("gbm", Task.REGRESSION, rows)
    assert _stages.with_best_trees(entry, job, rows, None) == job
    assert job.settings["max_iter"] == 200


def test_held_out_rows_of_weight_zero_do_not_matter():
    rows = _rows(Task.REGRESSION)
    entry, job = _job("gbm", Task.REGRESSION, rows)
    unused = np.arange(300) < 150
    rows = replace(rows, weight=np.where(unused, 0.0, 1.0))
    spoiled = replace(rows, y=np.where(unused, 50.0, rows.y))
    chosen = _stages.with_best_trees(entry, job, rows, None)
    assert _stages.with_best_trees(entry, job, spoiled, None).settings == chosen.settings


def test_a_loss_without_a_constant_may_be_negative():
    assert _stages._nearly(-300.0) == -300.0
    assert _stages._nearly(0.5) > 0.5


@pytest.mark.parametrize("name", BOOSTERS)
@pytest.mark.parametrize("task", [Task.COUNT, Task.AMOUNT])
def test_folds_without_an_event_are_left_out(name, task):
    rows = _rows(task, n=60)
    entry, job = _job(name, task, rows)
    job = replace(job, zeros=0.97)
    folds = list(_stages._folds(rows.y, None, job))
    for events, left in (([folds[0][1][0]], 0), ([folds[0][1][0], folds[2][1][0]], 2)):
        y = np.zeros(60)
        y[events] = 2.0
        few = replace(rows, y=y)
        assert len(list(_stages.useful_folds(few, None, job))) == left
        chosen = _stages.with_best_trees(entry, job, few, None)
        assert (chosen == job) == (left == 0)


def test_a_class_of_one_row_cannot_show_how_many_trees_are_best():
    rows = _rows(Task.BINARY, n=60)
    rows = replace(rows, y=(np.arange(60) == 5).astype(int))
    entry, job = _job("gbm", Task.BINARY, rows)
    assert _stages.with_best_trees(entry, job, rows, None) == job


def test_rows_without_weight_are_not_enough_to_hold_out():
    rows = _rows(Task.REGRESSION, n=60)
    entry, job = _job("gbm", Task.REGRESSION, rows)
    few = replace(rows, weight=(np.arange(60) < 19).astype(float))
    assert _stages.with_best_trees(entry, job, few, None) == job
    # in two folds no row that is held out has a weight
    order = np.concatenate([test for _, test in _stages._folds(rows.y, None, job)])
    weight = np.ones(60)
    weight[order[:24]] = 0.0
    folds = list(_stages.useful_folds(replace(rows, weight=weight), None, job))
    assert [len(test) for _, test in folds] == [12, 12, 12]


@pytest.mark.parametrize("rate", [0, -0.1, "fast", np.inf, True])
def test_the_learning_rate_is_above_zero(rate):
    X = np.arange(60.0)[:, None]
    with pytest.raises(cw.InputError, match=r"learning_rate.*above 0"):
        cw.learner("gbm", learning_rate=rate).fit(X, X[:, 0] % 7)


@pytest.mark.parametrize("name", BOOSTERS)
def test_targets_that_are_all_zero_are_refused(name):
    with pytest.raises(cw.InputError, match="every target is zero"):
        cw.learner(name, task="count").fit(np.arange(30.0)[:, None], np.zeros(30))
