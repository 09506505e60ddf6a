"""The five ways to measure an effect."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import percent
from clearwood.explanation.effects.ale import LocalEffects, first_order, second_order
from clearwood.explanation.effects.ale_axis import Axis, axis_of
from clearwood.explanation.effects.bands import mean_replicates, resampled_weights
from clearwood.explanation.effects.grid import Points
from clearwood.explanation.effects.ice import centred_curves, slopes
from clearwood.explanation.effects.marginal import marginal_means, marginal_replicates
from clearwood.explanation.effects.pdp import curves, exact_dependence, outside_shares
from clearwood.explanation.effects.request import Measured, Request
from clearwood.explanation.effects.supported import supported_curves, supported_means

__all__ = ["METHODS"]

# Rows whose curves give the band of a curve that is itself read off a decomposition.
_ROWS_FOR_BAND = 2000


def _pdp(request: Request) -> Measured:
    points = request.points()
    if request.exact and not request.given:
        values = exact_dependence(
            request.explained, request.predictor, points, request.most, request.n_jobs
        )
        if values is not None:
            return _exact(request, points, values)
    request, each, stopped = _curves(request, points)
    replicates = None
    if request.draws:
        replicates = mean_replicates(each, request.weights, request.draws, request.seed)
    return _dependence(request, points, _mean(request, each), replicates, stopped)


def _curves(request: Request, points: Points) -> tuple[Request, Floats, str | None]:
    """Compute the curves of the rows, and go on with those that are done."""
    answers = request.evaluated(
        lambda rows: curves(request.predictor, points, rows), int(np.prod(points.shape))
    )
    order = np.argsort(answers.rows)
    each = np.concatenate(answers.blocks)[order]
    return request.narrowed(answers.rows[order]), each, answers.stopped


def _mean(request: Request, each: Floats) -> Floats:
    return np.asarray(np.einsum("i,ijk->jk", request.weights, each) / request.weights.sum())


def _exact(request: Request, points: Points, result: Floats) -> Measured:
    """Give an exact curve a band from the curves of some rows, narrowed to the number of all."""
    replicates, stopped = None, None
    if request.draws:
        size = min(len(request.rows), _ROWS_FOR_BAND)
        chosen = np.random.default_rng(request.seed).choice(len(request.rows), size, replace=False)
        some, each, stopped = _curves(request.narrowed(request.rows[np.sort(chosen)]), points)
        drawn = mean_replicates(each, some.weights, request.draws, request.seed)
        narrower = np.sqrt(len(some.rows) / len(request.rows))
        replicates = result + (drawn - _mean(some, each)) * narrower
    return replace(_dependence(request, points, result, replicates, stopped), exact=True)


def _dependence(
    request: Request,
    points: Points,
    mean: Floats,
    replicates: Floats | None,
    stopped: str | None,
) -> Measured:
    outside = np.zeros(points.shape)
    if request.extrapolation:
        shares = outside_shares(points, request.rows, request.support())
        outside = shares.reshape(points.shape)
    return _at_points(request, points, mean, replicates, outside=outside, stopped=stopped)


def _at_points(
    request: Request,
    points: Points,
    values: Floats,
    replicates: Floats | None,
    *,
    outside: Floats,
    stopped: str | None,
) -> Measured:
    if replicates is not None:
        replicates = replicates.reshape(len(replicates), *points.shape, replicates.shape[-1])
    return Measured(
        grid=points.values,
        values=values.reshape(*points.shape, -1),
        shares=request.shares(points),
        outside=outside,
        is_ordered=tuple(grid.is_ordered for grid in points.grids),
        rows=request.rows,
        weights=request.weights,
        replicates=replicates,
        left_out="; ".join(points.notes) or None,
        stopped=stopped,
    )


def _ice(request: Request) -> Measured:
    points = request.points()
    request, each, stopped = _curves(request, points)
    if request.derivative:
        each = slopes(each, points.grids[0])
    elif request.centred:
        each = centred_curves(each)
    replicates = None
    if request.draws:
        replicates = mean_replicates(each, request.weights, request.draws, request.seed)
    result = _dependence(request, points, _mean(request, each), replicates, stopped)
    return replace(result, curves=each)


def _marginal(request: Request) -> Measured:
    points = request.points()
    answers = request.evaluated(request.predictor.predict, 1)
    order = np.argsort(answers.rows)
    predicted = np.concatenate(answers.blocks)[order]
    request = request.narrowed(answers.rows[order])
    mean = marginal_means(predicted, points, request.rows, request.weights)
    replicates = None
    if request.draws:
        replicates = marginal_replicates(
            predicted, points, request.rows, request.weights, request.draws, request.seed
        )
    nowhere = np.zeros(points.shape)
    return _at_points(request, points, mean, replicates, outside=nowhere, stopped=answers.stopped)


def _supported(request: Request) -> Measured:
    points = request.points()
    support = request.support()
    answers = request.evaluated(
        lambda rows: supported_curves(request.predictor, points, rows, support),
        int(np.prod(points.shape)),
    )
    order = np.argsort(answers.rows)
    each = np.concatenate(answers.blocks)[order]
    request = request.narrowed(answers.rows[order])
    mean = supported_means(each, request.weights)
    replicates = None
    if request.draws:
        replicates = mean_replicates(each, request.weights, request.draws, request.seed)
    left_out = float(np.isnan(each[..., 0]).mean())
    notes = [f"{percent(left_out)} of the rows lie outside the data and are left out"]
    if not np.isfinite(mean).all():
        notes.append(f"at {int((~np.isfinite(mean[:, 0])).sum())} points no row lies in the data")
    result = _at_points(
        request,
        points,
        mean,
        replicates,
        outside=np.zeros(points.shape),
        stopped=answers.stopped,
    )
    return replace(result, notes=tuple(notes if left_out else ()))


def _ale(request: Request) -> Measured:
    predictor, positions = request.predictor, request.positions
    axes = tuple(
        axis_of(predictor.columns, k, request.most, request.given.get(k)) for k in positions
    )
    support = request.support() if request.extrapolation else None
    notes: list[str] = []
    if len(positions) == 1:
        local = first_order(request, axes[0], support)
        values = [_with_missing(axes[0].values, len(local.shares))]
    else:
        _check_both(request, axes)
        local = second_order(request, (axes[0], axes[1]), support)
        values = [axis.values for axis in axes]
        notes = _surface_notes(local, axes)
    drawn = None
    if request.draws:
        drawn = np.concatenate(
            [
                local.accumulate(block, centred=request.centred)
                for block in resampled_weights(local.weights, request.draws, request.seed)
            ]
        )
    return Measured(
        grid=tuple(values),
        values=local.accumulate(local.weights[None], centred=request.centred)[0],
        shares=local.shares,
        outside=local.outside,
        is_ordered=tuple(axis.is_ordered for axis in axes),
        rows=local.rows,
        weights=local.weights,
        replicates=drawn,
        near=local.near,
        left_out="; ".join(axis.note for axis in axes if axis.note) or None,
        stopped=local.stopped,
        notes=tuple(notes),
    )


def _check_both(request: Request, axes: Sequence[Axis]) -> None:
    both = np.logical_and.reduce([(axis.steps[request.rows] >= 0).any(axis=1) for axis in axes])
    if not both.any():
        raise InputError(
            "no rows have values of both columns that differ from each other",
            hint=words(
                "an interaction needs two values of either, besides missing; ",
                Option("kind", "pdp"),
                " shows missing as a value of its own.",
            ),
        )


def _surface_notes(local: LocalEffects, axes: Sequence[Axis]) -> list[str]:
    notes = []
    if local.empty:
        n_cells = axes[0].n_steps * axes[1].n_steps
        notes.append(
            f"{local.empty} of {n_cells} cells have no rows; they take the difference of the "
            "nearest cell that has some"
        )
    if any(axis.missing.any() for axis in axes):
        notes.append("rows with a missing value in one of the columns are left out")
    return notes


def _with_missing(values: NDArray[Any], n_nodes: int) -> NDArray[Any]:
    if n_nodes == len(values):
        return values
    if values.dtype.kind == "M":
        return np.append(values, np.datetime64("NaT"))
    if values.dtype.kind == "f":
        return np.append(values, np.nan)
    return np.append(values.astype(object), [None])


METHODS: dict[str, Callable[[Request], Measured]] = {
    "pdp": _pdp,
    "ice": _ice,
    "marginal": _marginal,
    "supported_pdp": _supported,
    "ale": _ale,
}
