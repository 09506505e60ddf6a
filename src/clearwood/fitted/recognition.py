"""What a model is: a learner, an estimator, a pipeline, a search, a forest or a function."""

from typing import Any

from clearwood.forest import Forest
from clearwood.models import TableModel

__all__ = ["is_booster", "is_pipeline", "name_of", "own_names", "unwrapped"]


def is_pipeline(model: Any) -> bool:
    """Whether a model is a scikit-learn pipeline."""
    return hasattr(model, "steps") and hasattr(model, "named_steps")


def is_booster(model: Any) -> bool:
    """Whether a model is the bare booster of XGBoost or LightGBM, which knows no classes."""
    library = type(model).__module__.partition(".")[0]
    return type(model).__name__ == "Booster" and library in ("xgboost", "lightgbm")


def unwrapped(model: Any) -> Any:
    """Take a model out of a search, or out of a wrapper that leaves the encoding to it."""
    if hasattr(model, "best_estimator_"):
        return unwrapped(model.best_estimator_)
    if getattr(model, "encoder_", model) is None:
        return unwrapped(model.estimator_)
    return model


def own_names(model: Any) -> tuple[str, ...] | None:
    """Return the names of the columns that a model was fitted to; None where they had none."""
    if isinstance(model, Forest):
        return model.columns
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = getattr(model, "feature_names_", None)  # CatBoost's, which numbers those without
        is_numbered = names is not None and list(names) == [str(k) for k in range(len(names))]
        names = None if is_numbered else names
    return None if names is None else tuple(map(str, names))


def name_of(model: Any) -> str:
    """Name a model in a sentence."""
    if isinstance(model, TableModel):
        return model.described
    if is_pipeline(model):
        return f"a Pipeline that ends in {type(model.steps[-1][1]).__name__}"
    if hasattr(model, "__name__"):
        return "a function" if model.__name__ == "<lambda>" else f"function {model.__name__!r}"
    return type(model).__name__
