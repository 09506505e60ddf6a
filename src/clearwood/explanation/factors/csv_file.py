"""A table of factors as a CSV file that holds all that a prediction needs."""

import csv
import io
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._shared.errors import Call, InputError, words
from clearwood.explanation.factors.cells import Axis
from clearwood.explanation.factors.pieces import trimmed
from clearwood.explanation.factors.result import FactorLosses, Factors, FactorTerm
from clearwood.explanation.linear.result import ColumnTest
from clearwood.fitted import Unit
from clearwood.table import Role, Schema

__all__ = ["read_factors", "read_text", "written"]

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
    """Return what the file says beside its cells."""
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


def _axis(name: str, lines: list[dict[str, str]], schema: Schema, more: str) -> Axis:
    """Read the cells of a column from its lines."""
    column = schema[name]
    if column.levels:
        return Axis(name, column.levels, np.empty(0), column.header)
    ends = {float(line["high" + more]) for line in lines if line["high" + more]}
    return Axis(name, None, np.array(sorted(ends)), column.header)


def _place(axis: Axis, line: Mapping[str, str], more: str) -> int:
    """Return the cell of a line."""
    if line["missing" + more] == "true":
        return axis.n_known
    if axis.levels is None:
        high = line["high" + more]
        return int(np.searchsorted(axis.cuts, float(high))) if high else len(axis.cuts)
    if line["other" + more] == "true":
        return len(axis.levels)
    return axis.levels.index(line["level" + more])
