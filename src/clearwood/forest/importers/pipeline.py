"""Pipelines that end in a tree model, and the user's column behind each of the model's."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.forest.encoders import PipelineEncoder
from clearwood.forest.forest import Forest
from clearwood.forest.importers.from_model import from_model
from clearwood.forest.importers.sklearn import feature_names

__all__ = ["pipeline", "search", "sources"]


def search(model: Any) -> Forest:
    """Import the refitted best model of a search over settings."""
    if not hasattr(model, "best_estimator_"):
        raise InputError(
            f"this {type(model).__name__} has no best model", hint="fit it with refit=True."
        )
    return from_model(model.best_estimator_)


def pipeline(model: Any) -> Forest:
    """Import the last step; the steps before it compute its columns from the user's."""
    forest = from_model(model[-1])
    steps = model[:-1]
    if len(steps) == 0:
        return forest
    if forest.encoder is not None:
        raise InputError("a pipeline whose last step is a pipeline cannot be imported")
    columns = feature_names(_first(model))
    origin = sources(steps, np.arange(len(columns)))
    if len(origin) != forest.n_features:
        raise InputError(
            f"the steps before {type(model[-1]).__name__} should produce {len(origin)} columns, "
            f"but the model has {forest.n_features}",
            hint="import the last step alone: cw.forest.from_model(pipeline[-1]).",
        )
    return replace(
        forest,
        feature_names=_names_out(steps, columns, forest),
        columns=columns,
        groups=origin.astype(np.int32),
        encoder=PipelineEncoder(steps, columns, hasattr(_first(model), "feature_names_in_")),
        source=f"pipeline ending in {forest.source}",
    )


def _first(model: Any) -> Any:
    """The first step, which was fitted to the user's columns."""
    steps = [step for _, step in model.steps]
    return next(step for step in steps if step is not None and not isinstance(step, str))


def _names_out(steps: Any, columns: tuple[str, ...], forest: Forest) -> tuple[str, ...]:
    try:
        return tuple(map(str, steps.get_feature_names_out(list(columns))))
    except (AttributeError, ValueError):  # a step that does not name its columns
        return forest.feature_names


Origin = NDArray[np.intp]


def sources(step: Any, origin: Origin) -> Origin:
    """Return the user's column that each column of a fitted transformer comes from.

    ``origin`` is the user's column behind each of its input columns. A column that is computed from
    several of the user's belongs to none of them and is refused.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> encoder = OneHotEncoder().fit([["a", "x"], ["b", "y"], ["c", "y"]])
    >>> sources(encoder, np.array([4, 7]))
    array([4, 4, 4, 7, 7])
    """
    for kind in type(step).__mro__:
        if kind.__name__ in _TRACERS and kind.__module__.startswith(("sklearn.", "builtins")):
            return _TRACERS[kind.__name__](step, origin)
    if hasattr(step, "get_support"):
        return np.asarray(origin[step.get_support()])
    raise InputError(
        f"the step {type(step).__name__} may combine several of your columns into one, so the "
        "model cannot be explained in terms of single columns of yours",
        hint="import the last step alone, on its own columns: cw.forest.from_model(pipeline[-1]).",
    )


def _pipeline(step: Any, origin: Origin) -> Origin:
    for _, part in step.steps:
        origin = origin if part is None else sources(part, origin)
    return origin


def _column_transformer(step: Any, origin: Origin) -> Origin:
    inputs = step._transformer_to_input_indices  # noqa: SLF001
    made = np.full(max((s.stop for s in step.output_indices_.values()), default=0), -1, np.intp)
    for name, part, _ in step.transformers_:
        place = step.output_indices_.get(name, slice(0, 0))
        if place.stop > place.start:
            made[place] = sources(part, origin[np.asarray(inputs[name], np.intp)])
    return made


def _union(step: Any, origin: Origin) -> Origin:
    parts = [sources(part, origin) for _, part in step.transformer_list if part != "drop"]
    return np.concatenate([*parts, origin[:0]])


def _imputer(step: Any, origin: Origin) -> Origin:
    kept = origin
    if not step.keep_empty_features:
        kept = origin[[not _is_nan(value) for value in step.statistics_]]
    if step.add_indicator:
        kept = np.concatenate([kept, origin[step.indicator_.features_]])
    return kept


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _function(step: Any, origin: Origin) -> Origin:
    if step.func is None or step.feature_names_out == "one-to-one":
        return origin
    raise InputError(
        "the columns that the function of a FunctionTransformer computes have no known source",
        hint="set feature_names_out='one-to-one' if each column is transformed by itself.",
    )


def _polynomial(step: Any, origin: Origin) -> Origin:
    involved = step.powers_ > 0
    if (involved.sum(axis=1) != 1).any():
        raise InputError(
            "PolynomialFeatures computes columns from several of yours, or from none",
            hint="use include_bias=False with a SplineTransformer, or leave products to the trees.",
        )
    return np.asarray(origin[involved.argmax(axis=1)])


def _mixes(step: Any, origin: Origin) -> Origin:  # noqa: ARG001 - one signature for all
    raise InputError(
        f"{type(step).__name__} computes each column from all of yours",
        hint="leave it out: trees need neither normalised rows nor imputed values.",
    )


# By name of the class or of a base, nearest first.
_TRACERS: dict[str, Callable[[Any, Origin], Origin]] = {
    "str": lambda step, origin: origin if step == "passthrough" else origin[:0],
    "Pipeline": _pipeline,
    "ColumnTransformer": _column_transformer,
    "FeatureUnion": _union,
    # one for each level, less those dropped or joined as infrequent
    "OneHotEncoder": lambda step, origin: np.repeat(origin, step._n_features_outs),  # noqa: SLF001
    "KBinsDiscretizer": lambda step, origin: (
        np.repeat(origin, step.n_bins_) if step.encode.startswith("onehot") else origin
    ),
    "SplineTransformer": lambda step, origin: np.repeat(
        origin, len(step.get_feature_names_out()) // len(origin)
    ),
    "TargetEncoder": lambda step, origin: np.repeat(origin, len(step.encodings_) // len(origin)),
    "SimpleImputer": _imputer,
    "MissingIndicator": lambda step, origin: origin[step.features_],
    "FunctionTransformer": _function,
    "PolynomialFeatures": _polynomial,
    "Normalizer": _mixes,
    "KNNImputer": _mixes,
    "IterativeImputer": _mixes,
    "OneToOneFeatureMixin": lambda _, origin: origin,
}
