"""The game of any other model: components estimated by averages over drawn rows.

The component of a set S at x is Σ_{T ⊆ S} (−1)^{|S| − |T|} times the mean of f(x_T, b_{−T}) over
background rows b. All terms use the same rows, so each row gives one number, and the spread of
these numbers shows how far the mean can be off when the rows were drawn from a larger table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.progress import Step, progress, silent
from clearwood.explanation.games.game import BoundGame, Game, GameValues, Players
from clearwood.explanation.games.moments import ComponentMoments, crossed, variances
from clearwood.explanation.rows.predictor import Predictor
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.explanation.sampling.coalitions import by_subsets
from clearwood.explanation.sampling.permutations import by_permutations
from clearwood.explanation.sampling.value_functions import Interventional, Stopping

__all__ = ["BoundSample", "SampledGame", "interacting_columns"]

#: Columns whose pairs are all measured; of more, those that interact most.
MOST_INTERACTING = 15


def interacting_columns(predictor: Predictor, n_rows: int, seed: int) -> tuple[int, ...]:
    """Choose the columns among which interactions are looked for, rising.

    Up to 15 columns all of them. Of more, those whose change moves the prediction most
    differently in one row than in another: for rows x and b, the change of column k from b to x
    once in row b and once in row x. Without interactions both move the prediction alike, so the
    mean square of the difference is zero, whatever the main effect. It is measured on the
    predictor's first ``n_rows`` rows.

    Examples
    --------
    >>> from clearwood.explanation import Explanation
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = lambda X: X[:, 3] * X[:, 17] + X[:, 0]
    >>> chosen = interacting_columns(Explanation(model, X).predictor(), 100, seed=0)
    >>> len(chosen), {3, 17} <= set(chosen)
    (15, True)
    """
    n_columns = len(predictor.columns)
    if n_columns <= MOST_INTERACTING:
        return tuple(range(n_columns))
    here = np.random.default_rng(seed).permutation(n_rows)
    there = np.roll(here, 1)
    own, other = predictor.predict(here), predictor.predict(there)
    size = np.empty(n_columns)
    for k in range(n_columns):
        # the change of one column, in the one row and in the other
        within = own - predictor.predict(here, {k: there})
        elsewhere = predictor.predict(there, {k: here}) - other
        size[k] = ((within - elsewhere) ** 2).sum()
    best = np.argsort(-size, kind="stable")[:MOST_INTERACTING]
    return tuple(sorted(int(k) for k in best))


# Numbers that the predictions of one block of rows may fill.
_NUMBERS_PER_BLOCK = 4_000_000
# A variance cannot be estimated from fewer rows than this of either kind.
_FEWEST_ROWS = 20
# Up to this many columns Shapley values use all subsets; beyond, permutations.
_FEW_COLUMNS = 8
_PRECISION = 0.02
_MOST_EVALUATIONS = 200_000


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledGame(Game):
    """Any model; codes are positions of the rows that columns come from.

    The rows of a background come first among the rows of every predictor that the game reads, so
    positions of background rows mean the same in all of them.

    Parameters
    ----------
    n_rows
        How many rows the user has; the background is drawn from them.
    interacting
        The columns whose interactions are estimated; the others' are part of the remainder.
    allowance
        Evaluations of the model that measuring the components may take; None for as many as all
        drawn rows need.
    seed
        Fixes which drawn rows are used for what.
    """

    n_rows: int
    interacting: tuple[int, ...]
    allowance: int | None = None
    seed: int = 0

    @property
    def points(self) -> tuple[int, int]:
        return 40, 12

    def predict(self, rows: EncodedRows, *, n_jobs: int = 1) -> Floats:
        del n_jobs
        return evaluate(rows, rows.codes.astype(np.intp))

    @property
    def order(self) -> int:
        return len(self.columns)

    def sets(self, max_order: int) -> list[Players]:
        single: list[Players] = [(k,) for k in range(len(self.columns))]
        orders = range(2, max_order + 1)
        return single + [s for size in orders for s in combinations(self.interacting, size)]

    def bind(self, rows: EncodedRows, weights: Floats | None, *, n_jobs: int = 1) -> "BoundSample":
        share = np.ones(len(rows)) if weights is None else weights
        share = share / share.sum()
        predictions = self.predict(rows, n_jobs=n_jobs)
        return BoundSample(
            game=self,
            baseline=share @ predictions,
            n_jobs=n_jobs,
            background=rows,
            share=share,
            predictions=predictions,
        )


def positions_of(predictor: Predictor, part: slice) -> EncodedRows:
    """Return some rows of a predictor as rows of a sampled game."""
    positions = np.arange(part.start, part.stop, dtype=np.float64)
    columns = tuple(column.take(part) for column in predictor.columns)
    return EncodedRows(
        codes=np.repeat(positions[:, None], len(columns), axis=1),
        columns=columns,
        labels=np.arange(len(positions)),
        predictor=predictor,
    )


def evaluate(rows: EncodedRows, positions: Index) -> Floats:
    """Predict rows put together column by column from the rows of a predictor."""
    assert rows.predictor is not None
    held = {k: positions[:, k] for k in range(1, positions.shape[1])}
    return rows.predictor.predict(positions[:, 0], held)


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundSample(BoundGame):
    """A sampled game with its background.

    Parameters
    ----------
    background
        The drawn rows.
    share
        Their weights; they sum to one.
    predictions
        The prediction of each of them.
    """

    game: SampledGame
    background: EncodedRows
    share: Floats
    predictions: Floats

    @property
    def _positions(self) -> Index:
        return self.background.codes.astype(np.intp)

    def components(
        self, rows: EncodedRows, sets: Sequence[Players], *, step: Step = silent
    ) -> GameValues:
        parts = sorted({t for s in sets for t in _subsets(s) if t}, key=lambda t: (len(t), t))
        n_outputs = len(self.baseline)
        values = np.zeros((len(rows), len(sets), n_outputs))
        errors = np.zeros_like(values)
        per_row = len(self.share) * n_outputs * (len(parts) + 1)
        for part in _blocks(len(rows), max(1, _NUMBERS_PER_BLOCK // per_row)):
            here = rows.with_codes(rows.codes[part])
            value = {t: self._mixed(here, t, self._positions) for t in parts}
            value[()] = np.broadcast_to(self.predictions, (len(here), *self.predictions.shape))
            for at, players in enumerate(sets):
                each = sum((-1) ** (len(players) - len(t)) * value[t] for t in _subsets(players))
                values[part, at], errors[part, at] = self._averaged(np.asarray(each))
            step(len(here))
        return GameValues(values, errors)

    def _mixed(self, rows: EncodedRows, players: Players, background: Index) -> Floats:
        """Predict every row with every background row for the other columns."""
        held = rows.codes.astype(np.intp)
        n_rows, n_background = len(held), len(background)
        if len(players) == len(self.game.columns):
            whole = evaluate(rows, held)[:, None]
            return np.broadcast_to(whole, (n_rows, n_background, whole.shape[2]))
        mixed = np.tile(background, (n_rows, 1))
        columns = list(players)
        mixed[:, columns] = np.repeat(held[:, columns], n_background, axis=0)
        return evaluate(rows, mixed).reshape(n_rows, n_background, -1)

    def _averaged(self, each: Floats) -> tuple[Floats, Floats]:
        mean = np.einsum("b,rbo->ro", self.share, each)
        spread = np.einsum("b,rbo->ro", self.share**2, (each - mean[:, None]) ** 2)
        few = len(self.share) / max(len(self.share) - 1, 1)
        left = max(1 - len(self.share) / self.game.n_rows, 0.0)
        return mean, np.sqrt(few * spread * left)

    def sampled_moments(self, sets: Sequence[Players], kept: Players) -> ComponentMoments:
        parts = sorted({t for s in sets for t in _subsets(s) if t}, key=lambda t: (len(t), t))
        n_at, n_over = self._sizes(len(parts))
        cross = crossed(self.share, n_at, n_over, self.game.n_rows, self.game.seed)
        at = self.background.with_codes(self.background.codes[cross.at])
        over, nobody = self._positions[cross.over], self.predictions[cross.over]
        value: dict[Players, Floats] = {(): np.broadcast_to(nobody, (len(at), *nobody.shape))}
        with progress("measuring components", total=len(parts)) as step:
            for players in parts:
                value[players] = self._mixed(at, players, over)
                step(1, note=" × ".join(self.game.columns[k] for k in players))

        def component(players: Players) -> Floats:
            signs = ((-1) ** (len(players) - len(t)) * value[t] for t in _subsets(players))
            return np.asarray(sum(signs))

        whole = self._mixed(at, kept, over) - nobody

        def remainder() -> Floats:
            rest = whole.copy()
            for players in sets:
                rest -= component(players)
            # what rounding leaves of a sum that is complete
            rest[np.abs(rest) < 1e-12 * (1 + np.abs(self.predictions).max())] = 0.0
            return rest

        each = [partial(component, players) for players in sets]
        moments, replicates = variances([*each, remainder, lambda: whole], cross)
        if replicates is not None:
            replicates = replicates[:, :-1]
        return ComponentMoments(moments[:-2], moments[-2], moments[-1], replicates)

    def _sizes(self, n_parts: int) -> tuple[int, int]:
        """Say at how many rows components are measured, over how many."""
        n_drawn = len(self.share)
        cells = n_drawn**2 if self.game.allowance is None else self.game.allowance // n_parts
        if cells >= n_drawn**2 and (self.game.allowance is None or n_drawn == self.game.n_rows):
            return n_drawn, n_drawn
        if n_drawn < 2 * _FEWEST_ROWS:
            return n_drawn, n_drawn
        n_over = int(np.clip(np.sqrt(cells), _FEWEST_ROWS, n_drawn // 2))
        return int(np.clip(cells // n_over, _FEWEST_ROWS, n_drawn - n_over)), n_over

    def shapley(
        self, rows: EncodedRows, *, interactions: bool = False, step: Step = silent
    ) -> GameValues:
        if interactions:
            raise InputError(
                "pairwise Shapley interactions need a model with an exact decomposition",
                parameter="interactions",
                value=True,
                hint="the effect of two columns gives their interaction.",
            )
        predictor = rows.predictor
        assert predictor is not None
        n_columns, n_background = len(self.game.columns), len(self.share)
        everything = predictor.predict(np.arange(len(predictor)))
        value = Interventional(
            predictor=predictor,
            n_rows=0,
            members=tuple((k,) for k in range(n_columns)),
            weights=self.share,
            chosen=np.arange(n_background),
            predictions=everything,
            background=everything[:n_background],
        )
        stopping = Stopping(_PRECISION, _MOST_EVALUATIONS)
        estimates = []
        for at, row in enumerate(rows.codes[:, 0].astype(np.intp)):
            if n_columns <= _FEW_COLUMNS:
                estimates.append(by_subsets(value, int(row), stopping, silent))
            else:
                generator = np.random.default_rng([self.game.seed, at])
                estimates.append(by_permutations(value, int(row), stopping, silent, generator))
            step(1)
        shape = (len(rows), n_columns, everything.shape[1])
        return GameValues(
            np.array([one.values for one in estimates]).reshape(shape),
            np.array([one.errors for one in estimates]).reshape(shape),
        )

    def dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        if not players:
            empty = np.broadcast_to(self.baseline, (len(rows), len(self.baseline))).copy()
            return GameValues(empty, np.zeros_like(empty))
        block = max(1, _NUMBERS_PER_BLOCK // (len(self.share) * len(self.baseline)))
        parts = [
            self._averaged(self._mixed(rows.with_codes(rows.codes[part]), players, self._positions))
            for part in _blocks(len(rows), block)
        ]
        return GameValues(
            np.concatenate([values for values, _ in parts]),
            np.concatenate([errors for _, errors in parts]),
        )

    def few_dependence(self, rows: EncodedRows, players: Players) -> GameValues:
        return self.dependence(rows, players)


def _blocks(n_rows: int, size: int) -> list[slice]:
    return [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]


def _subsets(players: Players) -> list[Players]:
    return [t for size in range(len(players) + 1) for t in combinations(players, size)]
