"""The nested interval, which accounts for folds that share training rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, words
from clearwood.evaluation import Interval, Mean, make_interval

__all__ = ["nested_interval"]

#: Values for every row of every fold of every repeat.
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
    reference: Folded | None = None,
) -> Interval:
    """Return the estimate of nested cross-validation, with its interval.

    It estimates the risk of the procedure fitted to all n rows of this table, or the difference of
    two such risks. The fits are those of Bates, Hastie and Tibshirani (2024); the width is
    Clearwood's own rule, not theirs. For a repeat with folds 1, ..., K, write out for the losses of
    the rows of each fold j under the fit without j, and in for their losses under the fits without
    j and another fold k. Row by row, averaged over k and over the repeats,

    - corrected = out - (K-2)/K × (in - out), as fits with fewer rows are worse: the gap between
      one fold less and none is that multiple of the gap between two folds less and one, if risk
      falls towards its limit as 1 / rows;
    - estimate = mean of the corrected losses.

    Its variance is the naive one of the corrected losses, raised for the covariance of rows: the
    losses of two rows are correlated, as each was in the training rows of the other. Write M_jk for
    the sum over the rows of fold j of their losses under the fit without j and k, each minus its
    mean over all k: the effect of leaving out k on j. Then

    - shared = sum over j ≠ k of M_jk × M_kj / n², the contribution of covariances to the variance
      of the mean;
    - se² = naive variance of corrected × (1 + shared / naive variance of in), where in is taken for
      one k at a time; shared and this variance are averaged over k and the repeats.

    The fraction is kept between 0 and K - 1, its values for independent and identical folds. The
    page on intervals derives it, explains how it differs from the paper, and reports its coverage.
    The interval is the estimate ± Student's quantile × se, with the degrees of freedom of the
    variance of the corrected losses (Satterthwaite): few where few rows make up most of it, at most
    n - 1.

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
        The group of each row, in the same shape; no group may be in two folds.
    reference
        Losses to take the place of `out` in the difference in - out, in the same shape, where the
        pairs come from a cheaper model (a forest with fewer trees): those of the cheaper model.

    Examples
    --------
    Losses that do not depend on the fit have the naive standard error:

    >>> from clearwood.evaluation import naive_interval
    >>> rng = np.random.default_rng(0)
    >>> losses = rng.exponential(size=100)
    >>> outer = [np.split(losses, 5)]
    >>> pairs = [{(j, k): outer[0][j] for j in range(5) for k in range(5) if j != k}]
    >>> nested = nested_interval(outer, pairs)
    >>> nested
    Interval(1.181, 90 % nested from 0.9901 to 1.371)
    >>> round(nested.se, 4), round(naive_interval(losses).se, 4)
    (0.1133, 0.1133)
    """
    repeats = _repeats(outer, pairs, rows, weights, groups, reference or outer)
    k, everyone = repeats[0].k, repeats[0].weights
    per_row = Mean(np.mean([repeat.outer for repeat in repeats], axis=0), everyone)
    inside = Mean(np.mean([repeat.inside_of_row for repeat in repeats], axis=0), everyone)
    beside = Mean(np.mean([repeat.reference for repeat in repeats], axis=0), everyone)
    corrected = Mean(per_row.losses - (k - 2) / k * (inside.losses - beside.losses), everyone)

    shared = float(np.mean([repeat.shared for repeat in repeats]))
    naive_inside = float(np.mean([repeat.naive_inside for repeat in repeats]))
    share = float(np.clip(shared / naive_inside, 0.0, k - 1)) if naive_inside > 0 else 0.0
    se = float(np.sqrt((1 + share) * corrected.variance))
    naive = per_row.variance
    return make_interval(
        corrected.mean,
        se,
        "nested",
        per_row.n,
        confidence,
        degrees=corrected.degrees,
        inflation=se / float(np.sqrt(naive)) if naive > 0 else 1.0,
        bias=2 * (k - 1) / k * (inside.mean - beside.mean),
    )


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
    reference
        The same under the model that `inside` is compared with.
    inside
        The same under the fits without its fold and without another one, one column each; zero in
        the column of its own fold.
    """

    weights: Floats
    fold: Index
    outer: Floats
    reference: Floats
    inside: Floats

    @property
    def k(self) -> int:
        return int(self.inside.shape[1])

    @property
    def inside_of_row(self) -> Floats:
        """Mean over the fits without another fold."""
        return np.asarray(self.inside.sum(axis=1) / (self.k - 1))

    @property
    def shared(self) -> float:
        """The contribution of the covariances of units to the variance of the mean.

        Leaving a fold out is compared with leaving out the others, unit by unit, as fits to fewer
        rows are worse whichever fold is left out.
        """
        own = self.fold[:, None] == np.arange(self.k)
        moved = np.where(own, 0.0, self.inside - self.inside_of_row[:, None])
        between = own.T.astype(np.float64) @ moved
        return float((between * between.T).sum() / self.weights.sum() ** 2)

    @property
    def naive_inside(self) -> float:
        """The naive variance of a cross-validation without a fold, averaged over folds.

        It is a mean of fewer rows, centring reduces `shared`, and `shared` is for fits to fewer
        rows: these effects cancel if the fraction falls as 1 / rows.
        """
        variances = []
        for fold in range(self.k):
            others = self.fold != fold
            variances.append(Mean(self.inside[others, fold], self.weights[others]).variance)
        return float(np.mean(variances))


def _repeats(
    outer: Folded,
    pairs: Pairs,
    rows: Folded | None,
    weights: Folded | None,
    groups: Folded | None,
    reference: Folded,
) -> list[_Repeat]:
    _check_shape(outer, pairs)
    units = _units(outer, rows, groups)
    count = int(max(labels.max() for labels in units)) + 1
    repeats = []
    for number, (folds, by_pair) in enumerate(zip(outer, pairs, strict=True)):
        of_row = units[number]
        sizes = [len(np.asarray(part)) for part in folds]
        share = np.ones(len(of_row))
        if weights is not None:
            share = np.concatenate([np.asarray(part, dtype=np.float64) for part in weights[number]])
        fold_of_row = np.repeat(np.arange(len(folds)), sizes)
        fold = np.zeros(count, dtype=np.intp)
        fold[of_row] = fold_of_row

        def total(losses: Floats, of_row: Index = of_row, share: Floats = share) -> Floats:
            return np.bincount(of_row, share * losses, count).astype(np.float64)

        inside = np.zeros((count, len(folds)))
        for k in range(len(folds)):
            others = [
                np.zeros(sizes[j]) if j == k else np.asarray(by_pair[j, k], dtype=np.float64)
                for j in range(len(folds))
            ]
            inside[:, k] = total(np.concatenate(others))
        together, beside = (
            np.concatenate([np.asarray(part, dtype=np.float64) for part in one])
            for one in (folds, reference[number])
        )
        repeat = _Repeat(total(np.ones(len(of_row))), fold, total(together), total(beside), inside)
        members = np.bincount(fold[repeat.weights > 0], minlength=len(folds))
        if members.min() < 2:
            raise InputError(
                "the nested interval needs two rows (or groups) or more in every fold",
                parameter="outer",
                hint="use fewer folds.",
            )
        repeats.append(repeat)
    return repeats


def _check_shape(outer: Folded, pairs: Pairs) -> None:
    if not outer or len(outer) != len(pairs):
        raise InputError(
            f"there are outer losses of {len(outer)} repeats, but pair losses of {len(pairs)}",
            parameter="pairs",
        )
    k = len(outer[0])
    if k < 3:
        raise InputError(
            f"the nested interval needs 3 folds or more, not {k}",
            parameter="outer",
            hint="5 or 10 are usual; the naive interval works with fewer.",
        )
    wanted = {(j, i) for j in range(k) for i in range(k) if i != j}
    for number, (folds, by_pair) in enumerate(zip(outer, pairs, strict=True)):
        if len(folds) != k or set(by_pair) != wanted:
            raise InputError(
                f"repeat {number} lacks losses of a fold or of a pair of folds",
                parameter="pairs",
                hint="the nested interval needs every fold and every pair; use the naive one.",
            )


def _units(outer: Folded, rows: Folded | None, groups: Folded | None) -> list[Index]:
    """Return the unit of every row, for every repeat; a unit has the same number in all repeats."""
    tied = groups if groups is not None else rows
    if tied is None:
        if len(outer) > 1:
            raise InputError(
                "with several repeats the nested interval needs to know the row of each loss",
                parameter="rows",
                hint=words("pass ", Option("rows"), ", in the same shape as the losses."),
            )
        return [np.arange(sum(len(np.asarray(part)) for part in outer[0]), dtype=np.intp)]
    flat = [np.concatenate([np.asarray(part) for part in folds]) for folds in tied]
    labels, codes = np.unique(np.concatenate(flat), return_inverse=True)
    by_repeat = np.split(codes.astype(np.intp), np.cumsum([len(part) for part in flat])[:-1])
    if any(len(np.unique(part)) < len(labels) for part in by_repeat):
        raise InputError(
            "the repeats of the nested interval must have the same rows", parameter="rows"
        )
    return by_repeat
