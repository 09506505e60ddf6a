"""How often each column was chosen over the folds, by learners that select columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.numbers import count, number, percent
from clearwood._shared.results import Result, html_table

__all__ = ["SelectionFrequency", "selection_frequency"]

_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class SelectionFrequency(Result):
    """How often a learner chose each column, over the outer folds of a benchmark.

    Returned by `Benchmark.selection`. Each fold chose from its own training rows. A column that
    only some folds choose may be as good as one that all choose: of two columns that say the same,
    chance decides between them.

    Parameters
    ----------
    learner
        Its name.
    method
        How it selects, such as "anova:10".
    columns
        The features, the most frequently chosen first.
    counts
        In how many folds each was chosen.
    sizes
        How many columns each fold chose.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> ridge = cw.learner("ridge", select="anova:3")
    >>> bench = cw.benchmark(data, ridge, tune=0, repeats=1, interval="naive")
    >>> chosen = bench.selection("ridge")
    >>> chosen.columns[:3], chosen.counts[:3].tolist(), chosen.folds
    (('bmi', 's5', 'bp'), [5, 5, 4], 5)
    """

    learner: str
    method: str
    columns: tuple[str, ...]
    counts: Index
    sizes: tuple[int, ...]
    _derived: ClassVar[tuple[str, ...]] = ("folds", "stability")

    @property
    def folds(self) -> int:
        """How many folds there are."""
        return len(self.sizes)

    @property
    def mean_size(self) -> float:
        """How many columns a fold chose on average."""
        return float(np.mean(self.sizes))

    @property
    def shares(self) -> Floats:
        """The share of the folds in which each column was chosen."""
        return np.asarray(self.counts / max(1, self.folds))

    @property
    def stability(self) -> float:
        """How much the folds agree: 1 if all chose the same, about 0 if chance chose.

        The measure of Nogueira, Sechidis and Brown (2018). NaN for a single fold, and where all
        columns or none were chosen. Folds share most of their rows, so that it is too optimistic
        for new data.
        """
        share = self.mean_size / len(self.columns)
        if self.folds < 2 or not 0 < share < 1:
            return float("nan")
        spread = self.folds / (self.folds - 1) * self.shares * (1 - self.shares)
        return 1 - float(spread.mean()) / (share * (1 - share))

    @property
    def chosen(self) -> tuple[tuple[str, int], ...]:
        """The columns that were chosen at least once, with in how many folds."""
        pairs = zip(self.columns, self.counts.tolist(), strict=True)
        return tuple((name, times) for name, times in pairs if times)

    @property
    def headline(self) -> str:
        """What was chosen on average, and how much the folds agree, in a sentence."""
        size = number(self.mean_size)
        agree = "" if np.isnan(self.stability) else f"; agreement of folds {number(self.stability)}"
        return (
            f"{self.learner} with {self.method}: {size} of {count(len(self.columns), 'column')} "
            f"selected on average over {count(self.folds, 'fold')}{agree}"
        )

    def _columns(self) -> dict[str, Any]:
        """Return one row per column, the most frequently chosen first."""
        return {"column": list(self.columns), "folds": self.counts, "share": self.shares}

    def _rows(self) -> list[tuple[str, str, str]]:
        shares = self.shares[: len(self.chosen)]
        pairs = zip(self.chosen, shares, strict=True)
        return [(name, str(times), percent(share)) for (name, times), share in pairs][:_SHOWN]

    def __repr__(self) -> str:
        rows = self._rows()
        width = max((len(name) for name, _, _ in rows), default=0)
        lines = [f"  {name:<{width}}  {times:>4}  {share:>6}" for name, times, share in rows]
        if len(self.chosen) > _SHOWN:
            lines.append(f"  and {count(len(self.chosen) - _SHOWN, 'more column')}")
        return "\n".join([self.headline, *lines])

    def _repr_html_(self) -> str:
        return html_table(self.headline, ("column", "folds", "share"), self._rows())

    def plot(self, **options: Any) -> Any:
        """Draw the share of folds in which each column was chosen (Altair)."""
        from clearwood.plot import plot_selection_frequency

        return plot_selection_frequency(self, **options)


def selection_frequency(
    learner: str, method: str, features: Sequence[str], chosen: Sequence[Sequence[str]]
) -> SelectionFrequency:
    """Count the columns that the folds have chosen."""
    times = dict.fromkeys(features, 0)
    for names in chosen:
        for name in names:
            times[name] += 1
    order = sorted(features, key=lambda name: -times[name])  # stable: else in the table's order
    return SelectionFrequency(
        learner,
        method,
        tuple(order),
        np.array([times[name] for name in order], np.intp),
        tuple(len(names) for names in chosen),
    )
