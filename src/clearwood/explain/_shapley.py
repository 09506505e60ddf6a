"""Shapley values of rows, with the value function named."""

from dataclasses import replace
from typing import Any

from clearwood._errors import InputError, did_you_mean
from clearwood._progress import progress
from clearwood.decompose._decomposition import warn_of_new_gaps
from clearwood.decompose._explain import (
    about_game,
    check_scale,
    picked_output,
    plain_baseline,
    read_background,
)
from clearwood.decompose._of_model import game_of
from clearwood.decompose._present import one_output
from clearwood.decompose._shapley import Shapley
from clearwood.decompose._tree_game import TreeGame
from clearwood.explain._sampled import sampled_values

__all__ = ["shapley"]

_KNOWN = ("interventional", "path_dependent", "observational")


def shapley(
    model: Any,
    rows: Any,
    *,
    background: Any = None,
    value: str = "interventional",
    interactions: bool = False,
    output: Any = None,
    scale: str = "raw",
    weights: Any = None,
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
      and on the background; a column that the model does not use gets zero. Exact here, over the
      whole background.
    - **path_dependent**: each tree is walked as the row goes at splits of the coalition, and along
      both branches, in proportion to the training rows, at the others (TreeSHAP's default). It
      needs no background, but two trees that are the same function can get different values
      (Hiabu 2024, example 18).
    - **observational**: the mean prediction over rows like this one in the coalition's columns.
      Not available yet.

    Parameters
    ----------
    model
        What `clearwood.explain` takes; path-dependent values need trees.
    rows
        The rows to explain: a table, data frame or array.
    background
        The rows that stand in for what a coalition does not know. All of them are used.
        Path-dependent values use none.
    value
        The value function: "interventional" or "path_dependent".
    interactions
        Whether to give pairwise Shapley interactions too.
    output
        The class, or the name of the output, to explain; all of them when None.
    scale
        "raw": what the model adds up, before any link.
    weights
        Weights of the background rows; a table's own weight column when None.
    sample
        Draws per row, for models that cannot be taken apart exactly: anything that predicts. The
        result then has ``standard_errors``, and explains the prediction itself: probabilities for
        classes. Nothing is sampled unless asked for.
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
    """
    _check_value(value, background)
    if sample is not None:
        return _sampled(model, rows, background, weights, value, interactions, output, sample, seed)
    game = game_of(model, background)
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


def _sampled(
    model: Any,
    rows: Any,
    background: Any,
    weights: Any,
    value: str,
    interactions: bool,  # noqa: FBT001 - passed on from the public function
    output: Any,
    sample: int,
    seed: int,
) -> Shapley:
    if value != "interventional" or interactions:
        raise InputError(
            "only interventional values without interactions can be sampled",
            hint="leave out sample, or value and interactions.",
        )
    found = sampled_values(model, rows, background, weights, sample=sample, seed=seed)
    whole = Shapley(
        values=one_output(found.values),
        baseline=plain_baseline(found.baseline),
        columns=tuple(column.name for column in found.rows.columns),
        rows=found.rows.labels,
        about=found.about,
        data=found.rows.columns,
        standard_errors=one_output(found.standard_errors),
    )
    return whole if output is None else whole.output(output)


def _check_value(value: str, background: Any) -> None:
    if value == "observational":
        raise InputError(
            "observational values are not available yet",
            hint="use value='interventional' with background=data; it asks what the model does, "
            "not what its columns say about each other.",
        )
    if value not in _KNOWN:
        raise InputError(
            f"there is no value function {value!r}", hint=did_you_mean(str(value), _KNOWN)
        )
    if value == "interventional" and background is None:
        raise InputError(
            "interventional values need a background: the rows that stand in for what a "
            "coalition does not know",
            hint="pass background=data (all of it: every row is used), or ask for "
            "value='path_dependent', which takes the training rows' shares from the trees.",
        )
