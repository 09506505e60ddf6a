"""The game of a pipeline that ends in a linear model, with whatever steps come before it.

Most steps work column by column. Then each column of the last step's matrix belongs to one of the
user's columns, and what a column adds is read off the coefficients: the rows go through the steps
once. Steps that mix columns linearly (a rotation, say) leave a sum over columns too; what a column
adds is then the change of the score when that column alone differs from a reference row.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood.explanation.adapter.compose import beside, model_input, rows_of
from clearwood.explanation.adapter.rows import (
    Rows,
    as_data,
    no_background,
    plain_rows,
    user_columns,
)
from clearwood.explanation.adapter.supported import EXPLAINED, NotDecomposableError, name_of
from clearwood.explanation.games.additive import AdditiveGame, Terms
from clearwood.explanation.games.scores import Score, dense, fitted_names

__all__ = ["PipelineReader", "pipeline_game"]

# Rows on which a pipeline is checked to be a sum over columns.
_ROWS_CHECKED = 256
# Cells of the last step's matrix that are held at a time.
_CELLS_PER_BLOCK = 8_000_000


@dataclass(frozen=True, eq=False)
class PipelineReader:
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
        One row, from which what a column adds is measured.
    owners
        For each column of the last step's matrix, the position of the model's column that it is
        made from, -1 where that is not known yet; None where steps mix columns.
    """

    players: tuple[str, ...]
    by_position: bool
    score: Score
    reference: Any
    owners: Index | None = None

    def form(self, data: Any) -> Any:
        """Turn data into the form that the pipeline takes."""
        return model_input(data, None if self.by_position else self.players)

    @cached_property
    def constant(self) -> Floats:
        """The score of the reference, of shape (outputs,)."""
        return np.asarray(self.score.of(self.reference)[0])

    @cached_property
    def reference_matrix(self) -> Floats:
        """The reference after all steps but the last."""
        return np.asarray(dense(self.score.matrix(self.reference))[0])

    def with_owners(self, rows: Any) -> "PipelineReader":
        """Find the column behind each column of the last step's matrix, as far as rows show it."""
        if self.score.coefficients is None:
            return self
        matrix = dense(self.score.matrix(rows))
        return replace(self, owners=_owners(self, rows, matrix))

    def terms(self, rows: Any) -> Floats:
        """Compute what each column adds, of shape (rows, columns, outputs)."""
        block = max(_ROWS_CHECKED, _CELLS_PER_BLOCK // len(self.reference_matrix))
        if len(rows) > block:
            take = rows_of(rows)
            places = np.arange(len(rows))
            blocks = (places[first : first + block] for first in range(0, len(rows), block))
            return np.concatenate([self.terms(take(part, {})) for part in blocks])
        terms = self._by_coefficients(rows)
        return self._column_by_column(rows) if terms is None else terms

    def _by_coefficients(self, rows: Any) -> Floats | None:
        if self.owners is None:
            return None
        matrix = dense(self.score.matrix(rows))
        # levels, for instance, that no row had when the owners were looked for
        new = (self.owners < 0) & (matrix != self.reference_matrix).any(axis=0)
        owners = self.owners
        if new.any():
            looked_up = _owners(self, rows, matrix)
            if looked_up is None:
                return None
            owners = np.where(new, looked_up, owners)
        last = replace(self.score, steps=())
        terms = Terms(last, np.maximum(owners, 0), len(self.players), self.reference_matrix)
        return terms.of(matrix).reshape(len(rows), len(self.players), -1)

    def _column_by_column(self, rows: Any) -> Floats:
        terms = np.zeros((len(rows), len(self.players), len(self.constant)))
        take = rows_of(rows)
        for k in range(len(self.players)):
            # what a column adds depends on its value only: equal ones are computed once
            first, value = _distinct(rows, k)
            own = beside(take(first, {}), self.reference, [k])
            terms[:, k] = (self.score.of(own) - self.constant)[value]
        return terms

    def __call__(self, data: Any) -> Rows:
        data = as_data(data)
        rows = self.form(data)
        columns = user_columns(data, self.players, by_position=self.by_position)
        return plain_rows(data, self.terms(rows).reshape(len(rows), -1), columns)


def pipeline_game(model: Any, score: Score, data: Any) -> AdditiveGame:
    """Make the game of a pipeline; an error if it is no sum over its columns."""
    if data is None:
        raise InputError(
            f"{name_of(model)} needs data", parameter="data", hint="give the training rows."
        )
    players, by_position = fitted_names(model)
    background = model_input(as_data(data), None if by_position else players)
    if not len(background):
        raise no_background()
    take = rows_of(background)
    checked = take(np.arange(min(len(background), _ROWS_CHECKED)), {})
    reader = PipelineReader(players, by_position, score, take(np.zeros(1, np.intp), {}))
    reader = reader.with_owners(checked)
    _check_additive(model, reader, checked)
    return AdditiveGame(
        columns=players,
        groups=np.repeat(np.arange(len(players)), len(reader.constant)),
        outputs=score.outputs,
        unit=score.unit,
        is_step=False,
        kind=name_of(model),
        reader=reader,
        constant=reader.constant,
    )


def _check_additive(model: Any, reader: PipelineReader, rows: Any) -> None:
    """Refuse steps that mix columns: rows put together from several rows reveal them."""
    generator = np.random.default_rng(0)
    places = range(len(reader.players))
    index = np.column_stack([generator.permutation(len(rows)) for _ in places])
    mixed = rows_of(rows)(index[:, 0], {k: index[:, k] for k in places})
    terms = reader.terms(rows)
    parts = np.stack([terms[index[:, k], k] for k in places], axis=1)
    direct = reader.score.of(mixed)
    size = np.abs(direct).max(initial=0) + np.abs(parts).sum(axis=1).max(initial=0)
    total = reader.constant + parts.sum(axis=1)
    if not np.allclose(total, direct, rtol=0, atol=1e-9 * (1 + size)):
        raise NotDecomposableError(
            f"{name_of(model)} is not a sum over its columns: a step before the last mixes them",
            hint=f"these have an exact decomposition: {EXPLAINED}.",
        )


def _owners(reader: PipelineReader, rows: Any, matrix: Floats) -> Index | None:
    """Find which column of the rows each column of the matrix is made from.

    Columns are numbered from 1 in binary. For each digit, the columns whose number has it are taken
    from rows, the others from the reference: what moves then has that digit in its owner's number.

    Returns
    -------
    ndarray or None
        -1 for columns that do not move in these rows; None where a column moves partly, so that
        it is made from several.
    """
    at, n_columns = reader.reference_matrix, len(reader.players)
    span = np.abs(matrix - at)
    farthest = span.argmax(axis=0)
    moving = np.flatnonzero(span.max(axis=0, initial=0.0) > 0)
    owners = np.full(len(at), -1)
    if not len(moving):
        return owners
    chosen, place = np.unique(farthest[moving], return_inverse=True)
    few = rows_of(rows)(chosen, {})
    ends = at[moving], matrix[farthest[moving], moving]
    number = np.zeros(len(moving), np.intp)
    for digit in range(n_columns.bit_length()):
        columns = [k for k in range(n_columns) if (k + 1) >> digit & 1]
        mixed = reader.score.matrix(beside(few, reader.reference, columns))
        made = dense(mixed)[place, moving]
        distance = np.abs(made - ends) / np.abs(ends[1] - ends[0])
        if (distance.min(axis=0) > 1e-9).any():
            return None
        number += (distance[1] < distance[0]).astype(np.intp) << digit
    if (number < 1).any() or (number > n_columns).any():
        return None
    owners[moving] = number - 1
    return owners


def _distinct(rows: Any, column: int) -> tuple[Index, Index]:
    """Find a row for each value of a column, and for each row the position of its value."""
    values: NDArray[Any]
    if isinstance(rows, np.ndarray):
        values = rows[:, column]
    else:
        frame = nw.from_native(rows, eager_only=True)
        values = frame[frame.columns[column]].to_numpy()
    if values.dtype.kind != "O":
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        return first, inverse
    codes: dict[Any, int] = {}
    inverse = np.array([codes.setdefault(value, len(codes)) for value in values], np.intp)
    _, first = np.unique(inverse, return_index=True)
    return first, inverse
