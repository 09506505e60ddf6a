"""Which models can be taken apart exactly, and how they are spoken of."""

from typing import Any

from clearwood._shared.errors import InputError
from clearwood.forest.importers.from_model import SUPPORTED
from clearwood.models import Learner

__all__ = ["EXPLAINED", "NotTakenApartError", "is_pipeline", "name_of", "unsupported"]

EXPLAINED = (
    f"{SUPPORTED}; linear and generalised linear models of scikit-learn (least squares, ridge, "
    "lasso, elastic net, logistic, Poisson, gamma, Tweedie, linear discriminants and support "
    "vectors), alone, after column-wise steps in a Pipeline, or in a Learner (ols, ridge, lasso, "
    "logistic, glm, spline, ...); the Learner 'ebm'"
)


class NotTakenApartError(InputError):
    """The model is fitted and sound, but not a sum of functions of few columns that is known."""


def is_pipeline(model: Any) -> bool:
    """Whether a model is a scikit-learn pipeline."""
    return hasattr(model, "steps") and hasattr(model, "named_steps")


def name_of(model: Any) -> str:
    """Name a model in an error."""
    if isinstance(model, Learner):
        return f"learner {model.name!r}"
    if is_pipeline(model):
        return f"a Pipeline that ends in {type(model.steps[-1][1]).__name__}"
    return type(model).__name__


def unsupported(model: Any) -> NotTakenApartError:
    """Say that a model cannot be taken apart, and which can."""
    return NotTakenApartError(
        f"{name_of(model)} is not a model that can be taken apart exactly",
        hint=f"these can: {EXPLAINED}. For others, cw.shapley(..., sample=1000) samples.",
    )
