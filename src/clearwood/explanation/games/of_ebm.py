"""The game of an explainable boosting machine: tables of one and two columns, added up."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.explanation.adapter.rows import Rows
from clearwood.explanation.adapter.supported import NotTakenApartError
from clearwood.explanation.games.game import Floats
from clearwood.explanation.games.terms import Term, TermsGame, as_places

__all__ = ["is_ebm", "of_ebm"]

_UNITS = {
    "identity": "prediction",
    "logit": "log odds",
    "mlogit": "score before softmax",
    "log": "log of the mean",
}
# Rows on which the tables are compared with the machine's own answer.
_ROWS_CHECKED = 256


def is_ebm(model: Any) -> bool:
    """Whether a model is an explainable boosting machine."""
    return any(
        base.__name__ == "EBMModel" and base.__module__.startswith("interpret.")
        for base in type(model).__mro__
    )


def of_ebm(
    model: Any,
    players: tuple[str, ...],
    groups: NDArray[np.intp],
    classes: NDArray[Any] | None,
    kind: str,
    read: Callable[[Any], Rows],
) -> TermsGame:
    """Take a machine apart.

    Parameters
    ----------
    model
        The fitted machine.
    players
        The user's columns.
    groups
        The player behind each of its columns.
    classes
        The labels, for classes.
    kind
        What it is, in words.
    read
        Turns the user's data into rows of the machine's columns.
    """
    if max(map(len, model.term_features_), default=1) > 2:
        raise NotTakenApartError(
            "the explainable boosting machine has terms of more than two columns",
            hint="fit it with interactions of pairs only.",
        )
    n_outputs = int(np.size(model.intercept_))
    places = _axes(model)
    column = {axis: k for k, axis in enumerate(places)}
    terms = []
    for features, scores in zip(model.term_features_, model.term_scores_, strict=True):
        at = tuple(column[feature, len(features)] for feature in features)
        owner = tuple(int(groups[feature]) for feature in features)
        shape = (*scores.shape[: len(features)], n_outputs)
        table = np.asarray(scores, np.float64).reshape(shape)
        terms.append(Term(tuple(sorted(set(owner))), at, owner, table))
    constant = np.reshape(np.asarray(model.intercept_, np.float64), -1)

    def read_places(data: Any) -> Rows:
        rows = read(data)
        codes = np.empty((len(rows), len(places)))
        for k, (feature, size) in enumerate(places):
            codes[:, k] = as_places(rows.codes[:, feature], _bins(model, feature, size))
        _check(model, rows.codes[:_ROWS_CHECKED], game, codes[:_ROWS_CHECKED])
        return replace(rows, codes=codes)

    names = ("prediction",) if classes is None else tuple(map(str, classes))
    game = TermsGame(
        columns=players,
        groups=np.array([groups[feature] for feature, _ in places], np.intp),
        outputs=names if len(names) == n_outputs else names[1:],
        unit=_UNITS.get(model.link_, f"score before {model.link_}"),
        is_step=True,
        kind=kind,
        reader=read_places,
        terms=tuple(terms),
        constant=constant,
    )
    return game


def _axes(model: Any) -> list[tuple[int, int]]:
    """Give each column with the number of columns of the terms it is in: pairs have wider bins."""
    return sorted({(f, len(features)) for features in model.term_features_ for f in features})


def _bins(model: Any, feature: int, size: int) -> Any:
    levels = model.bins_[feature]
    return levels[min(len(levels), size) - 1]


def _check(model: Any, matrix: Floats, game: TermsGame, codes: Floats) -> None:
    """Raise where the tables do not give the machine's own sum."""
    if not len(matrix):
        return
    own = np.asarray(model.eval_terms(matrix)).sum(axis=1) + model.intercept_
    if not np.allclose(own.reshape(len(matrix), -1), game.predict(codes), rtol=1e-9, atol=1e-9):
        raise NotTakenApartError(
            "the tables of the explainable boosting machine do not add up to its prediction",
            hint="this version of interpret keeps them in another way; "
            "cw.shapley(..., sample=1000) samples.",
        )
