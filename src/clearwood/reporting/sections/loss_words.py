"""How well a model predicts, in words."""

from clearwood.reporting.collect.findings import Findings, Performance
from clearwood.reporting.sections.words import named, number, percent, sentence
from clearwood.table import Task

__all__ = ["LOSSES", "beside", "how_well", "interval_words", "risk_words"]

#: What a mean loss is called on the page.
LOSSES = {
    "squared": "mean squared error",
    "absolute": "mean absolute error",
    "poisson": "mean Poisson deviance",
    "gamma": "mean gamma deviance",
    "log": "log loss",
    "brier": "Brier score",
    "zero-one": "share of wrong classes",
    "hinge": "mean hinge loss",
    "exponential": "mean exponential loss",
}

_WHERE = {
    "out-of-fold": "On rows it had not seen",
    "test": "On the test rows",
    "training": "On the rows given, which it may have been fitted to",
}

_INTERVALS = {
    "nested": "from nested cross-validation (Bates, Hastie and Tibshirani 2024): it covers the "
    "risk of a model fitted to all rows as often as it says",
    "naive": "a naive one: it ignores that the folds share training rows, and so is too short",
    "hold-out": "of the mean over the rows judged, for this one fit",
    "corrected": "over random hold-outs, corrected for the rows they share",
    "per-origin": "over spans of time, each span counting as one observation",
}


def loss_name(loss: str) -> str:
    """Say what the risk is."""
    return LOSSES.get(loss.partition(":")[0], f"mean {loss} loss")


def interval_words(found: Performance) -> str:
    """Give the interval with its level."""
    risk = found.risk
    return f"{100 * risk.confidence:g} % interval {number(risk.low)} to {number(risk.high)}"


def interval_meaning(kind: str) -> str:
    """Say what an interval is."""
    return _INTERVALS.get(kind, f"{kind}")


def risk_words(found: Performance) -> str:
    """Give the risk with its interval."""
    root = ""
    if found.loss == "squared" and found.risk.estimate > 0:
        root = f", its root {number(found.risk.estimate**0.5)}"
    risk = number(found.risk.estimate)
    return f"{loss_name(found.loss)} is {risk} ({interval_words(found)}){root}"


def how_well(findings: Findings) -> tuple[str, ...]:
    """Say how well in a few sentences; why not, where it is not known."""
    found = findings.performance
    if found is None:
        why = findings.failures.get("performance", "")
        return (sentence(f"how well it predicts is not known: {why or 'nothing was judged'}"),)
    told = [sentence(f"{_WHERE[found.rows]}, its {risk_words(found)}")]
    told += _against_baseline(findings, found)
    told += beside(findings, found)
    if found.rows == "training":
        told.append(_unseen(findings))
    return tuple(told)


def _unseen(findings: Findings) -> str:
    """Say what is known about rows not seen where only the model's own were judged."""
    curve = findings.learning
    if curve is None:
        why = (
            "neither a benchmark nor test rows were given"
            if findings.benchmark is None
            else "the benchmark judged other learners, or this one with other settings"
        )
        return (
            "This flatters the model: how well it does on rows it has not seen is not known, as "
            f"{why}."
        )
    return (
        f"This flatters the model: in {curve.fits} fits with the same settings, each to "
        f"{curve.sizes[-1]:,} rows and judged on others, its {loss_name(curve.loss)} was "
        f"{number(curve.risk[-1])} ({100 * curve.confidence:g} % {curve.interval} interval "
        f"{number(curve.low[-1])} to {number(curve.high[-1])})."
    )


def _against_baseline(findings: Findings, found: Performance) -> list[str]:
    explained = found.explained
    if explained is None:
        return []
    simple = (
        "predicting the shares of the classes for every row"
        if findings.classes and found.loss != "zero-one"
        else "predicting the most frequent class for every row"
        if findings.classes
        else "predicting the mean for every row"
    )
    assert found.baseline is not None
    head = f"{simple} would have {number(found.baseline)}"
    if explained <= 0:
        return [sentence(f"{head}: the model is no better than that")]
    told = f"{head}, so the model takes away {percent(explained)} of that"
    bench, chosen = findings.benchmark, findings.chosen
    if found.rows == "out-of-fold" and bench is not None and chosen not in (None, "baseline"):
        gap = bench.compare(chosen, "baseline")
        told += (
            f" (difference {number(gap.difference)}, {100 * gap.confidence:g} % interval "
            f"{number(gap.low)} to {number(gap.high)})"
        )
        if not gap.clear:
            told += "; chance could explain it"
    return [sentence(told)]


def beside(findings: Findings, found: Performance) -> list[str]:
    """Say what the measures beside the loss tell."""
    values = {} if found.measures is None else dict(found.measures.values)
    target = named(findings.target or "the target")
    told = []
    # with squares, what is taken from the baseline's risk says it already
    said = found.loss == "squared" and found.explained is not None
    if values.get("r2", 0) > 0 and findings.task is Task.REGRESSION and not said:
        told.append(f"It explains {percent(values['r2'])} of the variance of {target}.")
    if found.residuals is not None:
        told.append(
            f"Half of the predictions are off by at most {number(found.residuals.typical)}, nine "
            f"tenths by at most {number(found.residuals.large)}."
        )
    if "accuracy" in values:
        right = percent(values["accuracy"])
        told.append(f"The class it holds most probable is right in {right} of the rows.")
    if values.get("auc", 0) > 0:
        if len(findings.classes) == 2:
            told.append(
                f"Of two rows, one with {target} = {named(findings.classes[1])} and one without, "
                f"it gives the higher probability to the right one in {percent(values['auc'])} of "
                "all such pairs (AUC)."
            )
        else:
            told.append(
                f"Of two rows, one of a class and one of another, it ranks "
                f"{percent(values['auc'])} of such pairs rightly (AUC, mean over the classes)."
            )
    return told
