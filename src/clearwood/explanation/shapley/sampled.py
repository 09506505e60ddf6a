"""Shapley values of any model: which method, until when, and what the notes report."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.choices import Conditional, ShapleyMethod
from clearwood._shared.clock import Clock
from clearwood._shared.errors import InputError, Option, bad_value, unknown_choice, words
from clearwood._shared.messages import tell
from clearwood._shared.progress import Step, progress
from clearwood._shared.weights import checked_weights
from clearwood.explanation.decomposition.decompose import plain_baseline
from clearwood.explanation.games.groups import player_column, players_of
from clearwood.explanation.results.about import About, BackgroundInfo, one_output, rate_of
from clearwood.explanation.results.shapley import Shapley
from clearwood.explanation.rows.compose import as_rows
from clearwood.explanation.rows.predictor import limit_words
from clearwood.explanation.rows.rows import label_rows, no_background
from clearwood.explanation.sampling.coalitions import by_kernel_regression, by_subsets
from clearwood.explanation.sampling.permutations import by_permutations
from clearwood.explanation.sampling.value_functions import (
    Interventional,
    OutOfTimeError,
    ShapleyEstimate,
    Stopping,
    ValueFunction,
)
from clearwood.explanation.shapley.observational import (
    ASSUMPTIONS,
    ForestWeights,
    conditional_for,
    observational,
)
from clearwood.fitted import Scale
from clearwood.table import Table

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["METHODS", "SampledOptions", "sampled_shapley"]

METHODS: tuple[ShapleyMethod, ...] = ("auto", "subsets", "kernel", "permutation")

#: Players up to which all subsets are evaluated when the method is left open.
_FEW_PLAYERS = 12
#: The same where every coalition has a forest of its own.
_FEW_PLAYERS_OF_FORESTS = 7
#: Background rows that stand in for a coalition, unless the user says how many.
_BACKGROUND = 100
#: More coalitions than this fill the memory before they are evaluated.
_MOST_PLAYERS = 20
#: Coalitions of a row, beyond two per player, that are evaluated at most.
_COALITIONS = 2048


@dataclass(frozen=True, kw_only=True)
class SampledOptions:
    """How values are estimated: options of `clearwood.shapley`, with ``orders`` for n_orders."""

    method: ShapleyMethod = "auto"
    groups: Mapping[str, Sequence[str]] | None = None
    precision: float = 0.02
    max_evaluations: int | None = None
    n_background: int | None = None
    time_limit: float | None = None
    orders: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise unknown_choice("method", self.method, METHODS)
        if not self.precision > 0:
            raise bad_value(
                "precision",
                self.precision,
                "it must be above 0",
                hint="0.02 stops when the standard errors are 2 % of the spread of the values.",
            )
        if self.max_evaluations is not None and self.max_evaluations < 1:
            raise bad_value("max_evaluations", self.max_evaluations, "it must be at least 1")
        if self.n_background is not None and self.n_background < 1:
            raise bad_value("n_background", self.n_background, "it must be at least 1")
        Clock.started_now(self.time_limit)


def sampled_shapley(
    explanation: "Explanation",
    rows: Any = None,
    *,
    value: str = "interventional",
    conditional: Conditional = "auto",
    scale: Scale | None = None,
    n_jobs: int = 1,
    options: SampledOptions | None = None,
) -> Shapley:
    """Estimate the Shapley values of any model; parameters as for `clearwood.shapley`.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> from clearwood.explanation import Explanation
    >>> result = sampled_shapley(Explanation(lambda X: X[:, 0] * X[:, 1], X), X[:2])
    >>> result.values.shape, bool(abs(result.values[:, 2]).max() < 1e-12)
    ((2, 3), True)
    """
    options = options or SampledOptions()
    started = time.monotonic()
    rows = explanation.data if rows is None else as_rows(rows)
    explanation, _ = explanation.over_positive_weights()
    generator = np.random.default_rng(options.seed)
    predictor, n_rows = explanation.stacked(rows, scale=scale, n_jobs=n_jobs)
    n_below = len(predictor) - n_rows
    if n_below < 1:
        raise no_background()
    checked = checked_weights(explanation.own_weights, n_below)
    share = np.full(n_below, 1 / n_below) if checked is None else checked / checked.sum()
    names, members = players_of(predictor.names, options.groups)
    chosen, notes = _chosen(share, options.n_background, generator)
    predicted = predictor.predict(np.arange(len(predictor)))
    parts: dict[str, Any] = {
        "predictor": predictor,
        "n_rows": n_rows,
        "members": members,
        "weights": share,
        "chosen": chosen,
        "predictions": predicted[:n_rows],
        "background": predicted[n_rows:],
    }
    used: Conditional | None = None
    if value == "observational":
        used = conditional_for(conditional, predictor.columns)
        game: ValueFunction = observational(used, parts, explanation, generator)
        notes.append(f"{ASSUMPTIONS[used]}; the standard errors do not cover this")
    else:
        game = Interventional(**parts)
    method = _method(options.method, game)
    if value == "interventional" and method != "permutation" and not game.is_whole:
        notes.append(
            f"for each coalition {len(chosen):,} of the {n_below:,} background rows stand in; "
            "the standard errors allow for that"
        )
    values, errors, more = _all_rows(game, method, options, started)
    done = len(values)
    labels = label_rows(rows, n_rows)[:done]
    source = explanation.data.source if isinstance(explanation.data, Table) else ""
    return Shapley(
        values=one_output(values),
        baseline=plain_baseline(game.empty),
        columns=names,
        rows=labels,
        about=About(
            model=predictor.kind,
            value="observational" if value == "observational" else "interventional",
            background=BackgroundInfo(n_below, checked is not None, source),
            unit=predictor.unit,
            outputs=predictor.outputs,
            is_sampled=True,
            rate=rate_of(explanation.model),
        ),
        data=tuple(
            player_column(name, [predictor.columns[k].take(slice(0, done)) for k in own])
            for name, own in zip(names, members, strict=True)
        ),
        standard_errors=one_output(errors),
        conditional=used,
        notes=(*notes, _method_note(method, game, options.orders), *more),
    )


def _chosen(
    share: Floats, n_background: int | None, generator: np.random.Generator
) -> tuple[Index, list[str]]:
    n_below = len(share)
    if n_background is not None and n_background > n_below:
        tell(
            f"{n_background:,} background rows were requested and there are {n_below:,}; "
            "all of them are used"
        )
    wanted = min(n_background or _BACKGROUND, n_below)
    notes = []
    if n_below == 1:
        notes.append("the background is a single row: everything is a comparison with that row")
    if wanted == n_below:
        return np.arange(n_below), notes
    return np.sort(generator.choice(n_below, wanted, replace=False)), notes


def _method(method: ShapleyMethod, game: ValueFunction) -> ShapleyMethod:
    n_players = game.n_players
    if method == "subsets" and n_players > _MOST_PLAYERS:
        raise InputError(
            f"{n_players} columns have {2**n_players:.2g} subsets, too many to evaluate all",
            parameter="method",
            value=method,
            hint=words(
                "use ",
                Option("method", "kernel"),
                " or 'permutation', or name ",
                Option("groups"),
                ".",
            ),
        )
    if method != "auto":
        return method
    few = _FEW_PLAYERS if not isinstance(game, ForestWeights) else _FEW_PLAYERS_OF_FORESTS
    if n_players <= few:
        return "subsets"
    # orders are cheap where each takes a single background row
    return "permutation" if isinstance(game, Interventional) else "kernel"


def _all_rows(
    game: ValueFunction,
    method: str,
    options: SampledOptions,
    started: float,
) -> tuple[Floats, Floats, list[str]]:
    """Go through the rows until all are done or the time limit is reached."""
    standing_in = max(len(game.chosen), 1)
    most = options.max_evaluations or (2 * game.n_players + _COALITIONS) * standing_in
    late = None if options.time_limit is None else started + options.time_limit
    stopping = Stopping(options.precision, most, late, options.orders)
    result: list[ShapleyEstimate] = []
    why = ""
    with progress("explaining", total=game.n_rows) as step:
        try:
            for row in range(game.n_rows):
                # a row's draws do not depend on which other rows are explained with it
                generator = np.random.default_rng([options.seed, row])
                result.append(_one_row(method, game, row, stopping, step, generator))
                spent = max(time.monotonic() - started, 1e-9)
                rate = game.predictor.evaluations[0] / spent
                step(1, note=f"{rate:,.0f} evaluations/s")
                if stopping.is_late and row + 1 < game.n_rows:
                    why = limit_words(Clock(options.time_limit))
                    break
        except OutOfTimeError:
            why = limit_words(Clock(options.time_limit))
        except KeyboardInterrupt:
            if not result:
                raise
            why = "the work was interrupted"
    notes = _shortfalls(result, game, options, why)
    values = np.array([estimate.values for estimate in result])
    errors = np.array([estimate.errors for estimate in result])
    shape = (len(result), game.n_players, game.n_outputs)
    return values.reshape(shape), errors.reshape(shape), notes


def _one_row(
    method: str,
    game: ValueFunction,
    row: int,
    stopping: Stopping,
    step: Step,
    generator: np.random.Generator,
) -> ShapleyEstimate:
    try:
        if method == "subsets":
            return by_subsets(game, row, stopping, step)
        if method == "kernel":
            return by_kernel_regression(game, row, stopping, step, generator)
        return by_permutations(game, row, stopping, step, generator)
    except OutOfTimeError:
        if row:
            raise
        # a rough result, with honest errors, is better than none
        few = Stopping(precision=math.inf, most=1)
        rough = by_permutations(game, row, few, step, generator)
        return ShapleyEstimate(rough.values, rough.errors, reached=False)


def _shortfalls(
    result: list[ShapleyEstimate], game: ValueFunction, options: SampledOptions, why: str
) -> list[str]:
    """Say, and warn, where less was reached than was required."""
    notes = []
    if why and len(result) < game.n_rows:
        notes.append(f"{why} after {len(result)} of {game.n_rows} rows; the others are left out")
    short = sum(not estimate.reached for estimate in result)
    if short:
        rows = "1 row" if short == 1 else f"{short} rows"
        notes.append(
            f"{rows} stopped short of the precision of {options.precision:g}; "
            "allow more evaluations or time for smaller standard errors"
        )
    if notes:
        tell("; ".join(notes))
    return notes


def _method_note(method: str, game: ValueFunction, orders: int | None) -> str:
    texts = {
        "subsets": f"all {2**game.n_players:,} coalitions"
        if game.n_players <= _MOST_PLAYERS
        else "",
        "kernel": "regression on coalitions drawn in pairs",
        "permutation": "orders drawn at random, each walked in both directions"
        if orders is None
        else f"{orders:,} orders for each row, each walked in both directions",
    }
    return f"{texts[method]}; {game.predictor.evaluations[0]:,} evaluations of the model"
