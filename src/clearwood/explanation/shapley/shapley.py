"""Shapley values of rows, with the value function named."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.progress import progress
from clearwood.explanation.adapter.rows import warn_of_new_gaps
from clearwood.explanation.adapter.supported import NotTakenApartError
from clearwood.explanation.decomposition.exact import (
    about_game,
    check_scale,
    picked_output,
    plain_baseline,
    read_background,
)
from clearwood.explanation.games.game import Game
from clearwood.explanation.games.merged import merged, players_of
from clearwood.explanation.games.of_model import game_of
from clearwood.explanation.games.trees import TreeGame
from clearwood.explanation.outputs import one_output
from clearwood.explanation.shapley.result import Shapley
from clearwood.explanation.shapley.sampled import METHODS, SampledOptions, sampled_shapley

__all__ = ["shapley"]

_KNOWN = ("interventional", "path_dependent", "observational")


def shapley(
    model: Any,
    rows: Any,
    *,
    background: Any = None,
    value: str = "interventional",
    method: str = "auto",
    conditional: str = "gaussian",
    groups: Mapping[str, Sequence[str]] | None = None,
    interactions: bool = False,
    output: Any = None,
    scale: str = "raw",
    weights: Any = None,
    precision: float = 0.02,
    max_evaluations: int | None = None,
    n_background: int | None = None,
    time_budget: float | None = None,
    sample: int | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> Shapley:
    """Give the Shapley values of rows: how each column moved each prediction from the baseline.

    The Shapley value of a column is its marginal contribution to a coalition of columns, averaged
    over the orders in which columns can join (Hiabu 2024, theorem 7.1.2). What a coalition is
    worth is a choice, and the three choices in use answer different questions:

    - **interventional**: the mean prediction when the coalition's columns are held at the row's
      values and the others take those of background rows. It depends on the model as a function
      and on the background; a column that the model does not use gets zero. Exact, over the whole
      background, for trees and additive models; estimated for any other.
    - **path_dependent**: each tree is walked as the row goes at splits of the coalition, and along
      both branches, in proportion to the training rows, at the others (TreeSHAP's default). It
      needs no background, but two trees that are the same function can get different values
      (Hiabu 2024, example 18).
    - **observational**: the mean prediction over rows like this one in the coalition's columns. A
      column that the model ignores gets a value if it tells something about others (Hiabu 2024,
      example 16). No table shows this distribution: how it is estimated is assumed, and said in
      the notes.

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows; path-dependent
        values need trees.
    rows
        The rows to explain: a table, data frame or array.
    background
        The rows that stand in for what a coalition does not know. Exact values use all of them,
        path-dependent values none.
    value
        The value function: "interventional", "path_dependent" or "observational".
    method
        "subsets" asks about every coalition, "kernel" fits the Shapley kernel regression to
        coalitions drawn in pairs, "permutation" draws orders. "auto" is exact where the model can
        be taken apart; else it takes subsets for up to 12 columns (7 where conditional="forest"),
        and for more of them orders, or for observational values the kernel.
    conditional
        How the columns outside a coalition depend on those inside, for observational values:
        "gaussian", "copula", "kernel" or "forest".
    groups
        Columns that play together, by the group's name; the others play alone. Exact where the
        model can be taken apart.
    interactions
        Whether to give pairwise Shapley interactions too; of exact values only.
    output
        The class, or the name of the output, to explain; all of them when None.
    scale
        "raw": what the model adds up, before any link; where it adds up nothing, its prediction,
        or the probabilities of classes. Estimated values take "probability", "margin" and
        "response" too.
    weights
        Weights of the background rows; a table's own weight column when None.
    precision
        Estimating ends once no standard error is larger than this share of the spread of the
        row's values.
    max_evaluations
        Evaluations of the model for one row at most, when estimating.
    n_background
        Background rows that stand in for one coalition, when estimating; 100 when None.
    time_budget
        Seconds after which the rows that are done are returned, when estimating.
    sample
        A fixed number of orders for each row, whatever the precision. The result then explains the
        prediction itself: probabilities for classes.
    seed
        Fixes the draws.
    n_jobs
        Threads; -1 for all. The result does not depend on it.

    Returns
    -------
    Shapley

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("forest", n_estimators=20, max_depth=4).fit(data)
    >>> found = cw.shapley(model, data.head(3), background=data)
    >>> found.value, found.values.shape
    ('interventional', (3, 10))
    >>> bool(abs(found.prediction - model.predict(data.head(3))).max() < 1e-9)
    True
    >>> cw.shapley(model, data.head(3), value="path_dependent").about.background is None
    True

    Of any function, estimated:

    >>> X = data.X.to_frame("pandas")
    >>> rough = cw.shapley(lambda X: X["bmi"] * X["bp"], X.head(2), background=X)
    >>> rough.standard_errors.shape
    (2, 10)
    """
    _check_value(value, background)
    if sample is not None:
        _checked_sample(sample, value, interactions=interactions)
        # the prediction itself is explained, on whatever scale it is
        method, scale = "permutation", "prediction" if scale == "raw" else scale
    # a mistake in what only estimates need is told where nothing has to be estimated, too
    options = SampledOptions(
        method=method,
        groups=groups,
        precision=precision,
        max_evaluations=max_evaluations,
        n_background=n_background,
        time_budget=time_budget,
        orders=sample,
        seed=seed,
    ).checked()
    game = _exact_game(model, background, value, method, groups)
    if game is None:
        if interactions:
            raise InputError(
                "interactions are given for exact values only; these are estimated",
                hint="leave out interactions, or explain trees with method='auto'.",
            )
        return sampled_shapley(
            model,
            rows,
            background,
            value=value,
            conditional=conditional,
            output=output,
            scale=scale,
            weights=weights,
            n_jobs=n_jobs,
            options=options,
        )
    check_scale(game, scale)
    outputs = picked_output(game, output)
    notes: tuple[str, ...] = ()
    if value == "path_dependent":
        if not isinstance(game, TreeGame):
            raise InputError(
                f"path-dependent values are for trees; this is {game.kind}",
                hint="use value='interventional' with background=data.",
            )
        read = game.rows(rows)
        about = about_game(game, None, None, scale)
        if background is not None:
            notes = ("path-dependent values use no background: the training rows at each node",)
        with progress("explaining", total=len(read)) as step:
            values, pairs, baseline = game.path_dependent(
                read.codes, interactions=interactions, n_jobs=n_jobs, step=step
            )
    else:
        behind, checked, notes = read_background(game, background, weights)
        bound = game.bind(behind.codes, checked, n_jobs=n_jobs)
        read = game.rows(rows)
        warn_of_new_gaps(read, behind, "background")
        about, baseline = about_game(game, behind, checked, scale), bound.baseline
        with progress("explaining", total=len(read)) as step:
            values, pairs = bound.shapley(
                read.codes, interactions=interactions, n_jobs=n_jobs, step=step
            )
    return Shapley(
        values=one_output(values[..., outputs]),
        baseline=plain_baseline(baseline[outputs]),
        columns=game.columns,
        rows=read.labels,
        about=replace(about, outputs=game.outputs[outputs]),
        data=read.columns,
        interactions=None if pairs is None else one_output(pairs[..., outputs]),
        notes=notes,
    )


def _checked_sample(sample: Any, value: str, *, interactions: bool) -> None:
    if isinstance(sample, bool) or not isinstance(sample, int | np.integer) or sample < 2:
        raise InputError(f"sample is {sample!r}; it must be a whole number of draws, at least 2")
    if value != "interventional" or interactions:
        raise InputError(
            "only interventional values without interactions can be sampled",
            hint="leave out sample, or value and interactions.",
        )


def _exact_game(model: Any, background: Any, value: str, method: str, groups: Any) -> Game | None:
    """Give the game that is played exactly; None where the values have to be estimated."""
    if value == "path_dependent":
        return _played(game_of(model, background), groups)
    if method not in ("auto", *METHODS):
        raise InputError(
            f"there is no method {method!r}", hint=did_you_mean(str(method), ("auto", *METHODS))
        )
    if method != "auto" or value == "observational":
        return None
    try:
        return _played(game_of(model, background), groups)
    except NotTakenApartError:
        return None


def _played(game: Game, groups: Mapping[str, Sequence[str]] | None) -> Game | None:
    return game if groups is None else merged(game, *players_of(game.columns, groups))


def _check_value(value: str, background: Any) -> None:
    if value not in _KNOWN:
        raise InputError(
            f"there is no value function {value!r}", hint=did_you_mean(str(value), _KNOWN)
        )
    if value != "path_dependent" and background is None:
        raise InputError(
            f"{value} values need a background: the rows that stand in for what a "
            "coalition does not know",
            hint="pass background=data (all of it: every row is used), or ask for "
            "value='path_dependent', which takes the training rows' shares from the trees.",
        )
