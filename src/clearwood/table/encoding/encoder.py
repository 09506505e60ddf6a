"""The step between a table and a model's matrix, learned from training rows only."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Call, InputError, Option, words
from clearwood.table.column import Column
from clearwood.table.encoding.columns import (
    Encoded,
    encoder_from_state,
    encoder_state,
    write_plain_numbers,
)
from clearwood.table.encoding.learn_table import LearnedTable, Tallies, Ways, learn_table
from clearwood.table.encoding.weighted import Weight, center_and_spread, centers_and_spreads
from clearwood.table.schema import ColumnSchema, Schema
from clearwood.table.table import Table
from clearwood.table.types import CODED, NUMERIC, Kind

__all__ = ["Encoder"]

# Rows written at a time: a block of the matrix then stays in the processor's cache while its
# columns are filled one after the other.
_BLOCK = 4096
# So many cells are standardised in one step.
_AT_ONCE = 1 << 18


# a Table goes in and an array comes out, whatever scikit-learn is set to make of arrays
class Encoder(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Encode a table as a matrix of numbers that records which column came from which.

    Everything is learned in ``fit``: levels, medians, scales. Encoding a row afterwards depends on
    that row only.

    | column | model columns |
    |---|---|
    | number | itself |
    | yes/no | 0 and 1 |
    | category, "onehot" | 0 and 1 for each level |
    | category, "ordinal" or "native" | the level's number, from 0 |
    | category, "target" | the level's mean target less the overall mean |
    | ordered category | its rank, from 0; with "native" as a category |
    | date | days since 2000-01-01; where they vary, year, month, day of week, day of year, hour |
    | text | none: left out with a warning |

    Parameters
    ----------
    categories
        How categories are encoded. "native" is for learners that take category codes themselves.
    missing
        "impute" fills missing numbers and dates with the median (yes/no with the more frequent
        answer) and adds an indicator column such as ``age:missing`` where training rows had gaps;
        a gap met later in a column that had none is filled without a sign. "native" passes NaN on.
        A missing category is a level of its own where training rows had one.
    ranked
        Ordered categories that have their rank with ``categories="native"`` too.
    scale
        Standardise numbers, ranks, ordinal codes, calendar features and target encodings to mean 0
        and standard deviation 1 over the training rows. Columns of 0 and 1 stay as they are.
    reference
        Leave out the one-hot column of the most frequent level, for models without a penalty.
    unseen
        What levels that training rows do not have, and missing ones where none were missing, hold:
        "mean" is the mean over the training rows, with which a linear model predicts the weighted
        mean of the levels' effects. With "zeros" they are encoded like no level in one-hot (with
        ``reference`` like the one left out), and in yes/no and ordered columns like the middle one.
    max_levels
        More levels than this in a category are refused, unless ``categories="target"``.
    native_levels
        With ``categories="native"``, categories with more levels than this are target-encoded: for
        learners with a limit of their own.
    smooth
        Shrinks target encodings as if this many rows with the overall mean were added to each
        level; 0 is the plain definition.
    task
        Whether the target is a number or a class, for target encoding. When None, it is inferred
        from the table, else from the type of ``y``.
    seed
        Fixes the folds of the cross-fitted target encoding.

    Attributes
    ----------
    averaging_ : tuple of str
        Columns of levels in which a level never seen holds the mean of the training rows.
    schema_ : Schema
        The features used.
    used_ : tuple of str
        Their names.
    left_out_ : dict of str to str
        Columns not used, with the reason.
    columns_ : tuple of Encoded
        What each model column is and which of the user's columns it came from.
    sources_ : ndarray of int
        For each model column, the position of the user's column in ``used_``.
    categorical_ : tuple of int
        Positions of the model columns that hold native category codes.

    Notes
    -----
    An unseen level is encoded as zeros in one-hot (see ``unseen``), -1 in ordinal, NaN in native,
    and 0 (the mean) in target encoding; in yes/no and ordered columns it counts as missing. Missing
    is -1 in ordinal encoding (NaN with ``missing="native"``) and NaN in native.

    Target encoding follows Hiabu (2024), definition 5.2.5. For two classes the target is membership
    in the class that sorts last; for more there is one model column a class. ``fit_transform``
    gives the training rows codes computed from the other folds, so that a model fitted to them does
    not see a row's own target; ``transform`` uses all training rows.

    Examples
    --------
    >>> from clearwood.table import Column, Kind, Table
    >>> age = Column("age", Kind.NUMBER, np.array([30.0, np.nan, 50.0]))
    >>> town = Column("town", Kind.CATEGORY, np.array([0, 1, 0], np.int32), ("Lund", "Ystad"))
    >>> encoder = Encoder().fit(Table((age, town)))
    >>> list(encoder.get_feature_names_out())
    ['age', 'age:missing', 'town=Lund', 'town=Ystad']
    >>> encoder.transform(Table((age, town)))
    array([[30.,  0.,  1.,  0.],
           [40.,  1.,  0.,  1.],
           [50.,  0.,  1.,  0.]])
    >>> encoder.columns_[1].source
    'age'
    """

    def __init__(
        self,
        *,
        categories: Literal["onehot", "ordinal", "native", "target"] = "onehot",
        missing: Literal["impute", "native"] = "impute",
        ranked: Sequence[str] | None = None,
        scale: bool = False,
        reference: bool = False,
        max_levels: int = 1000,
        native_levels: int | None = None,
        smooth: float = 0.0,
        task: str | None = None,
        seed: int = 0,
        unseen: Literal["zeros", "mean"] = "zeros",
    ) -> None:
        self.categories = categories
        self.missing = missing
        self.ranked = ranked
        self.scale = scale
        self.reference = reference
        self.max_levels = max_levels
        self.native_levels = native_levels
        self.smooth = smooth
        self.task = task
        self.seed = seed
        self.unseen = unseen

    def fit(self, table: Table, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the encoding.

        Parameters
        ----------
        table
            Training rows.
        y
            The target, needed for target encoding only.
        sample_weight
            Row weights: a row of weight 2 counts as two in medians, means and shares, and nothing
            is learned from rows of weight 0.

        Returns
        -------
        Encoder
            Itself, fitted.
        """
        self._learn(table, y, sample_weight)
        return self

    def fit_transform(self, table: Table, y: Any = None, sample_weight: Any = None) -> Floats:
        """Learn the encoding and encode the training rows, target encodings cross-fitted.

        Parameters
        ----------
        table, y, sample_weight
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_model_columns)
        """
        return self._learn(table, y, sample_weight)

    def fit_tallies(self, empty: Table, tallies: Tallies) -> Self:
        """Learn the encoding from few values of each column that tell as much as all rows.

        Parameters
        ----------
        empty
            The table without rows.
        tallies
            For each feature, values with their weights.

        Returns
        -------
        Encoder
            Itself, fitted, but for the scale: see `standardise`.
        """
        self._set_learned(learn_table(empty, None, None, self._ways(), tallies))
        return self

    def standardise(self, center: Floats, spread: Floats) -> None:
        """Scale model columns that are quantities by means and standard deviations."""
        at = self.standardisable_
        self._scale(np.where(at, center, 0.0), np.where(at, spread, 1.0))

    @property
    def standardisable_(self) -> NDArray[np.bool_]:
        """Which model columns are quantities, which ``scale`` standardises."""
        return np.concatenate([encoder.standardisable for encoder in self._encoders])

    @property
    def averaging_(self) -> tuple[str, ...]:
        """Columns of levels in which a level never seen holds the mean of the training rows."""
        check_is_fitted(self, "columns_")
        if self.unseen != "mean":
            return ()
        return tuple(column.name for column in self.schema_.columns if column.levels)

    def transform(self, table: Table) -> Floats:
        """Encode rows.

        Parameters
        ----------
        table
            With the columns of ``schema_``, in any order; others are not looked at. Levels are
            matched by name.

        Returns
        -------
        ndarray of shape (n_rows, n_model_columns)
            Of float64, rows contiguous.
        """
        check_is_fitted(self, "columns_")
        values = [self._aligned(_table(table).column(c.name), c) for c in self.schema_.columns]
        return self._encode(values)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the names of the model columns."""
        check_is_fitted(self, "columns_")
        return np.array([column.name for column in self.columns_], dtype=object)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what was learned as JSON values and plain arrays.

        Returns
        -------
        tuple of dict and dict of str to ndarray
            What `from_state` takes.
        """
        check_is_fitted(self, "columns_")
        arrays: dict[str, NDArray[Any]] = {}
        encoders = []
        for i, encoder in enumerate(self._encoders):
            raw, held = encoder_state(encoder)
            encoders.append(raw)
            arrays.update({f"{i}.{name}": array for name, array in held.items()})
        values = {
            "params": self.get_params(),
            "schema": self.schema_.to_json(),
            "left_out": self.left_out_,
            "columns": [column.to_json() for column in self.columns_],
            "categorical": list(self.categorical_),
            "encoders": encoders,
        }
        return values, arrays

    @classmethod
    def from_state(cls, values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make a fitted encoder from what `state` gave; it encodes to the same bits."""
        encoder = cls(**values["params"])
        parts = []
        for i, raw in enumerate(values["encoders"]):
            prefix = f"{i}."
            held = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
            parts.append(encoder_from_state(raw, held))
        columns = (Encoded.from_json(raw) for raw in values["columns"])
        encoder._set_learned(
            LearnedTable(
                Schema.from_json(values["schema"]),
                tuple(parts),
                tuple(columns),
                tuple(values["categorical"]),
                dict(values["left_out"]),
            )
        )
        return encoder

    def _set_learned(self, learned: LearnedTable) -> None:
        self.schema_ = learned.schema
        self.used_ = learned.schema.names
        self.left_out_ = learned.left_out
        self._encoders = learned.encoders
        self.columns_ = learned.columns
        self.categorical_ = learned.categorical
        widths = [encoder.width for encoder in learned.encoders]
        self.sources_ = np.repeat(np.arange(len(widths)), widths)
        self._starts = [0, *itertools.accumulate(widths[:-1])]
        self.n_features_in_ = len(self.used_)

    def _ways(self) -> Ways:
        return Ways(**{option.name: getattr(self, option.name) for option in fields(Ways)})

    def _learn(self, table: Table, y: Any, sample_weight: Any) -> Floats:
        ways = self._ways()
        table = _table(table)
        if table.n_rows == 0:
            raise InputError("the table has no rows to learn from", parameter="table")
        weight = _checked_weight(sample_weight, table.n_rows)
        learned = learn_table(table, y, weight, ways)
        self._set_learned(learned)
        matrix = self._encode([table.column(name).values for name in self.used_])
        for start, codes in learned.crossed.items():
            matrix[:, start : start + codes.shape[1]] = codes
        if self.scale:
            self._standardise(matrix, weight)
        return matrix

    def _encode(self, values: Sequence[NDArray[Any]]) -> Floats:
        n_rows = len(values[0])
        matrix = np.empty((n_rows, len(self.columns_)))
        others: Sequence[int] = range(len(self._encoders))
        if n_rows <= _BLOCK:
            others = write_plain_numbers(self._encoders, self._starts, values, matrix)
        for top in range(0, n_rows, _BLOCK):
            rows = slice(top, top + _BLOCK)
            block = matrix[rows]
            for i in others:
                encoder, start = self._encoders[i], self._starts[i]
                encoder.write(values[i][rows], block[:, start : start + encoder.width])
        return matrix

    def _standardise(self, matrix: Floats, weight: Weight) -> None:
        """Learn centre and spread from encoded training rows, and apply them to these rows."""
        counting = slice(None) if weight is None else weight > 0
        share = None if weight is None else weight[counting]
        quantities = self.standardisable_
        center, spread = np.zeros(len(quantities)), np.ones(len(quantities))
        at = np.flatnonzero(quantities)
        if weight is None and matrix.size <= _AT_ONCE:
            values = matrix[:, at]
            center[at], spread[at] = centers_and_spreads(values.T)
            matrix[:, at] = (values - center[at]) / spread[at]
        else:
            for j in at:
                center[j], spread[j] = center_and_spread(matrix[counting, j], share)
                matrix[:, j] = (matrix[:, j] - center[j]) / spread[j]
        self._scale(center, spread)

    def _scale(self, center: Floats, spread: Floats) -> None:
        self._encoders = tuple(
            encoder.standardised(center[start:], spread[start:])
            for encoder, start in zip(self._encoders, self._starts, strict=True)
        )

    def _aligned(self, column: Column, schema: ColumnSchema) -> NDArray[Any]:
        """Return a column's values with codes that mean the schema's levels."""
        alike = column.kind == schema.kind or {column.kind, schema.kind} <= NUMERIC
        both_coded = column.is_coded and schema.kind in CODED
        if not (alike or both_coded):
            raise InputError(
                f"column {column.name!r} is {_with_article(column.kind)} here, but was "
                f"{_with_article(schema.kind)} when the model was fitted",
                parameter=column.name,
                value=str(column.kind),
                hint=words("set ", Option("kinds", {column.name: schema.kind.value}), "."),
            )
        k = len(schema.levels)
        if not column.is_coded or column.levels[:k] == schema.levels:
            return column.values
        place = {level: code for code, level in enumerate(schema.levels)}
        moved = np.array([*(place.get(level, k) for level in column.levels), k, -1], np.int32)
        codes: NDArray[Any] = moved[np.minimum(column.values, len(column.levels))]
        return codes


def _table(table: Any) -> Table:
    if not isinstance(table, Table):
        raise InputError(
            f"the encoder takes a Table, not {type(table).__name__}",
            parameter="table",
            hint=words("make one with ", Call("read", ("data",)), "."),
        )
    return table


def _checked_weight(sample_weight: Any, n_rows: int) -> Weight:
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64).reshape(-1)
    if len(weight) != n_rows:
        raise InputError(
            f"sample_weight has {len(weight)} values for {n_rows} rows",
            parameter="sample_weight",
            value=len(weight),
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all() and (weight > 0).any()):
        raise InputError(
            "sample_weight must hold numbers of 0 or more, at least one of them above 0",
            parameter="sample_weight",
            hint="rows of weight 0 are left out of the learning.",
        )
    return weight


def _with_article(kind: Kind) -> str:
    if kind in (Kind.YES_NO, Kind.TEXT):
        return str(kind)
    return f"{'an' if kind is Kind.ORDERED else 'a'} {kind}"
