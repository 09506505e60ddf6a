"""What is known of any model before it predicts: is it fitted, has it probabilities."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.errors import InputError
from clearwood.models.table_model import TableModel

__all__ = ["check_fitted", "has_probabilities", "is_fitted"]


def is_fitted(model: Any) -> bool:
    """Whether a model can predict as it is.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> is_fitted(Ridge()), is_fitted(Ridge().fit([[1.0], [2.0]], [1, 2])), is_fitted(abs)
    (False, True, True)
    """
    if isinstance(model, type):
        return False
    if not hasattr(model, "fit"):
        return True
    if type(model).__module__.startswith("catboost"):
        return bool(model.is_fitted())
    if not isinstance(model, BaseEstimator):
        return True  # without scikit-learn's conventions only its predictions tell
    try:
        check_is_fitted(model, "schema_" if isinstance(model, TableModel) else None)
    except NotFittedError:
        return False
    return True


def check_fitted(model: Any) -> None:
    """Refuse a class and a model that is not fitted.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> check_fitted(Ridge())
    Traceback (most recent call last):
    clearwood.InputError: this Ridge is not fitted yet. Hint: call its fit(X, y) first.
    """
    if isinstance(model, type):
        raise InputError(
            f"{model.__name__} is a class, not a fitted model",
            parameter="model",
            hint=f"create an instance and fit it: {model.__name__}(...).fit(X, y).",
        )
    if is_fitted(model):
        return
    is_ours = isinstance(model, TableModel)
    raise InputError(
        f"{model.described if is_ours else f'this {type(model).__name__}'} is not fitted yet",
        parameter="model",
        hint=f"call its fit({'data' if is_ours else 'X, y'}) first.",
    )


def has_probabilities(model: Any) -> bool:
    """Whether a model, fitted or not, gives probabilities of classes.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression, RidgeClassifier
    >>> has_probabilities(LogisticRegression()), has_probabilities(RidgeClassifier())
    (True, False)
    """
    return hasattr(model, "predict_proba")
