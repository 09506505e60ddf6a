"""The sections of the page of an evaluation: how well a model predicts rows of known target."""

from collections.abc import Mapping
from typing import Any

from clearwood._shared.invocation import invocation
from clearwood._shared.numbers import count, percent
from clearwood._shared.results import Result
from clearwood.checks import FEWEST_EVENTS
from clearwood.evaluation import Confusion, Evaluation, Lift
from clearwood.reporting.collect.findings import EvaluationFindings
from clearwood.reporting.page.blocks import (
    Block,
    Choice,
    Facts,
    Note,
    Prose,
    Section,
    Sheet,
    finite,
    views,
)
from clearwood.reporting.page.figures import chart
from clearwood.reporting.sections.performance import (
    band_blocks,
    double_lift_blocks,
    measures_sheet,
    sheet_of,
)
from clearwood.reporting.sections.words import interval, listed, named, number, sentence

__all__ = ["evaluation_sections"]


def evaluation_sections(findings: EvaluationFindings) -> tuple[Section, ...]:
    """Write an evaluation."""
    evaluation, parts = findings.evaluation, findings.parts
    sections = (
        _summary(evaluation),
        _lift(evaluation, parts),
        _calibration(parts),
        _ranking(parts),
        _columns(findings),
        _population(evaluation),
        _reproduction(),
        _failures(findings),
    )
    return tuple(section for section in sections if section is not None)


def _summary(evaluation: Evaluation) -> Section:
    risk, measured = evaluation.risk(), evaluation.measures()
    weighted = "weighted " if evaluation.is_weighted else ""
    span = interval(risk.low, risk.high, evaluation.confidence)
    first = (
        f"On {count(evaluation.n_rows, 'row')} {_where(evaluation)}, the {weighted}"
        f"{evaluation.loss.risk_title} is {number(risk.estimate)} ({span})."
    )
    sentences = [first]
    if evaluation.capped:
        sentences.append(
            f"The mean has {count(evaluation.capped, 'loss that is', 'losses that are')} capped, "
            "as the outcome was predicted to be impossible."
        )
    level = evaluation.level
    if level is not None and not level.is_off:
        sentences.append(sentence(level.verdict))
    events = evaluation.n_events
    if events is not None:
        few = " That is few to judge calibration by." if events < FEWEST_EVENTS else ""
        sentences.append(f"These rows have {count(events, 'event')}.{few}")
    sentences += map(sentence, evaluation.miscalibrated)
    blocks: list[Block] = [Prose((" ".join(sentences),), lead=True)]
    if evaluation.notes:
        items = tuple(sentence(str(note)) for note in evaluation.notes)
        blocks.append(Note("What to know about these rows", "", tone="caution", items=items))
    where = "out of fold" if evaluation.source == "out of fold" else f"on rows {_where(evaluation)}"
    blocks.append(measures_sheet(measured, where))
    how = (
        "Intervals follow from the influence of each row on a measure; rows of one group count as "
        "one observation."
    )
    if evaluation.source == "out of fold":
        how += (
            " The fits share rows and are each to fewer rows than the table has. The interval of "
            "each measure allows for both, as estimated from these fits; standard errors of means "
            f"in bins are multiplied by {number(evaluation.inflation)}, like that of the risk."
        )
    blocks.append(Prose((how,)))
    return Section("summary", "Summary", tuple(blocks))


def _where(evaluation: Evaluation) -> str:
    return "out of fold" if evaluation.source == "out of fold" else "that the model has not seen"


def _lift(evaluation: Evaluation, parts: Mapping[str, Result]) -> Section | None:
    options: list[tuple[str, tuple[Block, ...]]] = []
    lift, double, lorenz = (parts.get(name) for name in ("lift", "double_lift", "lorenz"))
    by = evaluation.table.counted_by
    bins = f"equal {by}" if evaluation.is_weighted else "equally many rows"
    if isinstance(lift, Lift):
        text = (
            f"Rows in the order of their prediction, in bins of about {bins}. A model that ranks "
            "well has a steep line, and one that is calibrated has the same predicted and observed "
            "means."
        )
        options.append(
            ("Lift", (Prose((text,)), chart("lift", lift.plot()), sheet_of("lift", lift, by)))
        )
    if isinstance(double, Lift) and double.advantage is not None:
        blocks = (*double_lift_blocks(double, evaluation), sheet_of("double-lift", double, by))
        options.append(("Double lift", blocks))
    if lorenz is not None:
        text = (
            "The share of the target's total that the rows with the smallest predictions have. "
            "The Gini coefficient is twice the area between the curve and the diagonal."
        )
        drawn: Any = lorenz
        options.append(("Lorenz curve", (Prose((text,)), chart("lorenz", drawn.plot()))))
    return (
        None
        if not options
        else Section("lift", "Lift", tuple(views("lift-views", "Show", options)))
    )


def _calibration(parts: Mapping[str, Result]) -> Section | None:
    options: list[tuple[str, tuple[Block, ...]]] = []
    texts = {
        "smooth_calibration": (
            "Smooth",
            (
                "What is observed on average as a smooth curve of the prediction, with a band. "
                "On the dashed line the two are equal."
            ),
        ),
        "calibration": (
            "In bins",
            (
                "Rows are grouped into bins of similar prediction; in each, the mean prediction is "
                "compared with the mean outcome."
            ),
        ),
        "residuals": (
            "Residuals",
            (
                "Outcome minus prediction against the prediction: the median, and the ranges of "
                "the middle 50 % and 90 % of rows."
            ),
        ),
    }
    for name, (label, text) in texts.items():
        part: Any = parts.get(name)
        if part is not None:
            options.append((label, (Prose((text,)), chart(name, part.plot()))))
    if not options:
        return None
    return Section("calibration", "Calibration", tuple(views("calibration-views", "Show", options)))


def _ranking(parts: Mapping[str, Result]) -> Section | None:
    options: list[tuple[str, tuple[Block, ...]]] = []
    for name, label in (("roc", "ROC curve"), ("precision_recall", "Precision and recall")):
        part: Any = parts.get(name)
        if part is not None:
            options.append((label, (chart(name, part.plot()),)))
    confusion = parts.get("confusion")
    if isinstance(confusion, Confusion):
        rows = tuple(
            (
                name,
                *(finite(part[name]) for part in (confusion.rates, confusion.low, confusion.high)),
            )
            for name in confusion.rates
        )
        at = (
            "the most probable class is predicted"
            if confusion.threshold is None
            else f"“{named(confusion.classes[1])}” is predicted where its probability is above "
            f"{number(confusion.threshold)}"
        )
        caption = f"Rates where {at}, with {percent(confusion.confidence)} intervals"
        sheet = Sheet("rates", caption, ("rate", "value", "low", "high"), rows)
        options.append(("Confusion", (chart("confusion", confusion.plot()), sheet)))
    if not options:
        return None
    return Section("ranking", "Classes", tuple(views("ranking-views", "Show", options)))


def _columns(findings: EvaluationFindings) -> Section | None:
    """Write observed against expected by column, those that are clearly off first."""
    evaluation, pairs = findings.evaluation, findings.pairs
    if not findings.columns:
        return None
    off = [part.columns[0] for part in findings.columns if part.misses.any()]
    text = (
        "Observed and expected means in bands of each column. Where the interval excludes the "
        "prediction, the model misses an effect of the column, or the rows have changed. The "
        "intervals of all bands of a column hold together. "
    )
    text += f"Clearly off: {listed(off)}." if off else "In no column is a band clearly off."
    options = tuple(
        (named(part.columns[0]), band_blocks(part, evaluation)) for part in findings.columns
    )
    blocks: list[Block] = [Prose((text,)), Choice("by-column", "Column", options)]
    if pairs:
        options = tuple(
            (
                " × ".join(map(named, part.columns)),
                band_blocks(part, evaluation, "pair"),
            )
            for part in pairs
        )
        word = "pairs of columns in which observed and expected differ most"
        blocks += [Prose((f"The {word}:",)), Choice("by-pair", "Pair", options)]
    return Section("columns", "By column", tuple(blocks))


def _population(evaluation: Evaluation) -> Section | None:
    drift = evaluation.drift
    if drift is None:
        return None
    rows = tuple(
        (entry.column, entry.distance, entry.p_value, entry.first, entry.second)
        for entry in drift.columns
    )
    headings = ("column", "distance", "p-value", f"typical: {drift.first}", drift.second)
    text = (
        "How far the distribution of each column differs from the rows that the model was fitted "
        "to: 0 for the same distribution, 1 for no overlap."
    )
    sheet = Sheet("drift", "Distances, the largest first", headings, rows, bars=("distance",))
    return Section("population", "Population", (Prose((text,)), sheet))


def _failures(findings: EvaluationFindings) -> Section | None:
    if not findings.failures:
        return None
    items = tuple(f"{step}: {why}" for step, why in findings.failures.items())
    note = Note("Some parts could not be computed", "", tone="caution", items=items)
    return Section("failures", "Left out", (note,))


def _reproduction() -> Section | None:
    command = invocation().command
    if command is None:
        return None
    return Section("reproduction", "Reproduction", (Facts((("Command", command),)),))
