"""How much worse predictions get without a column: shuffled, or left out of the fit."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.clock import Clock
from clearwood._shared.errors import (
    ClearwoodWarning,
    InputError,
    Option,
    bad_value,
    unknown_choice,
    words,
)
from clearwood._shared.progress import progress
from clearwood.checks import bins_of, coordinates, is_ordered, ranks, related
from clearwood.explanation.effects.bands import Training
from clearwood.explanation.rows.compose import ArrayRows, frame_rows, take_rows
from clearwood.explanation.rows.predictor import Predictor
from clearwood.losses import LOSSES
from clearwood.table import Table

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["RowLoss", "loco_differences", "permutation_differences", "row_loss", "strata"]

#: From predictions of shape (rows, outputs) and positions of rows to one loss per row.
RowLoss = Callable[[Floats, Index], Floats]

_NAMES = ("squared", "absolute", "log", "zero-one")


def row_loss(predictor: Predictor, y: NDArray[Any], loss: Any) -> tuple[RowLoss, str]:
    """Choose a loss: log loss for probabilities, squared error for numbers, unless one is named.

    Returns
    -------
    (RowLoss, str)
        The loss and its name in words.
    """
    if callable(loss):
        return (
            lambda p, rows: np.asarray(loss(y[rows], p.squeeze(-1) if p.shape[1] == 1 else p))
        ), "increase of the loss"
    if loss is not None and loss not in _NAMES:
        raise unknown_choice("loss", loss, _NAMES)
    if predictor.scorer.classes:
        truth = _codes(y, predictor.scorer.classes)
        loss = _of_classes(predictor, loss)
        is_binary = predictor.scorer.is_binary
    else:
        truth = _numbers(y)
        loss, is_binary = loss or "squared", True
        if loss == "log":  # a function that predicts the probability of one
            truth = (truth == truth.max()).astype(np.intp)
    cut = 0.5 if predictor.unit.is_probability else 0.0
    per_row = LOSSES[loss].per_row

    def compared(p: Floats) -> Floats:
        if loss == "log":
            return np.column_stack([1 - p[:, 0], p[:, 0]]) if is_binary else p
        if loss == "zero-one" and predictor.scorer.classes:
            return np.asarray(p[:, 0] > cut if is_binary else p.argmax(axis=1), np.intp)
        return np.asarray(p[:, 0])

    measure = "share of errors" if loss == "zero-one" else LOSSES[loss].title
    return (lambda p, rows: per_row(truth[rows], compared(p))), f"increase of the {measure}"


def _codes(y: NDArray[Any], classes: Any) -> Index:
    position = {str(label): k for k, label in enumerate(classes)}
    unknown = [label for label in np.unique(y) if str(label) not in position]
    if unknown:
        raise InputError(
            f"the target has {unknown[0]!r}, which is not a class of the model",
            hint=f"its classes are {', '.join(map(repr, list(position)[:8]))}.",
        )
    return np.array([position[str(label)] for label in y], np.intp)


def _of_classes(predictor: Predictor, loss: str | None) -> str:
    is_probability = predictor.unit.is_probability
    if loss is None:
        return "log" if is_probability else "zero-one"
    if loss != "zero-one" and not is_probability:
        hint = words("use ", Option("loss", "zero-one"), ".")
        raise bad_value("loss", loss, "it needs probabilities", hint=hint)
    if loss in ("squared", "absolute"):
        raise bad_value("loss", loss, "it is for numbers", hint="for classes: 'log' or 'zero-one'.")
    return loss


def _numbers(y: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.asarray(y, np.float64)
    except ValueError:
        raise InputError(
            f"the target holds {y[0]!r}, but the model predicts numbers",
            hint="give a classifier with probabilities.",
        ) from None


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
    with progress("refitting", total=folds * (len(players) + 1)) as step:
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
