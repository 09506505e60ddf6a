"""The effect of one or two columns on the prediction of any model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._errors import InputError, did_you_mean
from clearwood.decompose._present import one_output
from clearwood.explain._ale import LocalEffects, first_order, second_order
from clearwood.explain._ale_axis import axis_of
from clearwood.explain._effect_bands import band, mean_replicates, resampled_weights
from clearwood.explain._effect_grid import Points, checked_column, points_of
from clearwood.explain._effect_refit import refitted
from clearwood.explain._effect_result import TITLES, Kind, ModelEffect
from clearwood.explain._extrapolation import related, support_of
from clearwood.explain._ice import centred_curves, slopes
from clearwood.explain._marginal import marginal_means, marginal_replicates
from clearwood.explain._pdp import curves, exact_dependence, outside_shares
from clearwood.explain._predictor import Predictor, predictor_of
from clearwood.explain._predictor_rows import Index
from clearwood.explain._supported import supported_curves, supported_means
from clearwood.table._tell import tell

__all__ = ["effect", "measured_effect"]

Floats = NDArray[np.float64]

_POINTS_ALONE = 40
_POINTS_BESIDE = 20
# Fewer rows than this at a value make a conditional mean that is mostly noise.
_ROWS_PER_MEAN = 25
# Predictions kept at once: with more, rows are sampled unless the user says how many.
_MOST_PREDICTIONS = 40_000_000
_ROWS_FOR_BAND = 2000


@dataclass(frozen=True, eq=False)
class _Request:
    """What was asked for, checked."""

    model: Any
    data: Any
    predictor: Predictor
    positions: tuple[int, ...]
    kind: Kind
    most: int
    rows: Index
    weights: Floats
    centred: bool
    derivative: bool
    draws: int
    level: float
    look_outside: bool
    exact: bool
    seed: int
    n_jobs: int


@dataclass(frozen=True, eq=False)
class _Found:
    """What a method found, before it is put into a result."""

    grid: tuple[NDArray[Any], ...]
    values: Floats
    shares: Floats
    outside: Floats
    is_ordered: tuple[bool, ...]
    replicates: Floats | None = None
    curves: Floats | None = None
    exact: bool = False
    left_out: str | None = None
    notes: tuple[str, ...] = ()


def effect(
    model: Any,
    data: Any,
    columns: str | Sequence[str],
    *,
    kind: Kind = "pdp",
    points: int | None = None,
    output: Any = None,
    scale: str | None = None,
    centred: bool | None = None,
    derivative: bool = False,
    bands: int = 200,
    level: float = 0.95,
    refit: int = 0,
    y: Any = None,
    sample: int | None = None,
    exact: bool = True,
    extrapolation: bool = True,
    seed: int = 0,
    n_jobs: int = 1,
) -> ModelEffect:
    """Give the effect of one column, or of two together, on the prediction of any model.

    The five kinds answer different questions, and differ where columns depend on each other:

    - **pdp**: the mean prediction when everyone has the value, all other columns as they are
      (Hiabu 2024, definition 7.3.2). Asks the model about combinations that may not occur.
    - **ice**: the same row by row, before the mean (definition 7.3.1); curves that are not
      parallel show an interaction.
    - **marginal**: the mean prediction of those who have the value (section 7.3.2). Nothing is
      extrapolated, but a column that the model ignores gets the effect of its neighbours.
    - **ale**: accumulated differences of the prediction over small steps, each averaged over the
      rows that lie there (definitions 7.3.3 and 7.4.6). Neither extrapolates far nor takes over
      the effect of other columns. Of two columns: what is left beyond the two single effects.
    - **supported_pdp**: the partial dependence averaged only over rows that, with the value, still
      lie where data are (section 7.3.2).

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows. It gets a data frame
        or an array, as it needs.
    data
        The rows to average over: a table, a data frame, an array, a dict of columns or a path.
    columns
        One column or two.
    kind
        See above.
    points
        The most values (or bins, for "ale") of a column of numbers or dates, at quantiles; 40 for
        one column and 20 for each of two by default. Of categories, the 50 most common levels are
        shown.
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
        Bootstrap draws of the rows for the pointwise band; 0 for none. They say how far the
        average could move with other rows, for this model as it is.
    level
        The coverage that the band aims at.
    refit
        Draws for which the model is fitted anew to resampled rows; then the band says how far the
        curve could move with other training data. Needs the target, in ``data`` or as ``y``.
    y
        The target, where ``data`` does not name it.
    sample
        How many rows to average over; all of them when None, unless that takes more than
        40 million predictions.
    exact
        Whether to read a partial dependence off the exact decomposition where there is one.
    extrapolation
        Whether to look for grid points at which the rows asked lie outside the data.
    seed
        Fixes the draws and the sample.
    n_jobs
        Threads, where the model is read as a forest.

    Returns
    -------
    ModelEffect

    Warns
    -----
    ClearwoodWarning
        Where more than a fifth of the rows asked at a grid point lie outside the data, with the
        number of such points; where levels are left out.

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
    """
    found = measured_effect(
        model,
        data,
        columns,
        kind=kind,
        points=points,
        output=output,
        scale=scale,
        centred=centred,
        derivative=derivative,
        bands=bands,
        level=level,
        sample=sample,
        exact=exact,
        extrapolation=extrapolation,
        seed=seed,
        n_jobs=n_jobs,
        quiet=False,
    )
    if refit:
        options = {"points": points, "output": output, "scale": scale, "sample": sample}
        again = _refits(model, data, y, found, refit, seed, {**options, "n_jobs": n_jobs})
        lower, upper = band(again, level)
        note = f"the band is over {refit} models fitted to resampled rows"
        found = replace(found, lower=lower, upper=upper, notes=(*found.notes, note))
    return found


def _refits(
    model: Any,
    data: Any,
    y: Any,
    found: ModelEffect,
    draws: int,
    seed: int,
    options: dict[str, Any],
) -> Floats:
    """Give the effect for models fitted to resampled rows, at the same rows and grid."""
    again: Iterator[Any] = refitted(model, data, y, draws, seed)
    values = [
        measured_effect(
            fitted,
            data,
            found.columns,
            kind=found.kind,
            centred=found.centred,
            derivative=found.derivative,
            bands=0,
            exact=False,
            extrapolation=False,
            seed=seed,
            **options,
        ).values
        for fitted in again
    ]
    return np.stack(values)


def measured_effect(
    model: Any,
    data: Any,
    columns: str | Sequence[str],
    *,
    kind: Kind = "pdp",
    points: int | None = None,
    output: Any = None,
    scale: str | None = None,
    centred: bool | None = None,
    derivative: bool = False,
    bands: int = 0,
    level: float = 0.95,
    sample: int | None = None,
    exact: bool = True,
    extrapolation: bool = True,
    seed: int = 0,
    n_jobs: int = 1,
    quiet: bool = True,
) -> ModelEffect:
    """Measure an effect, without a warning unless told to; as `effect` otherwise."""
    _check_options(kind, points, bands, level, derivative=derivative)
    predictor = (
        data
        if isinstance(data, Predictor)
        else predictor_of(model, data, output=output, scale=scale, n_jobs=n_jobs)
    )
    positions = _positions(predictor, columns)
    if kind == "ice" and len(positions) == 2:
        raise InputError("individual curves are of one column", hint="use kind='pdp' for two.")
    most = points or _default_points(kind, len(positions), len(predictor))
    rows, note = _rows(predictor, kind, most ** len(positions), sample, seed)
    weights = np.ones(len(rows)) if predictor.weights is None else predictor.weights[rows]
    request = _Request(
        model=model,
        data=data,
        predictor=predictor,
        positions=positions,
        kind=kind,
        most=most,
        rows=rows,
        weights=weights,
        centred=(kind == "ale") if centred is None else centred,
        derivative=derivative,
        draws=bands,
        level=level,
        look_outside=extrapolation,
        exact=exact and sample is None,
        seed=seed,
        n_jobs=n_jobs,
    )
    found = _METHODS[kind](request)
    warned = [note] if note else []
    warned += [] if found.left_out is None else [found.left_out]
    made = _result(request, found)
    if made.extrapolates.any():
        warned.append(_extrapolation_note(made, request))
    if not quiet:
        for note in warned:
            tell(note)
    return replace(made, notes=(*warned, *made.notes))


def _check_options(
    kind: str, points: int | None, bands: int, level: float, *, derivative: bool
) -> None:
    if kind not in TITLES:
        raise InputError(f"there is no effect {kind!r}", hint=did_you_mean(str(kind), TITLES))
    if points is not None and points < 2:
        raise InputError(f"points is {points}; an effect needs at least 2")
    if bands < 0:
        raise InputError(f"bands is {bands}; it is a number of draws, 0 for no band")
    if not 0 < level < 1:
        raise InputError(f"level is {level}; it lies between 0 and 1, such as 0.95")
    if derivative and kind != "ice":
        raise InputError("derivative=True is for individual curves", hint="use kind='ice'.")


def _positions(predictor: Predictor, columns: Any) -> tuple[int, ...]:
    names = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    if not 1 <= len(names) <= 2:
        raise InputError(
            f"an effect is of one column or two, not {len(names)}",
            hint="for more, see the components of cw.explain.",
        )
    positions = tuple(predictor.position(name) for name in names)
    if len(set(positions)) < len(positions):
        raise InputError(f"{names[0]!r} is given twice")
    if len(predictor) < 2:
        raise InputError(
            "the data has 1 row; an effect needs rows that differ",
            hint="give the training rows, or a sample of them.",
        )
    for position in positions:
        checked_column(predictor.columns[position])
    return positions


def _default_points(kind: str, n_columns: int, n_rows: int) -> int:
    most = _POINTS_ALONE if n_columns == 1 else _POINTS_BESIDE
    if kind == "marginal":
        most = min(most, max(2, int((n_rows / _ROWS_PER_MEAN) ** (1 / n_columns))))
    return most


def _rows(
    predictor: Predictor, kind: str, n_points: int, sample: int | None, seed: int
) -> tuple[Index, str]:
    """Choose the rows to average over."""
    n_rows, note = len(predictor), ""
    per_row = n_points * len(predictor.outputs)
    size = sample
    if sample is not None and sample < 2:
        raise InputError(f"sample is {sample}; at least 2 rows are needed")
    if sample is None and kind in ("pdp", "ice", "supported_pdp"):
        size = max(2, _MOST_PREDICTIONS // per_row)
        if size < n_rows:
            note = f"{size:,} of {n_rows:,} rows are averaged over; sample= chooses how many"
    if size is None or size >= n_rows:
        return np.arange(n_rows), ""
    chosen = np.random.default_rng(seed).choice(n_rows, size, replace=False)
    return np.sort(chosen), note


# The methods


def _pdp(request: _Request) -> _Found:
    points = _points(request)
    if request.exact and request.kind == "pdp":
        found = exact_dependence(
            request.model,
            request.data,
            request.predictor,
            points,
            request.most,
            request.n_jobs,
        )
        if found is not None:
            return _exact(request, points, found)
    each = curves(request.predictor, points, request.rows)
    replicates = None
    if request.draws:
        replicates = mean_replicates(each, request.weights, request.draws, request.seed)
    mean = np.einsum("i,ijk->jk", request.weights, each) / request.weights.sum()
    return _dependence(request, points, mean, replicates)


def _exact(request: _Request, points: Points, found: Floats) -> _Found:
    """Give an exact curve a band from the curves of some rows, narrowed to the number of all."""
    replicates = None
    if request.draws:
        size = min(len(request.rows), _ROWS_FOR_BAND)
        chosen = np.random.default_rng(request.seed).choice(len(request.rows), size, replace=False)
        each = curves(request.predictor, points, request.rows[chosen])
        drawn = mean_replicates(each, request.weights[chosen], request.draws, request.seed)
        narrower = np.sqrt(size / len(request.rows))
        centre = np.average(each, axis=0, weights=request.weights[chosen])
        replicates = found + (drawn - centre) * narrower
    return replace(_dependence(request, points, found, replicates), exact=True)


def _dependence(
    request: _Request, points: Points, mean: Floats, replicates: Floats | None
) -> _Found:
    return _Found(
        grid=points.values,
        values=mean.reshape(*points.shape, -1),
        shares=_shares(request, points),
        outside=_outside(request, points),
        is_ordered=tuple(grid.is_ordered for grid in points.grids),
        replicates=None if replicates is None else _shaped(replicates, points),
        left_out=_left_out(points.notes),
    )


def _ice(request: _Request) -> _Found:
    points = _points(request)
    each = curves(request.predictor, points, request.rows)
    if request.derivative:
        each = slopes(each, points.grids[0])
    elif request.centred:
        each = centred_curves(each)
    replicates = None
    if request.draws:
        replicates = mean_replicates(each, request.weights, request.draws, request.seed)
    mean = np.einsum("i,ijk->jk", request.weights, each) / request.weights.sum()
    return replace(_dependence(request, points, mean, replicates), curves=each)


def _marginal(request: _Request) -> _Found:
    points = _points(request)
    predicted = request.predictor.predict(request.rows)
    mean = marginal_means(predicted, points, request.rows, request.weights)
    replicates = None
    if request.draws:
        drawn = marginal_replicates(
            predicted, points, request.rows, request.weights, request.draws, request.seed
        )
        replicates = _shaped(drawn, points)
    return _Found(
        grid=points.values,
        values=mean.reshape(*points.shape, -1),
        shares=_shares(request, points),
        outside=np.zeros(points.shape),
        is_ordered=tuple(grid.is_ordered for grid in points.grids),
        replicates=replicates,
        left_out=_left_out(points.notes),
    )


def _supported(request: _Request) -> _Found:
    points = _points(request)
    support = support_of(request.predictor.columns, request.positions, seed=request.seed)
    each, outside = supported_curves(request.predictor, points, request.rows, support)
    mean = supported_means(each, request.weights)
    replicates = None
    if request.draws:
        drawn = mean_replicates(each, request.weights, request.draws, request.seed)
        replicates = _shaped(drawn, points)
    left_out = float(outside.mean())
    notes = [f"{left_out:.0%} of the rows asked for lie outside the data and are left out"]
    if not np.isfinite(mean).all():
        notes.append(f"at {int((~np.isfinite(mean[:, 0])).sum())} points no row lies in the data")
    return _Found(
        grid=points.values,
        values=mean.reshape(*points.shape, -1),
        shares=_shares(request, points),
        outside=np.zeros(points.shape),
        is_ordered=tuple(grid.is_ordered for grid in points.grids),
        replicates=replicates,
        left_out=_left_out(points.notes),
        notes=tuple(notes if left_out else ()),
    )


def _ale(request: _Request) -> _Found:
    predictor, positions = request.predictor, request.positions
    axes = tuple(axis_of(predictor.columns, k, request.most) for k in positions)
    notes = []
    local: LocalEffects
    if len(positions) == 1:
        support = None
        if request.look_outside:
            support = support_of(predictor.columns, positions, seed=request.seed)
        local = first_order(
            predictor, positions[0], axes[0], request.rows, request.weights, support
        )
        values = [_with_missing(axes[0].values, len(local.shares))]
    else:
        pair = (positions[0], positions[1])
        both = np.logical_and.reduce([(axis.steps[request.rows] >= 0).any(axis=1) for axis in axes])
        if not both.any():
            raise InputError(
                "no rows have values of both columns that differ from each other",
                hint="an interaction needs two values of either, besides missing; "
                "kind='pdp' shows missing as a value of its own.",
            )
        local = second_order(predictor, pair, (axes[0], axes[1]), request.rows, request.weights)
        values = [axis.values for axis in axes]
        if local.empty:
            n_cells = axes[0].n_steps * axes[1].n_steps
            notes.append(
                f"{local.empty} of {n_cells} cells have no rows; they take the difference of the "
                "nearest cell that has some"
            )
        if any(axis.missing.any() for axis in axes):
            notes.append("rows with a missing value in one of the columns are left out")
    drawn = None
    if request.draws:
        drawn = np.stack(
            [
                local.accumulate(weights, centred=request.centred)
                for block in resampled_weights(request.weights, request.draws, request.seed)
                for weights in block
            ]
        )
    return _Found(
        grid=tuple(values),
        values=local.accumulate(request.weights, centred=request.centred),
        shares=local.shares,
        outside=local.outside,
        is_ordered=tuple(axis.is_ordered for axis in axes),
        replicates=drawn,
        left_out=_left_out([axis.note for axis in axes if axis.note]),
        notes=tuple(notes),
    )


_METHODS = {
    "pdp": _pdp,
    "ice": _ice,
    "marginal": _marginal,
    "supported_pdp": _supported,
    "ale": _ale,
}


# What the methods share


def _points(request: _Request) -> Points:
    predictor = request.predictor
    return points_of(predictor.columns, request.positions, predictor.weights, request.most)


def _shares(request: _Request, points: Points) -> Floats:
    predictor = request.predictor
    whole = np.ones(len(predictor)) if predictor.weights is None else predictor.weights
    return points.shares(whole)


def _shaped(replicates: Floats, points: Points) -> Floats:
    return replicates.reshape(len(replicates), *points.shape, replicates.shape[-1])


def _with_missing(values: NDArray[Any], n_nodes: int) -> NDArray[Any]:
    if n_nodes == len(values):
        return values
    if values.dtype.kind == "M":
        return np.append(values, np.datetime64("NaT"))
    if values.dtype.kind == "f":
        return np.append(values, np.nan)
    return np.append(values.astype(object), [None])


def _left_out(notes: Sequence[str]) -> str | None:
    return "; ".join(notes) or None


def _outside(request: _Request, points: Points) -> Floats:
    """Find the points at which rows are asked about that lie outside the data."""
    if not request.look_outside:
        return np.zeros(points.shape)
    columns = request.predictor.columns
    support = support_of(columns, request.positions, seed=request.seed)
    return outside_shares(points, request.rows, support).reshape(points.shape)


def _extrapolation_note(made: ModelEffect, request: _Request) -> str:
    predictor = request.predictor
    names = [repr(predictor.names[k]) for k in related(predictor.columns, request.positions)]
    words = " and ".join(repr(name) for name in made.columns)
    return (
        f"at {int(made.extrapolates.sum())} of {made.extrapolates.size} grid points of {words}, "
        "more than a fifth of the rows asked about lie outside the data, because of "
        f"{', '.join(names)}; drawn dotted"
    )


def _result(request: _Request, found: _Found) -> ModelEffect:
    predictor = request.predictor
    values, replicates = found.values, found.replicates
    if request.centred and request.kind not in ("ale", "ice"):
        values, replicates = _recentred(values, replicates, found.shares)
    lower = upper = None
    if replicates is not None:
        lower, upper = (one_output(end) for end in band(replicates, request.level))
    baseline = np.average(predictor.predict(request.rows), axis=0, weights=request.weights)
    return ModelEffect(
        kind=request.kind,
        columns=tuple(predictor.names[k] for k in request.positions),
        grid=found.grid,
        values=one_output(values),
        shares=found.shares,
        outside=found.outside,
        baseline=float(baseline[0]) if len(baseline) == 1 else baseline,
        is_ordered=found.is_ordered,
        is_step=predictor.is_step and request.kind in ("pdp", "ice"),
        model=predictor.kind,
        unit=predictor.unit,
        outputs=predictor.outputs,
        n_rows=len(request.rows),
        evaluations=predictor.evaluations[0],
        lower=lower,
        upper=upper,
        level=request.level,
        curves=None if found.curves is None else one_output(found.curves),
        rows=None if found.curves is None else predictor.labels[request.rows],
        centred=request.centred,
        derivative=request.derivative,
        exact=found.exact,
        notes=found.notes,
    )


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
