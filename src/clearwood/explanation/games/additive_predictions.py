"""Predictions of an additive game through a link."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from clearwood._shared.arrays import Floats
from clearwood.explanation.games.game import Game
from clearwood.explanation.rows.rows import Rows
from clearwood.fitted import both_signs

__all__ = ["LINKS", "GameCall"]


@dataclass(frozen=True, eq=False)
class GameCall:
    """Prediction of an additive game through a link: rows come as its codes."""

    game: Game
    link: Callable[[Floats], Floats]

    def __call__(self, codes: Floats) -> Floats:
        """Predict."""
        rows = Rows(codes=codes, columns=(), labels=np.arange(len(codes)))
        return self.link(self.game.predict(rows))


def _logistic(scores: Floats) -> Floats:
    positive = expit(scores[:, 0])
    return np.column_stack([1 - positive, positive])


def _softmax(scores: Floats) -> Floats:
    return np.asarray(softmax(scores, axis=1))


def _single(scores: Floats) -> Floats:
    return scores[:, 0] if scores.shape[1] == 1 else scores


def _both(scores: Floats) -> Floats:
    return both_signs(scores[:, 0])


def _exponential(scores: Floats) -> Floats:
    return np.exp(np.minimum(_single(scores), 700.0))


#: From what an additive model adds up, (rows, outputs), to what it predicts.
LINKS: tuple[Callable[[Floats], Floats], ...] = (_single, _logistic, _softmax, _both, _exponential)
