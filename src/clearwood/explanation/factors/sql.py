"""A table of factors as one SELECT."""

from typing import TYPE_CHECKING

import numpy as np

from clearwood.explanation.factors.cells import Axis
from clearwood.explanation.scales import Unit

if TYPE_CHECKING:
    from clearwood.explanation.factors.result import Factors, FactorTerm

__all__ = ["select"]


def select(factors: "Factors", table: str) -> str:
    """Write one SELECT that predicts every row of a table.

    Relativities and odds ratios are multiplied and differences added. A straight line needs the
    function ``exp``. The result is NULL where the model does not take a missing value, and for
    levels that are not in the table of factors.
    """
    ratios = factors.ratio_name is not None
    sign = " * " if ratios else " + "
    start = repr(float(np.exp(factors.base_score) if ratios else factors.base_score))
    parts = [start, *(_term(term, ratios=ratios) for term in factors.terms)]
    score = f"\n  {sign.strip()} ".join(parts)
    source = _name(table)
    head = "".join(f"-- {' '.join(line.split())}\n" for line in factors.headlines)
    if factors.unit is Unit.LOG_ODDS:
        inner = f"SELECT *, {score} AS odds\n  FROM {source}"  # noqa: S608 - names are quoted
        return f"{head}SELECT *, odds / (1.0 + odds) AS prediction\nFROM ({inner});"
    return f"{head}SELECT *,\n  {score} AS prediction\nFROM {source};"


def _term(term: "FactorTerm", *, ratios: bool) -> str:
    """Write the value of one term."""
    if len(term.axes) == 1:
        lines = [(at, _value(term, at, ratios=ratios)) for (at,) in term.cells()]
        return _case(term.axes[0], lines)
    first, second = term.axes
    rows: dict[int, list[tuple[int, str]]] = {}
    for at, other in term.cells():
        effect = float(term.effects[at, other])
        rows.setdefault(at, []).append((other, repr(float(np.exp(effect)) if ratios else effect)))
    return _case(first, [(at, _case(second, line)) for at, line in rows.items()])


def _value(term: "FactorTerm", at: int, *, ratios: bool) -> str:
    """Write the value of a cell of one column, or its straight line."""
    effect = float(term.effects[at])
    if term.slope and at < term.axes[0].n_known:
        column = _name(term.axes[0].header or term.axes[0].column)
        line = f"{term.slope!r} * ({column} - {term.origin!r})"
        return f"exp({line})" if ratios else f"({line})"
    return repr(float(np.exp(effect)) if ratios else effect)


def _case(axis: Axis, lines: list[tuple[int, str]]) -> str:
    """Write the choice of a cell; cells of numbers are tried in rising order."""
    column = _name(axis.header or axis.column)
    missing = [value for at, value in lines if at == axis.n_known]
    known = [(at, value) for at, value in lines if at < axis.n_known]
    parts = [f"WHEN {column} IS NULL THEN {missing[0] if missing else 'NULL'}"]
    for at, value in known:
        if axis.levels is not None:
            level = axis.levels[at].replace("'", "''")
            parts.append(f"WHEN CAST({column} AS TEXT) = '{level}' THEN {value}")
        elif at < len(axis.cuts):
            parts.append(f"WHEN {column} <= {float(axis.cuts[at])!r} THEN {value}")
        else:
            parts.append(f"ELSE {value}")
    return f"CASE {' '.join(parts)} END"


def _name(name: str) -> str:
    """Quote a name."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
