"""Data: what the columns hold and how they are associated."""

import numpy as np

from clearwood._shared.numbers import IN_TABLES, count, percent
from clearwood.plot import plot_profile
from clearwood.reporting.collect.findings import Findings, Step
from clearwood.reporting.page.blocks import Block, Choice, More, Note, Prose, Section, Sheet
from clearwood.reporting.page.figures import chart
from clearwood.reporting.sections.words import listed, named, number, sentence
from clearwood.table import Profile, Role

__all__ = ["section"]

TITLE = "Data"

#: Columns whose distribution is drawn; the table has all of them.
_MOST_DISTRIBUTIONS = 40
_MOST_PAIRS = 300
_WIDE = 32
_SHOWN = 20
_BLOCKS = "▁▂▃▄▅▆▇█"


def section(findings: Findings) -> Section:
    """Write the section about the table."""
    blocks: list[Block] = [Prose(_opening(findings), lead=True)]
    if findings.table.notes and findings.options.has_rows:
        blocks.append(
            Note("Notes from reading the table", "", items=tuple(map(str, findings.table.notes)))
        )
    blocks.append(_columns(findings))
    blocks += _distributions(findings)
    blocks += _association(findings)
    return Section("data", TITLE, tuple(blocks))


def _opening(findings: Findings) -> tuple[str, ...]:
    table = findings.table
    first = (
        f"The table has {count(findings.n_all, 'row')} and {count(len(table.columns), 'column')}; "
        f"{_used(findings)}"
    )
    if findings.in_parts is not None and table.n_rows < findings.n_all:
        first += (
            f" They are read in parts; what this section shows is measured on a sample of "
            f"{table.n_rows:,} of them, drawn with seed {findings.options.seed}."
        )
    if table.dropped:
        first += f" {count(table.dropped, 'row')} without a target had been dropped."
    if table.exposure is not None and table.exposures is not None:
        total = number(float(table.exposures.sum()), IN_TABLES)
        first += (
            f" The outcome is {named(str(table.outcome))}: {named(str(table.target))} divided by "
            f"the exposure {named(table.exposure)}, {total} in all."
            f" Rows count by their {table.counted_by}: shares and distributions of features "
            f"are of the {table.counted_by}."
        )
    elif table.weights is not None:
        first += " Rows count by their weights: every share and distribution here is weighted."
        n_zero = int((table.weights == 0).sum())
        if n_zero:
            first += f" {count(n_zero, 'row with weight 0 is', 'rows with weight 0 are')} ignored."
    if table.source:
        first += f" Source: {table.source}."
    first += _identical(findings)
    incomplete = [(name, n) for name, n in table.missing.items() if n and name in findings.used]
    if not findings.used:
        return (first,)
    if not incomplete:
        return first, "No value is missing in the columns that the model uses."
    incomplete.sort(key=lambda pair: -pair[1])
    shares = [
        f"{named(name)} ({percent(findings.profiles[name].missing_share)})"
        for name, _ in incomplete
    ]
    have = "column has" if len(incomplete) == 1 else "columns have"
    return first, f"{len(incomplete)} {have} missing values: {listed(shares, most=6)}."


def _used(findings: Findings) -> str:
    taken, used = findings.features, findings.used
    if len(used) == len(taken):
        return f"the model uses {len(taken):,} of them."
    method = getattr(findings.model, "select", None)
    by = "" if method is None else f" by {method}"
    if not used:
        return f"the model was fitted to {len(taken):,} of them and chose none{by}."
    rest = "The other has" if len(taken) - len(used) == 1 else "The others have"
    return (
        f"the model was fitted to {len(taken):,} of them and chose {len(used):,}{by}: "
        f"{listed(used, most=8)}. {rest} no influence on its predictions."
    )


def _identical(findings: Findings) -> str:
    twins = findings.twins
    if twins is None or not twins.n_twins:
        return ""
    text = (
        f" {twins.n_twins:,} rows ({percent(twins.share)}) have the same features as another row; "
        f"there are {count(twins.n_distinct, 'different row')}."
    )
    if twins.are_unexpected:
        text += (
            f" New rows with the same distribution of each column would have about "
            f"{twins.n_distinct_expected:,}, so the same people or things may be in the table "
            "several times."
        )
    elif twins.n_distinct_expected is not None:
        text += " As many occur by chance in columns with so few values."
    if findings.table.keeps_identical:
        text += " Rows with the same features are kept together whenever rows are resampled."
    return text


def _columns(findings: Findings) -> Sheet:
    shares = findings.shares
    has_descriptions = any(column.description for column in findings.table.columns)
    rows = []
    for name in _listed_first(findings):
        profile = findings.profiles[name]
        role = findings.table.role(name)
        used = role.value if role is not Role.FEATURE or name in findings.used else "not used"
        rows.append(
            (
                name,
                profile.kind.value,
                used,
                profile.n_missing,
                profile.n_distinct,
                shortened(profile.values),
                *([findings.table.column(name).description] if has_descriptions else []),
                _spark(profile),
                round(100 * shares[name], 1) if name in shares else None,
            )
        )
    return Sheet(
        "columns",
        "All columns: kind, role, missing and distinct values, range or first levels, "
        "distribution, and share of the variation of the predictions",
        (
            "column",
            "kind",
            "role",
            "missing",
            "distinct",
            "values",
            *(["description"] if has_descriptions else []),
            "distribution",
            "importance (%)",
        ),
        tuple(rows),
        shown=_SHOWN,
        bars=("importance (%)",),
    )


def _listed_first(findings: Findings) -> list[str]:
    """Keep the table's order; of many columns, list the target and the most important first."""
    names = list(findings.profiles)
    if len(names) <= _SHOWN:
        return names
    shares = findings.shares
    return sorted(names, key=lambda name: (name != findings.target, -shares.get(name, 0.0)))


def shortened(values: str) -> str:
    """Keep a cell narrow: the figures below show all levels."""
    return values if len(values) <= _WIDE else values[: _WIDE - 1] + "…"


def _spark(profile: Profile) -> str:
    """Draw a distribution with eight heights of block, thinned to ten."""
    counts = profile.counts if profile.weights is None else profile.weights
    if not len(counts) or not counts.sum():
        return ""
    if len(counts) > 10:
        counts = np.array([part.sum() for part in np.array_split(counts, 10)])
    top = counts.max()
    return "".join(_BLOCKS[int(np.ceil(7 * (n / top)))] for n in counts)


def _distributions(findings: Findings) -> list[Block]:
    features = [name for name in findings.ranked if name in findings.profiles]
    has_target = findings.target is not None and findings.target in findings.profiles
    names = [*([str(findings.target)] if has_target else []), *features]
    shown = names[:_MOST_DISTRIBUTIONS]
    options = tuple(
        (
            f"{named(name)} (target)" if name == findings.target else named(name),
            (
                chart(
                    f"distribution-{k}",
                    plot_profile(findings.profiles[name], width=420, height=160),
                    title=f"Distribution of {named(name)}",
                ),
            ),
        )
        for k, name in enumerate(shown)
        if findings.profiles[name].counts.sum()
    )
    if not options:
        return []
    blocks: list[Block] = [Choice("distributions", "Distribution of", options)]
    if len(names) > len(shown):
        text = (
            f"Drawn for the target and the {len(shown) - 1} most important columns; the table "
            "above has all of them."
        )
        blocks.append(Prose((text,)))
    return blocks


def _measured_on(findings: Findings, n_rows: int) -> str:
    if n_rows == findings.table.n_rows:
        return f"all {count(n_rows, 'row')}"
    return f"{n_rows:,} of {count(findings.table.n_rows, 'row')}"


def _association(findings: Findings) -> list[Block]:
    result = findings.association
    if result is None:
        why = findings.failures.get(Step.ASSOCIATION)
        return [Note("The association between columns is not known", sentence(why))] if why else []
    if len(result.columns) < 2:
        return []
    meaning = (
        "Association between columns, from 0 (none) to 1 (one column determines the other): the "
        "larger of two correlation ratios of ranks or levels, which also captures curved "
        f"relations and categories. Measured on {_measured_on(findings, result.n_rows)}."
    )
    blocks: list[Block] = [Prose((meaning,)), chart("association", result.plot())]
    threshold = number(result.min_strength)
    if result.groups:
        blocks.append(
            Note(
                f"{count(len(result.groups), 'group')} of associated columns",
                f"Within a group, columns are linked by associations of at least {threshold}. "
                "Their effects on the prediction are hard to separate.",
                items=tuple(listed(group, most=8) for group in result.groups),
            )
        )
    else:
        blocks.append(
            Note(
                "No group of associated columns",
                f"No pair of columns has an association of {threshold} or more.",
                tone="good",
            )
        )
    pairs = result.pairs()
    if pairs:
        sheet = Sheet(
            "pairs",
            "Pairs of associated columns, the strongest first",
            ("column", "other column", "association"),
            tuple(pairs[:_MOST_PAIRS]),
            bars=("association",),
        )
        title = "All pairs" if len(pairs) <= _MOST_PAIRS else f"The {_MOST_PAIRS} strongest pairs"
        blocks.append(More(title, (sheet,)))
    return blocks
