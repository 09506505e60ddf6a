"""The game of a pipeline that ends in a linear model, with whatever steps come before it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood.explanation.games.additive import AdditiveGame
from clearwood.explanation.games.game import EXPLAINED, NotDecomposableError
from clearwood.explanation.rows.compose import joined_columns, rows_of
from clearwood.explanation.rows.rows import EncodedRows, no_background, plain_rows
from clearwood.fitted import (
    Score,
    as_data,
    dense,
    fitted_names,
    model_input,
    name_of,
    quietly,
    user_columns,
)

__all__ = ["ROWS_CHECKED", "ColumnTerms", "PipelineReader", "Terms", "pipeline_game"]

#: Rows on which steps are looked at.
ROWS_CHECKED = 256
# Cells of the matrix of the last step, or of rows with columns held, that are made at a time.
_CELLS_PER_BLOCK = 8_000_000
# Rows on which coefficients are compared with the model's own score.
_ROWS_COMPARED = 20
# Columns of a matrix whose coefficients are measured, at most.
_MOST_MEASURED = 3000


@dataclass(frozen=True, eq=False)
class ColumnTerms:
    """What each column of rows adds to a score.

    It is measured from zeros in the matrix that the score's steps make: for scaled columns their
    mean. Where steps mix columns it is measured from a reference row.

    Parameters
    ----------
    score
        Of the model.
    reference
        One row, in the form that the model takes.
    n_columns
        How many columns the rows have.
    owners
        For each column of the matrix that the score's steps make, the position of the column that
        it is made from, -1 where that is not known yet; None where steps mix columns.
    """

    score: Score
    reference: Any
    n_columns: int
    owners: Index | None = None

    @classmethod
    def of(cls, score: Score, reference: Any, rows: Any) -> "ColumnTerms":
        """Find which steps work column by column, as far as some rows show it."""
        n_columns = rows.shape[1]
        if not len(rows):
            return cls(score, reference, n_columns)
        for n_steps in range(len(score.steps), -1, -1):
            known = score.coefficients if n_steps == len(score.steps) else None
            last = _Rest(score.steps[n_steps:], score.last)
            steps = score.steps[:n_steps]
            one = cls(replace(score, last=last, steps=steps), reference, n_columns)
            try:
                one = one._with_owners(rows, known)
            except (AttributeError, TypeError, ValueError):
                continue  # later steps do not take the matrix that these steps make
            if one.owners is not None:
                return one
        return cls(score, reference, n_columns)

    def _with_owners(self, rows: Any, coefficients: Floats | None) -> "ColumnTerms":
        matrix = dense(self.score.matrix(rows))
        owners = self._owners(rows, matrix) if self.score.steps else np.arange(self.n_columns)
        if owners is None:
            return self
        if coefficients is None:
            coefficients = _measured(self.score.last, self.reference_matrix, matrix)
        if not _is_linear(self.score.last, coefficients, self.reference_matrix, matrix):
            return self
        score = replace(self.score, coefficients=coefficients)
        return replace(self, score=score, owners=owners)

    @cached_property
    def constant(self) -> Floats:
        """The score that columns add to, of shape (outputs,)."""
        if self.owners is None:
            return np.asarray(self.score.of(self.reference)[0])
        return np.asarray(self.score.last(self._base[None, :])[0])

    @cached_property
    def _base(self) -> Floats:
        """Zeros; where the owner of a column of the matrix is not known, the reference."""
        assert self.owners is not None
        return np.where(self.owners < 0, self.reference_matrix, 0.0)

    @cached_property
    def reference_matrix(self) -> Floats:
        """The reference after the steps."""
        return np.asarray(dense(self.score.matrix(self.reference))[0])

    def __call__(self, rows: Any) -> Floats:
        """Compute what each column adds, of shape (rows, columns, outputs)."""
        width = self.n_columns if self.owners is None else len(self.owners)
        block = max(ROWS_CHECKED, _CELLS_PER_BLOCK // max(width, 1))
        take = rows_of(rows)
        if len(rows) > block:
            places = np.arange(len(rows))
            parts = (places[first : first + block] for first in range(0, len(rows), block))
            return np.concatenate([self(take(part, {})) for part in parts])
        terms = self.by_coefficients(rows)
        if terms is not None:
            return terms
        held = self.score.of(self.reference)[0]
        result = np.zeros((len(rows), self.n_columns, len(held)))
        for k in range(self.n_columns):
            # what a column adds depends on its value only: equal ones are computed once
            first_rows, value = _distinct(rows, k)
            own = joined_columns(take(first_rows, {}), self.reference, [k])
            result[:, k] = (self.score.of(own) - held)[value]
        of_reference = self.by_coefficients(self.reference)
        return result if of_reference is None else result + of_reference

    def by_coefficients(self, rows: Any) -> Floats | None:
        """Multiply coefficients; None where they do not give the score of these rows."""
        coefficients, owners, at = self.score.coefficients, self.owners, self.reference_matrix
        if owners is None:
            return None
        matrix = dense(self.score.matrix(rows))
        if not _is_linear(self.score.last, coefficients, at, matrix):
            return None
        # levels, for instance, that no row had when the owners were looked for
        new = (owners < 0) & (matrix != at).any(axis=0)
        if new.any():
            moved = self._owners(rows, matrix)
            if moved is None:
                return None
            owners = np.where(new, moved, owners)
        assert coefficients is not None
        return _by_group(matrix - self._base, coefficients, np.maximum(owners, 0), self.n_columns)

    def _owners(self, rows: Any, matrix: Floats) -> Index | None:
        """Find which column of the rows each column of the matrix is made from.

        Columns are numbered from 1 in binary. For each digit, the columns whose number has it are
        taken from rows, the others from the reference: what moves then has that digit in its
        owner's number.

        Returns
        -------
        ndarray or None
            -1 for columns that do not move in these rows; None where a column moves partly, so
            that it is made from several.
        """
        at = self.reference_matrix
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
        for digit in range(self.n_columns.bit_length()):
            columns = [k for k in range(self.n_columns) if (k + 1) >> digit & 1]
            mixed = dense(self.score.matrix(joined_columns(few, self.reference, columns)))
            distance = np.abs(mixed[place, moving] - ends) / np.abs(ends[1] - ends[0])
            if (distance.min(axis=0) > 1e-9).any():
                return None
            number += (distance[1] < distance[0]).astype(np.intp) << digit
        if (number < 1).any() or (number > self.n_columns).any():
            return None
        owners[moving] = number - 1
        return owners


@dataclass(frozen=True, eq=False)
class Terms:
    """What each player adds to the score of a matrix, measured from a reference row.

    Parameters
    ----------
    score
        Of the model.
    groups
        The player of each column of the matrix.
    n_players
        How many players there are.
    reference
        A row of the matrix.
    """

    score: Score
    groups: Index
    n_players: int
    reference: Floats

    @cached_property
    def constant(self) -> Floats:
        """The score of the reference, of shape (outputs,)."""
        return np.asarray(self.score.of(self.reference[None, :])[0])

    @cached_property
    def _is_linear(self) -> bool:
        """Whether coefficients give the score, so that nothing has to be looked for in rows."""
        if self.score.steps:
            return False
        around = np.random.default_rng(0).normal(size=(_ROWS_COMPARED, len(self.reference)))
        at = self.reference
        return _is_linear(self.score.last, self.score.coefficients, at, at + around)

    @cached_property
    def _players(self) -> list[tuple[int, Index | slice]]:
        """The players that have columns of the matrix, and their columns: mostly neighbours."""
        return [(int(k), _span(np.flatnonzero(self.groups == k))) for k in np.unique(self.groups)]

    @cached_property
    def _is_one_each(self) -> bool:
        """Whether each player has one column of the matrix, in order."""
        return np.array_equal(self.groups, np.arange(self.n_players))

    @cached_property
    def _moves(self) -> bool:
        """Whether the reference is another row than zeros."""
        return bool(self.reference.any())

    def of(self, matrix: Floats) -> Floats:
        """Compute (rows, players × outputs), outputs changing fastest."""
        is_linear = self._is_linear and np.isfinite(matrix).all()
        if is_linear and self._is_one_each and len(self.constant) == 1:
            # the products that the matrix products below would be
            assert self.score.coefficients is not None
            moved = matrix - self.reference if self._moves else matrix
            return np.asarray(moved * self.score.coefficients[:, 0])
        terms = np.zeros((len(matrix), self.n_players, len(self.constant)))
        if is_linear:
            coefficients = self.score.coefficients
            assert coefficients is not None
            moved = matrix - self.reference if self._moves else matrix
            for player, mine in self._players:
                terms[:, player] = moved[:, mine] @ coefficients[mine]
            return terms.reshape(len(matrix), self.n_players * len(self.constant))
        reference = self.reference[None, :]
        columns = ColumnTerms.of(self.score, reference, matrix[:ROWS_CHECKED])
        start = columns(reference)
        block = max(ROWS_CHECKED, _CELLS_PER_BLOCK // max(matrix.shape[1] * terms.shape[2], 1))
        for first in range(0, len(matrix), block):
            part = columns(matrix[first : first + block]) - start
            for player, mine in self._players:
                terms[first : first + block, player] = part[:, mine].sum(axis=1)
        return terms.reshape(len(matrix), self.n_players * len(self.constant))


@dataclass(frozen=True, eq=False)
class _Rest:
    """The score of a matrix that some steps have still to go over."""

    steps: tuple[Any, ...]
    last: Callable[[Any], Floats]

    def __call__(self, matrix: Any) -> Floats:
        for step in self.steps:
            matrix = quietly(step.transform, matrix)
        return self.last(matrix)


def _measured(last: Callable[[Any], Floats], at: Floats, matrix: Floats) -> Floats | None:
    """Measure coefficients by moving one column at a time, as far as it moves in the matrix."""
    if len(at) > _MOST_MEASURED:
        return None
    span = np.abs(matrix - at).max(axis=0, initial=0.0)
    span = np.where(span > 0, span, 1.0)
    moved = last(at + np.diag(span)) - last(at[None, :])
    return np.asarray(moved / span[:, None])


def _is_linear(
    last: Callable[[Any], Floats], coefficients: Floats | None, at: Floats, matrix: Floats
) -> bool:
    """Whether coefficients give the score, so that columns need not be held."""
    if coefficients is None or len(coefficients) != matrix.shape[1] or not len(matrix):
        return False
    if not np.isfinite(matrix).all():
        return False  # the model itself refuses missing values
    few = matrix[:_ROWS_COMPARED]
    total = last(at[None, :]) + (few - at) @ coefficients
    return np.allclose(total, last(few), rtol=1e-9, atol=1e-9)


def _span(places: Index) -> Index | slice:
    """Return neighbouring places as a slice, which copies nothing."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == len(places) else places


def _by_group(moved: Floats, coefficients: Floats, groups: Index, n_groups: int) -> Floats:
    """Multiply and add up the columns of each group: (rows, groups, outputs)."""
    terms = np.zeros((len(moved), n_groups, coefficients.shape[1]))
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    for mine in np.split(order, starts)[1:]:
        terms[:, groups[mine[0]]] = moved[:, mine] @ coefficients[mine]
    return terms


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


@dataclass(frozen=True, eq=False)
class PipelineReader:
    """Reads data as what its columns add to the score of a pipeline that ends in a linear model.

    Data is read by position where the model was fitted without names.
    """

    players: tuple[str, ...]
    by_position: bool
    terms: ColumnTerms

    def __call__(self, data: Any) -> EncodedRows:
        data = as_data(data)
        rows = model_input(data, None if self.by_position else self.players)
        columns = user_columns(data, self.players, by_position=self.by_position)
        codes = np.empty((0, len(columns) * len(self.terms.constant)))
        if len(rows):
            codes = self.terms(rows).reshape(len(rows), -1)
        return plain_rows(data, codes, columns)


def pipeline_game(model: Any, score: Score, data: Any) -> AdditiveGame:
    """Make the game of a pipeline; an error if it is not a sum over its columns."""
    if data is None:
        raise InputError(
            f"{name_of(model)} needs data", parameter="data", hint="give the training rows."
        )
    players, by_position = fitted_names(model)
    background = model_input(as_data(data), None if by_position else players)
    if not len(background):
        raise no_background()
    take = rows_of(background)
    checked = take(np.arange(min(len(background), ROWS_CHECKED)), {})
    terms = ColumnTerms.of(score, take(np.zeros(1, np.intp), {}), checked)
    _check_additive(model, terms, checked)
    return AdditiveGame(
        columns=players,
        groups=np.repeat(np.arange(len(players)), len(terms.constant)),
        outputs=score.outputs,
        unit=score.unit,
        is_step=False,
        kind=name_of(model),
        reader=PipelineReader(players, by_position, terms),
        constant=terms.constant,
    )


def _check_additive(model: Any, columns: ColumnTerms, rows: Any) -> None:
    """Refuse steps that mix columns: rows put together from several rows reveal them."""
    generator = np.random.default_rng(0)
    places = range(columns.n_columns)
    index = np.column_stack([generator.permutation(len(rows)) for _ in places])
    mixed = rows_of(rows)(index[:, 0], {k: index[:, k] for k in places})
    terms = columns(rows)
    parts = np.stack([terms[index[:, k], k] for k in places], axis=1)
    direct = columns.score.of(mixed)
    size = np.abs(direct).max(initial=0) + np.abs(parts).sum(axis=1).max(initial=0)
    total = columns.constant + parts.sum(axis=1)
    if not np.allclose(total, direct, rtol=0, atol=1e-9 * (1 + size)):
        raise NotDecomposableError(
            f"{name_of(model)} is not a sum over its columns: a step before the last mixes them",
            hint=f"these have an exact decomposition: {EXPLAINED}.",
        )
