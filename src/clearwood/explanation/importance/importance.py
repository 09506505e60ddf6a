"""How much each column matters to a model: seven answers to as many questions."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.checks import check_confidence, check_whole
from clearwood._shared.choices import ImportanceKind
from clearwood._shared.clock import Clock
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError, Option, bad_value, unknown_choice, words
from clearwood._shared.messages import tell
from clearwood._shared.numbers import count, duration
from clearwood._shared.progress import progress
from clearwood._shared.weights import checked_weights
from clearwood.explanation.decomposition.decompose import decompose
from clearwood.explanation.effects.bands import (
    Training,
    band,
    known_target,
    mean_replicates,
    resampled_weights,
)
from clearwood.explanation.effects.grid import points_of
from clearwood.explanation.effects.pdp import curves, mean_curve
from clearwood.explanation.games.groups import players_of
from clearwood.explanation.games.trees import TreeGame
from clearwood.explanation.importance.loss_increase import (
    loco_differences,
    permutation_differences,
    row_loss,
)
from clearwood.explanation.local.contributions import linear_terms, standardised
from clearwood.explanation.results.about import noting_zero_weights, two_rows_or_more
from clearwood.explanation.results.importance import TITLES, Importance
from clearwood.explanation.rows.compose import take_rows
from clearwood.explanation.rows.predictor import Predictor, limit_words
from clearwood.explanation.shapley.shapley import shapley
from clearwood.fitted import Unit
from clearwood.models import Learner
from clearwood.table import Table

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["METHODS", "ImportanceRequest", "importance", "impurity_gains"]


@dataclass(frozen=True, eq=False)
class ImportanceRequest:
    """The options of `clearwood.importance`, which describes them; checked."""

    explanation: "Explanation"
    y: Any
    repeats: int
    conditional: bool
    groups: Mapping[str, Sequence[str]] | None
    loss: Any
    folds: int
    confidence: float
    output: Any
    scale: str | None
    sample: int | None
    clock: Clock  # until when the work may go on
    seed: int
    n_jobs: int

    @property
    def is_training(self) -> bool:
        """Whether the rows look like those that the model was fitted to."""
        model, data = self.explanation.model, self.explanation.data
        if not isinstance(model, Learner) or not isinstance(data, Table):
            return False
        training = getattr(model, "training_", {})
        return bool(training.get("rows") == data.n_rows and training.get("source") == data.source)

    def predictor(self) -> Predictor:
        """Return the model over the rows."""
        return self.explanation.predictor(output=self.output, scale=self.scale, n_jobs=self.n_jobs)

    def weights(self, rows: Index) -> Floats | None:
        """Return the weights of some rows; None where all count alike."""
        weights = checked_weights(self.explanation.own_weights, self.explanation.n_rows)
        return None if weights is None else weights[rows]

    def players(self, predictor: Predictor) -> dict[str, tuple[int, ...]]:
        """Return groups and the columns in none of them, each with its positions."""
        return dict(zip(*players_of(predictor.names, self.groups), strict=True))

    def rows(self, n_rows: int, most: int | None = None) -> Index:
        """Choose the rows to measure on: as many as wanted, else ``most``, else all."""
        two_rows_or_more(n_rows, "importance")
        if self.sample is not None:
            check_whole("sample", self.sample, 2)
        return draw_rows(n_rows, self.sample or most, seed=self.seed)

    def rows_in_time(self, predictor: Predictor, rows: Index, per_row: int) -> Index:
        """Return as many of the rows as there is time for, by how long the first ones take."""
        limit = self.clock.time_limit
        if limit is None:
            return rows
        some = rows[np.linspace(0, len(rows) - 1, min(len(rows), 200)).round().astype(np.intp)]
        started = time.monotonic()
        predictor.predict(some)
        per_evaluation = max(time.monotonic() - started, 1e-6) / len(some)
        size = int(np.clip(limit / per_evaluation / per_row, 20, len(rows)))
        if size < len(rows):
            tell(f"{duration(limit)} are enough for {size:,} of {count(len(rows), 'row')}")
        chosen = np.random.default_rng(self.seed).choice(rows, size, replace=False)
        return np.sort(chosen)


def impurity_gains(explanation: "Explanation") -> tuple[tuple[str, ...], Floats, str]:
    """Compute the share of the gain by tree and column; one line where trees are not independent.

    Returns
    -------
    (columns, ndarray of shape (trees, columns), the model in words)
    """
    game = explanation.exact_game
    if not isinstance(game, TreeGame):
        raise InputError(
            "impurity importance is for trees",
            parameter="kind",
            value="impurity",
            hint=words("use ", Option("kind", "permutation"), ", which is for any model."),
        )
    by_feature = _gains(_inner(explanation.model))
    if by_feature.shape[1] != len(game.groups):
        raise InputError(
            "the trees' columns cannot be matched with the data's",
            hint=words("use ", Option("kind", "permutation"), "."),
        )
    result = np.zeros((len(by_feature), len(game.columns)))
    for feature, column in enumerate(game.groups):
        result[:, column] += by_feature[:, feature]
    return game.columns, result, game.kind


def _inner(model: Any) -> Any:
    if isinstance(model, Learner):
        return _inner(model.estimator_)
    if hasattr(model, "best_estimator_"):
        return _inner(model.best_estimator_)
    return _inner(model.steps[-1][1]) if hasattr(model, "steps") else model


def _gains(model: Any) -> Floats:
    if hasattr(model, "_predictors"):  # histogram boosting keeps the gain of every split
        result = np.zeros(model.n_features_in_)
        for stage in model._predictors:  # noqa: SLF001 - scikit-learn shows it nowhere else
            for tree in stage:
                inner = tree.nodes[tree.nodes["is_leaf"] == 0]
                np.add.at(result, inner["feature_idx"].astype(np.intp), inner["gain"])
        return _shares(_as_given(model, result)[None, :])
    if hasattr(model, "booster_"):  # LightGBM counts splits by default
        return _shares(np.asarray(model.booster_.feature_importance("gain"), float)[None, :])
    members = getattr(model, "estimators_", None)
    independent = "Forest" in type(model).__name__ or "ExtraTrees" in type(model).__name__
    if members is not None and independent:
        each = [m.feature_importances_ for m in members if m.tree_.node_count > 1]
        return np.array(each or [np.zeros(model.n_features_in_)])
    if not hasattr(model, "feature_importances_"):
        raise InputError(
            f"{type(model).__name__} does not record what its splits gained",
            hint=words("use ", Option("kind", "permutation"), "."),
        )
    return _shares(np.asarray(model.feature_importances_, np.float64)[None, :])


def _as_given(model: Any, result: Floats) -> Floats:
    """Put columns back in the order given: histogram boosting grows with categories first."""
    categorical = getattr(model, "is_categorical_", None)
    if categorical is None:
        return result
    place = np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])
    given = np.empty_like(result)
    given[place] = result
    return given


def _shares(gains: Floats) -> Floats:
    total = gains.sum(axis=1, keepdims=True)
    result: Floats = np.zeros_like(gains)
    np.divide(gains, total, out=result, where=total > 0)
    return result


_POINTS = 30
_DRAWS = 200
# Rows, for models with an exact decomposition and for others.
_ROWS_FOR_CURVES, _SAMPLED_ROWS_FOR_CURVES = 2000, 500
_ROWS_FOR_SHAPLEY, _SAMPLED_ROWS_FOR_SHAPLEY = 500, 100
# Of the values of one row: the mean over rows is many times more precise.
_PRECISION = 0.05

_LOCO_NOTE = (
    "{} folds; the intervals are for these fits: that other training rows would give other models "
    "is not in them"
)
_IMPURITY_NOTE = (
    "favours columns with many values, and rewards overfitting; compare permutation importance "
    "on held-out rows"
)


def _components(request: ImportanceRequest) -> Importance:
    explanation = request.explanation
    if request.output is not None:
        explanation = explanation.of_output(request.output)
    changed = {"scale": request.scale, "time_limit": request.clock.time_limit}
    changed = {name: value for name, value in changed.items() if value is not None}
    decomposition = (
        explanation.decomposition
        if not changed
        else decompose(explanation, **{**explanation.decomposing, **changed})
    )
    result, n_data = decomposition.importance(), explanation.n_all
    return replace(result, n_data=n_data) if result.n_rows < n_data else result


def _permutation(request: ImportanceRequest) -> Importance:
    predictor = request.predictor()
    y = known_target(request.explanation.data, request.y)
    measure, words = row_loss(predictor, y, request.loss)
    rows = request.rows(len(predictor))
    players = request.players(predictor)
    each, done = permutation_differences(
        predictor,
        players,
        measure,
        rows,
        repeats=request.repeats,
        conditional=request.conditional,
        seed=request.seed,
        clock=request.clock,
    )
    notes = []
    if done < request.repeats:
        notes.append(f"ended early, after {done} of {request.repeats} shuffles")
        tell(notes[-1])
    if request.is_training:
        notes.append(
            "these look like the rows that the model was fitted to, so overfitting is rewarded; "
            "use held-out rows"
        )
    if request.conditional:
        notes.append("shuffled among rows that are alike in the associated columns")
    return _mean_growth("permutation", request, predictor, players, each, rows, words, notes)


def _loco(request: ImportanceRequest) -> Importance:
    training = Training(request.explanation.model, request.explanation.data, request.y)
    if not 2 <= request.folds <= len(training):
        raise bad_value("folds", request.folds, f"it lies between 2 and {len(training)}")
    predictor = request.predictor()
    players = request.players(predictor)
    result, words = loco_differences(
        request.explanation,
        training,
        predictor,
        players,
        request.loss,
        folds=request.folds,
        scale=request.scale,
        seed=request.seed,
        clock=request.clock,
    )
    notes = [_LOCO_NOTE.format(request.folds)]
    done = np.flatnonzero(np.isfinite(result).all(axis=1))
    if len(done) < len(result):
        notes.append(
            f"{limit_words(request.clock)} after {len(done):,} of {len(result):,} held-out rows"
        )
        tell(notes[-1])
    return _mean_growth("loco", request, predictor, players, result[done], done, words, notes)


def _shapley(request: ImportanceRequest) -> Importance:
    explanation = request.explanation
    known = explanation.is_exact
    most = _ROWS_FOR_SHAPLEY if known else _SAMPLED_ROWS_FOR_SHAPLEY
    rows = request.rows(explanation.n_rows, most)
    # in random order, so that those done in time are a sample
    rows = np.random.default_rng(request.seed).permutation(rows)
    result = shapley(
        explanation,
        take_rows(explanation.data, rows),
        method="auto" if known else "permutation",
        output=request.output,
        precision=0.02 if known else _PRECISION,
        time_limit=request.clock.time_limit,
        seed=request.seed,
        n_jobs=request.n_jobs,
    )
    size = np.abs(result.values)
    size = size.sum(axis=2) if size.ndim == 3 else size
    weights = request.weights(rows[: len(size)])
    values, low, high = _mean_interval(size, weights, request.confidence)
    about = result.about
    notes = ["needs no target: it shows what moves predictions, not whether they get better"]
    if result.standard_errors is not None:
        notes.append("sampled: noise adds to absolute values, most to those near zero")
    return _result(
        "shapley",
        request,
        result.columns,
        (values, np.maximum(low, 0), high),
        measure=f"mean absolute value, {about.unit}",
        model=about.model,
        unit=about.unit,
        n_rows=len(result),
        is_sampled=result.standard_errors is not None,
        notes=notes,
    )


def _variance(request: ImportanceRequest) -> Importance:
    predictor = request.predictor()
    most = _ROWS_FOR_CURVES if predictor.is_step else _SAMPLED_ROWS_FOR_CURVES
    rows = request.rows(len(predictor), most)
    rows = request.rows_in_time(predictor, rows, _POINTS * len(predictor.names))
    known = request.weights(rows)
    weights = np.ones(len(rows)) if known is None else known
    values, low, high = (np.zeros(len(predictor.names)) for _ in range(3))
    with progress("holding columns", total=len(predictor.names)) as step:
        for k in range(len(predictor.names)):
            points = points_of(predictor.columns, [k], predictor.weights, _POINTS, {})
            if len(points.grids[0]) > 1:
                each = curves(predictor, points, rows)
                shares = points.grids[0].shares
                values[k] = _variances(mean_curve(each, weights)[None], shares)[0]
                drawn = mean_replicates(each, weights, _DRAWS, request.seed)
                low[k], high[k] = band(_variances(drawn, shares), request.confidence)
            step(1, note=predictor.names[k])
    return _result(
        "variance",
        request,
        predictor.names,
        (values, np.minimum(low, values), np.maximum(high, values)),
        measure=f"variance of the main effect, {predictor.unit}",
        model=predictor.kind,
        unit=predictor.unit,
        n_rows=len(rows),
        notes=("interactions do not count: a column that acts only with others has none",),
    )


def _variances(curve: Floats, shares: Floats) -> Floats:
    """Compute the variance over the data of curves of shape (draws, points, outputs), summed."""
    weight = shares / shares.sum()
    mean = np.einsum("j,bjk->bk", weight, curve)
    return np.asarray(np.einsum("j,bjk->b", weight, (curve - mean[:, None]) ** 2))


def _impurity(request: ImportanceRequest) -> Importance:
    columns, gains, name = impurity_gains(request.explanation)
    values, low, high = _mean_interval(gains, None, request.confidence)
    notes = [_IMPURITY_NOTE]
    if len(gains) == 1:
        low = high = np.full(len(columns), np.nan)
        notes.append("no interval: the trees are not grown independently of each other")
    return _result(
        "impurity",
        request,
        columns,
        (values, low, high),
        measure="share of the gain",
        model=name,
        unit=Unit.PREDICTION,
        n_rows=request.explanation.n_rows,
        notes=notes,
    )


def _coefficients(request: ImportanceRequest) -> Importance:
    terms, data = linear_terms(request.explanation, output=request.output)
    n_rows = len(terms.values)
    known = request.weights(np.arange(n_rows))
    weights = np.ones(n_rows) if known is None else known
    drawn = np.array(
        [
            standardised(terms.values, data, drawn)
            for block in resampled_weights(weights, _DRAWS, request.seed)
            for drawn in block
        ]
    )
    values = standardised(terms.values, data, weights)
    return _result(
        "coefficients",
        request,
        terms.columns,
        (values, *band(drawn, request.confidence)),
        measure=f"standard deviation of what the column adds, {terms.unit}",
        model=terms.model,
        unit=terms.unit,
        n_rows=n_rows,
        notes=(
            "the intervals are over the rows, for the coefficients as they are",
            "of associated columns, one may carry the coefficient of both",
        ),
    )


def _mean_growth(
    kind: ImportanceKind,
    request: ImportanceRequest,
    predictor: Predictor,
    players: Iterable[str],
    each: Floats,
    rows: Index,
    measure: str,
    notes: list[str],
) -> Importance:
    """Average how much the loss of each row grows without each player."""
    return _result(
        kind,
        request,
        players,
        _mean_interval(each, request.weights(rows), request.confidence),
        measure=measure,
        model=predictor.kind,
        unit=predictor.unit,
        n_rows=len(rows),
        notes=notes,
    )


def _result(
    kind: ImportanceKind,
    request: ImportanceRequest,
    columns: Iterable[str],
    numbers: tuple[Floats, Floats, Floats],
    *,
    notes: Iterable[str],
    **more: Any,
) -> Importance:
    values, low, high = numbers
    n_data = request.explanation.n_all
    return Importance(
        n_data=n_data if more["n_rows"] < n_data else None,
        kind=kind,
        columns=tuple(columns),
        values=values,
        low=low,
        high=high,
        confidence=request.confidence,
        notes=tuple(notes),
        **more,
    )


def _mean_interval(
    each: Floats, weights: Floats | None, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """Compute the mean over rows with the normal interval of a mean."""
    from scipy.stats import t

    n_rows = len(each)
    weight = np.full(n_rows, 1 / n_rows) if weights is None else weights / weights.sum()
    mean = weight @ each
    if n_rows < 2:
        return mean, mean, mean
    # for equal weights this is the variance over n - 1, divided by n
    spread = (weight**2) @ (each - mean) ** 2 * n_rows / (n_rows - 1)
    half = t.ppf((1 + confidence) / 2, n_rows - 1) * np.sqrt(spread)
    return mean, mean - half, mean + half


METHODS: dict[str, Callable[[ImportanceRequest], Importance]] = {
    "components": _components,
    "permutation": _permutation,
    "loco": _loco,
    "shapley": _shapley,
    "variance": _variance,
    "impurity": _impurity,
    "coefficients": _coefficients,
}


def importance(
    self: "Explanation",
    *,
    kind: ImportanceKind = "components",
    y: Any = None,
    repeats: int = 5,
    conditional: bool = False,
    groups: Mapping[str, Sequence[str]] | None = None,
    loss: Any = None,
    folds: int = 5,
    confidence: float = 0.9,
    output: Any = None,
    scale: str | None = None,
    sample: int | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Importance:
    """Measure how much each column matters to a model, with intervals.

    The parameters are those of `clearwood.importance` without model and data.
    """
    if kind not in TITLES:
        raise unknown_choice("kind", kind, TITLES)
    clock = Clock.started_now(time_limit)
    check_whole("repeats", repeats, 1)
    check_confidence(confidence)
    if groups and kind not in ("permutation", "loco"):
        raise bad_value(
            "kind",
            kind,
            words(Option("groups"), " are not for this kind"),
            hint=words("use ", Option("kind", "permutation"), "."),
        )
    n_rows = self.n_rows
    explanation, y = self.over_positive_weights(y)
    request = ImportanceRequest(
        explanation=explanation,
        y=y,
        repeats=repeats,
        conditional=conditional,
        groups=groups,
        loss=loss,
        folds=folds,
        confidence=confidence,
        output=output,
        scale=scale,
        sample=sample,
        clock=clock,
        seed=explanation.seed if seed is None else seed,
        n_jobs=explanation.n_jobs if n_jobs is None else n_jobs,
    )
    return noting_zero_weights(METHODS[kind](request), n_rows - explanation.n_rows)
