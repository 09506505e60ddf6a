"""Shapley values of rows, with the value function named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import check_whole
from clearwood._shared.choices import BackgroundRows, Conditional, ShapleyMethod, ValueFunction
from clearwood._shared.choices import ValueFunction as ValueFunctionName
from clearwood._shared.errors import (
    Draw,
    InputError,
    Option,
    Scan,
    bad_value,
    unknown_choice,
    words,
)
from clearwood._shared.progress import progress
from clearwood.explanation.decomposition.decompose import (
    about_game,
    check_scale,
    chosen_output,
    drawn_note,
    plain_baseline,
    single_row_note,
)
from clearwood.explanation.games.drawn import check_background_rows
from clearwood.explanation.games.game import BoundGame, Game, GameValues, NotDecomposableError
from clearwood.explanation.games.groups import grouped
from clearwood.explanation.games.in_parts import InParts
from clearwood.explanation.games.trees import TreeGame
from clearwood.explanation.results.about import About, one_output, rate_of
from clearwood.explanation.results.shapley import Shapley
from clearwood.explanation.rows.rows import EncodedRows, warn_of_new_gaps
from clearwood.explanation.shapley.sampled import SampledOptions, sampled_shapley
from clearwood.fitted import Scale, checked_scale
from clearwood.parallel import Written, needs_folder
from clearwood.table import Parts, Table

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["shapley", "shapley_of_outputs", "written_shapley"]


def shapley_of_outputs(
    game: Game,
    outputs: slice,
    rows: EncodedRows,
    values: GameValues,
    baseline: Floats,
    about: About,
) -> Shapley:
    """Put together the Shapley values of the outputs that are explained."""
    pairs, errors = values.interactions, values.errors
    return Shapley(
        values=one_output(values.values[..., outputs]),
        baseline=plain_baseline(baseline[outputs]),
        columns=game.columns,
        rows=rows.labels,
        about=replace(about, outputs=game.outputs[outputs]),
        data=rows.columns,
        interactions=None if pairs is None else one_output(pairs[..., outputs]),
        standard_errors=None if errors is None else one_output(errors[..., outputs]),
    )


def written_shapley(
    explanation: "Explanation",
    rows: Any,
    to: str | Path | None,
    *,
    value: ValueFunction,
    groups: Mapping[str, Sequence[str]] | None,
    scale: Scale | None,
    n_background: BackgroundRows | None,
    seed: int,
    n_jobs: int,
    force: bool,
) -> Written:
    """Write the Shapley values of all rows of a table in parts.

    The files state what the values are, and over which background rows.
    """
    own = explanation.in_parts
    if rows is None and own is not None:
        rows = own.parts
    if not isinstance(rows, Parts):
        raise InputError(
            "only Shapley values of a table in parts are written to a folder",
            parameter="to",
            value=to,
            hint=words("read it with ", Scan(), ", or leave out ", Option("to")),
        )
    if to is None:
        raise needs_folder("Shapley values")
    try:
        game = grouped(explanation.game, groups)
    except NotDecomposableError as error:
        raise _not_exact() from error
    if game is None or not explanation.decomposing["exact"]:
        raise _not_exact()
    check_scale(game, scale)
    outputs = chosen_output(game, explanation.output)
    if value == "path_dependent":
        if not isinstance(game, TreeGame):
            raise InputError(
                f"path-dependent values are for trees; this is {game.kind}",
                parameter="value",
                value=value,
                hint=words("use ", Option("value", "interventional"), "."),
            )
        about, bound = about_game(game, None, None), None
    else:
        background, weights = explanation.background_rows(groups)
        bound = explanation.bound(groups, n_background=n_background, seed=seed, n_jobs=n_jobs)
        about = about_game(game, background, weights, explanation.n_all, bound)
    about = replace(about, rate=rate_of(explanation.model), outputs=game.outputs[outputs])
    in_parts = InParts(rows) if own is None else own
    return in_parts.write(
        rows,
        game,
        _PartExplainer(game, bound, outputs, about),
        to,
        what="Shapley values",
        force=force,
        settings={"players": game.columns, **about.to_json()},
        about=about.to_json(),
        notes=() if bound is None else drawn_note(bound),
        n_jobs=n_jobs,
    )


def _not_exact() -> InputError:
    return InputError(
        "the model has no exact decomposition, so the Shapley values of every row would be "
        "estimated one by one",
        parameter="to",
        hint=words("take some of the rows: ", Draw(value=1_000), "."),
    )


@dataclass(frozen=True, eq=False)
class _PartExplainer:
    """Computes the columns of a batch of rows, in a worker."""

    game: Game
    bound: BoundGame | None
    outputs: slice
    about: About

    def __call__(self, batch: Table, start: int) -> dict[str, Any]:
        rows = self.game.rows(batch)
        rows = replace(rows, labels=np.arange(start, start + len(rows)))
        if self.bound is not None:
            values, baseline = self.bound.shapley(rows), self.bound.baseline
        else:
            assert isinstance(self.game, TreeGame)
            values, baseline = self.game.path_dependent(rows)
        result = shapley_of_outputs(self.game, self.outputs, rows, values, baseline, self.about)
        return result.by_column()


_KNOWN = ("interventional", "path_dependent", "observational")


def shapley(
    self: "Explanation",
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

    The parameters are those of `clearwood.shapley` without model and data.
    """
    if value not in _KNOWN:
        raise unknown_choice("value", value, _KNOWN)
    explanation = self if output is None else self.of_output(output)
    seed = explanation.seed if seed is None else seed
    n_jobs = explanation.n_jobs if n_jobs is None else n_jobs
    on_scale = checked_scale(scale)
    if n_orders is not None:
        _check_orders(n_orders, value, interactions=interactions)
        method = "permutation"
    wanted = explanation.decomposing["n_background"] if n_background is None else n_background
    check_background_rows(wanted)
    # a mistake in what only estimates need is an error where nothing has to be estimated, too
    options = SampledOptions(
        method=method,
        groups=groups,
        precision=precision,
        max_evaluations=max_evaluations,
        n_background=explanation.n_rows if wanted == "all" else wanted,
        time_limit=time_limit,
        orders=n_orders,
        seed=seed,
    )
    if to is not None or isinstance(rows, Parts) or (rows is None and explanation.in_parts):
        if interactions or method != "auto" or value == "observational":
            raise InputError(
                "only exact Shapley values without interactions are written to files",
                parameter="to",
                value=to,
                hint=words("take some of the rows: ", Draw(value=1_000), "."),
            )
        return written_shapley(
            explanation,
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
        return _path_dependent(
            explanation, rows, groups, on_scale, n_jobs, interactions=interactions
        )
    if value == "interventional" and method == "auto" and _is_exact(explanation, groups, on_scale):
        return _exact(
            explanation,
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
        on_scale = explanation.additive_scale(scale)
    return sampled_shapley(
        explanation,
        rows,
        value=value,
        conditional=conditional,
        scale=on_scale,
        n_jobs=n_jobs,
        options=options,
    )


def _is_exact(
    explanation: "Explanation", groups: Mapping[str, Sequence[str]] | None, scale: Scale | None
) -> bool:
    """Whether the model is a sum over these players on this scale, and is to be taken as one."""
    if not explanation.decomposing["exact"]:
        return False
    try:
        check_scale(explanation.game, scale)
        return grouped(explanation.game, groups) is not None
    except NotDecomposableError:
        return False


def _exact(
    explanation: "Explanation",
    rows: Any,
    groups: Mapping[str, Sequence[str]] | None,
    n_jobs: int,
    *,
    n_background: BackgroundRows | None,
    seed: int,
    interactions: bool,
) -> Shapley:
    """Compute interventional values over the whole background, or over rows drawn from it."""
    chosen_output(explanation.game, explanation.output)
    background, weights = explanation.background_rows(groups)
    bound = explanation.bound(groups, n_background=n_background, seed=seed, n_jobs=n_jobs)
    read = _grouped_rows(explanation, bound.game, rows)
    warn_of_new_gaps(read, background, "background")
    with progress("explaining", total=len(read)) as step:
        values = bound.shapley(read, interactions=interactions, step=step)
    about = about_game(bound.game, background, weights, explanation.n_all, bound)
    about = replace(about, rate=rate_of(explanation.model))
    result = _result(explanation, bound.game, read, values, bound.baseline, about)
    notes = (*single_row_note(background), *drawn_note(bound))
    return replace(result, notes=notes)


def _path_dependent(
    explanation: "Explanation",
    rows: Any,
    groups: Mapping[str, Sequence[str]] | None,
    scale: Scale | None,
    n_jobs: int,
    *,
    interactions: bool,
) -> Shapley:
    game = grouped(explanation.game, groups)
    if not isinstance(game, TreeGame):
        raise InputError(
            f"path-dependent values are for trees; this is {explanation.game.kind}",
            parameter="value",
            value="path_dependent",
            hint=words("use ", Option("value", "interventional"), "."),
        )
    check_scale(game, scale)
    chosen_output(game, explanation.output)
    read = _grouped_rows(explanation, game, rows)
    with progress("explaining", total=len(read)) as step:
        values, baseline = game.path_dependent(
            read, interactions=interactions, n_jobs=n_jobs, step=step
        )
    about = replace(about_game(game, None, None), rate=rate_of(explanation.model))
    return _result(explanation, game, read, values, baseline, about)


def _grouped_rows(explanation: "Explanation", game: Game, rows: Any) -> EncodedRows:
    read = explanation.rows(rows, late=isinstance(game, TreeGame))
    return read if game.grouping is None else game.grouping.applied(read)


def _result(
    explanation: "Explanation",
    game: Game,
    read: EncodedRows,
    values: GameValues,
    baseline: Floats,
    about: About,
) -> Shapley:
    outputs = chosen_output(game, explanation.output)
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
