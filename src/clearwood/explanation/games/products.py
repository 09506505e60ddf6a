"""The game of a sum of products of functions of single columns: splines, tensors, hinges, lines.

A term is Σ C_{k…l} b_k(x_i) … c_l(x_j) with one coefficient for each choice of functions. A
coalition U of its columns S has the value C · b_U(x_U) · E[b_{S∖U}(X_{S∖U})], with the joint mean
over the columns outside U, and the component of T ⊆ S is the sum of these values over U ⊆ T with
the sign (−1)^{|T∖U|} (Hiabu 2024, corollary 7.4.3). Nothing else has to be averaged, so the
decomposition is exact, and once the means are known its cost does not depend on the background.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import Step, silent
from clearwood.explanation.games.additive import AdditiveGame
from clearwood.explanation.games.game import (
    BoundGame,
    Counts,
    Game,
    GameValues,
    Players,
    shared_out,
)
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.models import Basis, ProductTerm, SumOfProducts

__all__ = ["BoundProducts", "ProductGame", "as_additive", "subsets"]

# Cells of an array of rows by functions, or of rows by components, that is made at a time.
_CELLS_PER_BLOCK = 4_000_000


def subsets(players: Sequence[int], most: int | None = None) -> Iterator[Players]:
    """List the sets of one player or more, up to ``most`` players, small ones first.

    Examples
    --------
    >>> list(subsets((1, 4, 6), 2))
    [(1,), (4,), (6,), (1, 4), (1, 6), (4, 6)]
    """
    most = len(players) if most is None else min(most, len(players))
    return (chosen for size in range(1, most + 1) for chosen in combinations(players, size))


@dataclass(frozen=True, eq=False)
class _Factor:
    """Functions of one player: the products of the functions of its columns."""

    columns: tuple[int, ...]
    bases: tuple[Basis, ...]

    def __call__(self, codes: Floats, known: dict[tuple[int, int], Floats]) -> Floats:
        """Evaluate them, (rows, functions); those of a column are kept in ``known``."""
        result: Floats | None = None
        for column, basis in zip(self.columns, self.bases, strict=True):
            key = column, id(basis)
            if key not in known:
                known[key] = np.asarray(basis(codes[:, column]), np.float64)
            result = known[key] if result is None else _crossed(result, known[key])
        assert result is not None
        return result


@dataclass(frozen=True, eq=False)
class _Product:
    """A term in which every player has one axis of the coefficients; the last is of outputs."""

    factors: Mapping[int, _Factor]
    coefficients: Floats

    @classmethod
    def of(cls, term: ProductTerm, owner: Sequence[int]) -> "_Product":
        """Join the axes of columns that belong to the same player."""
        players = sorted(set(owner))
        axes = {p: [k for k, own in enumerate(owner) if own == p] for p in players}
        order = [k for player in players for k in axes[player]]
        sizes = np.shape(term.coefficients)
        joined = [int(np.prod([sizes[k] for k in axes[player]])) for player in players]
        return cls(
            {
                player: _Factor(
                    tuple(term.columns[k] for k in axes[player]),
                    tuple(term.bases[k] for k in axes[player]),
                )
                for player in players
            },
            np.transpose(term.coefficients, [*order, len(order)]).reshape(*joined, sizes[-1]),
        )

    @property
    def players(self) -> Players:
        return tuple(self.factors)

    def __call__(self, codes: Floats, known: dict[tuple[int, int], Floats]) -> Floats:
        """Compute what the term adds to rows, of shape (rows, outputs)."""
        first, *others = (factor(codes, known) for factor in self.factors.values())
        total = np.tensordot(first, self.coefficients, (1, 0))
        for values in others:
            total = np.einsum("nk,nk...->n...", values, total)
        return np.asarray(total)

    def averaged(self, means: Mapping[Players, Floats]) -> "dict[Players, _Product]":
        """Average out some of the players, in every way; the last result has none left."""
        result = {self.players: self}
        axis = {player: k for k, player in enumerate(self.players)}
        for gone in subsets(self.players):
            kept = tuple(player for player in self.players if player not in gone)
            over = tuple(range(len(gone)))
            coefficients = np.tensordot(
                means[gone], self.coefficients, (over, [axis[player] for player in gone])
            )
            result[kept] = _Product({k: self.factors[k] for k in kept}, coefficients)
        return result


@dataclass(frozen=True, eq=False, kw_only=True)
class ProductGame(Game):
    """A sum of products; codes are the columns that the products are functions of.

    Parameters
    ----------
    products
        The constant and the terms. Several columns of a term may belong to one player; their
        product is then a part of the effect of that player.
    """

    products: SumOfProducts

    @cached_property
    def terms(self) -> tuple[_Product, ...]:
        """The terms by player."""
        return tuple(
            _Product.of(term, [int(self.groups[column]) for column in term.columns])
            for term in self.products.terms
        )

    def predict(self, rows: EncodedRows, *, n_jobs: int = 1) -> Floats:
        del n_jobs
        return self.products(rows.codes)

    @property
    def order(self) -> int:
        return max((len(term.players) for term in self.terms), default=0)

    def sets(self, max_order: int) -> list[Players]:
        result = {players for term in self.terms for players in subsets(term.players, max_order)}
        return sorted(result, key=lambda players: (len(players), players))

    def count(self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1) -> Counts:
        del n_jobs
        weight = np.ones(len(rows)) if weights is None else weights
        sums = _joint_sums(self.terms, rows.codes, weight)
        return {
            "total": np.asarray(weight.sum()),
            **{
                _key(k, players): np.asarray(values)
                for k, own in enumerate(sums)
                for players, values in own.items()
            },
        }

    def bound_to(self, counts: Counts, *, n_jobs: int = 1) -> "BoundProducts":
        means = [
            {
                players: np.asarray(counts[_key(k, players)] / counts["total"])
                for players in subsets(term.players)
            }
            for k, term in enumerate(self.terms)
        ]
        values = tuple(term.averaged(own) for term, own in zip(self.terms, means, strict=True))
        baseline = np.asarray(self.products.constant, np.float64) + sum(
            value[()].coefficients for value in values
        )
        return BoundProducts(game=self, baseline=baseline, n_jobs=n_jobs, values=values)


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundProducts(BoundGame):
    """A sum of products with the values of the coalitions of each term over a background."""

    game: ProductGame
    values: tuple[dict[Players, _Product], ...]

    def components(
        self, rows: EncodedRows, sets: Sequence[Players], *, step: Step = silent
    ) -> GameValues:
        result = np.zeros((len(rows), len(sets), len(self.baseline)))
        place = {players: k for k, players in enumerate(sets)}
        for part in _blocks(len(rows), len(sets) * len(self.baseline)):
            known: dict[tuple[int, int], Floats] = {}
            for coalitions in self.values:
                everyone = max(coalitions, key=len)
                touched = [t for t in subsets(everyone) if t in place]
                for players, value in coalitions.items():
                    above = [t for t in touched if set(players) <= set(t)]
                    if not above:
                        continue
                    numbers = value(rows.codes[part], known) if players else value.coefficients
                    for t in above:
                        sign = -1.0 if (len(t) - len(players)) % 2 else 1.0
                        result[part, place[t]] += sign * numbers
            step(part.stop - part.start)
        return GameValues(result)

    def shapley(
        self, rows: EncodedRows, *, interactions: bool = False, step: Step = silent
    ) -> GameValues:
        sets, n_players = self.game.sets(self.game.order), len(self.game.columns)
        shared = []
        for part in _blocks(len(rows), len(sets) * len(self.baseline)):
            parts = self.components(rows.with_codes(rows.codes[part]), sets, step=step).values
            shared.append(shared_out(parts, sets, n_players, interactions=interactions))
        pairs = [own.interactions for own in shared if own.interactions is not None]
        return GameValues(
            np.concatenate([own.values for own in shared]),
            interactions=np.concatenate(pairs) if interactions else None,
        )

    def dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        constant = np.asarray(self.game.products.constant, np.float64)
        total = np.repeat(constant[None, :], len(rows), axis=0)
        for part in _blocks(len(rows), len(self.baseline)):
            known: dict[tuple[int, int], Floats] = {}
            for coalitions in self.values:
                inside = tuple(k for k in max(coalitions, key=len) if k in players)
                value = coalitions[inside]
                total[part] += value(rows.codes[part], known) if inside else value.coefficients
        return GameValues(total)


@dataclass(frozen=True, eq=False)
class _PlayersAdd:
    """What each player adds to a score in which no two of them interact."""

    game: ProductGame

    def of(self, matrix: Floats) -> Floats:
        """Compute (rows, players × outputs), outputs changing fastest."""
        n_outputs = len(self.game.outputs)
        total = np.zeros((len(matrix), len(self.game.columns), n_outputs))
        known: dict[tuple[int, int], Floats] = {}
        for term in self.game.terms:
            total[:, term.players[0]] += term(matrix, known)
        return total.reshape(len(matrix), -1)


def as_additive(game: Game) -> AdditiveGame | None:
    """Return a game without interactions as a sum over its columns; None for other games."""
    if isinstance(game, AdditiveGame):
        return game
    if not isinstance(game, ProductGame) or game.order > 1 or game.grouping is not None:
        return None
    return AdditiveGame(
        columns=game.columns,
        groups=np.repeat(np.arange(len(game.columns)), len(game.outputs)),
        outputs=game.outputs,
        unit=game.unit,
        is_step=game.is_step,
        kind=game.kind,
        reader=game.reader,
        constant=np.asarray(game.products.constant, np.float64),
        adds=_PlayersAdd(game),
    )


def _key(term: int, players: Players) -> str:
    """Name the sums of a term over a set of its players."""
    return f"{term}: {' '.join(map(str, players))}"


def _joint_sums(
    terms: Sequence[_Product], codes: Floats, weight: Floats
) -> list[dict[Players, Floats]]:
    """Add up products of the functions of all sets of players of each term."""
    result: list[dict[Players, Floats]] = [{} for _ in terms]
    widest = max((term.coefficients[..., 0].size for term in terms), default=1)
    for part in _blocks(len(codes), widest):
        known: dict[tuple[int, int], Floats] = {}
        for term, own in zip(terms, result, strict=True):
            functions = {p: factor(codes[part], known) for p, factor in term.factors.items()}
            for players in subsets(term.players):
                total = _sum_of_products([functions[player] for player in players], weight[part])
                own[players] = own.get(players, 0.0) + total
    return result


def _sum_of_products(functions: Sequence[Floats], weight: Floats) -> Floats:
    """Add up products of functions, each (rows, own number), with an axis for each."""
    *first, last = functions
    shape = [one.shape[1] for one in functions]
    if not first:
        return np.asarray(weight @ last)
    crossed = first[0]
    for values in first[1:]:
        crossed = _crossed(crossed, values)
    return np.asarray((crossed.T @ (weight[:, None] * last)).reshape(shape))


def _crossed(one: Floats, other: Floats) -> Floats:
    """Multiply each function of one with each of the other, row by row."""
    return np.asarray((one[:, :, None] * other[:, None, :]).reshape(len(one), -1))


def _blocks(n_rows: int, width: int) -> list[slice]:
    """Divide rows so that an array of rows by ``width`` cells stays small; at least one block."""
    size = max(1024, _CELLS_PER_BLOCK // max(width, 1))
    return [slice(at, min(at + size, n_rows)) for at in range(0, max(n_rows, 1), size)]
