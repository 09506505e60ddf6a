"""How often each column is chosen over folds, halves or bootstrap samples of the rows."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.checks import check_seed, check_whole
from clearwood._shared.choices import Resampled
from clearwood._shared.errors import (
    Call,
    ClearwoodWarning,
    InputError,
    words,
)
from clearwood._shared.numbers import count, number, percent
from clearwood._shared.progress import progress
from clearwood._shared.results import Result, html_table
from clearwood.benchmarking.fitting.fits import Candidate, candidate
from clearwood.benchmarking.fitting.workers import Workers
from clearwood.benchmarking.options import check_choices
from clearwood.models import Learner, chooses_columns, chosen_columns
from clearwood.resampling import Bootstrap, MonteCarlo
from clearwood.table import Table, read_as

__all__ = ["SelectionFrequency", "inclusion", "selection_frequency"]

_SHOWN = 20
#: One of the draws, several of them, and the heading of a column that counts them.
_DRAWS: dict[str, tuple[str, str, str]] = {
    "folds": ("fold", "folds", "folds"),
    "half": ("half of the rows", "halves of the rows", "halves"),
    "bootstrap": ("bootstrap sample", "bootstrap samples", "samples"),
}
#: What shares do not show.
_MISLEADING = {
    "half": "a half has fewer rows, so a weak column is chosen less often than from all of them",
    "bootstrap": "rows that are drawn twice look like more evidence, so a column of noise is "
    "chosen more often than on new data",
}


@dataclass(frozen=True, eq=False, repr=False)
class SelectionFrequency(Result):
    """How often a learner chose each column, over folds or other draws of the rows.

    Returned by `Benchmark.selection`, for the outer folds, and by `inclusion`, for halves or
    bootstrap samples of the rows. Each draw chose from its own rows. A column that only some
    draws choose may be as good as one that all choose: of two columns that say the same, chance
    decides between them.

    Parameters
    ----------
    learner
        Its name.
    method
        How it selects, such as "anova:10"; empty for a learner with its usual settings.
    columns
        The features, the most frequently chosen first.
    counts
        In how many draws each was chosen.
    sizes
        How many columns each draw chose.
    resampled
        What the draws are: "folds", "half" or "bootstrap".
    from_all
        The columns chosen from all rows; None where they are not known.
    same
        How many draws chose exactly these; None where they are not known.
    seed
        What fixed the draws; None for folds.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> ridge = cw.learner("ridge", select="anova:3")
    >>> bench = cw.benchmark(data, ridge, tune=0, repeats=1, interval="naive")
    >>> chosen = bench.selection("ridge")
    >>> chosen.columns[:3], chosen.counts[:3].tolist(), chosen.draws
    (('bmi', 's5', 'bp'), [5, 5, 4], 5)
    """

    learner: str
    method: str
    columns: tuple[str, ...]
    counts: Index
    sizes: tuple[int, ...]
    resampled: Literal["folds"] | Resampled = "folds"
    from_all: tuple[str, ...] | None = None
    same: int | None = None
    seed: int | None = None
    _derived: ClassVar[tuple[str, ...]] = ("draws", "stability")

    @property
    def draws(self) -> int:
        """How many folds, halves or samples there are."""
        return len(self.sizes)

    @property
    def mean_size(self) -> float:
        """How many columns a draw chose on average."""
        return float(np.mean(self.sizes))

    @property
    def shares(self) -> Floats:
        """The share of the draws in which each column was chosen."""
        return np.asarray(self.counts / max(1, self.draws))

    @property
    def stability(self) -> float:
        """How much the draws agree: 1 if all chose the same, about 0 if chance chose.

        The measure of Nogueira, Sechidis and Brown (2018). NaN for a single draw, and where all
        columns or none were chosen. Draws share rows, so that it is too optimistic for new data.
        """
        share = self.mean_size / len(self.columns)
        if self.draws < 2 or not 0 < share < 1:
            return float("nan")
        spread = self.draws / (self.draws - 1) * self.shares * (1 - self.shares)
        return 1 - float(spread.mean()) / (share * (1 - share))

    @property
    def draws_name(self) -> str:
        """What the draws are called: "folds", "halves" or "samples"."""
        return _DRAWS[self.resampled][2]

    @property
    def chosen(self) -> tuple[tuple[str, int], ...]:
        """The columns that were chosen at least once, with in how many draws."""
        pairs = zip(self.columns, self.counts.tolist(), strict=True)
        return tuple((name, times) for name, times in pairs if times)

    @property
    def headline(self) -> str:
        """What was chosen on average, and how much the draws agree, in a sentence."""
        one, several, short = _DRAWS[self.resampled]
        size = number(self.mean_size)
        agree = number(self.stability)
        agree = "" if np.isnan(self.stability) else f"; agreement of {short} {agree}"
        by = f" with {self.method}" if self.method else ""
        return (
            f"{self.learner}{by}: {size} of {count(len(self.columns), 'column')} "
            f"selected on average over {count(self.draws, one, several)}{agree}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the marks mean, and what the shares do not show."""
        notes = [] if self.resampled == "folds" else [_MISLEADING[self.resampled]]
        if self.from_all is not None and self.same is not None:
            marked = (
                "* chosen from all rows" if self.from_all else "no column is chosen from all rows"
            )
            times = f"{self.same:,} of {self.draws:,} {self.draws_name}"
            notes.insert(0, f"{marked}; exactly this choice in {times}; seed {self.seed}")
        return tuple(notes)

    def _columns(self) -> dict[str, Any]:
        """Return one row per column, the most frequently chosen first."""
        lines = {"column": list(self.columns), self.draws_name: self.counts, "share": self.shares}
        if self.from_all is not None:
            lines["from_all"] = [name in self.from_all for name in self.columns]
        return lines

    def _rows(self) -> list[tuple[str, str, str, str]]:
        shares = self.shares[: len(self.chosen)]
        pairs = zip(self.chosen, shares, strict=True)
        marked = self.from_all or ()
        return [
            (name, str(times), percent(share), "*" if name in marked else "")
            for (name, times), share in pairs
        ][:_SHOWN]

    def __repr__(self) -> str:
        rows = self._rows()
        width = max((len(name) for name, *_ in rows), default=0)
        lines = [
            f"  {name:<{width}}  {times:>4}  {share:>6} {mark}".rstrip()
            for name, times, share, mark in rows
        ]
        if len(self.chosen) > _SHOWN:
            lines.append(f"  and {count(len(self.chosen) - _SHOWN, 'more column')}")
        return "\n".join([self.headline, *lines, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        headings = ("column", self.draws_name, "share", "")
        return html_table(self.headline, headings, self._rows(), self.notes)

    def plot(self, **options: Any) -> Any:
        """Draw the share of draws in which each column was chosen (Altair)."""
        from clearwood.plot import plot_selection_frequency

        return plot_selection_frequency(self, **options)


def selection_frequency(
    learner: str, method: str, features: Sequence[str], chosen: Sequence[Sequence[str]]
) -> SelectionFrequency:
    """Count the columns that folds or other draws have chosen."""
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


def inclusion(
    model: Learner | str,
    data: Any,
    *,
    draws: int = 100,
    resampled: Resampled = "half",
    seed: int = 0,
    n_jobs: int | None = 1,
) -> SelectionFrequency:
    """Compute how often a learner chooses each column when its rows are resampled.

    The learner is fitted to each draw, with everything that its choice depends on: the search of
    "subset", the zeros of "lasso", the columns of ``select=``. A share near 1 shows a choice that
    does not hang on a few rows. It is not the probability that the column has an effect: a column
    that stands in for another one is chosen just as surely.

    Parameters
    ----------
    model
        A learner that chooses columns, fitted or not, or its name: "subset", "stagewise", "lasso",
        "elastic-net", "lars", "omp", "logistic" with an l1 penalty, or any one with ``select=``.
    data
        The rows to draw from: a table with the target, or, for a fitted learner, anything that can
        be read as one.
    draws
        How many. The standard error of a share p is the root of p (1 - p) / draws.
    resampled
        "half": each draw has half of the rows, without repeats, as in stability selection
        (Meinshausen and Bühlmann 2010). "bootstrap": as many rows as there are, with repeats. A
        criterion such as BIC takes a repeated row for a new one, so bootstrap samples choose
        columns of noise more often than new data would.
    seed
        Fixes the draws.
    n_jobs
        Processes to use.

    Returns
    -------
    SelectionFrequency
        With the choice from all rows, and how many draws repeat it.

    Notes
    -----
    Rows of a group are drawn together, and every class keeps its share.

    Examples
    --------
    >>> import clearwood as cw
    >>> shares = cw.benchmarking.inclusion("subset", cw.datasets.load("diabetes"), draws=50)
    >>> shares.columns[:4], shares.shares[:4].round(1).tolist()
    (('bmi', 's5', 'bp', 'sex'), [1.0, 1.0, 0.9, 0.6])
    >>> shares.from_all
    ('sex', 'bmi', 'bp', 's3', 's5')
    """
    check_choices(resampled=(resampled, Resampled))
    check_whole("draws", draws, 2)
    check_seed(seed)
    learner: Any = Learner(model) if isinstance(model, str) else model
    if not isinstance(learner, Learner) or not chooses_columns(learner):
        name = getattr(learner, "name", type(learner).__name__)
        raise InputError(
            f"{name!r} uses all columns that it is given, so there is no choice to repeat",
            parameter="model",
            value=name,
            hint=words(
                "use 'subset' or 'lasso', or have it choose: ",
                Call("learner", (repr(name),), {"select": "anova:10"}),
                ".",
            ),
        )
    if not isinstance(data, Table) and hasattr(learner, "schema_"):
        data = read_as(data, learner.schema_)
    one = candidate(learner, data, seed=seed)
    table = one.table
    assert table.task is not None
    plan = MonteCarlo(int(draws), 0.5) if resampled == "half" else Bootstrap(int(draws))
    classes = table.y if table.task.is_classification else None
    if classes is not None and table.groups is None:
        _check_classes(classes)
    splits = plan.splits(table.n_rows, y=classes, groups=table.groups, seed=int(seed))
    batch = max(1, len(splits) // 20)
    chosen: list[tuple[str, ...]] = []
    title = f"choosing columns from {_DRAWS[resampled][1]}"
    with progress(title, total=len(splits)) as step, Workers(n_jobs).spread() as spread:
        for start in range(0, len(splits), batch):
            part = [(one, split.train) for split in splits[start : start + batch]]
            chosen += spread(_choice, part)
            step(len(part))
        from_all = chosen_columns(clone(learner).fit(table))
    counted = selection_frequency(learner.name, _method(learner), table.features, chosen)
    return replace(
        counted,
        resampled=resampled,
        from_all=from_all,
        same=sum(names == from_all for names in chosen),
        seed=int(seed),
    )


def _check_classes(classes: NDArray[Any]) -> None:
    labels, counts = np.unique(classes, return_counts=True)
    if counts.min() < 2:
        label = str(labels[counts.argmin()])
        raise InputError(
            f"class {label!r} has a single row, which some draws would not have",
            parameter="data",
            value=label,
            hint="leave that class out, or merge it with another.",
        )


def _choice(one: Candidate, rows: Index) -> tuple[str, ...]:
    """Return the columns that a learner chooses from some rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClearwoodWarning)  # sizes show the draws without a column
        return chosen_columns(one.fit(rows))


def _method(learner: Learner) -> str:
    """Return how a learner selects, or else what it is set to."""
    if learner.select is not None:
        return learner.select
    return ", ".join(f"{key}={value}" for key, value in (learner.settings or {}).items())
