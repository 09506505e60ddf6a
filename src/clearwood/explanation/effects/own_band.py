"""The band of a model that knows how far its own score varies with other training data."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood.explanation.effects.grid import Points
from clearwood.explanation.effects.request import Band, Request
from clearwood.explanation.games.game import Game
from clearwood.explanation.games.spread import BoundSpread, standard_errors
from clearwood.explanation.rows.compose import CodeRows
from clearwood.explanation.rows.predictor import Predictor
from clearwood.explanation.rows.rows import Rows
from clearwood.fitted import Unit

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["no_own_band", "own_band", "spread_of"]

#: Moves values by a number on the scale before the link.
_Shift = Callable[[Floats, Floats], Floats]
# Probabilities are kept this far from 0 and 1 before their log odds are taken, and logs this small.
_TINY, _LARGEST = 1e-12, 500.0


def no_own_band(why: str) -> InputError:
    """Make the error for a model whose own band is wanted and not known."""
    return InputError(
        why,
        parameter="band",
        hint=words(
            "models of the learners gam and glass know their own; for others use ",
            Option("band", "rows"),
            " or ",
            Option("refit", 50),
            ".",
        ),
    )


def spread_of(explanation: "Explanation") -> BoundSpread | None:
    """Return how far the model varies, over its background; None where it does not know."""
    return explanation.bound_spread() if explanation.is_exact else None


def own_band(
    request: Request, points: Points, mean: Floats, each: Floats | None = None
) -> Band | None:
    """Compute the model's own band of a partial dependence, (points, outputs).

    Before the link it is symmetric. On the scale of the predictions, every row's score is moved
    up or down by half its width, and the mean taken of the predictions: a monotone function of the
    shift, so that the band covers as it does before the link.

    Returns
    -------
    Band or None
        None where another band is wanted, or the model does not know its own.
    """
    options = request.options
    if not options.bands or options.band == "rows":
        return None
    is_demanded = options.band != "auto"
    explanation, predictor = request.explanation, request.predictor
    spread = spread_of(explanation)
    if spread is None:
        if is_demanded:
            raise no_own_band("this model does not know how far its predictions vary")
        return None
    game = explanation.game
    shift = _shift(game, predictor)
    wanted = _outputs(game, predictor)
    if shift is None or wanted is None:
        if is_demanded:
            raise no_own_band(f"the model's own band is for its {game.unit}, not on this scale")
        return None
    players = tuple(sorted(points.positions))
    deviations = spread.dependence(_rows_at(request, points), players)[:, wanted]
    is_simultaneous = options.band == "simultaneous"
    half = spread.half_widths(deviations, options.confidence, simultaneous=is_simultaneous)
    if predictor.unit == game.unit:
        low, high, errors = mean - half, mean + half, standard_errors(deviations)
    else:
        assert each is not None
        errors = None
        share = (request.weights / request.weights.sum())[:, None, None]
        low, high = (np.sum(share * shift(each, sign * half), axis=0) for sign in (-1.0, 1.0))
    freedom = spread.least_freedom(deviations)
    return Band(low, high, spread.spread.source, is_simultaneous, errors, freedom)


def _shift(game: Game, predictor: Predictor) -> _Shift | None:
    """Find how predictions move with the score; None where that depends on other outputs."""
    if predictor.unit == game.unit:
        return np.add
    if game.unit is Unit.LOG_ODDS and predictor.unit.is_probability and len(game.outputs) == 1:
        return _probabilities
    if game.unit is Unit.LOG_MEAN and predictor.unit is Unit.PREDICTION:
        return _means
    return None


def _probabilities(each: Floats, by: Floats) -> Floats:
    return np.asarray(expit(logit(np.clip(each, _TINY, 1 - _TINY)) + by))


def _means(each: Floats, by: Floats) -> Floats:
    return np.asarray(each * np.exp(np.clip(by, -_LARGEST, _LARGEST)))


def _outputs(game: Game, predictor: Predictor) -> list[int] | None:
    """Find the game's outputs; of two classes, the band of one is that of the other."""
    if len(game.outputs) == 1:
        return [0] * len(predictor.outputs)
    if not set(predictor.outputs) <= set(game.outputs):
        return None
    return [game.outputs.index(name) for name in predictor.outputs]


def _rows_at(request: Request, points: Points) -> Rows:
    """Return a row for each point, as the game is played with; other columns do not matter."""
    predictor, explanation = request.predictor, request.explanation
    composed = predictor.compose(np.zeros(points.size, np.intp), points.sources)
    if isinstance(predictor.compose, CodeRows):
        return explanation.rows().with_codes(composed)
    return explanation.game.rows(composed)
