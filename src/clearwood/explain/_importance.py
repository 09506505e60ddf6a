"""How much each column matters to a model: six answers to as many questions."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._errors import InputError, did_you_mean
from clearwood._progress import progress
from clearwood.decompose._merged import players_of
from clearwood.decompose._of_model import game_of
from clearwood.decompose._rows import as_data
from clearwood.explain._asking import Patience, patience_of
from clearwood.explain._effect_bands import band, mean_replicates
from clearwood.explain._effect_grid import points_of
from clearwood.explain._effect_refit import Training, known_target, training_of
from clearwood.explain._importance_impurity import impurity_gains
from clearwood.explain._importance_loco import loco_differences
from clearwood.explain._importance_losses import row_loss
from clearwood.explain._importance_permutation import permutation_differences
from clearwood.explain._importance_result import TITLES, ModelImportance
from clearwood.explain._linear import linear_terms
from clearwood.explain._pdp import curves
from clearwood.explain._predictor import Predictor, predictor_of
from clearwood.explain._predictor_rows import Index
from clearwood.explain._shapley import shapley
from clearwood.models import Learner
from clearwood.table import Table
from clearwood.table._tell import tell

__all__ = ["importance"]

Floats = NDArray[np.float64]
ImportanceKind = Literal["permutation", "impurity", "variance", "shapley", "loco", "coefficients"]

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


@dataclass(frozen=True, eq=False)
class _Request:
    """What was asked for, checked."""

    model: Any
    data: Any
    y: Any
    repeats: int
    conditional: bool
    groups: Mapping[str, Sequence[str]] | None
    loss: Any
    folds: int
    level: float
    output: Any
    scale: str | None
    sample: int | None
    patience: Patience
    seed: int
    n_jobs: int

    def predictor(self, *, many: bool = False) -> Predictor:
        return predictor_of(
            self.model,
            self.data,
            output=self.output,
            scale=self.scale,
            n_jobs=self.n_jobs,
            many=many,
        )


def importance(
    model: Any,
    data: Any,
    *,
    kind: ImportanceKind = "permutation",
    y: Any = None,
    repeats: int = 5,
    conditional: bool = False,
    groups: Mapping[str, Sequence[str]] | None = None,
    loss: Any = None,
    folds: int = 5,
    level: float = 0.95,
    output: Any = None,
    scale: str | None = None,
    sample: int | None = None,
    time_budget: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> ModelImportance:
    """Say how much each column matters to a model, with intervals.

    The kinds answer different questions:

    - **permutation**: how much worse do predictions get when the column is shuffled? Measures what
      the model uses, on rows that should not be those it was fitted to. Shuffling a column that
      goes with others asks about rows that do not occur; ``conditional=True`` shuffles only among
      rows that are alike in those others, and so measures what the column adds to them.
    - **loco**: how much worse is a model fitted without it? Measures what the data needs, by
      cross-validation; of two columns that say the same, neither matters.
    - **shapley**: how far does it move predictions, on average? The mean absolute interventional
      Shapley value; needs no target, so it says nothing about whether the moves are right.
    - **variance**: how far does its main effect move the prediction? The variance of the partial
      dependence over the data; interactions do not count.
    - **impurity**: what did splits on it gain while the trees were grown? Favours columns with
      many values, and counts what was learned by heart (Rosso's notes, section 6, equation 96).
    - **coefficients**: for linear models, the standard deviation of what the column adds, with the
      sign of its coefficient: coefficients on one scale.

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows; "loco" needs an
        estimator that can be fitted anew, "impurity" trees, "coefficients" a linear model.
    data
        Rows to measure on; for "permutation" rows that the model has not seen, for "loco" those to
        fit and test on.
    kind
        See above.
    y
        The target, where ``data`` does not name it ("permutation" and "loco").
    repeats
        How often each column is shuffled.
    conditional
        Shuffle within strata of the columns that go with it.
    groups
        Columns that count as one, by a name for them: ``{"place": ["lat", "lon"]}``
        ("permutation" and "loco").
    loss
        "squared", "absolute", "log", "zero_one", or a function of target and prediction that gives
        one loss per row. Log loss for classes and squared error for numbers by default.
    folds
        Parts of the cross-validation of "loco".
    level
        The coverage that the intervals aim at.
    output, scale
        As for `effect`.
    sample
        How many rows are used. By default all; 2,000 for "variance" and 500 for "shapley" of models
        that are read as trees or sums, and 500 and 100 of those that have to be asked.
    time_budget
        Seconds after which what is done is given, with a warning: fewer shuffles, folds or rows,
        and so wider intervals. Ctrl-C does the same, once there is something to give.
    seed
        Fixes shuffles, folds and samples.
    n_jobs
        Threads, where the model is read as a forest.

    Returns
    -------
    ModelImportance

    Examples
    --------
    >>> import numpy as np
    >>> import clearwood as cw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> found = cw.importance(lambda X: 2 * X[:, 0] + X[:, 1], X, y=2 * X[:, 0] + X[:, 1])
    >>> found.to_frame("dict")["column"]
    ['x0', 'x1', 'x2']
    >>> found["x2"]
    0.0
    """
    if kind not in TITLES:
        raise InputError(f"there is no importance {kind!r}", hint=did_you_mean(str(kind), TITLES))
    patience = patience_of(time_budget)
    if repeats < 1:
        raise InputError(f"repeats is {repeats}; a column is shuffled at least once")
    if not 0 < level < 1:
        raise InputError(f"level is {level}; it lies between 0 and 1, such as 0.95")
    if groups and kind not in ("permutation", "loco"):
        raise InputError(f"groups are not for kind={kind!r}", hint="use kind='permutation'.")
    request = _Request(
        model=model,
        data=as_data(data),
        y=y,
        repeats=repeats,
        conditional=conditional,
        groups=groups,
        loss=loss,
        folds=folds,
        level=level,
        output=output,
        scale=scale,
        sample=sample,
        patience=patience,
        seed=seed,
        n_jobs=n_jobs,
    )
    return _METHODS[kind](request)


# The methods


def _permutation(request: _Request) -> ModelImportance:
    predictor = request.predictor(many=request.repeats > 1)
    y = known_target(request.data, request.y)
    measure, words = row_loss(predictor, y, request.loss)
    rows = _rows(request, len(predictor), None)
    players = _players(predictor, request.groups)
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
    if _looks_like_training(request.model, request.data):
        notes.append(
            "these look like the rows that the model was fitted to; what it learned by heart "
            "counts too. Give held-out rows"
        )
    if request.conditional:
        notes.append("shuffled among rows alike in the columns that go with each")
    weights = None if predictor.weights is None else predictor.weights[rows]
    values, lower, upper = _mean_interval(found.differences, weights, request.level)
    return ModelImportance(
        kind="permutation",
        columns=tuple(players),
        values=values,
        lower=lower,
        upper=upper,
        level=request.level,
        measure=words,
        model=predictor.kind,
        n_rows=len(rows),
        notes=tuple(notes),
    )


def _loco(request: _Request) -> ModelImportance:
    training: Training = training_of(request.model, request.data, request.y)
    if not 2 <= request.folds <= len(training):
        raise InputError(f"folds is {request.folds}; it lies between 2 and {len(training)}")
    predictor = request.predictor()
    players = _players(predictor, request.groups)
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
    weights = None if predictor.weights is None else predictor.weights[done]
    values, lower, upper = _mean_interval(found[done], weights, request.level)
    return ModelImportance(
        kind="loco",
        columns=tuple(players),
        values=values,
        lower=lower,
        upper=upper,
        level=request.level,
        measure=words,
        model=predictor.kind,
        n_rows=len(done),
        notes=tuple(notes),
    )


def _shapley(request: _Request) -> ModelImportance:
    n_rows = _count(request.data)
    known = _is_known(request)
    rows = _rows(request, n_rows, _ROWS_FOR_SHAPLEY if known else _ROWS_ASKED_FOR_SHAPLEY)
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


def _variance(request: _Request) -> ModelImportance:
    predictor = request.predictor()
    most = _ROWS_FOR_CURVES if predictor.is_step else _ROWS_ASKED_FOR_CURVES
    rows = _rows(request, len(predictor), most)
    if request.patience.budget is not None:
        rows = _in_time(request, predictor, rows, _POINTS * len(predictor.names))
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


def _in_time(request: _Request, predictor: Predictor, rows: Index, per_row: int) -> Index:
    """Give as many of the rows as there is time for, by how long the first ones take."""
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), 200)).round().astype(np.intp)]
    started = time.monotonic()
    predictor.predict(some)
    per_evaluation = max(time.monotonic() - started, 1e-6) / len(some)
    assert request.patience.budget is not None
    size = int(np.clip(request.patience.budget / per_evaluation / per_row, 20, len(rows)))
    if size < len(rows):
        tell(f"the time of {request.patience.budget:g} s is enough for {size} of {len(rows)} rows")
    chosen = np.random.default_rng(request.seed).choice(rows, size, replace=False)
    return np.sort(chosen)


def _is_known(request: _Request) -> bool:
    """Whether the model can be taken apart, so that nothing has to be sampled."""
    try:
        game_of(request.model, request.data)
    except InputError:
        return False
    return True


def _variances(curve: Floats, shares: Floats) -> Floats:
    """Give the variance over the data of curves of shape (draws, points, outputs), summed."""
    weight = shares / shares.sum()
    mean = np.einsum("j,bjk->bk", weight, curve)
    return np.asarray(np.einsum("j,bjk->b", weight, (curve - mean[:, None]) ** 2))


def _impurity(request: _Request) -> ModelImportance:
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
        n_rows=_count(request.data),
        notes=tuple(notes),
    )


def _coefficients(request: _Request) -> ModelImportance:
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


_METHODS = {
    "permutation": _permutation,
    "loco": _loco,
    "shapley": _shapley,
    "variance": _variance,
    "impurity": _impurity,
    "coefficients": _coefficients,
}


# What the methods share


def _players(
    predictor: Predictor, groups: Mapping[str, Sequence[str]] | None
) -> dict[str, tuple[int, ...]]:
    """Give groups and the columns in none of them, each with its positions."""
    return dict(zip(*players_of(predictor.names, groups), strict=True))


def _rows(request: _Request, n_rows: int, most: int | None) -> Index:
    if n_rows < 2:
        raise InputError("the data has 1 row; importance needs rows that differ")
    if request.sample is not None and request.sample < 2:
        raise InputError(f"sample is {request.sample}; at least 2 rows are needed")
    size = request.sample or most or n_rows
    if size >= n_rows:
        return np.arange(n_rows)
    chosen = np.random.default_rng(request.seed).choice(n_rows, size, replace=False)
    return np.sort(chosen)


def _count(data: Any) -> int:
    return data.n_rows if isinstance(data, Table) else len(data)


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


def _looks_like_training(model: Any, data: Any) -> bool:
    if not isinstance(model, Learner) or not isinstance(data, Table):
        return False
    training = getattr(model, "training_", {})
    return training.get("rows") == data.n_rows and training.get("source") == data.source
