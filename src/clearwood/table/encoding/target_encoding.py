"""Target encoding: a category's level as its mean target, compared with the overall mean.

scikit-learn's ``TargetEncoder`` takes no row weights, and the way to fix its folds changed between
the versions we support; what is needed beyond it is two sums per level, so they are taken here. The
tests hold the two against each other.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, words
from clearwood.table.column import Column
from clearwood.table.encoding.learn_columns import level_slots
from clearwood.table.types import Task

__all__ = ["TargetEncoding", "cross_fitted_codes", "target_codes", "target_columns"]

_FOLDS = 5


class TargetEncoding:
    """A target to encode columns by; it is prepared when the first column needs it.

    Parameters
    ----------
    y
        The target of the training rows.
    weight
        Row weights.
    task
        Whether the target is a number or a class; inferred from the type of ``y`` when None.
    smooth
        Strength of shrinkage, in rows.
    seed
        Fixes the folds, which all columns share.
    """

    def __init__(
        self,
        y: NDArray[Any] | None,
        weight: Floats | None,
        *,
        task: Task | None,
        smooth: float,
        seed: int,
    ) -> None:
        self._y = y
        self._weight = weight
        self._task = task
        self._smooth = smooth
        self._seed = seed

    @property
    def outputs(self) -> tuple[str, ...]:
        """What each code of a level is called."""
        return self._prepared[1]

    def codes(self, column: Column) -> Floats:
        """Return the codes of a column's levels, of unseen (0) and of missing, over all rows."""
        k = len(column.levels)
        slots = level_slots(column.values, k)
        return target_codes(slots, k + 2, self._prepared[0], self._weight, self._smooth)

    def cross_fitted(self, column: Column) -> Floats:
        """Return the codes of the training rows, each from the other folds."""
        k = len(column.levels)
        slots = level_slots(column.values, k)
        targets = self._prepared[0]
        return cross_fitted_codes(slots, k + 2, targets, self._weight, self._smooth, self._fold)

    @cached_property
    def _prepared(self) -> tuple[Floats, tuple[str, ...]]:
        if self._y is None:
            raise InputError(
                "target encoding needs the target",
                parameter="y",
                hint=words(
                    "pass it to fit(table, y), or choose ", Option("categories", "onehot"), "."
                ),
            )
        if self._task is None:
            return target_columns(self._y, is_classes=self._y.dtype.kind not in "iuf")
        return target_columns(self._y, is_classes=self._task.is_classification)

    @cached_property
    def _fold(self) -> Index:
        n_rows = len(self._prepared[0])
        order = np.random.default_rng(self._seed).permutation(n_rows)
        return order % min(_FOLDS, n_rows)


def target_columns(y: NDArray[Any], *, is_classes: bool) -> tuple[Floats, tuple[str, ...]]:
    """Return the numbers to average: the target itself, or membership in its classes.

    Returns
    -------
    tuple of ndarray of shape (n_rows, n_columns) and names
        One column named "target" for numbers and for two classes (then membership in the class
        that sorts last), else one column for each class.

    Examples
    --------
    >>> target_columns(np.array(["b", "a", "c"]), is_classes=True)[1]
    ('target=a', 'target=b', 'target=c')
    """
    if not is_classes:
        return np.asarray(y, dtype=np.float64).reshape(-1, 1), ("target",)
    classes, position = np.unique(y, return_inverse=True)
    if len(classes) <= 2:
        return (position == 1).astype(np.float64).reshape(-1, 1), ("target",)
    members = position[:, None] == np.arange(len(classes))
    return members.astype(np.float64), tuple(f"target={label}" for label in classes)


def target_codes(
    slots: NDArray[np.integer[Any]],
    n_slots: int,
    targets: Floats,
    weight: Floats | None,
    smooth: float,
) -> Floats:
    """Encode each level as its mean target minus the overall mean.

    This is ``E[Y | X = x] - E[Y]`` for each level x, Hiabu (2024), definition 5.2.5, with weighted
    means over the rows. A ``smooth`` above 0 shrinks the difference by
    ``w / (w + smooth)``, where w is the level's weight: as if that many rows with the overall mean
    had been added to each level.

    Examples
    --------
    >>> y = np.array([[1.0], [3.0], [8.0], [8.0]])
    >>> target_codes(np.array([0, 0, 1, 1]), 3, y, None, 0.0).ravel()
    array([-3.,  3.,  0.])
    """
    sizes = np.bincount(slots, weights=weight, minlength=n_slots).astype(np.float64)
    total = sizes.sum()
    codes = np.zeros((n_slots, targets.shape[1]))
    if total == 0:
        return codes
    seen = sizes > 0
    for j, target in enumerate(targets.T):
        weighted = target if weight is None else target * weight
        # sums of differences from the mean: equal levels then cancel to the last digits
        mean = weighted.sum() / total
        excess = weighted - mean if weight is None else weighted - mean * weight
        sums = np.bincount(slots, weights=excess, minlength=n_slots)
        codes[seen, j] = sums[seen] / (sizes[seen] + smooth)
    return codes


def cross_fitted_codes(
    slots: NDArray[np.integer[Any]],
    n_slots: int,
    targets: Floats,
    weight: Floats | None,
    smooth: float,
    fold: NDArray[np.integer[Any]],
) -> Floats:
    """Encode training rows by the levels' means over the other folds.

    A row's own target never enters its code, so a model cannot read the target off a level with
    few rows. A level seen in one fold only is encoded there as 0, the mean: unlike a level's own
    fold mean, this carries no information about the target.
    """
    codes = np.empty(targets.shape)
    for k in range(int(fold.max(initial=-1)) + 1):
        inside = fold == k
        others = ~inside
        table = target_codes(
            slots[others],
            n_slots,
            targets[others],
            None if weight is None else weight[others],
            smooth,
        )
        codes[inside] = table[slots[inside]]
    return codes
