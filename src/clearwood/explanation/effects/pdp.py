"""Partial dependence and individual curves: columns held at a value, all others as they are."""

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood.explanation.adapter.explained import Explained
from clearwood.explanation.adapter.predictor import Predictor
from clearwood.explanation.decomposition.surface import surface_of
from clearwood.explanation.effects.extrapolation import Region
from clearwood.explanation.effects.grid import Points
from clearwood.explanation.games.trees import TreeGame

__all__ = ["curves", "exact_dependence", "outside_shares"]

_ROWS_COMPARED = 20
# Beyond this many leaves, asking the trees about every row is faster; the mean is the same.
_MOST_LEAVES = 20_000
# Made-up rows whose distance to the data is looked at, over all points of the grid.
_ROWS_LOOKED_AT = 30_000


def curves(predictor: Predictor, points: Points, rows: Index) -> Floats:
    """Give the prediction of every row with its columns held at every point (definition 7.3.1).

    Returns
    -------
    ndarray of shape (rows, points, outputs)
    """
    n_points, n_rows = int(np.prod(points.shape)), len(rows)
    base = np.tile(rows, n_points)
    held = {k: np.repeat(source, n_rows) for k, source in points.sources.items()}
    result = predictor.predict(base, held)
    return result.reshape(n_points, n_rows, -1).transpose(1, 0, 2)


def exact_dependence(
    explained: Explained, predictor: Predictor, points: Points, most: int, n_jobs: int
) -> Floats | None:
    """Read the partial dependence off the exact decomposition, where the model has one.

    Lemma 7.4.4: it is the baseline plus the components within the columns. None where the model
    has no exact decomposition on the scale that is wanted.

    Returns
    -------
    ndarray of shape (points, outputs), or None
    """
    if points.notes:
        return None  # the decomposition shows every level
    game = explained.exact_game
    if game is None or (isinstance(game, TreeGame) and game.forest.n_leaves > _MOST_LEAVES):
        return None
    try:
        rows = explained.rows()
    except InputError:
        return None
    few = rows.with_codes(rows.codes[:_ROWS_COMPARED])
    margin = game.predict(few, n_jobs=n_jobs)
    wanted = [game.outputs.index(name) for name in predictor.outputs if name in game.outputs]
    if len(wanted) < len(predictor.outputs):
        return None
    direct = predictor.predict(np.arange(len(few)))
    # the same numbers, or the scale is another one
    if not np.allclose(margin[:, wanted], direct, rtol=1e-6, atol=1e-9):
        return None
    rows, weights = explained.background_rows()
    surface = surface_of(
        explained.bound(n_jobs=n_jobs),
        rows,
        weights,
        points.positions,
        most=most,
        partial_dependence=True,
    )
    values = surface.values.reshape(*points.shape, -1)
    return values[..., wanted].reshape(-1, len(wanted))


def outside_shares(points: Points, rows: Index, support: Region) -> Floats:
    """Give the share of the made-up rows of each point that lie outside the data."""
    n_points = int(np.prod(points.shape))
    size = min(len(rows), max(20, _ROWS_LOOKED_AT // n_points))
    # evenly over the rows, the same at every point
    chosen = rows[np.linspace(0, len(rows) - 1, size).round().astype(np.intp)]
    base = np.tile(chosen, n_points)
    held = {k: np.repeat(source, size) for k, source in points.lookups.items()}
    outside = support.outside(base, held).reshape(n_points, size).mean(axis=1)
    return np.where(points.beyond, 1.0, outside)
