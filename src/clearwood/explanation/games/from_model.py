"""From a fitted model to the game that explains it exactly."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood import forest as forests
from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.games.additive import AdditiveGame
from clearwood.explanation.games.game import Game, Reader, unsupported
from clearwood.explanation.games.pipelines import Terms, pipeline_game
from clearwood.explanation.games.products import ProductGame
from clearwood.explanation.games.readers import EncodedReader, ForestReader, MatrixReader
from clearwood.explanation.games.spread import GameSpread
from clearwood.explanation.games.sums import SumGame
from clearwood.explanation.games.terms import ebm_game, is_ebm
from clearwood.explanation.games.trees import TreeGame
from clearwood.fitted import (
    Score,
    Unit,
    fitted_names,
    is_pipeline,
    name_of,
    numbered_outputs,
    parts_of,
    score_of,
    unwrapped,
)
from clearwood.forest import Forest, behind_learner
from clearwood.models import Learner, ScoreParts, Spread, check_fitted

__all__ = ["ends_in_trees", "game_of", "learner_players"]


def game_of(model: Any, data: Any = None) -> Game:
    """Find out what a model is made of; pipelines are checked on some of the background rows."""
    model = unwrapped(model)
    check_fitted(model)
    if hasattr(model, "encoder_") and hasattr(model, "schema_"):
        return _of_encoded(model)
    parts = parts_of(model)
    if parts is not None:
        return _of_fitted_matrix(model, parts)
    if isinstance(model, Forest) or (forests.supports(model) and ends_in_trees(model)):
        forest = forests.from_model(model)
        return _of_trees(
            forest,
            ForestReader(forest),
            forest.columns,
            forest.groups.astype(np.intp),
            forest.classes,
            forest.source,
        )
    score = score_of(model)
    if score is None:
        raise unsupported(model)
    return pipeline_game(model, score, data) if is_pipeline(model) else _of_matrix(model, score)


def ends_in_trees(model: Any) -> bool:
    """Whether a model is made of trees, before which a pipeline may have other steps."""
    if isinstance(model, Learner):
        return not is_pipeline(model.estimator_) and forests.supports(model.estimator_)
    model = unwrapped(model)
    return forests.supports(model.steps[-1][1] if is_pipeline(model) else model)


# Trees


def _of_trees(
    forest: Forest,
    reader: Reader,
    players: tuple[str, ...],
    groups: Index,
    classes: NDArray[Any] | None,
    kind: str,
    imported: Forest | None = None,
) -> TreeGame:
    return TreeGame(
        columns=players,
        groups=groups,
        outputs=_named_outputs(forest.n_outputs, classes),
        unit=_forest_unit(forest),
        is_step=True,
        kind=kind,
        reader=reader,
        forest=forest,
        imported=imported or forest,
    )


def _named_outputs(n_outputs: int, classes: NDArray[Any] | None) -> tuple[str, ...]:
    """Name the outputs: classes, where there are some; the first one has none of two outputs."""
    names = () if classes is None else tuple(map(str, classes))
    if names and len(names) - n_outputs in (0, 1):
        return names[-n_outputs:]
    return numbered_outputs(n_outputs)


def _forest_unit(forest: Forest) -> Unit:
    if forest.link != "identity":
        return Unit.before(forest.link, temperature=forest.temperature)
    if forest.classes is None:
        return Unit.PREDICTION
    votes = {"hard vote": Unit.VOTES, "weighted vote": Unit.SCORE}
    return votes.get(forest.aggregation, Unit.PROBABILITY)


# Products and trees


def _of_parts(parts: ScoreParts, settings: Mapping[str, Any], classes: Any) -> Game:
    """Make the game of products, of trees, or of their sum, with their spread.

    ``settings`` are fields of `Game`.
    """
    game = _sum_of_parts(parts, settings, classes)
    spread = parts.spread
    if spread is None:
        return game
    return replace(game, spread=_of_spread(spread, settings))


def _of_spread(spread: Spread, settings: Mapping[str, Any]) -> GameSpread:
    """Make the games of deviations."""
    deviations = _sum_of_parts(spread.parts, settings, None)
    further = None if spread.further is None else _of_spread(spread.further, settings)
    return GameSpread(deviations, spread.count, spread.freedom, spread.source, further)


def _sum_of_parts(parts: ScoreParts, settings: Mapping[str, Any], classes: Any) -> Game:
    """Make the game of a score without its spread."""
    constant = np.asarray(parts.products.constant, np.float64)
    own = {
        "outputs": _named_outputs(len(constant), classes),
        "unit": Unit.before(parts.link),
        **settings,
    }
    if parts.trees is None or not len(parts.trees.roots):
        return ProductGame(products=parts.products, is_step=False, **own)
    forest = forests.from_model(parts.trees)
    if not parts.products.terms:
        forest = replace(forest, base=constant)
        return TreeGame(forest=forest, imported=forest, is_step=True, **own)
    products = ProductGame(products=parts.products, is_step=False, **own)
    trees = TreeGame(forest=forest, imported=forest, is_step=True, **own)
    return SumGame(games=(products, trees), is_step=False, **own)


def _of_fitted_matrix(model: Any, parts: ScoreParts) -> Game:
    """Take a model that was fitted to a matrix or frame of numbers."""
    players, by_position = fitted_names(model)
    settings = {
        "columns": players,
        "groups": np.arange(len(players)),
        "kind": type(model).__name__,
        "reader": MatrixReader(players, by_position, takes_missing=True),
    }
    return _of_parts(parts, settings, getattr(model, "classes_", None))


# Models behind Clearwood's encoder


def _of_encoded(model: Any) -> Game:
    """Take a model with ``encoder_``, ``schema_`` and ``estimator_`` in the user's columns."""
    players, groups = learner_players(model)
    inner = model.estimator_
    forest = forests.from_model(inner) if _is_forest(inner) else None
    reader = EncodedReader(model.schema_, model.encoder_, players, forest)
    classes = getattr(model, "classes_", None)
    is_learner = isinstance(model, Learner)
    kind = name_of(model if is_learner else inner)
    if forest is not None:
        imported = behind_learner(model, forest) if is_learner else None
        return _of_trees(forest, reader, players, groups[forest.groups], classes, kind, imported)
    parts = parts_of(inner)
    if parts is not None:
        settings = {"columns": players, "groups": groups, "kind": kind, "reader": reader}
        return _of_parts(parts, settings, classes)
    if is_ebm(inner):
        return ebm_game(inner, players, groups, classes, kind, reader)
    score = score_of(inner)
    if score is None:
        raise unsupported(model if is_learner else inner)
    names = tuple(map(str, classes)) if classes is not None else score.outputs
    if len(names) != len(score.outputs):
        names = names[1:] if len(names) == 2 else score.outputs
    reference = np.zeros(len(model.encoder_.columns_))
    return _additive(players, replace(score, outputs=names), kind, reader, groups, reference)


def _is_forest(inner: Any) -> bool:
    last = inner.steps[-1][1] if is_pipeline(inner) else inner
    return forests.supports(last) and not is_pipeline(last)


def learner_players(model: Any) -> tuple[tuple[str, ...], Index]:
    """Return the user's columns, and the one that each column of the encoder comes from."""
    players = model.schema_.features
    position = {name: k for k, name in enumerate(players)}
    sources = [position[model.encoder_.used_[k]] for k in model.encoder_.sources_]
    return players, np.array(sources, np.intp)


# Sums over columns


def _additive(
    players: tuple[str, ...],
    score: Score,
    kind: str,
    reader: Reader,
    groups: Index,
    reference: Floats,
) -> AdditiveGame:
    """Make the game of a score of a matrix, measured from a reference row."""
    terms = Terms(score, groups, len(players), reference)
    return AdditiveGame(
        columns=players,
        groups=np.repeat(np.arange(len(players)), len(score.outputs)),
        outputs=score.outputs,
        unit=score.unit,
        is_step=False,
        kind=kind,
        reader=reader,
        constant=terms.constant,
        adds=terms,
    )


def _of_matrix(model: Any, score: Score) -> AdditiveGame:
    """Take a linear model that was fitted to a matrix or frame of numbers."""
    players, by_position = fitted_names(model)
    reader = MatrixReader(players, by_position)
    groups, reference = np.arange(len(players)), np.zeros(len(players))
    return _additive(players, score, type(model).__name__, reader, groups, reference)
