"""A table of factors as one SELECT."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from clearwood._shared.errors import bad_value
from clearwood.explanation.factors.cells import Axis
from clearwood.fitted import Unit
from clearwood.table import Kind, numbers_among

if TYPE_CHECKING:
    from clearwood.explanation.factors.points import Points
    from clearwood.explanation.factors.result import Factors, FactorTerm

__all__ = ["select"]

#: Exponentials are multiplied as long as none of their products can leave the range of doubles.
_LARGEST_SCORE = 300.0
_LARGEST_NUMBER = "1.7976931348623157e308"


def select(factors: "Factors", table: str) -> str:
    """Write one SELECT that predicts every row of a table.

    Relativities and odds ratios are multiplied and differences added. Curves need the function
    ``exp``. The result is NULL where the model does not take a missing value or a new level, and
    where a number is infinite. With points, their total is the column before the prediction.
    """
    sizes = [float(np.nanmax(np.abs(term.effects), initial=0.0)) for term in factors.terms]
    ratios = factors.ratio_name is not None
    multiplied = ratios and abs(factors.base_score) + sum(sizes) < _LARGEST_SCORE
    writer = _Writer(factors, multiplied=multiplied)
    start = _number(np.exp(factors.base_score) if multiplied else factors.base_score)
    parts = [start, *map(writer.term, factors.terms)]
    score = ("\n  * " if multiplied else "\n  + ").join(parts)
    if ratios and not multiplied:
        score = f"exp({score})"
    if not table.strip():
        raise bad_value("table", table, "it must be the name of a table")
    source = _name(table)
    head = "".join(
        f"-- {' '.join(line.split())}\n"
        for line in (*factors.headlines, *_scaling(factors), *_sha(factors))
    )
    if factors.unit is Unit.LOG_ODDS:
        odds = _name("odds by clearwood")
        total = "" if factors.points is None else f"{writer.points(factors.points)} AS points,\n  "
        inner = f"SELECT *, {total}{score} AS {odds}\n  FROM {source}"  # noqa: S608 - names are quoted
        small = f"{odds} / (1.0 + {odds})"
        large = f"1.0 / (1.0 + 1.0 / {odds})"
        chosen = f"CASE WHEN {odds} > 1.0 THEN {large} ELSE {small} END"
        return f"{head}SELECT *, {chosen} AS prediction\nFROM ({inner}) AS rated;"
    return f"{head}SELECT *,\n  {score} AS prediction\nFROM {source};"


def _sha(factors: "Factors") -> tuple[str, ...]:
    return (f"SHA-256 of the model: {factors.sha256}",) if factors.sha256 else ()


def _scaling(factors: "Factors") -> tuple[str, ...]:
    return () if factors.points is None else (factors.points.headline,)


class _Writer:
    """Writes terms, as factors that are multiplied or as summands."""

    def __init__(self, factors: "Factors", *, multiplied: bool) -> None:
        self.schema = factors.schema
        self.multiplied = multiplied

    def term(self, term: "FactorTerm") -> str:
        """Write the value of one term."""
        return self._choice(term.axes, {cell: self._value(term, cell) for cell in term.cells()})

    def _choice(self, axes: tuple[Axis, ...], values: Mapping[tuple[int, ...], str]) -> str:
        """Write the choice among the values of the cells of a column or of two."""
        if len(axes) == 1:
            return self._case(axes[0], [(cell[0], value) for cell, value in values.items()])
        first, second = axes
        rows: dict[int, list[tuple[int, str]]] = {}
        for cell, value in values.items():
            rows.setdefault(cell[0], []).append((cell[1], value))
        lines = [(at, self._case(second, line)) for at, line in rows.items()]
        return self._case(first, lines)

    def points(self, points: "Points") -> str:
        """Write the total of whole points; with a wide start, sums stay whole numbers."""
        parts = [f"CAST({points.start} AS BIGINT)"]
        for term in points.terms:
            values = {
                cell: str(int(term.points[cell]))
                for cell in np.ndindex(term.points.shape)
                if not np.isnan(term.points[cell])
            }
            parts.append(self._choice(term.axes, values))
        return "\n  + ".join(parts)

    def _value(self, term: "FactorTerm", cell: tuple[int, ...]) -> str:
        """Write the value of a cell: a number, or a polynomial."""
        effect = float(term.effects[cell])
        own = None if term.powers is None else term.powers[cell]
        if own is None or not np.any(own.ravel()[1:]):
            return _number(np.exp(effect) if self.multiplied else effect)
        shifts = [
            f"({_name(axis.header or axis.column)} - {_number(origins[at])})"
            for axis, origins, at in zip(term.axes, term.origins, cell, strict=True)
        ]
        if own.ndim == 2:
            inner = [_polynomial(list(map(_number, line)), shifts[1]) for line in own]
            text = _polynomial(inner, shifts[0])
        else:
            text = _polynomial(list(map(_number, own)), shifts[0])
        return f"exp({text})" if self.multiplied else f"({text})"

    def _case(self, axis: Axis, lines: list[tuple[int, str]]) -> str:
        """Write the choice of a cell; cells of numbers are tried in rising order."""
        column = _name(axis.header or axis.column)
        chosen = dict(lines)
        missing = chosen.get(axis.n_known, "NULL")
        text = f"CAST({column} AS TEXT)"
        # databases that have NaN write it so
        codes = self.schema[axis.column].missing_codes
        words = ", ".join(map(_text, ("nan", "NaN", *(codes if axis.levels is not None else ()))))
        is_missing = f"{column} IS NULL OR {text} IN ({words})"
        numbers = [_number(code) for code in numbers_among(codes)]
        if numbers and axis.levels is None:
            is_missing += f" OR {column} IN ({', '.join(numbers)})"
        parts = [f"WHEN {is_missing} THEN {missing}"]
        if axis.levels is None:
            parts.append(
                f"WHEN {column} > {_LARGEST_NUMBER} OR {column} < -{_LARGEST_NUMBER} THEN NULL"
            )
            for at, cut in enumerate(axis.cuts.tolist()):
                parts.append(f"WHEN {column} <= {_number(cut)} THEN {chosen.get(at, 'NULL')}")
            parts.append(f"ELSE {chosen.get(len(axis.cuts), 'NULL')}")
            return f"CASE {' '.join(parts)} END"
        is_yes_no = self.schema[axis.column].kind is Kind.YES_NO
        for at, level in enumerate(axis.levels):
            written = ", ".join(_text(way) for way in _spellings(level, yes_no=is_yes_no))
            parts.append(f"WHEN {text} IN ({written}) THEN {chosen.get(at, 'NULL')}")
        parts.append(f"ELSE {chosen.get(len(axis.levels), 'NULL')}")
        return f"CASE {' '.join(parts)} END"


def _polynomial(coefficients: list[str], shift: str) -> str:
    """Write a polynomial by Horner's rule."""
    while len(coefficients) > 1 and coefficients[-1] == _ZERO:
        coefficients = coefficients[:-1]
    text = coefficients[-1]
    for own in coefficients[-2::-1]:
        text = f"({own} + {shift} * {text})"
    return text


def _spellings(level: str, *, yes_no: bool) -> list[str]:
    """Return how a database may write a level: whole numbers also with a point, truth as a word."""
    ways = [level]
    if level.removeprefix("-").isdigit() and level.isascii():
        ways.append(f"{level}.0")
    if yes_no and level.lower() in ("true", "false"):
        ways += [level.lower(), str(int(level.lower() == "true"))]
    return list(dict.fromkeys(ways))


def _number(value: float) -> str:
    """Write a number; without an exponent, some databases take it for a decimal."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


_ZERO = _number(0.0)


def _text(text: str) -> str:
    """Quote a text."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _name(name: str) -> str:
    """Quote a name."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
