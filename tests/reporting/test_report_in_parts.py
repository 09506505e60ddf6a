"""The page of a model explained over rows in parts."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.explanation.adapter import explained
from clearwood.reporting.collect.subject import subject_of
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
    monkeypatch.setattr(explained, "SAMPLE", 300)
    data = Parts.of(rows, 900, target="y", part_rows=300)
    page = cw.report(model, data, quick=True)
    whole = cw.explain(model, cw.read(rows(0, 900), target="y")).importance()
    subject = subject_of(model, data)
    assert subject.table.n_rows == 300
    options = {"is_sampled": False, "max_order": 2, "time_limit": 60, "seed": 0}
    importance = subject.decompose(subject.table, **options).importance()
    np.testing.assert_allclose(importance.values, whole.values, rtol=1e-9)
    text = page.to_html()
    assert "The table has 900 rows" in text
    assert "Exact over all rows" in text
    assert "3 parts, 1 worker in this process, 0 retries" in text
    assert "Over a sample of 300 rows, seed 0" in text
