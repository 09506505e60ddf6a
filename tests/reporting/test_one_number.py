"""One number, one definition, one interval: what has one name on a page has one value there."""

import dataclasses
import re
from collections import defaultdict

import numpy as np
import pytest

import clearwood as cw
from clearwood._shared.numbers import number
from clearwood.reporting import evaluation_page
from clearwood.reporting.collect.performance import of_benchmark

#: What sentences and captions of figures call the measures of an evaluation.
WORDS = {
    "normalised Gini": "gini_normalised",
    "Gini": "gini",
    "AUC": "auc",
    "KS": "ks",
    "average precision": "average_precision",
    "slope": "calibration_slope",
    "intercept": "calibration_intercept",
    "expected calibration error": "calibration_error",
    "mean distance from the predictions": "ici",
}
VALUE = r"([−-]?[\d.,]*\d(?:e[+-]?\d+)?)"
PATTERN = re.compile(rf"(?<!standard )\b({'|'.join(WORDS)}) {VALUE}(?: \({VALUE} to {VALUE}[,)])?")


def tables():
    rng = np.random.default_rng(0)
    n = 240
    x, z, years = rng.normal(size=n), rng.normal(size=n), rng.uniform(0.3, 2.0, n)
    columns = {"x": x.tolist(), "z": z.tolist()}
    counts = rng.poisson(years * np.exp(0.3 * x)).tolist()
    yield (
        "count",
        cw.read({**columns, "years": years.tolist(), "y": counts}, target="y", exposure="years"),
    )
    member = np.where(rng.random(n) < 1 / (1 + np.exp(-x)), "yes", "no").tolist()
    yield "binary", cw.read({**columns, "w": years.tolist(), "y": member}, target="y", weight="w")
    yield "regression", cw.read({**columns, "y": (x + rng.normal(size=n)).tolist()}, target="y")


def evaluations():
    for task, table in tables():
        name = {"count": "glm", "binary": "logistic", "regression": "ols"}[task]
        bench = cw.benchmark(table, name, tune=0, repeats=2)
        against = None if task == "regression" else "baseline"
        out_of_fold = bench.evaluation(name, against=against)
        yield task, bench, out_of_fold
        model = cw.learner(name).fit(table)
        yield task, None, cw.evaluate(model, table)


@pytest.fixture(scope="module")
def evaluated():
    return list(evaluations())


def named_numbers(evaluation):
    """Return every value and interval of an evaluation's parts, by the name of its measure."""
    parts = evaluation.parts()
    measured = parts["measures"]
    for name in measured:
        yield name, (measured[name], *measured.interval(name))
    if "roc" in parts:
        roc = parts["roc"]
        yield "auc", (roc.auc, roc.low, roc.high)
        yield "ks", (roc.ks,)
    if "precision_recall" in parts:
        curve = parts["precision_recall"]
        yield "average_precision", (curve.average_precision, curve.low, curve.high)
    if "lorenz" in parts:
        lorenz = parts["lorenz"]
        yield "gini", (lorenz.gini, lorenz.low, lorenz.high)
        yield "gini_normalised", (lorenz.normalised,)
    if "confusion" in parts:
        table = parts["confusion"]
        yield "accuracy", tuple(of["accuracy"] for of in (table.rates, table.low, table.high))
    line, curve = parts["calibration"].line, parts["smooth_calibration"]
    yield "calibration_slope", (line.slope, line.slope_low, line.slope_high)
    yield "calibration_intercept", (line.intercept, line.intercept_low, line.intercept_high)
    if parts["calibration"].kind == "probability":
        yield "calibration_error", (parts["calibration"].error,)
    yield "ici", (curve.ici, curve.ici_low, curve.ici_high)
    for part in (parts["lift"], parts["calibration"]):
        for place in range(len(part.observed)):
            ends = (part.predicted[place], part.observed[place], part.low[place], part.high[place])
            yield f"bin {place}", ends


def test_numbers_of_one_name_are_equal_in_all_parts_of_an_evaluation(evaluated):
    for _, bench, evaluation in evaluated:
        seen = defaultdict(list)
        for name, values in named_numbers(evaluation):
            seen[name].append(values)
        if bench is not None:
            measured = bench.measures(evaluation.learner)
            for name in measured:
                seen[name].append((measured[name], *measured.interval(name)))
            line = bench.calibration(evaluation.learner).line
            seen["calibration_slope"].append((line.slope, line.slope_low, line.slope_high))
        assert sum(len(values) > 1 for values in seen.values()) >= 5
        for name, several in seen.items():
            for values in several[1:]:
                shared = min(len(values), len(several[0]))
                assert values[:shared] == pytest.approx(
                    several[0][:shared], rel=1e-9, abs=1e-12, nan_ok=True
                ), name


def test_a_class_has_the_gini_of_its_auc(evaluated):
    for task, _, evaluation in evaluated:
        measured = evaluation.measures()
        if task == "binary":
            assert "gini" not in measured.values
            assert measured["gini_normalised"] == pytest.approx(2 * measured["auc"] - 1)
            assert evaluation.lorenz().normalised == pytest.approx(measured["gini_normalised"])


def test_a_difference_of_two_learners_has_one_value(evaluated):
    for _, bench, evaluation in evaluated:
        if evaluation.against is None:
            continue
        gain = evaluation.lift(against=evaluation.against).advantage
        gap = bench.compare(evaluation.against, evaluation.learner)
        assert (gain.difference, gain.low, gain.high) == (gap.difference, gap.low, gap.high)


def test_no_table_of_bands_contradicts_its_test(evaluated):
    for _, _, evaluation in evaluated:
        for part in (evaluation.by("x"), evaluation.by("z"), evaluation.by("x", "z")):
            equal = 1.0 if part.compared == "ratio" else 0.0
            outside = (part.low > equal) | (part.high < equal)
            np.testing.assert_array_equal(part.misses, outside)
        curve = evaluation.calibration()
        outside = (curve.low > curve.predicted) | (curve.high < curve.predicted)
        np.testing.assert_array_equal(curve.misses, outside)


def texts(part):
    """Return every piece of text in blocks and figures."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from texts(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from texts(value)
    elif dataclasses.is_dataclass(part):
        for field in dataclasses.fields(part):
            yield from texts(getattr(part, field.name))


def check_sentences(sections, evaluation):
    """Compare every number that a page writes after the name of a measure with the measure."""
    measured, found = evaluation.measures(), 0
    for text in texts(sections):
        for word, *written in PATTERN.findall(text):
            name = WORDS[word]
            if name not in measured.values:
                continue
            low, high = measured.interval(name)
            expected = [number(value) for value in (measured[name], low, high)]
            shown = [value.replace("−", "-") for value in written if value]
            if name.startswith("calibration_") and len(shown) < 3 and name != "calibration_error":
                continue  # "a calibrated model has slope 1"
            assert shown == [value.replace("−", "-") for value in expected[: len(shown)]], text
            found += 1
    return found


def test_sentences_and_figures_of_an_evaluation_page_have_the_measures(evaluated):
    for _, _, evaluation in evaluated:
        page = evaluation_page(evaluation)
        assert check_sentences(page.sections, evaluation) >= 3


def test_the_performance_of_a_report_has_the_measures_of_its_evaluation(evaluated):
    for _, bench, evaluation in evaluated:
        if bench is None:
            continue
        shown = of_benchmark(bench, evaluation.learner)
        assert shown.measures.to_json() == evaluation.measures().to_json()
        assert shown.calibration.line == evaluation.calibration().line
        assert shown.evaluation.calibration().to_json() == shown.calibration.to_json()
