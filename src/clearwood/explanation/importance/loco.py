"""Leave one column out: what a model fitted without it does worse."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.clock import Clock
from clearwood._shared.errors import ClearwoodWarning
from clearwood._shared.progress import progress
from clearwood.explanation.effects.refit import Training
from clearwood.explanation.importance.losses import row_loss
from clearwood.explanation.rows.compose import ArrayRows, frame_rows, take_rows
from clearwood.explanation.rows.predictor import Predictor
from clearwood.table import Table

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["loco_differences"]


def loco_differences(
    explanation: "Explanation",
    training: Training,
    predictor: Predictor,
    players: Mapping[str, Sequence[int]],
    loss: Any,
    *,
    folds: int,
    scale: Any,
    seed: int,
    clock: Clock,
) -> tuple[Floats, str]:
    """Compute for each row and player the increase of the loss on rows that were held out.

    A column is left out by making it constant, at a value that occurs: no learner can learn from
    it then, and pipelines that name it still work.

    Returns
    -------
    (ndarray of shape (rows, players), the measure in words)
        NaN for rows of folds for which there was no time; the first is always done.
    """
    n_rows = len(training)
    parts = np.array_split(np.random.default_rng(seed).permutation(n_rows), folds)
    result = np.full((n_rows, len(players)), np.nan)
    made = {
        name: _without(training.data, [predictor.names[k] for k in positions], predictor)
        for name, positions in players.items()
    }
    words = ""
    with progress("fitting anew", total=folds * (len(players) + 1)) as step:
        for fold, part in enumerate(parts):
            if fold and clock.is_over:
                break
            kept = np.setdiff1d(np.arange(n_rows), part)
            whole, words = _losses(explanation, training, training.data, kept, part, loss, scale)
            step(1)
            for k, name in enumerate(players):
                without, _ = _losses(explanation, training, made[name], kept, part, loss, scale)
                result[part, k] = without - whole
                step(1, note=f"without {name}")
    return result, words


def _losses(
    explanation: "Explanation",
    training: Training,
    data: Any,
    kept: Index,
    part: Index,
    loss: Any,
    scale: Any,
) -> tuple[Floats, str]:
    with warnings.catch_warnings():
        # a constant column is what is wanted here
        warnings.simplefilter("ignore", ClearwoodWarning)
        fitted = training.fit(np.sort(kept), data)
        predictor = type(explanation)(fitted, take_rows(data, part)).predictor(scale=scale)
    measure, words = row_loss(predictor, training.y[part], loss)
    at = np.arange(len(part))
    return measure(predictor.predict(at), at), words


def _without(data: Any, names: Sequence[str], predictor: Predictor) -> Any:
    """Make columns constant."""
    row = {name: _typical(predictor, name) for name in names}
    if isinstance(data, Table):
        columns = [
            column.take(np.full(len(column), row[column.name])) if column.name in row else column
            for column in data.columns
        ]
        return replace(data, columns=tuple(columns))
    is_array = isinstance(data, np.ndarray)
    own = predictor.names if is_array else nw.from_native(data, eager_only=True).columns
    everyone = np.arange(len(predictor))
    held = {list(own).index(name): np.full(len(everyone), at) for name, at in row.items()}
    return (ArrayRows(data) if is_array else frame_rows(data))(everyone, held)


def _typical(predictor: Predictor, name: str) -> int:
    """Return a row with the median, or the most common level."""
    column = predictor.columns[predictor.position(name)]
    present = np.flatnonzero(~column.missing)
    if not len(present):
        return 0
    weights = predictor.weights
    weight = np.ones(len(present)) if weights is None else weights[present]
    values = column.values[present]
    if column.is_coded or values.dtype.kind == "O":
        _, first, at = np.unique(values.astype(str), return_index=True, return_inverse=True)
        return int(present[first[np.bincount(at, weight).argmax()]])
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    return int(present[order[np.searchsorted(below, below[-1] / 2, side="right")]])
