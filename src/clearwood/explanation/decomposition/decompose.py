"""From a model and its data to a decomposition: exact where there is one, sampled elsewhere."""

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import check_whole
from clearwood._shared.choices import BackgroundRows
from clearwood._shared.clock import Clock
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import Option, bad_value, words
from clearwood._shared.numbers import count
from clearwood._shared.weights import checked_weights
from clearwood.explanation.decomposition.arithmetic import Arithmetic
from clearwood.explanation.decomposition.decomposition import Decomposition
from clearwood.explanation.games.drawn import BoundDraw, check_background_rows
from clearwood.explanation.games.game import BoundGame, Game, NotDecomposableError
from clearwood.explanation.games.sampled import SampledGame, interacting_columns, positions_of
from clearwood.explanation.results.about import About, BackgroundInfo, one_output, rate_of
from clearwood.explanation.rows.compose import as_rows
from clearwood.explanation.rows.predictor import Predictor
from clearwood.explanation.rows.rows import EncodedRows, label_rows
from clearwood.fitted import Scale, Unit, checked_scale, output_position

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = [
    "about_game",
    "check_scale",
    "chosen_output",
    "decompose",
    "drawn_note",
    "plain_baseline",
    "single_row_note",
]

# Rows that are drawn where components are sampled, unless the user says how many.
_BACKGROUND = 200
#: Evaluations of the model that measuring the components may take, unless the user says more.
_MEASURING = 250_000
#: Seconds in which the speed of the model is measured, where there is a time limit.
_TRIAL = 0.05


def decompose(
    explanation: "Explanation",
    *,
    max_order: int | None = 2,
    scale: Any = None,
    n_background: BackgroundRows | None = None,
    time_limit: float | None = None,
    exact: bool = True,
) -> Decomposition:
    """Decompose a model's prediction; parameters as for `clearwood.explain`."""
    if exact:
        try:
            return _exact(explanation, max_order, checked_scale(scale))
        except NotDecomposableError:
            pass  # the model is sound, and its predictions can be sampled
    return _sampled(explanation, max_order, scale, n_background, time_limit)


def _exact(explanation: "Explanation", max_order: int | None, scale: Scale | None) -> Decomposition:
    game = explanation.game
    check_scale(game, scale)
    rows, weights = explanation.background_rows()
    order, notes = _checked_order(game, max_order)
    bound = explanation.bound()
    return _decomposition(
        bound,
        rows,
        weights,
        order=order,
        output=explanation.output,
        reading=explanation.rows,
        rate=rate_of(explanation.model),
        notes=(
            *single_row_note(rows),
            *notes,
            *drawn_note(bound),
            *_parts_notes(explanation, bound),
        ),
        n_rows=explanation.n_all,
        bound_spread=explanation.bound_spread,
        in_parts=explanation.in_parts,
    )


def drawn_note(bound: BoundGame) -> tuple[str, ...]:
    """Say that averages are over drawn rows, where they are."""
    if not isinstance(bound, BoundDraw):
        return ()
    drawn = f"{bound.n_drawn:,} rows drawn from {bound.n_rows:,} (seed {bound.seed})"
    return (f"averages are over {drawn}, so values have standard errors",)


def _parts_notes(explanation: "Explanation", bound: BoundGame) -> tuple[str, ...]:
    """Say what is exact over all rows and what is not, where rows are read in parts."""
    in_parts = explanation.in_parts
    if in_parts is None:
        return ()
    notes = []
    if explanation.n_rows < explanation.n_all and not isinstance(bound, BoundDraw):
        notes.append(
            f"averages are over all {explanation.n_all:,} rows; effects are shown at values of a "
            f"sample of {explanation.n_rows:,} rows (seed {explanation.seed}), and shares of rows "
            "next to them are the sample's"
        )
    for run in in_parts.runs.values():
        notes += [f"{name!r} was left out: {error}" for name, error in run.skipped]
    return tuple(dict.fromkeys(notes))


def _decomposition(
    bound: BoundGame,
    rows: EncodedRows,
    weights: Floats | None,
    *,
    order: int,
    output: Any,
    reading: Any,
    notes: tuple[str, ...],
    rate: str,
    n_rows: int | None = None,
    **more: Any,
) -> Decomposition:
    game = bound.game
    sets = game.sets(order)
    outputs = chosen_output(game, output)
    about = replace(about_game(game, rows, weights, n_rows, bound), rate=rate)
    return Decomposition(
        columns=game.columns,
        components=tuple(tuple(game.columns[k] for k in players) for players in sets),
        order=order,
        baseline=plain_baseline(bound.baseline[outputs]),
        about=replace(about, outputs=game.outputs[outputs]),
        notes=notes,
        _arithmetic=Arithmetic(
            bound=bound,
            rows=rows,
            weights=weights,
            outputs=outputs,
            sets=tuple(sets),
            order=order,
            reading=reading,
            **more,
        ),
    )


def single_row_note(rows: EncodedRows) -> tuple[str, ...]:
    """Note that a background of one row is a comparison with that row."""
    if len(rows) > 1:
        return ()
    return ("the background is a single row: everything is a comparison with that row",)


def about_game(
    game: Game,
    rows: EncodedRows | None,
    weights: Floats | None,
    n_rows: int | None = None,
    bound: BoundGame | None = None,
) -> About:
    """State what is explained and how; without rows, path-dependent values.

    ``n_rows`` are those of the background, where ``rows`` are only some of them; ``bound`` is the
    game with its background, which may be drawn.
    """
    background = None
    if rows is not None:
        n_rows = len(rows) if n_rows is None else n_rows
        background = BackgroundInfo(n_rows, weights is not None, rows.source)
        if isinstance(bound, BoundDraw):
            background = replace(
                background, n_rows=bound.n_drawn, drawn_from=bound.n_rows, seed=bound.seed
            )
    return About(
        model=game.kind,
        value="path_dependent" if rows is None else "interventional",
        background=background,
        unit=game.unit,
        outputs=game.outputs,
        is_sampled=isinstance(game, SampledGame) or isinstance(bound, BoundDraw),
    )


def chosen_output(game: Game, output: Any) -> slice:
    """Find the outputs that are explained, as a slice."""
    if output is None:
        return slice(None)
    at = output_position(output, game.outputs)
    return slice(at, at + 1)


def check_scale(game: Game, scale: Scale | None) -> None:
    """Refuse scales on which the prediction is not a sum."""
    same = {Unit.PROBABILITY: Scale.PROBABILITY, Unit.PREDICTION: Scale.RESPONSE}
    if scale in (None, Scale.MARGIN) or scale == same.get(game.unit):
        return
    raise NotDecomposableError(
        words(Option("scale", str(scale)), f": the model adds up its {game.unit}"),
        parameter="scale",
        value=scale,
        hint=words(
            "use ", Option("scale", "margin"), ", or sample: ", Option("exact", value=False), "."
        ),
    )


def plain_baseline(baseline: Floats) -> Any:
    """Return one number where there is one output."""
    single = one_output(baseline[None, :])[0]
    return float(single) if np.ndim(single) == 0 else single


def _checked_order(game: Game, max_order: Any) -> tuple[int, tuple[str, ...]]:
    longest = max(game.order, 1)
    if max_order is None:
        return longest, ()
    check_whole("max_order", max_order, 1, or_none=True)
    if max_order <= longest:
        return int(max_order), ()
    if max_order == 2:  # the default is not a request
        return longest, ()
    note = (
        f"no path of the model has {max_order} columns; "
        f"the decomposition is complete at order {longest}"
    )
    return longest, (note,)


# Sampled


def _sampled(
    explanation: "Explanation",
    max_order: int | None,
    scale: Any,
    n_background: BackgroundRows | None,
    time_limit: float | None,
) -> Decomposition:
    check_background_rows(n_background)
    if n_background == "all":
        n_background = explanation.n_rows
    if n_background is not None and n_background < 2:
        raise bad_value("n_background", n_background, "it must be at least 2")
    Clock.started_now(time_limit)
    if max_order is None or max_order > 3:
        raise bad_value(
            "max_order",
            max_order,
            "this would evaluate the model for too many coalitions",
            hint=words("sampled decompositions go up to ", Option("max_order", 3), "."),
        )
    weights = checked_weights(explanation.own_weights, explanation.n_rows)
    usable = np.arange(explanation.n_rows) if weights is None else np.flatnonzero(weights)
    n_rows = len(usable) if explanation.in_parts is None else explanation.n_all
    chosen = usable[draw_rows(len(usable), n_background or _BACKGROUND, seed=explanation.seed)]
    drawn = explanation.over(chosen)
    weights = None if weights is None else weights[chosen]
    scale = explanation.additive_scale(scale)
    reading = _SampledReader(drawn, scale, explanation.output)
    predictor = drawn.predictor(scale=scale, output=explanation.output)
    allowance = None if n_background else _MEASURING
    cut = None
    if time_limit is not None:
        in_time = int(time_limit * _rate(predictor))
        if allowance is None or in_time < allowance:
            of = "" if allowance is None else f" of {allowance:,}"
            cut = f"the time limit leaves {in_time:,}{of} evaluations of the model"
            allowance = in_time
    names = predictor.names
    interacting = tuple(range(len(names)))
    if max_order > 1:
        interacting = interacting_columns(predictor, len(predictor), explanation.seed)
    game = SampledGame(
        columns=names,
        groups=np.arange(len(names)),
        outputs=predictor.outputs,
        unit=predictor.unit,
        is_step=predictor.is_step,
        kind=predictor.kind,
        reader=reading,
        n_rows=n_rows,
        interacting=interacting,
        allowance=allowance,
        seed=explanation.seed,
    )
    rows = positions_of(predictor, slice(0, len(chosen)))
    rows = replace(rows, labels=label_rows(explanation.data, explanation.n_rows)[chosen])
    notes = [] if cut is None else [cut]
    notes += [f"sampled: averages over {len(chosen):,} of {count(n_rows, 'row')}"]
    if max_order > 1 and len(interacting) < len(names):
        notes.append(
            f"interactions are estimated among the {len(interacting)} of {len(names)} columns "
            "that interact most; the others' are in the remainder"
        )
    order, _ = _checked_order(game, max_order)
    return _decomposition(
        game.bind(rows, weights, n_jobs=explanation.n_jobs),
        rows,
        weights,
        order=order,
        output=None,  # the predictor has the one that is explained
        reading=reading,
        rate=rate_of(explanation.model),
        notes=tuple(notes),
    )


@dataclass(frozen=True, eq=False)
class _SampledReader:
    """Reads rows after the drawn background, so that columns can be exchanged with it."""

    explanation: "Explanation"
    scale: Scale | None
    output: Any

    def __call__(self, data: Any) -> EncodedRows:
        data = as_rows(data)
        predictor, n_new = self.explanation.stacked(
            data, background_first=True, scale=self.scale, output=self.output
        )
        n_background = len(predictor) - n_new
        rows = positions_of(predictor, slice(n_background, n_background + n_new))
        return replace(rows, labels=label_rows(data, n_new))


def _rate(predictor: Predictor) -> float:
    """Measure the evaluations of the model in a second."""
    started = time.perf_counter()
    n_done = 0
    while time.perf_counter() - started < _TRIAL:
        predictor.predict(np.arange(len(predictor)))
        n_done += len(predictor)
    return n_done / (time.perf_counter() - started)
