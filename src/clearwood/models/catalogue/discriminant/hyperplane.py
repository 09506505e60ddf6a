"""The separating hyperplane with the widest margin."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count

__all__ = ["SeparatingHyperplane"]

#: So large that no row of separable classes is given up for a wider margin.
_HARD = 1e6
#: How far a row may lie inside the margin by rounding.
_TOLERANCE = 1e-3


class SeparatingHyperplane(ClassifierMixin, BaseEstimator):
    """The hyperplane between two classes whose distance from the nearest rows is greatest.

    It exists only if a hyperplane separates the classes of the training rows (Hastie, Tibshirani
    and Friedman 2009, section 4.5.2). Otherwise the fit is refused.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        Of the score: its sign is the class, and it is 1 or -1 on the margin.
    margin_ : float
        The distance between the hyperplane and the nearest rows.
    support_ : ndarray
        Positions of the rows on the margin, which alone determine the hyperplane.

    Examples
    --------
    >>> model = SeparatingHyperplane().fit([[0.0], [1.0], [3.0], [9.0]], [0, 0, 1, 1])
    >>> round(model.margin_, 3), model.support_.tolist()
    (1.0, [1, 2])
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the hyperplane, or refuse classes that overlap."""
        matrix, target = np.asarray(X, dtype=np.float64), np.asarray(y)
        self.n_features_in_ = matrix.shape[1]
        self.classes_, codes = np.unique(target, return_inverse=True)
        if len(self.classes_) != 2:
            raise InputError(
                f"a separating hyperplane is for two classes, and there are {len(self.classes_)}",
                parameter="target",
                hint="take learner 'lda' or 'svm'.",
            )
        side = np.where(codes == 1, 1.0, -1.0)
        # the machine takes hours on classes that overlap, so a linear program looks first
        _refuse(_least_overlap(matrix, side) > _TOLERANCE)
        machine = SVC(kernel="linear", C=_HARD, tol=1e-6).fit(matrix, codes)
        _refuse(side * machine.decision_function(matrix) < 1 - _TOLERANCE)
        self.coef_, self.intercept_ = machine.coef_.copy(), machine.intercept_.copy()
        self.margin_ = 1.0 / float(np.linalg.norm(self.coef_))
        self.support_ = machine.support_.copy()
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the score of rows: above 0 for the second class."""
        check_is_fitted(self)
        score: Floats = np.asarray(X, dtype=np.float64) @ self.coef_[0] + self.intercept_[0]
        return score

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class by the side of the hyperplane."""
        side: NDArray[Any] = self.classes_[(self.decision_function(X) > 0).astype(int)]
        return side


def _least_overlap(matrix: Floats, side: Floats) -> Floats:
    """Return how far rows lie inside the margin of the hyperplane with the least sum of that."""
    n, width = matrix.shape
    scores = csr_array(-side[:, None] * np.column_stack([matrix, np.ones(n)]))
    solved = linprog(
        np.append(np.zeros(width + 1), np.ones(n)),
        A_ub=hstack([scores, -eye_array(n)], format="csr"),
        b_ub=-np.ones(n),
        bounds=[(None, None)] * (width + 1) + [(0, None)] * n,
        method="highs",
    )
    overlap: Floats = solved.x[width + 1 :]
    return overlap


def _refuse(inside: Bools) -> None:
    """Refuse classes if any row lies inside the margin."""
    if inside.any():
        raise InputError(
            f"no hyperplane separates the classes: the best has "
            f"{count(int(inside.sum()), 'row')} of {len(inside)} on the other side or inside the "
            "margin",
            parameter="target",
            hint="take learner 'svm', which allows some, or 'logistic'.",
        )
