"""Groups of protected columns on a page: comparisons, measures with intervals, distributions."""

import math
from collections.abc import Sequence

import numpy as np

from clearwood._shared.numbers import count, percent
from clearwood.fairness import OF_ERRORS, Audit, GroupMeasures, Standing
from clearwood.plot import plot_group_quantiles, plot_groups
from clearwood.reporting.collect.findings import Findings, Step
from clearwood.reporting.page.blocks import (
    Block,
    Cell,
    Choice,
    More,
    Note,
    Prose,
    Section,
    Sheet,
    finite,
    views,
)
from clearwood.reporting.page.figures import chart
from clearwood.reporting.sections.words import named, number, sentence
from clearwood.table import Task

__all__ = [
    "LIMITS",
    "SOURCES",
    "TITLE",
    "comparisons",
    "crossed",
    "group_views",
    "is_of_one_class",
    "of_class",
    "section",
    "title_of",
]

TITLE = "Fairness"
LIMITS = (
    "These are measurements. They do not show that a model is fair or lawful: which differences "
    "are justified is a decision that numbers do not make."
)
#: The tables of a grouping, with their measures in order.
_SHEETS = {
    "Predictions": ("mean_prediction", "ratio", "difference", "relativity", "smd"),
    "Decisions": ("selection_rate", "impact_ratio", "selection_difference", "standard_deviations"),
    "Errors": (
        "observed",
        "observed_expected",
        "observed_less_expected",
        "loss",
        "auc",
        "favourable_of_class",
        "favourable_of_others",
        "true_positive_rate",
        "false_positive_rate",
        "precision",
    ),
}


SOURCES = {
    "training rows": "which may be those the model was fitted to",
    "new rows": "which the model was not fitted to",
    "out of fold": "each predicted by a fit of a benchmark's fold that had not seen it",
}


def section(findings: Findings) -> Section | None:
    """Compare groups of the protected columns; None where no column is protected."""
    why = findings.failures.get(Step.AUDIT)
    if why is not None:
        note = Note("The groups could not be compared", sentence(why), tone="caution")
        return Section("fairness", TITLE, (note,))
    several = [
        _blocks(audit, lists_small_groups=findings.options.has_rows) for audit in findings.audits
    ]
    if not several:
        return None
    if len(several) == 1:
        return Section("fairness", TITLE, several[0])
    labels = ("Rows not used for fitting", "Test rows")
    return Section(
        "fairness", TITLE, (Choice("rows", "Rows", tuple(zip(labels, several, strict=True))),)
    )


def _blocks(audit: Audit, *, lists_small_groups: bool) -> tuple[Block, ...]:
    """Return what the report shows of an audit.

    Parameters
    ----------
    audit
        The audit.
    lists_small_groups
        Whether groups that are not judged are named; a page without rows does not name them.
    """
    singles = [one for one in audit.groups if len(one.columns) == 1]
    notes = tuple(map(sentence, audit.notes)) if lists_small_groups else ()
    which_class = (of_class(audit),) if is_of_one_class(audit) else ()
    which = f"{count(audit.n_rows, 'row')}, {SOURCES[audit.source]}."
    blocks: list[Block] = [Prose((*comparisons(audit, 3), which, *which_class, LIMITS))]
    if notes:
        blocks.append(Note("What to know about these measures", "", tone="caution", items=notes))
    return (
        *blocks,
        *group_views(audit, singles, "fairness", lists_small_groups=lists_small_groups),
    )


def comparisons(audit: Audit, most: int) -> tuple[str, ...]:
    """Write a paragraph for each comparison, and how many more there are."""
    n = len(audit.sentences)
    shown = audit.main_sentences(n if n <= most + 1 else most)
    left = n - len(shown)
    more = (f"{count(left, 'more comparison')} in the tables below.",) if left else ()
    return (*shown, *more)


def is_of_one_class(audit: Audit) -> bool:
    """Whether all predictions are of one class of the target."""
    return audit.task.is_classification and len(audit.outputs) == 1


def of_class(audit: Audit) -> str:
    """Say which class predictions and rates are of, and who is meant by a rate of errors."""
    meanings = audit.groups[0].meanings
    text = (
        f"Predictions are of the class {named(audit.outputs[0])} of {named(audit.what)}, which is "
        "the positive class of all rates."
    )
    for name in ("true_positive_rate", "false_positive_rate"):
        if name in meanings:
            text += f" {sentence(name.replace('_', ' '))[:-1]}: {meanings[name]}."
    return text


def group_views(
    audit: Audit, groups: Sequence[GroupMeasures], name: str, *, lists_small_groups: bool = True
) -> list[Block]:
    """Return a view for each grouping and output, one shown at a time."""
    options = []
    for one in groups:
        label = title_of(one)
        if len(audit.outputs) > 1:
            label += f", {named(one.output)}"
        shown = [k for k in range(len(one.names)) if lists_small_groups or one.judged[k]]
        options.append((label, _view(audit, one, shown)))
    return views(name, "Show", options)


def _view(audit: Audit, groups: GroupMeasures, shown: Sequence[int]) -> tuple[Block, ...]:
    # rates and prices are compared as ratios, other predictions by differences
    left_out = "difference" if audit.task in (Task.COUNT, Task.AMOUNT) else "relativity"
    known = [name for name in groups.values if name != left_out or "ratio" not in groups.values]
    blocks: list[Block] = []
    if np.isfinite(groups.values[groups.main_measure]).any():
        blocks.append(chart("groups", plot_groups(groups)))
    blocks += [
        _sheet(audit, groups, title, [name for name in names if name in known], shown)
        for title, names in _SHEETS.items()
        if any(name in known for name in names)
    ]
    own = audit.own_measures(groups)
    if own is not None:
        blocks.append(_beside(groups, own, shown))
    more: list[Block] = []
    if len(shown) == len(groups.names):
        more.append(chart("quantiles", plot_group_quantiles(groups)))
    if "observed_expected" in groups.values:
        more.append(chart("observed", plot_groups(groups, "observed_expected")))
    if groups.tenths is not None:
        more.append(_tenths(groups))
    more.append(_meanings(groups))
    blocks.append(More("Distributions, calibration and what the measures mean", tuple(more)))
    return tuple(blocks)


def _sheet(
    audit: Audit,
    groups: GroupMeasures,
    title: str,
    measures: Sequence[str],
    shown: Sequence[int],
) -> Sheet:
    """Write some measures of every group, each with its interval."""
    headings = [title_of(groups), "rows"]
    has_verdicts = "impact_ratio" in measures and bool(groups.verdicts)
    if has_verdicts:
        headings.append("four fifths")
    for name in measures:
        headings.append(_word(name, groups))
        if np.isfinite(groups.low[name]).any():
            headings.append(f"{_word(name, groups)}, interval")
    rows = [_line(groups, k, measures, has_verdicts=has_verdicts) for k in shown]
    caption = f"{title} by {title_of(groups)}, with {percent(audit.confidence)} intervals"
    if groups.are_errors_too_good and OF_ERRORS & set(measures):
        caption += "; * on rows that may be training rows, so too good"
    name = title.lower()
    mixed = tuple(headings[2:])
    return Sheet(name, caption, tuple(headings), tuple(rows), mixed=mixed, roomy=True)


def _beside(groups: GroupMeasures, own: GroupMeasures, shown: Sequence[int]) -> Sheet:
    """Write what the folds' fits predict next to what the model itself predicts."""
    measures = [
        name
        for name in ("mean_prediction", "ratio", "difference", "selection_rate", "impact_ratio")
        if name in groups.values and (name != "difference" or "ratio" not in groups.values)
    ]
    headings = [title_of(groups), "rows"]
    for name in measures:
        word = _word(name, groups)
        headings += [f"{word}, folds", f"{word}, interval", f"{word}, model"]
    rows = []
    for k in shown:
        line: list[Cell] = [named(groups.names[k]), int(groups.rows[k])]
        for name in measures:
            spread = groups.spread(name, k)
            is_known = math.isfinite(spread.low) and spread.low < spread.high
            line += [
                finite(spread.value),
                f"{number(spread.low)} to {_end(spread.high)}" if is_known else None,
                finite(float(own.values[name][k])),
            ]
        rows.append(tuple(line))
    caption = (
        f"The fits of the folds and the model itself by {title_of(groups)}: intervals are of the "
        "folds' fits, the model is fitted to all of these rows"
    )
    return Sheet(
        "beside", caption, tuple(headings), tuple(rows), mixed=tuple(headings[2:]), roomy=True
    )


def _line(
    groups: GroupMeasures, k: int, measures: Sequence[str], *, has_verdicts: bool
) -> tuple[Cell, ...]:
    name = named(groups.names[k])
    if k == groups.reference:
        name += " (reference)"
    cells: list[Cell] = [name, int(groups.rows[k])]
    if has_verdicts:
        is_judged = groups.standing[k] is Standing.JUDGED
        cells.append(str(groups.verdicts[k]) if is_judged else str(groups.standing[k]))
    for measure in measures:
        spread = groups.spread(measure, k)
        cells.append(finite(spread.value))
        if np.isfinite(groups.low[measure]).any():
            # the group that others are compared with is equal to itself
            known = math.isfinite(spread.low) and spread.low < spread.high
            cells.append(f"{number(spread.low)} to {_end(spread.high)}" if known else None)
    return tuple(cells)


def _word(name: str, groups: GroupMeasures) -> str:
    star = "*" if groups.are_errors_too_good and name in OF_ERRORS else ""
    return groups.headings.get(name, name.replace("_", " ")) + star


def _end(value: float) -> str:
    return number(value) if math.isfinite(value) else "no limit"


def _tenths(groups: GroupMeasures) -> Sheet:
    """Write observed / expected by tenth of the prediction."""
    assert groups.tenths is not None
    values, low, high = groups.tenths
    rows = tuple(
        (
            named(groups.names[k]),
            tenth + 1,
            finite(float(values[k, tenth])),
            finite(float(low[k, tenth])),
            finite(float(high[k, tenth])),
        )
        for k in range(len(groups.names))
        if groups.standing[k] is Standing.JUDGED
        for tenth in range(values.shape[1])
    )
    headings = (title_of(groups), "tenth", "observed / expected", "low", "high")
    return Sheet("tenths", "Observed / expected by tenth of the prediction", headings, rows)


def _meanings(groups: GroupMeasures) -> Sheet:
    rows = tuple(
        (groups.headings.get(name, name.replace("_", " ")), text)
        for name, text in groups.meanings.items()
    )
    return Sheet("meanings", "What the measures mean", ("measure", "meaning"), rows)


def title_of(groups: GroupMeasures) -> str:
    """Return the columns of a grouping as a heading."""
    return crossed(groups.columns)


def crossed(columns: Sequence[str]) -> str:
    """Write several columns as one grouping."""
    return " × ".join(map(named, columns))
