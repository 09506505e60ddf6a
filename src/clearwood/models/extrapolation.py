"""Rows and predictions outside what a model was fitted to: counted, and named by column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.numbers import cell, count
from clearwood._shared.results import Result
from clearwood.table import Column, Table

__all__ = ["Extrapolation", "column_ranges", "outside_training", "rows_outside"]

#: Columns that a sentence names.
_NAMED = 4


@dataclass(frozen=True, repr=False)
class Extrapolation(Result):
    """How many rows lie outside the training range, and how many predictions.

    Parameters
    ----------
    what
        What is predicted.
    n_rows
        Rows.
    n_outside
        Those with a value below the least or above the greatest of the training rows in some
        column.
    columns
        How many of them by column; only columns with some.
    low, high
        The least and the greatest target of the training rows; None for classes, where they are
        not known, and where they are not shown.
    n_below, n_above
        Predictions below and above these.
    n_negative
        Predictions below zero, where no training row had a target below zero.

    Examples
    --------
    >>> import clearwood as cw
    >>> old = cw.read({"size": [1.0, 2, 3, 4, 5, 6], "price": [10.0, 12, 13, 15, 16, 18]},
    ...               target="price")
    >>> new = cw.read({"size": [3.0, 40.0]})
    >>> for note in cw.models.outside_training(cw.learner("ols").fit(old), new).notes():
    ...     print(note)
    1 of 2 rows has a value outside the training range: size (1)
    1 of 2 predictions of price is above the greatest of the training rows (18)
    """

    what: str
    n_rows: int = 0
    n_outside: int = 0
    columns: Mapping[str, int] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    n_below: int = 0
    n_above: int = 0
    n_negative: int = 0

    def __repr__(self) -> str:
        return "; ".join(self.notes()) or f"{count(self.n_rows, 'row')} inside the training range"

    def __add__(self, other: "Extrapolation") -> "Extrapolation":
        """Return the counts over the rows of both."""
        names = dict.fromkeys([*self.columns, *other.columns])
        return Extrapolation(
            self.what,
            self.n_rows + other.n_rows,
            self.n_outside + other.n_outside,
            {name: self.columns.get(name, 0) + other.columns.get(name, 0) for name in names},
            self.low,
            self.high,
            self.n_below + other.n_below,
            self.n_above + other.n_above,
            self.n_negative + other.n_negative,
        )

    def notes(self) -> Iterator[str]:
        """Return what the reader should know; nothing where all is inside."""
        if self.n_outside:
            most = sorted(self.columns.items(), key=lambda item: -item[1])
            named = ", ".join(f"{name} ({rows:,})" for name, rows in most[:_NAMED])
            more = f" and {count(len(most) - _NAMED, 'other')}" if len(most) > _NAMED else ""
            has = "has" if self.n_outside == 1 else "have"
            yield (
                f"{self.n_outside:,} of {count(self.n_rows, 'row')} {has} a value outside the "
                f"training range: {named}{more}"
            )
        for side, end, least, outside in (
            ("below", "least", self.low, self.n_below),
            ("above", "greatest", self.high, self.n_above),
        ):
            if not outside:
                continue
            known = "" if least is None else f" ({cell(least)})"
            negative = ""
            if side == "below" and self.n_negative:
                negative = f", {self.n_negative:,} of them below 0, which no training row was"
            yield (
                f"{outside:,} of {count(self.n_rows, 'prediction')} of {self.what} "
                f"{'is' if outside == 1 else 'are'} {side} the {end} of the training rows"
                f"{known}{negative}"
            )


def outside_training(model: Any, table: Table, predicted: Floats | None = None) -> Extrapolation:
    """Count the rows and predictions that lie outside what a model was fitted to.

    Parameters
    ----------
    model
        A fitted `Learner`. Of any other model nothing is known, and nothing is counted.
    table
        The rows.
    predicted
        Their predictions; computed when None.

    Returns
    -------
    Extrapolation
    """
    training: Mapping[str, Any] = getattr(model, "training_", {})
    schema = getattr(model, "schema_", None)
    what = "the target" if schema is None or schema.target is None else str(schema.outcome)
    names = set(training.get("ranges", ()))
    columns = [table.column(name) for name in table.names if name in names]
    by_column, n_outside = rows_outside(training.get("ranges", {}), columns)
    counts = Extrapolation(what, table.n_rows, n_outside, by_column)
    # models that were saved by earlier versions do not have the range of their target
    if "target_range" not in training:
        return counts
    low, high = training["target_range"]
    values = np.asarray(model.predict(table) if predicted is None else predicted, np.float64)
    # a mean of equal targets may differ from them by rounding
    slack = 1e-9 * max(abs(low), abs(high))
    return Extrapolation(
        what,
        table.n_rows,
        n_outside,
        by_column,
        low,
        high,
        int((values < low - slack).sum()),
        int((values > high + slack).sum()),
        int((values < 0).sum()) if low >= 0 else 0,
    )


def rows_outside(
    ranges: Mapping[str, Sequence[float]], columns: Sequence[Column]
) -> tuple[dict[str, int], int]:
    """Count rows outside the training range: by column, and in any column.

    Examples
    --------
    >>> import clearwood as cw
    >>> table = cw.read({"age": [20.0, 50, 90, 17], "km": [1.0, 2, 3, 4]})
    >>> rows_outside({"age": (18.0, 70.0), "km": (0.0, 9.0)}, table.columns)
    ({'age': 2}, 2)
    """
    anywhere: Bools | bool = False
    by_column = {}
    for column in columns:
        if column.name not in ranges or column.is_coded:
            continue
        values = _numbers(column)
        low, high = ranges[column.name]
        beyond = (values < low) | (values > high)  # False where missing
        anywhere = anywhere | beyond
        if beyond.any():
            by_column[column.name] = int(beyond.sum())
    return by_column, int(np.sum(anywhere))


def column_ranges(table: Table) -> dict[str, list[float]]:
    """Return the least and greatest value of each column of numbers or dates that has some."""
    result = {}
    for column in table.X.columns:
        if column.is_coded or not len(column.values) or column.values.dtype.kind not in "fiuM":
            continue
        values: NDArray[Any] = _numbers(column)
        low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
        if low <= high:  # no value is known where both are missing
            result[column.name] = [low, high]
    return result


def _numbers(column: Column) -> Floats:
    """Return numbers, or dates in days since 1970; NaN where they are missing."""
    values = column.values
    if values.dtype.kind != "M":
        return np.asarray(values, np.float64)
    days = values.astype("datetime64[us]").astype(np.float64) / 86_400e6
    return np.where(column.missing, np.nan, days)
