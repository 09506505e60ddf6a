"""A table of factors as a CSV file that holds all that a prediction needs, and as one SELECT."""

import csv
import io
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.errors import Call, InputError, bad_value, words
from clearwood._shared.sql import LARGEST, identifier, is_missing, literal
from clearwood.explanation.factors.cells import FactorAxis, trimmed
from clearwood.explanation.factors.result import FactorLosses, Factors, FactorTerm
from clearwood.explanation.linear.result import ColumnTest
from clearwood.fitted import Unit
from clearwood.table import Kind, Role, Schema, numbers_among

if TYPE_CHECKING:
    from clearwood.explanation.factors.points import Points

__all__ = ["read_factors", "read_text", "select", "written"]

#: Exponentials are multiplied as long as none of their products can leave the range of doubles.
_LARGEST_SCORE = 300.0


def select(factors: "Factors", table: str) -> str:
    """Write one SELECT that predicts every row of a table.

    Relativities and odds ratios are multiplied and differences added. Curves need the function
    ``exp``. The result is NULL where the model does not take a missing value or a new level, and
    where a number is infinite. With points, their total is the column before the prediction.
    """
    sizes = [float(np.nanmax(np.abs(term.effects), initial=0.0)) for term in factors.terms]
    ratios = factors.ratio_name is not None
    multiplied = ratios and abs(factors.base_score) + sum(sizes) < _LARGEST_SCORE
    writer = _SelectWriter(factors, multiplied=multiplied)
    start = _double(np.exp(factors.base_score) if multiplied else factors.base_score)
    parts = [start, *map(writer.term, factors.terms)]
    score = ("\n  * " if multiplied else "\n  + ").join(parts)
    if ratios and not multiplied:
        score = f"exp({score})"
    if not table.strip():
        raise bad_value("table", table, "it must be the name of a table")
    source = identifier(table)
    facts = [*factors.headlines]
    if factors.points is not None:
        facts.append(factors.points.headline)
    if factors.sha256:
        facts.append(f"SHA-256 of the model: {factors.sha256}")
    head = "".join(f"-- {' '.join(line.split())}\n" for line in facts)
    if factors.unit is Unit.LOG_ODDS:
        odds = identifier("odds by clearwood")
        total = "" if factors.points is None else f"{writer.points(factors.points)} AS points,\n  "
        inner = f"SELECT *, {total}{score} AS {odds}\n  FROM {source}"  # noqa: S608 - names are quoted
        small = f"{odds} / (1.0 + {odds})"
        large = f"1.0 / (1.0 + 1.0 / {odds})"
        chosen = f"CASE WHEN {odds} > 1.0 THEN {large} ELSE {small} END"
        return f"{head}SELECT *, {chosen} AS prediction\nFROM ({inner}) AS rated;"
    return f"{head}SELECT *,\n  {score} AS prediction\nFROM {source};"


#: NaN as databases write it.
_GAPS = ("nan", "NaN")


class _SelectWriter:
    """Writes terms, as factors that are multiplied or as summands."""

    def __init__(self, factors: "Factors", *, multiplied: bool) -> None:
        self.schema = factors.schema
        self.multiplied = multiplied

    def term(self, term: "FactorTerm") -> str:
        """Write the value of one term."""
        return self._choice(term.axes, {cell: self._value(term, cell) for cell in term.cells()})

    def _choice(self, axes: tuple[FactorAxis, ...], values: Mapping[tuple[int, ...], str]) -> str:
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
            return _double(np.exp(effect) if self.multiplied else effect)
        shifts = [
            f"({identifier(axis.header or axis.column)} - {_double(origins[at])})"
            for axis, origins, at in zip(term.axes, term.origins, cell, strict=True)
        ]
        if own.ndim == 2:
            inner = [_polynomial(list(map(_double, line)), shifts[1]) for line in own]
            text = _polynomial(inner, shifts[0])
        else:
            text = _polynomial(list(map(_double, own)), shifts[0])
        return f"exp({text})" if self.multiplied else f"({text})"

    def _case(self, axis: FactorAxis, lines: list[tuple[int, str]]) -> str:
        """Write the choice of a cell; cells of numbers are tried in rising order."""
        column = identifier(axis.header or axis.column)
        chosen = dict(lines)
        missing = chosen.get(axis.n_known, "NULL")
        text = f"CAST({column} AS TEXT)"
        codes = self.schema[axis.column].missing_codes
        if axis.levels is None:
            numbers = [_double(code) for code in numbers_among(codes)]
            is_gap = is_missing(column)
            is_gap += f" OR {column} IN ({', '.join(numbers)})" if numbers else ""
        else:
            # levels that are numbers may be gaps as well, which databases write so
            is_gap = f"{column} IS NULL OR {text} IN ({', '.join(map(literal, _GAPS + codes))})"
        parts = [f"WHEN {is_gap} THEN {missing}"]
        if axis.levels is None:
            parts.append(f"WHEN {column} > {LARGEST} OR {column} < -{LARGEST} THEN NULL")
            for at, cut in enumerate(axis.cuts.tolist()):
                parts.append(f"WHEN {column} <= {_double(cut)} THEN {chosen.get(at, 'NULL')}")
            parts.append(f"ELSE {chosen.get(len(axis.cuts), 'NULL')}")
            return f"CASE {' '.join(parts)} END"
        is_yes_no = self.schema[axis.column].kind is Kind.YES_NO
        for at, level in enumerate(axis.levels):
            written = ", ".join(literal(way) for way in _spellings(level, yes_no=is_yes_no))
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


def _double(value: float) -> str:
    return literal(float(value))


_ZERO = _double(0.0)


#: Lines that are no cells: their column is the name of a fact, and their level its value (JSON).
_FACT = "check"


def written(factors: Factors) -> str:
    """Write the base, the cells, and last what is known of the table and its comparison."""
    lines = factors.lines()
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    names = list(lines[0])
    writer.writerow(names)
    for line in lines:
        writer.writerow([_cell(line[name]) for name in names])
    for name, value in _facts(factors).items():
        fact = {"kind": _FACT, "column": name, "level": json.dumps(value, ensure_ascii=False)}
        writer.writerow([fact.get(name, "") for name in names])
    return output.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _facts(factors: Factors) -> dict[str, Any]:
    """Return the facts of the file that are not cells."""
    whole = factors.to_json()
    names = ("model", "sha256", "outcome", "base", "errors", "confidence", "tests", "notes")
    used = {name for term in factors.terms for name in term.columns}
    # of a constant, so that rows can be counted
    used = used or set(factors.schema.features)
    columns = tuple(
        replace(column, role=Role.FEATURE)
        for column in factors.schema.columns
        if column.name in used
    )
    freedom = factors.freedom if np.isfinite(factors.freedom) else None
    return {
        **{name: whole[name] for name in names},
        "unit": factors.unit.name,
        "freedom": freedom,
        **whole["check"],
        "ranges": {name: list(ends) for name, ends in factors.ranges.items()},
        "columns": Schema(columns).to_json()["columns"],
    }


def read_factors(path: str | os.PathLike[str]) -> Factors:
    """Read a table of factors from the CSV file that `Factors.to_csv` or ``export`` wrote.

    The prediction is recomputed from the file and nothing else, so its agreement with the model can
    be tested wherever the file goes.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Factors

    Examples
    --------
    >>> import tempfile, pathlib, clearwood as cw
    >>> policies = cw.datasets.insurance(1_000)
    >>> model = cw.learner("glm", alpha=0).fit(policies)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "rating.csv"
    >>> _ = file.write_text(cw.factors(model, policies).to_csv(), "utf-8")
    >>> again = cw.explanation.read_factors(file)
    >>> bool(abs(again.predict(policies) / model.predict(policies) - 1).max() < 1e-12)
    True
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"cannot read {str(path)!r}: {error.strerror or error}", parameter="path"
        ) from error
    except UnicodeDecodeError as error:
        raise _damaged(str(path)) from error
    return read_text(text, str(path))


def read_text(text: str, source: str = "the text") -> Factors:
    """Read a table of factors from what `written` wrote."""
    try:
        lines = list(csv.DictReader(io.StringIO(text, newline="")))
        facts = {
            line["column"]: json.loads(line["level"]) for line in lines if line["kind"] == _FACT
        }
        schema = Schema.from_json({"columns": facts["columns"], "task": None})
        base = next(line for line in lines if line["kind"] == "base")
        by_columns: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for line in lines:
            if line["kind"] in ("column", "pair"):
                names = (line["column"], line["column_2"])[: 1 + (line["kind"] == "pair")]
                by_columns.setdefault(names, []).append(line)
        losses = facts["losses"]
        return Factors(
            base=facts["base"],
            base_score=float(base["effect"]),
            terms=tuple(_term(names, own, schema) for names, own in by_columns.items()),
            unit=Unit[facts["unit"]],
            outcome=facts["outcome"],
            model=facts["model"],
            banded=tuple(facts["banded"]),
            largest_difference=_or_nan(facts["largest_difference"]),
            is_exact=facts["exact"],
            n_rows=facts["rows"],
            n_mixed=facts["mixed_rows"],
            losses=None if losses is None else FactorLosses(**losses),
            rebalancing=_or_nan(facts["rebalancing"]),
            sha256=facts["sha256"],
            errors=facts["errors"],
            confidence=facts["confidence"],
            freedom=np.inf if facts["freedom"] is None else facts["freedom"],
            tests=tuple(ColumnTest(**test) for test in facts["tests"]),
            notes=tuple(facts["notes"]),
            ranges={name: (low, high) for name, (low, high) in facts.get("ranges", {}).items()},
            schema=schema,
        )
    except (KeyError, ValueError, TypeError, StopIteration, csv.Error) as error:
        raise _damaged(source) from error


def _damaged(source: str) -> InputError:
    return InputError(
        f"{source!r} is not a table of factors, or a damaged one",
        parameter="path",
        value=source,
        hint=words("write the text of ", Call("factors", ("model", "data")), " as CSV."),
    )


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _term(names: tuple[str, ...], lines: list[dict[str, str]], schema: Schema) -> FactorTerm:
    """Put the lines of a column or pair together."""
    axes = tuple(_axis(name, lines, schema, "_2" if k else "") for k, name in enumerate(names))
    shape = tuple(axis.n_known + 1 for axis in axes)
    effects, shares = np.full(shape, np.nan), np.zeros(shape)
    errors = np.full(shape, np.nan)
    origins = tuple(np.full(n, np.nan) for n in shape)
    named = _powers(lines[0], len(names))
    degrees = [1 + max((power[k] for power in named), default=0) for k in range(len(names))]
    powers = np.zeros((*shape, *degrees))
    for line in lines:
        cell = tuple(_place(axis, line, "_2" if k else "") for k, axis in enumerate(axes))
        effects[cell], shares[cell] = float(line["effect"]), float(line["share"])
        errors[cell] = float(line.get("standard_error") or "nan")
        for k, at in enumerate(cell):
            origins[k][at] = float(line["origin_2" if k else "origin"] or "nan")
        powers[(*cell, *(0,) * len(names))] = effects[cell]
        for power, name in named.items():
            powers[(*cell, *power)] = float(line[name] or 0)
    has_powers = any(line[name] for line in lines for name in named.values())
    powers = np.where(np.isnan(effects)[(..., *(None,) * len(names))], np.nan, powers)
    return FactorTerm(
        axes=axes,
        effects=effects,
        shares=shares,
        origins=origins,
        powers=trimmed(powers, len(names)) if has_powers else None,
        errors=None if np.isnan(errors).all() else errors,
    )


def _powers(line: Mapping[str, str], n: int) -> dict[tuple[int, ...], str]:
    """Read which columns of the file hold the coefficients of which powers."""
    named: dict[tuple[int, ...], str] = {(1,): "per_unit"} if n == 1 else {}
    for name in line:
        if name.startswith("power_"):
            power = tuple(map(int, name.removeprefix("power_").split("_")))
            if len(power) == n:
                named[power] = name
    return named


def _axis(name: str, lines: list[dict[str, str]], schema: Schema, more: str) -> FactorAxis:
    """Read the cells of a column from its lines."""
    column = schema[name]
    if column.levels:
        return FactorAxis(name, column.levels, np.empty(0), column.header)
    ends = {float(line["high" + more]) for line in lines if line["high" + more]}
    return FactorAxis(name, None, np.array(sorted(ends)), column.header)


def _place(axis: FactorAxis, line: Mapping[str, str], more: str) -> int:
    """Return the cell of a line."""
    if line["missing" + more] == "true":
        return axis.n_known
    if axis.levels is None:
        high = line["high" + more]
        return int(np.searchsorted(axis.cuts, float(high))) if high else len(axis.cuts)
    if line["other" + more] == "true":
        return len(axis.levels)
    return axis.levels.index(line["level" + more])
