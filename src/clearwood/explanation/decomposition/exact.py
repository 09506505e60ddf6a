"""From a model and a background to its decomposition."""

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.explanation.adapter.rows import Rows
from clearwood.explanation.adapter.supported import NotTakenApartError
from clearwood.explanation.decomposition.about import About, BackgroundInfo
from clearwood.explanation.decomposition.arithmetic import Arithmetic
from clearwood.explanation.decomposition.decomposition import Decomposition
from clearwood.explanation.games.game import Floats, Game, checked_weights
from clearwood.explanation.games.of_model import game_of
from clearwood.explanation.outputs import one_output

__all__ = [
    "about_game",
    "check_scale",
    "decomposition_of",
    "explain",
    "picked_output",
    "plain_baseline",
    "read_background",
]


def explain(
    model: Any,
    data: Any,
    *,
    max_order: int | None = 2,
    scale: str = "raw",
    output: Any = None,
    weights: Any = None,
    n_jobs: int = 1,
) -> Decomposition:
    """Take a model's prediction apart into functions of few columns, exactly.

    The result answers what each column does (`effect`), how columns act together, how much each
    matters (`importance`), and how each row came to its prediction (`shapley`), all from one sum
    that is exact over the whole background (see `Decomposition`).

    Parameters
    ----------
    model
        A tree model of scikit-learn, XGBoost, LightGBM or CatBoost, a `Forest`, a linear or
        generalised linear model of scikit-learn, a `Pipeline` that ends in one of these, or a
        `Learner` of one of these kinds or of explainable boosting ("ebm").
    data
        The background: the rows over which the prediction is averaged, usually the training rows.
        A table, a data frame (columns are found by name, in any order) or an array. All rows are
        used.
    max_order
        The most columns a component has; what lies beyond is kept as a remainder. None gives
        components of every order, where the trees are shallow enough.
    scale
        "raw": what the model adds up, before any link (log odds, log of the mean). Another scale
        is exact only where it is the same; `clearwood.explain` samples it.
    output
        The class, or the name of the output, to explain; all of them when None.
    weights
        Weights of the background rows; a table's own weight column when None.
    n_jobs
        Threads; -1 for all. The result does not depend on it.

    Returns
    -------
    Decomposition

    See Also
    --------
    shapley : Shapley values of rows, also path-dependent ones.

    Notes
    -----
    The value function is the interventional one: averages are over the joint distribution of the
    columns that are not held, whatever the held ones are. Where columns depend on each other, it
    asks the model about combinations that may not occur.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("gbm", max_depth=2, max_iter=30).fit(data)
    >>> why = cw.explain(model, data)
    >>> why.effect("bmi").values.max() > 0
    np.True_
    >>> why.shapley(data.head(2)).values.shape
    (2, 10)
    """
    game = game_of(model, data)
    rows, checked, notes = read_background(game, data, weights)
    check_scale(game, scale)
    return decomposition_of(
        game,
        rows,
        checked,
        notes=notes,
        max_order=max_order,
        scale=scale,
        output=output,
        n_jobs=n_jobs,
    )


def decomposition_of(
    game: Game,
    rows: Rows,
    checked: Floats | None,
    *,
    notes: tuple[str, ...] = (),
    max_order: int | None,
    scale: str,
    output: Any = None,
    n_jobs: int = 1,
) -> Decomposition:
    """Bind a game to its background, whose weights were checked."""
    order, more = _checked_order(game, max_order)
    sets = game.sets(order)
    bound = game.bind(rows.codes, checked, n_jobs=n_jobs)
    outputs = picked_output(game, output)
    about = about_game(game, rows, checked, scale)
    return Decomposition(
        columns=game.columns,
        components=tuple(tuple(game.columns[k] for k in players) for players in sets),
        order=order,
        baseline=plain_baseline(bound.baseline[outputs]),
        about=replace(about, outputs=game.outputs[outputs]),
        notes=(*notes, *more),
        _arithmetic=Arithmetic(
            game=game,
            bound=bound,
            rows=rows,
            weights=checked,
            outputs=outputs,
            sets=tuple(sets),
            order=order,
            n_jobs=n_jobs,
        ),
    )


def read_background(
    game: Game, data: Any, weights: Any
) -> tuple[Rows, Floats | None, tuple[str, ...]]:
    """Read background rows and their weights, and say what is odd about them."""
    rows = game.rows(data)
    if not len(rows):
        raise InputError(
            "the background has no rows", hint="give the training rows, or a sample of them."
        )
    checked = checked_weights(rows.weights if weights is None else weights, len(rows))
    notes: tuple[str, ...] = ()
    if len(rows) == 1:
        notes = ("the background is a single row: everything is a comparison with that row",)
    return rows, checked, notes


def about_game(game: Game, rows: Rows | None, weights: Floats | None, scale: str) -> About:
    """Say what is explained and how."""
    return About(
        model=game.kind,
        value="interventional" if rows is not None else "path_dependent",
        background=None
        if rows is None
        else BackgroundInfo(len(rows), weights is not None, rows.source),
        scale=scale,
        unit=game.unit,
        outputs=game.outputs,
    )


def picked_output(game: Game, output: Any) -> slice:
    """Give the outputs asked for, as a slice."""
    if output is None:
        return slice(None)
    names = list(game.outputs)
    if str(output) in names:
        at = names.index(str(output))
        return slice(at, at + 1)
    raise InputError(f"the model has no output {output!r}", hint=did_you_mean(str(output), names))


def check_scale(game: Game, scale: str) -> None:
    """Refuse scales on which the prediction is no sum."""
    if scale == "raw" or (scale == game.unit and scale in ("probability", "prediction")):
        return
    if scale in ("probability", "response", "prediction"):
        raise NotTakenApartError(
            f"scale={scale!r} cannot be had exactly: the model adds up its {game.unit}",
            hint="use scale='raw'; cw.shapley(..., sample=1000) samples the prediction itself.",
        )
    raise InputError(f"scale is {scale!r}", hint="use scale='raw'.")


def plain_baseline(baseline: Floats) -> Any:
    """Give one number where there is one output."""
    found = one_output(baseline[None, :])[0]
    return float(found) if np.ndim(found) == 0 else found


def _checked_order(game: Game, max_order: int | None) -> tuple[int, tuple[str, ...]]:
    longest = max(game.longest, 1)
    if max_order is None:
        return longest, ()
    asked: Any = max_order
    if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or asked < 1:
        raise InputError(f"max_order is {max_order!r}; it must be a whole number from 1, or None")
    if max_order <= longest:
        return int(max_order), ()
    if max_order == 2:  # the default asks for no more than there is
        return longest, ()
    note = (
        f"max_order={max_order} asks for more columns than any path of the model has; "
        f"the decomposition is complete at order {longest}"
    )
    return longest, (note,)
