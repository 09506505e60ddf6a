"""The effect of one or two columns on the prediction of any model."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.choices import BandChoice, EffectKind, SpreadSource, ValueFunction
from clearwood._shared.clock import Clock
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError, Option, bad_value, words
from clearwood._shared.messages import tell
from clearwood.checks import effective_rows, related
from clearwood.explanation.decomposition.decompose import decompose
from clearwood.explanation.decomposition.explained import Explained
from clearwood.explanation.effects.ale import ale
from clearwood.explanation.effects.bands import band as ends_of_band
from clearwood.explanation.effects.given import Given, given_values
from clearwood.explanation.effects.grid import checked_column
from clearwood.explanation.effects.marginal import marginal
from clearwood.explanation.effects.own_band import no_own_band
from clearwood.explanation.effects.pdp import ice, pdp, supported_pdp
from clearwood.explanation.effects.refit import refitted
from clearwood.explanation.effects.request import (
    Band,
    Extrapolation,
    Measured,
    Options,
    Request,
)
from clearwood.explanation.results.about import About, BackgroundInfo
from clearwood.explanation.results.effect import Effect
from clearwood.explanation.results.outputs import (
    noting_zero_weights,
    one_output,
    rate_of,
    rows_used,
    two_rows_or_more,
)
from clearwood.explanation.rows.predictor import Predictor
from clearwood.table import Encoder, Table, gap_shares

__all__ = ["effect", "measured_effect"]

_METHODS: dict[str, Callable[[Request], Measured]] = {
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
    explained: Explained,
    *columns: Any,
    kind: EffectKind = "pdp",
    points: int | None = None,
    grid: Sequence[Any] | None = None,
    output: Any = None,
    scale: str | None = None,
    centred: bool | None = None,
    derivative: bool = False,
    bands: int = 200,
    band: BandChoice = "auto",
    confidence: float = 0.9,
    refit: int = 0,
    y: Any = None,
    sample: int | None = None,
    exact: bool = True,
    extrapolation: Extrapolation = True,
    time_limit: float | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Effect:
    """Compute the effect of one column, or of two together, on the prediction of any model.

    The kinds answer different questions, and differ where columns depend on each other:

    - **pdp**: the average prediction if every row were given the value, all other columns as they
      are (Hiabu 2024, definition 7.3.2). Relies on combinations that may not occur.
    - **ice**: the same row by row, before the mean (definition 7.3.1); curves that are not
      parallel show an interaction.
    - **marginal**: the mean prediction of those who have the value (section 7.3.2). Nothing is
      extrapolated, but a column that the model ignores gets the effect of its neighbours.
    - **ale**: accumulated differences of the prediction over small steps, each averaged over the
      rows that lie there (definitions 7.3.3 and 7.4.6). Neither extrapolates far nor takes over
      the effect of other columns. Of two columns: what is left beyond the two single effects.
    - **supported_pdp**: the partial dependence averaged only over rows that, with the value, still
      lie where data are (section 7.3.2).
    - **component**: the component of the decomposition (`clearwood.explain`), before any link: the
      main effect of one column, measured from the baseline, or the interaction of two, which is
      what is left once both main effects are taken away. Exact for trees and additive models.

    Parameters
    ----------
    *columns
        One column or two, or a list of them.
    kind
        See above.
    points
        The most values (or bins, for "ale") of a column of numbers or dates, at quantiles; 40 for
        one column and 20 for each of two by default. Of categories, the 50 most common levels are
        shown.
    grid
        The values to show instead: numbers, dates or levels of one column, or one sequence of them
        for each of two (None for a column that keeps its quantiles). Numbers and dates need not
        occur in the data; for "ale" they are the edges of the bins.
    output
        The class or output; all of them when None, of two classes the second.
    scale
        "probability" or "margin" for classes, "response" or "margin" (before the link) for numbers.
    centred
        Measure from the mean over the data; individual curves from their first value. By default
        only "ale" is.
    derivative
        For "ice": slopes instead of curves.
    bands
        Bootstrap draws of the rows for a pointwise band; 0 for no band at all.
    band
        What the band shows. "rows": how far the average could move with other rows, for this model
        as it is. "model": how far the model could move with other training data, where it knows
        that itself: by the covariance of its coefficients ("gam") or by its models of folds
        ("glass"); for partial dependence and components. "simultaneous": the same for the whole
        curve rather than point by point, from 10,000 draws. "auto": "model" where there is one,
        else "rows". On the scale of predictions, every row's score is moved up or down by half the
        width before the link is applied.
    confidence
        The coverage that the band aims at.
    refit
        Draws for which the model is fitted again to resampled rows; the band then shows how far
        the curve could move with other training data. Needs the target, in ``data`` or as ``y``.
    y
        The target, where ``data`` does not name it.
    sample
        How many rows to average over; all of them when None, unless that takes more than
        40 million predictions.
    exact
        Whether to read a partial dependence off the exact decomposition where there is one.
    extrapolation
        How to find grid points at which rows lie outside the data: by "distance", whether rows
        that are alike in the columns that go together have such values (True), by an "isolation"
        forest over all columns, or not at all (False).
    time_limit
        Seconds after which the effect is given over the rows that are done, which are a random
        sample of all; the band allows for that. Ctrl-C does the same.
    seed
        Fixes the draws and the sample; the explanation's own when None.
    n_jobs
        Threads, where the model is read as a forest; the explanation's own when None.

    Returns
    -------
    Effect

    Warns
    -----
    ClearwoodWarning
        Where more than a fifth of the rows at a grid point lie outside the data, with the
        number of such points; where levels are left out; where the time limit was reached.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("forest", n_estimators=20).fit(data)
    >>> bmi = cw.effect(model, data, "bmi", kind="ale")
    >>> bool(abs(bmi.values @ bmi.shares) < 1e-9)
    True
    >>> cw.effect(lambda X: X[:, 0] ** 2, [[-1.0, 5], [0, 6], [2, 7]], "x0").values
    array([1., 0., 4.])
    >>> cw.effect(lambda X: X[:, 0] ** 2, [[-1.0, 5], [0, 6], [2, 7]], "x0", grid=[0, 1]).values
    array([0., 1.])
    """
    names = _named(columns)
    n_rows = explained.n_rows
    explained, y = explained.counted(y)
    n_zero = n_rows - explained.n_rows
    if kind == "component":
        # what is wrong with the options is an error for components too
        chosen = Options(kind=kind, points=points, bands=bands, band=band, confidence=confidence)
        result = _component(explained, names, chosen, output, scale)
        return noting_zero_weights(_with_gaps(result, explained), n_zero)
    options = Options(
        kind=kind,
        points=points,
        grid=grid,
        output=output,
        scale=scale,
        centred=centred,
        derivative=derivative,
        bands=bands,
        band=band,
        confidence=confidence,
        sample=sample,
        exact=exact,
        extrapolation=extrapolation,
        time_limit=time_limit,
        seed=seed,
        n_jobs=n_jobs,
    )
    result = measured_effect(explained, names, options, quiet=False)
    if refit:
        low, high = ends_of_band(_refits(explained, y, names, refit, options), confidence)
        note = f"the band is over {refit} models fitted to resampled rows"
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
    return noting_zero_weights(_with_gaps(result, explained), n_zero)


def _with_gaps(result: Effect, explained: Explained) -> Effect:
    """Return the effect with the share of rows in which columns of the model are missing."""
    encoder, data = getattr(explained.model, "encoder_", None), explained.data
    used = encoder.used_ if isinstance(encoder, Encoder) else None
    # read off a table where the model encodes it: a predictor would keep all rows encoded
    is_read = used is not None and isinstance(data, Table)
    known = data.columns if is_read else explained.predictor().columns
    columns = [column for column in known if used is None or column.name in used]
    if len(columns) < 2 or result.kind == "marginal":
        return result  # nothing is adjusted for
    if explained.in_parts is None:
        return replace(result, gap_shares=gap_shares(columns))
    parts = explained.in_parts.parts
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
    explained: Explained, names: tuple[Any, ...], options: Options, output: Any, scale: Any
) -> Effect:
    if options.band == "rows":
        raise bad_value("band", options.band, "a component has no band over rows")
    if output is not None:
        explained = explained.of_output(output)
    decomposition = explained.decomposition
    if scale is not None:
        decomposition = decompose(explained, **{**explained.decomposing, "scale": scale})
    result = decomposition.effect(
        *names,
        points=options.points,
        confidence=options.confidence,
        simultaneous=options.band == "simultaneous",
    )
    if options.band != "auto" and result.band not in get_args(SpreadSource):
        raise no_own_band("this model does not know how far its components vary")
    if not options.bands:
        result = replace(
            result, low=None, high=None, band=None, band_freedom=np.inf, is_simultaneous=False
        )
    n_data = explained.n_all
    return replace(result, n_data=n_data) if result.n_rows < n_data else result


def _refits(
    explained: Explained, y: Any, names: Sequence[Any], draws: int, options: Options
) -> Floats:
    """Compute the effect for models fitted to resampled rows, at the same rows and grid."""
    seed = explained.seed if options.seed is None else options.seed
    plain = replace(options, bands=0, exact=False, extrapolation=False, time_limit=None)
    models = refitted(explained.model, explained.data, y, draws, seed)
    return np.stack(
        [
            measured_effect(
                Explained(
                    model,
                    explained.data,
                    weights=explained.own_weights,
                    output=explained.output,
                    n_jobs=explained.n_jobs,
                ),
                names,
                plain,
            ).values
            for model in models
        ]
    )


def measured_effect(
    explained: Explained,
    names: Sequence[Any],
    options: Options,
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
    seed = explained.seed if options.seed is None else options.seed
    n_jobs = explained.n_jobs if options.n_jobs is None else options.n_jobs
    if predictor is None:
        predictor = explained.predictor(output=output, scale=scale, n_jobs=n_jobs)
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
            explained, predictor, wanted, output=output, scale=scale, n_jobs=n_jobs
        )
    weights = predictor.weights
    most = options.points or _default_points(options, len(positions), predictor)
    if rows is None:
        rows = _rows(explained, predictor, options, most ** len(positions), seed)
    request = Request(
        explained=explained,
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


def _default_points(options: Options, n_columns: int, predictor: Predictor) -> int:
    most = _POINTS_ALONE if n_columns == 1 else _POINTS_BESIDE
    n_rows = effective_rows(len(predictor), predictor.weights)
    if options.sample is not None:
        n_rows = min(n_rows, options.sample)
    is_local = options.kind == "ale" and n_rows < len(predictor)
    if options.kind == "marginal" or is_local:
        most = min(most, max(2, int((n_rows / _ROWS_PER_MEAN) ** (1 / n_columns))))
    return most


def _rows(
    explained: Explained, predictor: Predictor, options: Options, n_points: int, seed: int
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
    order = explained.rows_by_prediction(predictor)
    start = np.random.default_rng(seed).random()
    return np.sort(order[((start + np.arange(size)) * (n_rows / size)).astype(np.intp)])


# The result


def _extrapolation_note(result: Effect, request: Request) -> str:
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


def _result(request: Request, result: Measured) -> Effect:
    predictor, options = request.predictor, request.options
    values, replicates = result.values, result.replicates
    own = result.band
    if options.is_centred and options.kind not in ("ale", "ice"):
        values, replicates = _recentred(values, replicates, result.shares)
        own = None if own is None else own.moved(values - result.values)
    if own is None and replicates is not None:
        own = Band(*ends_of_band(replicates, options.confidence), source="rows")
    n_rows, n_all = len(result.rows), request.explained.n_all
    if result.exact and request.explained.in_parts is not None:
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
            rate=rate_of(request.explained.model),
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


def _own_baseline(request: Request) -> Floats:
    """Return the mean prediction over all rows of a table in parts."""
    bound = request.explained.bound(n_jobs=request.n_jobs)
    names = bound.game.outputs
    return bound.baseline[[names.index(name) for name in request.predictor.outputs]]


def _baseline(request: Request, result: Measured) -> Floats:
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
