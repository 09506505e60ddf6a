"""Association between the columns of a table, and the groups that associated columns form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import bad_value
from clearwood._shared.numbers import count
from clearwood._shared.progress import progress
from clearwood._shared.results import Result, html_table
from clearwood._shared.weights import counted
from clearwood.checks.column_pairs import all_strengths, comparable
from clearwood.table import as_table

__all__ = ["Association", "association"]

#: The strength from which two columns form a group.
GROUPED_FROM = 0.7
_MOST_ROWS = 2000


@dataclass(frozen=True, eq=False, repr=False)
class Association(Result):
    """The strength of association between columns, whatever their kinds.

    Computed by `clearwood.checks.association`.

    Parameters
    ----------
    columns
        Their names.
    strength
        Of shape (columns, columns), from 0 (no association) to 1; symmetric, with ones on the
        diagonal.
    groups
        Groups of associated columns: the columns of a group are connected by pairs of at least
        `min_strength`. The group with the strongest pair comes first.
    min_strength
        The strength from which two columns are put in one group.
    n_rows
        How many rows were used.
    is_weighted
        Whether rows count by their weight.
    """

    columns: tuple[str, ...]
    strength: Floats
    groups: tuple[tuple[str, ...], ...]
    min_strength: float
    n_rows: int
    is_weighted: bool = False

    def between(self, first: str, second: str) -> float:
        """Return the strength of one pair."""
        return float(self.strength[self.columns.index(first), self.columns.index(second)])

    def pairs(self) -> tuple[tuple[str, str, float], ...]:
        """Return all associated pairs, the strongest first."""
        first, second = np.triu_indices(len(self.columns), 1)
        values = self.strength[first, second]
        return tuple(
            (self.columns[first[k]], self.columns[second[k]], float(values[k]))
            for k in np.argsort(-values, kind="stable")
            if values[k] > 0
        )

    def __repr__(self) -> str:
        weighted = ", weighted" if self.is_weighted else ""
        head = f"Association between {count(len(self.columns), 'column')}{weighted}"
        if not self.groups:
            return f"{head}: no groups of associated columns"
        shown = "; ".join(", ".join(group) for group in self.groups[:5])
        return f"{head}: {count(len(self.groups), 'group')} of associated columns: {shown}"

    def _repr_html_(self) -> str:
        rows = [(a, b, f"{value:.2f}") for a, b, value in self.pairs()[:30]]
        return html_table(repr(self), ("column", "other", "strength"), rows)

    def _columns(self) -> Mapping[str, Any]:
        """Return one row per associated pair, the strongest first."""
        pairs = self.pairs()
        return {
            "column": [a for a, _, _ in pairs],
            "other": [b for _, b, _ in pairs],
            "strength": np.array([value for _, _, value in pairs]),
        }

    def plot(self, **options: Any) -> Any:
        """Draw a heat map in which associated columns stand side by side (Altair)."""
        from clearwood.plot import plot_association

        return plot_association(self, **options)


def association(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    min_strength: float = GROUPED_FROM,
    sample: int = _MOST_ROWS,
    seed: int = 0,
) -> Association:
    """Compute how strongly columns are associated, numbers and categories alike.

    The strength of a pair is the larger of two correlation ratios: the root of the share of the
    variance of one column's ranks (of its levels' indicators, for a category) that lies between
    bins of the other, adjusted for chance. Unlike a correlation it detects any shape of
    dependence, such as a parabola.

    Where columns are strongly associated, a model's use of one of them can hardly be separated
    from its use of the others, and effects that change one column while the others stay fixed are
    computed at rows that do not occur.

    Parameters
    ----------
    data
        A table, or what `clearwood.read` takes; rows count by their weight, if they have one.
    columns
        The columns to compare; the features when None.
    min_strength
        The strength from which two columns are put in one group.
    sample
        The most rows used.
    seed
        Fixes the draw of rows.

    Returns
    -------
    Association

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, other = rng.normal(size=500), rng.normal(size=500)
    >>> result = association({"x": x, "square": x**2, "other": other})
    >>> result.groups
    (('x', 'square'),)
    >>> result.between("x", "other")
    0.0
    """
    if not 0 < min_strength <= 1:
        raise bad_value("min_strength", min_strength, "it must be above 0 and at most 1")
    table = as_table(data)
    names = tuple(table.features if columns is None else columns)
    counting, weights = counted(table.weights, table.n_rows)
    drawn = draw_rows(len(counting), sample, seed=seed)
    rows, shares = counting[drawn], None if table.weights is None else weights[drawn]
    compared = [comparable(table.column(name).take(rows), shares) for name in names]
    with progress("comparing columns", total=len(names)) as step:
        matrix = all_strengths(compared, step=step)
    groups = _groups(names, matrix, min_strength)
    return Association(names, matrix, groups, min_strength, len(rows), table.weights is not None)


def _groups(
    names: Sequence[str], matrix: Floats, min_strength: float
) -> tuple[tuple[str, ...], ...]:
    """Return the connected parts of more than one column, that of the strongest pair first."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    joined = (matrix >= min_strength) & ~np.eye(len(names), dtype=bool)
    if not joined.any():
        return ()
    _, labels = connected_components(csr_array(joined), directed=False)
    parts = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    parts = [part for part in parts if len(part) > 1]
    off_diagonal = np.where(np.eye(len(names), dtype=bool), 0, matrix)
    parts.sort(key=lambda part: -float(off_diagonal[np.ix_(part, part)].max()))
    return tuple(tuple(names[int(k)] for k in part) for part in parts)
