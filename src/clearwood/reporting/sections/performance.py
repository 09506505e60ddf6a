"""Performance: the benchmark with intervals, calibration, residuals, the learning curve."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from clearwood._shared.numbers import count, percent
from clearwood._shared.results import Result
from clearwood.benchmarking import (
    Benchmark,
    HeldOutParts,
    LearningCurve,
    SelectionFrequency,
    fitted_to,
)
from clearwood.evaluation import ByColumn, Evaluation, Lift, Measures, Residuals
from clearwood.losses import find_loss
from clearwood.models import Learner
from clearwood.reporting.collect.findings import Findings, Performance, Step
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
    finite,
)
from clearwood.reporting.page.figures import chart
from clearwood.reporting.sections.words import (
    INTERVALS,
    capital,
    gap_sentence,
    interval,
    listed,
    loss_name,
    named,
    number,
    performance_sentences,
    sentence,
    where_of,
)

__all__ = [
    "band_blocks",
    "column_blocks",
    "contradiction",
    "double_lift_blocks",
    "measures_sheet",
    "score_blocks",
    "section",
    "sheet_of",
]

TITLE = "Performance"


#: Selected columns that a table lists.
_MOST_COLUMNS = 200


#: Fields of a standing, with their headings.
_STANDINGS = {
    "learner": "learner",
    "risk": "risk",
    "low": "low",
    "high": "high",
    "difference": "difference from best",
    "difference_low": "low of difference",
    "difference_high": "high of difference",
    "fit_seconds": "seconds",
    "failures": "failed fits",
    "settings_text": "settings",
}

#: A step of the learning curve that reduces the risk by a smaller share of it is little.
_LITTLE = 0.02


def section(findings: Findings) -> Section:
    """Write the section about how well the model predicts."""
    performance = findings.performance
    blocks: list[Block] = [Prose((" ".join(performance_sentences(findings)),), lead=True)]
    if performance is not None and performance.rows == "training":
        blocks.append(_optimistic())
    if findings.benchmark is not None:
        blocks += _comparison(findings, findings.benchmark)
    blocks += _settings(findings)
    if performance is not None:
        blocks += _diagnostics(performance)
    blocks += _test_rows(findings)
    blocks += _learning_curve(findings)
    return Section("performance", TITLE, tuple(blocks))


def _optimistic() -> Note:
    return Note(
        "These numbers are too optimistic",
        "They come from rows that the model may have been fitted to, and a flexible model "
        "reproduces those too well. For a fair estimate pass a benchmark, cw.report(model, data, "
        "benchmark=cw.benchmark(data)), or rows it has not seen, test=...",
        tone="caution",
    )


def _comparison(findings: Findings, bench: Benchmark) -> list[Block]:
    method, chosen = bench.method, findings.chosen
    which = (
        f"The model on this page is “{chosen}”."
        if chosen is not None
        else "The model on this page is not among them, or has other settings."
    )
    weighted = "" if bench.context.table.weights is None else "weighted "
    first = (
        f"{count(len(bench.standings), 'learner')} compared by {weighted}"
        f"{bench.context.loss.risk_title} on rows not used for fitting; lower is better. {which} "
        f"Method: {method.plan}; {method.tuning}; seed {method.seed}."
    )
    second = f"The {percent(method.confidence)} interval is {_intervals(bench)}."
    if len(bench.standings) > 1:
        second += (
            " Differences from the best are measured row by row, so their intervals can be shorter "
            f"than those of the risks. {_selection(findings)}"
        )
    texts = [first, second]
    if bench.in_parts is not None:
        texts.append(_in_parts(bench, bench.in_parts))
    blocks: list[Block] = [Prose(tuple(texts))]
    if any(one.folds for one in bench.standings):
        title = f"{capital(bench.context.loss.risk_title)} of each learner"
        blocks.append(chart("benchmark", bench.plot(), title=title))
    blocks.append(_standings(bench))
    for name, frequency in findings.selections.items():
        blocks += _selected_columns(name, frequency)
    if bench.warnings and findings.options.has_rows:
        blocks.append(
            More(
                f"{count(len(bench.warnings), 'warning')} from the benchmark",
                (Note("Warnings", "", items=tuple(map(str, bench.warnings))),),
            )
        )
    for name, reasons in bench.failures.items():
        blocks.append(
            Note(
                f"Some fits of {named(name)} failed",
                "It could not be evaluated on all folds, so the comparison is not quite fair.",
                tone="caution",
                items=tuple(reasons) if findings.options.has_rows else (),
            )
        )
    return blocks


def _in_parts(bench: Benchmark, held: HeldOutParts) -> str:
    """Say which rows of a table in parts learners were fitted to and judged on."""
    units = f" in {count(held.n_units, 'group')}" if held.is_grouped else ""
    text = (
        f"Risks, intervals and differences are exact over all {count(held.n_test, 'held-out row')}"
        f"{units}, and about the fits that were judged, not about fits to all rows. "
        f"{' '.join(fitted_to(bench))}"
    )
    if held.n_kept < held.n_test:
        text += (
            f" Measures, calibration and the figures below are of a sample of {held.n_kept:,} of "
            "the held-out rows."
        )
    return text


def _intervals(bench: Benchmark) -> str:
    """Say what the intervals are; if learners have different ones, whose they are."""
    kinds: dict[str, list[str]] = {}
    for one in bench.standings:
        if math.isfinite(one.risk):
            kinds.setdefault(one.interval, []).append(one.learner)
    return "; ".join(
        f"{f'for {listed(names)} ' if len(kinds) > 1 else ''}{INTERVALS[kind]}"
        for kind, names in kinds.items()
    )


def _selection(findings: Findings) -> str:
    """Say by how much selecting the best learner makes it look better."""
    choosing = findings.choosing
    text = "The best of several learners looks better than it is, because it was selected by "
    if choosing is None:
        return f"{text}this result."
    folds = sum(choosing.chosen.values())
    times = choosing.chosen.get(choosing.winner, 0)
    return (
        f"{text}this result. When the learner was chosen on separate rows, "
        f"{named(choosing.winner)} won in {times} of {folds} folds, and choosing the best has a "
        f"risk of {number(choosing.risk)} "
        f"({interval(choosing.low, choosing.high, choosing.confidence)})."
    )


def _standings(bench: Benchmark) -> Sheet:
    then = "" if bench.reference is None else f", then {bench.reference.learner} for comparison"
    shown = [one for one in (*bench.standings, bench.reference) if one is not None]
    return Sheet(
        "benchmark",
        f"{capital(bench.context.loss.risk_title)} of each learner, best first{then}, with "
        f"{percent(bench.method.confidence)} intervals; seconds for one tuning and fit; settings "
        "typical of the folds",
        tuple(_STANDINGS.values()),
        tuple(tuple(finite(getattr(one, field)) for field in _STANDINGS) for one in shown),
    )


def _selected_columns(learner: str, frequency: SelectionFrequency) -> list[Block]:
    """Write how often the folds of a learner chose each column."""
    never = len(frequency.columns) - len(frequency.chosen)
    text = (
        f"{named(learner)} chooses columns inside each fold ({frequency.method}), from the rows "
        f"that it is fitted to: {number(frequency.mean_size)} of "
        f"{count(len(frequency.columns), 'column')} on average. "
        f"{count(never, 'column was', 'columns were')} never chosen."
    )
    if not math.isnan(frequency.stability):
        text += (
            f" The folds agree by {number(frequency.stability)}, where 1 is the same choice in "
            "every fold and 0 a choice by chance. Where they differ, columns with the same "
            "information may have replaced one another."
        )
    sheet = Sheet(
        f"selection-{learner}",
        f"Columns chosen by {named(learner)} over {count(frequency.draws, 'fold')}",
        ("column", "folds", "share of folds"),
        tuple(
            (name, times, times / frequency.draws)
            for name, times in frequency.chosen[:_MOST_COLUMNS]
        ),
        bars=("share of folds",),
    )
    return [Prose((text,)), *([sheet] if frequency.chosen else [])]


def _settings(findings: Findings) -> list[Block]:
    model = findings.model
    if not isinstance(model, Learner):
        return []
    items = tuple((key, str(value)) for key, value in model.all_settings.items())
    if model.select is not None:
        chosen = listed(model.selected_) if model.selected_ else "no column"
        items += (("select", model.select), ("selected", chosen))
    title = f"Settings of the model on this page ({model.name})"
    return [More(title, (Facts(items),))] if items else []


def _diagnostics(performance: Performance, *, lists_measures: bool = True) -> list[Block]:
    blocks: list[Block] = []
    views: list[tuple[str, tuple[Block, ...]]] = []
    where, is_test = where_of(performance), performance.rows == "test"
    if performance.sampled_of is not None and performance.evaluation is not None and not is_test:
        where += (
            f" (a sample of {performance.evaluation.n_rows:,} of {performance.sampled_of:,} rows)"
        )
    if performance.calibration is not None:
        curve = performance.calibration
        text = (
            "Rows are grouped into bins of similar prediction; in each, the mean prediction is "
            f"compared with the mean outcome, {where}. On the dashed line the two are equal."
        )
        if math.isfinite(curve.slope):
            text += (
                f" The line through the points has {str(curve.line).replace('-', '−')}, with "
                f"{percent(curve.confidence)} intervals. A calibrated model has slope 1 and "
                "intercept 0; below slope 1, predictions are too extreme."
            )
        views.append(("Calibration", (Prose((text,)), chart("calibration", curve.plot()))))
    views += _smooth(performance, where)
    if performance.residuals is not None:
        rest = performance.residuals
        text = (
            f"Outcome minus prediction, {where}, against the prediction: the median, and the "
            f"ranges of the middle 50 % and 90 % of rows. {_bias(rest)}"
        )
        views.append(("Residuals", (Prose((text,)), chart("residuals", rest.plot()))))
    views += _rankings(performance, where)
    if len(views) == 1:
        blocks += views[0][1]
    elif views:
        blocks.append(Choice("diagnostics", "Show", tuple(views)))
    if performance.measures is not None and lists_measures:
        blocks.append(measures_sheet(performance.measures, where))
    return blocks


def _test_rows(findings: Findings) -> list[Block]:
    """Write how well test rows are predicted, next to the other held-out rows."""
    test = findings.test_performance
    blocks = score_blocks(findings)
    if test is not None and findings.is_test_apart:
        blocks += _diagnostics(test, lists_measures=False)
    return [*blocks, *column_blocks(findings)]


def _smooth(performance: Performance, where: str) -> list[tuple[str, tuple[Block, ...]]]:
    """Show the smooth calibration curve, where there is one."""
    curve: Any = performance.diagnostics.get("smooth_calibration")
    if curve is None:
        return []
    text = (
        f"What is observed on average, {where}, as a smooth curve of the prediction, with a "
        "pointwise band. On the dashed line the two are equal."
    )
    return [("Smooth calibration", (Prose((text,)), chart("smooth-calibration", curve.plot())))]


def _rankings(performance: Performance, where: str) -> list[tuple[str, tuple[Block, ...]]]:
    """Show lift and a curve of the ranking, where the predictions have them."""
    evaluation, found = performance.evaluation, performance.diagnostics
    lift = (
        f"Rows in the order of their prediction, {where}, in bins of about equal weight: the mean "
        "prediction and the mean outcome with its interval."
    )
    chance = "A ranking by chance lies on the dashed line."
    roc = (
        f"The share of members found against the share of false alarms, {where}, for every "
        f"threshold. {chance}"
    )
    lorenz = (
        "The share of the outcome's total that the rows with the smallest predictions have, "
        f"{where}. {chance}"
    )
    texts = {
        "lift": ("Lift", lift),
        "roc": ("ROC curve", roc),
        "lorenz": ("Lorenz curve", lorenz),
    }
    views: list[tuple[str, tuple[Block, ...]]] = []
    for name, (label, text) in texts.items():
        part: Any = found.get(name)
        if part is not None:
            views.append((label, (Prose((text,)), chart(name, part.plot()))))
        double = found.get("double_lift")
        if name == "lift" and isinstance(double, Lift) and evaluation is not None:
            views.append(("Double lift", double_lift_blocks(double, evaluation)))
    return views


def double_lift_blocks(double: Lift, evaluation: Evaluation) -> tuple[Block, ...]:
    """Return what a double lift of an evaluation shows, and its figure."""
    gain = double.advantage
    assert gain is not None
    other = f"the prediction of {named(str(double.against))}"
    if double.against in evaluation.table.names:
        other = named(str(double.against))
    scaled = "as they are"
    if gain.is_rescaled:
        how = "a constant on the log-odds" if evaluation.classes else "a factor"
        scaled = f"both moved to the observed mean by {how}"
    text = (
        f"Rows in the order of the ratio of the model's prediction to {other}, {scaled}. The "
        "prediction whose means follow the observed ones is the better one. "
    )
    side = "smaller" if gain.difference > 0 else "larger"
    text += (
        f"The {find_loss(gain.loss).risk_title} of the model is "
        f"{number(abs(gain.difference))} {side} (difference {number(gain.difference)}, "
        f"{interval(gain.low, gain.high, double.confidence)})"
    )
    text += "." if gain.clear else ", which may be chance."
    return Prose((text,)), chart("double-lift", double.plot())


def measures_sheet(measures: Measures, where: str) -> Sheet:
    """Return the table of measures, with their intervals and meanings."""
    weighted = ", weighted" if measures.is_weighted else ""
    rows = tuple(
        (
            name.replace("_", " "),
            *(finite(part[name]) for part in (measures.values, measures.low, measures.high)),
            meaning,
        )
        for name, meaning in measures.meanings.items()
    )
    caption = f"Measures, {where}{weighted}, with {percent(measures.confidence)} intervals"
    numbers = ("value", "low", "high")
    return Sheet("measures", caption, ("measure", *numbers, "meaning"), rows, mixed=numbers)


def _bias(rest: Residuals) -> str:
    if abs(rest.bias) < 0.001 * rest.typical:
        return "On average, predictions are neither too high nor too low."
    side = "low" if rest.bias > 0 else "high"
    return f"On average, predictions are {number(abs(rest.bias))} too {side}."


def _learning_curve(findings: Findings) -> list[Block]:
    curve = findings.learning_curve
    if curve is None:
        why = findings.failures.get(Step.LEARNING_CURVE)
        return [] if why is None else [Note("No learning curve", sentence(why))]
    return [Prose((_would_help(curve),)), chart("learning", curve.plot())]


def _would_help(curve: LearningCurve) -> str:
    """Say whether more rows would help: by the gain of the last step of the curve."""
    first, last = float(curve.risk[0]), float(curve.risk[-1])
    text = (
        f"With {curve.sizes[0]:,} training rows the {loss_name(curve.loss)} is {number(first)}, "
        f"with {curve.sizes[-1]:,} it is {number(last)}."
    )
    step = curve.last_step
    if step is None or not last:
        return text
    low, high = (100 * end / abs(last) for end in (step.low, step.high))
    share = f"{percent(step.estimate / abs(last))} ({interval(low, high, step.confidence)} %)"
    if step.low > 0 and step.estimate > _LITTLE * abs(last):
        return f"{text} The last step still reduced it by {share}: more rows would likely help."
    if step.high <= _LITTLE * abs(last):
        return (
            f"{text} The curve is flat at its end: the last step reduced it by {share}, so more "
            "rows of this kind would help little."
        )
    return f"{text} The last step reduced it by {share}: whether more rows would help is uncertain."


def band_blocks(part: ByColumn, evaluation: Evaluation, name: str = "by") -> tuple[Block, ...]:
    """Return the figure and the table of one column, or of a pair."""
    return chart(name, part.plot()), sheet_of(name, part, evaluation.table.counted_by)


def sheet_of(name: str, result: Result, weight: str = "weight") -> Sheet:
    """Return the numbers of a result whose intervals hold together."""
    columns: dict[str, Any] = result.to_frame("dict")
    rows = tuple(
        tuple(finite(cell) for cell in line) for line in zip(*columns.values(), strict=True)
    )
    words = {"weight": weight, "misses": "clearly off"}
    headings = tuple(words.get(heading, heading.replace("_", " ")) for heading in columns)
    level = percent(result.confidence)  # type: ignore[attr-defined]
    caption = f"The numbers, with {level} intervals that hold for all lines together"
    return Sheet(name, caption, headings, rows)


def contradiction(findings: Findings) -> tuple[str, str, str] | None:
    """Return title, meaning and advice where test rows contradict the held-out ones, or None."""
    held, test = findings.performance, findings.test_performance
    if not findings.test_contradicts or held is None or test is None:
        return None
    gap = findings.test_gap
    if findings.gain_is_lost or (gap is not None and gap.estimate > 0):
        title = "The test rows are predicted worse than rows not used for fitting"
        advice = (
            "Expect the figures of the test rows for rows like them. Look for what differs: the "
            "columns that drift, a later time, columns that are only known afterwards, or people "
            "and things that have several rows in the table and none among the test rows."
        )
    else:
        title = "The test rows are predicted better than rows not used for fitting"
        advice = (
            "Make sure that the model was not fitted to test rows, or to others of the same people "
            "or things, and that the test rows are like those it will be used for."
        )
    return title, " ".join(_figures(findings, held, test)), advice


def _figures(findings: Findings, held: Performance, test: Performance) -> Iterator[str]:
    if findings.test_gap is not None:
        yield gap_sentence(findings)
    yield f"{_gain(test)}; {_gain(held)[:1].lower()}{_gain(held)[1:]}."


def _gain(performance: Performance) -> str:
    """Say how a performance compares with that of a constant prediction."""
    where, explained = capital(where_of(performance)), performance.explained
    if explained is None:
        risk = performance.risk
        span = interval(risk.low, risk.high, risk.confidence)
        return f"{where}, the {performance.risk_title} is {number(risk.estimate)} ({span})"
    if explained <= 0:
        return (
            f"{where}, the model is worse than a constant prediction ({performance.risk_title} "
            f"{number(performance.risk.estimate)} against {number(performance.baseline)})"
        )
    return (
        f"{where}, the model reduces the {performance.risk_title} of a constant prediction, "
        f"{number(performance.baseline)}, by {percent(explained)}"
    )


def score_blocks(findings: Findings) -> list[Block]:
    """Describe the performance on test rows, next to that on the other held-out rows."""
    held, test = findings.performance, findings.test_performance
    why = findings.failures.get(Step.TEST)
    if why is not None:
        return [Note("The test rows could not be scored", sentence(why), tone="caution")]
    if test is None or not findings.is_test_apart or held is None:
        return []
    text = " ".join((*performance_sentences(findings, test), gap_sentence(findings)))
    blocks: list[Block] = [Prose((text.strip(),))]
    if findings.test is not None and findings.test.dropped:
        dropped = count(findings.test.dropped, "test row")
        blocks.append(Prose((f"{dropped} without the outcome left out.",)))
    values, others = _numbers(test), _numbers(held)
    rows = tuple((name, *values[name], *others.get(name, (None, None, None))) for name in values)
    numbers = ("test", "low", "high", "held out", "its low", "its high")
    caption = (
        f"Test rows ({test.n_rows:,}) and rows not used for fitting ({held.n_rows:,}), with "
        f"{percent(test.risk.confidence)} intervals"
    )
    columns = ("measure", *numbers)
    return [*blocks, Sheet("test-measures", caption, columns, rows, mixed=numbers)]


def _numbers(performance: Performance) -> Mapping[str, tuple[Cell, Cell, Cell]]:
    """Return every number of a performance with its interval, by name."""
    risk, gap, measured = performance.risk, performance.against_baseline, performance.measures
    lines: dict[str, tuple[float | None, ...]] = {
        performance.risk_title: (risk.estimate, risk.low, risk.high),
        "of a constant prediction": (performance.baseline, None, None),
    }
    if gap is not None:
        lines["difference from a constant prediction"] = (gap.difference, gap.low, gap.high)
    if measured is not None:
        for name in measured:
            lines[name.replace("_", " ")] = (measured[name], *measured.interval(name))
    return {name: tuple(map(finite, line)) for name, line in lines.items()}  # type: ignore[misc]


def column_blocks(findings: Findings) -> list[Block]:
    """Write observed against expected of the test rows by column, those clearly off first."""
    held, test = findings.performance, findings.test_performance
    parts = findings.test_columns
    if test is None or test.evaluation is None or not parts:
        return []
    off = [part.columns[0] for part in parts if part.misses.any()]
    text = (
        "Observed and expected means of the test rows in bands of each column. Where the interval "
        "excludes the prediction, the model misses an effect of the column, or the rows have "
        "changed. The intervals of all bands of a column hold together. "
        f"{f'Clearly off: {listed(off)}.' if off else 'In no column is a band clearly off.'}"
    )
    beside, views = findings.held_out_columns, []
    for part in parts:
        name = part.columns[0]
        blocks = band_blocks(part, test.evaluation, "test-by")
        if name in beside and held is not None and held.evaluation is not None:
            of_held = band_blocks(beside[name], held.evaluation, "held-out-by")
            blocks = (
                Prose((f"{capital(where_of(test))}:",)),
                *blocks,
                Prose((f"{capital(where_of(held))}:",)),
                *of_held,
            )
        views.append((named(name), blocks))
    return [Prose((text,)), Choice("test-by-column", "Column", tuple(views))]
