"""The effect of one or two columns on the prediction of any model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.messages import tell
from clearwood.checks import related
from clearwood.explanation.adapter.asking import patience_of
from clearwood.explanation.adapter.compose import Index
from clearwood.explanation.adapter.predictor import Predictor, predictor_of
from clearwood.explanation.effects.bands import band
from clearwood.explanation.effects.extrapolation import WAYS
from clearwood.explanation.effects.given import Given, given_values
from clearwood.explanation.effects.grid import checked_column
from clearwood.explanation.effects.methods import METHODS
from clearwood.explanation.effects.refit import refitted
from clearwood.explanation.effects.request import Found, Request
from clearwood.explanation.effects.result import TITLES, Kind, ModelEffect
from clearwood.explanation.outputs import one_output

__all__ = ["effect", "measured_effect"]

Floats = NDArray[np.float64]

_POINTS_ALONE = 40
_POINTS_BESIDE = 20
# Fewer rows than this at a value make a conditional mean that is mostly noise.
_ROWS_PER_MEAN = 25
# Predictions kept at once: with more, rows are sampled unless the user says how many.
_MOST_PREDICTIONS = 40_000_000
# The mean prediction takes this many rows where that of each row is nearly known.
_ROWS_FOR_MEAN = 2000

Extrapolation = bool | Literal["distance", "isolation"]


def effect(
    model: Any,
    data: Any,
    columns: str | Sequence[str],
    *,
    kind: Kind = "pdp",
    points: int | None = None,
    grid: Sequence[Any] | None = None,
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
    extrapolation: Extrapolation = True,
    time_budget: float | None = None,
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
        How to find grid points at which the rows asked lie outside the data: by "distance" to the
        nearest rows in the columns that go together (True), by an "isolation" forest over all
        columns, or not at all (False).
    time_budget
        Seconds after which the effect is given over the rows that are done, which are a random
        sample of all; the band allows for that. Ctrl-C does the same.
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
        number of such points; where levels are left out; where the time was over.

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
    found = measured_effect(
        model,
        data,
        columns,
        kind=kind,
        points=points,
        grid=grid,
        output=output,
        scale=scale,
        centred=centred,
        derivative=derivative,
        bands=bands,
        level=level,
        sample=sample,
        exact=exact,
        extrapolation=extrapolation,
        time_budget=time_budget,
        seed=seed,
        n_jobs=n_jobs,
        quiet=False,
    )
    if refit:
        options = {"points": points, "output": output, "scale": scale, "sample": sample}
        options["grid"] = grid
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
    grid: Sequence[Any] | None = None,
    output: Any = None,
    scale: str | None = None,
    centred: bool | None = None,
    derivative: bool = False,
    bands: int = 0,
    level: float = 0.95,
    sample: int | None = None,
    exact: bool = True,
    extrapolation: Extrapolation = True,
    time_budget: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    quiet: bool = True,
) -> ModelEffect:
    """Measure an effect, without a warning unless told to; as `effect` otherwise."""
    patience = patience_of(time_budget)
    _check_options(kind, points, bands, level, derivative=derivative)
    way = _way(extrapolation)
    predictor = (
        data
        if isinstance(data, Predictor)
        else predictor_of(model, data, output=output, scale=scale, n_jobs=n_jobs)
    )
    positions = _positions(predictor, columns)
    if kind == "ice" and len(positions) == 2:
        raise InputError("individual curves are of one column", hint="use kind='pdp' for two.")
    wanted = _wanted(positions, grid)
    given: dict[int, Given] = {}
    if wanted:
        predictor, given = given_values(
            model, data, predictor, wanted, output=output, scale=scale, n_jobs=n_jobs
        )
    most = points or _default_points(kind, len(positions), len(predictor))
    rows, note = _rows(predictor, kind, most ** len(positions), sample, seed)
    weights = np.ones(len(rows)) if predictor.weights is None else predictor.weights[rows]
    request = Request(
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
        extrapolation=way,
        exact=exact and sample is None,
        seed=seed,
        n_jobs=n_jobs,
        patience=patience,
        given=given,
    )
    found = METHODS[kind](request)
    made = _result(request, found)
    warned = [words for words in (note, found.left_out, found.stopped) if words]
    if made.extrapolates.any():
        warned.append(_extrapolation_note(made, request))
    if not quiet:
        for words in warned:
            tell(words)
    return replace(made, notes=(*warned, *made.notes))


def _way(extrapolation: Extrapolation) -> str | None:
    if isinstance(extrapolation, bool):
        return WAYS[0] if extrapolation else None
    if extrapolation not in WAYS:
        raise InputError(
            f"there is no way {extrapolation!r} to find extrapolation",
            hint=did_you_mean(str(extrapolation), WAYS),
        )
    return extrapolation


def _wanted(positions: tuple[int, ...], grid: Any) -> dict[int, Sequence[Any]]:
    """Give the values that the user wants shown, by the position of their column."""
    if grid is None:
        return {}
    if isinstance(grid, str) or not hasattr(grid, "__len__"):
        raise InputError(f"grid is {grid!r}; it is a list of values", hint="grid=[20, 40, 60].")
    if len(positions) == 1:
        return {positions[0]: grid}
    if len(grid) != 2 or any(isinstance(values, str | float | int) for values in grid):
        raise InputError(
            "the grid of two columns has one list of values for each",
            hint="grid=([20, 40, 60], None) gives those of the first column only.",
        )
    return {k: values for k, values in zip(positions, grid, strict=True) if values is not None}


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


# The result


def _extrapolation_note(made: ModelEffect, request: Request) -> str:
    words = " and ".join(repr(name) for name in made.columns)
    because = ""
    if request.extrapolation == "distance":
        predictor = request.predictor
        names = [repr(predictor.names[k]) for k in related(predictor.profiles, request.positions)]
        because = f", because of {', '.join(names)}" if names else ""
    return (
        f"at {int(made.extrapolates.sum())} of {made.extrapolates.size} grid points of {words}, "
        f"more than a fifth of the rows asked about lie outside the data{because}; drawn dotted"
    )


def _result(request: Request, found: Found) -> ModelEffect:
    predictor = request.predictor
    values, replicates = found.values, found.replicates
    if request.centred and request.kind not in ("ale", "ice"):
        values, replicates = _recentred(values, replicates, found.shares)
    lower = upper = None
    if replicates is not None:
        lower, upper = (one_output(end) for end in band(replicates, request.level))
    baseline = _baseline(request, found)
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
        n_rows=len(found.rows),
        evaluations=predictor.evaluations[0],
        lower=lower,
        upper=upper,
        level=request.level,
        curves=None if found.curves is None else one_output(found.curves),
        rows=None if found.curves is None else predictor.labels[found.rows],
        centred=request.centred,
        derivative=request.derivative,
        exact=found.exact,
        notes=found.notes,
    )


def _baseline(request: Request, found: Found) -> Floats:
    """Give the mean prediction.

    Where each row's prediction is nearly known, from asking about the ends of its step, only the
    rows for which it may be farthest off are asked, and some of the others for the mean difference.
    """
    rows, weights = found.rows, found.weights
    if found.near is None or len(rows) <= _ROWS_FOR_MEAN:
        return np.asarray(np.average(request.predictor.predict(rows), axis=0, weights=weights))
    predicted = found.near[:, :-1].copy()
    order = np.argsort(-found.near[:, -1], kind="stable")
    n_unsure = max(_ROWS_FOR_MEAN // 2, int(np.isinf(found.near[:, -1]).sum()))
    unsure, others = order[:n_unsure], order[n_unsure:]
    some = others[np.linspace(0, len(others) - 1, _ROWS_FOR_MEAN // 2).round().astype(np.intp)]
    asked = request.predictor.predict(rows[np.concatenate([unsure, some])])
    predicted[unsure] = asked[:n_unsure]
    rest = asked[n_unsure:] - predicted[some]
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
