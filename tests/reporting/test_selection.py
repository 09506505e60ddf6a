"""The page of a learner that selects columns."""

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
