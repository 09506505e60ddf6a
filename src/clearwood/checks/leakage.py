"""Leakage: single columns that predict the target suspiciously well."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold
from sklearn.tree import DecisionTreeRegressor

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import count, percent
from clearwood._shared.progress import progress
from clearwood._shared.results import Result, html_table
from clearwood._shared.weights import counted, effective
from clearwood.checks.beyond import leaks_beyond
from clearwood.checks.column_pairs import have_one_order, is_ordered
from clearwood.checks.leak import Leak, Sign, Suspect
from clearwood.checks.left_over import indicators
from clearwood.checks.pure_rows import FEWEST_OF_A_LEVEL, pure_rows, valued
from clearwood.losses import LOSSES
from clearwood.table import Column, Kind, Table, Task, as_table

__all__ = ["Leak", "Leakage", "leakage"]

#: A column that explains more than this by itself is taken for the target in another form.
COPY = 0.98
#: Shares explained and AUC that honest columns rarely reach by themselves, and what the lower end
#: of their interval has to reach.
STRONG, STRONG_LOW = 0.65, 0.55
STRONG_AUC, STRONG_AUC_LOW = 0.95, 0.9
#: The share that missingness by itself may explain, and the lower end of its interval.
MISSING, MISSING_LOW = 0.3, 0.2
#: A column is the exposure in another form from this rank correlation on.
SAME_AS_EXPOSURE = 0.98
#: A column explains most of what a model explains from this share on, and if it is not little.
MOST, NOT_LITTLE = 0.9, 0.55

_MOST_ROWS, _MOST_FOR_LEVELS = 3000, 20_000
#: Columns with fewer values are other than the exposure, even if they go with it.
_FEWEST_EXPOSURES = 3
#: Targets with fewer values are put in one order by honest columns too.
_FEWEST_VALUES = 20
_FOLDS = 3
_FEWEST_ROWS = 12
#: Leaves of the trees, and the fewest rows of one.
_TREES = ((12, 5), (32, 2))
_Z = 1.645


@dataclass(frozen=True, eq=False, repr=False)
class Leakage(Result):
    """How well each column predicts the target by itself on held-out rows.

    Computed by `clearwood.checks.leakage`.

    Parameters
    ----------
    target
        What is predicted.
    columns
        The features.
    explained
        For each, one minus the squared error of a small tree on this column over that of the mean
        (for classes: of their indicators). It is at most 1, and below 0 where the tree is worse
        than the mean.
    skill
        The same in the loss of the task: log loss for classes, Poisson deviance for counts.
    auc
        For each, the area under the ROC curve; NaN unless there are two classes.
    leaks
        What looks like leakage: a column may be there more than once.
    n_rows
        How many rows were used for the trees.
    is_weighted
        Whether rows count by their weight.
    n_zero_weight
        How many rows have the weight 0 and do not count.
    replaced
        Columns that explain much by themselves, which the other columns together tell as well.
    """

    target: str
    columns: tuple[str, ...]
    explained: Floats
    skill: Floats
    auc: Floats
    leaks: tuple[Leak, ...]
    n_rows: int
    is_weighted: bool = False
    n_zero_weight: int = 0
    replaced: tuple[str, ...] = ()

    _derived = ("suspects",)

    @property
    def suspects(self) -> tuple[str, ...]:
        """Columns that may leak the target, the one that explains most first."""
        seen = {leak.column for leak in self.leaks}
        return tuple(self.columns[k] for k in self._order if self.columns[k] in seen)

    def most_of(self, skill: float) -> tuple[str, ...]:
        """Return columns that explain by themselves most of what a model explains.

        Those whose part other columns can take are left out.

        Parameters
        ----------
        skill
            The share of the baseline's risk that the model removes on unseen rows, in the loss of
            the task.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> x, y = rng.normal(size=(2, 400))
        >>> import clearwood as cw
        >>> data = cw.read({"x": x, "noise": rng.normal(size=400), "y": 1.5 * x + y}, target="y")
        >>> leakage(data).most_of(0.65), leakage(data).most_of(0.9)
        (('x',), ())
        """
        least = max(MOST * skill, NOT_LITTLE)
        return tuple(
            self.columns[k]
            for k in self._order
            if self.skill[k] >= least and self.columns[k] not in self.replaced
        )

    @property
    def _order(self) -> Index:
        return np.argsort(-self.explained, kind="stable")

    def __getitem__(self, column: str) -> float:
        return float(self.explained[self.columns.index(column)])

    def __repr__(self) -> str:
        best = ", ".join(f"{self.columns[k]} {percent(self.explained[k])}" for k in self._order[:6])
        rows = f"{'weighted, ' if self.is_weighted else ''}{count(self.n_rows, 'row')}"
        head = f"Leakage, share of {self.target!r} explained by single columns ({rows}): {best}"
        return "\n".join([head, *(f"  {leak}" for leak in self.leaks)])

    def _repr_html_(self) -> str:
        rows = [(self.columns[k], percent(self.explained[k])) for k in self._order[:30]]
        caption = f"Share of {self.target} explained by single columns"
        return html_table(
            caption, ("column", "explained"), rows, [str(leak) for leak in self.leaks]
        )

    def _columns(self) -> Mapping[str, Any]:
        """Return one row per column, the one that explains most first."""
        order = self._order
        return {
            "column": [self.columns[k] for k in order],
            "explained": self.explained[order],
            "skill": self.skill[order],
            "auc": self.auc[order],
        }

    def plot(self, **options: Any) -> Any:
        """Draw how much of the target each column explains alone (Altair)."""
        from clearwood.plot import plot_leakage

        return plot_leakage(self, **options)


def leakage(
    data: Any, *, columns: Sequence[str] | None = None, sample: int = _MOST_ROWS, seed: int = 0
) -> Leakage:
    """Compute how well each column predicts the target by itself, to find leakage.

    A column that predicts the target almost perfectly by itself often contains the answer: it was
    filled in afterwards, or is the target in another form. A model that relies on it is worthless
    where the answer is not known yet. So it is with a value that nearly all rows of one outcome
    have, and with a column that is missing until the outcome is known. Whether a suspect is a leak
    depends on how and when the column was recorded, which the data cannot show: honest columns can
    be as strong. Most honest ones measure what other columns measure as well, though: a column, or
    its nearly pure rows, is named only if forests of the other columns predict much worse.

    Parameters
    ----------
    data
        A table with a target; its weights and groups are respected.
    columns
        The columns to look at; the features when None.
    sample
        The most rows used for the trees.
    seed
        Fixes the draw of rows and the folds.

    Returns
    -------
    Leakage

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=400)
    >>> data = {"y": y, "copy": 3 * y + 1, "noise": rng.normal(size=400)}
    >>> import clearwood as cw
    >>> leakage(cw.read(data, target="y")).suspects
    ('copy',)
    """
    table = as_table(data)
    if table.target is None:
        raise InputError(
            "the table has no target",
            parameter="target",
            hint=words("name the column to predict: ", Option("target", "COLUMN"), "."),
        )
    counting, weights = counted(table.weights, table.n_rows)
    if len(counting) < _FEWEST_ROWS:
        raise InputError(
            f"the table has {count(len(counting), 'row')}; at least {_FEWEST_ROWS} are needed",
            parameter="data",
            value=len(counting),
        )
    names = table.features if columns is None else tuple(columns)
    drawn = draw_rows(len(counting), sample, seed=seed)
    judge = _Judge(table, counting[drawn], weights[drawn], seed)
    leaks: list[Leak] = []
    measured: list[_Measured] = []
    with progress("one column at a time", total=len(names)) as step:
        for name in names:
            column = table.column(name).take(judge.rows)
            one = judge(_along_an_axis(column), valued(column)[1])
            measured.append(one)
            leaks += _of_column(name, table.target, one, in_order=judge.has_order_of(column))
            gaps = column.missing
            if FEWEST_OF_A_LEVEL <= gaps.sum() <= len(gaps) - FEWEST_OF_A_LEVEL:
                leaks += _of_missingness(name, table.target, judge(None, gaps.astype(np.intp)))
            step(1, note=name)
    looked = draw_rows(len(counting), _MOST_FOR_LEVELS, seed=seed)
    seen = {leak.column for leak in leaks if leak.kind != "missing"}
    others = [name for name in names if name not in seen]
    suspects = [Suspect(leak) for leak in leaks if leak.kind == "strong"]
    strong = {one.leak.column for one in suspects}
    found = pure_rows(table, others, counting[looked], weights[looked])
    # of these it is only asked whether other columns tell the same
    much = [
        Suspect(Leak(column=name, target=table.target, kind="strong", explained=one.explained))
        for name, one in zip(names, measured, strict=True)
        if one.skill >= NOT_LITTLE and name not in seen
    ]
    skill = {name: one.explained for name, one in zip(names, measured, strict=True)}
    copies = [leak.column for leak in leaks if leak.kind == "copy"]
    beyond = leaks_beyond(table, counting[looked], [*suspects, *found, *much], copies, skill, seed)
    leaks = [leak for leak in leaks if leak.kind != "strong"]
    leaks += [leak for leak in beyond if leak.kind != "strong" or leak.column in strong]
    alone = {leak.column for leak in beyond if leak.kind == "strong"}
    replaced = {one.leak.column for one in [*suspects, *much]} - alone
    leaks += _forms_of_the_exposure(table, names, counting)
    return Leakage(
        table.target,
        tuple(names),
        np.array([one.explained for one in measured]),
        np.array([one.skill for one in measured]),
        np.array([one.auc for one in measured]),
        tuple(leaks),
        len(judge.rows),
        table.weights is not None,
        table.n_rows - len(counting),
        tuple(name for name in names if name in replaced),
    )


def _of_column(name: str, target: str, one: "_Measured", *, in_order: bool) -> Iterator[Leak]:
    is_strong = (one.explained >= STRONG and one.low >= STRONG_LOW) or (
        one.auc >= STRONG_AUC and one.auc_low >= STRONG_AUC_LOW
    )
    # few rows explain less of a copy than there is to explain, and its order is the target's
    is_copy = one.explained > COPY or in_order
    if is_copy or is_strong:
        kind: Sign = "copy" if is_copy else "strong"
        yield Leak(column=name, target=target, kind=kind, explained=one.explained, auc=one.auc)


def _of_missingness(name: str, target: str, one: "_Measured") -> Iterator[Leak]:
    if one.explained >= MISSING and one.low >= MISSING_LOW:
        yield Leak(column=name, target=target, kind="missing", explained=one.explained, auc=one.auc)


@dataclass(frozen=True)
class _Measured:
    """How well predictions from one column do, with the lower ends of 90 % intervals."""

    explained: float
    low: float
    skill: float
    auc: float
    auc_low: float


class _Judge:
    """Predicts the target from one column at a time, on held-out rows."""

    def __init__(self, table: Table, rows: Index, weights: Floats, seed: int) -> None:
        self.rows, self.weights, self.task = rows, weights, table.task
        self.target = table.target_column.take(rows)
        self.truth = indicators(self.target)
        self.units: Index = np.arange(len(rows))
        self.splits = list(KFold(_FOLDS, shuffle=True, random_state=seed).split(self.truth))
        if table.groups is not None:
            self.units = np.unique(table.groups[rows], return_inverse=True)[1].astype(np.intp)
            if self.units.max() + 1 >= _FOLDS:
                folds = GroupKFold(_FOLDS, shuffle=True, random_state=seed)
                self.splits = list(folds.split(self.truth, groups=self.units))

    def has_order_of(self, column: Column) -> bool:
        """Whether a column of numbers rises or falls with a target of many numbers."""
        target = self.target
        is_number = self.task is not None and not self.task.is_classification
        if not (is_number and is_ordered(column) and is_ordered(target)):
            return False
        known = target.values[~target.missing]
        return len(np.unique(known)) >= _FEWEST_VALUES and have_one_order(column, target)

    def __call__(self, numbers: Floats | None, levels: Index) -> _Measured:
        """Predict by the better of two small trees along an axis, or by the mean of each level."""
        if numbers is None:
            return self._by_levels(lambda _: levels)
        # few leaves for a noisy signal, many for a copy of the target
        trees = (
            self._by_levels(partial(self._leaves, numbers, leaves, least))
            for leaves, least in _TREES
        )
        return max(trees, key=lambda one: one.explained)

    def _leaves(self, numbers: Floats, leaves: int, least: int, train: Index) -> Index:
        """Return the leaf of each row in a tree grown on some of them."""
        tree = DecisionTreeRegressor(max_leaf_nodes=leaves, min_samples_leaf=least)
        tree.fit(numbers[train, None], self.truth[train], sample_weight=self.weights[train])
        return np.asarray(tree.apply(numbers[:, None]), np.intp)

    def _by_levels(self, levels_of: Callable[[Index], Index]) -> _Measured:
        """Predict the mean of each level, which may depend on the rows trained on."""
        predicted, flat = np.empty_like(self.truth), np.empty_like(self.truth)
        for train, test in self.splits:
            truth, weights = self.truth[train], self.weights[train]
            mean = np.average(truth, axis=0, weights=weights)
            codes = levels_of(train)
            size = int(codes.max()) + 1
            total = np.bincount(codes[train], weights, size)
            sums = [np.bincount(codes[train], weights * t, size) for t in truth.T]
            # the overall mean counts as one more observation, which shrinks means of rare levels
            more = weights.sum() / effective(weights, self.units[train])
            means = (np.column_stack(sums) + more * mean) / (total[:, None] + more)
            predicted[test], flat[test] = means[codes[test]], mean
        return self._measured(predicted, flat)

    def _measured(self, predicted: Floats, flat: Floats) -> _Measured:
        error, spread = (((self.truth - values) ** 2).sum(axis=1) for values in (predicted, flat))
        total = float(self.weights @ spread)
        if total <= 0:
            return _Measured(0.0, 0.0, 0.0, np.nan, np.nan)
        explained = 1 - float(self.weights @ error) / total
        left = np.bincount(self.units, self.weights * (error - (1 - explained) * spread))
        se = float(np.sqrt((left**2).sum())) / total
        auc = auc_low = np.nan
        if self.task is Task.BINARY and len(np.unique(member := self.truth[:, -1] == 1)) == 2:
            auc = float(roc_auc_score(member, predicted[:, -1], sample_weight=self.weights))
            auc_low = auc - _Z * _auc_error(auc, *self._sizes(member))
        skill = 1 - self._risk(predicted) / self._risk(flat)
        return _Measured(explained, explained - _Z * se, skill, auc, auc_low)

    def _sizes(self, member: Bools) -> tuple[float, float]:
        return tuple(effective(self.weights[own], self.units[own]) for own in (member, ~member))  # type: ignore[return-value]

    def _risk(self, predicted: Floats) -> float:
        """Return the mean loss: log loss for classes, Poisson deviance for numbers of events."""
        if self.task in (Task.BINARY, Task.MULTICLASS):
            losses = LOSSES["log"].per_row(self.truth.argmax(axis=1), predicted)
        else:
            loss = LOSSES["poisson" if self.task in (Task.COUNT, Task.AMOUNT) else "squared"]
            losses = loss.per_row(self.truth[:, 0], predicted[:, 0])
        return float(np.average(losses, weights=self.weights)) or np.nan


def _auc_error(auc: float, members: float, others: float) -> float:
    """Return the standard error of an area under the ROC curve (Hanley and McNeil 1982)."""
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (members - 1) * (first - auc**2) + (others - 1) * (second - auc**2)
    return float(np.sqrt(max(variance, 0.0) / (members * others)))


def _along_an_axis(column: Column) -> Floats | None:
    """Return numbers and dates as numbers; None for levels."""
    if column.kind is Kind.TEXT or column.is_coded:
        return None
    if column.kind is Kind.DATE:
        times = column.values.astype("datetime64[us]").astype(np.float64)
        return np.where(column.missing, np.nan, times)
    return np.asarray(column.values, np.float64)


def _forms_of_the_exposure(table: Table, names: Sequence[str], counting: Index) -> Iterator[Leak]:
    """Yield numbers that rise or fall with the exposure, as its logarithm does."""
    if table.exposures is None or table.target is None:
        return
    exposures = table.exposures[counting]
    for name in names:
        numbers = _along_an_axis(table.column(name).take(counting))
        known = np.zeros(len(counting), bool) if numbers is None else ~np.isnan(numbers)
        if numbers is None or known.sum() < _FEWEST_ROWS:
            continue
        if (
            min(len(np.unique(values[known])) for values in (numbers, exposures))
            < _FEWEST_EXPOSURES
        ):
            continue
        correlation = float(stats.spearmanr(numbers[known], exposures[known]).statistic)
        if abs(correlation) >= SAME_AS_EXPOSURE:
            yield Leak(column=name, target=table.target, kind="exposure", explained=correlation)
