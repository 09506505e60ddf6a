"""Shapley values of rows, with the value function named."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import check_whole
from clearwood._shared.choices import BackgroundRows, Conditional, ShapleyMethod
from clearwood._shared.choices import ValueFunction as ValueFunctionName
from clearwood._shared.errors import Draw, InputError, Option, bad_value, unknown_choice, words
from clearwood._shared.progress import progress
from clearwood.explanation.decomposition.decompose import (
    about_game,
    check_scale,
    chosen_output,
    drawn_note,
    single_row_note,
)
from clearwood.explanation.decomposition.explained import Explained
from clearwood.explanation.games.drawn import check_background_rows
from clearwood.explanation.games.game import Game, Values
from clearwood.explanation.games.groups import grouped
from clearwood.explanation.games.trees import TreeGame
from clearwood.explanation.results.about import About
from clearwood.explanation.results.outputs import rate_of
from clearwood.explanation.results.shapley import Shapley
from clearwood.explanation.rows.rows import Rows, warn_of_new_gaps
from clearwood.explanation.rows.supported import NotDecomposableError
from clearwood.explanation.shapley.sampled import SampledOptions, sampled_shapley
from clearwood.explanation.shapley.written import shapley_of_outputs, written_shapley
from clearwood.fitted import Scale, checked_scale
from clearwood.table import Parts

__all__ = ["shapley"]

_KNOWN = ("interventional", "path_dependent", "observational")


def shapley(
    explained: Explained,
    rows: Any = None,
    *,
    value: ValueFunctionName = "interventional",
    method: ShapleyMethod = "auto",
    conditional: Conditional = "auto",
    groups: Mapping[str, Sequence[str]] | None = None,
    interactions: bool = False,
    output: Any = None,
    scale: str | None = None,
    precision: float = 0.02,
    max_evaluations: int | None = None,
    n_background: BackgroundRows | None = None,
    time_limit: float | None = None,
    n_orders: int | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    to: str | Path | None = None,
    force: bool = False,
) -> Any:
    """Compute the Shapley values of rows: how each column moved each prediction from the baseline.

    The Shapley value of a column is its marginal contribution to a coalition of columns, averaged
    over the orders in which columns can join (Hiabu 2024, theorem 7.1.2). The value of a coalition
    is a choice, and the three choices in use answer different questions:

    - **interventional**: the mean prediction when the coalition's columns are held at the row's
      values and the others take those of background rows. It depends on the model as a function
      and on the background; a column that the model does not use gets zero. Exact, over the whole
      background, for trees and additive models; estimated for any other.
    - **path_dependent**: each tree is walked as the row goes at splits of the coalition, and along
      both branches, in proportion to the training rows, at the others (TreeSHAP's default). It
      needs no background, but two trees that are the same function can get different values
      (Hiabu 2024, example 18).
    - **observational**: the mean prediction over rows like this one in the coalition's columns. A
      column that the model ignores gets a value if it is associated with others (Hiabu 2024,
      example 16). No table shows this distribution: how it is estimated is assumed, and said in
      the notes.

    Parameters
    ----------
    rows
        The rows to explain, in any form; all rows of the data when None.
    value
        The value function: "interventional", "path_dependent" or "observational".
    method
        "subsets" evaluates every coalition, "kernel" fits the Shapley kernel regression to
        coalitions drawn in pairs, "permutation" draws orders. "auto" is exact where the model
        has an exact decomposition; else it takes subsets for up to 12 columns (7 where
        conditional="forest"), and for more of them orders, or for observational values the kernel.
    conditional
        How the columns outside a coalition depend on those inside, for observational values:
        "gaussian", "copula", "kernel" or "forest". "auto" is "gaussian" where all columns are
        numbers without gaps, else "kernel", which takes any columns. The result's ``conditional``
        is the one that was used.
    groups
        Columns that play together, by the group's name; the others play alone. Exact where the
        model can be taken apart.
    interactions
        Whether to give pairwise Shapley interactions too; of exact values only.
    output
        The class, or the name of the output, to explain; all of them when None.
    scale
        "margin", "probability" or "response". By default before any link, where there is one;
        other scales are estimated.
    precision
        Estimating ends once no standard error is larger than this share of the spread of the
        row's values.
    max_evaluations
        Evaluations of the model for one row at most, when estimating.
    n_background
        Background rows that stand in for one coalition: a number, or "all". When None, all of them
        where the values are exact (for trees with long paths as many as `clearwood.explain` says),
        100 when estimating. Values of trees over drawn rows have standard errors, their
        interactions do not.
    time_limit
        Seconds after which the rows that are done are returned, when estimating.
    n_orders
        A fixed number of orders for each row, whatever the precision. Unless a scale is named, the
        result then explains the prediction itself: probabilities for classes.
    seed
        Fixes the draws; the explanation's own when None.
    n_jobs
        Threads, -1 for all; the explanation's own when None. The result does not depend on it.
    to
        A folder for the values of all rows of a table in parts: one Parquet file for each part,
        with the columns of the result's frame, standard errors among them where the background is
        drawn. The metadata of a file say what the values are, and which rows were drawn. Exact
        values only.
    force
        Replace files in that folder.

    Returns
    -------
    Shapley
        Or, with ``to``, a `Written`: the files, how many rows they have, and sums.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("forest", n_estimators=20, max_depth=4).fit(data)
    >>> found = cw.shapley(model, data, data.head(3))
    >>> found.value, found.values.shape
    ('interventional', (3, 10))
    >>> bool(abs(found.prediction - model.predict(data.head(3))).max() < 1e-9)
    True
    >>> cw.shapley(model, data, data.head(3), value="path_dependent").about.background is None
    True

    Of any function, estimated:

    >>> X = data.X.to_frame("pandas")
    >>> rough = cw.shapley(lambda X: X["bmi"] * X["bp"], X, X.head(2))
    >>> rough.standard_errors.shape
    (2, 10)
    """
    if value not in _KNOWN:
        raise unknown_choice("value", value, _KNOWN)
    if output is not None:
        explained = explained.of_output(output)
    seed = explained.seed if seed is None else seed
    n_jobs = explained.n_jobs if n_jobs is None else n_jobs
    on_scale = checked_scale(scale)
    if n_orders is not None:
        _check_orders(n_orders, value, interactions=interactions)
        method = "permutation"
    wanted = explained.decomposing["n_background"] if n_background is None else n_background
    check_background_rows(wanted)
    # a mistake in what only estimates need is an error where nothing has to be estimated, too
    options = SampledOptions(
        method=method,
        groups=groups,
        precision=precision,
        max_evaluations=max_evaluations,
        n_background=explained.n_rows if wanted == "all" else wanted,
        time_limit=time_limit,
        orders=n_orders,
        seed=seed,
    )
    if to is not None or isinstance(rows, Parts) or (rows is None and explained.in_parts):
        if interactions or method != "auto" or value == "observational":
            raise InputError(
                "only exact Shapley values without interactions are written to files",
                parameter="to",
                value=to,
                hint=words("take some of the rows: ", Draw(value=1_000), "."),
            )
        return written_shapley(
            explained,
            rows,
            to,
            value=value,
            groups=groups,
            scale=on_scale,
            n_background=n_background,
            seed=seed,
            n_jobs=n_jobs,
            force=force,
        )
    if value == "path_dependent":
        return _path_dependent(explained, rows, groups, on_scale, n_jobs, interactions=interactions)
    if value == "interventional" and method == "auto" and _is_exact(explained, groups, on_scale):
        return _exact(
            explained,
            rows,
            groups,
            n_jobs,
            n_background=n_background,
            seed=seed,
            interactions=interactions,
        )
    if interactions:
        raise InputError(
            "interactions are given for exact values only; these are estimated",
            parameter="interactions",
            value=interactions,
            hint="leave them out, or explain a model with an exact decomposition.",
        )
    if n_orders is None:
        on_scale = explained.additive_scale(scale)
    return sampled_shapley(
        explained,
        rows,
        value=value,
        conditional=conditional,
        scale=on_scale,
        n_jobs=n_jobs,
        options=options,
    )


def _is_exact(
    explained: Explained, groups: Mapping[str, Sequence[str]] | None, scale: Scale | None
) -> bool:
    """Whether the model is a sum over these players on this scale, and is to be taken as one."""
    if not explained.decomposing["exact"]:
        return False
    try:
        check_scale(explained.game, scale)
        return grouped(explained.game, groups) is not None
    except NotDecomposableError:
        return False


def _exact(
    explained: Explained,
    rows: Any,
    groups: Mapping[str, Sequence[str]] | None,
    n_jobs: int,
    *,
    n_background: BackgroundRows | None,
    seed: int,
    interactions: bool,
) -> Shapley:
    """Compute interventional values over the whole background, or over rows drawn from it."""
    chosen_output(explained.game, explained.output)
    background, weights = explained.background_rows(groups)
    bound = explained.bound(groups, n_background=n_background, seed=seed, n_jobs=n_jobs)
    read = _grouped_rows(explained, bound.game, rows)
    warn_of_new_gaps(read, background, "background")
    with progress("explaining", total=len(read)) as step:
        values = bound.shapley(read, interactions=interactions, step=step)
    about = about_game(bound.game, background, weights, explained.n_all, bound)
    about = replace(about, rate=rate_of(explained.model))
    result = _result(explained, bound.game, read, values, bound.baseline, about)
    notes = (*single_row_note(background), *drawn_note(bound))
    return replace(result, notes=notes)


def _path_dependent(
    explained: Explained,
    rows: Any,
    groups: Mapping[str, Sequence[str]] | None,
    scale: Scale | None,
    n_jobs: int,
    *,
    interactions: bool,
) -> Shapley:
    game = grouped(explained.game, groups)
    if not isinstance(game, TreeGame):
        raise InputError(
            f"path-dependent values are for trees; this is {explained.game.kind}",
            parameter="value",
            value="path_dependent",
            hint=words("use ", Option("value", "interventional"), "."),
        )
    check_scale(game, scale)
    chosen_output(game, explained.output)
    read = _grouped_rows(explained, game, rows)
    with progress("explaining", total=len(read)) as step:
        values, baseline = game.path_dependent(
            read, interactions=interactions, n_jobs=n_jobs, step=step
        )
    about = replace(about_game(game, None, None), rate=rate_of(explained.model))
    return _result(explained, game, read, values, baseline, about)


def _grouped_rows(explained: Explained, game: Game, rows: Any) -> Rows:
    read = explained.rows(rows, late=isinstance(game, TreeGame))
    return read if game.grouping is None else game.grouping.applied(read)


def _result(
    explained: Explained, game: Game, read: Rows, values: Values, baseline: Floats, about: About
) -> Shapley:
    outputs = chosen_output(game, explained.output)
    return shapley_of_outputs(game, outputs, read, values, baseline, about)


def _check_orders(n_orders: Any, value: str, *, interactions: bool) -> None:
    check_whole("n_orders", n_orders, 2)
    if value != "interventional" or interactions:
        raise bad_value(
            "n_orders",
            n_orders,
            "only interventional values without interactions are estimated from orders",
            hint=words("leave out ", Option("n_orders"), "."),
        )
