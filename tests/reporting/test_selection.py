"""The page of a learner that selects columns."""

import numpy as np
import pytest

import clearwood as cw


def test_the_page_lists_how_often_each_column_was_chosen():
    data = cw.datasets.load("diabetes")
    learner = cw.learner("ridge", select="anova:3")
    bench = cw.benchmark(data, learner, tune=0, interval="naive", repeats=1)
    model = bench.best().fit(data)
    report = cw.report(model, data, benchmark=bench, sections=["performance"])
    assert "chooses columns inside each fold (anova:3)" in report.to_html()
    assert "Columns chosen by" in report.to_html()
    assert "selection-ridge" in report.to_html()
    plain = cw.report(cw.learner("ols").fit(data), data, sections=["performance"])
    assert "chooses columns" not in plain.to_html()


def test_the_page_says_which_columns_were_chosen_and_that_the_others_have_no_influence():
    data = cw.datasets.load("diabetes")
    chosen = "fitted to 10 of them and chose {}: bmi, bp and s5. The others have no influence"
    for name, how in (("ridge", {"select": "anova:3"}), ("subset", {"size": 3})):
        model = cw.learner(name, **how).fit(data)
        page = cw.report(model, data, sections=["summary", "data"], quick=True).to_html()
        n = "3 by anova:3" if "select" in how else "3"
        assert chosen.format(n) in page
        assert "from 3 of 10 columns: bmi, bp and s5." in page


def test_the_page_of_a_learner_that_chose_no_column_shows_no_variation():
    rng = np.random.default_rng(3)
    data = cw.read(
        {**{f"x{k}": rng.normal(size=60) for k in range(6)}, "y": rng.normal(size=60)}, target="y"
    )
    with pytest.warns(cw.ClearwoodWarning, match="no column is selected"):
        model = cw.learner("ridge", select="knockoffs").fit(data)
    assert model.selected_ == ()
    page = cw.report(model, data, sections=["summary", "data"], quick=True).to_html()
    assert "fitted to 6 of them and chose none by knockoffs." in page
    assert "predicts y from no column." in page
    assert "of the variation" not in page.partition('id="data"')[0].rpartition('id="summary"')[2]
