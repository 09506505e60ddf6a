"""The game of a sum of models: whatever is linear in the model adds up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.progress import Step, silent
from clearwood.explanation.games.game import BoundGame, Counts, Game, GameValues, Players
from clearwood.explanation.games.trees import TreeGame
from clearwood.explanation.rows.rows import EncodedRows

__all__ = ["BoundGames", "SumGame", "leaves_of"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SumGame(Game):
    """A sum of games with the same columns, outputs and codes.

    Parameters
    ----------
    games
        The summands; each takes the model's own columns as codes.
    """

    games: tuple[Game, ...]

    def predict(self, rows: EncodedRows, *, n_jobs: int = 1) -> Floats:
        return np.asarray(sum(game.predict(rows, n_jobs=n_jobs) for game in self.games))

    @property
    def order(self) -> int:
        return max(game.order for game in self.games)

    def sets(self, max_order: int) -> list[Players]:
        result = {players for game in self.games for players in game.sets(max_order)}
        return sorted(result, key=lambda players: (len(players), players))

    def count(self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1) -> Counts:
        return {
            f"{k} {name}": counts
            for k, game in enumerate(self.games)
            for name, counts in game.count(rows, weights, n_jobs=n_jobs).items()
        }

    def add_counts(self, one: Counts, other: Counts) -> Counts:
        return {
            f"{k} {name}": counts
            for k, game in enumerate(self.games)
            for name, counts in game.add_counts(_of_game(one, k), _of_game(other, k)).items()
        }

    def bound_to(self, counts: Counts, *, n_jobs: int = 1) -> "BoundGames":
        bound = tuple(
            game.bound_to(_of_game(counts, k), n_jobs=n_jobs) for k, game in enumerate(self.games)
        )
        return self._bound(bound, n_jobs)

    def bind(self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1) -> "BoundGames":
        bound = tuple(game.bind(rows, weights, n_jobs=n_jobs) for game in self.games)
        return self._bound(bound, n_jobs)

    def _bound(self, bound: tuple[BoundGame, ...], n_jobs: int) -> "BoundGames":
        baseline = np.asarray(sum(one.baseline for one in bound))
        return BoundGames(game=self, baseline=baseline, n_jobs=n_jobs, parts=bound)


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundGames(BoundGame):
    """The summands, each over the same background."""

    game: SumGame
    parts: tuple[BoundGame, ...]

    def components(
        self, rows: EncodedRows, sets: Sequence[Players], *, step: Step = silent
    ) -> GameValues:
        return self._sum(len(rows), lambda part: part.components(rows, sets), step)

    def shapley(
        self, rows: EncodedRows, *, interactions: bool = False, step: Step = silent
    ) -> GameValues:
        return self._sum(
            len(rows), lambda part: part.shapley(rows, interactions=interactions), step
        )

    def dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        return self._sum(len(rows), lambda part: part.dependence(rows, players), silent)

    def _sum(self, n_rows: int, of: Callable[[BoundGame], GameValues], step: Step) -> GameValues:
        result = reduce(_added, (of(replace(part, n_jobs=self.n_jobs)) for part in self.parts))
        step(n_rows)
        return result


def _of_game(counts: Counts, k: int) -> Counts:
    """Return the counts of one of the summands."""
    start = f"{k} "
    return {
        name.removeprefix(start): value for name, value in counts.items() if name.startswith(start)
    }


def leaves_of(game: Game | None) -> int | None:
    """Count the leaves of the trees that a game sums; None where it sums none."""
    if isinstance(game, TreeGame):
        return game.forest.n_leaves
    counts = [leaves_of(one) for one in game.games] if isinstance(game, SumGame) else []
    return sum(n for n in counts if n is not None) if any(counts) else None


def _added(one: GameValues, other: GameValues) -> GameValues:
    """Add exact values."""
    pairs = one.interactions
    if pairs is not None and other.interactions is not None:
        pairs = pairs + other.interactions
    return GameValues(one.values + other.values, interactions=pairs)
