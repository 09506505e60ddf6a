"""Pictures of leaks and of drift: a bar for each column, marked where the check marks it."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.checks import drift, leakage


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    return {"leak": y + 0.001 * rng.normal(size=300), "noise": rng.normal(size=300), "y": y}


def bars_of(chart):
    drawn = chart.to_dict()
    (values,) = drawn["datasets"].values() if "datasets" in drawn else (drawn["data"]["values"],)
    return {row["column"]: (row["value"], row["kind"]) for row in values}, drawn


def test_a_leak_is_marked_and_no_bar_is_negative(rows):
    result = leakage(cw.read(rows, target="y"))
    bars, drawn = bars_of(result.plot())
    assert list(bars) == ["leak", "noise"]
    assert bars["leak"] == (result["leak"], "may be a leak")
    assert bars["noise"][0] >= 0
    assert bars["noise"][1] == "other"
    assert drawn["description"].startswith("Columns that explain y alone: leak ")


def test_columns_that_differ_are_marked_and_the_rest_is_counted(rows):
    later = rows | {"noise": rows["noise"] + 1}
    result = drift(cw.read(rows, target="y"), cw.read(later, target="y"))
    bars, _ = bars_of(result.plot())
    assert bars["noise"] == (result["noise"].distance, "differs")
    assert bars["leak"][1] == "no clear difference"
    few, drawn = bars_of(result.plot(most=1))
    assert list(few) == ["noise"]
    assert drawn["title"]["subtitle"][-1] == f"the first 1 of {len(result.columns)} columns"
