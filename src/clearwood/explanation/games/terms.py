"""The game of a model that is a sum of tables, each of one or two columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.progress import Step, silent
from clearwood.explanation.games.game import (
    BoundGame,
    Counts,
    Game,
    GameValues,
    NotDecomposableError,
    Players,
    Reader,
    shared_out,
)
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.fitted import Unit

__all__ = ["BoundTerms", "TableTerm", "TermsGame", "as_places", "ebm_game", "is_ebm", "sum_of"]


@dataclass(frozen=True, eq=False)
class TableTerm:
    """One table of the sum.

    Parameters
    ----------
    players
        One or two players, rising.
    at
        The columns of the codes that give the place of a row in the table, one for each axis.
    owner
        The player of each axis.
    table
        What is added, of shape (one axis per code, outputs).
    """

    players: Players
    at: tuple[int, ...]
    owner: tuple[int, ...]
    table: Floats

    def of(self, codes: Floats) -> Floats:
        """Compute what the table adds to rows, of shape (rows, outputs)."""
        places = tuple(codes[:, column].astype(np.intp) for column in self.at)
        return np.asarray(self.table[places])


@dataclass(frozen=True, eq=False, kw_only=True)
class TermsGame(Game):
    """A sum of tables; codes are places in them.

    Parameters
    ----------
    places
        Finds places, (rows, axes), from the model's own columns.
    terms
        The tables.
    constant
        What they are added to, of shape (outputs,).
    """

    places: Callable[[Floats], Floats]
    terms: tuple[TableTerm, ...]
    constant: Floats

    def own_codes(self, rows: EncodedRows) -> EncodedRows:
        return rows.with_codes(self.places(rows.codes))

    def predict(self, rows: EncodedRows, *, n_jobs: int = 1) -> Floats:
        del n_jobs
        return sum_of(self.terms, self.constant, rows.codes)

    @property
    def order(self) -> int:
        return max((len(term.players) for term in self.terms), default=0)

    def sets(self, max_order: int) -> list[Players]:
        result = {term.players for term in self.terms if len(term.players) <= max_order}
        result |= {(player,) for term in self.terms for player in term.players if max_order}
        return sorted(result, key=lambda players: (len(players), players))

    def count(self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1) -> Counts:
        del n_jobs
        weight = np.ones(len(rows)) if weights is None else weights
        result = {
            "total": np.asarray(weight.sum()),
            "prediction": np.asarray(weight @ self.predict(rows)),
        }
        for k, term in enumerate(self.terms):
            result[f"{k} sum"] = np.asarray(weight @ term.of(rows.codes))
            if len(term.players) > 1:
                for axis, column in enumerate(term.at):
                    place = rows.codes[:, column].astype(np.intp)
                    size = term.table.shape[axis]
                    result[f"{k} axis {axis}"] = np.bincount(place, weight, size)
        return result

    def bound_to(self, counts: Counts, *, n_jobs: int = 1) -> "BoundTerms":
        parts = tuple(part for k, term in enumerate(self.terms) for part in _parts(term, counts, k))
        baseline = np.asarray(counts["prediction"] / counts["total"])
        return BoundTerms(game=self, baseline=baseline, n_jobs=n_jobs, parts=parts)


def sum_of(terms: Sequence[TableTerm], constant: Floats, codes: Floats) -> Floats:
    """Add up what tables give at places, of shape (rows, outputs)."""
    total = np.repeat(constant[None, :], len(codes), axis=0)
    for term in terms:
        total += term.of(codes)
    return total


def _parts(term: TableTerm, counts: Counts, k: int) -> list[TableTerm]:
    """Split a table into components over a background (Hiabu 2024, corollary 7.4.3)."""
    mean = counts[f"{k} sum"] / counts["total"]
    if len(term.players) == 1:
        return [TableTerm(term.players, term.at, term.owner, term.table - mean)]
    first, second = term.at
    down, across = (counts[f"{k} axis {axis}"] / counts["total"] for axis in (0, 1))
    one = np.tensordot(term.table, across, axes=(1, 0))
    other = np.tensordot(down, term.table, axes=(0, 0))
    joint = term.table - one[:, None] - other[None, :] + mean
    return [
        TableTerm((term.owner[0],), (first,), term.owner[:1], one - mean),
        TableTerm((term.owner[1],), (second,), term.owner[1:], other - mean),
        TableTerm(term.players, term.at, term.owner, joint),
    ]


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundTerms(BoundGame):
    """Tables made components of a background; those of the same players add up to one."""

    game: TermsGame
    parts: tuple[TableTerm, ...]

    def components(
        self, rows: EncodedRows, sets: Sequence[Players], *, step: Step = silent
    ) -> GameValues:
        values = np.zeros((len(rows), len(sets), len(self.baseline)))
        place = {players: k for k, players in enumerate(sets)}
        for part in self.parts:
            if part.players in place:
                values[:, place[part.players]] += part.of(rows.codes)
        step(len(rows))
        return GameValues(values)

    def shapley(
        self, rows: EncodedRows, *, interactions: bool = False, step: Step = silent
    ) -> GameValues:
        values = np.empty((len(rows), len(self.parts), len(self.baseline)))
        for k, part in enumerate(self.parts):
            values[:, k] = part.of(rows.codes)
        sets = [part.players for part in self.parts]
        step(len(rows))
        return shared_out(values, sets, len(self.game.columns), interactions=interactions)

    def dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        within = [part for part in self.parts if set(part.players) <= set(players)]
        return GameValues(sum_of(within, self.baseline, rows.codes))


def as_places(values: NDArray[Any], bins: Any) -> Index:
    """Return the bin of each value: 0 for missing, then bins in order, the last for unknown.

    Values are numbers with cut points as bins, or labels, None for missing, with their numbers.

    Examples
    --------
    >>> as_places(np.array([0.5, 1.0, np.nan]), np.array([1.0]))
    array([1, 2, 0])
    >>> as_places(np.array(["b", None, "z"], object), {"a": 1, "b": 2})
    array([2, 0, 3])
    """
    if isinstance(bins, dict):
        unknown = max(bins.values(), default=0) + 1
        places = [0 if _is_missing(v) else bins.get(_written(v), unknown) for v in values]
        return np.array(places, np.intp)
    numbers = values.astype(np.float64)
    return np.where(np.isnan(numbers), 0, np.digitize(numbers, bins) + 1)


def _written(value: Any) -> str:
    """Write a label: a code as a whole number."""
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


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
    # each column with the number of columns of the terms it is in: pairs have wider bins
    places = sorted({(f, len(features)) for features in model.term_features_ for f in features})
    column = {axis: k for k, axis in enumerate(places)}
    terms = []
    for features, scores in zip(model.term_features_, model.term_scores_, strict=True):
        at = tuple(column[feature, len(features)] for feature in features)
        owner = tuple(int(groups[feature]) for feature in features)
        shape = (*scores.shape[: len(features)], n_outputs)
        table = np.asarray(scores, np.float64).reshape(shape)
        terms.append(TableTerm(tuple(sorted(set(owner))), at, owner, table))
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
        places=_EbmBins(model, tuple(places), tuple(terms), constant),
        terms=tuple(terms),
        constant=constant,
    )


@dataclass(frozen=True, eq=False)
class _EbmBins:
    """Finds the bin of each value, and checks that the tables give the machine's own sum."""

    model: Any
    axes: tuple[tuple[int, int], ...]
    terms: tuple[TableTerm, ...]
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


def _bins(model: Any, feature: int, size: int) -> Any:
    levels = model.bins_[feature]
    return levels[min(len(levels), size) - 1]
