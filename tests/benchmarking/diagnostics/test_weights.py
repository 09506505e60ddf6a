"""Whole weights are repeated rows that stay together: a law of every measure and interval."""

import json

import numpy as np
import pytest

from clearwood.benchmarking import nested_interval
from clearwood.benchmarking.diagnostics.bootstrap import bootstrap_estimates, no_information_risk
from clearwood.evaluation import (
    calibration_line,
    calibration_of,
    corrected_interval,
    holdout_interval,
    measures,
    naive_interval,
    origin_interval,
    residuals_of,
)
from clearwood.losses import find_loss
from clearwood.table import Task

N_ROWS = 240


class Case:
    """Truth, predictions and whole weights, some of them zero; `rows` repeats the others."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.weights = rng.integers(0, 4, N_ROWS)
        self.rows = np.repeat(np.arange(N_ROWS), self.weights)
        self.numbers = rng.normal(size=N_ROWS)
        # ties among predictions as well
        self.predicted = np.round(self.numbers + rng.normal(size=N_ROWS), 1)
        self.codes = rng.integers(0, 3, N_ROWS)
        self.classes = rng.dirichlet(np.ones(3), N_ROWS)
        p = np.round(rng.uniform(0.02, 0.98, N_ROWS), 2)
        self.binary, self.probability = (rng.uniform(size=N_ROWS) < p).astype(int), p
        self.both = np.column_stack([1 - p, p])
        self.splits = rng.integers(0, 4, N_ROWS)


CASE = Case()
MEASURES = {
    "numbers": lambda c: (Task.REGRESSION, c.numbers, c.predicted, {}),
    "two classes": lambda c: (Task.BINARY, c.binary, c.both, {"needs": "probability"}),
    "a threshold": lambda c: (
        Task.BINARY,
        c.binary,
        c.both,
        {"needs": "probability", "threshold": 0.3},
    ),
    "three classes": lambda c: (Task.MULTICLASS, c.codes, c.classes, {"needs": "probability"}),
    "labels": lambda c: (Task.MULTICLASS, c.codes, c.classes.argmax(1), {"needs": "label"}),
    "margins": lambda c: (Task.BINARY, c.binary, c.probability - 0.5, {"needs": "margin"}),
}


@pytest.mark.parametrize("kind", MEASURES)
def test_measures(kind):
    task, y, predicted, options = MEASURES[kind](CASE)
    rows = CASE.rows
    weighted = measures(
        task, y, predicted, splits=CASE.splits, weights=CASE.weights.astype(float), **options
    )
    repeated = measures(
        task, y[rows], predicted[rows], splits=CASE.splits[rows], groups=rows, **options
    )
    for name in ("values", "low", "high"):
        one, two = (getattr(result, name) for result in (weighted, repeated))
        assert one == pytest.approx(two, nan_ok=True), name
    assert weighted.is_weighted
    assert weighted.n_zero_weight == (CASE.weights == 0).sum() > 0
    assert all("weighted" in meaning for meaning in weighted.meanings.values())


CURVES = {
    "numbers": lambda c: (c.numbers, c.predicted, None),
    "two classes": lambda c: (c.binary, c.both, ["no", "yes"]),
    "three classes": lambda c: (c.codes, c.classes, ["a", "b", "c"]),
}


@pytest.mark.parametrize("kind", CURVES)
def test_calibration(kind):
    y, predicted, classes = CURVES[kind](CASE)
    rows = CASE.rows
    weighted = calibration_of(y, predicted, classes=classes, weights=CASE.weights)
    repeated = calibration_of(y[rows], predicted[rows], classes=classes, groups=rows)
    for name in ("predicted", "observed", "low", "high", "misses"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), err_msg=name)
    assert weighted.line.to_json() == pytest.approx(repeated.line.to_json())
    assert weighted.error == pytest.approx(repeated.error)
    assert weighted.n_zero_weight == (CASE.weights == 0).sum()
    assert "weighted" in repr(weighted)
    assert "weighted" in json.dumps(weighted.plot().to_dict())


def test_residuals():
    weighted = residuals_of(CASE.numbers, CASE.predicted, weights=CASE.weights)
    repeated = residuals_of(CASE.numbers[CASE.rows], CASE.predicted[CASE.rows])
    for name in ("predicted", "quantiles", "typical", "large", "bias"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), err_msg=name)
    assert "weighted" in repr(weighted)
    assert "weighted" in json.dumps(weighted.plot().to_dict())


def close(weighted, repeated):
    one, two = (vars(interval) for interval in (weighted, repeated))
    numbers = ("estimate", "se", "low", "high", "inflation", "bias")
    assert [one[name] for name in numbers] == pytest.approx([two[name] for name in numbers])


@pytest.mark.parametrize("interval", [naive_interval, holdout_interval])
def test_intervals_over_rows(interval):
    losses, rows = CASE.numbers**2, CASE.rows
    by_row = interval(losses, CASE.weights, groups=np.arange(N_ROWS))
    close(by_row, interval(losses[rows], groups=rows))
    assert interval(losses, CASE.weights).se == pytest.approx(by_row.se)


def parts(values, rows, weights):
    """Split in four, weighted and repeated."""
    each = np.array_split(np.arange(N_ROWS), 4)
    return [values[own] for own in each], [np.repeat(values[own], weights[own]) for own in each]


def test_intervals_over_splits():
    losses, repeated = parts(CASE.numbers**2, CASE.rows, CASE.weights)
    weights, _ = parts(CASE.weights.astype(float), CASE.rows, CASE.weights)
    total = CASE.weights.sum()
    trained = [total - own.sum() for own in weights]
    close(
        corrected_interval(losses, trained, weights=weights), corrected_interval(repeated, trained)
    )
    close(origin_interval(losses, weights=weights), origin_interval(repeated))


def test_the_nested_interval():
    rng = np.random.default_rng(3)
    shared = CASE.numbers**2
    outer, outer_repeated = parts(shared, CASE.rows, CASE.weights)
    weights, _ = parts(CASE.weights.astype(float), CASE.rows, CASE.weights)
    ids, ids_repeated = parts(np.arange(N_ROWS), CASE.rows, CASE.weights)
    pairs, pairs_repeated = {}, {}
    for k in range(4):
        inside, inside_repeated = parts(
            shared + rng.normal(0, 0.3, N_ROWS), CASE.rows, CASE.weights
        )
        for j in range(4):
            if j != k:
                pairs[j, k], pairs_repeated[j, k] = inside[j], inside_repeated[j]
    kept = [[own[w > 0] for own, w in zip(values, weights, strict=True)] for values in (outer, ids)]
    close(
        nested_interval(
            [kept[0]],
            [{key: loss[weights[key[0]] > 0] for key, loss in pairs.items()}],
            weights=[[w[w > 0] for w in weights]],
            groups=[kept[1]],
        ),
        nested_interval([outer_repeated], [pairs_repeated], groups=[ids_repeated]),
    )


@pytest.mark.parametrize("name", ["squared", "log"])
def test_bootstrap_estimates(name):
    rng = np.random.default_rng(1)
    y, predicted = (
        (CASE.numbers, CASE.predicted) if name == "squared" else (CASE.codes, CASE.classes)
    )
    loss, rows = find_loss(name), CASE.rows
    chance = no_information_risk(loss, y, predicted, weights=CASE.weights)
    assert chance == pytest.approx(no_information_risk(loss, y[rows], predicted[rows]))
    counts = rng.poisson(1.0, (30, N_ROWS))
    losses = np.where(counts == 0, loss.per_row(y, predicted), np.nan)
    training = 0.5 * loss.per_row(y, predicted)
    weighted = bootstrap_estimates(counts, losses, training, chance, CASE.weights)
    repeated = bootstrap_estimates(counts[:, rows], losses[:, rows], training[rows], chance)
    # the standard error takes rows as independent, which repeated ones are not
    for estimates in (weighted, repeated):
        del estimates["se"]
    assert weighted == pytest.approx(repeated)


@pytest.mark.parametrize("kind", ["number", "probability"])
def test_intervals_of_the_calibration_line_cover_it(kind):
    """Of a calibrated learner, nine tenths of the intervals have slope 1 and intercept 0."""
    rng = np.random.default_rng(5)
    covered = np.zeros(2)
    repeats = 200
    for _ in range(repeats):
        groups = np.repeat(np.arange(80), 5)
        p = np.repeat(rng.uniform(0.1, 0.9, 80), 5)
        # rows of a group are alike, so they count as one
        y = np.repeat(rng.uniform(size=80), 5) < p if kind == "probability" else p
        if kind == "number":
            y = p + np.repeat(rng.normal(size=80), 5)
        line = calibration_line(y, p, kind=kind, groups=groups)
        covered += [
            line.slope_low <= 1 <= line.slope_high,
            line.intercept_low <= 0 <= line.intercept_high,
        ]
    assert (covered / repeats > 0.84).all()
    assert (covered / repeats < 0.96).all()


def test_a_top_bin_that_clearly_misses_is_marked():
    rng = np.random.default_rng(2)
    p = rng.uniform(0.05, 0.95, 4000)
    fair = calibration_of(rng.uniform(size=4000) < p, np.column_stack([1 - p, p]), classes="ny")
    assert not fair.misses.any()
    assert not fair.top_misses
    true = np.where(p > 0.85, p - 0.25, p)
    off = calibration_of(rng.uniform(size=4000) < true, np.column_stack([1 - p, p]), classes="ny")
    assert off.top_misses
    assert off.to_json()["top_misses"] is True
    assert off.misses.sum() <= 2
