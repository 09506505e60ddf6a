"""Findings as sentences: numbers, names, effects, performance."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from clearwood._shared import numbers
from clearwood._shared.names import listed as joined
from clearwood._shared.names import short_name
from clearwood._shared.numbers import cell, count, percent
from clearwood.checks import FEWEST_EVENTS
from clearwood.explanation import Effect, Importance, sentence_of, shape_of
from clearwood.losses import find_loss
from clearwood.reporting.collect.findings import (
    LEAST_IMPORTANCE,
    EffectViews,
    Findings,
    Performance,
    Step,
)
from clearwood.table import Task

__all__ = [
    "INTERVALS",
    "WHERE",
    "capital",
    "conflict_words",
    "effect_sentence",
    "gap_sentence",
    "interval",
    "listed",
    "loss_name",
    "named",
    "number",
    "overlap_words",
    "performance_sentences",
    "quantity",
    "remainder_words",
    "sentence",
    "shown_output",
    "value_of",
    "where_of",
]

# Variances that differ by less than this share are called the same.
_SAME_VARIANCE = 0.02
# Effects that span less of the predictions' standard deviation than this are called flat.
_FLAT = 0.05

#: What the kinds of interval are.
INTERVALS = {
    "nested": "from nested cross-validation: the fits of Bates, Hastie and Tibshirani (2024), with "
    "a width by Clearwood's own rule",
    "naive": "naive: it ignores that the folds share training rows, and so is too short",
    "hold-out": "that of the mean over the held-out rows, for this one fit",
    "corrected": "over random hold-outs, corrected for the rows they share",
    "per-origin": "over periods of time, each of them one observation",
}

#: Which rows a performance is about.
WHERE = {
    "out-of-fold": "on rows not used for fitting",
    "test": "on the test rows",
    "training": "on rows that may have been used for fitting",
}


# Numbers and names


def number(value: Any, digits: int = numbers.IN_SENTENCES) -> str:
    """Write a number for the page: with a true minus sign, and a word if it is not known.

    Examples
    --------
    >>> number(206855.8), number(-0.012345), number(float("nan"))
    ('207,000', '−0.0123', 'unknown')
    """
    value = float(value)
    return numbers.number(value, digits).replace("-", "−") if isfinite(value) else "unknown"


def interval(low: float, high: float, confidence: float) -> str:
    """Write an interval with its confidence.

    Examples
    --------
    >>> interval(0.1234, 2, 0.9)
    '90 % interval 0.123 to 2'
    """
    return f"{percent(confidence)} interval {number(low)} to {number(high)}"


def value_of(value: Any) -> str:
    """Write a value of a column.

    Examples
    --------
    >>> value_of(18.0), value_of(1987), value_of(np.datetime64("2024-03-01T00:00:00"))
    ('18', '1987', '2024-03-01')
    >>> value_of(None), value_of("north")
    ('missing', '“north”')
    """
    if value is None or value != value:  # NaN and NaT differ from themselves
        return "missing"
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[D]"))
    if isinstance(value, int | float | np.number):
        return cell(float(value))
    return f"“{named(str(value))}”"


def listed(names: Sequence[str], *, most: int = 5) -> str:
    """Join names; "and 1 more" would be no shorter than the name.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    return joined(map(named, names), most=most, quotes=False)


def named(name: str) -> str:
    """Shorten a long name, and keep its direction from spreading; see `short_name`."""
    return short_name(name)


def capital(text: str) -> str:
    """Begin with a capital; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Begin with a capital and end with a full stop."""
    text = capital(text.strip())
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


# Explanations


def quantity(findings: Findings, output: str | None = None) -> str:
    """Name what the model predicts; with an exposure, per unit of it."""
    target = named(findings.outcome or "the target")
    if findings.classes:
        label = named(output or findings.classes[-1])
        what = "probability" if findings.is_probability else "score"
        return f"{what} of {target} = “{label}”"
    return f"number of {target}" if findings.task is Task.COUNT else target


def remainder_words(findings: Findings) -> str:
    """Name what lies beyond the components of a decomposition."""
    if findings.decomposition is not None and findings.decomposition.order < 2:
        return "interactions"
    if not findings.all_pairs_examined:
        return "interactions of three or more columns and of pairs that were not examined"
    return "interactions of three or more columns"


def overlap_words(importance: Importance) -> str:
    """Say what shares of the variation are of, where the functions of a model vary together."""
    ratio = 1.0 if importance.variances is None else importance.variances.of_prediction
    if abs(ratio - 1) < _SAME_VARIANCE:
        return ""
    return (
        "Shares are of the sum of the functions' variances, which is "
        f"{number(ratio)} times the variance of the prediction: the columns are associated, so "
        "that their functions vary together."
    )


def shown_output(effect: Effect) -> int:
    """Return the output that an effect changes most, by position."""
    values = effect.values.reshape(len(effect.grid[0]), -1)
    spans = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
    return int(np.argmax(spans))


def effect_sentence(findings: Findings, views: EffectViews) -> str:
    """Describe how the average prediction changes with one column.

    "The average predicted number of accidents falls from 2.1 at age = 18 to 0.9 at 60."
    """
    effect = views.pdp
    if effect is None:
        return ""
    output = shown_output(effect)
    label = effect.outputs[output] if findings.classes else None
    average = (
        f"the average predicted {quantity(findings, label)}"
        if findings.target is not None
        else "the average prediction"
    )
    if len(effect.outputs) > 1:
        average += " (the class it changes most)"
    negligible = _FLAT * findings.spread_of(output)
    text = sentence_of(
        effect,
        output=output,
        negligible=negligible,
        subject=average,
        column=named(views.column),
        write=percent if findings.is_probability else number,
        write_value=value_of,
    )
    is_flat = shape_of(effect, output=output, negligible=negligible).trend == "flat"
    if is_flat and findings.shares.get(views.column, 0.0) >= LEAST_IMPORTANCE:
        partners = findings.partners(views.column)
        text += "; its importance is due to interactions"
        text += f" with {listed(partners)}" if partners else " and to small steps"
    return sentence(text)


def conflict_words(findings: Findings, column: str) -> str:
    """Say how far the curves of a column differ by method, with the likely reason."""
    agreement = findings.agreement
    assert agreement is not None
    entry = agreement[column]
    why = []
    if entry.associated_with:
        others = [f"{named(name)} ({number(strength)})" for name, strength in entry.associated_with]
        why.append(f"it is associated with {listed(others)}")
    partners = findings.partners(column)
    if partners:
        why.append(f"it interacts with {listed(partners)}")
    if entry.extrapolates > 0:
        why.append(f"{percent(entry.extrapolates)} of its grid extrapolates")
    reason = f"; likely because {' and '.join(why)}" if why else ""
    return (
        f"{named(column)}: partial dependence and ALE differ by {number(entry.pdp_ale)} standard "
        f"deviations of the prediction{reason}."
    )


# Performance


def loss_name(loss: str) -> str:
    """Name the mean of a loss.

    Examples
    --------
    >>> loss_name("poisson"), loss_name("zero-one")
    ('mean Poisson deviance', 'error rate')
    """
    return find_loss(loss).risk_title


def performance_sentences(
    findings: Findings, performance: Performance | None = None
) -> tuple[str, ...]:
    """Describe a performance in a few sentences; say why not, if it is not known."""
    performance = performance or findings.performance
    if performance is None:
        why = findings.failures.get(Step.PERFORMANCE, "nothing was evaluated")
        return (sentence(f"the performance is not known: {why}"),)
    sentences = [_risk_sentence(findings, performance), *_held_out(performance)]
    sentences += _against_baseline(findings, performance)
    sentences += _measures(findings, performance)
    sentences += _level(findings, performance)
    if performance.rows == "training":
        sentences.append(_unseen(findings))
    return tuple(sentences)


def _risk_sentence(findings: Findings, performance: Performance) -> str:
    risk = performance.risk
    weighted = "" if findings.table.weights is None else "weighted "
    root = ""
    if performance.loss == "squared" and risk.estimate > 0:
        root = f"; its square root is {number(risk.estimate**0.5)}"
    where = where_of(performance)
    return (
        f"{capital(where)}, the {weighted}{performance.risk_title} is "
        f"{number(risk.estimate)} ({interval(risk.low, risk.high, risk.confidence)}){root}."
    )


def _held_out(performance: Performance) -> list[str]:
    """Say how many rows and events a performance is of, where there are events."""
    evaluation = performance.evaluation
    if evaluation is None or evaluation.n_events is None:
        return []
    n_events, n_rows = evaluation.n_events, evaluation.n_rows
    few = ", which is few: intervals are wide, and little can be said about calibration"
    text = f"These are {count(n_rows, 'row')} with {count(n_events, 'event')}"
    return [f"{text}{few if n_events < FEWEST_EVENTS else ''}."]


def where_of(performance: Performance) -> str:
    """Say which rows a performance is about, and how many test rows there are."""
    where = WHERE[performance.rows]
    if performance.rows != "test":
        return where
    n_rows, total = performance.n_rows, performance.sampled_of
    drawn = "" if total is None else f", drawn from {total:,}"
    return f"{where} ({n_rows:,}{drawn})"


def gap_sentence(findings: Findings) -> str:
    """Compare the risk on test rows with that on the other held-out rows."""
    gap, held = findings.test_gap, findings.performance
    if gap is None or held is None:
        return ""
    side = "above" if gap.estimate > 0 else "below"
    text = (
        f"The {held.risk_title} of the test rows is {number(abs(gap.estimate))} {side} the "
        f"{number(held.risk.estimate)} {WHERE[held.rows]} (difference {number(gap.estimate)}, "
        f"{interval(gap.low, gap.high, gap.confidence)})"
    )
    is_clear = not gap.low <= 0 <= gap.high
    return f"{text}{', more than chance explains' if is_clear else '; chance could explain it'}."


def _against_baseline(findings: Findings, performance: Performance) -> list[str]:
    explained, baseline = performance.explained, performance.baseline
    if explained is None or baseline is None:
        return []
    constant = "the mean"
    if findings.classes:
        is_label = performance.loss == "zero-one"
        constant = "the most frequent class" if is_label else "the overall class shares"
    text = f"Predicting {constant} for every row scores {number(baseline)}; the model "
    if explained <= 0:
        return [f"{text}is no better."]
    text += f"reduces that by {percent(explained)}"
    gap = performance.against_baseline
    if gap is not None:
        text += f" (difference {number(gap.difference)}, "
        text += f"{interval(gap.low, gap.high, gap.confidence)})"
        text += "" if gap.clear else "; chance could explain it"
    compared = findings.identical_rows if performance.rows == "out-of-fold" else None
    if compared is not None and compared.learner == findings.chosen:
        text += (
            f". Cross-validated with the same settings in all folds, the reduction is "
            f"{percent(compared.gain)}, and only {percent(compared.gain_together)} if rows with "
            "the same features are kept together"
        )
    sentences = [f"{text}."]
    if performance.rows == "out-of-fold":
        sentences += [f"{capital(both.text)}." for both in findings.two_ways]
    both = findings.without
    if both is not None and not findings.suspects:
        share = percent(findings.shares.get(both.columns[0], 0.0))
        sentences.append(
            f"{named(both.columns[0])} carries {share} of the variation: {both.text}, with the "
            "same settings in all folds. Make sure that it is known when predictions are made."
        )
    return sentences


def _measures(findings: Findings, performance: Performance) -> list[str]:
    values = {} if performance.measures is None else dict(performance.measures.values)
    target = named(findings.outcome or "the target")
    sentences = []
    by = findings.table.counted_by
    # with squared error, the share of the baseline's risk is the same number
    has_r2 = performance.loss == "squared" and performance.explained is not None
    if values.get("r2", 0) > 0 and findings.task is Task.REGRESSION and not has_r2:
        sentences.append(f"It explains {percent(values['r2'])} of the variance of {target}.")
    rest = performance.residuals
    if rest is not None:
        sentences.append(
            f"{'Half' if by == 'rows' else f'Weighted by {by}, half'} of the predictions are off "
            f"by at most {number(rest.typical)}, and 90 % by at most {number(rest.large)}."
        )
    if "accuracy" in values:
        sentences.append(
            f"{_predicted_class(findings, performance)} is correct for "
            f"{percent(values['accuracy'])} of {'' if by == 'rows' else 'the '}{by}"
            f"{_majority(performance, values)}."
        )
    if values.get("auc", 0) > 0:
        share = percent(values["auc"])
        if len(findings.classes) == 2:
            sentences.append(
                f"It ranks {share} of pairs correctly (AUC): of a row with {target} = "
                f"“{named(findings.classes[1])}” and a row without, the first has the higher "
                "probability."
            )
        else:
            sentences.append(
                f"It ranks {share} of pairs of rows from different classes correctly (AUC, mean "
                "over the classes)."
            )
    return sentences


def _level(findings: Findings, performance: Performance) -> list[str]:
    """State observed / expected of counts and amounts."""
    evaluation = performance.evaluation
    if evaluation is None or findings.task not in (Task.COUNT, Task.AMOUNT):
        return []
    said = evaluation.level_words
    return [] if said is None else [sentence(str(said))]


def _predicted_class(findings: Findings, performance: Performance) -> str:
    """Say which class counts as predicted: of two, the second above a threshold."""
    if not findings.has_probabilities:
        return "Its predicted class"
    threshold = None if performance.measures is None else performance.measures.threshold
    if threshold is None or len(findings.classes) != 2:
        return "Its most probable class"
    if threshold == 0.5:
        return "Its most probable class (p > 0.5)"
    second = named(findings.classes[1])
    return f"Predicting “{second}” where its probability is above {number(threshold)}"


def _majority(performance: Performance, values: Mapping[str, float]) -> str:
    """Compare with the accuracy of always predicting the most frequent class."""
    share, evaluation = values.get("majority"), performance.evaluation
    if share is None or evaluation is None:
        return ""
    of_class = np.bincount(evaluation.truth.astype(np.intp), evaluation.weights)
    most = evaluation.classes[int(of_class.argmax())]
    return f" (always predicting “{named(most)}”: {percent(share)})"


def _unseen(findings: Findings) -> str:
    """Say what is known about new rows if only the model's own were evaluated."""
    curve = findings.learning_curve
    if curve is None:
        why = (
            "neither a benchmark nor test rows were given"
            if findings.benchmark is None
            else "the benchmark evaluated other learners, or this one with other settings"
        )
        return f"This is too optimistic. The performance on new rows is not known: {why}."
    return (
        f"This is too optimistic: {curve.fits} fits with the same settings, each to "
        f"{curve.sizes[-1]:,} rows and evaluated on others, have a {loss_name(curve.loss)} of "
        f"{number(curve.risk[-1])} ({interval(curve.low[-1], curve.high[-1], curve.confidence)})."
    )
