"""Which columns of a table tell about one another, and which of them go in groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood._shared.frames import frame
from clearwood._shared.progress import progress
from clearwood._shared.results import document, html_table
from clearwood.checks.association import association, profile_of
from clearwood.table import as_table

__all__ = ["Dependence", "dependence"]

Floats = NDArray[np.float64]

#: From here on two columns are said to belong together.
TOGETHER = 0.7
_MOST_ROWS = 2000


@dataclass(frozen=True, eq=False, repr=False)
class Dependence:
    """How far each column tells about each other, whatever their kinds.

    Made by `clearwood.checks.dependence`.

    Parameters
    ----------
    columns
        Their names.
    strength
        Of shape (columns, columns), from 0 (nothing) to 1; symmetric, with ones on the diagonal.
    groups
        Columns that belong together: each group is connected by pairs of at least `threshold`,
        the strongest first.
    threshold
        From which strength on two columns belong together.
    n_rows
        How many rows were used.
    """

    columns: tuple[str, ...]
    strength: Floats
    groups: tuple[tuple[str, ...], ...]
    threshold: float
    n_rows: int

    def between(self, first: str, second: str) -> float:
        """Give the strength of one pair."""
        return float(self.strength[self.columns.index(first), self.columns.index(second)])

    def pairs(self) -> tuple[tuple[str, str, float], ...]:
        """Give all pairs that tell about each other at all, the strongest first."""
        first, second = np.triu_indices(len(self.columns), 1)
        values = self.strength[first, second]
        return tuple(
            (self.columns[first[k]], self.columns[second[k]], float(values[k]))
            for k in np.argsort(-values, kind="stable")
            if values[k] > 0
        )

    def __repr__(self) -> str:
        shown = "; ".join(", ".join(group) for group in self.groups[:5])
        found = f"{len(self.groups)} groups that belong together: {shown}"
        return f"Dependence of {len(self.columns)} columns: {found if self.groups else 'no groups'}"

    def _repr_html_(self) -> str:
        rows = [(a, b, f"{value:.2f}") for a, b, value in self.pairs()[:30]]
        return html_table(repr(self), ("column", "other", "strength"), rows)

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row per pair that tells about each other, the strongest first.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        pairs = self.pairs()
        return frame(
            {
                "column": [a for a, _, _ in pairs],
                "other": [b for _, b, _ in pairs],
                "strength": np.array([value for _, _, value in pairs]),
            },
            library,
        )

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain JSON values."""
        return document(
            {
                "columns": self.columns,
                "strength": self.strength,
                "groups": self.groups,
                "threshold": self.threshold,
                "rows": self.n_rows,
            }
        )

    def plot(self, **options: Any) -> Any:
        """Draw a heat map, columns that go together side by side (Altair)."""
        from clearwood.plot.data import plot_dependence

        return plot_dependence(self, **options)


def dependence(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    threshold: float = TOGETHER,
    sample: int = _MOST_ROWS,
    seed: int = 0,
) -> Dependence:
    """Say how far columns tell about one another, numbers and categories alike.

    The strength of a pair is the larger of two correlation ratios: the root of the share of the
    variance of one column's ranks (of its levels' indicators, for a category) that lies between
    bins of the other, adjusted for chance. It sees what no correlation sees, such as a parabola.
    Where columns belong together, what a model does with one of them can hardly be told from what
    it does with the others, and effects that change one alone ask about rows that do not occur.

    Parameters
    ----------
    data
        A table, or what `clearwood.read` takes.
    columns
        Which ones; the features when None.
    threshold
        From which strength on two columns belong together.
    sample
        The most rows used.
    seed
        Fixes the draw of rows.

    Returns
    -------
    Dependence

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, other = rng.normal(size=500), rng.normal(size=500)
    >>> found = dependence({"x": x, "square": x**2, "other": other})
    >>> found.groups
    (('x', 'square'),)
    >>> found.between("x", "other")
    0.0
    """
    if not 0 < threshold <= 1:
        raise InputError(f"threshold is {threshold}; it lies above 0 and is at most 1")
    table = as_table(data)
    names = tuple(table.features if columns is None else columns)
    rows = np.arange(table.n_rows)
    if sample < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(len(rows), sample, replace=False))
    profiles = [profile_of(table.column(name).take(rows)) for name in names]
    strength = np.eye(len(names))
    with progress("comparing columns", total=len(names)) as step:
        for i, own in enumerate(profiles):
            for j in range(i):
                strength[i, j] = strength[j, i] = association(own, profiles[j])
            step(1, note=names[i])
    return Dependence(names, strength, _groups(names, strength, threshold), threshold, len(rows))


def _groups(
    names: Sequence[str], strength: Floats, threshold: float
) -> tuple[tuple[str, ...], ...]:
    """Give the connected parts of more than one column, that of the strongest pair first."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    joined = (strength >= threshold) & ~np.eye(len(names), dtype=bool)
    if not joined.any():
        return ()
    _, labels = connected_components(csr_array(joined), directed=False)
    parts = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    parts = [part for part in parts if len(part) > 1]
    off_diagonal = np.where(np.eye(len(names), dtype=bool), 0, strength)
    parts.sort(key=lambda part: -float(off_diagonal[np.ix_(part, part)].max()))
    return tuple(tuple(names[int(k)] for k in part) for part in parts)
