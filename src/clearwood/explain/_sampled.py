"""Shapley values of any model that predicts, by sampling orders of its columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._errors import InputError
from clearwood._progress import progress
from clearwood.decompose._about import About, BackgroundInfo
from clearwood.decompose._game import checked_weights
from clearwood.decompose._of_encoded import learner_players
from clearwood.decompose._rows import Rows, as_data, label_rows, rows_of_table, user_columns
from clearwood.decompose._scores import quiet_call
from clearwood.decompose._sheets import ArraySheet, FrameSheet, Sheet, sheet_of
from clearwood.models import Learner
from clearwood.table import Table, as_table

__all__ = ["Sampled", "sampled_values"]

Floats = NDArray[np.float64]

# Rows that the model is asked about at once.
_ROWS_PER_CALL = 1 << 15


@dataclass(frozen=True, eq=False)
class Sampled:
    """Sampled Shapley values.

    Parameters
    ----------
    values, standard_errors
        Of shape (rows, columns, outputs).
    baseline
        The mean prediction over the whole background, of shape (outputs,).
    rows
        The explained rows, as the user sees them.
    about
        What was explained and how.
    """

    values: Floats
    standard_errors: Floats
    baseline: Floats
    rows: Rows
    about: About


@dataclass(frozen=True, eq=False)
class _Asked:
    """A model that is asked about rows put together from other rows, column by column."""

    sheet: Sheet
    groups: NDArray[np.intp]
    predict: Callable[[Any], Any]

    def at(self, index: NDArray[np.intp]) -> Floats:
        """Predict rows whose column of player k is taken from rows ``index[:, k]``."""
        found = []
        for first in range(0, len(index), _ROWS_PER_CALL):
            part = index[first : first + _ROWS_PER_CALL][:, self.groups]
            predicted = np.asarray(self.predict(self.sheet.shuffled(part).native()), np.float64)
            found.append(predicted.reshape(len(part), -1))
        return np.concatenate(found)


def sampled_values(
    model: Any, rows: Any, background: Any, weights: Any, *, sample: int, seed: int
) -> Sampled:
    """Estimate interventional Shapley values of the prediction, or of class probabilities.

    Each draw takes a background row and an order of the columns, and moves the columns one by one,
    in that order and then in the reverse one, from the background row to the explained one; what
    the prediction moves at a column's turn is an unbiased estimate of its Shapley value (Hiabu
    2024, section 7.1.1). Draws go through the background in random order, so that rows are used
    equally often; the standard errors, which do not count on that, are rather too large. The mean
    of a row's estimates does not quite add up to the prediction and is moved so that it does: each
    column in proportion to its squared standard error, the smallest change in units of the errors.
    """
    given: Any = sample
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 2:
        raise InputError(f"sample is {sample!r}; it must be a whole number of draws, at least 2")
    asked, read, behind, answer = _asked(model, rows, background)
    n_rows, n_background, n_players = len(read), len(behind), len(read.columns)
    weight = checked_weights(behind.weights if weights is None else weights, n_background)
    generator = np.random.default_rng(seed)
    whole = np.repeat(np.arange(n_rows + n_background)[:, None], n_players, axis=1)
    predicted = asked.at(whole)
    baseline = np.average(predicted[n_rows:], axis=0, weights=weight)
    values = np.zeros((n_rows, n_players, predicted.shape[1]))
    errors = np.zeros_like(values)
    with progress("sampling", total=n_rows) as step:
        for row in range(n_rows):
            drawn = n_rows + _draws(generator, n_background, weight, sample)
            gains = _gains(asked, generator, row, drawn, n_players)
            spread = gains.std(axis=0, ddof=1) / np.sqrt(sample)
            mean = gains.mean(axis=0)
            missing = predicted[row] - baseline - mean.sum(axis=0)
            share = spread**2
            total = share.sum(axis=0)
            share = np.where(total > 0, share / np.where(total > 0, total, 1), 1 / n_players)
            values[row] = mean + share * missing
            errors[row] = spread
            step(1)
    about = About(
        model=type(model).__name__ if not isinstance(model, Learner) else f"learner {model.name!r}",
        value="interventional",
        background=BackgroundInfo(n_background, weight is not None, behind.source),
        scale="response",
        unit=f"{answer.unit}, {sample:,} draws a row",
        outputs=answer.outputs,
    )
    return Sampled(values, errors, baseline, read, about)


def _draws(
    generator: np.random.Generator, n_background: int, weight: Floats | None, sample: int
) -> NDArray[np.intp]:
    if weight is not None:
        return generator.choice(n_background, sample, p=weight / weight.sum())
    rounds = [generator.permutation(n_background) for _ in range(-(-sample // n_background))]
    return np.concatenate(rounds)[:sample]


def _gains(
    asked: _Asked,
    generator: np.random.Generator,
    row: int,
    drawn: NDArray[np.intp],
    n_players: int,
) -> Floats:
    """Give what each column adds in each draw, the mean of an order and its reverse."""
    orders = np.array([generator.permutation(n_players) for _ in drawn])
    total = np.zeros(0)
    for direction in (orders, orders[:, ::-1]):
        # rank[d, k]: when column k moves in draw d; after step s, columns with rank < s have moved
        rank = np.argsort(direction, axis=1)
        moved = rank[:, None, :] < np.arange(n_players + 1)[None, :, None]
        index = np.where(moved, row, drawn[:, None, None]).reshape(-1, n_players)
        path = asked.at(index).reshape(len(drawn), n_players + 1, -1)
        gains = np.take_along_axis(np.diff(path, axis=1), rank[:, :, None], axis=1)
        total = gains if not total.size else total + gains
    return np.asarray(total / 2)


def _asked(model: Any, rows: Any, background: Any) -> tuple[_Asked, Rows, Rows, "_Answer"]:
    """Read both tables and put the explained rows before the background."""
    if isinstance(model, Learner):
        return _asked_learner(model, rows, background)
    if not hasattr(model, "predict"):
        raise InputError(f"{type(model).__name__} has no predict", hint="give a fitted model.")
    names = getattr(model, "feature_names_in_", None)
    names = None if names is None else tuple(map(str, names))
    data, behind = as_data(rows), as_data(background)
    sheets = sheet_of(data, names), sheet_of(behind, names)
    if isinstance(sheets[0], FrameSheet) and isinstance(sheets[1], FrameSheet):
        joined: Sheet = FrameSheet(nw.concat([sheets[0].frame, sheets[1].frame], how="vertical"))
        players = tuple(sheets[0].frame.columns)
    else:
        assert isinstance(sheets[0], ArraySheet)
        assert isinstance(sheets[1], ArraySheet)
        joined = ArraySheet(np.concatenate([sheets[0].values, sheets[1].values]))
        players = tuple(f"x{k}" for k in range(joined.values.shape[1]))
    answer = _answer(model)
    return (
        _Asked(joined, np.arange(len(players)), answer.predict),
        _rows(data, players, named=names is not None),
        _rows(behind, players, named=names is not None),
        answer,
    )


def _rows(data: Any, players: tuple[str, ...], *, named: bool) -> Rows:
    columns = user_columns(data, players, by_position=not named)
    return Rows(
        codes=np.zeros((len(columns[0]), 0)),
        columns=columns,
        labels=label_rows(data, len(columns[0])),
        weights=data.weights if isinstance(data, Table) else None,
        source=data.source if isinstance(data, Table) else "",
    )


def _asked_learner(
    model: Learner, rows: Any, background: Any
) -> tuple[_Asked, Rows, Rows, "_Answer"]:
    players, groups = learner_players(model)
    read = []
    for data in (rows, background):
        table = as_table(data, schema=model.schema_)
        read.append(rows_of_table(table, players, model.encoder_.transform(table), data))
    answer = _answer(model.estimator_)
    if model.task_.is_classification:
        names = tuple(map(str, model.classes_))
        same = len(answer.outputs) == len(names)
        answer = replace(answer, outputs=names if same else names[1:])
    sheet = ArraySheet(np.concatenate([read[0].codes, read[1].codes]))
    return _Asked(sheet, groups, answer.predict), read[0], read[1], answer


@dataclass(frozen=True, eq=False)
class _Answer:
    """What a model is asked for: probabilities, scores or numbers."""

    predict: Callable[[Any], Any]
    outputs: tuple[str, ...]
    unit: str


def _answer(model: Any) -> _Answer:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return _Answer(quiet_call(model.predict), ("prediction",), "prediction")
    names = tuple(map(str, classes))
    if hasattr(model, "predict_proba"):
        return _Answer(quiet_call(model.predict_proba), names, "probability")
    if hasattr(model, "decision_function"):
        shown = names[1:] if len(names) == 2 else names
        return _Answer(quiet_call(model.decision_function), shown, "score")
    raise InputError(
        f"{type(model).__name__} predicts classes without probabilities or scores",
        hint="Shapley values share out a number; use a model that gives one.",
    )
