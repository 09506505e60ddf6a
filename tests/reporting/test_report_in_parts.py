"""The page of a model explained over rows in parts."""

import html

import numpy as np
import pytest

import clearwood as cw
from clearwood.explanation import explanation
from clearwood.reporting.collect.answers import decomposition_of
from clearwood.reporting.collect.inputs import report_input
from clearwood.reporting.sections.words import number
from clearwood.table import Parts


def rows(start, stop):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(900, 3)).round(2)
    y = x[:, 0] * x[:, 1] + x[:, 2] + 0.1 * rng.normal(size=900)
    columns = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}
    return {name: values[start:stop] for name, values in columns.items()}


@pytest.fixture(scope="module")
def model():
    return cw.learner("gbm", max_iter=10, max_depth=2).fit(cw.read(rows(0, 900), target="y"))


def test_the_page_counts_all_rows_and_says_what_is_sampled(model, monkeypatch):
    monkeypatch.setattr(explanation, "SAMPLE", 300)
    data = Parts.of(rows, 900, target="y", part_rows=300)
    page = cw.report(model, data, quick=True)
    whole = cw.explain(model, cw.read(rows(0, 900), target="y")).importance()
    given = report_input(model, data)
    assert given.table.n_rows == 300
    options = {"is_sampled": False, "max_order": 2, "time_limit": 60, "seed": 0}
    importance = decomposition_of(given.explanation, given.table, **options).importance()
    np.testing.assert_allclose(importance.values, whole.values, rtol=1e-9)
    text = page.to_html()
    assert "The table has 900 rows" in text
    assert "Exact over all rows" in text
    assert "3 parts, 1 worker in this process, 0 retries" in text
    assert "Over a sample of 300 rows, seed 0" in text


def test_a_decomposition_over_drawn_rows_is_not_said_to_be_over_all(model, monkeypatch):
    """Trees with long paths take too long for all rows."""
    collector = "clearwood.reporting.collect.collector.Collector.exact_rows"
    monkeypatch.setattr(collector, lambda *_: 200)
    data = Parts.of(rows, 900, target="y", part_rows=300)
    page = cw.report(model, data, quick=True, sections=["importance", "reproduction"])
    text = page.to_html()
    assert "exact over 200 background rows drawn from 900 with seed 0" in text
    assert "Exact over 200 rows drawn from 900, seed 0" in text
    assert "nothing: the decomposition of all rows would take too long" in text


def test_the_best_of_a_benchmark_over_parts_is_fitted_and_its_rows_are_stated():
    data = Parts.of(rows, 900, target="y", part_rows=300)
    bench = cw.benchmark(data, ["baseline", "tree"], sample=100)
    held = bench.in_parts
    page = cw.report(data, benchmark=bench, quick=True, sections=["performance", "reproduction"])
    text = html.unescape(page.to_html())
    assert f"exact over all {held.n_test} held-out rows" in text
    assert f"Fitted to a sample of 100 of the {held.n_train} training rows (seed 0)" in text
    assert "Over a sample of 100 held-out rows, seed 0" in text
    assert f"(a sample of 100 of {held.n_test} rows)" in text
    assert number(bench["tree"].risk) in text
    assert ".fit(data.sample(100, seed=0))" in text
    # the same page from the table in memory has the same target, columns and rows
    table = cw.read(rows(0, 900), target="y")
    model = cw.learner("tree").fit(table)
    plain = cw.report(model, table, quick=True, sections=["performance"])
    assert page.about[:3] == plain.about[:3]


def test_what_a_sample_cannot_show_is_said_not_to_be_checked(monkeypatch):
    """Each row is there three times; a sample of rows has few of the same."""
    rng = np.random.default_rng(0)
    first = {"person": np.arange(400.0), "x": rng.normal(size=400)}
    first["y"] = first["x"] + rng.normal(size=400)

    def repeated(start, stop):
        return {name: values[np.arange(start, stop) % 400] for name, values in first.items()}

    table = cw.read(repeated(0, 1200), target="y")
    fitted = cw.learner("tree").fit(table)
    told = "identical rows, keys of repeated units"
    not_told = "Identical rows and keys of repeated units were not checked"
    whole = html.unescape(cw.report(fitted, table, sections=["data", "cautions"]).to_html())
    assert told in whole
    assert "have the same features as another row" in whole
    monkeypatch.setattr(explanation, "SAMPLE", 300)
    data = Parts.of(repeated, 1200, target="y", part_rows=400)
    page = cw.report(fitted, data, quick=True, sections=["data", "cautions"])
    text = html.unescape(page.to_html())
    assert not_told in text
    assert "Columns were checked on 300 rows drawn from 1,200" in text
    assert told not in text
    assert "have the same features" not in text
