"""The matrix of a model's columns from tables, data frames and arrays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.names import listed
from clearwood.table import Column, Table, category_codes, string_codes

if TYPE_CHECKING:
    from clearwood.forest.forest import Forest

__all__ = ["default_names", "matrix"]


def default_names(n: int) -> tuple[str, ...]:
    """Return names for columns that have none; such columns are matched by position.

    Examples
    --------
    >>> default_names(3)
    ('x0', 'x1', 'x2')
    """
    return tuple(f"x{i}" for i in range(n))


def matrix(forest: "Forest", X: Any) -> NDArray[Any]:
    """Return the model's columns of a table: numbers, category codes, NaN for missing.

    A float32 or float64 array is returned as it is if nothing has to be changed.
    """
    made = _matrix(forest, X)
    if not forest.accepts_missing:
        _refuse_missing(forest, made)
    return made


def _refuse_missing(forest: "Forest", X: NDArray[Any]) -> None:
    for j in forest.features_used:
        rows = np.flatnonzero(np.isnan(X[:, j]))
        if len(rows):
            raise InputError(
                f"column {forest.feature_names[j]!r} has a missing value in row {rows[0]}, and "
                f"{forest.source} has no rule for missing values",
                parameter=forest.feature_names[j],
                hint="impute missing values, or fit a pipeline that does.",
            )


def _matrix(forest: "Forest", X: Any) -> NDArray[Any]:
    if forest.encoder is not None:
        encoded = forest.encoder.transform(X)
        encoded = encoded.toarray() if hasattr(encoded, "toarray") else np.asarray(encoded)
        return _recoded(forest, _checked(forest, encoded))
    if isinstance(X, Table):
        return _from_columns(
            forest, {column.header or column.name: column for column in X.columns}, X.n_rows
        )
    if hasattr(X, "toarray"):
        return _recoded(forest, _checked(forest, X.toarray()))
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _from_columns(forest, {name: frame[name] for name in frame.columns}, len(frame))
    return _recoded(forest, _checked(forest, np.asarray(X)))


def _checked(forest: "Forest", X: NDArray[Any]) -> NDArray[Any]:
    if X.ndim == 1 and forest.n_features != 1:
        raise InputError(
            f"expected rows and columns; got an array of shape {X.shape}",
            parameter="X",
            value=X.shape,
            hint="for one row, pass x.reshape(1, -1).",
        )
    X = X.reshape(-1, 1) if X.ndim == 1 else X
    if X.ndim != 2 or X.shape[1] != forest.n_features:
        raise InputError(
            f"the array has shape {X.shape}; the model has {forest.n_features} columns: "
            + listed(forest.feature_names, most=8),
            parameter="X",
            value=X.shape,
        )
    return X


def _recoded(forest: "Forest", X: NDArray[Any]) -> NDArray[Any]:
    coded = [j for j, levels in enumerate(forest.levels) if levels is not None]
    if not coded and X.dtype.kind in "fiub":
        return _marked(forest, X if X.dtype in (np.float32, np.float64) else X.astype(np.float64))
    columns = [
        _column(forest, j, X[:, j]) if X.dtype == object or j in coded else X[:, j]
        for j in range(X.shape[1])
    ]
    if X.dtype.kind not in "fiubO":
        raise InputError(f"the array holds {X.dtype}, not numbers", parameter="X", value=X.dtype)
    return _marked(forest, np.column_stack(columns).astype(np.float64, copy=False))


def _from_columns(forest: "Forest", columns: dict[str, Any], n_rows: int) -> NDArray[np.float64]:
    names: Sequence[str] = forest.feature_names
    by_position = names == default_names(len(names)) and not set(names) & set(columns)
    if by_position and len(columns) == len(names):
        names = list(columns)
    if any(name not in columns for name in names):
        # LightGBM writes the spaces in names as underscores
        columns = {name.replace(" ", "_"): column for name, column in columns.items()} | columns
    absent = [name for name in names if name not in columns]
    if absent:
        raise InputError(
            f"the table lacks {listed(absent, most=8)}, which the model was fitted with",
            parameter=absent[0],
            hint=did_you_mean(absent[0], columns),
        )
    X = np.empty((n_rows, len(names)))
    for j, name in enumerate(names):
        X[:, j] = _column(forest, j, columns[name])
    return _marked(forest, X)


def _marked(forest: "Forest", X: NDArray[Any]) -> NDArray[Any]:
    if forest.missing_value is None or np.isnan(forest.missing_value):
        return X
    # the library rounds before it looks for the mark
    mark = np.float32(forest.missing_value)
    return np.where(X.astype(np.float32) == mark, np.nan, X)


def _column(forest: "Forest", j: int, column: Any) -> NDArray[np.float64]:
    name, levels = forest.feature_names[j], forest.levels[j]
    if isinstance(column, Column) and column.is_coded and levels is not None:
        of_level = _codes(np.array(column.levels, dtype=object), levels)
        return np.take(np.append(of_level, np.nan), column.values)  # -1, missing, is the last
    if isinstance(column, nw.Series) and levels is not None:
        coded = _coded(column)
        if coded is not None:
            of_level = _codes(np.array(coded[1], dtype=object), levels)
            return np.take(np.append(of_level, np.nan), coded[0])
    if isinstance(column, nw.Series) and levels is None:
        _refuse_labels_without_codes(forest, j, column)
    if isinstance(column, nw.Series) and levels is None and column.dtype.is_numeric():
        return np.asarray(column.cast(nw.Float64).fill_null(float("nan")).to_numpy())
    if isinstance(column, Column):
        values = column.labels()
    elif isinstance(column, nw.Series):
        values = np.array(column.to_list(), dtype=object)
    else:
        values = np.asarray(column)
    if levels is not None:
        return _codes(values, levels)
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    try:
        return np.array([np.nan if v is None else v for v in values.tolist()], dtype=np.float64)
    except (TypeError, ValueError):
        if j not in forest.features_used:
            return np.full(len(values), np.nan)  # no tree splits on it
        example = next(v for v in values.tolist() if not isinstance(v, (int, float, type(None))))
        raise InputError(
            f"column {name!r} holds {example!r}; the model was fitted with numbers there",
            parameter=name,
            value=example,
            hint="explain the whole pipeline, with its encoder, rather than its last step.",
        ) from None


def _coded(column: "nw.Series[Any]") -> tuple[NDArray[np.int32], Sequence[Any]] | None:
    """Return labels as codes, -1 for missing, and what they stand for; None for no fast way."""
    if isinstance(column.dtype, nw.Categorical | nw.Enum):
        codes = category_codes(column)
        if codes is not None:
            return codes, column.cat.get_categories().to_list()
        if column.implementation.is_polars():  # whose categories are strings
            column = column.cast(nw.String)
    return string_codes(column) if isinstance(column.dtype, nw.String) else None


def _refuse_labels_without_codes(forest: "Forest", j: int, column: "nw.Series[Any]") -> None:
    """Refuse labels of a category that the model knows only as codes, as older XGBoost does."""
    if not isinstance(column.dtype, nw.Categorical | nw.Enum):
        return
    by_category = forest.feature[forest.category_start >= 0]
    if j in by_category:
        name = forest.feature_names[j]
        raise InputError(
            f"the model splits {name!r} by codes of categories, and does not record which label "
            "has which code",
            parameter=name,
            hint="pass the codes as numbers, or fit the model again with XGBoost 3.2 or newer.",
        )


def _codes(values: NDArray[Any], levels: tuple[Any, ...]) -> NDArray[np.float64]:
    """Return the codes of labels; labels that are not among the levels are missing."""
    if values.dtype.kind in "fiub" and np.asarray(levels).dtype.kind in "fiub":
        known = np.asarray(levels, np.float64)
        order = np.argsort(known)
        place = np.searchsorted(known[order], values).clip(max=len(known) - 1)
        return np.where(known[order[place]] == values, order[place], np.nan)
    code = {level: float(i) for i, level in enumerate(levels)}
    result = np.full(len(values), np.nan)
    for i, value in enumerate(values.tolist()):
        if value is not None:  # NaN is not a key, so it stays missing
            result[i] = code.get(value, np.nan)
    return result
