"""Shapley values of rows: how each column moved each prediction away from the mean."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import Conditional, ValueFunction
from clearwood._shared.frames import frame, unique_name
from clearwood._shared.numbers import cell, count, number
from clearwood._shared.results import document, html_table
from clearwood._shared.rounding import without_rounding
from clearwood.explanation.results.about import About, row_columns
from clearwood.fitted import output_position
from clearwood.table import Column

__all__ = ["Shapley"]

#: Columns that the text of a single row names; the others are added up.
_MOST_STEPS = 12


@dataclass(frozen=True, eq=False, repr=False)
class Shapley:
    """Shapley values of rows.

    With the baseline, the values of a row add up to its raw prediction. What they mean depends on
    the value function, which is named in ``value``; see `clearwood.shapley`.

    Parameters
    ----------
    values
        Of shape (rows, columns), or (rows, columns, outputs) where there are several outputs.
    baseline
        The value of the empty coalition: a number, or one per output.
    columns
        The user's columns.
    rows
        Labels of the rows.
    about
        Value function, background and scale.
    data
        The user's columns at the explained rows, for pictures.
    interactions
        None, or of shape (rows, columns, columns[, outputs]): off the diagonal half of the pair's
        Shapley interaction index, on it what is left, so that each line adds up to a value.
    standard_errors
        None where the values are exact; else of the shape of ``values``.
    notes
        What the reader should know.
    conditional
        How observational values let columns depend on each other; None for other values.
    """

    values: Floats
    baseline: Any
    columns: tuple[str, ...]
    rows: NDArray[Any]
    about: About
    data: tuple[Column, ...]
    interactions: Floats | None = None
    standard_errors: Floats | None = None
    notes: tuple[str, ...] = ()
    conditional: Conditional | None = None

    @property
    def value(self) -> ValueFunction:
        """The value function: "interventional", "path_dependent" or "observational"."""
        assert self.about.value is not None
        return self.about.value

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.about.outputs

    @property
    def prediction(self) -> Floats:
        """The raw prediction of each row: the baseline plus all values."""
        total: Floats = self.baseline + self.values.sum(axis=1)
        return total

    def __len__(self) -> int:
        return len(self.values)

    @property
    def _size(self) -> Floats:
        """Mean absolute value of each column, to be shown."""
        if not len(self):
            return np.zeros(len(self.columns))
        others = (0,) if self.values.ndim == 2 else (0, 2)
        return np.asarray(np.abs(self.without_rounding().values).mean(axis=others))

    def without_rounding(self) -> "Shapley":
        """Return the same with zero for values that rounding alone left, as it is shown.

        They are tiny compared with the sum of the row's baseline and values.
        """
        return replace(self, values=without_rounding(self.values, self.baseline, axis=1))

    def output(self, name: str) -> "Shapley":
        """Return the values of one output alone."""
        k = output_position(name, self.outputs)
        if len(self.outputs) == 1:
            return self
        return replace(
            self,
            values=self.values[..., k],
            baseline=float(self.baseline[k]),
            about=replace(self.about, outputs=(self.outputs[k],)),
            interactions=None if self.interactions is None else self.interactions[..., k],
            standard_errors=None if self.standard_errors is None else self.standard_errors[..., k],
        )

    def _headline(self) -> str:
        head = f"Shapley values of {count(len(self), 'row')} and {len(self.columns)} columns"
        if len(self.outputs) > 1:
            head += f", {len(self.outputs)} outputs"
        return f"{head} ({self.about})"

    def _reasons(self) -> list[tuple[str, str]]:
        """Return the way from the baseline to the prediction of the only row, largest step first.

        A column is named with its value in the row.
        """
        (values,) = self.without_rounding().values
        order = [k for k in np.argsort(-np.abs(values), kind="stable") if values[k]]
        most = _MOST_STEPS if len(order) > _MOST_STEPS + 1 else len(order)
        steps = [
            (f"{self.columns[k]} = {cell(self.data[k].labels()[0])}", values[k])
            for k in order[:most]
        ]
        if others := order[most:]:
            steps.append((f"{len(others)} others", values[others].sum()))
        written = [(name, f"{'+' if step > 0 else ''}{number(step)}") for name, step in steps]
        ends = number(self.baseline), number(self.prediction[0])
        return [("baseline", ends[0]), *written, ("prediction", ends[1])]

    @property
    def _is_one(self) -> bool:
        return len(self) == 1 and self.values.ndim == 2

    def __repr__(self) -> str:
        if self._is_one:
            lines = self._reasons()
            width = max(len(name) for name, _ in lines)
            return "\n".join(
                [self._headline(), *(f"  {name:<{width}}  {step}" for name, step in lines)]
            )
        size = self._size
        best = [k for k in np.argsort(-size, kind="stable")[:5] if size[k] > 0]
        largest = ", ".join(f"{self.columns[k]} {number(size[k])}" for k in best)
        tail = f"; mean absolute: {largest}" if largest else ""
        return f"{self._headline()}{tail}"

    def _repr_html_(self) -> str:
        if self._is_one:
            return html_table(self._headline(), ("column", "adds"), self._reasons(), self.notes)
        size = self._size
        rows = [(self.columns[k], number(size[k])) for k in np.argsort(-size, kind="stable")[:20]]
        return html_table(self._headline(), ("column", "mean absolute value"), rows, self.notes)

    def to_frame(self, library: str | None = None) -> Any:
        """Return one line per row (and output): the values by column, the baseline, the prediction.

        Values that are estimated are followed by their standard errors, by column.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        return frame(self.by_column(), library)

    def by_column(self) -> dict[str, Any]:
        """Return what `to_frame` has in its columns."""
        result = {name: self.values[:, k] for k, name in enumerate(self.columns)}
        whole = self.prediction
        result[unique_name("baseline", self.columns)] = np.broadcast_to(self.baseline, whole.shape)
        result[unique_name("prediction", self.columns)] = whole
        if self.standard_errors is not None:
            for k, name in enumerate(self.columns):
                named = unique_name(f"{name} standard error", tuple(result))
                result[named] = self.standard_errors[:, k]
        return row_columns(self.rows, self.outputs, result)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "columns": self.columns,
                "rows": self.rows,
                "values": self.values,
                "baseline": self.baseline,
                "interactions": self.interactions,
                "standard_errors": self.standard_errors,
                "conditional": self.conditional,
                "about": self.about.to_json(),
                "notes": self.notes,
            }
        )

    def plot(self, kind: str | None = None, **options: Any) -> Any:
        """Draw a beeswarm, bars or, for one row, a waterfall (Altair).

        Parameters
        ----------
        kind
            "beeswarm", "bar" or "waterfall"; by default a waterfall for one row, else a beeswarm.
        **options
            Of the figure: ``row`` (its label, for a waterfall), ``output``, ``most`` columns.
        """
        from clearwood.plot import plot_shapley

        return plot_shapley(self, kind, **options)
