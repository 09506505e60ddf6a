"""From a fitted model to the game that explains it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood import forest as forests
from clearwood._errors import InputError
from clearwood.decompose._additive_game import AdditiveGame
from clearwood.decompose._game import Floats, Game
from clearwood.decompose._rows import Rows, as_data, label_rows, rows_of_table, user_columns
from clearwood.decompose._scores import Score, score_of
from clearwood.decompose._sheets import Sheet, sheet_of
from clearwood.decompose._tree_game import TreeGame
from clearwood.forest import Forest
from clearwood.forest._encoders import LearnerEncoder
from clearwood.forest._from_model import SUPPORTED
from clearwood.forest._inputs import default_names
from clearwood.models import Learner
from clearwood.table import Table, as_table

__all__ = ["EXPLAINED", "game_of", "learner_players"]

EXPLAINED = (
    f"{SUPPORTED}; linear and generalised linear models of scikit-learn (least squares, ridge, "
    "lasso, elastic net, logistic, Poisson, gamma, Tweedie, linear discriminants and support "
    "vectors), alone, after column-wise steps in a Pipeline, or in a Learner (ols, ridge, lasso, "
    "logistic, glm, spline, ...)"
)

# Rows that a model is asked about to see whether it is a sum over columns.
_ROWS_CHECKED = 256
_ROWS_PER_BLOCK = 1 << 13


def game_of(model: Any, data: Any = None) -> Game:
    """Find out what a model is made of.

    Parameters
    ----------
    model
        Anything that `cw.explain` takes.
    data
        Background rows; additive pipelines need some to look at.

    Returns
    -------
    Game
    """
    model = _bare(model)
    if isinstance(model, Learner):
        return _of_learner(model)
    if isinstance(model, Forest) or (forests.supports(model) and _ends_in_trees(model)):
        return _of_forest(forests.from_model(model))
    score = score_of(model)
    if score is None:
        raise _unsupported(model)
    if _is_pipeline(model):
        return _of_sheets(model, score, data)
    return _of_matrix(model, score)


def _bare(model: Any) -> Any:
    """Check that it is a fitted model, and take it out of a search that found it."""
    if isinstance(model, type):
        raise InputError(
            f"{model.__name__} is a class, not a fitted model",
            hint=f"make one and fit it: {model.__name__}(...).fit(X, y).",
        )
    if isinstance(model, Forest):
        return model
    if hasattr(model, "best_estimator_"):
        return _bare(model.best_estimator_)
    if hasattr(model, "get_params") and hasattr(model, "fit"):
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

        try:
            check_is_fitted(model)
        except NotFittedError:
            raise InputError(
                f"this {type(model).__name__} is not fitted yet", hint="call its fit(X, y) first."
            ) from None
        except TypeError:
            pass  # no estimator in scikit-learn's sense; its own importer will ask
    return model


def _unsupported(model: Any) -> InputError:
    return InputError(
        f"{_name(model)} is not a model that can be taken apart exactly",
        hint=f"these can: {EXPLAINED}. For others, cw.shapley(..., sample=1000) samples.",
    )


def _name(model: Any) -> str:
    if isinstance(model, Learner):
        return f"learner {model.name!r}"
    if _is_pipeline(model):
        return f"a Pipeline that ends in {type(model.steps[-1][1]).__name__}"
    return type(model).__name__


def _is_pipeline(model: Any) -> bool:
    return hasattr(model, "steps") and hasattr(model, "named_steps")


def _ends_in_trees(model: Any) -> bool:
    return not _is_pipeline(model) or forests.supports(model.steps[-1][1])


# Trees


def _of_forest(forest: Forest) -> TreeGame:
    made_up = forest.columns == default_names(len(forest.columns))

    def read(data: Any) -> Rows:
        if isinstance(forest.encoder, LearnerEncoder):
            table = as_table(data, schema=forest.encoder.schema)
            return rows_of_table(table, forest.columns, forest.matrix(table), data)
        data = as_data(data)
        columns = user_columns(data, forest.columns, by_position=made_up)
        return Rows(
            codes=forest.matrix(data),
            columns=columns,
            labels=label_rows(data, len(columns[0])),
            weights=data.weights if isinstance(data, Table) else None,
            source=data.source if isinstance(data, Table) else "",
        )

    return TreeGame(
        columns=forest.columns,
        groups=forest.groups.astype(np.intp),
        outputs=_forest_outputs(forest, forest.classes),
        unit=_forest_unit(forest),
        is_step=True,
        kind=forest.source,
        forest=forest,
        reader=read,
    )


def _forest_outputs(forest: Forest, classes: NDArray[Any] | None) -> tuple[str, ...]:
    n_outputs = forest.n_outputs
    if classes is not None and len(classes) == n_outputs:
        return tuple(map(str, classes))
    if classes is not None and len(classes) == 2 and n_outputs == 1:
        return (str(classes[1]),)
    return ("prediction",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))


def _forest_unit(forest: Forest) -> str:
    units = {"logistic": "log odds", "softmax": "score before softmax", "log": "log of the mean"}
    if forest.link != "identity":
        return units.get(forest.link, f"score before {forest.link}")
    if forest.classes is None:
        return "prediction"
    words = {"hard vote": "share of votes", "weighted vote": "score"}
    return words.get(forest.aggregation, "probability")


def _of_learner(learner: Learner) -> Game:
    players, groups = learner_players(learner)
    inner = learner.estimator_

    def read(data: Any) -> Rows:
        table = as_table(data, schema=learner.schema_)
        return rows_of_table(table, players, learner.encoder_.transform(table), data)

    classes = learner.classes_ if learner.task_.is_classification else None
    kind = f"learner {learner.name!r}"
    if forests.supports(inner) and not _is_pipeline(inner):
        forest = forests.from_model(inner)
        return TreeGame(
            columns=players,
            groups=groups,
            outputs=_forest_outputs(forest, classes),
            unit=_forest_unit(forest),
            is_step=True,
            kind=kind,
            forest=forest,
            reader=read,
        )
    score = score_of(inner)
    if score is None:
        raise _unsupported(learner)
    names = tuple(map(str, classes)) if classes is not None else score.outputs
    if len(names) != len(score.outputs):
        names = names[1:] if len(names) == 2 else score.outputs
    reference = np.zeros(len(learner.encoder_.columns_))
    return _additive(players, replace(score, outputs=names), kind, read, groups, reference)


def learner_players(learner: Learner) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Give the user's columns and the one behind each column of the model."""
    players = learner.schema_.features
    position = {name: k for k, name in enumerate(players)}
    sources = [position[learner.encoder_.used_[k]] for k in learner.encoder_.sources_]
    return players, np.array(sources, np.intp)


# Sums over columns


@dataclass(frozen=True, eq=False)
class _Terms:
    """What each column adds to the score, found by holding all others at a reference."""

    score: Callable[[Floats], Floats]
    groups: NDArray[np.intp]
    n_players: int
    reference: Floats

    @property
    def constant(self) -> Floats:
        return np.asarray(self.score(self.reference[None, :])[0])

    def of(self, matrix: Floats) -> Floats:
        constant = self.constant
        found = np.zeros((len(matrix), self.n_players, len(constant)))
        for first in range(0, len(matrix), _ROWS_PER_BLOCK):
            part = matrix[first : first + _ROWS_PER_BLOCK]
            held = np.repeat(self.reference[None, :], len(part), axis=0)
            for player in np.unique(self.groups):
                mine = self.groups == player
                held[:, mine] = part[:, mine]
                found[first : first + _ROWS_PER_BLOCK, player] = self.score(held) - constant
                held[:, mine] = self.reference[mine]
        return found.reshape(len(matrix), self.n_players * len(constant))


def _additive(
    players: Sequence[str],
    score: Score,
    kind: str,
    read: Callable[[Any], Rows],
    groups: NDArray[np.intp],
    reference: Floats,
) -> AdditiveGame:
    terms = _Terms(score.of, groups, len(players), reference)

    def read_terms(data: Any) -> Rows:
        rows = read(data)
        return replace(rows, codes=terms.of(rows.codes))

    return AdditiveGame(
        columns=tuple(players),
        groups=np.repeat(np.arange(len(players)), len(score.outputs)),
        outputs=score.outputs,
        unit=score.unit,
        is_step=False,
        kind=kind,
        reader=read_terms,
        constant=terms.constant,
    )


def _of_matrix(model: Any, score: Score) -> AdditiveGame:
    """Take a linear model that was fitted to a matrix or frame of numbers."""
    names = getattr(model, "feature_names_in_", None)
    players = default_names(model.n_features_in_) if names is None else tuple(map(str, names))

    def read(data: Any) -> Rows:
        data = as_data(data)
        columns = user_columns(data, players, by_position=names is None)
        for column in columns:
            if column.is_coded and column.label_type == "text":
                raise InputError(
                    f"column {column.name!r} holds {column.levels[0]!r}; the model was fitted "
                    "with numbers there",
                    hint="explain the whole pipeline, with its encoder, rather than its last step.",
                )
        numbers = [
            np.append(c.typed_levels(), np.nan)[c.values] if c.is_coded else c.values
            for c in columns
        ]
        return Rows(
            codes=np.column_stack(numbers).astype(np.float64),
            columns=columns,
            labels=label_rows(data, len(columns[0])),
            weights=data.weights if isinstance(data, Table) else None,
            source=data.source if isinstance(data, Table) else "",
        )

    groups = np.arange(len(players))
    reference = np.zeros(len(players))
    return _additive(players, score, type(model).__name__, read, groups, reference)


def _of_sheets(model: Any, score: Score, data: Any) -> AdditiveGame:
    """Take a pipeline that ends in a linear model, with whatever steps come before it."""
    if data is None:
        raise InputError(f"{_name(model)} needs a background", hint="pass background=data.")
    names = getattr(model, "feature_names_in_", None)
    players = default_names(model.n_features_in_) if names is None else tuple(map(str, names))
    wanted = None if names is None else players
    background = sheet_of(as_data(data), wanted)
    reference = background.take(slice(0, 1))
    constant = score.of(reference.native())[0]

    def terms(sheet: Sheet) -> Floats:
        found = np.zeros((len(sheet), len(players), len(constant)))
        for k in range(len(players)):
            held = sheet.held(reference, k)  # type: ignore[arg-type]
            found[:, k] = score.of(held.native()) - constant
        return found

    _check_additive(model, score, terms, background, constant)

    def read(data: Any) -> Rows:
        data = as_data(data)
        sheet = sheet_of(data, wanted)
        return Rows(
            codes=terms(sheet).reshape(len(sheet), len(players) * len(constant)),
            columns=user_columns(data, players, by_position=names is None),
            labels=label_rows(data, len(sheet)),
            weights=data.weights if isinstance(data, Table) else None,
            source=data.source if isinstance(data, Table) else "",
        )

    return AdditiveGame(
        columns=players,
        groups=np.repeat(np.arange(len(players)), len(constant)),
        outputs=score.outputs,
        unit=score.unit,
        is_step=False,
        kind=_name(model),
        reader=read,
        constant=constant,
    )


def _check_additive(
    model: Any,
    score: Score,
    terms: Callable[[Sheet], Floats],
    background: Sheet,
    constant: Floats,
) -> None:
    """Refuse steps that mix columns: rows put together from several rows give them away."""
    generator = np.random.default_rng(0)
    sheet = background.take(slice(0, _ROWS_CHECKED))
    n_columns = model.n_features_in_
    index = np.column_stack([generator.permutation(len(sheet)) for _ in range(n_columns)])
    mixed = sheet.shuffled(index)
    parts = terms(mixed)
    direct = score.of(mixed.native())
    size = np.abs(direct).max(initial=0) + np.abs(parts).sum(axis=1).max(initial=0)
    if not np.allclose(constant + parts.sum(axis=1), direct, rtol=0, atol=1e-9 * (1 + size)):
        raise InputError(
            f"{_name(model)} is not a sum over its columns: a step before the last mixes them",
            hint=f"these can be taken apart exactly: {EXPLAINED}.",
        )
