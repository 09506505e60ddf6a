"""The effect of one or two columns on the prediction of any model."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.choices import BandChoice, EffectKind, SpreadSource, ValueFunction
from clearwood._shared.clock import Clock
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError, Option, bad_value, words
from clearwood._shared.messages import tell
from clearwood.checks import effective_rows, related
from clearwood.explanation.decomposition.decompose import decompose
from clearwood.explanation.effects.ale import ale
from clearwood.explanation.effects.bands import band as ends_of_band
from clearwood.explanation.effects.bands import refitted
from clearwood.explanation.effects.grid import Given, checked_column, given_values
from clearwood.explanation.effects.pdp import ice, marginal, no_own_band, pdp, supported_pdp
from clearwood.explanation.effects.request import (
    Band,
    EffectOptions,
    EffectRequest,
    Extrapolation,
    MeasuredEffect,
)
from clearwood.explanation.results.about import (
    About,
    BackgroundInfo,
    noting_zero_weights,
    one_output,
    rate_of,
    rows_used,
    two_rows_or_more,
)
from clearwood.explanation.results.effect import Effect
from clearwood.explanation.rows.predictor import Predictor
from clearwood.table import Encoder, Table, gap_shares

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["effect", "measured_effect"]

_METHODS: dict[str, Callable[[EffectRequest], MeasuredEffect]] = {
    "pdp": pdp,
    "ice": ice,
    "marginal": marginal,
    "supported_pdp": supported_pdp,
    "ale": ale,
}

#: The value function of the kinds that have one.
_VALUE: dict[str, ValueFunction] = {
    "pdp": "interventional",
    "ice": "interventional",
    "supported_pdp": "interventional",
    "marginal": "observational",
}

_POINTS_ALONE = 40
_POINTS_BESIDE = 20
# Fewer rows than this at a value make a conditional mean that is mostly noise.
_ROWS_PER_MEAN = 25
# Predictions kept at once: with more, rows are sampled unless the user says how many.
_MOST_PREDICTIONS = 40_000_000
# The mean prediction takes this many rows where that of each row is nearly known.
_ROWS_FOR_MEAN = 2000


def effect(
    self: "Explanation",
    *columns: Any,
    kind: EffectKind = "pdp",
    points: int | None = None,
    grid: Sequence[Any] | None = None,
    output: Any = None,
    scale: str | None = None,
    centred: bool | None = None,
    derivative: bool = False,
    n_bootstrap: int = 200,
    band: BandChoice = "auto",
    confidence: float = 0.9,
    n_refits: int = 0,
    y: Any = None,
    sample: int | None = None,
    exact: bool = True,
    extrapolation: Extrapolation = True,
    time_limit: float | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Effect:
    """Compute the effect of one column, or of two together, on the prediction of any model.

    The parameters are those of `clearwood.effect` without model and data.
    """
    names = _named(columns)
    n_rows = self.n_rows
    explanation, y = self.over_positive_weights(y)
    n_zero = n_rows - explanation.n_rows
    if kind == "component":
        # what is wrong with the options is an error for components too
        chosen = EffectOptions(
            kind=kind, points=points, n_bootstrap=n_bootstrap, band=band, confidence=confidence
        )
        result = _component(explanation, names, chosen, output, scale)
        return noting_zero_weights(_with_gaps(result, explanation), n_zero)
    options = EffectOptions(
        kind=kind,
        points=points,
        grid=grid,
        output=output,
        scale=scale,
        centred=centred,
        derivative=derivative,
        n_bootstrap=n_bootstrap,
        band=band,
        confidence=confidence,
        sample=sample,
        exact=exact,
        extrapolation=extrapolation,
        time_limit=time_limit,
        seed=seed,
        n_jobs=n_jobs,
    )
    result = measured_effect(explanation, names, options, quiet=False)
    if n_refits:
        low, high = ends_of_band(_refits(explanation, y, names, n_refits, options), confidence)
        note = f"the band is over {n_refits} models fitted to resampled rows"
        result = replace(
            result,
            low=low,
            high=high,
            band="refits",
            band_freedom=np.inf,
            is_simultaneous=False,
            standard_errors=None,
            notes=(*result.notes, note),
        )
    return noting_zero_weights(_with_gaps(result, explanation), n_zero)


def _with_gaps(result: Effect, explanation: "Explanation") -> Effect:
    """Return the effect with the share of rows in which columns of the model are missing."""
    encoder, data = getattr(explanation.model, "encoder_", None), explanation.data
    used = encoder.used_ if isinstance(encoder, Encoder) else None
    # read off a table where the model encodes it: a predictor would keep all rows encoded
    is_read = used is not None and isinstance(data, Table)
    known = data.columns if is_read else explanation.predictor().columns
    columns = [column for column in known if used is None or column.name in used]
    if len(columns) < 2 or result.kind == "marginal":
        return result  # nothing is adjusted for
    if explanation.in_parts is None:
        return replace(result, gap_shares=gap_shares(columns))
    parts = explanation.in_parts.parts
    missing = {column.name: parts.missing.get(column.name, 0) for column in columns}
    shares = {name: n / parts.n_rows for name, n in missing.items() if n}
    return replace(result, gap_shares=shares)


def _named(columns: Sequence[Any]) -> tuple[Any, ...]:
    if len(columns) == 1 and not isinstance(columns[0], str | int | np.integer):
        columns = tuple(columns[0])
    if not 1 <= len(columns) <= 2:
        raise InputError(
            f"an effect is of one column or two, not {len(columns)}",
            parameter="columns",
            value=columns,
            hint="for more, see the components of an explanation.",
        )
    return tuple(columns)


def _component(
    explanation: "Explanation",
    names: tuple[Any, ...],
    options: EffectOptions,
    output: Any,
    scale: Any,
) -> Effect:
    if options.band == "rows":
        raise bad_value("band", options.band, "a component has no band over rows")
    if output is not None:
        explanation = explanation.of_output(output)
    decomposition = explanation.decomposition
    if scale is not None:
        decomposition = decompose(explanation, **{**explanation.decomposing, "scale": scale})
    result = decomposition.effect(
        *names,
        points=options.points,
        confidence=options.confidence,
        simultaneous=options.band == "simultaneous",
    )
    if options.band != "auto" and result.band not in get_args(SpreadSource):
        raise no_own_band("the variance of this model's components is not known")
    if not options.n_bootstrap:
        result = replace(
            result, low=None, high=None, band=None, band_freedom=np.inf, is_simultaneous=False
        )
    n_data = explanation.n_all
    return replace(result, n_data=n_data) if result.n_rows < n_data else result


def _refits(
    explanation: "Explanation", y: Any, names: Sequence[Any], draws: int, options: EffectOptions
) -> Floats:
    """Compute the effect for models fitted to resampled rows, at the same rows and grid."""
    seed = explanation.seed if options.seed is None else options.seed
    plain = replace(options, n_bootstrap=0, exact=False, extrapolation=False, time_limit=None)
    models = refitted(explanation.model, explanation.data, y, draws, seed)
    return np.stack(
        [
            measured_effect(
                type(explanation)(
                    model,
                    explanation.data,
                    weights=explanation.own_weights,
                    output=explanation.output,
                    n_jobs=explanation.n_jobs,
                ),
                names,
                plain,
            ).values
            for model in models
        ]
    )


def measured_effect(
    explanation: "Explanation",
    names: Sequence[Any],
    options: EffectOptions,
    *,
    predictor: Predictor | None = None,
    rows: Index | None = None,
    quiet: bool = True,
) -> Effect:
    """Measure an effect, without a warning unless wanted.

    A predictor, and the rows to average over, are used as they are where they are known.
    """
    clock = Clock.started_now(options.time_limit)
    kind, output, scale = options.kind, options.output, options.scale
    seed = explanation.seed if options.seed is None else options.seed
    n_jobs = explanation.n_jobs if options.n_jobs is None else options.n_jobs
    if predictor is None:
        predictor = explanation.predictor(output=output, scale=scale, n_jobs=n_jobs)
    positions = _positions(predictor, names)
    if kind == "ice" and len(positions) == 2:
        raise bad_value(
            "kind",
            kind,
            "individual curves are of one column",
            hint=words("use ", Option("kind", "pdp"), " for two."),
        )
    wanted = _wanted(positions, options.grid)
    given: dict[int, Given] = {}
    if wanted:
        predictor, given = given_values(
            explanation, predictor, wanted, output=output, scale=scale, n_jobs=n_jobs
        )
    weights = predictor.weights
    most = options.points or _default_points(options, len(positions), predictor)
    if rows is None:
        rows = _rows(explanation, predictor, options, most ** len(positions), seed)
    request = EffectRequest(
        explanation=explanation,
        predictor=predictor,
        options=options,
        positions=positions,
        most=most,
        rows=rows,
        weights=np.ones(len(rows)) if weights is None else weights[rows],
        seed=seed,
        n_jobs=n_jobs,
        clock=clock,
        given=given,
    )
    measured = _METHODS[kind](request)
    result = _result(request, measured)
    warned = [text for text in (measured.left_out, measured.stopped) if text]
    if result.n_data is not None and options.sample is None and not measured.stopped:
        warned.insert(0, f"averaged over {rows_used(result.n_rows, result.n_data)}")
    if result.extrapolates.any():
        warned.append(_extrapolation_note(result, request))
    if not quiet:
        for text in warned:
            tell(text)
    return replace(result, notes=(*warned, *result.notes))


def _wanted(positions: tuple[int, ...], grid: Any) -> dict[int, Sequence[Any]]:
    """Return the values that the user wants shown, by the position of their column."""
    if grid is None:
        return {}
    if isinstance(grid, str) or not hasattr(grid, "__len__"):
        raise bad_value(
            "grid", grid, "it is a list of values", hint=words(Option("grid", [20, 40, 60]))
        )
    if len(positions) == 1:
        return {positions[0]: grid}
    if len(grid) != 2 or any(isinstance(values, str | float | int) for values in grid):
        raise InputError(
            "the grid of two columns has one list of values for each",
            parameter="grid",
            hint=words(Option("grid", ([20, 40, 60], None)), " gives those of the first column."),
        )
    return {k: values for k, values in zip(positions, grid, strict=True) if values is not None}


def _positions(predictor: Predictor, names: Sequence[Any]) -> tuple[int, ...]:
    positions = tuple(predictor.position(name) for name in names)
    if len(set(positions)) < len(positions):
        raise InputError(f"{names[0]!r} is given twice", parameter="columns", value=names)
    two_rows_or_more(len(predictor), "an effect")
    for position in positions:
        checked_column(predictor.columns[position])
    return positions


def _default_points(options: EffectOptions, n_columns: int, predictor: Predictor) -> int:
    most = _POINTS_ALONE if n_columns == 1 else _POINTS_BESIDE
    n_rows = effective_rows(len(predictor), predictor.weights)
    if options.sample is not None:
        n_rows = min(n_rows, options.sample)
    is_local = options.kind == "ale" and n_rows < len(predictor)
    if options.kind == "marginal" or is_local:
        most = min(most, max(2, int((n_rows / _ROWS_PER_MEAN) ** (1 / n_columns))))
    return most


def _rows(
    explanation: "Explanation",
    predictor: Predictor,
    options: EffectOptions,
    n_points: int,
    seed: int,
) -> Index:
    """Choose the rows to average over.

    Where each is predicted at many points, they are spread evenly over the rows in the order of
    their predictions. That halves the error, so that the band, which is that of a random sample,
    covers the average over all rows. Where predicting all rows once would take longer than the
    effect itself, they are drawn at random.
    """
    n_rows, size = len(predictor), options.sample
    is_average = options.kind in ("pdp", "ice", "supported_pdp")
    if size is None and is_average:
        size = max(2, _MOST_PREDICTIONS // (n_points * len(predictor.outputs)))
    if not is_average or size is None or size >= n_rows or n_rows > size * n_points:
        return draw_rows(n_rows, size, seed=seed)
    order = explanation.rows_by_prediction(predictor)
    start = np.random.default_rng(seed).random()
    return np.sort(order[((start + np.arange(size)) * (n_rows / size)).astype(np.intp)])


# The result


def _extrapolation_note(result: Effect, request: EffectRequest) -> str:
    names = " and ".join(repr(name) for name in result.columns)
    because = ""
    if request.options.way == "distance":
        predictor = request.predictor
        others = [repr(predictor.names[k]) for k in related(predictor.profiles, request.positions)]
        because = f", because of {', '.join(others)}" if others else ""
    at = result.extrapolates
    return (
        f"at {int(at.sum())} of {at.size} grid points of {names}, "
        f"more than a fifth of the rows lie outside the data{because}; drawn dotted"
    )


def _result(request: EffectRequest, result: MeasuredEffect) -> Effect:
    predictor, options = request.predictor, request.options
    values, replicates = result.values, result.replicates
    own = result.band
    if options.is_centred and options.kind not in ("ale", "ice"):
        values, replicates = _recentred(values, replicates, result.shares)
        own = None if own is None else own.moved(values - result.values)
    if own is None and replicates is not None:
        own = Band(*ends_of_band(replicates, options.confidence), source="rows")
    n_rows, n_all = len(result.rows), request.explanation.n_all
    if result.exact and request.explanation.in_parts is not None:
        n_rows = n_all  # read off a decomposition over all of them
        baseline = _own_baseline(request)
    else:
        baseline = _baseline(request, result)
    return Effect(
        kind=options.kind,
        columns=tuple(predictor.names[k] for k in request.positions),
        grid=result.grid,
        values=one_output(values),
        shares=result.shares,
        outside=result.outside,
        baseline=float(baseline[0]) if len(baseline) == 1 else baseline,
        is_ordered=result.is_ordered,
        is_step=predictor.is_step and options.kind in ("pdp", "ice"),
        about=About(
            model=predictor.kind,
            value=_VALUE.get(options.kind),
            background=BackgroundInfo(n_rows, predictor.weights is not None),
            unit=predictor.unit,
            outputs=predictor.outputs,
            rate=rate_of(request.explanation.model),
        ),
        n_rows=n_rows,
        n_data=n_all if n_rows < n_all else None,
        evaluations=predictor.evaluations[0],
        low=None if own is None else one_output(own.low),
        high=None if own is None else one_output(own.high),
        confidence=options.confidence,
        band=None if own is None else own.source,
        band_freedom=np.inf if own is None else own.freedom,
        is_simultaneous=own is not None and own.is_simultaneous,
        standard_errors=None if own is None or own.errors is None else one_output(own.errors),
        curves=None if result.curves is None else one_output(result.curves),
        rows=None if result.curves is None else predictor.labels[result.rows],
        centred=options.is_centred,
        derivative=options.derivative,
        exact=result.exact,
        notes=result.notes,
    )


def _own_baseline(request: EffectRequest) -> Floats:
    """Return the mean prediction over all rows of a table in parts."""
    bound = request.explanation.bound(n_jobs=request.n_jobs)
    names = bound.game.outputs
    return bound.baseline[[names.index(name) for name in request.predictor.outputs]]


def _baseline(request: EffectRequest, result: MeasuredEffect) -> Floats:
    """Compute the mean prediction.

    Where each row's prediction is nearly known, from the ends of its step, only the rows for which
    it may be farthest off are predicted, and some of the others for the mean difference.
    """
    rows, weights = result.rows, result.weights
    if result.near is None or len(rows) <= _ROWS_FOR_MEAN:
        return np.asarray(np.average(request.predictor.predict(rows), axis=0, weights=weights))
    predicted = result.near[:, :-1].copy()
    order = np.argsort(-result.near[:, -1], kind="stable")
    n_unsure = max(_ROWS_FOR_MEAN // 2, int(np.isinf(result.near[:, -1]).sum()))
    unsure, others = order[:n_unsure], order[n_unsure:]
    some = others[np.linspace(0, len(others) - 1, _ROWS_FOR_MEAN // 2).round().astype(np.intp)]
    known = request.predictor.predict(rows[np.concatenate([unsure, some])])
    predicted[unsure] = known[:n_unsure]
    rest = known[n_unsure:] - predicted[some]
    predicted[others] += np.average(rest, axis=0, weights=weights[some])
    return np.asarray(np.average(predicted, axis=0, weights=weights))


def _recentred(
    values: Floats, replicates: Floats | None, shares: Floats
) -> tuple[Floats, Floats | None]:
    known = np.isfinite(values).all(axis=-1)
    weight = np.where(known, shares, 0.0)[..., None]
    axes = tuple(range(shares.ndim))

    def mean(of: Floats, axes: tuple[int, ...]) -> Floats:
        total = (np.where(np.isfinite(of), of, 0.0) * weight).sum(axis=axes, keepdims=True)
        return np.asarray(total / weight.sum())

    moved = values - mean(values, axes)
    if replicates is None:
        return moved, None
    return moved, replicates - mean(replicates, tuple(a + 1 for a in axes))
