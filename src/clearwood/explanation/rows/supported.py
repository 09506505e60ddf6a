"""Which models have an exact decomposition."""

from typing import Any

from clearwood._shared.errors import InputError
from clearwood.fitted import name_of
from clearwood.forest import SUPPORTED

__all__ = [
    "EXPLAINED",
    "NotDecomposableError",
    "unsupported",
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


def unsupported(model: Any) -> NotDecomposableError:
    """Make the error for a model without an exact decomposition."""
    return NotDecomposableError(
        f"{name_of(model)} has no exact decomposition",
        parameter="model",
        hint=f"these have one: {EXPLAINED}. Explanations of other models are sampled.",
    )
