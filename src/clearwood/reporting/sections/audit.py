"""The sections of the page of an audit: who was audited, groups, causes, proxies, alternatives."""

from collections.abc import Sequence
from typing import Any

from clearwood._shared.invocation import invocation
from clearwood._shared.numbers import count, percent
from clearwood.fairness import Alternatives, Audit, Gap, GroupMeasures, Proxies
from clearwood.reporting.page.blocks import Block, Facts, Note, Prose, Section, Sheet, finite, views
from clearwood.reporting.page.figures import chart
from clearwood.reporting.sections.fairness import (
    LIMITS,
    SOURCES,
    comparisons,
    crossed,
    group_views,
    is_of_one_class,
    of_class,
    title_of,
)
from clearwood.reporting.sections.words import listed, named, number, sentence

__all__ = ["audit_sections"]

_UNAWARE = "Unawareness: a model without the protected column can predict it from others."
_NO_ADVICE = "Clearwood measures; it does not give legal advice."


def audit_sections(audit: Audit) -> tuple[Section, ...]:
    """Write an audit."""
    sections = (
        _summary(audit),
        _who_was_audited(audit),
        _groups(audit),
        _gaps(audit),
        _proxies(audit),
        _conditions(audit),
        _alternatives(audit),
        _sensitivity(audit),
        _made(audit),
    )
    return tuple(section for section in sections if section is not None)


def _summary(audit: Audit) -> Section:
    first, *more = comparisons(audit, 5)
    blocks: list[Block] = [Prose((first,), lead=True), Prose((*more, LIMITS))]
    if audit.notes:
        items = tuple(sentence(note) for note in audit.notes)
        blocks.append(Note("What to know about this audit", "", tone="caution", items=items))
    return Section("summary", "Summary", tuple(blocks))


# Who was audited


def _who_was_audited(audit: Audit) -> Section:
    text = f"{count(audit.n_rows, 'row')}, {SOURCES[audit.source]}."
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
    options = [(title_of(one), (sheet,)) for one, sheet in sheets]
    return Section("who", "Who was audited", (Prose((text,)), *views("who", "Groups", options)))


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
    headings = (title_of(groups), "rows", *weight, "share", "standing")
    caption = f"Groups of {title_of(groups)}"
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
    if is_of_one_class(audit):
        paragraphs.append(of_class(audit))
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
    joint = [one for one in audit.groups if len(one.columns) > 1]
    blocks += group_views(audit, singles, "groups")
    if joint:
        blocks.append(Prose(("Crossed groups:",)))
        blocks += group_views(audit, joint, "crossed")
    return Section("groups", "Groups", tuple(blocks))


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
        f"Intervals are from {count(audit.n_refits, 'refit')} to samples of the rows."
        if audit.n_refits
        else "These are parts of one fit and have no intervals. A single fit proves little: parts "
        "vary between fits, and models that shrink effects understate direct ones. With refits, "
        "parts have intervals."
    )
    options = [
        (_compared(audit, one, group), _gap_blocks(one, group))
        for one in audit.gaps
        for group in one.judged
        if group != one.reference
    ]
    if not options:
        return None
    blocks = (Prose((text, refits)), *views("gaps", "Show", options))
    return Section("gaps", "Direct and through columns", blocks)


def _named_gap(audit: Audit, one: Gap | Proxies | Alternatives) -> str:
    output = getattr(one, "output", None)
    label = crossed(one.protected)
    return label if output is None or len(audit.outputs) == 1 else f"{label}, {named(output)}"


def _compared(audit: Audit, one: Gap, group: str) -> str:
    """Name a gap by the group that is compared, and by its column where there are several gaps."""
    return named(group) if len(audit.gaps) == 1 else f"{_named_gap(audit, one)}: {named(group)}"


def _gap_blocks(one: Gap, group: str) -> tuple[Block, ...]:
    """Draw and list the parts of the gap between a group and the reference, large ones first."""
    words_of = {"direct": f"{crossed(one.protected)} itself", "total": "total"}
    total, *others = one[group]
    rows = tuple(
        (
            words_of.get(
                part.source, f"through {named(part.column)}" if part.column else "interaction"
            ),
            finite(part.difference),
            _between(part.low, part.high),
            *(
                (finite(part.ratio), _between(part.ratio_low, part.ratio_high))
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
    if not audit.n_refits:
        text += " Without refits no column is judged."
    options = []
    for one in audit.proxies:
        rows = tuple(
            (
                named(row.column),
                finite(row.auc),
                _between(row.auc_low, row.auc_high),
                named(row.told),
                finite(row.difference),
                _between(row.low, row.high),
                named(row.group),
                finite(row.rise),
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
        title = crossed(one.protected)
        caption = (
            f"Columns that tell {title}, with {percent(one.confidence)} intervals: the judged "
            f"group that each tells best, and the one whose gap to {named(one.reference)} it "
            "carries the largest part of"
        )
        options.append((title, (_filled("proxies", caption, headings, rows, mixed=headings[1:]),)))
    return Section("proxies", "Proxies", (Prose((text,)), *views("proxies", "Show", options)))


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
    options = []
    for one in audit.alternatives:
        rows = tuple(
            (
                row.name,
                finite(row.risk),
                _between(row.low, row.high),
                finite(row.balance),
                finite(row.ratio if row.ratio is not None else row.gap),
                None if row.group is None else named(row.group),
                finite(row.proxy_discrimination),
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
        options.append(
            (title, (_filled("alternatives", caption, headings, rows, mixed=headings[1:7]),))
        )
    blocks = (Prose((text,)), *views("alternatives", "Show", options))
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
            f"{crossed(one.columns)}: {named(one.group)} against {named(one.reference)}",
            finite(one.ratio),
            finite(one.e_value),
            finite(one.e_value_of_interval),
            finite(one.robustness_value),
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
    if audit.source == "training rows":
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
