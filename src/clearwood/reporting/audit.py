"""The page of an audit: what a model predicts and decides for groups of people."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from altair.utils.schemapi import debug_mode

from clearwood._shared.invocation import invocation
from clearwood._shared.numbers import count, percent
from clearwood.fairness import OF_ERRORS, Alternatives, Audit, Gap, GroupMeasures, Proxies, Standing
from clearwood.plot import plot_group_quantiles, plot_groups
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
from clearwood.reporting.page.figures import chart
from clearwood.reporting.result import Report
from clearwood.reporting.sections.words import listed, named, number, sentence
from clearwood.table import Task

__all__ = ["audit_page", "fairness_blocks"]

_UNAWARE = "Unawareness: a model without the protected column can predict it from others."
_LIMITS = (
    "These are measurements. They do not show that a model is fair or lawful: which differences "
    "are justified is a decision that numbers do not make."
)
_NO_ADVICE = "Clearwood measures; it does not give legal advice."
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


def audit_page(audit: Audit, *, title: str | None = None) -> Report:
    """Put an audit on one page that works offline.

    Parameters
    ----------
    audit
        The result of `clearwood.audit`.
    title
        The page's heading; made from target and model by default.

    Returns
    -------
    Report
        ``save("audit.html")`` writes it; a notebook shows it in place.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.insurance(500)
    >>> page = audit_page(cw.audit(cw.learner("glm").fit(data), data))
    >>> [section.title for section in page.sections][:3]
    ['Summary', 'Who was audited', 'Groups']
    """
    # the figures are put together by our own code, so that checking them again only takes time
    with debug_mode(False):  # noqa: FBT003 - its name says what is off
        sections = [
            _summary(audit),
            _audited(audit),
            _groups(audit),
            _gaps(audit),
            _proxies(audit),
            _conditions(audit),
            _alternatives(audit),
            _sensitivity(audit),
            _made(audit),
        ]
    return Report(
        title=title or f"{audit.what}: audit of {audit.learner}",
        sections=tuple(section for section in sections if section is not None),
        about=(
            ("Target", f"{audit.what} ({audit.task})"),
            *((("Class", named(audit.outputs[0])),) if _is_of_one_class(audit) else ()),
            ("Model", audit.learner),
            ("Protected", listed(audit.protected)),
            ("Rows", f"{audit.n_rows:,}, {audit.source}"),
            ("Made", f"{datetime.now(UTC):%Y-%m-%d} with Clearwood {audit.version}"),
        ),
    )


def fairness_blocks(audit: Audit, *, lists_small_groups: bool) -> tuple[Block, ...]:
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
    of_class = (_of_class(audit),) if _is_of_one_class(audit) else ()
    which = f"{count(audit.n_rows, 'row')}, {_SOURCES[audit.source]}."
    blocks: list[Block] = [Prose((*_comparisons(audit, 3), which, *of_class, _LIMITS))]
    if notes:
        blocks.append(Note("What to know about these measures", "", tone="caution", items=notes))
    return (*blocks, *_views(audit, singles, "fairness", lists_small_groups=lists_small_groups))


# Summary


def _comparisons(audit: Audit, most: int) -> tuple[str, ...]:
    """Write a paragraph for each comparison, and how many more there are."""
    n = len(audit.sentences)
    shown = audit.main_sentences(n if n <= most + 1 else most)
    left = n - len(shown)
    more = (f"{count(left, 'more comparison')} in the tables below.",) if left else ()
    return (*shown, *more)


def _summary(audit: Audit) -> Section:
    first, *more = _comparisons(audit, 5)
    blocks: list[Block] = [Prose((first,), lead=True), Prose((*more, _LIMITS))]
    if audit.notes:
        items = tuple(sentence(note) for note in audit.notes)
        blocks.append(Note("What to know about this audit", "", tone="caution", items=items))
    return Section("summary", "Summary", tuple(blocks))


# Who was audited


def _audited(audit: Audit) -> Section:
    text = f"{count(audit.n_rows, 'row')}, {_SOURCES[audit.source]}."
    if audit.is_weighted:
        text += (
            f" Rows count by {named(audit.weight_name)}, in total {number(audit.weight)}: means "
            "and rates are weighted."
        )
    text += (
        f" Groups with fewer than {audit.min_rows:,} rows or less than {percent(audit.min_share)} "
        "of the total are listed and not judged; rows whose protected value is missing are counted "
        "as a group and not judged."
    )
    text += _use(audit)
    sheets = [_who(audit, one) for one in audit.groups if one.output == audit.groups[-1].output]
    views = [(_title(one), (sheet,)) for one, sheet in sheets]
    return Section("who", "Who was audited", (Prose((text,)), *_shown("who", "Groups", views)))


def _use(audit: Audit) -> str:
    """Say which protected columns change predictions while all others stay as they are."""
    if audit.used is None:
        return ""
    unused = [name for name in audit.protected if name not in audit.used]
    text = ""
    if audit.used:
        text += f" Predictions change with {listed(audit.used)}, everything else being equal."
    if unused:
        text += (
            f" No prediction changes with {listed(unused)}, everything else being equal: the model "
            "does not use it, though other columns may stand for it."
        )
    return text


_SOURCES = {
    "rows of the fit": "which may be those the model was fitted to",
    "new rows": "which the model was not fitted to",
    "out of fold": "each predicted by a fit of a benchmark's fold that had not seen it",
}


def _who(audit: Audit, groups: GroupMeasures) -> tuple[GroupMeasures, Sheet]:
    weight = (named(audit.weight_name),) if audit.is_weighted else ()
    rows = tuple(
        (
            named(groups.names[k]),
            int(groups.rows[k]),
            *((float(groups.weight[k]),) if audit.is_weighted else ()),
            percent(float(groups.share[k])),
            str(groups.standing[k]),
        )
        for k in range(len(groups.names))
    )
    headings = (_title(groups), "rows", *weight, "share", "standing")
    caption = f"Groups of {_title(groups)}"
    return groups, Sheet("who", caption, headings, rows)


# Groups


def _groups(audit: Audit) -> Section:
    level = percent(audit.confidence)
    paragraphs = [
        f"Intervals are of {level}. "
        + (
            "Groups are compared with the largest judged one"
            if not any(one.is_simultaneous for one in audit.groups)
            else "Groups are compared with the one that has the highest selection rate, and the "
            "intervals of all comparisons hold together"
        )
        + ", unless a reference is named in the table. The choice of the reference changes every "
        "ratio."
    ]
    if _is_of_one_class(audit):
        paragraphs.append(_of_class(audit))
    if audit.decision is not None:
        paragraphs.append(
            f"Favourable decision: {audit.decision}. The selection rate is the share of rows with "
            "it; the impact ratio divides it by the highest rate of any judged group, with "
            "intervals that hold together for all groups."
        )
        paragraphs += [
            f"{sentence(one.name)[:-1]}: {one.meaning} ({one.source})." for one in audit.conventions
        ]
    blocks: list[Block] = [Prose(tuple(paragraphs))]
    singles = [one for one in audit.groups if len(one.columns) == 1]
    crossed = [one for one in audit.groups if len(one.columns) > 1]
    blocks += _views(audit, singles, "groups")
    if crossed:
        blocks.append(Prose(("Crossed groups:",)))
        blocks += _views(audit, crossed, "crossed")
    return Section("groups", "Groups", tuple(blocks))


def _is_of_one_class(audit: Audit) -> bool:
    """Whether all predictions are of one class of the target."""
    return audit.task.is_classification and len(audit.outputs) == 1


def _of_class(audit: Audit) -> str:
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


def _views(
    audit: Audit, groups: Sequence[GroupMeasures], name: str, *, lists_small_groups: bool = True
) -> list[Block]:
    """Return a view for each grouping and output, one shown at a time."""
    views = []
    for one in groups:
        label = _title(one)
        if len(audit.outputs) > 1:
            label += f", {named(one.output)}"
        shown = [k for k in range(len(one.names)) if lists_small_groups or one.judged[k]]
        views.append((label, _view(audit, one, shown)))
    return _shown(name, "Show", views)


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
    headings = [_title(groups), "rows"]
    has_verdicts = "impact_ratio" in measures and bool(groups.verdicts)
    if has_verdicts:
        headings.append("four fifths")
    for name in measures:
        headings.append(_word(name, groups))
        if np.isfinite(groups.low[name]).any():
            headings.append(f"{_word(name, groups)}, interval")
    rows = [_line(groups, k, measures, has_verdicts=has_verdicts) for k in shown]
    caption = f"{title} by {_title(groups)}, with {percent(audit.confidence)} intervals"
    if groups.are_errors_too_good and OF_ERRORS & set(measures):
        caption += "; * on rows that may be those of the fit, so too good"
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
    headings = [_title(groups), "rows"]
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
                _finite(spread.value),
                f"{number(spread.low)} to {_end(spread.high)}" if is_known else None,
                _finite(float(own.values[name][k])),
            ]
        rows.append(tuple(line))
    caption = (
        f"The fits of the folds and the model itself by {_title(groups)}: intervals are of the "
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
        cells.append(_finite(spread.value))
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
            _finite(float(values[k, tenth])),
            _finite(float(low[k, tenth])),
            _finite(float(high[k, tenth])),
        )
        for k in range(len(groups.names))
        if groups.standing[k] is Standing.JUDGED
        for tenth in range(values.shape[1])
    )
    headings = (_title(groups), "tenth", "observed / expected", "low", "high")
    return Sheet("tenths", "Observed / expected by tenth of the prediction", headings, rows)


def _meanings(groups: GroupMeasures) -> Sheet:
    rows = tuple(
        (groups.headings.get(name, name.replace("_", " ")), text)
        for name, text in groups.meanings.items()
    )
    return Sheet("meanings", "What the measures mean", ("measure", "meaning"), rows)


# Direct and through columns


def _gaps(audit: Audit) -> Section | None:
    if not audit.gaps:
        return None
    text = (
        "Direct: the ratio or difference of the mean predictions if everybody were in one group or "
        "in the other and nothing else changed. Through a column: what the groups' different "
        "values of it add, in a predictor that averages over the protected column. Interaction: "
        "the rest. To permit a column that the protected one acts on is a decision, not a finding."
    )
    refits = (
        f"Intervals are from {count(audit.refits, 'refit')} to samples of the rows."
        if audit.refits
        else "These are parts of one fit and have no intervals. A single fit proves little: parts "
        "vary between fits, and models that shrink effects understate direct ones. With refits, "
        "parts have intervals."
    )
    views = [
        (_compared(audit, one, group), _gap_blocks(one, group))
        for one in audit.gaps
        for group in one.judged
        if group != one.reference
    ]
    if not views:
        return None
    blocks = (Prose((text, refits)), *_shown("gaps", "Show", views))
    return Section("gaps", "Direct and through columns", blocks)


def _named_gap(audit: Audit, one: Gap | Proxies | Alternatives) -> str:
    output = getattr(one, "output", None)
    label = _crossed(one.protected)
    return label if output is None or len(audit.outputs) == 1 else f"{label}, {named(output)}"


def _compared(audit: Audit, one: Gap, group: str) -> str:
    """Name a gap by the group that is compared, and by its column where there are several gaps."""
    return named(group) if len(audit.gaps) == 1 else f"{_named_gap(audit, one)}: {named(group)}"


def _gap_blocks(one: Gap, group: str) -> tuple[Block, ...]:
    """Draw and list the parts of the gap between a group and the reference, large ones first."""
    words_of = {"direct": f"{_crossed(one.protected)} itself", "total": "total"}
    total, *others = one[group]
    rows = tuple(
        (
            words_of.get(
                part.source, f"through {named(part.column)}" if part.column else "interaction"
            ),
            _finite(part.difference),
            _between(part.low, part.high),
            *(
                (_finite(part.ratio), _between(part.ratio_low, part.ratio_high))
                if one.has_ratios
                else ()
            ),
        )
        for part in (total, *sorted(others, key=lambda part: -abs(part.difference)))
    )
    headings: tuple[str, ...] = ("part", "difference", "interval")
    headings += ("ratio", "interval of the ratio") if one.has_ratios else ()
    against = f"{named(group)} against {named(one.reference)}"
    caption = f"Parts of the difference, {against}; their ratios multiply to that of the means"
    if not one.has_ratios:
        caption = f"Parts of the difference of the means, {against}, which add up"
    drawn = chart("gap", one.plot(group=group))
    return drawn, _filled("gap", caption, headings, rows, mixed=("difference",))


def _filled(
    name: str,
    caption: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    mixed: Sequence[str] = (),
) -> Sheet:
    """Make a table without the columns that are empty in every row, such as intervals of refits."""
    kept = [k for k in range(len(headings)) if any(row[k] is not None for row in rows)]
    return Sheet(
        name,
        caption,
        tuple(headings[k] for k in kept),
        tuple(tuple(row[k] for k in kept) for row in rows),
        mixed=tuple(headings[k] for k in kept if headings[k] in mixed),
    )


def _between(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{number(low)} to {number(high)}"


# Proxies


def _proxies(audit: Audit) -> Section | None:
    if not audit.proxies:
        return None
    text = (
        "How well each column by itself tells the groups apart (AUC, out of fold; 0.5 is chance), "
        "which part of the gap it carries, and by how much the risk rises without it while the "
        "protected column is kept. A column that tells the groups apart, carries a part of the gap "
        "and does not improve predictions is an unneeded proxy."
    )
    if not audit.refits:
        text += " Without refits no column is judged."
    views = []
    for one in audit.proxies:
        rows = tuple(
            (
                named(row.column),
                _finite(row.auc),
                _between(row.auc_low, row.auc_high),
                named(row.told),
                _finite(row.difference),
                _between(row.low, row.high),
                named(row.group),
                _finite(row.rise),
                _between(row.rise_low, row.rise_high),
                row.verdict,
            )
            for row in one.rows
        )
        headings = (
            "column",
            "AUC",
            "interval",
            "group told",
            "part of the gap",
            "interval of the part",
            "gap of",
            "rise of the risk",
            "interval of the rise",
            "verdict",
        )
        title = _crossed(one.protected)
        caption = (
            f"Columns that tell {title}, with {percent(one.confidence)} intervals: the judged "
            f"group that each tells best, and the one whose gap to {named(one.reference)} it "
            "carries the largest part of"
        )
        views.append((title, (_filled("proxies", caption, headings, rows, mixed=headings[1:]),)))
    return Section("proxies", "Proxies", (Prose((text,)), *_shown("proxies", "Show", views)))


# Alternatives


def _alternatives(audit: Audit) -> Section | None:
    if not audit.alternatives:
        return None
    left = list(dict.fromkeys(name for one in audit.stand_ins for name in one.columns))
    free = (
        "averaged over it, so that it has no direct or proxy influence"
        if not left
        else f"averaged over it, which leaves its influence through {listed(left)} in the model"
    )
    text = (
        f"Aware: the model as it is. Unaware: fitted without the protected column. Free: {free}. "
        "Free balanced: with the observed "
        "total. Parity: equal distributions in all groups, which needs the protected column at "
        "prediction and so treats people by group. Proxy discrimination is the share of the "
        "variance of predictions that only the protected column explains; moved is the share of "
        "people whose prediction changes by more than 5 %."
    )
    views = []
    for one in audit.alternatives:
        rows = tuple(
            (
                row.name,
                _finite(row.risk),
                _between(row.low, row.high),
                _finite(row.balance),
                _finite(row.ratio if row.ratio is not None else row.gap),
                None if row.group is None else named(row.group),
                _finite(row.proxy_discrimination),
                percent(row.moved),
                percent(row.more),
                ", ".join(
                    f"{named(one.groups[k])} {'+' if row.changes[k] >= 0 else '−'}"
                    f"{percent(abs(row.changes[k]))}"
                    for k in one.judged
                ),
            )
            for row in one.rows
        )
        headings = (
            "predictor",
            "risk",
            "interval",
            "balance",
            "largest gap",
            "gap of",
            "proxy discrimination",
            "moved",
            "pay more",
            "change of the mean",
        )
        title = _named_gap(audit, one)
        are_ratios = all(row.ratio is not None for row in one.rows)
        caption = (
            f"Predictors, judged groups compared with {named(one.reference)}: the largest gap is "
            f"{'a ratio' if are_ratios else 'a difference'} of mean predictions"
        )
        views.append(
            (title, (_filled("alternatives", caption, headings, rows, mixed=headings[1:7]),))
        )
    blocks = (Prose((text,)), *_shown("alternatives", "Show", views))
    return Section("alternatives", "Alternatives", blocks)


# Conditions


def _conditions(audit: Audit) -> Section:
    rows = tuple((one.name, one.status, sentence(one.reason)) for one in audit.conditions)
    sheet = Sheet("conditions", "Conditions", ("condition", "status", "why"), rows)
    text = (
        "A difference between groups is read as an effect of the protected column itself only "
        "under conditions on how the columns came about. A causal graph states these; without one "
        "they are assumed and not checked."
    )
    blocks: list[Block] = [Prose((text,)), sheet]
    drawn = None if audit.graph is None else getattr(audit.graph, "plot", None)
    if callable(drawn):
        blocks.insert(1, chart("graph", drawn(), title="The causal graph"))
    return Section("conditions", "Conditions", tuple(blocks))


# Sensitivity


def _sensitivity(audit: Audit) -> Section | None:
    if not audit.sensitivity:
        return None
    rows = tuple(
        (
            f"{_crossed(one.columns)}: {named(one.group)} against {named(one.reference)}",
            _finite(one.ratio),
            _finite(one.e_value),
            _finite(one.e_value_of_interval),
            _finite(one.robustness_value),
            percent(one.share_outside),
        )
        for one in audit.sensitivity
    )
    headings = (
        "comparison",
        "ratio",
        "E-value",
        "E-value of the interval",
        "robustness value",
        "extrapolated",
    )
    text = (
        "E-value: a hidden cause would have to be associated with the group and with the outcome "
        "by a ratio of at least this, beyond the columns of the model, to explain the ratio of the "
        "mean predictions away. Robustness value: it would have to explain at least this share of "
        "what the other columns leave unexplained of both the group and the target, in a linear "
        "regression. Extrapolated: the share of rows of the reference with values where the group "
        "has no rows in some column, so that predictions for them as members of the group rest on "
        "no data."
    )
    sheet = Sheet("sensitivity", "Sensitivity to what is not in the data", headings, rows)
    return Section("sensitivity", "Sensitivity", (Prose((text,)), sheet))


# How it was made


def _made(audit: Audit) -> Section:
    pitfalls = [
        _UNAWARE,
        "Mediators: to permit a column that a protected one acts on is a decision, not a finding.",
        "Small groups: intervals are wide, and the absence of a clear difference shows nothing.",
        "Reference: ratios depend on the group that is chosen for comparison.",
        "Many comparisons: of many groups, some differ by chance.",
    ]
    if audit.source == "rows of the fit":
        pitfalls.append(
            "Training rows: measures of errors are too good; audit held-out rows or a benchmark."
        )
    facts = [
        ("Clearwood", audit.version),
        ("Seed", str(audit.seed)),
        ("Confidence", percent(audit.confidence)),
        ("Least group", f"{audit.min_rows:,} rows and {percent(audit.min_share)}"),
    ]
    command = invocation().command
    if command is not None:
        facts.append(("Command", command))
    return Section(
        "made",
        "How it was made",
        (
            Note("When audits mislead", "", items=tuple(pitfalls)),
            Facts(tuple(facts)),
            Prose((_NO_ADVICE,)),
        ),
    )


# Shared


def _title(groups: GroupMeasures) -> str:
    return _crossed(groups.columns)


def _crossed(columns: Sequence[str]) -> str:
    return " × ".join(map(named, columns))


def _shown(name: str, label: str, views: Sequence[tuple[str, tuple[Block, ...]]]) -> list[Block]:
    """Return one view as it is, and several to switch between."""
    return list(views[0][1]) if len(views) == 1 else [Choice(name, label, tuple(views))]


def _finite(cell: Any) -> Cell:
    if isinstance(cell, float | np.floating):
        return float(cell) if math.isfinite(cell) else None
    return cell  # type: ignore[no-any-return]
