"""What the sections say is what the results say."""

import json
from dataclasses import replace

import numpy as np
import pytest

import clearwood as cw
from clearwood._shared import invocation
from clearwood._shared.numbers import percent
from clearwood.benchmarking import learning_curve
from clearwood.reporting import Chart, Choice, Facts, More, Note, Prose, Sheet
from clearwood.reporting import report as build
from clearwood.reporting.collect.collector import collect
from clearwood.reporting.collect.findings import Options
from clearwood.reporting.collect.inputs import report_input
from clearwood.reporting.page.figures import DIGITS, figure
from clearwood.reporting.sections.cautions import cautions
from clearwood.reporting.sections.performance import _would_help as words_of
from clearwood.reporting.sections.words import number


def flat(blocks):
    """Give all blocks, those inside others too."""
    for block in blocks:
        yield block
        if isinstance(block, Choice):
            for _, inner in block.options:
                yield from flat(inner)
        elif isinstance(block, More):
            yield from flat(block.blocks)


def facts(section):
    return dict(pair for b in section.blocks if isinstance(b, Facts) for pair in b.items)


@pytest.fixture(scope="module")
def data():
    return cw.datasets.insurance(600)


@pytest.fixture(scope="module")
def bench(data):
    return cw.benchmark(data, ["baseline", "glm"], tune=0, repeats=1)


@pytest.fixture(scope="module")
def model(data):
    return cw.learner("glm").fit(data)


@pytest.fixture(scope="module")
def page(model, data, bench):
    sections = ["summary", "data", "performance", "importance", "cautions", "reproduction"]
    with invocation.invoked(invocation.Invocation("clearwood report x.csv")):
        report = build(model, data, benchmark=bench, sections=sections)
    return {section.name: section for section in report.sections}


@pytest.fixture(scope="module")
def findings(model, data):
    options = Options(quick=True, sections=("cautions", "importance"))
    return collect(report_input(model, data), title="t", options=options)


def test_the_summary_tells_the_risk_with_its_interval_and_the_baselines(page, bench):
    text = facts(page["summary"])["Performance"]
    one, baseline = bench["glm"], bench["baseline"]
    for value in (one.risk, one.low, one.high, baseline.risk):
        assert number(value) in text
    gap = bench.compare("glm", "baseline")
    assert f"{number(gap.low)} to {number(gap.high)}" in text
    assert percent(1 - one.risk / baseline.risk) in text
    assert text.startswith("On rows not used for fitting")


def test_the_summary_names_what_matters_most_with_its_direction(page, model, data):
    text = facts(page["summary"])["Most important columns"]
    importance = cw.explain(model, data).importance()
    best = int(np.argmax(importance.total))
    assert f"{importance.columns[best]} ({percent(importance.total[best])})" in text
    assert "rises from" in text


def test_protected_columns_that_are_used_are_cautioned_about(page):
    titles = [block.title for block in page["cautions"].blocks if isinstance(block, Note)]
    assert "The model uses protected columns: gender" in titles
    assert "protected columns: gender" in facts(page["summary"])["Cautions"]


def test_the_benchmark_is_a_sheet_and_a_figure(page, bench):
    sheet = next(
        b for b in page["performance"].blocks if isinstance(b, Sheet) and b.name == "benchmark"
    )
    assert [row[:4] for row in sheet.rows] == [
        (one.learner, one.risk, one.low, one.high) for one in bench.standings
    ]
    assert any(isinstance(b, Chart) and b.name == "benchmark" for b in page["performance"].blocks)


def test_calibration_and_residuals_are_of_rows_not_seen(page, bench):
    charts = {b.name: b for b in flat(page["performance"].blocks) if isinstance(b, Chart)}
    slope = bench.calibration("glm").slope
    texts = [
        text
        for b in flat(page["performance"].blocks)
        if isinstance(b, Prose)
        for text in b.paragraphs
    ]
    assert any(f"slope {number(slope)}" in text for text in texts)
    assert "calibration" in charts
    assert "residuals" in charts


def test_every_main_effect_can_be_seen_three_ways_and_beside_what_was_observed(page):
    choices = [
        b for b in page["importance"].blocks if isinstance(b, Choice) and "Effect" in b.label
    ]
    assert len(choices) == 6
    for choice in choices:
        assert len(choice.options) == 4


def test_every_chart_has_words_and_its_numbers_are_plain_json(page):
    charts = [b for s in page.values() for b in flat(s.blocks) if isinstance(b, Chart)]
    assert len(charts) > 20
    for chart in charts:
        assert chart.title
        assert chart.alt
        json.dumps(chart.spec, allow_nan=False)


def test_how_it_was_made_tells_fingerprint_versions_and_commands(page, data):
    text = facts(page["reproduction"])
    assert data.fingerprint() in text["Fingerprint of the data"]
    assert f"clearwood {cw.__version__}" in text["Versions"]
    assert text["On the command line"] == "clearwood report x.csv"
    assert "cw.report(model, data, benchmark=bench" in text["In Python"]
    steps = next(b for b in flat(page["reproduction"].blocks) if isinstance(b, Sheet))
    assert {"decomposition", "effects", "agreement"} <= {row[0] for row in steps.rows}


def test_how_it_was_made_says_that_the_data_of_charts_are_rounded(page):
    lead = next(b for b in flat(page["reproduction"].blocks) if isinstance(b, Prose))
    assert f"rounded to {DIGITS} significant digits" in lead.paragraphs[0]
    spec = {"data": {"values": [{"x": 1 / 3}]}}
    (carried,) = figure(Chart("name", "Title", "words", spec)).data["spec"]["data"]["values"][
        "by column"
    ]["x"]
    assert carried == round(1 / 3, DIGITS)


def test_rows_the_model_may_have_seen_are_cautioned_about(findings):
    assert findings.performance.rows == "training"
    assert "The performance on new rows is not known" in [c.title for c in cautions(findings)]


def test_test_rows_are_judged_and_compared(model, data):
    later = cw.datasets.insurance(300, seed=7)
    older = cw.read(
        {**later.to_dict(), "age": [min(99, age + 25) for age in later.to_dict()["age"]]},
        target="accidents",
        exposure="years",
        ignore="claim_amount",
    )
    options = Options(quick=True, sections=("cautions",))
    judged = collect(report_input(model, data, test=older), title="t", options=options)
    assert judged.performance.rows == "test"
    assert judged.performance.n_rows == 300
    drifting = next(c for c in cautions(judged) if c.title == "Test rows differ from training rows")
    assert any(item.startswith("age: distance") for item in drifting.items)


def test_a_time_column_compares_earlier_with_later_rows():
    rng = np.random.default_rng(0)
    day = np.datetime64("2024-01-01", "us") + np.arange(200) * np.timedelta64(1, "D")
    x = rng.normal(size=200) + np.arange(200) / 50
    raw = {"x": x, "z": rng.normal(size=200), "day": day, "y": x + rng.normal(size=200)}
    table = cw.read(raw, target="y", time="day")
    options = Options(quick=True, sections=("cautions",))
    model = cw.learner("ols").fit(table)
    judged = collect(report_input(model, table), title="t", options=options)
    assert judged.drift.first == "earlier rows"
    assert "Later rows differ from earlier rows" in [c.title for c in cautions(judged)]


def test_a_benchmark_of_other_settings_is_not_taken_for_the_models(data, bench):
    other = cw.learner("glm", alpha=5.0).fit(data)
    assert report_input(other, data, bench).chosen is None
    assert report_input(cw.learner("glm").fit(data), data, bench).chosen == "glm"


def test_out_of_fold_predictions_come_with_the_benchmarks_own_rows_only(model, data, bench):
    options = Options(quick=True, sections=("performance",))
    own = collect(report_input(model, data, bench), title="t", options=options)
    np.testing.assert_array_equal(own.out_of_fold, bench.predictions("glm"))
    fewer = collect(report_input(model, data.head(300), bench), title="t", options=options)
    assert fewer.out_of_fold is None


def test_sections_can_be_chosen_and_wrong_names_are_answered(model, data):
    page = build(model, data, sections=["reproduction"], quick=True)
    assert [section.name for section in page.sections] == ["reproduction"]
    with pytest.raises(cw.InputError, match="did you mean 'summary'"):
        build(model, data, sections=["sumary"])


def test_something_else_than_a_benchmark_is_refused(model, data):
    with pytest.raises(cw.InputError, match="benchmark is a str"):
        build(model, data, benchmark="glm")


def test_the_same_seed_gives_the_same_page(model, data):
    options = {"quick": True, "sections": ["summary", "importance"], "seed": 3}
    first, second = build(model, data, **options), build(model, data, **options)
    assert first.sections == second.sections


def test_a_benchmark_of_other_models_is_shown_but_not_taken_for_this_ones(data, bench):
    other = cw.learner("tree", max_depth=2).fit(data)
    page = build(other, data, benchmark=bench, quick=True, sections=["summary", "performance"])
    text = facts(page.sections[0])["Performance"]
    assert "the benchmark evaluated other learners" in text
    assert any(isinstance(b, Sheet) and b.name == "benchmark" for b in page.sections[1].blocks)


def test_columns_without_effect_are_named_and_not_drawn():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    table = cw.read({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": 3 * x[:, 0]}, target="y")
    model = cw.learner("tree", max_depth=2).fit(table)
    (why,) = build(model, table, quick=True, sections=["importance"]).sections
    (note,) = (b for b in why.blocks if isinstance(b, Note) and "without effect" in b.title)
    assert note.items == ("b", "c")
    assert [b.label for b in why.blocks if isinstance(b, Choice)] == ["Effect of a"]


def test_weights_and_descriptions_are_in_the_section_on_the_data():
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=60) for name in ("x", "z", "y")} | {"w": np.arange(60) % 3}
    columns["x"][:6] = np.nan
    labels = {"x": {"name": "Width", "unit": "cm", "description": "Outer width."}}
    data = cw.read(columns, target="y", weight="w", labels=labels)
    (section,) = build(cw.learner("ridge").fit(data), data, sections=["data"], quick=True).sections
    (sheet,) = [b for b in flat(section.blocks) if isinstance(b, Sheet) and b.name == "columns"]
    (row,) = [dict(zip(sheet.columns, r, strict=True)) for r in sheet.rows if r[0] == "Width (cm)"]
    assert row["description"] == "Outer width."
    text = " ".join(p for b in section.blocks if isinstance(b, Prose) for p in b.paragraphs)
    assert (
        "every share and distribution here is weighted. 20 rows with weight 0 are ignored" in text
    )
    assert f"({percent(columns['w'][:6].sum() / columns['w'].sum())})" in text


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.05, 0.15, "more rows would likely help"),
        (-0.01, 0.015, "flat at its end"),
        (-0.03, 0.12, "whether more rows would help is uncertain"),
    ],
)
def test_a_learning_curve_is_flat_only_if_the_interval_of_its_last_step_says_so(low, high, words):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    curve = learning_curve("ols", cw.read({"x": x, "y": x + rng.normal(size=200)}, target="y"))
    last = curve.risk[-1]
    assert curve.last_step.estimate == pytest.approx(curve.risk[-2] - last)
    step = replace(
        curve.last_step, estimate=(low + high) / 2 * last, low=low * last, high=high * last
    )
    assert words in words_of(replace(curve, last_step=step))
