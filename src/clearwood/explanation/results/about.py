"""What every explanation states about itself, and how its numbers are laid out in frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import ValueFunction
from clearwood._shared.errors import InputError
from clearwood._shared.frames import unique_name
from clearwood._shared.numbers import count
from clearwood.fitted import Scale, Unit
from clearwood.models import TableModel

__all__ = [
    "About",
    "BackgroundInfo",
    "axis_numbers",
    "grid_columns",
    "noting_zero_weights",
    "one_output",
    "rate_of",
    "row_columns",
    "rows_used",
    "two_rows_or_more",
]


@dataclass(frozen=True)
class BackgroundInfo:
    """The rows over which columns outside a coalition are averaged.

    Parameters
    ----------
    n_rows
        How many.
    weighted
        Whether they have weights.
    source
        Where they came from, in words.
    drawn_from
        Of how many rows they were drawn, where averages over all would take too long or fewer were
        asked for; None where they are all of them.
    seed
        Fixed that draw.
    """

    n_rows: int
    weighted: bool = False
    source: str = ""
    drawn_from: int | None = None
    seed: int | None = None

    def __str__(self) -> str:
        weighted = "weighted " if self.weighted else ""
        drawn = "" if self.drawn_from is None else f" drawn from {self.drawn_from:,}"
        return count(self.n_rows, f"{weighted}background row") + drawn

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        drawn = {"drawn_from": self.drawn_from, "seed": self.seed}
        if self.drawn_from is None:
            drawn = {}
        return {"rows": self.n_rows, "weighted": self.weighted, "source": self.source, **drawn}


@dataclass(frozen=True)
class About:
    """What is explained and how.

    Parameters
    ----------
    model
        The kind of model, in words.
    value
        The value function.
    background
        None where the value function needs none.
    unit
        What the numbers are.
    outputs
        Names of the outputs.
    is_sampled
        Whether the numbers are estimated from drawn rows, with standard errors.
    rate
        What is predicted per unit of an exposure, such as "claims per year"; empty where the model
        has no exposure.
    """

    model: str
    value: ValueFunction | None
    background: BackgroundInfo | None
    unit: Unit
    outputs: tuple[str, ...]
    is_sampled: bool = False
    rate: str = ""

    @property
    def quantity(self) -> str:
        """What the numbers are, with the rate that is predicted: for axes."""
        return f"{self.unit}, {self.rate}" if self.rate else str(self.unit)

    @property
    def scale(self) -> Scale:
        """The scale of the numbers."""
        if self.unit.is_probability:
            return Scale.PROBABILITY
        return Scale.RESPONSE if self.unit is Unit.PREDICTION else Scale.MARGIN

    def __str__(self) -> str:
        where = "no background" if self.background is None else f"{self.background}"
        parts = [self.value, where, self.quantity, "sampled" if self.is_sampled else None]
        return ", ".join(part for part in parts if part)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "model": self.model,
            "value": self.value,
            "background": None if self.background is None else self.background.to_json(),
            "scale": str(self.scale),
            "unit": str(self.unit),
            "outputs": list(self.outputs),
            "sampled": self.is_sampled,
            **({"rate": self.rate} if self.rate else {}),
        }


R = TypeVar("R")


def axis_numbers(values: NDArray[Any]) -> Floats:
    """Return numbers or dates as numbers (dates in days), NaN where they are missing.

    Examples
    --------
    >>> axis_numbers(np.array(["1970-01-02", "NaT"], "datetime64[us]"))
    array([ 1., nan])
    """
    if values.dtype.kind != "M":
        return values.astype(np.float64)
    days = values.astype("datetime64[us]").astype(np.float64) / 86_400e6
    return np.where(np.isnat(values), np.nan, days)


def grid_columns(
    columns: Sequence[str],
    grid: Sequence[NDArray[Any]],
    outputs: Sequence[str],
    named: Mapping[str, NDArray[Any] | None],
) -> dict[str, Any]:
    """Return what is known at the points of a grid as columns: one row per point and output.

    Parameters
    ----------
    columns, grid
        One or two of the user's columns, and their values.
    outputs
        Names of the outputs.
    named
        Numbers by name, with or without a last axis of outputs; None is left out.

    Examples
    --------
    >>> grid_columns(["age"], [np.array([20, 40])], ["p"], {"effect": np.array([0.5, 1.0])})
    {'age': array([20, 40]), 'effect': array([0.5, 1. ])}
    """
    points = tuple(len(values) for values in grid)
    shape = (*points, len(outputs))
    index = np.indices(shape).reshape(len(shape), -1)
    result: dict[str, Any] = {
        name: values[at] for name, values, at in zip(columns, grid, index[:-1], strict=True)
    }
    taken = list(columns)
    if len(outputs) > 1:
        result[unique_name("output", taken)] = [outputs[k] for k in index[-1]]
    for name, numbers in named.items():
        if numbers is not None:
            whole = numbers if numbers.size == index.shape[1] else numbers[..., None]
            result[unique_name(name, taken)] = np.broadcast_to(
                whole.reshape(*points, -1), shape
            ).ravel()
    return result


def row_columns(
    rows: NDArray[Any], outputs: Sequence[str], numbers: Mapping[str, NDArray[Any]]
) -> dict[str, Any]:
    """Return numbers, each (rows[, outputs]), as columns: one line per row and output."""
    taken = list(numbers)
    result: dict[str, Any] = {unique_name("row", taken): np.repeat(rows, len(outputs))}
    if len(outputs) > 1:
        result[unique_name("output", taken)] = list(outputs) * len(rows)
    return result | {name: values.ravel() for name, values in numbers.items()}


def noting_zero_weights(result: R, n_rows: int) -> R:
    """Return a result with the number of rows that have no weight, as a field and as a note."""
    if not n_rows:
        return result
    note = f"{count(n_rows, 'row')} with weight 0 {'is' if n_rows == 1 else 'are'} ignored"
    any_result: Any = result
    noted: R = replace(any_result, n_zero_weight=n_rows, notes=(*any_result.notes, note))
    return noted


def rate_of(model: Any) -> str:
    """Return what a model with an exposure predicts, such as "claims per year"; else nothing."""
    schema = getattr(model, "schema_", None) if isinstance(model, TableModel) else None
    return "" if schema is None or schema.exposure is None else str(schema.outcome)


def two_rows_or_more(n_rows: int, what: str) -> None:
    """Refuse data of a single row."""
    if n_rows < 2:
        raise InputError(
            f"the data has 1 row; {what} needs rows that differ",
            parameter="data",
            hint="give the training rows, or a sample of them.",
        )


def rows_used(n_rows: int, n_data: int | None) -> str:
    """Write how many rows were used, and of how many where not of all.

    Examples
    --------
    >>> rows_used(1, None), rows_used(500, 20640)
    ('1 row', '500 of 20,640 rows')
    """
    return count(n_rows, "row") if n_data is None else f"{n_rows:,} of {n_data:,} rows"


def one_output(values: NDArray[Any]) -> NDArray[Any]:
    """Drop the last axis, of outputs, where there is only one."""
    return values[..., 0] if values.shape[-1] == 1 else values
