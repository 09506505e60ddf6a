"""From the coefficients of a model's matrix to those of the user's columns: linear contrasts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, did_you_mean
from clearwood.table import Column, Encoder, Kind, Table, calendar_features

__all__ = ["Contrast", "contrasts_of", "on_unseen_levels"]


@dataclass(frozen=True, eq=False)
class Contrast:
    """One line of a table of coefficients, as a combination of the model's coefficients.

    Parameters
    ----------
    column
        The user's column; empty for the constant.
    level
        The level that is compared with the base, "missing", a part of a date, or empty for one unit
        of a number.
    base
        What it is compared with; empty for numbers and the constant.
    weights
        Of the intercept and of every column of the model's matrix.
    share
        Of the rows, by weight, that have the level; NaN for numbers and the constant.
    """

    column: str
    level: str
    base: str
    weights: Floats
    share: float = np.nan

    @property
    def is_base(self) -> bool:
        """Whether it is the level that others are compared with."""
        return bool(self.base) and self.level == self.base


def contrasts_of(
    encoder: Encoder, table: Table, shares: Floats, base: Mapping[str, str]
) -> list[Contrast]:
    """Return the constant, then the lines of every column.

    Parameters
    ----------
    encoder
        Of a fitted learner.
    table
        Its features, in the kinds of the fit.
    shares
        Of the rows, summing to one.
    base
        The level that others are compared with, for some columns; else the most frequent one.
    """
    _check_base(encoder, base)
    matrix = encoder.transform(table)
    constant = np.zeros(matrix.shape[1] + 1)
    constant[0] = 1.0
    lines: list[Contrast] = []
    for k, name in enumerate(encoder.used_):
        own = np.flatnonzero(encoder.sources_ == k)
        column = table.column(name)
        if column.is_coded:
            level_rows = _LevelRows(encoder, table, column, own)
            at_base, more = level_rows.lines(shares, base.get(name))
            constant[1 + own] = at_base
            lines += more
            continue
        for j in own:
            part = encoder.columns_[j].part
            line = np.zeros(len(constant))
            if part == "missing":
                line[1 + j] = 1.0
                share = float(shares[column.missing].sum())
                lines.append(Contrast(name, "missing", "the median", line, share))
                continue
            raw = _numbers(column, part)
            slope, at_zero = _line_through(raw, matrix[:, j])
            line[1 + j], constant[1 + j] = slope, at_zero
            lines.append(Contrast(name, part or "", "", line))
    return [Contrast("", "", "", constant), *lines]


def on_unseen_levels(encoder: Encoder) -> tuple[str, ...]:
    """Say what a model gives levels that it was not fitted to, where that is the mean of others."""
    rule = (
        "levels that no training row has, and missing ones where none were missing, get the mean "
        "of the levels' effects, weighted by their training rows"
    )
    return (rule,) if encoder.averaging_ else ()


def _check_base(encoder: Encoder, base: Mapping[str, str]) -> None:
    """Refuse a base of a column that is not used or has no levels, and one that does not occur."""
    for name, level in base.items():
        if name not in encoder.used_:
            raise InputError(
                f"there is no column {name!r} among those of the model",
                parameter="base",
                value=name,
                hint=did_you_mean(str(name), encoder.used_),
            )
        levels = encoder.schema_[name].levels
        if not levels:
            raise InputError(
                f"column {name!r} is a number and has no base level",
                parameter="base",
                value=name,
                hint="its coefficient is for one unit more.",
            )
        if str(level) not in levels:
            raise InputError(
                f"column {name!r} has no level {level!r}",
                parameter="base",
                value=level,
                hint=did_you_mean(str(level), levels),
            )


def _numbers(column: Column, part: str | None) -> Floats:
    if column.kind is Kind.DATE:
        return calendar_features(column.values, [str(part)])[0]
    return np.asarray(column.values, np.float64)


def _line_through(raw: Floats, encoded: Floats) -> tuple[float, float]:
    """Return by how much the encoded number rises with one unit, and what it is at zero."""
    known = np.flatnonzero(np.isfinite(raw))
    if not len(known):
        return 0.0, 0.0
    low, high = known[np.argmin(raw[known])], known[np.argmax(raw[known])]
    if raw[low] == raw[high]:
        return 0.0, float(encoded[low])
    slope = (encoded[high] - encoded[low]) / (raw[high] - raw[low])
    return float(slope), float(encoded[low] - slope * raw[low])


@dataclass(frozen=True, eq=False)
class _LevelRows:
    """The levels of a column, each encoded once."""

    encoder: Encoder
    table: Table
    column: Column
    own: Index

    def lines(self, shares: Floats, base: str | None) -> tuple[Floats, list[Contrast]]:
        """Return the encoded base, and a line for each level that occurs, the base first."""
        column = self.column
        weight = np.bincount(column.values + 1, shares, len(column.levels) + 1)
        codes = [code for code in range(len(column.levels)) if weight[code + 1] > 0]
        if weight[0] > 0:
            codes.append(-1)
        names = [*column.levels, "missing"]  # -1 is the last
        first = int(np.argmax(weight[1:])) if base is None else column.levels.index(str(base))
        if first not in codes:
            raise InputError(
                f"no row has the level {base!r} of column {column.name!r}",
                parameter="base",
                value=base,
                hint="choose a level that occurs.",
            )
        codes.remove(first)
        codes.insert(0, first)
        encoded = self._encoded(np.array(codes, np.int32))
        width = len(self.encoder.columns_) + 1
        lines = []
        for code, values in zip(codes, encoded, strict=True):
            line = np.zeros(width)
            line[1 + self.own] = values - encoded[0]
            share = float(weight[code + 1])
            lines.append(Contrast(column.name, names[code], names[first], line, share))
        return encoded[0], lines

    def _encoded(self, codes: NDArray[np.int32]) -> Floats:
        rows = self.table.take(np.zeros(len(codes), np.intp))
        columns = tuple(
            replace(column, values=codes) if column.name == self.column.name else column
            for column in rows.columns
        )
        matrix: Floats = self.encoder.transform(replace(rows, columns=columns))
        return matrix[:, self.own]
