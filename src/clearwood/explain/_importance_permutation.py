"""Permutation importance: how much worse predictions get when a column is shuffled."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from clearwood._progress import progress
from clearwood.explain._extrapolation import bins_of, coordinates, is_ordered, ranks, related
from clearwood.explain._importance_losses import RowLoss
from clearwood.explain._predictor import Predictor
from clearwood.explain._predictor_rows import Index

__all__ = ["permutation_differences", "strata"]

Floats = NDArray[np.float64]

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
) -> Floats:
    """Give for each row and player the mean increase of the loss over the shuffles.

    All columns of a group are shuffled together, so what binds them is kept. Each column's
    shuffles are asked in one call.

    Returns
    -------
    ndarray of shape (rows, players)
    """
    generator = np.random.default_rng(seed)
    before = loss(predictor.predict(rows), rows)
    found = np.empty((len(rows), len(players)))
    with progress("shuffling", total=len(players)) as step:
        for k, (name, positions) in enumerate(players.items()):
            groups = None
            if conditional:
                groups = strata(predictor, positions)[rows]
            drawn = [_shuffled(rows, groups, generator) for _ in range(repeats)]
            source = np.concatenate(drawn)
            base = np.tile(rows, repeats)
            predicted = predictor.predict(base, dict.fromkeys(positions, source))
            after = loss(predicted, base).reshape(repeats, -1).mean(axis=0)
            found[:, k] = after - before
            step(1, note=name)
    return found


def _shuffled(rows: Index, groups: Index | None, generator: np.random.Generator) -> Index:
    if groups is None:
        return generator.permutation(rows)
    made = rows.copy()
    for group in np.unique(groups):
        inside = np.flatnonzero(groups == group)
        made[inside] = generator.permutation(rows[inside])
    return made


def strata(predictor: Predictor, positions: Sequence[int]) -> Index:
    """Give each row the number of its stratum: rows alike in the columns that go with these.

    The strata are the leaves of a small tree that predicts the column from the (at most three)
    columns most associated with it; a column that goes with none has one stratum.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    columns = predictor.columns
    others = related(columns, positions)
    n_rows = len(predictor)
    if not others:
        return np.zeros(n_rows, np.intp)
    given = np.column_stack([coordinates(columns[k]) for k in others])
    settings = {"max_leaf_nodes": _MOST_STRATA, "min_samples_leaf": _ROWS_PER_STRATUM}
    if n_rows < 2 * _ROWS_PER_STRATUM:
        return np.zeros(n_rows, np.intp)
    if len(positions) == 1 and not is_ordered(columns[positions[0]]):
        tree = DecisionTreeClassifier(**settings, random_state=0)
        tree.fit(given, bins_of(columns[positions[0]]))
    else:
        tree = DecisionTreeRegressor(**settings, random_state=0)
        wanted = [
            np.nan_to_num(ranks(columns[k]), nan=0.5)
            if is_ordered(columns[k])
            else bins_of(columns[k])
            for k in positions
        ]
        tree.fit(given, np.column_stack(wanted))
    return np.asarray(tree.apply(given), np.intp)
