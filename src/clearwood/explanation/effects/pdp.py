"""Partial dependence, individual curves and marginal means."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import percent
from clearwood.explanation.decomposition.surface import Grid, surface_of
from clearwood.explanation.effects.bands import resampled_weights
from clearwood.explanation.effects.extrapolation import Region
from clearwood.explanation.effects.grid import GridPoints
from clearwood.explanation.effects.request import Band, EffectRequest, MeasuredEffect
from clearwood.explanation.games.game import Game
from clearwood.explanation.games.spread import BoundSpread, standard_errors
from clearwood.explanation.games.trees import TreeGame
from clearwood.explanation.results.about import axis_numbers
from clearwood.explanation.rows.compose import CodeRows
from clearwood.explanation.rows.predictor import Predictor
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.fitted import Unit

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = [
    "curves",
    "ice",
    "marginal",
    "mean_curve",
    "no_own_band",
    "own_band",
    "pdp",
    "slopes",
    "spread_of",
    "supported_pdp",
]

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
            "models of the learners gam and glass have one; for others use ",
            Option("band", "rows"),
            " or ",
            Option("n_refits", 50),
            ".",
        ),
    )


def spread_of(explanation: "Explanation") -> BoundSpread | None:
    """Return how far the model varies, over its background; None where that is not known."""
    return explanation.bound_spread() if explanation.is_exact else None


def own_band(
    request: EffectRequest, points: GridPoints, mean: Floats, each: Floats | None = None
) -> Band | None:
    """Compute the model's own band of a partial dependence, (points, outputs).

    Before the link it is symmetric. On the scale of the predictions, every row's score is moved
    up or down by half its width, and the mean taken of the predictions: a monotone function of the
    shift, so that the band covers as it does before the link.

    Returns
    -------
    Band or None
        None where another band is wanted, or the model has none of its own.
    """
    options = request.options
    if not options.n_bootstrap or options.band == "rows":
        return None
    is_demanded = options.band != "auto"
    explanation, predictor = request.explanation, request.predictor
    spread = spread_of(explanation)
    if spread is None:
        if is_demanded:
            raise no_own_band("the variance of this model's predictions is not known")
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
        return _exponentials
    return None


def _probabilities(each: Floats, by: Floats) -> Floats:
    return np.asarray(expit(logit(np.clip(each, _TINY, 1 - _TINY)) + by))


def _exponentials(each: Floats, by: Floats) -> Floats:
    return np.asarray(each * np.exp(np.clip(by, -_LARGEST, _LARGEST)))


def _outputs(game: Game, predictor: Predictor) -> list[int] | None:
    """Find the game's outputs; of two classes, the band of one is that of the other."""
    if len(game.outputs) == 1:
        return [0] * len(predictor.outputs)
    if not set(predictor.outputs) <= set(game.outputs):
        return None
    return [game.outputs.index(name) for name in predictor.outputs]


def _rows_at(request: EffectRequest, points: GridPoints) -> EncodedRows:
    """Return a row for each point, as the game is played with; other columns do not matter."""
    predictor, explanation = request.predictor, request.explanation
    composed = predictor.compose(np.zeros(points.size, np.intp), points.sources)
    if isinstance(predictor.compose, CodeRows):
        return explanation.rows().with_codes(composed)
    return explanation.game.rows(composed)


# Means of fewer rows than this vary more than resampling these rows shows.
_FEW = 10


def marginal(request: EffectRequest) -> MeasuredEffect:
    """Average the prediction over the rows nearest to each point; NaN where there are none.

    It estimates E[m(X) | X_S = x_S] (Hiabu 2024, section 7.3.2). Every row is predicted as it is,
    so nothing is extrapolated; but a column that the model ignores gets the effect of those it is
    associated with (example 22).
    """
    points = request.points()
    request, predicted, stopped = request.in_time(request.predictor.predict, 1)
    cells = points.cells()[request.rows]
    means = _means(predicted, cells, request.weights, points.size)
    replicates = None
    if request.options.n_bootstrap:
        drawn = resampled_weights(request.weights, request.options.n_bootstrap, request.seed)
        replicates = np.stack(
            [_means(predicted, cells, w, points.size) for block in drawn for w in block]
        )
        _widen_few(replicates, predicted, means, cells, request.seed)
    return request.measured(points, means, replicates, stopped=stopped)


def _widen_few(
    replicates: Floats, predicted: Floats, means: Floats, cells: Index, seed: int
) -> None:
    """Vary means of few rows as their number suggests: resampling them shows little of it.

    Their variance is taken to be the average one within cells.
    """
    shown = cells >= 0
    counts = np.bincount(cells[shown], minlength=len(means))
    few = np.flatnonzero((counts > 0) & (counts < _FEW))
    left = max(int(shown.sum() - (counts > 0).sum()), 1)
    within = ((predicted[shown] - means[cells[shown]]) ** 2).sum(axis=0) / left
    noise = np.random.default_rng(seed).standard_normal((len(replicates), len(few), len(within)))
    replicates[:, few] = means[few] + noise * np.sqrt(within / counts[few, None])


def _means(predicted: Floats, cells: Index, weights: Floats, n_points: int) -> Floats:
    shown = cells >= 0
    total = np.bincount(cells[shown], weights[shown], minlength=n_points)
    result = np.empty((n_points, predicted.shape[1]))
    for k in range(predicted.shape[1]):
        sums = np.bincount(cells[shown], (weights * predicted[:, k])[shown], minlength=n_points)
        result[:, k] = np.divide(sums, total, out=np.full(n_points, np.nan), where=total > 0)
    return result


_ROWS_COMPARED = 20
# Beyond this many leaves, predicting every row is faster; the mean is the same.
_MOST_LEAVES = 20_000
# Made-up rows whose distance to the data is looked at, over all points of the grid.
_ROWS_LOOKED_AT = 15_000
# Rows whose curves give the band of a curve that is itself read off a decomposition.
_ROWS_FOR_BAND = 2000


def pdp(request: EffectRequest) -> MeasuredEffect:
    """Average the curves of all rows; read the mean off the decomposition where it is exact."""
    points = request.points()
    values = _exact_dependence(request, points)
    if values is not None:
        return _with_band(request.over_all(), points, values)
    request, each, stopped = _curves(request, points)
    mean = mean_curve(each, request.weights)
    band = own_band(request, points, mean, each)
    replicates = request.replicates(each) if band is None else None
    return _dependence(request, points, mean, replicates, stopped, band)


def ice(request: EffectRequest) -> MeasuredEffect:
    """Keep the curve of each row, as it is, from its first value on, or as slopes."""
    points = request.points()
    request, each, stopped = _curves(request, points)
    if request.options.derivative:
        each = slopes(each, points.grids[0])
    elif request.options.is_centred:
        each = each - each[:, :1]
    mean = mean_curve(each, request.weights)
    result = _dependence(request, points, mean, request.replicates(each), stopped)
    return replace(result, curves=each)


def supported_pdp(request: EffectRequest) -> MeasuredEffect:
    """Average over the rows within the data: the ratio of integrals of section 7.3.2."""
    points = request.points()
    request, each, stopped = _curves(request, points, request.support())
    mean = mean_curve(each, request.weights)
    left_out = float(np.isnan(each[..., 0]).mean())
    notes = [f"{percent(left_out)} of the rows lie outside the data and are left out"]
    if not np.isfinite(mean).all():
        notes.append(f"at {int((~np.isfinite(mean[:, 0])).sum())} points no row lies in the data")
    return request.measured(
        points,
        mean,
        request.replicates(each),
        stopped=stopped,
        notes=tuple(notes if left_out else ()),
    )


def curves(
    predictor: Predictor, points: GridPoints, rows: Index, support: Region | None = None
) -> Floats:
    """Predict every row with its columns held at every point (definition 7.3.1).

    With a support, only rows within the data are predicted; the others are NaN.

    Returns
    -------
    ndarray of shape (rows, points, outputs)
    """
    n_points, n_rows = points.size, len(rows)
    base = np.tile(rows, n_points)
    held = {k: np.repeat(source, n_rows) for k, source in points.sources.items()}
    if support is None:
        result = predictor.predict(base, held)
    else:
        looked = {k: np.repeat(source, n_rows) for k, source in points.lookups.items()}
        inside = ~(support.outside(base, looked) | np.repeat(points.beyond, n_rows))
        result = np.full((len(base), len(predictor.outputs)), np.nan)
        kept = {k: source[inside] for k, source in held.items()}
        result[inside] = predictor.predict(base[inside], kept)
    return result.reshape(n_points, n_rows, -1).transpose(1, 0, 2)


def mean_curve(each: Floats, weights: Floats) -> Floats:
    """Average curves over the rows, at each point over those that have a value there.

    Examples
    --------
    >>> mean_curve(np.array([[[1.0], [np.nan]], [[3.0], [np.nan]]]), np.ones(2))[:, 0]
    array([ 2., nan])
    """
    known = np.isfinite(each)
    if known.all():
        return np.asarray(np.einsum("i,ijk->jk", weights, each) / weights.sum())
    total = np.einsum("i,ijk->jk", weights, known)
    sums = np.einsum("i,ijk->jk", weights, np.where(known, each, 0.0))
    empty = np.full(total.shape, np.nan)
    return np.asarray(np.divide(sums, total, out=empty, where=total > 0))


def slopes(each: Floats, grid: Grid) -> Floats:
    """Compute the slope of every curve at every value: differences to the neighbours.

    Slopes that differ between the curves show an interaction; the mean slope is what a linear
    summary would have. Dates count in days.

    Examples
    --------
    >>> values = np.array([0.0, 1.0, 3.0])
    >>> grid = Grid(values, np.arange(3), np.arange(3), np.ones(3) / 3, True)
    >>> slopes((values**2)[None, :, None], grid)[0, :, 0]
    array([1., 2., 4.])
    """
    if not grid.is_ordered:
        raise InputError("levels have no slope", hint="derivatives are for numbers and dates.")
    values = axis_numbers(grid.values)
    present = np.isfinite(values)
    if present.sum() < 2:
        raise InputError("a slope needs at least two values")
    result = np.full(each.shape, np.nan)
    # second-order differences: exact for parabolas inside, whatever the spacing
    result[:, present] = np.gradient(each[:, present], values[present], axis=1)
    return result


def _curves(
    request: EffectRequest, points: GridPoints, support: Region | None = None
) -> tuple[EffectRequest, Floats, str | None]:
    return request.in_time(
        lambda rows: curves(request.predictor, points, rows, support), points.size
    )


def _exact_dependence(request: EffectRequest, points: GridPoints) -> Floats | None:
    """Read the partial dependence off the exact decomposition; None where there is none.

    Lemma 7.4.4: it is the baseline plus the components within the columns.
    """
    options, explanation, predictor = request.options, request.explanation, request.predictor
    if not options.exact or options.sample is not None or request.given:
        return None
    game = explanation.exact_game
    if points.notes or game is None:
        return None  # the decomposition shows every level
    if isinstance(game, TreeGame) and game.forest.n_leaves > _MOST_LEAVES:
        return None
    if explanation.n_drawn() is not None:
        return None  # predictions of all rows are nearer the truth than averages over drawn ones
    try:
        rows = explanation.rows(late=True)
    except InputError:
        return None
    few = rows.with_codes(rows.codes[:_ROWS_COMPARED])
    margin = game.predict(few, n_jobs=request.n_jobs)
    wanted = [game.outputs.index(name) for name in predictor.outputs if name in game.outputs]
    if len(wanted) < len(predictor.outputs):
        return None
    direct = predictor.predict(np.arange(len(few)))
    # the same numbers, or the scale is another one
    if not np.allclose(margin[:, wanted], direct, rtol=1e-6, atol=1e-9):
        return None
    rows, weights = explanation.background_rows()
    surface = surface_of(
        explanation.bound(n_jobs=request.n_jobs),
        rows,
        weights,
        points.positions,
        most=request.most,
        partial_dependence=True,
    )
    values = surface.values.reshape(*points.shape, -1)
    return values[..., wanted].reshape(-1, len(wanted))


def _with_band(request: EffectRequest, points: GridPoints, values: Floats) -> MeasuredEffect:
    """Add the model's own band to an exact curve, or one from the curves of some rows.

    The latter is narrowed to the number of all rows.
    """
    replicates, stopped = None, None
    band = own_band(request, points, values)
    if request.options.n_bootstrap and band is None:
        size = min(len(request.rows), _ROWS_FOR_BAND)
        chosen = np.random.default_rng(request.seed).choice(len(request.rows), size, replace=False)
        some, each, stopped = _curves(request.narrowed(request.rows[np.sort(chosen)]), points)
        drawn = some.replicates(each)
        assert drawn is not None
        narrower = np.sqrt(len(some.rows) / max(len(request.rows), request.explanation.n_all))
        replicates = values + (drawn - mean_curve(each, some.weights)) * narrower
    return replace(_dependence(request, points, values, replicates, stopped, band), exact=True)


def _dependence(
    request: EffectRequest,
    points: GridPoints,
    mean: Floats,
    replicates: Floats | None,
    stopped: str | None,
    band: Band | None = None,
) -> MeasuredEffect:
    outside = None
    if request.options.extrapolation:
        outside = _outside_shares(request, points).reshape(points.shape)
    return request.measured(points, mean, replicates, outside=outside, stopped=stopped, band=band)


def _outside_shares(request: EffectRequest, points: GridPoints) -> Floats:
    """Count the share of the made-up rows of each point that lie outside the data."""
    n_rows = len(request.rows)
    size = min(n_rows, max(20, _ROWS_LOOKED_AT // points.size))
    # evenly over the rows, the same at every point
    chosen = np.linspace(0, n_rows - 1, size).round().astype(np.intp)
    base = np.tile(request.rows[chosen], points.size)
    held = {k: np.repeat(source, size) for k, source in points.lookups.items()}
    outside = request.support().outside(base, held).reshape(points.size, size)
    share = outside @ request.weights[chosen] / request.weights[chosen].sum()
    return np.where(points.beyond, 1.0, share)
