"""The game of a model that adds up what its columns say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.explanation.adapter.rows import Rows, as_data, label_rows, user_columns
from clearwood.explanation.adapter.sheets import Sheet, sheet_of
from clearwood.explanation.adapter.supported import EXPLAINED, NotTakenApartError, name_of
from clearwood.explanation.games.additive import AdditiveGame
from clearwood.explanation.games.game import Floats
from clearwood.explanation.games.scores import Score
from clearwood.forest.inputs import default_names
from clearwood.table import Column, Table

__all__ = ["additive", "of_matrix", "of_sheets"]

# Rows that a model is asked about to see whether it is a sum over columns.
_ROWS_CHECKED = 256
_ROWS_PER_BLOCK = 1 << 13


@dataclass(frozen=True, eq=False)
class _Terms:
    """What each column adds to the score, found by holding all others at a reference."""

    score: Callable[[Floats], Floats]
    groups: NDArray[np.intp]
    n_players: int
    reference: Floats

    @property
    def constant(self) -> Floats:
        return np.asarray(self.score(self.reference[None, :])[0])

    def of(self, matrix: Floats) -> Floats:
        constant = self.constant
        found = np.zeros((len(matrix), self.n_players, len(constant)))
        for first in range(0, len(matrix), _ROWS_PER_BLOCK):
            part = matrix[first : first + _ROWS_PER_BLOCK]
            held = np.repeat(self.reference[None, :], len(part), axis=0)
            for player in np.unique(self.groups):
                mine = self.groups == player
                held[:, mine] = part[:, mine]
                found[first : first + _ROWS_PER_BLOCK, player] = self.score(held) - constant
                held[:, mine] = self.reference[mine]
        return found.reshape(len(matrix), self.n_players * len(constant))


def additive(
    players: Sequence[str],
    score: Score,
    kind: str,
    read: Callable[[Any], Rows],
    groups: NDArray[np.intp],
    reference: Floats,
) -> AdditiveGame:
    """Make the game of a score of a matrix.

    Parameters
    ----------
    players
        The user's columns.
    score
        How the model scores rows of its own columns.
    kind
        What it is, in words.
    read
        Turns the user's data into rows of the model's columns.
    groups
        The player behind each of the model's columns.
    reference
        A row of the model's columns at which those not looked at are held.
    """
    terms = _Terms(score.of, groups, len(players), reference)

    def read_terms(data: Any) -> Rows:
        rows = read(data)
        return replace(rows, codes=terms.of(rows.codes))

    return AdditiveGame(
        columns=tuple(players),
        groups=np.repeat(np.arange(len(players)), len(score.outputs)),
        outputs=score.outputs,
        unit=score.unit,
        is_step=False,
        kind=kind,
        reader=read_terms,
        constant=terms.constant,
    )


def of_matrix(model: Any, score: Score) -> AdditiveGame:
    """Take a linear model that was fitted to a matrix or frame of numbers."""
    names = getattr(model, "feature_names_in_", None)
    players = default_names(model.n_features_in_) if names is None else tuple(map(str, names))

    def read(data: Any) -> Rows:
        data = as_data(data)
        columns = user_columns(data, players, by_position=names is None)
        for column in columns:
            _check_number(column)
        numbers = [
            np.append(c.typed_levels(), np.nan)[c.values] if c.is_coded else c.values
            for c in columns
        ]
        return Rows(
            codes=np.column_stack(numbers).astype(np.float64),
            columns=columns,
            labels=label_rows(data, len(columns[0])),
            weights=data.weights if isinstance(data, Table) else None,
            source=data.source if isinstance(data, Table) else "",
        )

    groups = np.arange(len(players))
    reference = np.zeros(len(players))
    return additive(players, score, type(model).__name__, read, groups, reference)


def _check_number(column: Column) -> None:
    """Refuse what a linear model cannot multiply."""
    if column.is_coded and column.label_type == "text":
        raise InputError(
            f"column {column.name!r} holds {column.levels[0]!r}; the model was fitted with numbers "
            "there",
            hint="explain the whole pipeline, with its encoder, rather than its last step.",
        )
    if column.n_missing:
        row = int(np.flatnonzero(column.missing)[0])
        raise InputError(
            f"column {column.name!r} has a missing value in row {row}, and a linear model has no "
            "rule for missing values",
            hint="fill the gaps, or fit a pipeline that does.",
        )


def of_sheets(model: Any, score: Score, data: Any) -> AdditiveGame:
    """Take a pipeline that ends in a linear model, with whatever steps come before it."""
    if data is None:
        raise InputError(f"{name_of(model)} needs a background", hint="pass background=data.")
    names = getattr(model, "feature_names_in_", None)
    players = default_names(model.n_features_in_) if names is None else tuple(map(str, names))
    wanted = None if names is None else players
    background = sheet_of(as_data(data), wanted)
    reference = background.take(slice(0, 1))
    constant = score.of(reference.native())[0]

    def terms(sheet: Sheet) -> Floats:
        found = np.zeros((len(sheet), len(players), len(constant)))
        for k in range(len(players)):
            # what a column adds depends on its value alone: equal ones are asked about once
            rows, value = sheet.distinct(k)
            held = sheet.take(rows).held(reference, k)  # type: ignore[arg-type]
            found[:, k] = (score.of(held.native()) - constant)[value]
        return found

    _check_additive(model, score, terms, background, constant)

    def read(data: Any) -> Rows:
        data = as_data(data)
        sheet = sheet_of(data, wanted)
        return Rows(
            codes=terms(sheet).reshape(len(sheet), len(players) * len(constant)),
            columns=user_columns(data, players, by_position=names is None),
            labels=label_rows(data, len(sheet)),
            weights=data.weights if isinstance(data, Table) else None,
            source=data.source if isinstance(data, Table) else "",
        )

    return AdditiveGame(
        columns=players,
        groups=np.repeat(np.arange(len(players)), len(constant)),
        outputs=score.outputs,
        unit=score.unit,
        is_step=False,
        kind=name_of(model),
        reader=read,
        constant=constant,
    )


def _check_additive(
    model: Any,
    score: Score,
    terms: Callable[[Sheet], Floats],
    background: Sheet,
    constant: Floats,
) -> None:
    """Refuse steps that mix columns: rows put together from several rows give them away."""
    generator = np.random.default_rng(0)
    sheet = background.take(slice(0, _ROWS_CHECKED))
    n_columns = model.n_features_in_
    index = np.column_stack([generator.permutation(len(sheet)) for _ in range(n_columns)])
    mixed = sheet.shuffled(index)
    parts = terms(mixed)
    direct = score.of(mixed.native())
    size = np.abs(direct).max(initial=0) + np.abs(parts).sum(axis=1).max(initial=0)
    if not np.allclose(constant + parts.sum(axis=1), direct, rtol=0, atol=1e-9 * (1 + size)):
        raise NotTakenApartError(
            f"{name_of(model)} is not a sum over its columns: a step before the last mixes them",
            hint=f"these can be taken apart exactly: {EXPLAINED}.",
        )
