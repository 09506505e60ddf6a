"""Decision trees pruned by cross-validation."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood.models.estimators.folds import Folds
from clearwood.models.estimators.pruning import (
    HeldOut,
    collapse_levels,
    geometric_middles,
    held_out_losses,
)

__all__ = ["PrunedTreeClassifier", "PrunedTreeRegressor"]

PRUNINGS = (True, False, "one-se")


class _Pruned:
    """What the two pruned trees share; mixed in before scikit-learn's tree.

    A full tree is grown and its sequence of pruned trees found; each is judged on held-out folds
    (Hiabu 2024, section 5.2), and the tree is cut back at the penalty chosen.
    """

    prune: bool | str
    folds: int
    random_state: int

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        if self.prune not in PRUNINGS:
            raise InputError(
                f"prune={self.prune!r} is not known", hint="known: True, False, 'one-se'."
            )
        self.ccp_alpha = 0.0
        self.penalties_ = self.risks_ = np.zeros(0)
        if self.prune and len(y) > 1:
            self._choose_penalty(X, y, weights)
        super().fit(X, y, sample_weight=weights)  # type: ignore[misc] # the tree's, mixed in

    def _choose_penalty(self, X: Floats, y: NDArray[Any], weights: Floats) -> None:
        full = clone(self).set_params(prune=False)
        self.penalties_ = geometric_middles(
            collapse_levels(full.fit(X, y, sample_weight=weights).tree_)
        )
        stratify = isinstance(self, DecisionTreeClassifier) and _every_class_twice(y)
        folds = []
        for train, test in Folds(self.folds, stratify=stratify, seed=self.random_state).split(X, y):
            full.fit(X[train], y[train], sample_weight=weights[train])
            losses = self._losses(full, y[test])
            folds.append(
                held_out_losses(full.tree_, X[test], losses, weights[test], self.penalties_)
            )
        self.risks_, errors = _risks(folds)
        best = int(np.argmin(self.risks_))
        # among equals, and with one-se within an error of the best, the smallest tree
        allowed = self.risks_[best] + (errors[best] if self.prune == "one-se" else 0.0)
        self.ccp_alpha = float(self.penalties_[np.flatnonzero(self.risks_ <= allowed)[-1]])

    def _losses(self, fitted: Any, y: NDArray[Any]) -> Any:
        raise NotImplementedError


class PrunedTreeRegressor(_Pruned, DecisionTreeRegressor):
    """A regression tree cut back to the size that predicts held-out rows best.

    Parameters
    ----------
    prune
        True takes the penalty with the smallest cross-validated squared error, "one-se" the
        smallest tree within one standard error of it, False keeps the full tree.
    folds
        Number of folds.
    criterion, max_depth, min_samples_leaf, random_state
        As in scikit-learn's ``DecisionTreeRegressor``.

    Attributes
    ----------
    ccp_alpha : float
        The penalty per leaf that was chosen.
    penalties_, risks_ : ndarray
        The penalties tried and the cross-validated squared error of each.

    Examples
    --------
    >>> X = np.arange(40.0)[:, None]
    >>> y = (X.ravel() > 19).astype(float)
    >>> int(PrunedTreeRegressor().fit(X, y).get_n_leaves())
    2
    """

    def __init__(
        self,
        *,
        prune: bool | str = True,
        folds: int = 5,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            criterion=criterion,
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
        )
        self.prune = prune
        self.folds = folds

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and cut it back."""
        self._fit(X, np.asarray(y, dtype=np.float64), sample_weight)
        return self

    def _losses(self, fitted: Any, y: NDArray[Any]) -> Any:
        value = fitted.tree_.value[:, 0, 0]
        return lambda nodes, rows: (y[rows] - value[nodes]) ** 2


class PrunedTreeClassifier(_Pruned, DecisionTreeClassifier):
    """A classification tree cut back to the size that predicts held-out rows best.

    The held-out loss is the Brier score, the loss that the Gini criterion stands for: unlike the
    error rate it feels every change of a probability, and unlike the log loss it is finite for
    leaves with a single class.

    Parameters
    ----------
    prune
        True takes the penalty with the smallest cross-validated Brier score, "one-se" the
        smallest tree within one standard error of it, False keeps the full tree.
    folds
        Number of folds.
    criterion, max_depth, min_samples_leaf, random_state
        As in scikit-learn's ``DecisionTreeClassifier``.

    Attributes
    ----------
    ccp_alpha : float
        The penalty per leaf that was chosen.
    penalties_, risks_ : ndarray
        The penalties tried and the cross-validated Brier score of each.
    """

    def __init__(
        self,
        *,
        prune: bool | str = True,
        folds: int = 5,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            criterion=criterion,
            max_depth=max_depth,
            min_samples_leaf=min_samples_leaf,
            random_state=random_state,
        )
        self.prune = prune
        self.folds = folds

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and cut it back."""
        self._fit(X, y, sample_weight)
        return self

    def _losses(self, fitted: Any, y: NDArray[Any]) -> Any:
        shares = fitted.tree_.value[:, 0, :]
        size = (shares**2).sum(axis=1)
        known = np.isin(y, fitted.classes_)
        code = np.where(known, np.searchsorted(fitted.classes_, np.where(known, y, y[0])), 0)
        code = np.minimum(code, shares.shape[1] - 1)

        def brier(nodes: Index, rows: Index) -> Floats:
            # Σ_k (1[y = k] − p_k)², where a class the fold has not seen has probability zero
            of_class = np.where(known[rows], shares[nodes, code[rows]], 0.0)
            loss: Floats = size[nodes] - 2 * of_class + 1
            return loss

        return brier


def _every_class_twice(y: NDArray[Any]) -> bool:
    return bool(np.unique(y, return_counts=True)[1].min() >= 2)


def _risks(folds: list[HeldOut]) -> tuple[Floats, Floats]:
    """Mean loss over all held-out rows, and its standard error, for every penalty."""
    weight = sum(fold.weight for fold in folds)
    mean = sum((fold.total for fold in folds), np.zeros(1)) / weight
    second = sum((fold.squares for fold in folds), np.zeros(1)) / weight
    return mean, np.sqrt(np.maximum(second - mean**2, 0.0) / weight)
