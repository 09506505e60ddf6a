"""Reading the user's data as a model's own columns.

Readers are classes rather than closures, so that games and explanations can be pickled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.explanation.adapter.rows import (
    Rows,
    as_data,
    label_rows,
    rows_of_table,
    user_columns,
)
from clearwood.explanation.adapter.sheets import Sheet, sheet_of
from clearwood.explanation.games.scores import Score
from clearwood.forest import Forest, LearnerEncoder, default_names
from clearwood.table import Column, Encoder, Schema, Table, as_table

__all__ = ["EncodedReader", "ForestReader", "MatrixReader", "SheetReader"]


@dataclass(frozen=True, eq=False)
class EncodedReader:
    """Reads data for a model behind Clearwood's encoder.

    Parameters
    ----------
    schema, encoder
        Of the learner.
    players
        The user's columns.
    forest
        The trees behind the encoder; None for other models.
    """

    schema: Schema
    encoder: Encoder
    players: tuple[str, ...]
    forest: Forest | None = None

    def __call__(self, data: Any) -> Rows:
        table = as_table(data, schema=self.schema)
        encoded = self.encoder.transform(table)
        codes = encoded if self.forest is None else self.forest.matrix(encoded)
        return rows_of_table(table, self.players, codes, data)


@dataclass(frozen=True, eq=False)
class ForestReader:
    """Reads data for trees that take the user's columns, with the encoder they may have."""

    forest: Forest

    def __call__(self, data: Any) -> Rows:
        forest = self.forest
        if isinstance(forest.encoder, LearnerEncoder):
            table = as_table(data, schema=forest.encoder.schema)
            return rows_of_table(table, forest.columns, forest.matrix(table), data)
        data = as_data(data)
        made_up = forest.columns == default_names(len(forest.columns))
        columns = user_columns(data, forest.columns, by_position=made_up)
        return _rows(data, forest.matrix(data), columns)


@dataclass(frozen=True, eq=False)
class MatrixReader:
    """Reads data for a linear model that was fitted to a matrix or frame of numbers.

    Parameters
    ----------
    players
        The model's columns.
    by_position
        Whether the model was fitted without names.
    """

    players: tuple[str, ...]
    by_position: bool

    def __call__(self, data: Any) -> Rows:
        data = as_data(data)
        columns = user_columns(data, self.players, by_position=self.by_position)
        for column in columns:
            _check_number(column)
        numbers = [
            np.append(c.typed_levels(), np.nan)[c.values] if c.is_coded else c.values
            for c in columns
        ]
        return _rows(data, np.column_stack(numbers).astype(np.float64), columns)


@dataclass(frozen=True, eq=False)
class SheetReader:
    """Reads data as what its columns add to the score of a pipeline that ends in a linear model.

    Parameters
    ----------
    players
        The model's columns.
    by_position
        Whether the model was fitted without names.
    score
        Of the whole pipeline.
    reference
        One row at which columns that are not looked at are held.
    constant
        Its score, of shape (outputs,).
    """

    players: tuple[str, ...]
    by_position: bool
    score: Score
    reference: Sheet
    constant: Floats

    def sheet(self, data: Any) -> Sheet:
        """Give data in the form that the pipeline takes."""
        return sheet_of(data, None if self.by_position else self.players)

    def terms(self, sheet: Sheet) -> Floats:
        """Give what each column adds, of shape (rows, columns, outputs)."""
        terms = np.zeros((len(sheet), len(self.players), len(self.constant)))
        for k in range(len(self.players)):
            # what a column adds depends on its value alone: equal ones are computed once
            rows, value = sheet.distinct(k)
            held = sheet.take(rows).held(self.reference, k)  # type: ignore[arg-type]
            terms[:, k] = (self.score.of(held.native()) - self.constant)[value]
        return terms

    def __call__(self, data: Any) -> Rows:
        data = as_data(data)
        sheet = self.sheet(data)
        codes = self.terms(sheet).reshape(len(sheet), len(self.players) * len(self.constant))
        return _rows(data, codes, user_columns(data, self.players, by_position=self.by_position))


def _rows(data: Any, codes: Floats, columns: Sequence[Column]) -> Rows:
    return Rows(
        codes=codes,
        columns=tuple(columns),
        labels=label_rows(data, len(codes)),
        weights=data.weights if isinstance(data, Table) else None,
        source=data.source if isinstance(data, Table) else "",
    )


def _check_number(column: Column) -> None:
    """Refuse what a linear model cannot multiply."""
    if column.is_coded and column.label_type == "text":
        raise InputError(
            f"column {column.name!r} holds {column.levels[0]!r}; the model was fitted with numbers "
            "there",
            parameter=column.name,
            hint="explain the whole pipeline, with its encoder, rather than its last step.",
        )
    if column.n_missing:
        row = int(np.flatnonzero(column.missing)[0])
        raise InputError(
            f"column {column.name!r} has a missing value in row {row}, and a linear model has no "
            "rule for missing values",
            parameter=column.name,
            hint="fill the gaps, or fit a pipeline that does.",
        )
