"""Estimators that predict from a score of parts: what regression, counts and classes share."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from clearwood._shared.arrays import Floats
from clearwood.models.shared.rows import check_classes, check_counts, row_weights
from clearwood.models.shared.score import ScoreParts

__all__ = ["Scored", "ScoredClasses", "ScoredCounts", "ScoredNumbers"]


_CHECKS: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}


class Scored(BaseEstimator):
    """An estimator whose fit sets ``parts_``; missing values are allowed."""

    parts_: ScoreParts

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _training(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, numeric: bool = True
    ) -> tuple[Floats, NDArray[Any], Floats]:
        """Check training rows, and return those of positive weight with targets and weights."""
        matrix, target = validate_data(self, X, y, y_numeric=numeric, **_CHECKS)
        weight, used = row_weights(sample_weight, matrix)
        return matrix[used], target[used], weight

    def _matrix(self, X: ArrayLike, *, reset: bool = False) -> Floats:
        """Check rows to predict, or with ``reset`` those of a fit that checks the target itself."""
        if not reset:
            check_is_fitted(self, "parts_")
        matrix: Floats = validate_data(self, X, reset=reset, **_CHECKS)
        return matrix

    def _score(self, X: ArrayLike) -> Floats:
        """Compute the score of rows, of shape (rows, outputs)."""
        matrix = self._matrix(X)
        return self.parts_(matrix)

    def _outputs(self) -> tuple[str, ...]:
        """Name the outputs of the score."""
        return ("",)


class ScoredNumbers(RegressorMixin, Scored):
    """The score is the prediction."""

    def _numbers(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, Floats, Floats]:
        """Check training rows; return rows, targets and weights."""
        rows, target, weight = self._training(X, y, sample_weight)
        return rows, target.astype(np.float64), weight

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        return self._score(X)[:, 0]


class ScoredCounts(ScoredNumbers):
    """The score is the logarithm of the prediction."""

    has_log_link = True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _numbers(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, Floats, Floats]:
        rows, target, weight = super()._numbers(X, y, sample_weight)
        check_counts(target)
        return rows, target, weight

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        return np.exp(self._score(X)[:, 0])

    def multiply(self, factor: float) -> None:
        """Multiply all predictions by a factor."""
        self.parts_.products.constant[:] += np.log(factor)


class ScoredClasses(ClassifierMixin, Scored):
    """The score is the log odds of the second class, or there is one score per class."""

    def _classes(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, NDArray[np.intp], Floats]:
        """Check training rows; return rows, codes of classes and weights."""
        rows, target, weight = self._training(X, y, sample_weight, numeric=False)
        check_classification_targets(target)
        self.classes_, codes = np.unique(target, return_inverse=True)
        check_classes(len(self.classes_))
        return rows, codes, weight

    def decision_function(self, X: ArrayLike) -> Floats:
        """Compute log odds for two classes, else one score per class."""
        score = self._score(X)
        return score[:, 0] if score.shape[1] == 1 else score

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Compute the probabilities of the classes."""
        score = self._score(X)
        if score.shape[1] == 1:
            positive = expit(score[:, 0])
            return np.column_stack([1 - positive, positive])
        return np.asarray(softmax(score, axis=1))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class."""
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[np.argmax(probabilities, axis=1)]
        return labels

    def _outputs(self) -> tuple[str, ...]:
        """Name the outputs of the score."""
        return ("",) if len(self.classes_) == 2 else tuple(str(label) for label in self.classes_)
