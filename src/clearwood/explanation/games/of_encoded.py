"""The game of a model behind Clearwood's encoder: a learner, or a wrapped estimator."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood import forest as forests
from clearwood.explanation.adapter.rows import Rows, rows_of_table
from clearwood.explanation.adapter.supported import is_pipeline, name_of, unsupported
from clearwood.explanation.games.game import Game
from clearwood.explanation.games.of_ebm import is_ebm, of_ebm
from clearwood.explanation.games.of_sums import additive
from clearwood.explanation.games.of_trees import forest_outputs, forest_unit
from clearwood.explanation.games.scores import score_of
from clearwood.explanation.games.trees import TreeGame
from clearwood.forest import Forest
from clearwood.models import Learner
from clearwood.table import as_table

__all__ = ["learner_players", "of_encoded"]


def of_encoded(model: Any) -> Game:
    """Take a model with ``encoder_``, ``schema_`` and ``estimator_`` in the user's columns."""
    players, groups = learner_players(model)
    inner = model.estimator_
    forest = forests.from_model(inner) if _is_forest(inner) else None

    def read(data: Any) -> Rows:
        table = as_table(data, schema=model.schema_)
        encoded = model.encoder_.transform(table)
        codes = encoded if forest is None else forest.matrix(encoded)
        return rows_of_table(table, players, codes, data)

    classes = getattr(model, "classes_", None)
    kind = name_of(model if isinstance(model, Learner) else inner)
    if forest is not None:
        return _of_trees(forest, players, groups, classes, kind, read)
    if is_ebm(inner):
        return of_ebm(inner, players, groups, classes, kind, read)
    score = score_of(inner)
    if score is None:
        raise unsupported(model if isinstance(model, Learner) else inner)
    names = tuple(map(str, classes)) if classes is not None else score.outputs
    if len(names) != len(score.outputs):
        names = names[1:] if len(names) == 2 else score.outputs
    reference = np.zeros(len(model.encoder_.columns_))
    return additive(players, replace(score, outputs=names), kind, read, groups, reference)


def _is_forest(inner: Any) -> bool:
    last = inner.steps[-1][1] if is_pipeline(inner) else inner
    return forests.supports(last) and not is_pipeline(last)


def _of_trees(
    forest: Forest,
    players: tuple[str, ...],
    groups: NDArray[np.intp],
    classes: NDArray[Any] | None,
    kind: str,
    read: Any,
) -> TreeGame:
    return TreeGame(
        columns=players,
        groups=groups[forest.groups],
        outputs=forest_outputs(forest, classes),
        unit=forest_unit(forest),
        is_step=True,
        kind=kind,
        forest=forest,
        reader=read,
    )


def learner_players(model: Any) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Give the user's columns and the one behind each column that the encoder makes."""
    players = model.schema_.features
    position = {name: k for k, name in enumerate(players)}
    sources = [position[model.encoder_.used_[k]] for k in model.encoder_.sources_]
    return players, np.array(sources, np.intp)
