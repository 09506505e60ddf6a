"""Profiles of columns: counts, missing values and distribution."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.results import Result
from clearwood.table.column import Column
from clearwood.table.summary import describe_values
from clearwood.table.types import Kind

__all__ = ["Profile", "profile"]

_MOST_LEVELS = 12


@dataclass(frozen=True, eq=False)
class Profile(Result):
    """The distribution of one column.

    Computed by `clearwood.table.profile`.

    Parameters
    ----------
    name, kind
        The column.
    n_rows, n_missing, n_distinct
        Rows, rows without a value, and different values. With weights, rows of weight 0 are in
        none of them.
    values
        The range or the first levels, as text.
    edges
        For numbers and dates: the ends of the bins, one more than counts.
    levels
        For categories and text: the most frequent ones, the last being "(others)" where some are
        left out.
    counts
        Rows in each bin or level; missing values are in none.
    weights
        With row weights: the weight of each bin or level, and in `total_weight` and
        `missing_weight` that of all rows and of the rows without a value.
    n_zero
        Rows of weight 0, which are left out.
    """

    name: str
    kind: Kind
    n_rows: int
    n_missing: int
    n_distinct: int
    values: str
    counts: NDArray[np.int64]
    edges: NDArray[Any] | None = None
    levels: tuple[str, ...] = ()
    weights: Floats | None = None
    total_weight: float = 0.0
    missing_weight: float = 0.0
    n_zero: int = 0

    @property
    def is_weighted(self) -> bool:
        """Whether rows count by their weights."""
        return self.weights is not None

    @property
    def shares(self) -> Floats:
        """The share of all rows, weighted where there are weights, in each bin or level."""
        if self.weights is not None:
            return self.weights / self.total_weight
        return self.counts / max(self.n_rows, 1)

    @property
    def missing_share(self) -> float:
        """The share of the rows without a value, weighted where there are weights."""
        if self.weights is not None:
            return self.missing_weight / self.total_weight
        return self.n_missing / max(self.n_rows, 1)

    def plot(self, **options: Any) -> Any:
        """Draw a histogram, or bars by level (Altair)."""
        from clearwood.plot import plot_profile

        return plot_profile(self, **options)


def profile(
    column: Column,
    *,
    bins: int = 20,
    levels: int = _MOST_LEVELS,
    weights: Floats | None = None,
) -> Profile:
    """Describe a column.

    Parameters
    ----------
    column
        Of a table.
    bins
        How many bins of equal width numbers and dates are counted in.
    levels
        How many levels are counted on their own.
    weights
        Row weights: a row of weight 2 counts as two.

    Examples
    --------
    >>> age = profile(Column("age", Kind.WHOLE, np.array([18.0, 30, 30, 42, np.nan])), bins=2)
    >>> age.n_missing, age.n_distinct, age.counts.tolist(), age.edges.tolist()
    (1, 3, [1, 3], [18.0, 30.0, 42.0])
    >>> profile(Column("doors", Kind.WHOLE, np.array([2.0, 4, 4, 5]))).counts.tolist()
    [1, 0, 2, 1]
    """
    n_zero = 0
    if weights is not None:
        n_zero = int((weights <= 0).sum())
        column, weights = column.take(weights > 0), weights[weights > 0]
    known = ~column.missing
    present = column.values[known]
    share = None if weights is None else weights[known]
    described: dict[str, Any] = {
        "name": column.name,
        "kind": column.kind,
        "n_rows": len(column),
        "n_missing": len(column) - len(present),
        "values": describe_values(column),
        "n_zero": n_zero,
    }
    if weights is not None and share is not None:
        described["total_weight"] = float(weights.sum())
        described["missing_weight"] = float(weights.sum() - share.sum())
    if column.is_coded or column.kind is Kind.TEXT:
        labels = np.array(column.levels, dtype=object)[present] if column.is_coded else present
        distinct, where, counts = np.unique(
            labels.astype(str), return_inverse=True, return_counts=True
        )
        weighted = counts if share is None else np.bincount(where, share, len(distinct))
        order = np.argsort(-weighted, kind="stable")
        if column.kind is Kind.ORDERED and len(distinct) <= levels:
            place = {level: k for k, level in enumerate(column.levels)}
            order = np.array(
                sorted(range(len(distinct)), key=lambda k: place[str(distinct[k])]), np.intp
            )
        shown = order[: levels if len(distinct) <= levels else levels - 1]
        rest = np.setdiff1d(np.arange(len(distinct)), shown)
        groups = [*(shown[[i]] for i in range(len(shown))), *([rest] if len(rest) else [])]
        return Profile(
            **described,
            n_distinct=len(distinct),
            counts=np.array([counts[group].sum() for group in groups], np.int64),
            weights=None if share is None else np.array([weighted[g].sum() for g in groups]),
            levels=(*(str(distinct[k]) for k in shown), *(["(others)"] if len(rest) else [])),
        )
    dates = column.kind is Kind.DATE
    numbers = present.astype("datetime64[us]").astype(np.float64) if dates else present
    places = np.unique(numbers)
    described["n_distinct"] = len(places)
    if not len(places):
        return Profile(**described, counts=np.zeros(0, np.int64), edges=present[:0], weights=share)
    counts, edges = np.histogram(numbers, _ends(places, bins))
    return Profile(
        **described,
        counts=counts.astype(np.int64),
        weights=None if share is None else np.histogram(numbers, edges, weights=share)[0],
        edges=edges.astype(np.int64).astype("datetime64[us]") if dates else edges,
    )


def _ends(distinct: Floats, bins: int) -> Floats:
    low, high = float(distinct[0]), float(distinct[-1])
    span = high - low
    if span < 2 * bins and (distinct == np.round(distinct)).all():
        # few whole numbers: a bin for each, centred on it
        return np.arange(low - 0.5, high + 1.0)
    if not np.isfinite(span) or span <= abs(low) * 1e-12:
        return np.array([low - 0.5, high + 0.5]) if low == high else np.array([low, high])
    return np.linspace(low, high, bins + 1)
