"""Test rows with an outcome are scored, and said to contradict the held-out rows if they do."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import clearwood as cw
from clearwood.evaluation import holdout_interval
from clearwood.reporting import Choice, Note, Performance
from clearwood.reporting.collect.performance import gap_between

pytestmark = pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")


def rows(n, seed, *, slope=1.0, task="regression"):
    """Columns of a table; in which direction the target goes with x depends on the slope."""
    rng = np.random.default_rng(seed)
    x, z, years = rng.normal(size=n), rng.normal(size=n), rng.uniform(0.5, 2.0, n)
    columns = {"x": x.tolist(), "z": z.tolist(), "years": years.tolist()}
    columns["sex"] = rng.choice(["f", "m"], n).tolist()
    score = slope * x + 0.3 * z
    y = {
        "regression": (score + rng.normal(size=n)).tolist(),
        "count": rng.poisson(years * np.exp(0.5 * score)).tolist(),
        "binary": np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no").tolist(),
        "classes": np.array(["low", "mid", "top"])[
            np.digitize(score + rng.normal(size=n), [-0.5, 0.5])
        ].tolist(),
    }
    return {**columns, "y": y[task]}


ROLES = {
    "regression": {"protected": "sex"},
    "count": {"exposure": "years", "task": "count"},
    "binary": {"weight": "years"},
    "classes": {},
}
LEARNERS = {"regression": "ols", "count": "glm", "binary": "logistic", "classes": "lda"}


@pytest.fixture(scope="module")
def fitted():
    def of(task, learner=None, **options):
        data = cw.read(rows(500, 0, task=task), target="y", **ROLES[task])
        names = [learner or LEARNERS[task], "baseline"]
        bench = cw.benchmark(data, names, tune=0, repeats=1, **options)
        return data, bench, bench.choose(names[0]).fit(data)

    return of


@pytest.mark.parametrize("task", list(ROLES))
def test_test_rows_have_the_scores_of_an_evaluation(task, fitted):
    data, bench, model = fitted(task)
    test = rows(300, 1, task=task)
    page = cw.report(
        model, data, benchmark=bench, test=test, quick=True, sections=["performance", "fairness"]
    )
    expected = cw.evaluate(model, cw.read(test, target="y", **ROLES[task]))
    assert page.test.n_rows == 300
    assert page.test.risk.to_json() == pytest.approx(expected.risk().to_json(), nan_ok=True)
    assert page.test.measures.to_json() == expected.measures().to_json()
    assert page.performance.rows == "out-of-fold"
    assert page.performance.risk.estimate == bench[LEARNERS[task]].risk
    choices = {block.name: block for block in page.sections[0].blocks if isinstance(block, Choice)}
    assert {name for name, _ in choices["test-by-column"].options} >= {"x", "z"}
    if task == "regression":  # sex is protected: groups are compared on both sets of rows
        [groups] = page.sections[1].blocks
        assert [label for label, _ in groups.options] == ["Rows not used for fitting", "Test rows"]


def test_the_loss_of_the_benchmark_judges_test_rows_too(fitted):
    data, bench, model = fitted("binary", loss="zero-one:0.3")
    test = rows(300, 1, task="binary")
    page = cw.report(model, data, benchmark=bench, test=test, sections=["performance"], quick=True)
    table = cw.read(test, target="y", **ROLES["binary"])
    wrong = (model.predict_proba(table)[:, 1] > 0.3) != (table.y == "yes")
    assert page.test.loss == page.performance.loss == "zero-one:0.3"
    assert page.test.risk.estimate == pytest.approx(np.average(wrong, weights=table.weights))


def test_a_contradiction_stands_at_the_top_and_agreement_does_not(fitted):
    data, bench, model = fitted("regression")
    options = {"benchmark": bench, "quick": True, "sections": ["summary", "cautions"]}
    same = cw.report(model, data, test=rows(300, 1), **options)
    assert not same.test_contradicts
    assert same.test_gap.low < 0 < same.test_gap.high
    assert all(caution.severity != "high" for caution in same.cautions)
    other = cw.report(model, data, test=rows(300, 1, slope=-1.0), **options)
    assert other.test_contradicts
    assert other.test.explained < 0 < other.performance.explained
    assert other.cautions[0].severity == "high"
    assert (
        other.cautions[0].title
        == "The test rows are predicted worse than rows not used for fitting"
    )
    lead, note = other.sections[0].blocks[:2]
    assert lead.lead
    assert isinstance(note, Note)
    assert note.title == other.cautions[0].title
    assert other.to_json()["cautions"][0]["severity"] == "high"
    assert other.to_json()["test"]["risk"]["estimate"] == other.test.risk.estimate


def test_test_rows_that_are_too_easy_are_pointed_out(fitted):
    data, bench, model = fitted("regression")
    test = rows(300, 1)
    test["y"] = model.predict(cw.read(test, target="y", **ROLES["regression"])).tolist()
    page = cw.report(
        model, data, benchmark=bench, test=test, quick=True, sections=["summary", "cautions"]
    )
    assert page.test_contradicts
    assert "predicted better" in page.cautions[0].title


def test_rows_read_without_a_target_are_scored_if_they_have_it(fitted):
    data, _, model = fitted("count")
    test = rows(300, 1, task="count")
    read = cw.read(test)
    assert read.target is None
    page = cw.report(model, data, test=read, quick=True, sections=["performance"])
    expected = cw.evaluate(model, cw.read(test, target="y", **ROLES["count"]))
    assert page.test.risk.estimate == pytest.approx(expected.risk().estimate)
    assert page.performance.rows == "test"


def test_rows_without_outcome_are_only_compared(fitted):
    data, bench, model = fitted("regression")
    test = {name: values for name, values in rows(300, 1).items() if name != "y"}
    page = cw.report(
        model, data, benchmark=bench, test=test, quick=True, sections=["performance", "cautions"]
    )
    assert page.test is None
    assert not page.test_contradicts
    assert page.performance.rows == "out-of-fold"


def test_rows_with_a_known_outcome_are_scored_and_the_others_counted(fitted):
    data, bench, model = fitted("regression")
    test = rows(300, 1)
    test["y"] = [None if k < 20 else y for k, y in enumerate(test["y"])]
    page = cw.report(model, data, benchmark=bench, test=test, quick=True, sections=["performance"])
    assert page.test.n_rows == 280
    words = " ".join(
        text for block in page.sections[0].blocks for text in getattr(block, "paragraphs", ())
    )
    assert "20 test rows without the outcome left out." in words


def scored(losses):
    """A performance with these losses, as far as the gap needs it."""
    risk = holdout_interval(losses)
    own = SimpleNamespace(losses=losses, weights=np.ones(len(losses)), units=np.arange(len(losses)))
    return Performance(
        rows="test", n_rows=len(losses), loss="squared", risk_title="", risk=risk, evaluation=own
    )


@pytest.mark.parametrize("draw", ["normal", "heavy"])
def test_rows_of_one_population_contradict_each_other_in_one_table_of_twenty(draw):
    """Squared normal and lognormal errors; 3,000 tables of 30 to 200 test rows gave 4 to 6 %."""
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(2000, 460)) if draw == "normal" else rng.lognormal(size=(2000, 460))
    gaps = [gap_between(scored(row[:60] ** 2), scored(row[60:] ** 2)) for row in errors]
    alarms = np.mean([gap.low > 0 or gap.high < 0 for gap in gaps])
    assert 0.01 < alarms < 0.08


def test_twice_the_error_is_found_in_most_tables():
    rng = np.random.default_rng(1)
    errors = rng.normal(size=(200, 600)) * np.where(np.arange(600) < 200, np.sqrt(2), 1)
    gaps = [gap_between(scored(row[:200] ** 2), scored(row[200:] ** 2)) for row in errors]
    assert np.mean([gap.low > 0 for gap in gaps]) > 0.95


def test_means_of_different_losses_are_not_compared():
    losses = np.arange(10.0)
    other = replace(scored(losses), loss="absolute")
    assert gap_between(scored(losses), other) is None
