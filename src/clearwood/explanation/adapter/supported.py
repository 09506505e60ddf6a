"""Which models have an exact decomposition, and how models are named in messages."""

from typing import Any

from clearwood._shared.errors import InputError
from clearwood.forest import SUPPORTED
from clearwood.models import Learner

__all__ = [
    "EXPLAINED",
    "NotDecomposableError",
    "is_pipeline",
    "name_of",
    "unsupported",
    "unwrapped",
]

EXPLAINED = (
    f"{SUPPORTED}; linear and generalised linear models of scikit-learn (least squares, ridge, "
    "lasso, elastic net, logistic, Poisson, gamma, Tweedie, linear discriminants and support "
    "vectors), alone, after column-wise steps in a Pipeline, or in a Learner (ols, ridge, lasso, "
    "logistic, glm, spline, ...); the Learners 'gam', 'glass', 'mars', "
    "'rules', 'planted' and 'ebm'"
)


class NotDecomposableError(InputError):
    """The model is fitted and sound, but its decomposition is not known exactly."""


def is_pipeline(model: Any) -> bool:
    """Whether a model is a scikit-learn pipeline."""
    return hasattr(model, "steps") and hasattr(model, "named_steps")


def unwrapped(model: Any) -> Any:
    """Take a model out of a search, or out of a wrapper that leaves the encoding to it."""
    if hasattr(model, "best_estimator_"):
        return unwrapped(model.best_estimator_)
    if getattr(model, "encoder_", model) is None:
        return unwrapped(model.estimator_)
    return model


def name_of(model: Any) -> str:
    """Name a model in an error."""
    if isinstance(model, Learner):
        return f"learner {model.name!r}"
    if is_pipeline(model):
        return f"a Pipeline that ends in {type(model.steps[-1][1]).__name__}"
    return type(model).__name__


def unsupported(model: Any) -> NotDecomposableError:
    """Make the error for a model without an exact decomposition."""
    return NotDecomposableError(
        f"{name_of(model)} has no exact decomposition",
        parameter="model",
        hint=f"these have one: {EXPLAINED}. Explanations of other models are sampled.",
    )
