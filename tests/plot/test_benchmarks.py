"""Figures of benchmarks and their diagnostics."""

import json

import numpy as np
import pytest
import vl_convert

import clearwood as cw
from clearwood.benchmarking import learning_curve
from clearwood.evaluation import calibration_of


@pytest.fixture(scope="module")
def bench():
    return cw.benchmark(cw.datasets.load("diabetes"), ["ols", "knn"], tune=0, interval="naive")


def test_zero_is_labelled_where_differences_are_drawn(bench):
    _, differences = bench.plot().to_dict()["hconcat"]
    picture = vl_convert.vegalite_to_svg(json.dumps({**bench.plot().to_dict(), **differences}))
    assert ">0</text>" in picture


def test_the_baseline_is_drawn_for_reference(bench):
    assert "baseline" not in bench.learners
    assert "baseline" in json.dumps(bench.plot().to_dict())


def test_no_interval_of_a_calibration_curve_is_cut_off():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=120)
    curve = calibration_of(
        rng.uniform(size=120) < p, np.column_stack([1 - p, p]), classes=["no", "yes"], bins=6
    )
    (low, high) = next(
        layer["encoding"]["y"]["scale"]["domain"]
        for layer in curve.plot().to_dict()["layer"]
        if "scale" in layer["encoding"]["y"]
    )
    assert low < curve.low.min()
    assert curve.high.max() < high


@pytest.mark.parametrize(
    ("loss", "title"), [("squared", "mean squared error"), ("absolute", "mean absolute error")]
)
def test_axes_have_the_name_of_the_loss(loss, title):
    data = cw.datasets.load("diabetes")
    curve = learning_curve("ols", data, sizes=[100], loss=loss)
    assert title in json.dumps(curve.plot().to_dict())


def test_classes_are_judged_by_log_loss():
    curve = learning_curve("lda", cw.datasets.load("wine"), sizes=[100])
    assert '"title": "log loss"' in json.dumps(curve.plot().to_dict())


def test_a_chart_saved_inline_loads_nothing(bench, tmp_path):
    bench.plot().save(tmp_path / "bench.html", inline=True)
    page = (tmp_path / "bench.html").read_text(encoding="utf-8")
    assert "<script src" not in page
    assert "<link" not in page


def test_selected_columns_are_drawn_apart_from_the_others():
    data = cw.datasets.load("diabetes")
    model = cw.learner("ridge", select="anova:3").fit(data)
    chart = model.selection_.plot(most=5).to_dict()
    rows = chart["data"]["values"]
    assert [row["column"] for row in rows if row["choice"] == "selected"] == ["bmi", "s5", "bp"]
    assert len(rows) == 5
    assert chart["description"].startswith("3 of 10 columns selected: bmi")
    bench = cw.benchmark(
        data, cw.learner("ridge", select="anova:3"), tune=0, interval="naive", repeats=1
    )
    shares = bench.selection("ridge").plot().to_dict()["data"]["values"]
    assert [row["column"] for row in shares[:2]] == ["bmi", "s5"]
    assert [row["share"] for row in shares[:2]] == [1.0, 1.0]
    assert sum(row["share"] for row in shares) == pytest.approx(3)
