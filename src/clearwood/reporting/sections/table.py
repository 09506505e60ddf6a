"""As a table: a base value, and what each cell of each column does to it."""

from typing import Any

import numpy as np

from clearwood._shared.numbers import IN_TABLES, count, percent
from clearwood.explanation import Factors, FactorTerm, Points, Unit
from clearwood.reporting.collect.findings import Findings, Step
from clearwood.reporting.page.blocks import (
    Block,
    Cell,
    Facts,
    More,
    Note,
    Prose,
    Section,
    Sheet,
    Widget,
)
from clearwood.reporting.sections.words import capital, named, number, sentence, value_of

__all__ = ["TITLE", "section"]

TITLE = "As a table"
#: Cells of pairs that are shown, and the size of files that the page carries, in characters.
_MOST_PAIR_CELLS = 400
#: Pieces of a curve that are shown where it has more than twice as many.
_MOST_PIECES = 20
_LONGEST_FILE = 400_000


def section(findings: Findings) -> Section | None:
    """Write the section; none for models in which three columns or more interact."""
    table = findings.factors
    if table is None:
        why = findings.failures.get(Step.FACTORS)
        if why is None:
            return None
        notes = [
            Note("About the model", sentence(note))
            for note in getattr(findings.model, "notes_", ())
        ]
        return Section("table", TITLE, (Note("There is no table", sentence(why)), *notes))
    singles = [term for term in table.terms if len(term.axes) == 1]
    pairs = [term for term in table.terms if len(term.axes) == 2]
    blocks: list[Block] = [Prose(_introduction(findings, table), lead=True)]
    blocks.append(Facts(tuple(_facts(findings, table))))
    if table.points is not None:
        blocks += _card(table.points)
    if singles:
        blocks.append(_sheet(table, singles))
    blocks += _tests(table)
    blocks += _pairs(table, pairs)
    blocks.append(_files(table))
    blocks += [Note("About the table", sentence(note)) for note in table.notes]
    return Section("table", TITLE, tuple(blocks))


_MULTIPLIED = {"relativity": "relativities", "odds ratio": "odds ratios"}


def _introduction(findings: Findings, table: Factors) -> tuple[str, ...]:
    outcome = named(findings.outcome or table.outcome)
    base = number(table.base_value, 6)  # predictions are computed from it
    if table.ratio_name is None:
        first = f"The predicted {outcome} is the base value, {base}, plus the "
        first += "difference of the cell of each column"
    elif table.unit is Unit.LOG_ODDS:
        odds = number(float(np.exp(table.base_score)))
        first = f"The odds of {named(table.outcome)} are the base odds, {odds}, times the odds "
        first += "ratio of the cell of each column"
    else:
        first = f"The predicted {outcome} is the base value, {base}, times "
        first += "the relativity of the cell of each column"
    if any(len(term.axes) == 2 for term in table.terms):
        first += " and of each pair of columns"
    exactly = "This is the model itself, written as a table" if table.is_exact else "The table"
    second = "Each cell is compared with the base of its column, given the other columns."
    if any(term.powers is not None and not term.is_line for term in table.terms):
        second += " A curve has one line for each of its pieces, at the value in the third column."
    return f"{first}. {exactly}: {table.statement}.", second


def _facts(findings: Findings, table: Factors) -> list[tuple[str, str]]:
    base = ", ".join(f"{named(name)} = {value_of(value)}" for name, value in table.base.items())
    facts = [("Base", base)]
    unit = findings.table.schema.unit_of_exposure
    if unit is not None and findings.table.exposures is not None:
        total, by = (
            number(float(np.sum(findings.table.exposures)), IN_TABLES),
            findings.table.counted_by,
        )
        facts.append(("Exposure", f"{total} in units of one {unit}; shares are by {by}"))
    if table.errors is not None:
        facts.append(("Uncertainty", f"{capital(table.headlines[2])}; standard errors of the log"))
    if table.ratio_name is None and table.errors is not None:
        facts[-1] = ("Uncertainty", capital(table.headlines[2]))
    return facts


def _card(points: Points) -> list[Block]:
    """List the points of each band, and how they are scaled."""
    facts = [
        ("Base points", f"{points.start}: a row starts with them and adds those of its bands"),
        ("Scaling", f"{number(points.score)} points at odds of {number(points.odds)} to 1"),
        ("Points to double the odds", number(points.double)),
        ("Rounding", capital(points.rounding.text)),
    ]
    has_rates = any(cell.rate is not None for term in points.terms for cell in term.cells)
    rows = []
    for term in points.terms:
        for cell in term.cells:
            band = " and ".join(cell.label(k) for k in range(len(term.axes)))
            rate = None if cell.rate is None else round(100 * cell.rate, 2)
            rates: tuple[Cell, ...] = (rate,) if has_rates else ()
            share = round(100 * cell.share, 2)
            rows.append((" × ".join(term.columns), band, cell.points, share, *rates))
    headings = ("column", "band", "points", "share (%)", *(["rate (%)"] if has_rates else []))
    caption = f"The card: points against {named(points.outcome)}, by column and band"
    sheet = Sheet("points", caption, headings, tuple(rows), shown=60, bars=("share (%)",))
    return [Facts(tuple(facts)), sheet]


def _sheet(table: Factors, terms: list[FactorTerm]) -> Sheet:
    """List the cells of all columns; of a curve with many pieces, some."""
    ratio = table.ratio_name
    has_pieces = any(term.powers is not None and not term.is_line for term in terms)
    headings = ["column", "cell", *(["at"] if has_pieces else []), ratio or "difference"]
    if table.errors is not None:
        headings += ["standard error", "low", "high", "p-value"]
    rows = []
    for term in terms:
        for cell in _shown_cells(term):
            at = (_shown_at(term, cell),) if has_pieces else ()
            share = None if term.is_line and cell == (0,) else _share(term, cell)
            name = _cell_name(term, 0, cell[0])
            if term.axes[0].levels is not None and name == table.base.get(term.axes[0].column):
                name = f"{name} (base)"
            rows.append((term.axes[0].column, name, *at, *_numbers(table, term, cell), share))
    caption = f"{capital(_MULTIPLIED.get(ratio or '', 'differences'))} by column"
    if table.errors is not None:
        caption += f", {percent(table.confidence)} intervals"
    if any(len(_shown_cells(term)) < len(list(term.cells())) - 2 for term in terms):
        caption += f"; {_MOST_PIECES} pieces of curves with more, the file has all"
    mixed = ("at",) if has_pieces else ()
    return Sheet(
        "factors",
        caption,
        (*headings, "share (%)"),
        tuple(rows),
        shown=60,
        bars=("share (%)",),
        mixed=mixed,
    )


def _shown_cells(term: FactorTerm) -> list[tuple[int, ...]]:
    """Return the cells of a column to show: of very many, those at quantiles of the weight."""
    cells = [c for c in term.cells() if term.shares[c] > 0 or not _is_extra(term, c)]
    axis = term.axes[0]
    numbers = [c for c in cells if axis.levels is None and c[0] < axis.n_known]
    if len(numbers) <= 2 * _MOST_PIECES:
        return cells
    passed = np.cumsum([term.shares[c] for c in numbers])
    wanted = np.linspace(0, passed[-1], _MOST_PIECES)
    kept = {numbers[min(k, len(numbers) - 1)] for k in np.searchsorted(passed, wanted).tolist()}
    return [c for c in cells if c in kept or c not in numbers]


def _is_extra(term: FactorTerm, cell: tuple[int, ...]) -> bool:
    """Whether the cell is that of missing values or of other levels."""
    return any(
        at == axis.n_known or (axis.levels is not None and at == len(axis.levels))
        for axis, at in zip(term.axes, cell, strict=True)
    )


def _shown_at(term: FactorTerm, cell: tuple[int, ...]) -> float | None:
    """Return the number at which a piece of a curve is shown."""
    axis, at = term.axes[0], cell[0]
    is_piece = axis.levels is None and at < axis.n_known and term.powers is not None
    return _rounded(float(term.origins[0][at])) if is_piece and not term.is_line else None


def _cell_name(term: FactorTerm, place: int, at: int) -> str:
    """Name a cell of a column."""
    axis = term.axes[place]
    if at == axis.n_known:
        return "missing"
    if axis.levels is not None:
        return axis.levels[at] if at < len(axis.levels) else "other levels"
    if len(term.axes) == 1 and term.is_line:
        return "one unit more"
    low, high = axis.ends(at)
    if not np.isfinite(low):
        return "all numbers" if not np.isfinite(high) else f"up to {number(high, 5)}"
    if not np.isfinite(high):
        return f"above {number(low, 5)}"
    return f"above {number(low, 5)}, up to {number(high, 5)}"


def _numbers(table: Factors, term: FactorTerm, cell: tuple[int, ...]) -> tuple[Cell, ...]:
    """Return the factor and, where there are standard errors, its interval and p-value."""
    value = float(term.effects[cell])
    if term.is_line and term.powers is not None and cell == (0,):
        value = float(term.powers[0, 1])
    scale = (lambda v: v) if table.ratio_name is None else np.exp
    factor = _rounded(float(scale(value)))
    if table.errors is None:
        return (factor,)
    error = np.nan if term.errors is None else float(term.errors[cell])
    if not np.isfinite(error):
        return factor, None, None, None, None
    if error == 0:
        return factor, 0.0, None, None, None
    _, low, high, p_value = table.uncertainty_of(value, error).values()
    ends = [None if end is None else _rounded(float(scale(end))) for end in (low, high)]
    return factor, _rounded(error), *ends, _rounded(p_value)


def _rounded(value: float | None) -> float | None:
    return float(f"{value:.6g}") if value is not None and np.isfinite(value) else None


def _share(term: FactorTerm, cell: tuple[int, ...]) -> float:
    return round(100 * float(term.shares[cell]), 2)


def _tests(table: Factors) -> list[Block]:
    """List whether each column has any effect."""
    if not table.tests:
        return []
    has_ratio = any(np.isfinite(test.likelihood_ratio) for test in table.tests)
    headings: tuple[str, ...] = ("column", "degrees of freedom", "p-value")
    headings += ("likelihood ratio", "p-value by likelihood") if has_ratio else ()
    rows = []
    for test in table.tests:
        row: tuple[Any, ...] = (test.column, round(test.freedom, 2), _rounded(test.p_value))
        more = (_rounded(test.likelihood_ratio), _rounded(test.likelihood_p_value))
        rows.append((*row, *more) if has_ratio else row)
    caption = "Whether a column has any effect, given the others"
    return [Sheet("factor-tests", caption, headings, tuple(rows), shown=20)]


def _pairs(table: Factors, terms: list[FactorTerm]) -> list[Block]:
    """List the cells of pairs, those with the most weight first."""
    if not terms:
        return []
    ratio = table.ratio_name
    cells = [
        (float(term.shares[cell]), term, cell)
        for term in terms
        for cell in term.cells()
        if term.shares[cell] > 0
    ]
    cells.sort(key=lambda line: -line[0])
    shown = cells[:_MOST_PAIR_CELLS]
    rows = tuple(
        (
            " × ".join(term.columns),
            " and ".join(_cell_name(term, k, at) for k, at in enumerate(cell)),
            _rounded(float(np.exp(term.effects[cell]) if ratio else term.effects[cell])),
            _share(term, cell),
        )
        for _, term, cell in shown
    )
    which = count(len(cells), "cell with rows", "cells with rows")
    if len(shown) < len(cells):
        which = f"the {len(shown):,} of {len(cells):,} cells with the most weight"
    caption = f"What pairs of columns add to their columns: {which}"
    headings = ("pair", "cell", ratio or "difference", "share (%)")
    sheet = Sheet("factor-pairs", caption, headings, rows, shown=20, bars=("share (%)",))
    return [More(f"{count(len(terms), 'pair')} of columns", (sheet,))]


def _files(table: Factors) -> Block:
    """Offer the table as CSV and as SQL."""
    files = [{"name": "factors.csv", "text": table.to_csv()}]
    files.append({"name": "factors.sql", "text": table.to_sql()})
    kept = [file for file in files if len(file["text"]) <= _LONGEST_FILE]
    if not kept:
        return Note(
            "The table is too long for this page",
            "On the command line: clearwood export MODEL DATA --to factors -o rating.csv.",
        )
    text = (
        "The whole table as CSV, from which cw.explanation.read_factors predicts, and as one "
        "SELECT for a database. On the command line: clearwood export MODEL DATA --to factors."
    )
    return Widget("factor-files", "files", text, {"files": kept})
