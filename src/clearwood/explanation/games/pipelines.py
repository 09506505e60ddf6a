"""The game of a pipeline that ends in a linear model, with whatever steps come before it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.explanation.games.additive import AdditiveGame
from clearwood.explanation.games.columnwise import ROWS_CHECKED, ColumnTerms
from clearwood.explanation.rows.compose import rows_of
from clearwood.explanation.rows.rows import Rows, no_background, plain_rows
from clearwood.explanation.rows.supported import EXPLAINED, NotDecomposableError
from clearwood.fitted import Score, as_data, fitted_names, model_input, name_of, user_columns

__all__ = ["PipelineReader", "pipeline_game"]


@dataclass(frozen=True, eq=False)
class PipelineReader:
    """Reads data as what its columns add to the score of a pipeline that ends in a linear model.

    Data is read by position where the model was fitted without names.
    """

    players: tuple[str, ...]
    by_position: bool
    terms: ColumnTerms

    def __call__(self, data: Any) -> Rows:
        data = as_data(data)
        rows = model_input(data, None if self.by_position else self.players)
        columns = user_columns(data, self.players, by_position=self.by_position)
        codes = np.empty((0, len(columns) * len(self.terms.constant)))
        if len(rows):
            codes = self.terms(rows).reshape(len(rows), -1)
        return plain_rows(data, codes, columns)


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
