"""The game of an explainable boosting machine: tables of one and two columns, added up."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood.explanation.games.game import Reader
from clearwood.explanation.games.terms import Term, TermsGame, as_places, sum_of
from clearwood.explanation.rows.supported import NotDecomposableError
from clearwood.fitted import Unit

__all__ = ["ebm_game", "is_ebm"]

# Rows on which the tables are compared with the machine's own sum.
_ROWS_CHECKED = 256


def is_ebm(model: Any) -> bool:
    """Whether a model is an explainable boosting machine."""
    return any(
        base.__name__ == "EBMModel" and base.__module__.startswith("interpret.")
        for base in type(model).__mro__
    )


def ebm_game(
    model: Any,
    players: tuple[str, ...],
    groups: NDArray[np.intp],
    classes: NDArray[Any] | None,
    kind: str,
    reader: Reader,
) -> TermsGame:
    """Take a fitted machine apart; ``groups`` has the player of each of its columns."""
    if max(map(len, model.term_features_), default=1) > 2:
        raise NotDecomposableError(
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
    names = ("prediction",) if classes is None else tuple(map(str, classes))
    return TermsGame(
        columns=players,
        groups=np.array([groups[feature] for feature, _ in places], np.intp),
        outputs=names if len(names) == n_outputs else names[1:],
        unit=Unit.before(model.link_),
        is_step=True,
        kind=kind,
        reader=reader,
        places=_Bins(model, tuple(places), tuple(terms), constant),
        terms=tuple(terms),
        constant=constant,
    )


@dataclass(frozen=True, eq=False)
class _Bins:
    """Finds the bin of each value, and checks that the tables give the machine's own sum."""

    model: Any
    axes: tuple[tuple[int, int], ...]
    terms: tuple[Term, ...]
    constant: Floats

    def __call__(self, matrix: Floats) -> Floats:
        codes = np.empty((len(matrix), len(self.axes)))
        for k, (feature, size) in enumerate(self.axes):
            codes[:, k] = as_places(matrix[:, feature], _bins(self.model, feature, size))
        self._check(matrix[:_ROWS_CHECKED], codes[:_ROWS_CHECKED])
        return codes

    def _check(self, matrix: Floats, codes: Floats) -> None:
        if not len(matrix):
            return
        own = np.asarray(self.model.eval_terms(matrix)).sum(axis=1) + self.model.intercept_
        total = sum_of(self.terms, self.constant, codes)
        if not np.allclose(own.reshape(len(matrix), -1), total, rtol=1e-9, atol=1e-9):
            raise NotDecomposableError(
                "the tables of the explainable boosting machine do not add up to its prediction",
                hint="this version of interpret stores them differently; "
                "explanations of it are sampled.",
            )


def _axes(model: Any) -> list[tuple[int, int]]:
    """List each column with the number of columns of the terms it is in: pairs have wider bins."""
    return sorted({(f, len(features)) for features in model.term_features_ for f in features})


def _bins(model: Any, feature: int, size: int) -> Any:
    levels = model.bins_[feature]
    return levels[min(len(levels), size) - 1]
