"""Rows with identical features, on the page."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.reporting.collect.collector import collect
from clearwood.reporting.collect.findings import Options
from clearwood.reporting.collect.inputs import report_input
from clearwood.reporting.sections.cautions import cautions
from clearwood.reporting.sections.data import section as data_section
from clearwood.reporting.sections.words import performance_sentences


def people():
    rng = np.random.default_rng(0)
    person = rng.integers(0, 150, 900)
    x = rng.normal(size=(150, 4))
    mean = (x[:, 0] + rng.normal(size=150))[person]
    columns = {f"x{j}": x[person, j] for j in range(4)}
    return {**columns, "y": mean + rng.normal(size=900)}


def few_categories():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (900, 3))
    mean = rng.normal(size=(3, 3, 3))[tuple(codes.T)]
    columns = {f"x{j}": np.array(list("abc"))[codes[:, j]] for j in range(3)}
    return {**columns, "y": mean + rng.normal(size=900)}


def findings_of(table, *, benchmark):
    model = cw.learner("knn").fit(table)
    bench = None
    if benchmark:
        bench = cw.benchmark(table, ["baseline", "knn"], tune=0, interval="naive", outer=3)
    options = Options(quick=True, sections=("data", "performance", "cautions"))
    return collect(report_input(model, table, bench, None, n_jobs=1), title="", options=options)


def titles(findings):
    return [caution.title for caution in cautions(findings)]


def lead(findings):
    return " ".join(data_section(findings).blocks[0].paragraphs)


@pytest.mark.filterwarnings("ignore:.*same features as another row")
def test_both_gains_are_on_the_page_of_repeated_people():
    findings = findings_of(cw.read(people(), target="y"), benchmark=True)
    both = findings.benchmark.identical_rows
    shown = f"from {100 * both.gain:.3g} % to {100 * both.gain_together:.3g} %"
    assert any(shown in title for title in titles(findings))
    only = f"only {100 * both.gain_together:.3g} % if rows with the same features"
    assert only in " ".join(performance_sentences(findings))
    assert "may be in the table several times" in lead(findings)


def test_repeated_people_are_a_caution_without_a_benchmark():
    findings = findings_of(cw.read(people(), target="y"), benchmark=False)
    assert any("same features" in title for title in titles(findings))


def test_rows_kept_together_are_no_caution():
    table = cw.read(people(), target="y", group="identical rows")
    findings = findings_of(table, benchmark=True)
    assert not any("identical" in title or "same features" in title for title in titles(findings))
    assert "kept together whenever rows are resampled" in lead(findings)


def test_few_categories_are_no_caution():
    findings = findings_of(cw.read(few_categories(), target="y"), benchmark=True)
    assert findings.twins.n_twins == 900
    assert not any("identical" in title or "same features" in title for title in titles(findings))
    assert "occur by chance in columns with so few values" in lead(findings)


def test_test_rows_that_the_model_was_fitted_to_are_a_caution():
    rng = np.random.default_rng(1)
    table = cw.read({name: rng.normal(size=120) for name in "aby"}, target="y")
    model = cw.learner("ridge").fit(table)
    options = Options(quick=True, sections=("cautions",))
    for test, is_seen in ((table.take(np.arange(40)), True), (None, False)):
        findings = collect(
            report_input(model, table, None, test, n_jobs=1), title="", options=options
        )
        assert any("are already in the table" in one for one in titles(findings)) == is_seen


def visits(*, key):
    """Rows of the same patients that are not identical: the dose differs."""
    rng = np.random.default_rng(3)
    patient = rng.integers(0, 250, 750)
    own = rng.normal(size=(250, 3))[patient]
    y = own[:, 2] + 0.4 * own[:, 0] + rng.normal(size=750) * 0.7
    columns = {"dose": rng.normal(size=750)}
    columns |= {"patient": patient} if key else {"born": own[:, 0], "height": own[:, 1]}
    return {**columns, "y": y}


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_the_gains_by_rows_and_by_units_are_on_the_page():
    findings = findings_of(cw.read(visits(key=False), target="y"), benchmark=True)
    (both,) = [one for one in findings.benchmark.two_ways if one.kind == "units"]
    shown = f"from {100 * both.gain:.3g} % to {100 * both.gain_other:.3g} %"
    assert any(shown in title for title in titles(findings))
    assert "have similar targets" in " ".join(performance_sentences(findings))


def test_a_key_is_a_caution_without_a_benchmark():
    findings = findings_of(cw.read(visits(key=True), target="y"), benchmark=False)
    (title,) = [one for one in titles(findings) if "same person or thing" in one]
    assert "patient" in title
    grouped = findings_of(cw.read(visits(key=True), target="y", group="patient"), benchmark=False)
    assert not any("same person or thing" in title for title in titles(grouped))


def test_a_leak_is_shown_with_what_the_model_gains_without_it():
    rng = np.random.default_rng(4)
    y = rng.uniform(size=600) < 0.3
    data = {
        "x": rng.normal(size=600) + y,
        "z": rng.normal(size=600),
        "paid": np.where(y & (rng.uniform(size=600) < 0.7), "yes", "no"),
        "y": np.where(y, "loss", "none"),
    }
    table = cw.read(data, target="y")
    model = cw.learner("logistic").fit(table)
    options = Options(sections=("cautions",))
    findings = collect(report_input(model, table, None, None, n_jobs=1), title="", options=options)
    both = findings.without
    assert both.columns == ("paid",)
    assert both.gain > both.gain_other + 0.2
    (caution,) = [one for one in cautions(findings) if "may leak" in one.title]
    assert f"by {100 * both.gain_other:.3g} % instead of {100 * both.gain:.3g} %" in caution.meaning


def test_a_column_that_carries_the_model_is_shown_with_the_gain_without_it():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(600, 3))
    data = {f"x{j}": x[:, j] for j in range(3)}
    table = cw.read({**data, "y": x @ [1.0, 0.4, 0.2] + rng.normal(size=600)}, target="y")
    model = cw.learner("ols").fit(table)
    options = Options(sections=("performance", "importance", "cautions"))
    findings = collect(report_input(model, table, None, None, n_jobs=1), title="", options=options)
    assert findings.carrier == "x0"
    assert findings.without.columns == ("x0",)
    assert "known when predictions are made" in " ".join(performance_sentences(findings))
    assert not any("leak" in caution.title for caution in cautions(findings))
