"""The interval that accounts for folds sharing their training rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clearwood._errors import InputError
from clearwood.benchmark._intervals import Interval, Mean, make_interval

__all__ = ["nested_interval"]

Array = NDArray[np.float64]
#: Something for every row of every fold of every repeat.
Folded = Sequence[Sequence[ArrayLike]]
Pairs = Sequence[Mapping[tuple[int, int], ArrayLike]]


def nested_interval(
    outer: Folded,
    pairs: Pairs,
    confidence: float = 0.9,
    *,
    rows: Folded | None = None,
    weights: Folded | None = None,
    groups: Folded | None = None,
) -> Interval:
    """The nested-cross-validation estimate and interval, after Bates, Hastie and Tibshirani (2024).

    It estimates the risk of the procedure fitted to all n rows of this very table, or the
    difference of two such risks. For a repeat with folds 1, ..., K, write out_k for the losses on
    fold k of the fit without k, and in_k for the losses on every other fold j of the fit without j
    and k: a cross-validation of the table without fold k. Averages over folds and repeats give

    - bias = 2 (K-1)/K × (mean of all in - mean of all out), what fits with two folds less are
      worse by, if risk falls towards its limit as 1 / rows;
    - estimate = mean of all in - bias;
    - mse = variance of (mean in_k - mean out_k) - mean of var(out_k) / n_k, the squared error of
      cross-validation on n (K-1)/K rows without its bias.

    That is the paper's, but for the square of the bias, which the paper leaves in the mse although
    the estimate is corrected for it. Four steps lead from there to the standard error; the page on
    intervals says why, and what each does to the coverage.

    1. *The accident of the folds is taken out of the mse.* If losses did not depend on the fit,
       the mse would have to be the naive variance. So each row's mean loss is put in the place of
       its losses, and what the mse then is too much or too little is subtracted: a single repeat
       does where there is nothing to correct for.
    2. *Carried to n rows as a ratio.* The mse is that of fits with 2 n/K rows less, which differ
       more. It is divided by the naive variance of these fits, and multiplied with that of the
       outer ones.
    3. *Repeats count.* The variance of the mean between repeats, which averaging removes, is
       subtracted, and the naive variance is that of each row's mean over the repeats.
    4. *The correction of the bias is an estimate too*: where the naive variance of the corrected
       losses is larger than that of the losses, it takes its place.

    The ratio to the naive variance is kept between 1 and K, those of independent and of identical
    folds.

    Parameters
    ----------
    outer
        For every repeat, for every fold, the losses of its rows under the fit without it.
    pairs
        For every repeat, (j, k) → losses of the rows of fold j under the fit without j and k.
    confidence
        The level.
    rows
        Which row each loss belongs to, in the same shape as `outer`; needed with several repeats,
        unless there are groups.
    weights
        Of the rows, in the same shape.
    groups
        What ties rows together, in the same shape; the folds must not cut through groups.

    Examples
    --------
    Losses that do not depend on the fit need no more than the naive interval:

    >>> rng = np.random.default_rng(0)
    >>> losses = rng.exponential(size=100)
    >>> outer = [np.split(losses, 5)]
    >>> pairs = [{(j, k): outer[0][j] for j in range(5) for k in range(5) if j != k}]
    >>> nested_interval(outer, pairs)
    Interval(1.181, 90 % nested from 0.9943 to 1.367)
    >>> from clearwood.benchmark import naive_interval
    >>> naive_interval(losses)
    Interval(1.181, 90 % naive from 0.9943 to 1.367)
    """
    repeats = _repeats(outer, pairs, rows, weights, groups)
    k, everyone = repeats[0].k, repeats[0].weights
    often = len(repeats)
    per_row = Mean(np.mean([repeat.outer for repeat in repeats], axis=0), everyone)
    inside = Mean(np.mean([repeat.inside_of_row for repeat in repeats], axis=0), everyone)
    bias = 2 * (k - 1) / k * (inside.mean - per_row.mean)
    # row by row what the estimate is the mean of
    corrected = Mean(per_row.losses - (k - 2) / k * (inside.losses - per_row.losses), everyone)

    squared = _squared_error([repeat.gaps for repeat in repeats], [r.noises for r in repeats])
    unmoved = [repeat.with_losses(per_row.losses) for repeat in repeats]
    accident = _squared_error([repeat.gaps for repeat in unmoved], [r.noises for r in unmoved])
    squared += float(np.mean([repeat.naive_inside for repeat in unmoved])) - accident
    naive_inside = float(np.mean([repeat.naive_inside for repeat in repeats]))
    naive_outer = float(np.mean([Mean(r.outer, everyone).variance for r in repeats]))
    removed = 0.0
    if often > 1:
        means = [Mean(repeat.outer, everyone).mean for repeat in repeats]
        removed = float(np.var(means, ddof=1)) * (1 - 1 / often)

    naive = per_row.variance
    ratio = 1.0
    if naive > 0 and naive_inside > 0:
        error = squared / naive_inside * naive_outer - removed
        ratio = float(np.clip(error / naive, 1.0, k))
    se = float(np.sqrt(ratio * max(naive, corrected.variance)))
    return make_interval(
        corrected.mean,
        se,
        "nested",
        per_row.n,
        confidence,
        degrees=None if groups is None else per_row.n - 1,
        inflation=se / float(np.sqrt(naive)) if naive > 0 else 1.0,
        bias=bias,
    )


def _squared_error(gaps: Sequence[Array], noises: Sequence[Array]) -> float:
    """Squared error of a cross-validation without its bias: see `nested_interval`."""
    return float(np.var(np.concatenate(gaps)) - np.mean(np.concatenate(noises)))


@dataclass(frozen=True, eq=False)
class _Repeat:
    """One repeat, by independent units: rows, or groups of them.

    Parameters
    ----------
    weights
        Total weight of each unit.
    fold
        The fold of each unit.
    outer
        Each unit's total of weight × loss under the fit without its fold.
    inside
        The same under the fits without its fold and without another one, one column each; zero in
        the column of its own fold.
    """

    weights: Array
    fold: NDArray[np.intp]
    outer: Array
    inside: Array

    @property
    def k(self) -> int:
        return int(self.inside.shape[1])

    @property
    def inside_of_row(self) -> Array:
        """Mean over the fits without another fold."""
        return np.asarray(self.inside.sum(axis=1) / (self.k - 1))

    @cached_property
    def _folds(self) -> list[Mean]:
        found = []
        for fold in range(self.k):
            own = self.fold == fold
            found.append(Mean(self.outer[own], self.weights[own]))
        return found

    @cached_property
    def _insides(self) -> list[Mean]:
        """For every fold, the cross-validation of the table without it."""
        found = []
        for fold in range(self.k):
            others = self.fold != fold
            found.append(Mean(self.inside[others, fold], self.weights[others]))
        return found

    @property
    def gaps(self) -> Array:
        """What was expected without seeing a fold, less what then came true on it."""
        pairs = zip(self._insides, self._folds, strict=True)
        return np.array([within.mean - without.mean for within, without in pairs])

    @property
    def noises(self) -> Array:
        """Variance of the mean of each fold, given its fit."""
        return np.array([fold.variance for fold in self._folds])

    @property
    def naive_inside(self) -> float:
        return float(np.mean([inside.variance for inside in self._insides]))

    def with_losses(self, losses: Array) -> "_Repeat":
        """The same folds, had every fit given these losses."""
        columns = np.where(self.fold[:, None] == np.arange(self.k), 0.0, losses[:, None])
        return _Repeat(self.weights, self.fold, losses, columns)


def _repeats(
    outer: Folded,
    pairs: Pairs,
    rows: Folded | None,
    weights: Folded | None,
    groups: Folded | None,
) -> list[_Repeat]:
    _check_shape(outer, pairs)
    units = _units(outer, rows, groups)
    count = int(max(labels.max() for labels in units)) + 1
    made = []
    for number, (folds, by_pair) in enumerate(zip(outer, pairs, strict=True)):
        of_row = units[number]
        sizes = [len(np.asarray(part)) for part in folds]
        share = np.ones(len(of_row))
        if weights is not None:
            share = np.concatenate([np.asarray(part, dtype=np.float64) for part in weights[number]])
        fold_of_row = np.repeat(np.arange(len(folds)), sizes)
        fold = np.zeros(count, dtype=np.intp)
        fold[of_row] = fold_of_row

        def total(losses: Array, of_row: NDArray[np.intp] = of_row, share: Array = share) -> Array:
            return np.bincount(of_row, share * losses, count).astype(np.float64)

        inside = np.zeros((count, len(folds)))
        for k in range(len(folds)):
            others = [
                np.zeros(sizes[j]) if j == k else np.asarray(by_pair[j, k], dtype=np.float64)
                for j in range(len(folds))
            ]
            inside[:, k] = total(np.concatenate(others))
        together = np.concatenate([np.asarray(part, dtype=np.float64) for part in folds])
        repeat = _Repeat(total(np.ones(len(of_row))), fold, total(together), inside)
        members = np.bincount(fold[repeat.weights > 0], minlength=len(folds))
        if members.min() < 2:
            raise InputError(
                "the nested interval needs two rows (or groups) or more in every fold",
                hint="ask for fewer folds.",
            )
        made.append(repeat)
    return made


def _check_shape(outer: Folded, pairs: Pairs) -> None:
    if not outer or len(outer) != len(pairs):
        raise InputError(
            f"there are outer losses of {len(outer)} repeats, but pair losses of {len(pairs)}"
        )
    k = len(outer[0])
    if k < 3:
        raise InputError(
            f"the nested interval needs 3 folds or more, not {k}",
            hint="5 or 10 are usual; the naive interval does with fewer.",
        )
    wanted = {(j, i) for j in range(k) for i in range(k) if i != j}
    for number, (folds, by_pair) in enumerate(zip(outer, pairs, strict=True)):
        if len(folds) != k or set(by_pair) != wanted:
            raise InputError(
                f"repeat {number} lacks losses of a fold or of a pair of folds",
                hint="the nested interval takes every fold and every pair; use the naive one.",
            )


def _units(outer: Folded, rows: Folded | None, groups: Folded | None) -> list[NDArray[np.intp]]:
    """For every repeat, the unit of every row: the same number for the same unit in all repeats."""
    tied = groups if groups is not None else rows
    if tied is None:
        if len(outer) > 1:
            raise InputError(
                "with several repeats the nested interval has to know which row is which",
                hint="pass rows=, in the same shape as the losses.",
            )
        return [np.arange(sum(len(np.asarray(part)) for part in outer[0]), dtype=np.intp)]
    flat = [np.concatenate([np.asarray(part) for part in folds]) for folds in tied]
    labels, codes = np.unique(np.concatenate(flat), return_inverse=True)
    by_repeat = np.split(codes.astype(np.intp), np.cumsum([len(part) for part in flat])[:-1])
    if any(len(np.unique(part)) < len(labels) for part in by_repeat):
        raise InputError("the repeats of the nested interval must hold the same rows")
    return by_repeat
