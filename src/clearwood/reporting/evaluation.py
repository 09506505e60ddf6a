"""The page of an evaluation: how well a model predicts rows whose target is known."""

import math
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import combinations
from typing import Any

from altair.utils.schemapi import debug_mode

from clearwood._shared.invocation import invocation
from clearwood._shared.numbers import count, percent
from clearwood._shared.results import Result
from clearwood.checks import FEWEST_EVENTS
from clearwood.evaluation import Confusion, Evaluation, Lift
from clearwood.reporting.page.blocks import (
    Block,
    Cell,
    Choice,
    Facts,
    Note,
    Prose,
    Section,
    Sheet,
)
from clearwood.reporting.page.figures import chart
from clearwood.reporting.result import Report
from clearwood.reporting.sections.by_column import band_blocks, by_columns, misfit, sheet_of
from clearwood.reporting.sections.performance import double_lift_blocks, measures_sheet
from clearwood.reporting.sections.words import interval, listed, named, number, sentence

__all__ = ["evaluation_page"]

#: Columns and pairs of columns that the page shows.
_MOST_COLUMNS, _PAIRED, _MOST_PAIRS = 40, 7, 6


def evaluation_page(evaluation: Evaluation, *, title: str | None = None) -> Report:
    """Put an evaluation on one page that works offline.

    Parameters
    ----------
    evaluation
        The result of `clearwood.evaluate` or `Benchmark.evaluation`.
    title
        The page's heading; made from target and model by default.

    Returns
    -------
    Report
        ``save("evaluation.html")`` writes it; a notebook shows it in place.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("wine")
    >>> page = evaluation_page(cw.evaluate(cw.learner("lda").fit(data), data))
    >>> [section.title for section in page.sections][:3]
    ['Summary', 'Lift', 'Calibration']
    """
    # the figures are put together by our own code, so that checking them again only takes time
    with debug_mode(False):  # noqa: FBT003 - its name says what is off
        parts = evaluation.parts()
        sections = [
            _summary(evaluation),
            _lift(evaluation, parts),
            _calibration(parts),
            _ranking(parts),
            _columns(evaluation),
            _population(evaluation),
            _reproduction(),
        ]
    return Report(
        title=title or f"{evaluation.what}: evaluation of {evaluation.learner}",
        sections=tuple(section for section in sections if section is not None),
        about=(
            ("Target", f"{evaluation.what} ({evaluation.task})"),
            ("Model", evaluation.learner),
            ("Rows", f"{evaluation.n_rows:,}, {evaluation.source}"),
            ("Made", f"{datetime.now(UTC):%Y-%m-%d} with Clearwood {version('clearwood')}"),
        ),
    )


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
            " Fits share rows and have fewer than the table: each measure allows for both as its "
            f"fits show, and standard errors of means in bins are multiplied by "
            f"{number(evaluation.inflation)}, as that of the risk is."
        )
    blocks.append(Prose((how,)))
    return Section("summary", "Summary", tuple(blocks))


def _where(evaluation: Evaluation) -> str:
    return "out of fold" if evaluation.source == "out of fold" else "that the model has not seen"


def _lift(evaluation: Evaluation, parts: dict[str, Result]) -> Section | None:
    views: list[tuple[str, tuple[Block, ...]]] = []
    lift, double, lorenz = (parts.get(name) for name in ("lift", "double_lift", "lorenz"))
    by = evaluation.table.counted_by
    bins = f"equal {by}" if evaluation.is_weighted else "equally many rows"
    if isinstance(lift, Lift):
        text = (
            f"Rows in the order of their prediction, in bins of about {bins}. A model that ranks "
            "well has a steep line, and one that is calibrated has the same predicted and observed "
            "means."
        )
        views.append(
            ("Lift", (Prose((text,)), chart("lift", lift.plot()), sheet_of("lift", lift, by)))
        )
    if isinstance(double, Lift) and double.advantage is not None:
        blocks = (*double_lift_blocks(evaluation), sheet_of("double-lift", double, by))
        views.append(("Double lift", blocks))
    if lorenz is not None:
        text = (
            "The share of the target's total that the rows with the smallest predictions have. "
            "The Gini coefficient is twice the area between the curve and the diagonal."
        )
        drawn: Any = lorenz
        views.append(("Lorenz curve", (Prose((text,)), chart("lorenz", drawn.plot()))))
    return None if not views else Section("lift", "Lift", tuple(_shown("lift-views", views)))


def _calibration(parts: dict[str, Result]) -> Section | None:
    views: list[tuple[str, tuple[Block, ...]]] = []
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
            views.append((label, (Prose((text,)), chart(name, part.plot()))))
    if not views:
        return None
    return Section("calibration", "Calibration", tuple(_shown("calibration-views", views)))


def _ranking(parts: dict[str, Result]) -> Section | None:
    views: list[tuple[str, tuple[Block, ...]]] = []
    for name, label in (("roc", "ROC curve"), ("precision_recall", "Precision and recall")):
        part: Any = parts.get(name)
        if part is not None:
            views.append((label, (chart(name, part.plot()),)))
    confusion = parts.get("confusion")
    if isinstance(confusion, Confusion):
        rows = tuple(
            (
                name,
                *(_finite(part[name]) for part in (confusion.rates, confusion.low, confusion.high)),
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
        views.append(("Confusion", (chart("confusion", confusion.plot()), sheet)))
    if not views:
        return None
    return Section("ranking", "Classes", tuple(_shown("ranking-views", views)))


def _columns(evaluation: Evaluation) -> Section | None:
    """Write observed against expected by column, those that are clearly off first."""
    names = list(evaluation.table.features)[:_MOST_COLUMNS]
    single = list(by_columns(evaluation, ((name,) for name in names)))
    if not single:
        return None
    single.sort(key=misfit, reverse=True)
    off = [part.columns[0] for part in single if part.misses.any()]
    text = (
        "Observed and expected means in bands of each column. Where the interval excludes the "
        "prediction, the model misses an effect of the column, or the rows have changed. The "
        "intervals of all bands of a column hold together. "
    )
    text += f"Clearly off: {listed(off)}." if off else "In no column is a band clearly off."
    views = tuple((named(part.columns[0]), band_blocks(part, evaluation)) for part in single)
    blocks: list[Block] = [Prose((text,)), Choice("by-column", "Column", views)]
    chosen = [part.columns[0] for part in single[:_PAIRED]]
    pairs = sorted(by_columns(evaluation, combinations(chosen, 2)), key=misfit, reverse=True)
    if pairs:
        views = tuple(
            (
                " × ".join(map(named, part.columns)),
                band_blocks(part, evaluation, "pair"),
            )
            for part in pairs[:_MOST_PAIRS]
        )
        word = "pairs of columns in which observed and expected differ most"
        blocks += [Prose((f"The {word}:",)), Choice("by-pair", "Pair", views)]
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


def _reproduction() -> Section | None:
    command = invocation().command
    if command is None:
        return None
    return Section("reproduction", "Reproduction", (Facts((("Command", command),)),))


def _shown(name: str, views: list[tuple[str, tuple[Block, ...]]]) -> list[Block]:
    """Return one view as it is, and several to switch between."""
    return list(views[0][1]) if len(views) == 1 else [Choice(name, "Show", tuple(views))]


def _finite(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
