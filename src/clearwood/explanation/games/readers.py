"""Reading the user's data as a model's own columns.

Readers are classes rather than closures, so that games and explanations can be pickled.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.explanation.rows.rows import EncodedRows, LateCodes, plain_rows, rows_of_table
from clearwood.fitted import as_data, user_columns
from clearwood.forest import Forest, LearnerEncoder, default_names
from clearwood.table import Column, Encoder, Schema, Table, as_table

__all__ = ["EncodedReader", "ForestReader", "MatrixReader"]


@dataclass(frozen=True, eq=False)
class EncodedReader:
    """Reads data for a model behind Clearwood's encoder; of trees, the columns they split."""

    schema: Schema
    encoder: Encoder
    players: tuple[str, ...]
    forest: Forest | None = None

    def __call__(self, data: Any) -> EncodedRows:
        table = as_table(data, schema=self.schema)
        return rows_of_table(table, self.players, self.codes(table), data)

    def late(self, data: Any, own_codes: Callable[[EncodedRows], EncodedRows]) -> EncodedRows:
        """Read data whose codes, as a game plays with them, are made when they are needed."""
        table = as_table(data, schema=self.schema)
        codes: Any = LateCodes(table, _Making(self, own_codes))
        return rows_of_table(table, self.players, codes, data)

    def codes(self, table: Table) -> Floats:
        """Encode a table that has the columns and kinds of the schema."""
        encoded = self.encoder.transform(table)
        return encoded if self.forest is None else self.forest.matrix(encoded)


@dataclass(frozen=True, eq=False)
class _Making:
    """Makes the codes of some rows of a table that was read."""

    reader: EncodedReader
    own_codes: Callable[[EncodedRows], EncodedRows]

    def __call__(self, table: Table) -> Floats:
        bare = EncodedRows(self.reader.codes(table), (), np.empty(0))
        return self.own_codes(bare).codes


@dataclass(frozen=True, eq=False)
class ForestReader:
    """Reads data for trees that take the user's columns, with the encoder they may have."""

    forest: Forest

    def __call__(self, data: Any) -> EncodedRows:
        forest = self.forest
        if isinstance(forest.encoder, LearnerEncoder):
            table = as_table(data, schema=forest.encoder.schema)
            return rows_of_table(table, forest.columns, forest.matrix(table), data)
        data = as_data(data)
        made_up = forest.columns == default_names(len(forest.columns))
        columns = user_columns(data, forest.columns, by_position=made_up)
        return plain_rows(data, forest.matrix(data), columns)


@dataclass(frozen=True, eq=False)
class MatrixReader:
    """Reads data for a model that was fitted to a matrix or frame of numbers.

    Data is read by position where the model was fitted without names.
    """

    players: tuple[str, ...]
    by_position: bool
    takes_missing: bool = False

    def __call__(self, data: Any) -> EncodedRows:
        data = as_data(data)
        columns = user_columns(data, self.players, by_position=self.by_position)
        for column in columns:
            _check_number(column, takes_missing=self.takes_missing)
        numbers = [
            np.append(c.typed_levels(), np.nan)[c.values] if c.is_coded else c.values
            for c in columns
        ]
        return plain_rows(data, np.column_stack(numbers).astype(np.float64), columns)


def _check_number(column: Column, *, takes_missing: bool) -> None:
    """Refuse what a model of numbers cannot take."""
    if column.is_coded and column.label_type == "text":
        raise InputError(
            f"column {column.name!r} holds {column.levels[0]!r}; the model was fitted with numbers "
            "there",
            parameter=column.name,
            hint="explain the whole pipeline, with its encoder, rather than its last step.",
        )
    if column.n_missing and not takes_missing:
        row = int(np.flatnonzero(column.missing)[0])
        raise InputError(
            f"column {column.name!r} has a missing value in row {row}, and a linear model has no "
            "rule for missing values",
            parameter=column.name,
            hint="fill the gaps, or fit a pipeline that does.",
        )
