"""Targets that change with time, or along the rows."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.checks import trend

N_ROWS = 1000


def over_time(seed=0, *, slope=1.5, time="year", target="number"):
    """The mean rises by a slope over all rows; x explains a part of the rest."""
    rng = np.random.default_rng([7, seed])
    moment = np.arange(N_ROWS) / N_ROWS
    x = rng.normal(size=(N_ROWS, 3))
    y = x[:, 0] + slope * moment + rng.normal(size=N_ROWS)
    columns = {f"x{j}": x[:, j] for j in range(3)}
    order = np.arange(N_ROWS) if time in ("rows", "index") else rng.permutation(N_ROWS)
    if time == "year":
        columns["built"] = 2000 + np.floor(10 * moment).astype(int)
    elif time == "date":
        columns["day"] = np.datetime64("2020-01-01") + np.floor(900 * moment).astype(int)
    elif time == "index":
        columns["days since the first"] = np.arange(N_ROWS) + np.arange(N_ROWS) // 3
    if target == "class":
        y = np.where(y > slope / 2, "yes", "no")
    rows = {name: values[order] for name, values in columns.items()}
    return cw.read({**rows, "y": y[order]}, target="y")


@pytest.mark.parametrize(
    ("time", "column"),
    [("year", "built"), ("date", "day"), ("index", "days since the first"), ("rows", None)],
)
@pytest.mark.parametrize("target", ["number", "class"])
@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_a_trend_is_found(time, column, target):
    found = trend(over_time(time=time, target=target))
    assert found.is_clear
    assert found.column == column
    assert 0.01 < found.share < 0.3


@pytest.mark.parametrize("time", ["year", "date", "rows"])
def test_no_trend_raises_no_alarm(time):
    assert not trend(over_time(slope=0.0, time=time)).is_clear


def test_what_a_feature_explains_is_no_trend():
    """The rows are sorted by a feature, and so, roughly, by the target."""
    rng = np.random.default_rng(1)
    x = np.sort(rng.normal(size=N_ROWS))
    y = x + rng.normal(size=N_ROWS)
    assert not trend(cw.read({"x": x, "z": rng.normal(size=N_ROWS), "y": y}, target="y")).is_clear


@pytest.mark.parametrize("target", ["number", "class"])
def test_a_table_that_is_sorted_by_its_target_is_not_sorted_by_time(target):
    rng = np.random.default_rng(2)
    y = np.sort(rng.normal(size=N_ROWS))
    labels = np.where(y > 0, "yes", "no") if target == "class" else y
    assert not trend(cw.read({"x": rng.normal(size=N_ROWS), "y": labels}, target="y")).is_clear


def test_independent_tables_raise_few_alarms():
    assert sum(trend(over_time(seed, slope=0.0)).is_clear for seed in range(30)) <= 1
