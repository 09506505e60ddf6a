"""How well: the benchmark with intervals, calibration, residuals, the learning curve."""

import math

from clearwood.benchmarking import Benchmark, LearningCurve, Residuals
from clearwood.benchmarking.diagnostics.measures import MEANINGS
from clearwood.benchmarking.text import settings_in_words
from clearwood.models import Learner
from clearwood.reporting.collect.findings import Findings, Performance
from clearwood.reporting.page.blocks import (
    Block,
    Cell,
    Choice,
    Facts,
    More,
    Note,
    Prose,
    Section,
    Sheet,
)
from clearwood.reporting.page.charts import chart
from clearwood.reporting.sections.loss_words import how_well, interval_meaning, loss_name
from clearwood.reporting.sections.words import (
    capital,
    count,
    listed,
    named,
    number,
    percent,
    sentence,
)

__all__ = ["section"]


def section(findings: Findings) -> Section:
    """Write the chapter about how well the model predicts."""
    blocks: list[Block] = [Prose((" ".join(how_well(findings)),), lead=True)]
    if findings.performance is not None and findings.performance.rows == "training":
        blocks.append(_flattering())
    if findings.benchmark is not None:
        blocks += _compared(findings, findings.benchmark)
    blocks += _settings(findings)
    if findings.performance is not None:
        blocks += _kept(findings.performance)
    blocks += _learning(findings)
    return Section("how-well", "How well", tuple(blocks))


def _flattering() -> Note:
    return Note(
        "These numbers are too good",
        "They are about rows that the model may have been fitted to, and a flexible model knows "
        "those by heart. For an honest estimate give a benchmark, cw.report(model, data, "
        "benchmark=cw.benchmark(data)), or rows it has not seen, test=...",
        tone="caution",
    )


def _compared(findings: Findings, bench: Benchmark) -> list[Block]:
    confidence = f"{100 * bench.method.confidence:g} %"
    chosen = findings.chosen
    which = (
        f"The model of this page is “{chosen}”."
        if chosen is not None
        else "The model of this page is not one of them, or has other settings."
    )
    first = (
        f"{count(len(bench.standings), 'learner')} compared by their {loss_name(bench.loss)} on "
        f"rows not fitted to (lower is better). {which} How: {bench.method.plan}; "
        f"{bench.method.tuning}; seed {bench.method.seed}."
    )
    second = (
        f"The {confidence} interval is {_intervals(bench)}. Differences to the best are measured "
        "row by row, so that their intervals can be shorter than those of the risks. "
        f"{_chosen_words(findings)}"
    )
    blocks: list[Block] = [Prose((first, second))]
    if any(one.folds for one in bench.standings):
        blocks.append(chart("benchmark", bench.plot(), title="Risk of each learner"))
    blocks.append(_standings(bench, confidence))
    if bench.warnings:
        blocks.append(
            More(
                f"{count(len(bench.warnings), 'warning')} of the benchmark",
                (Note("Said by the benchmark", "", items=bench.warnings),),
            )
        )
    for name, reasons in bench.failures.items():
        blocks.append(
            Note(
                f"Fits of {named(name)} failed",
                "It could not be judged fairly on all folds.",
                tone="caution",
                items=tuple(reasons),
            )
        )
    return blocks


def _intervals(bench: Benchmark) -> str:
    """Say what the intervals are; where learners have different ones, whose they are."""
    kinds: dict[str, list[str]] = {}
    for one in bench.standings:
        if math.isfinite(one.risk):
            kinds.setdefault(one.interval, []).append(one.learner)
    whose = len(kinds) > 1
    return "; ".join(
        f"{f'for {listed(names)} ' if whose else ''}{interval_meaning(kind)}"
        for kind, names in kinds.items()
    )


def _chosen_words(findings: Findings) -> str:
    """Say by how much the best of several looks better than it is."""
    found = findings.choosing
    if found is None:
        return (
            "The best of several looks a little better here than it will on new rows, as it was "
            "chosen for its result."
        )
    folds = sum(found.chosen.values())
    times = found.chosen.get(found.winner, 0)
    return (
        "The best of several looks better than it is, as it was chosen for its result. Choosing "
        "on other rows than those that judge, the choice fell on "
        f"{named(found.winner)} in {times} of {folds} folds, and the risk of choosing the best and "
        f"using it is {number(found.risk)} ({100 * found.confidence:g} % interval "
        f"{number(found.low)} to {number(found.high)})."
    )


def _standings(bench: Benchmark, confidence: str) -> Sheet:
    rows: list[tuple[Cell, ...]] = [
        (
            one.learner,
            one.risk,
            one.low,
            one.high,
            one.difference,
            one.difference_low,
            one.difference_high,
            one.fit_seconds,
            one.failures,
            settings_in_words(one.settings),
        )
        for one in bench.standings
    ]
    known = [
        tuple(None if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in row)
        for row in rows
    ]
    return Sheet(
        "benchmark",
        f"{capital(loss_name(bench.loss))} of each learner, best first, with {confidence} "
        "intervals; seconds of one tuning and fit; settings typical of the folds",
        (
            "learner",
            "risk",
            "low",
            "high",
            "above the best",
            "low of difference",
            "high of difference",
            "seconds",
            "failed fits",
            "settings",
        ),
        tuple(known),
    )


def _settings(findings: Findings) -> list[Block]:
    model = findings.model
    if not isinstance(model, Learner):
        return []
    items = tuple((key, str(value)) for key, value in model.all_settings.items())
    if not items:
        return []
    title = f"Settings of the model explained here ({model.name})"
    return [More(title, (Facts(items),))]


def _kept(found: Performance) -> list[Block]:
    blocks: list[Block] = []
    views: list[tuple[str, tuple[Block, ...]]] = []
    where = {
        "out-of-fold": "on rows the fits had not seen",
        "test": "on the test rows",
        "training": "on rows the model may have been fitted to",
    }[found.rows]
    if found.calibration is not None:
        curve = found.calibration
        words = (
            f"Rows are put into bins of similar prediction; in each, the mean prediction is "
            f"compared with what was observed, {where}. Points on the dashed line: what is "
            "predicted comes true on average."
        )
        if math.isfinite(curve.slope):
            words += (
                f" The line through them has slope {number(curve.slope)} (1 if calibrated; below "
                f"1, predictions are too extreme) and intercept {number(curve.intercept)}."
            )
        views.append(("Calibration", (Prose((words,)), chart("calibration", curve.plot()))))
    if found.residuals is not None:
        rest = found.residuals
        words = (
            f"Truth less prediction, {where}, against the prediction: the median and the ranges of "
            f"half and of nine tenths of the rows. {_bias(rest)}"
        )
        views.append(("Residuals", (Prose((words,)), chart("residuals", rest.plot()))))
    if len(views) == 1:
        blocks += views[0][1]
    elif views:
        blocks.append(Choice("kept", "Show", tuple(views)))
    if found.measures is not None:
        rows = tuple(
            (
                name.replace("_", " "),
                value if math.isfinite(value) else None,
                MEANINGS.get(name, ""),
            )
            for name, value in found.measures.values.items()
        )
        blocks.append(
            Sheet(
                "measures",
                f"Measures beside the loss, {where}",
                ("measure", "value", "what it says"),
                rows,
            )
        )
    return blocks


def _bias(rest: Residuals) -> str:
    if abs(rest.bias) < 0.001 * rest.typical:
        return "On average, predictions are neither too high nor too low."
    side = "low" if rest.bias > 0 else "high"
    return f"On average, predictions are {number(abs(rest.bias))} too {side}."


def _learning(findings: Findings) -> list[Block]:
    curve = findings.learning
    if curve is None:
        why = findings.failures.get("learning curve")
        if why is None:
            return []
        return [Note("No learning curve", sentence(why))]
    return [
        Prose((_would_help(curve),)),
        chart("learning", curve.plot()),
    ]


def _would_help(curve: LearningCurve) -> str:
    """Say whether more rows would help: by what the last step of the curve gained."""
    first, last = float(curve.risk[0]), float(curve.risk[-1])
    gained = float(curve.risk[-2] - curve.risk[-1]) if len(curve.risk) > 1 else 0.0
    told = (
        f"With {number(curve.sizes[0])} training rows the {loss_name(curve.loss)} is "
        f"{number(first)}, with {number(curve.sizes[-1])} it is {number(last)}."
    )
    # within chance the last step says nothing
    if gained > float(curve.se[-1]) and gained > 0.02 * abs(last):
        share = percent(gained / abs(last)) if last else "much"
        return f"{told} The last step still took away {share}: more rows would likely help."
    return f"{told} The curve is flat at its end: more rows of this kind would help little."
