"""The gain of a learner in two ways: by rows and by units, at all times and later, with columns."""

import json

import numpy as np
import pytest

import clearwood as cw
from clearwood.benchmarking import two_ways_without


def keyed(n_units=300, *, named=True):
    """The key carries the model: each unit has two or four rows and an effect of its own."""
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(n_units), rng.choice([2, 4], n_units))
    order = rng.permutation(len(unit))
    unit = unit[order]
    x = rng.normal(size=(len(unit), 2))
    born = rng.normal(size=n_units)[unit]
    size = rng.normal(size=n_units)[unit]
    y = 0.3 * x[:, 0] + 0.8 * rng.normal(size=n_units)[unit] + rng.normal(size=len(unit)) * 0.6
    columns = {"x0": x[:, 0], "x1": x[:, 1]}
    columns |= {"key": unit} if named else {"born": born, "size": size}
    return {**columns, "y": y}


def later(n=800):
    """What the target depends on changes with the year, which is not a feature of the learner."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 2))
    year = 2000 + np.arange(n) // 80
    y = x[:, 0] + 0.35 * (year - 2000) + rng.normal(size=n) * 0.5
    return {"x0": x[:, 0], "x1": x[:, 1], "year": year, "y": y}


def run(data, learner="tree", **options):
    table = cw.read(data, target="y")
    return cw.benchmark(table, ["baseline", learner], tune=0, interval="naive", outer=3, **options)


@pytest.fixture(scope="module")
def units():
    with pytest.warns(cw.ClearwoodWarning, match="similar targets"):
        return run(keyed(named=False), "knn")


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_units_are_pointed_out_with_both_gains(units):
    (both,) = [one for one in units.two_ways if one.kind == "units"]
    assert both.learner == "knn"
    assert both.matters
    assert both.gain > both.gain_other + 0.02
    (finding,) = [one for one in units.warnings if one.kind == "repeated units"]
    assert (finding.gain, finding.gain_together) == (both.gain, both.gain_other)
    assert "group=" in finding.text
    document = json.loads(json.dumps(units.to_json()))
    assert document["two_ways"][0]["gain_other"] == both.gain_other


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_the_numbers_of_units_are_those_of_a_table_with_the_group():
    data = keyed()
    (both,) = run(data).two_ways
    grouped = cw.benchmark(
        cw.read(data, target="y", group="key"), ["tree"], tune=0, interval="naive", outer=5
    )
    assert both.columns == ("key",)
    assert both.risk_other == pytest.approx(grouped["tree"].risk, rel=0.05)
    assert both.baseline_other == pytest.approx(grouped.baseline.risk, rel=0.02)


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_later_rows_are_predicted_worse():
    bench = run(later(), "ols")
    (both,) = bench.two_ways
    assert (both.kind, both.columns) == ("time", ("year",))
    # a line goes on along the years, and knows nothing of years where they are left out
    assert not both.matters
    assert "is fitted only to rows from before" in " ".join(repr(bench).split())
    without = {name: values for name, values in later().items() if name != "year"}
    (both,) = run(without, "ols").two_ways
    assert (both.kind, both.columns) == ("time", ())
    assert both.risk_other > 1.3 * both.risk
    assert both.matters


def test_rows_whose_relation_is_stated_are_not_searched():
    table = cw.read(keyed(), target="y", group="key")
    assert run_table(table).two_ways == ()


def run_table(table):
    return cw.benchmark(table, ["baseline", "tree"], tune=0, interval="naive", outer=3)


def test_the_gain_without_a_column_is_that_of_a_table_without_it():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(400, 3))
    data = {f"x{j}": x[:, j] for j in range(3)}
    y = 2 * x[:, 0] + x[:, 1] + rng.normal(size=400)
    table = cw.read({**data, "y": y}, target="y")
    both = two_ways_without("ols", table, ["x0"], seed=3)
    fewer = cw.read({"x1": data["x1"], "x2": data["x2"], "y": y}, target="y")
    bench = cw.benchmark(fewer, ["ols"], tune=0, interval="naive", outer=5, repeats=1, seed=3)
    assert both.risk_other == pytest.approx(bench["ols"].risk, rel=1e-9)
    assert both.baseline_other == both.baseline
    assert both.gain == pytest.approx(5 / 6, abs=0.05)
    assert both.gain_other == pytest.approx(1 / 6, abs=0.06)
    assert both.text.startswith("without x0, ols reduces")


def test_columns_left_out_are_features_and_not_all_of_them():
    bench = run(later(), "ols")
    with pytest.raises(cw.InputError, match="not a feature"):
        bench.without("y")
    with pytest.raises(cw.InputError, match="not all of them"):
        bench.without("x0", "x1", "year")
