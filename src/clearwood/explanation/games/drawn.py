"""A game over rows drawn from its background, where averages over all of them would take too long.

The drawn rows are divided at random into groups, and the game is bound to each. Whatever is a mean
over background rows (values of coalitions, components, Shapley values) is the mean of the groups'
values, and their spread shows how far that mean can be off; the more of the rows were drawn, the
less (Cochran 1977, sections 2.6 and 6.4).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import is_whole
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import bad_value
from clearwood._shared.progress import Step, progress, silent
from clearwood.explanation.games.game import BoundGame, Game, GameValues, Players
from clearwood.explanation.games.moments import GROUPS, ComponentMoments, Cross, variances
from clearwood.explanation.rows.rows import EncodedRows

__all__ = ["FEWEST_DRAWN", "BoundDraw", "bind_draw", "check_background_rows"]

#: Fewer drawn rows than this have no usable standard errors: two in each group.
FEWEST_DRAWN = 2 * GROUPS

# Rows at which components are measured, unless the numbers of all groups would fill the memory.
_ROWS_MEASURED = 1_000
_NUMBERS_MEASURED = 1 << 25


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundDraw(BoundGame):
    """A game with rows drawn from its background.

    Parameters
    ----------
    groups
        The game bound to each group of the drawn rows.
    share
        The weight of each group; they sum to one.
    n_drawn, n_rows
        How many rows were drawn, of how many.
    seed
        Fixed the draw.
    measured, measured_weights
        Rows drawn from the background at which variances of components are measured.
    """

    groups: tuple[BoundGame, ...]
    share: Floats
    n_drawn: int
    n_rows: int
    seed: int
    measured: EncodedRows
    measured_weights: Floats

    def components(
        self, rows: EncodedRows, sets: Sequence[Players], *, step: Step = silent
    ) -> GameValues:
        return self._mean(lambda part, step: part.components(rows, sets, step=step), step)

    def shapley(
        self, rows: EncodedRows, *, interactions: bool = False, step: Step = silent
    ) -> GameValues:
        return self._mean(
            lambda part, step: part.shapley(rows, interactions=interactions, step=step), step
        )

    def dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        return self._mean(lambda part, _: part.dependence(rows, players), silent)

    def few_dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        return self._mean(lambda part, _: part.few_dependence(rows, players), silent)

    def _mean(self, of: Callable[[BoundGame, Step], GameValues], step: Step) -> GameValues:
        """Average what the groups give; its standard error follows from their spread."""
        shared = _in_turns(step, len(self.groups))
        values: list[Floats] = []  # of the first group, and then sums over groups
        pairs: Floats | None = None
        for group, share in zip(self.groups, self.share, strict=True):
            result = of(replace(group, n_jobs=self.n_jobs), shared)
            if not values:
                values = [result.values, *(np.zeros_like(result.values) for _ in range(3))]
            # from the first group: squares of large numbers would leave rounding only
            apart = result.values - values[0]
            for k, power in enumerate((share, share**2, share**2 * apart), 1):
                values[k] += power * apart
            if result.interactions is not None:
                mine = share * result.interactions
                pairs = mine if pairs is None else pairs + mine
        first, mean, weighted, squares = values
        spread = squares - 2 * mean * weighted + mean**2 * float((self.share**2).sum())
        n_groups = len(self.groups)
        left = 1 - self.n_drawn / self.n_rows
        errors = np.sqrt(np.maximum(spread, 0.0) * left * n_groups / (n_groups - 1))
        return GameValues(first + mean, errors, pairs)

    # Variances

    def sampled_moments(self, sets: Sequence[Players], kept: Players) -> ComponentMoments:
        width = (len(sets) + 1) * len(self.groups) * len(self.baseline)
        most = int(np.clip(_NUMBERS_MEASURED // width, 1, len(self.measured)))
        at = self.measured.with_codes(self.measured.codes[:most])
        weights = self.measured_weights[:most]
        everyone = len(kept) == len(self.game.columns)
        predicted = self.game.predict(at, n_jobs=self.n_jobs)
        parts, whole = [], []
        with progress("measuring components", total=len(at) * len(self.groups)) as step:
            for group in self.groups:
                bound = replace(group, n_jobs=self.n_jobs)
                parts.append(bound.components(at, sets, step=step).values)
                mine = predicted if everyone else bound.dependence(at, kept).values
                whole.append(mine - bound.baseline)
        together = np.stack(whole, axis=1)

        def component(k: int) -> Floats:
            return np.stack([part[:, k] for part in parts], axis=1)

        def remainder() -> Floats:
            rest: Floats = together - np.stack([part.sum(axis=1) for part in parts], axis=1)
            # what rounding leaves of a sum that is complete
            rest[np.abs(rest) < 1e-12 * (1 + np.abs(predicted).max())] = 0.0
            return rest

        cross = Cross(
            at=np.arange(len(at)),
            over=np.arange(len(self.groups)),
            at_weights=weights / weights.sum(),
            over_weights=self.share,
            left=1 - self.n_drawn / self.n_rows,
            n_rows=self.n_rows,
        )
        each = [partial(component, k) for k in range(len(sets))]
        moments, replicates = variances([*each, remainder, lambda: together], cross)
        assert replicates is not None
        return ComponentMoments(moments[:-2], moments[-2], moments[-1], replicates[:, :-1])


def check_background_rows(n_background: Any) -> None:
    """Check how many rows of a background are wanted: a number, "all", or None."""
    if n_background is None or n_background == "all":
        return
    if is_whole(n_background) and n_background >= 1:
        return
    raise bad_value(
        "n_background", n_background, 'it must be a whole number of at least 1, or "all"'
    )


def bind_draw(
    game: Game,
    rows: EncodedRows,
    weights: Floats | None,
    n_drawn: int,
    *,
    n_rows: int | None = None,
    seed: int,
    n_jobs: int = 1,
) -> BoundDraw:
    """Bind a game to some of the rows of a background.

    Parameters
    ----------
    game
        The game.
    rows, weights
        The background, or a sample of it; rows without weight are not drawn.
    n_drawn
        How many rows are drawn.
    n_rows
        How many rows the whole background has, where ``rows`` are a sample of it.
    seed
        Fixes the draw.
    n_jobs
        Threads.
    """
    usable = np.arange(len(rows)) if weights is None else np.flatnonzero(weights)
    weight = np.ones(len(rows)) if weights is None else weights
    chosen = usable[draw_rows(len(usable), n_drawn, seed=seed)]
    generator = np.random.default_rng([seed, 1])
    order = generator.permutation(chosen)
    members = [np.sort(order[group::GROUPS]) for group in range(GROUPS)]
    # another draw, whose rows stand in for themselves no more often than among all rows
    at = usable[generator.permutation(len(usable))[:_ROWS_MEASURED]]
    groups = tuple(
        game.bind_few(rows.take(mine), None if weights is None else weight[mine], n_jobs=n_jobs)
        for mine in members
    )
    share = np.array([weight[mine].sum() for mine in members])
    share = share / share.sum()
    return BoundDraw(
        game=game,
        baseline=np.asarray(sum(s * one.baseline for s, one in zip(share, groups, strict=True))),
        n_jobs=n_jobs,
        groups=groups,
        share=share,
        n_drawn=len(chosen),
        n_rows=len(usable) if n_rows is None else n_rows,
        seed=seed,
        measured=rows.take(at),
        measured_weights=weight[at],
    )


def _in_turns(step: Step, times: int) -> Step:
    """Report rows that are worked on several times."""
    done = 0

    def report(n: int = 0, *, note: str = "") -> None:
        nonlocal done
        before, done = done, done + n
        step(done // times - before // times, note=note)

    return report
