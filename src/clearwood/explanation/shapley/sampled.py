"""Shapley values of any model: which method, until when, and what is said about it."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.messages import tell
from clearwood._shared.progress import Step, progress
from clearwood.explanation.adapter.predictor import Predictor, predictor_of
from clearwood.explanation.adapter.rows import as_data, label_rows
from clearwood.explanation.adapter.stack import as_rows, stacked
from clearwood.explanation.decomposition.about import About, BackgroundInfo
from clearwood.explanation.decomposition.exact import plain_baseline
from clearwood.explanation.games.coalitions import CoalitionGame, Interventional
from clearwood.explanation.games.game import checked_weights
from clearwood.explanation.games.merged import player_column, players_of
from clearwood.explanation.games.of_model import game_of
from clearwood.explanation.outputs import one_output
from clearwood.explanation.shapley.estimate import Estimate, OutOfTimeError, Stopping
from clearwood.explanation.shapley.kernel_regression import by_kernel_regression
from clearwood.explanation.shapley.observational import ASSUMPTIONS, ForestWeights, observational
from clearwood.explanation.shapley.permutations import by_permutations
from clearwood.explanation.shapley.result import Shapley
from clearwood.explanation.shapley.subsets import by_subsets
from clearwood.table import Table

__all__ = ["METHODS", "SampledOptions", "asked_on", "sampled_shapley"]

Floats = NDArray[np.float64]

METHODS = ("subsets", "kernel", "permutation")

#: Players up to which all subsets are asked when the method is left open.
_FEW_PLAYERS = 12
#: The same where every coalition has a forest of its own.
_FEW_PLAYERS_OF_FORESTS = 7
#: Background rows that stand in for a coalition, unless the user says how many.
_BACKGROUND = 100
#: More coalitions than this fill the memory before they are asked.
_MOST_PLAYERS = 20
#: Coalitions of a row, beyond two per player, that are asked at most.
_COALITIONS = 2048


@dataclass(frozen=True, kw_only=True)
class SampledOptions:
    """How values are estimated.

    Parameters
    ----------
    method
        "auto", "subsets", "kernel" or "permutation".
    groups
        Columns that play together, by the group's name.
    precision
        Drawing ends once no standard error is larger than this share of the spread of the row's
        values.
    max_evaluations
        Evaluations of the model for one row at most.
    n_background
        Background rows that stand in for a coalition.
    time_budget
        Seconds after which what has been found is returned.
    orders
        Orders of each row, whatever the precision; None to go by that.
    seed
        Fixes the draws.
    """

    method: str = "auto"
    groups: Mapping[str, Sequence[str]] | None = None
    precision: float = 0.02
    max_evaluations: int | None = None
    n_background: int | None = None
    time_budget: float | None = None
    orders: int | None = None
    seed: int = 0

    def checked(self) -> "SampledOptions":
        """Refuse what cannot be done."""
        if self.method not in ("auto", *METHODS):
            raise InputError(
                f"there is no method {self.method!r}",
                hint=did_you_mean(str(self.method), ("auto", *METHODS)),
            )
        if not self.precision > 0:
            raise InputError(
                f"precision is {self.precision!r}; it must be above 0",
                hint="0.02 stops when the standard errors are 2% of the spread of the values.",
            )
        if self.max_evaluations is not None and self.max_evaluations < 1:
            raise InputError(f"max_evaluations is {self.max_evaluations}; it must be at least 1")
        if self.n_background is not None and self.n_background < 1:
            raise InputError(f"n_background is {self.n_background}; it must be at least 1")
        if self.time_budget is not None and not self.time_budget > 0:
            raise InputError(f"time_budget is {self.time_budget!r} seconds; it must be above 0")
        return self


def sampled_shapley(
    model: Any,
    rows: Any,
    background: Any,
    *,
    value: str = "interventional",
    conditional: str = "gaussian",
    output: Any = None,
    scale: str = "raw",
    weights: Any = None,
    n_jobs: int = 1,
    options: SampledOptions | None = None,
) -> Shapley:
    """Estimate the Shapley values of any model.

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows.
    rows, background
        As for `clearwood.shapley`.
    value
        "interventional" or "observational".
    conditional
        How columns outside a coalition depend on those inside, for observational values.
    output, scale, weights, n_jobs
        As for `clearwood.shapley`.
    options
        How values are estimated.

    Returns
    -------
    Shapley
        With standard errors, and what the reader should know in its notes.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> found = sampled_shapley(lambda X: X[:, 0] * X[:, 1], X[:2], X)
    >>> found.values.shape, bool(abs(found.values[:, 2]).max() < 1e-12)
    ((2, 3), True)
    """
    options = (options or SampledOptions()).checked()
    started = time.monotonic()
    if background is None:
        raise InputError(
            f"{value} values need a background: the rows that stand in for what a coalition does "
            "not know",
            hint="pass background=data.",
        )
    generator = np.random.default_rng(options.seed)
    data, n_rows = stacked(model, rows, background)
    predictor = asked_on(model, data, output, scale, n_jobs)
    n_behind = len(predictor) - n_rows
    if n_behind < 1:
        raise InputError(
            "the background has no rows", hint="give the training rows, or a sample of them."
        )
    checked = checked_weights(_own_weights(background) if weights is None else weights, n_behind)
    share = np.full(n_behind, 1 / n_behind) if checked is None else checked / checked.sum()
    names, members = players_of(predictor.names, options.groups)
    chosen, notes = _chosen(share, options.n_background, generator)
    predicted = predictor.predict(np.arange(len(predictor)))
    parts: dict[str, Any] = {
        "predictor": predictor,
        "n_rows": n_rows,
        "members": members,
        "weights": share,
        "chosen": chosen,
        "full": predicted[:n_rows],
        "behind": predicted[n_rows:],
    }
    if value == "observational":
        game: CoalitionGame = observational(conditional, parts, data, model, generator)
        notes.append(f"{ASSUMPTIONS[conditional]}; the standard errors do not cover this")
    else:
        game = Interventional(**parts)
    method = _method(options.method, game)
    if value == "interventional" and method != "permutation" and not game.is_whole:
        notes.append(
            f"for each coalition {len(chosen):,} of the {n_behind:,} background rows stand in; "
            "the standard errors allow for that"
        )
    values, errors, more = _all_rows(game, method, options, started)
    done = len(values)
    labels = label_rows(as_rows(rows), n_rows)[:done]
    source = background.source if isinstance(background, Table) else ""
    return Shapley(
        values=one_output(values),
        baseline=plain_baseline(game.empty),
        columns=names,
        rows=labels,
        about=About(
            model=predictor.kind,
            value="observational" if value == "observational" else "interventional",
            background=BackgroundInfo(n_behind, checked is not None, source),
            scale=scale,
            unit=predictor.unit,
            outputs=predictor.outputs,
        ),
        data=tuple(
            player_column(name, [predictor.columns[k].take(slice(0, done)) for k in own])
            for name, own in zip(names, members, strict=True)
        ),
        standard_errors=one_output(errors),
        notes=(*notes, _said(method, game, options.orders), *more),
    )


def _own_weights(background: Any) -> Any:
    data = as_data(background)
    return data.weights if isinstance(data, Table) else None


def asked_on(model: Any, data: Any, output: Any, scale: str, n_jobs: int) -> Predictor:
    """Give the model on the scale asked for; "raw" is the one it adds up on, where it has one."""
    if scale == "prediction":
        return predictor_of(model, data, output=output, n_jobs=n_jobs)
    if scale != "raw":
        return predictor_of(model, data, output=output, scale=scale, n_jobs=n_jobs)
    try:
        unit = game_of(model, data).unit
    except (InputError, AttributeError):
        unit = "prediction"
    if unit.startswith(("log", "score before")):
        try:
            return predictor_of(model, data, output=output, scale="margin", n_jobs=n_jobs)
        except InputError:  # it can be had on the scale of its predictions only
            pass
    return predictor_of(model, data, output=output, n_jobs=n_jobs)


def _chosen(
    share: Floats, n_background: int | None, generator: np.random.Generator
) -> tuple[NDArray[np.intp], list[str]]:
    n_behind = len(share)
    if n_background is not None and n_background > n_behind:
        tell(
            f"{n_background:,} background rows were asked for and there are {n_behind:,}; "
            "all of them are used"
        )
    wanted = min(n_background or _BACKGROUND, n_behind)
    notes = []
    if n_behind == 1:
        notes.append("the background is a single row: everything is a comparison with that row")
    if wanted == n_behind:
        return np.arange(n_behind), notes
    usable = np.flatnonzero(share > 0)
    wanted = min(wanted, len(usable))
    return np.sort(generator.choice(usable, wanted, replace=False)), notes


def _method(asked: str, game: CoalitionGame) -> str:
    n_players = game.n_players
    if asked == "subsets" and n_players > _MOST_PLAYERS:
        raise InputError(
            f"{n_players} columns have {2**n_players:.2g} subsets, too many to ask all",
            hint="use method='kernel' or 'permutation', or play in groups={...}.",
        )
    if asked != "auto":
        return asked
    few = _FEW_PLAYERS if not isinstance(game, ForestWeights) else _FEW_PLAYERS_OF_FORESTS
    if n_players <= few:
        return "subsets"
    # orders are cheap where each takes a single background row
    return "permutation" if isinstance(game, Interventional) else "kernel"


def _all_rows(
    game: CoalitionGame,
    method: str,
    options: SampledOptions,
    started: float,
) -> tuple[Floats, Floats, list[str]]:
    """Go through the rows until all are done or the time is over."""
    standing_in = max(len(game.chosen), 1)
    most = options.max_evaluations or (2 * game.n_players + _COALITIONS) * standing_in
    late = None if options.time_budget is None else started + options.time_budget
    stopping = Stopping(options.precision, most, late, options.orders)
    found: list[Estimate] = []
    why = ""
    with progress("explaining", total=game.n_rows) as step:
        try:
            for row in range(game.n_rows):
                # a row's draws do not depend on which other rows are explained with it
                generator = np.random.default_rng([options.seed, row])
                found.append(_one_row(method, game, row, stopping, step, generator))
                spent = max(time.monotonic() - started, 1e-9)
                rate = game.predictor.evaluations[0] / spent
                step(1, note=f"{rate:,.0f} evaluations/s")
                if stopping.is_late and row + 1 < game.n_rows:
                    why = f"the time of {options.time_budget:g} s was over"
                    break
        except OutOfTimeError:
            why = f"the time of {options.time_budget:g} s was over"
        except KeyboardInterrupt:
            if not found:
                raise
            why = "the work was interrupted"
    notes = _shortfalls(found, game, options, why)
    values = np.array([estimate.values for estimate in found])
    errors = np.array([estimate.errors for estimate in found])
    shape = (len(found), game.n_players, game.n_outputs)
    return values.reshape(shape), errors.reshape(shape), notes


def _one_row(
    method: str,
    game: CoalitionGame,
    row: int,
    stopping: Stopping,
    step: Step,
    generator: np.random.Generator,
) -> Estimate:
    try:
        if method == "subsets":
            return by_subsets(game, row, stopping, step)
        if method == "kernel":
            return by_kernel_regression(game, row, stopping, step, generator)
        return by_permutations(game, row, stopping, step, generator)
    except OutOfTimeError:
        if row:
            raise
        # some answer, with honest errors, is better than none
        few = Stopping(precision=math.inf, most=1)
        rough = by_permutations(game, row, few, step, generator)
        return Estimate(rough.values, rough.errors, reached=False)


def _shortfalls(
    found: list[Estimate], game: CoalitionGame, options: SampledOptions, why: str
) -> list[str]:
    """Say, and warn, where less was reached than asked for."""
    notes = []
    if why and len(found) < game.n_rows:
        notes.append(f"{why} after {len(found)} of {game.n_rows} rows; the others are left out")
    short = sum(not estimate.reached for estimate in found)
    if short:
        rows = "1 row" if short == 1 else f"{short} rows"
        notes.append(
            f"{rows} stopped short of the precision of {options.precision:g}; "
            "raise max_evaluations or time_budget for smaller standard errors"
        )
    if notes:
        tell("; ".join(notes))
    return notes


def _said(method: str, game: CoalitionGame, orders: int | None) -> str:
    words = {
        "subsets": f"all {2**game.n_players:,} coalitions"
        if game.n_players <= _MOST_PLAYERS
        else "",
        "kernel": "regression on coalitions drawn in pairs",
        "permutation": "orders drawn at random, each walked in both directions"
        if orders is None
        else f"{orders:,} orders for each row, each walked in both directions",
    }
    return f"{words[method]}; {game.predictor.evaluations[0]:,} evaluations of the model"
