"""From a model that is a sum of functions of one and two columns to a table of factors."""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import check_confidence, check_whole
from clearwood._shared.choices import StandardErrors
from clearwood._shared.errors import (
    Call,
    ClearwoodWarning,
    InputError,
    Option,
    bad_value,
    did_you_mean,
    unknown_choice,
    words,
)
from clearwood.explanation.factors.anchored import MOST_CELLS, Anchored
from clearwood.explanation.factors.comparison import (
    Averaged,
    averaged_out,
    calibrated,
    compared,
    compared_with,
    completed,
)
from clearwood.explanation.factors.errors import check_errors, with_errors
from clearwood.explanation.factors.model_cells import ModelCells
from clearwood.explanation.factors.multiplied import compared_product, levelled, product_of
from clearwood.explanation.factors.points import points_of, usual_points
from clearwood.explanation.factors.result import Factors
from clearwood.explanation.games.from_model import game_of
from clearwood.explanation.games.game import Game, NotDecomposableError
from clearwood.explanation.linear.contrasts import on_unseen_levels
from clearwood.fitted import Unit
from clearwood.models import Learner, TableModel, has_probabilities, save
from clearwood.table import Table, as_table, read_as

__all__ = ["factors", "factors_of_game"]

#: The quantiles of a column of numbers between which pictures show it.
_SHOWN = (0.01, 0.99)


def factors(
    model: TableModel | Sequence[Learner],
    data: Any,
    base: Mapping[str, Any] | None = None,
    *,
    max_cells: int | None = None,
    errors: StandardErrors | Literal["none"] | int = "auto",
    confidence: float = 0.9,
    points: tuple[float, float, float] | None = None,
    cutoff: float | None = None,
    rebalance: bool = False,
    seed: int = 0,
) -> Factors:
    """Write a model as a base value and a factor for each cell of its columns.

    This is possible where no more than two columns interact: linear models, additive models, MARS
    of degree 2, boosting of trees with two columns on a path, explainable boosting machines. With a
    log link, the prediction is the base value times one relativity for each column and pair.

    Steps, levels and curves made of polynomials (lines, splines, hinges) are written exactly. Other
    curves, and all of them with ``max_cells``, are replaced by cells: the table is then an
    approximation, and states the largest error, the loss and the factor that restores the total.

    Parameters
    ----------
    model
        A fitted learner for numbers, counts, amounts or two classes. Or what `clearwood.fair` makes
        of one: the protected columns are then averaged into the base value, where that gives
        factors again. Or a list of learners with a log link, whose predictions are multiplied:
        frequency and severity.
    data
        Rows that say how much weight each cell has, usually the training rows. For several models,
        rows with the features of all, or a list with the same rows for each.
    base
        What cells are compared with: ``{"region": "town", "age": 40}``. By default the level, or
        the cell of numbers, of most weight and exposure; of a curve, the median.
    max_cells
        The most cells of a column of numbers, also for curves that could be written exactly. Cells
        are chosen by weighted least squares: the scores of the rows differ as little as possible
        from their mean in each cell.
    errors
        Standard errors of the effects, as differences with the base. "auto": those of
        `coefficients` for "ols", "glm" and "logistic" without a penalty, those of its own curves
        for "gam" and others that have them, else none. "model", "robust" or "cluster" for linear
        learners. A number such as 200 refits the model to as many resamples of the rows, or of the
        groups: the only way for penalised and boosted models. "none": none.
    confidence
        Of the intervals, also of observed / expected of a product: a note has it where the data has
        the target of the last model, and the exposure of each is what the one before it predicts.
    points
        For two classes: ``(600, 50, 20)`` writes the table as whole points as well, 600 at odds of
        50 to 1 for the first class, 20 to double them; ``.points`` of the result.
    cutoff
        The points from which rows are accepted, to count those that rounding puts on another side.
    rebalance
        For several models: multiply the base value so that the product adds up to the observed
        total, where the note on observed / expected is known. A single model is fitted with it.
    seed
        Of the mixed rows on which the table is compared with the model, and of refits.

    Returns
    -------
    Factors

    Examples
    --------
    >>> import clearwood as cw
    >>> policies = cw.datasets.insurance(2_000)
    >>> model = cw.learner("gbm", max_depth=2, max_iter=20).fit(policies)
    >>> table = cw.factors(model, policies, base={"region": "town"})
    >>> table.ratio_name, table.base["region"], table.is_exact
    ('relativity', 'town', True)
    >>> bool(abs(table.predict(policies) / model.predict(policies) - 1).max() < 1e-12)
    True
    """
    if max_cells is not None:
        check_whole("max_cells", max_cells, 2, or_none=True)
    check_errors(errors)
    chosen = _chosen_base(base)
    check_confidence(confidence)
    if isinstance(model, Sequence):
        if points is not None:
            raise bad_value("points", points, "points are of one model with two classes")
        return _product(model, data, chosen, max_cells, confidence, seed, rebalance=rebalance)
    if rebalance:
        hint = words("fit the model with ", Option("rebalance", value=True), ".")
        raise bad_value("rebalance", rebalance, "it is for several models", hint=hint)
    if hasattr(model, "__clearwood_factors__"):
        if points is not None:
            raise bad_value("points", points, "points are of a learner")
        options = {"max_cells": max_cells, "errors": errors, "confidence": confidence, "seed": seed}
        return _of_averaged(model, data, chosen, options)
    learner = _checked(model)
    table = data if isinstance(data, Table) else read_as(data, learner.schema_)
    learner.check_outcome(table)
    table = table.without_zero_weights()
    cells = ModelCells(
        learner,
        _game(learner, table),
        as_table(table, schema=learner.schema_),
        _weights(table),
        max_cells,
    )
    result, anchored = _single(cells, table, chosen, seed)
    if points is not None:
        result = _pointed(result, learner, table, points, cutoff)
    result = replace(result, confidence=confidence, sha256=_sha256(learner))
    result = with_errors(result, anchored, table, errors, seed=seed)
    others = (note for note in on_unseen_levels(learner.encoder_) if note not in result.notes)
    return replace(result, notes=(*result.notes, *others, *learner.notes_))


def _of_averaged(
    model: Any, data: Any, base: Mapping[str, Any], options: Mapping[str, Any]
) -> Factors:
    """Write the table of the learner that a model averages, and average it."""
    recipe: Averaged = model.__clearwood_factors__()
    learner = _checked(recipe.learner)
    table = data if isinstance(data, Table) else _with_more_columns(data, learner, model)
    whole, is_filled = completed(recipe, table)
    if is_filled:
        if options["errors"] not in ("auto", "none"):
            raise bad_value(
                "errors",
                options["errors"],
                "the data lacks protected columns, which standard errors need",
            )
        options = {**options, "errors": "none"}
    result = factors(learner, whole, base, **options)
    if recipe.cells is not None and recipe.shares is not None:
        result = averaged_out(result, recipe.cells, recipe.shares, model.schema_)
    result = replace(
        calibrated(result, recipe.shift, recipe.factor),
        model=recipe.name,
        sha256=_sha256(model),
        notes=(*result.notes, *recipe.notes),
        schema=model.schema_,
    )
    rows = as_table(table, schema=model.schema_)
    return compared_with(result, model, rows, _weights(table), options["seed"])


def _with_more_columns(data: Any, learner: Learner, model: TableModel) -> Table:
    """Read the columns of the learner, or those of the model where the data has no others."""
    try:
        return read_as(data, learner.schema_)
    except InputError:
        return read_as(data, model.schema_)


def factors_of_game(learner: Learner, game: Game, table: Table, *, most_cells: int) -> Factors:
    """Write a model that was imported already as a table of factors, with its own base.

    A scorecard has its points as well, in the usual scaling. The table does not name the model's
    file: that holds how long its fit took, so that the same fit gives another file.
    Pairs with more than ``most_cells`` cells are refused.
    """
    _checked(learner)
    _check_game(learner, game)
    rows = as_table(table, schema=learner.schema_)
    cells = ModelCells(learner, game, rows, _weights(table), None)
    result, anchored = _single(cells, table, {}, 0, most_cells)
    points = usual_points(learner)
    if points is not None:
        result = _pointed(result, learner, table, points, None)
    result = with_errors(result, anchored, table, "auto", seed=0)
    return replace(result, notes=(*result.notes, *learner.notes_))


def _pointed(
    result: Factors, learner: Learner, table: Table, points: Any, cutoff: float | None
) -> Factors:
    """Add the points of a scorecard to the table."""
    events = None
    if table.target is not None and learner.task_.is_classification:
        events = np.asarray(table.y) == learner.classes_[1]
    own = points_of(result, table, points, events=events, cutoff=cutoff, notes=learner.notes_)
    return replace(result, points=own)


def _weights(table: Table) -> Floats:
    """Return the weight of each row, summing to one."""
    if not table.n_rows:
        raise InputError("the data has no rows", parameter="data")
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    return np.asarray(weights / weights.sum())


def _single(
    cells: ModelCells,
    table: Table,
    base: Mapping[str, Any],
    seed: int,
    most_cells: int = MOST_CELLS,
) -> tuple[Factors, Anchored]:
    """Compute the table of one model, compared with it, without standard errors."""
    _check_base(cells, base)
    values = {cells.player[name]: value for name, value in base.items()}
    anchored = Anchored(cells, values, most_cells)
    result = compared(_made(anchored, table), cells.learner, cells, table, seed)
    if cells.pieced and not (result.is_exact or result.banded):
        # what looked like polynomials is none
        anchored = Anchored(replace(cells, pieces=False), values, most_cells)
        result = compared(_made(anchored, table), cells.learner, anchored.cells, table, seed)
    return result, anchored


def _product(
    models: Sequence[Any],
    data: Any,
    base: dict[str, Any],
    max_cells: int | None,
    confidence: float,
    seed: int,
    *,
    rebalance: bool,
) -> Factors:
    """Multiply the tables of models with a log link, compared with one base."""
    learners = [_checked(model) for model in models]
    if not learners:
        raise InputError("there is no model", parameter="model", value=[])
    first = data[0] if isinstance(data, list) else data
    sources = data if isinstance(data, list) else [data] * len(learners)
    with warnings.catch_warnings():  # that a model does not have the columns of another
        warnings.simplefilter("ignore", ClearwoodWarning)
        outcome = learners[-1].schema_.target
        kept = [] if outcome is None else [outcome]
        table = (
            first if isinstance(first, Table) else read_as(first, learners[0].schema_, keep=kept)
        )
        rows = [
            as_table(source, schema=learner.schema_)
            for learner, source in zip(learners, sources, strict=True)
        ]
    known = {name for learner in learners for name in learner.schema_.features}
    for name in base:
        if name not in known:
            raise unknown_choice("base", name, sorted(known), what="column")
    weights = _weights(table)
    tables: list[Factors] = []
    chosen = dict(base)
    for learner, own in zip(learners, rows, strict=True):
        game = _game(learner, own)
        if game.unit is not Unit.LOG_MEAN:
            raise InputError(
                f"learner {learner.name!r} has no log link, so its predictions are not a product "
                "of relativities",
                parameter="model",
                value=learner.name,
                hint=words("fit ", Call("learner", ("'glm'",)), " to counts or amounts."),
            )
        mine = {name: value for name, value in chosen.items() if name in game.columns}
        result, _ = _single(ModelCells(learner, game, own, weights, max_cells), own, mine, seed)
        tables.append(replace(result, sha256=_sha256(learner)))
        chosen = {**result.base, **chosen}
    result = compared_product(product_of(tables), learners, rows, weights, seed)
    return levelled(result, learners, rows, table, confidence, rebalance=rebalance)


def _made(built: Anchored, table: Table) -> Factors:
    """Return the table, not yet compared with the model."""
    learner, game, cells = built.cells.learner, built.cells.game, built.cells
    outcome = learner.schema_.outcome or table.outcome or "the target"
    if learner.task_.is_classification:
        outcome = f"{outcome} = {learner.classes_[1]}"
    return Factors(
        base=built.base_labels,
        base_score=built.base_score,
        terms=built.terms,
        unit=game.unit,
        outcome=outcome,
        model=learner.name,
        banded=tuple(game.columns[k] for k in sorted(cells.banded)),
        ranges=_ranges(cells),
        schema=learner.schema_,
    )


def _ranges(cells: ModelCells) -> dict[str, tuple[float, float]]:
    """Return between which numbers most rows lie, for each column of numbers in the table."""
    ranges = {}
    for k in cells.used:
        column = cells.column(k)
        if column.is_coded:
            continue
        known = column.values[np.isfinite(column.values) & (cells.weights > 0)]
        if len(known):
            low, high = np.quantile(known, _SHOWN)
            ranges[column.name] = (float(low), float(high))
    return ranges


def _sha256(learner: TableModel) -> str:
    """Return the SHA-256 of the file that the model is saved as; empty where it cannot be."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.cw"
        try:
            save(learner, path)
        except InputError:
            return ""
        return hashlib.sha256(path.read_bytes()).hexdigest()


def _checked(model: Any) -> Learner:
    """Refuse what is not a fitted learner with one prediction for each row."""
    if not isinstance(model, Learner) or not hasattr(model, "estimator_"):
        raise InputError(
            f"factors are of a fitted learner, not of {type(model).__name__}",
            parameter="model",
            hint=words("fit one: ", Call("learner", ("'glm'",)), "."),
        )
    if model.task_.is_classification and len(model.classes_) != 2:
        raise InputError(
            f"there are {len(model.classes_)} classes; tables of factors are for two",
            parameter="model",
            value=model.name,
            hint="join classes until there are two, or make a table for each against the others.",
        )
    return model


def _game(learner: Learner, table: Table) -> Game:
    """Return the model as a sum over columns and pairs; refuse what is not one."""
    try:
        game = game_of(learner, table)
    except NotDecomposableError as error:
        raise _too_deep(learner, "is not a sum of functions of one and two columns") from error
    _check_game(learner, game)
    return game


def _check_game(learner: Learner, game: Game) -> None:
    """Refuse interactions of more than two columns, and scores whose link has no factors."""
    if learner.task_.is_classification and not has_probabilities(learner):
        raise InputError(
            f"learner {learner.name!r} predicts classes without probabilities, which a table of "
            "factors is about",
            parameter="model",
            value=learner.name,
            hint="fit 'logistic', 'gam' or 'ebm'.",
        )
    if game.order > 2:
        raise _too_deep(learner, f"has interactions of {game.order} columns")
    if game.unit.is_before_link and game.unit not in (Unit.LOG_MEAN, Unit.LOG_ODDS):
        raise _too_deep(learner, "has a link that is neither the identity, nor the log or logit")


def _too_deep(learner: Learner, why: str) -> InputError:
    return InputError(
        f"learner {learner.name!r} {why}; a table of factors has at most pairs",
        parameter="model",
        value=learner.name,
        hint=words(
            "fit ",
            Call("learner", ("'gbm'",), {"max_depth": 2}),
            ", 'glm', 'gam' or 'ebm', or 'mars' of degree 2.",
        ),
    )


def _chosen_base(base: Any) -> dict[str, Any]:
    """Read the base by column."""
    if base is not None and not isinstance(base, Mapping):
        hint = words("for example ", Option("base", {"region": "town", "age": 40}), ".")
        raise bad_value("base", base, "it must be a dict of columns", hint=hint)
    return dict(base or {})


def _check_base(cells: ModelCells, base: Mapping[str, Any]) -> None:
    """Refuse a base of a column that the model does not have, and one that does not occur."""
    for name, value in base.items():
        if name not in cells.player:
            raise unknown_choice("base", name, cells.game.columns, what="column")
        column = cells.table.column(name)
        if column.is_coded:
            known = cells.levels(cells.player[name])
            code = known.index(str(value)) if str(value) in known else None
            if code is None or not cells.weights[column.values == code].sum() > 0:
                codes = np.unique(column.values)
                levels = [known[c] for c in codes.tolist() if 0 <= c < len(known)]
                raise InputError(
                    f"no row has the level {value!r} of column {name!r}",
                    parameter="base",
                    value=value,
                    hint=did_you_mean(str(value), levels),
                )
        else:
            _base_number(name, value)


def _base_number(name: str, value: Any) -> float:
    """Read a base of a column of numbers."""
    try:
        read = float(value)
    except (TypeError, ValueError):
        read = np.nan
    if not np.isfinite(read):
        raise InputError(
            f"the base of column {name!r} must be a number, not {value!r}",
            parameter="base",
            value=value,
            hint=words("such as ", Option("base", {name: 40}), "."),
        )
    return read
