"""Data: what the columns hold and how they go together."""

from collections.abc import Mapping

import numpy as np

from clearwood.plot.data import plot_profile
from clearwood.reporting.collect.findings import Findings
from clearwood.reporting.page.blocks import Block, Choice, More, Note, Prose, Section, Sheet
from clearwood.reporting.page.charts import chart
from clearwood.reporting.sections.words import count, listed, named, percent, sentence
from clearwood.table import Profile, Role

__all__ = ["section"]

#: Columns whose distribution can be looked at; the sheet has all of them.
_MOST_DISTRIBUTIONS = 40
_WIDE = 32
_SHOWN = 20
_BLOCKS = "▁▂▃▄▅▆▇█"


def section(findings: Findings) -> Section:
    """Write the chapter about the table."""
    blocks: list[Block] = [Prose(_opening(findings), lead=True)]
    if findings.table.notes:
        blocks.append(
            Note("Said when the table was read", "", items=tuple(map(str, findings.table.notes)))
        )
    blocks.append(_columns(findings))
    blocks += _distributions(findings)
    blocks += _dependence(findings)
    return Section("data", "Data", tuple(blocks))


def _opening(findings: Findings) -> tuple[str, ...]:
    table = findings.table
    told = [f"The table has {count(table.n_rows, 'row')} and {count(len(table.columns), 'column')}"]
    told.append(f"; the model uses {count(len(findings.features), 'of them', 'of them')}.")
    if table.dropped:
        told.append(f" {count(table.dropped, 'row')} without a target had been left out.")
    source = f" Source: {table.source}." if table.source else ""
    first = "".join(told) + source
    lacking = [(name, n) for name, n in table.missing.items() if n and name in findings.features]
    if not lacking:
        return first, "No value is missing in the columns that the model uses."
    lacking.sort(key=lambda pair: -pair[1])
    worst = [f"{named(name)} ({percent(n / table.n_rows)})" for name, n in lacking]
    are = "column has" if len(lacking) == 1 else "columns have"
    return first, f"{len(lacking)} {are} missing values: {listed(worst, most=6)}."


def _columns(findings: Findings) -> Sheet:
    share = {}
    if findings.importance is not None:
        share = dict(zip(findings.importance.columns, findings.importance.total, strict=True))
    rows = []
    for name in _listed_first(findings, share):
        found = findings.profiles[name]
        role = findings.table.role(name)
        used = role.value if role is not Role.FEATURE or name in findings.features else "not used"
        rows.append(
            (
                name,
                found.kind.value,
                used,
                found.n_missing,
                found.n_distinct,
                shortened(found.values),
                _spark(found),
                round(100 * float(share[name]), 1) if name in share else None,
            )
        )
    return Sheet(
        "columns",
        "All columns: kind, role, missing and distinct values, range or first levels, a small "
        "picture of the distribution, and how much of the model's variation goes back to it",
        (
            "column",
            "kind",
            "role",
            "missing",
            "distinct",
            "values",
            "distribution",
            "matters, %",
        ),
        tuple(rows),
        shown=_SHOWN,
        bars=("matters, %",),
    )


def _listed_first(findings: Findings, share: Mapping[str, float]) -> list[str]:
    """Keep the table's order, but for many columns: the target first, then what matters most."""
    names = list(findings.profiles)
    if len(names) <= _SHOWN:
        return names
    return sorted(names, key=lambda name: (name != findings.target, -share.get(name, 0.0)))


def shortened(values: str) -> str:
    """Keep a cell narrow: the figures below show all levels."""
    return values if len(values) <= _WIDE else values[: _WIDE - 1] + "…"


def _spark(found: Profile) -> str:
    """Draw a distribution with eight heights of block, thinned to ten."""
    counts = found.counts
    if not len(counts) or not counts.sum():
        return ""
    if len(counts) > 10:
        counts = np.array([part.sum() for part in np.array_split(counts, 10)])
    top = counts.max()
    return "".join(_BLOCKS[int(np.ceil(7 * n / top))] for n in counts)


def _distributions(findings: Findings) -> list[Block]:
    order = _most_important(findings)
    target = findings.target
    names = ([target] if target is not None and target in findings.profiles else []) + order
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
        blocks.append(
            Prose(
                (
                    (
                        f"Drawn for the target and the {len(shown) - 1} most important columns; "
                        "the table above has all of them."
                    ),
                )
            )
        )
    return blocks


def _most_important(findings: Findings) -> list[str]:
    known = [name for name in findings.features if name in findings.profiles]
    if findings.importance is None:
        return known
    share = dict(zip(findings.importance.columns, findings.importance.total, strict=True))
    return sorted(known, key=lambda name: -float(share.get(name, 0.0)))


def _dependence(findings: Findings) -> list[Block]:
    found = findings.dependence
    if found is None:
        why = findings.failures.get("dependence")
        return [Note("How columns go together is not known", sentence(why))] if why else []
    if len(found.columns) < 2:
        return []
    what = (
        "How far one column tells about another, from 0 (nothing) to 1 (everything): the larger "
        "of two correlation ratios of ranks or levels, which sees curves and categories as well as "
        f"straight lines. Measured on {count(found.n_rows, 'row')}."
    )
    blocks: list[Block] = [Prose((what,)), chart("dependence", found.plot())]
    if found.groups:
        items = tuple(listed(group, most=8) for group in found.groups)
        blocks.append(
            Note(
                f"{count(len(found.groups), 'group')} of columns that belong together",
                f"Within a group, columns are linked by a strength of at least "
                f"{found.threshold:g}. "
                "What the model does with one of them can hardly be told from what it does with "
                "the others.",
                items=items,
            )
        )
    else:
        blocks.append(
            Note(
                "No groups of columns that belong together",
                f"No pair reaches a strength of {found.threshold:g}.",
                tone="good",
            )
        )
    pairs = found.pairs()
    sheet = Sheet(
        "pairs",
        "Pairs of columns that tell about each other, the strongest first",
        ("column", "other column", "strength"),
        tuple(pairs[:300]),
        bars=("strength",),
    )
    if pairs:
        blocks.append(
            More("All pairs" if len(pairs) <= 300 else "The 300 strongest pairs", (sheet,))
        )
    return blocks
