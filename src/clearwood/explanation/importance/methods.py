"""The six ways to measure how much a column matters, each from a request to a result."""

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood._shared.messages import tell
from clearwood._shared.progress import progress
from clearwood.explanation.adapter.predictor import Predictor
from clearwood.explanation.effects.bands import band, mean_replicates
from clearwood.explanation.effects.grid import points_of
from clearwood.explanation.effects.pdp import curves
from clearwood.explanation.effects.refit import Training, known_target, training_of
from clearwood.explanation.importance.impurity import impurity_gains
from clearwood.explanation.importance.loco import loco_differences
from clearwood.explanation.importance.losses import row_loss
from clearwood.explanation.importance.permutation import permutation_differences
from clearwood.explanation.importance.request import Request
from clearwood.explanation.importance.result import ModelImportance
from clearwood.explanation.local.contributions import linear_terms
from clearwood.explanation.shapley.shapley import shapley

__all__ = ["METHODS"]

Floats = NDArray[np.float64]

_POINTS = 30
_DRAWS = 200
# Rows, for models that are read as trees or sums and for those that have to be asked.
_ROWS_FOR_CURVES, _ROWS_ASKED_FOR_CURVES = 2000, 500
_ROWS_FOR_SHAPLEY, _ROWS_ASKED_FOR_SHAPLEY = 500, 100
# Of the values of one row: the mean over rows is many times more precise.
_PRECISION = 0.05

_LOCO_NOTE = (
    "{} folds; the intervals are for these fits: that other training rows would give other models "
    "is not in them"
)
_IMPURITY_NOTE = (
    "favours columns with many values, and counts what was learned by heart; compare "
    "kind='permutation' on held-out rows"
)


def _permutation(request: Request) -> ModelImportance:
    predictor = request.predictor(many=request.repeats > 1)
    y = known_target(request.data, request.y)
    measure, words = row_loss(predictor, y, request.loss)
    rows = request.rows(len(predictor))
    players = request.players(predictor)
    found = permutation_differences(
        predictor,
        players,
        measure,
        rows,
        repeats=request.repeats,
        conditional=request.conditional,
        seed=request.seed,
        patience=request.patience,
    )
    notes = []
    if found.repeats < request.repeats:
        notes.append(f"ended early, after {found.repeats} of {request.repeats} shuffles")
        tell(notes[-1])
    if request.is_training:
        notes.append(
            "these look like the rows that the model was fitted to; what it learned by heart "
            "counts too. Give held-out rows"
        )
    if request.conditional:
        notes.append("shuffled among rows alike in the columns that go with each")
    return _mean_growth(
        "permutation", request, predictor, players, found.differences, rows, words, notes
    )


def _loco(request: Request) -> ModelImportance:
    training: Training = training_of(request.model, request.data, request.y)
    if not 2 <= request.folds <= len(training):
        raise InputError(f"folds is {request.folds}; it lies between 2 and {len(training)}")
    predictor = request.predictor()
    players = request.players(predictor)
    found, words = loco_differences(
        training,
        predictor,
        players,
        request.loss,
        folds=request.folds,
        scale=request.scale,
        seed=request.seed,
        patience=request.patience,
    )
    notes = [_LOCO_NOTE.format(request.folds)]
    done = np.flatnonzero(np.isfinite(found).all(axis=1))
    if len(done) < len(found):
        notes.append(
            f"{request.patience.words} after {len(done):,} of {len(found):,} held-out rows"
        )
        tell(notes[-1])
    return _mean_growth("loco", request, predictor, players, found[done], done, words, notes)


def _shapley(request: Request) -> ModelImportance:
    known = request.is_known
    rows = request.rows(request.n_rows, _ROWS_FOR_SHAPLEY if known else _ROWS_ASKED_FOR_SHAPLEY)
    # in random order, so that those done in time are a sample
    rows = np.random.default_rng(request.seed).permutation(rows)
    found = shapley(
        request.model,
        Training.rows(request.data, rows),
        background=request.data,
        method="auto" if known else "permutation",
        output=request.output,
        precision=0.02 if known else _PRECISION,
        time_budget=request.patience.budget,
        seed=request.seed,
        n_jobs=request.n_jobs,
    )
    size = np.abs(found.values)
    size = size.sum(axis=2) if size.ndim == 3 else size
    values, lower, upper = _mean_interval(size, None, request.level)
    notes = ["needs no target: it says what moves predictions, not whether they get better"]
    if found.standard_errors is not None:
        notes.append("sampled: noise adds to absolute values, most to those near zero")
    return ModelImportance(
        kind="shapley",
        columns=found.columns,
        values=values,
        lower=np.maximum(lower, 0),
        upper=upper,
        level=request.level,
        measure=f"mean absolute value, {found.about.unit}",
        model=found.about.model,
        n_rows=len(found),
        notes=tuple(notes),
    )


def _variance(request: Request) -> ModelImportance:
    predictor = request.predictor()
    most = _ROWS_FOR_CURVES if predictor.is_step else _ROWS_ASKED_FOR_CURVES
    rows = request.rows(len(predictor), most)
    rows = request.rows_in_time(predictor, rows, _POINTS * len(predictor.names))
    weights = np.ones(len(rows)) if predictor.weights is None else predictor.weights[rows]
    values, lower, upper = (np.zeros(len(predictor.names)) for _ in range(3))
    with progress("holding columns", total=len(predictor.names)) as step:
        for k in range(len(predictor.names)):
            points = points_of(predictor.columns, [k], predictor.weights, _POINTS)
            if len(points.grids[0]) > 1:
                each = curves(predictor, points, rows)
                shares = points.grids[0].shares
                mean = np.einsum("i,ijk->jk", weights, each)[None] / weights.sum()
                values[k] = _variances(mean, shares)[0]
                drawn = mean_replicates(each, weights, _DRAWS, request.seed)
                lower[k], upper[k] = band(_variances(drawn, shares), request.level)
            step(1, note=predictor.names[k])
    return ModelImportance(
        kind="variance",
        columns=predictor.names,
        values=values,
        lower=np.minimum(lower, values),
        upper=np.maximum(upper, values),
        level=request.level,
        measure=f"variance of the main effect, {predictor.unit}",
        model=predictor.kind,
        n_rows=len(rows),
        notes=("interactions do not count: a column that acts only with others has none",),
    )


def _variances(curve: Floats, shares: Floats) -> Floats:
    """Give the variance over the data of curves of shape (draws, points, outputs), summed."""
    weight = shares / shares.sum()
    mean = np.einsum("j,bjk->bk", weight, curve)
    return np.asarray(np.einsum("j,bjk->b", weight, (curve - mean[:, None]) ** 2))


def _impurity(request: Request) -> ModelImportance:
    columns, gains, words = impurity_gains(request.model, request.data)
    values, lower, upper = _mean_interval(gains, None, request.level)
    notes = [_IMPURITY_NOTE]
    if len(gains) == 1:
        lower = upper = np.full(len(columns), np.nan)
        notes.append("no interval: the trees are not grown independently of each other")
    return ModelImportance(
        kind="impurity",
        columns=columns,
        values=values,
        lower=lower,
        upper=upper,
        level=request.level,
        measure="share of the gain",
        model=words,
        n_rows=request.n_rows,
        notes=tuple(notes),
    )


def _coefficients(request: Request) -> ModelImportance:
    terms = linear_terms(request.model, request.data, request.output)
    values = terms.standardised()
    drawn = [
        terms.standardised(rows)
        for rows in np.random.default_rng(request.seed).integers(
            0, len(terms.values), (_DRAWS, len(terms.values))
        )
    ]
    lower, upper = band(np.array(drawn), request.level)
    return ModelImportance(
        kind="coefficients",
        columns=terms.columns,
        values=values,
        lower=lower,
        upper=upper,
        level=request.level,
        measure=f"standard deviation of what the column adds, {terms.unit}",
        model=terms.model,
        n_rows=len(terms.values),
        notes=(
            "the intervals are over the rows, for the coefficients as they are",
            "of columns that go together, one may carry the coefficient of both",
        ),
    )


def _mean_growth(
    kind: Literal["permutation", "loco"],
    request: Request,
    predictor: Predictor,
    players: Iterable[str],
    each: Floats,
    rows: NDArray[np.intp],
    measure: str,
    notes: list[str],
) -> ModelImportance:
    """Give how much the loss grows without each player, from the growth of each row."""
    weights = None if predictor.weights is None else predictor.weights[rows]
    values, lower, upper = _mean_interval(each, weights, request.level)
    return ModelImportance(
        kind=kind,
        columns=tuple(players),
        values=values,
        lower=lower,
        upper=upper,
        level=request.level,
        measure=measure,
        model=predictor.kind,
        n_rows=len(rows),
        notes=tuple(notes),
    )


def _mean_interval(
    each: Floats, weights: Floats | None, level: float
) -> tuple[Floats, Floats, Floats]:
    """Give the mean over rows with the normal interval of a mean."""
    from scipy.stats import t

    n_rows = len(each)
    weight = np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()
    mean = weight @ each
    if n_rows < 2:
        return mean, mean, mean
    # for equal weights this is the variance over n - 1, divided by n
    spread = (weight**2) @ (each - mean) ** 2 * n_rows / (n_rows - 1)
    half = t.ppf((1 + level) / 2, n_rows - 1) * np.sqrt(spread)
    return mean, mean - half, mean + half


METHODS = {
    "permutation": _permutation,
    "loco": _loco,
    "shapley": _shapley,
    "variance": _variance,
    "impurity": _impurity,
    "coefficients": _coefficients,
}
