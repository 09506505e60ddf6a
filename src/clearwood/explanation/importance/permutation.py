"""Permutation importance: how much worse predictions get when a column is shuffled."""

import time
from collections.abc import Mapping, Sequence

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.clock import Clock
from clearwood._shared.progress import progress
from clearwood.checks import bins_of, coordinates, is_ordered, ranks, related
from clearwood.explanation.importance.losses import RowLoss
from clearwood.explanation.rows.predictor import Predictor

__all__ = ["permutation_differences", "strata"]

# Rows of one call: enough that calls are few, few enough that the work can be stopped.
_ROWS_PER_CALL = 50_000
_MOST_STRATA = 16
_ROWS_PER_STRATUM = 10


def permutation_differences(
    predictor: Predictor,
    players: Mapping[str, Sequence[int]],
    loss: RowLoss,
    rows: Index,
    *,
    repeats: int,
    conditional: bool,
    seed: int,
    clock: Clock,
) -> tuple[Floats, int]:
    """Shuffle every player, again and again, until all repeats are done or the time limit is over.

    All columns of a group are shuffled together, so what binds them is kept. Several shuffles of a
    player are evaluated in one call, as long as that stays small.

    Returns
    -------
    (ndarray of shape (rows, players), int)
        The mean increase of each row's loss, and how often each player was shuffled.
    """
    generator = np.random.default_rng(seed)
    before = loss(predictor.predict(rows), rows)
    groups = [
        strata(predictor, positions)[rows] if conditional else None
        for positions in players.values()
    ]
    weights = None if predictor.weights is None else predictor.weights[rows]
    total = np.zeros((len(rows), len(players)))
    at_once = max(1, _ROWS_PER_CALL // len(rows))
    done, started = 0, time.monotonic()
    before_this = predictor.evaluations[0]
    with progress("shuffling", total=len(players) * repeats) as step:
        try:
            while done < repeats and not (done and clock.is_over):
                size = min(at_once, repeats - done)
                result = np.empty_like(total)
                for k, (name, positions) in enumerate(players.items()):
                    source = np.concatenate(
                        [_shuffled(rows, groups[k], weights, generator) for _ in range(size)]
                    )
                    base = np.tile(rows, size)
                    predicted = predictor.predict(base, dict.fromkeys(positions, source))
                    # less the loss before, one by one: a column that changes nothing gets zero
                    after = loss(predicted, base).reshape(size, -1)
                    result[:, k] = (after - before).sum(axis=0)
                    speed = (predictor.evaluations[0] - before_this) / (time.monotonic() - started)
                    step(size, note=f"{name}, {speed:,.0f} evaluations/s")
                total += result
                done += size
        except KeyboardInterrupt:
            if not done:
                raise
    return total / done, done


def _shuffled(
    rows: Index, groups: Index | None, weights: Floats | None, generator: np.random.Generator
) -> Index:
    """Shuffle rows, within their groups; a row comes as often as its weight suggests."""
    result = rows.copy()
    for group in [None] if groups is None else np.unique(groups):
        inside = np.arange(len(rows)) if groups is None else np.flatnonzero(groups == group)
        source = rows[inside]
        if weights is not None:
            above = np.cumsum(weights[inside])
            steps = (generator.random() + np.arange(len(inside))) * (above[-1] / len(inside))
            source = source[np.searchsorted(above, steps, side="right").clip(max=len(inside) - 1)]
        result[inside] = generator.permutation(source)
    return result


def strata(predictor: Predictor, positions: Sequence[int]) -> Index:
    """Return for each row the number of its stratum: rows alike in the columns that go with these.

    The strata are the leaves of a small tree that predicts the column from the (at most three)
    columns most associated with it; a column that goes with none has one stratum.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    columns = predictor.columns
    others = related(predictor.profiles, positions)
    n_rows = len(predictor)
    if not others:
        return np.zeros(n_rows, np.intp)
    weights = predictor.weights
    given = np.column_stack([coordinates(columns[k], weights) for k in others])
    settings = {"max_leaf_nodes": _MOST_STRATA, "min_samples_leaf": _ROWS_PER_STRATUM}
    if n_rows < 2 * _ROWS_PER_STRATUM:
        return np.zeros(n_rows, np.intp)
    if len(positions) == 1 and not is_ordered(columns[positions[0]]):
        tree = DecisionTreeClassifier(**settings, random_state=0)
        tree.fit(given, bins_of(columns[positions[0]], weights), sample_weight=weights)
    else:
        tree = DecisionTreeRegressor(**settings, random_state=0)
        wanted = [
            np.nan_to_num(ranks(columns[k], weights), nan=0.5)
            if is_ordered(columns[k])
            else bins_of(columns[k], weights)
            for k in positions
        ]
        tree.fit(given, np.column_stack(wanted), sample_weight=weights)
    return np.asarray(tree.apply(given), np.intp)
