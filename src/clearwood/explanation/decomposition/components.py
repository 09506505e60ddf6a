"""The components of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import BandSource
from clearwood._shared.frames import frame, unique_name
from clearwood._shared.numbers import count, number
from clearwood._shared.results import document, html_table
from clearwood.explanation.results.about import About
from clearwood.explanation.results.component_variances import joined
from clearwood.explanation.results.outputs import row_columns

__all__ = ["Components", "counted_orders"]


def counted_orders(sets: Sequence[tuple[str, ...]]) -> str:
    """Say how many components there are of each order.

    Examples
    --------
    >>> counted_orders([("a",), ("b",), ("a", "b")])
    '2 main effects, 1 interaction of 2 columns'
    """
    orders = np.bincount([len(names) for names in sets] or [0])
    return ", ".join(
        count(
            int(n),
            "main effect" if k == 1 else f"interaction of {k} columns",
            None if k == 1 else f"interactions of {k} columns",
        )
        for k, n in enumerate(orders)
        if n and k
    )


@dataclass(frozen=True, eq=False, repr=False)
class Components:
    """What each component adds to the prediction of each row.

    Baseline, components and remainder add up to the raw prediction.

    Parameters
    ----------
    sets
        The columns of each component.
    values
        Of shape (rows, components), or (rows, components, outputs) where there are several.
    remainder
        What lies beyond the order of the decomposition: (rows,) or (rows, outputs).
    baseline
        The mean prediction over the background: a number, or one per output.
    rows
        Labels of the rows.
    about
        Value function, background and scale.
    standard_errors
        Of the shape of ``values``: of a sampled decomposition, or the model's own, where they are
        wanted; None elsewhere.
    errors_from
        What the standard errors come from: "draws" of rows, the "covariance" or the "posterior"
        of the model's coefficients, or models of "folds" or of a "bootstrap"; None where there
        are none.
    """

    sets: tuple[tuple[str, ...], ...]
    values: Floats
    remainder: Floats
    baseline: Any
    rows: NDArray[Any]
    about: About
    standard_errors: Floats | None = None
    errors_from: BandSource | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, columns: str | tuple[str, ...]) -> Floats:
        """Return one component at all rows; zero where the model has no such component."""
        wanted = {columns} if isinstance(columns, str) else set(columns)
        for k, names in enumerate(self.sets):
            if set(names) == wanted:
                return self.values[:, k]
        return np.zeros_like(self.remainder)

    def __repr__(self) -> str:
        return f"{len(self.sets)} components of {len(self):,} rows ({self.about})"

    def _repr_html_(self) -> str:
        shape = (len(self), len(self.sets), len(self.about.outputs))
        size = np.abs(self.values.reshape(shape)).sum(axis=(0, 2)) / max(1, shape[0] * shape[2])
        order = np.argsort(-size, kind="stable")[:20]
        rows = [(joined(self.sets[k]), number(float(size[k]))) for k in order]
        return html_table(repr(self), ("component", "mean absolute value"), rows)

    def to_frame(self, library: str | None = None) -> Any:
        """Return one line per row (and output), one column per component, and the remainder.

        Standard errors, where there are some, stand beside each component.
        """
        names = [joined(columns) for columns in self.sets]
        baseline = np.broadcast_to(self.baseline, self.remainder.shape)
        result = {unique_name("baseline", names): baseline}
        errors = self.standard_errors
        for k, name in enumerate(names):
            result[name] = self.values[:, k]
            if errors is not None:
                result[unique_name(f"standard error of {name}", names)] = errors[:, k]
        result[unique_name("remainder", names)] = self.remainder
        return frame(row_columns(self.rows, self.about.outputs, result), library)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "sets": self.sets,
                "rows": self.rows,
                "values": self.values,
                "remainder": self.remainder,
                "standard_errors": self.standard_errors,
                "errors_from": self.errors_from,
                "baseline": self.baseline,
                "about": self.about.to_json(),
            }
        )
