"""Probabilities for classifiers that only have scores."""

from typing import Any

from sklearn.calibration import CalibratedClassifierCV

from clearwood._shared.errors import Setting, unknown_choice
from clearwood.models.shared.folds import Folds

__all__ = ["with_probabilities"]

_METHODS = {"platt": "sigmoid", "isotonic": "isotonic"}


def with_probabilities(classifier: Any, method: str, *, seed: int = 0) -> Any:
    """Calibrate a classifier: map its scores to probabilities, fitted to held-out rows.

    The classifier itself is fitted to all rows; the map is fitted to the scores that each row gets
    from a classifier fitted to the other two of three folds.

    Parameters
    ----------
    classifier
        A classifier with a ``decision_function``.
    method
        "platt" for a logistic curve, "isotonic" for an increasing step function (needs a thousand
        rows or so), "none" to leave the classifier as it is.
    seed
        Fixes the folds.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> with_probabilities(SVC(), "isotonic").method
    'isotonic'
    """
    if method == "none":
        return classifier
    if method not in _METHODS:
        raise unknown_choice("probabilities", method, ["none", *_METHODS], kind=Setting)
    return CalibratedClassifierCV(
        classifier, method=_METHODS[method], cv=Folds(3, stratify=True, seed=seed), ensemble=False
    )
