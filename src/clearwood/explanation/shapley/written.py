"""Exact Shapley values of all rows of a table in parts, written to files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import BackgroundRows, ValueFunction
from clearwood._shared.errors import Draw, InputError, Option, words
from clearwood.explanation.decomposition.decompose import (
    about_game,
    check_scale,
    chosen_output,
    drawn_note,
    plain_baseline,
)
from clearwood.explanation.games.game import BoundGame, Game, Values
from clearwood.explanation.games.groups import grouped
from clearwood.explanation.games.in_parts import InParts
from clearwood.explanation.games.trees import TreeGame
from clearwood.explanation.results.about import About
from clearwood.explanation.results.outputs import one_output, rate_of
from clearwood.explanation.results.shapley import Shapley
from clearwood.explanation.rows.rows import Rows
from clearwood.explanation.rows.supported import NotDecomposableError
from clearwood.fitted import Scale
from clearwood.parallel import Written, needs_folder
from clearwood.table import Parts, Table

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["shapley_of_outputs", "written_shapley"]


def shapley_of_outputs(
    game: Game, outputs: slice, rows: Rows, values: Values, baseline: Floats, about: About
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
            hint=words(
                "read it with ", Option("parts", value=True), ", or leave out ", Option("to")
            ),
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
        _Explaining(game, bound, outputs, about),
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
class _Explaining:
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
