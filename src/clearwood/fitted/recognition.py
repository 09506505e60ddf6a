"""What a model is: a learner, an estimator, a pipeline, a search, a forest or a function."""

from typing import Any

from clearwood.models import Learner

__all__ = ["is_pipeline", "name_of", "unwrapped"]


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
