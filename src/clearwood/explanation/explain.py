"""A decomposition of any model: exact where it can be, sampled where not."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.explanation import Decomposition, NotTakenApartError
from clearwood.explanation.adapter.perturbed import take_rows
from clearwood.explanation.adapter.predictor import Predictor
from clearwood.explanation.adapter.rows import Rows, as_data, label_rows
from clearwood.explanation.adapter.stack import stacked
from clearwood.explanation.decomposition import exact as exact_decomposition
from clearwood.explanation.decomposition.exact import decomposition_of
from clearwood.explanation.games.coalitions import Interventional
from clearwood.explanation.games.game import Step, checked_weights
from clearwood.explanation.games.sampled import SampledGame
from clearwood.explanation.games.screening import interacting_columns
from clearwood.explanation.shapley.estimate import Stopping
from clearwood.explanation.shapley.permutations import by_permutations
from clearwood.explanation.shapley.sampled import asked_on
from clearwood.explanation.shapley.subsets import by_subsets
from clearwood.table import Table

__all__ = ["explain"]

Floats = NDArray[np.float64]

#: Up to this many columns Shapley values ask about all subsets.
_FEW_COLUMNS = 8
_PRECISION = 0.02
_MOST_EVALUATIONS = 200_000
_BACKGROUND = 200
#: Evaluations of the model that measuring the components may take, unless the user says more.
_MEASURING = 250_000
#: Seconds in which the speed of the model is measured, where there is a time budget.
_TRIAL = 0.05


def explain(
    model: Any,
    data: Any,
    *,
    max_order: int | None = 2,
    scale: str = "raw",
    output: Any = None,
    weights: Any = None,
    n_background: int | None = None,
    time_budget: float | None = None,
    exact: bool = True,
    seed: int = 0,
    n_jobs: int = 1,
) -> Decomposition:
    """Take a model's prediction apart into functions of few columns.

    Exactly, over all rows, for trees and additive models (`decomposition.exact`). Any other
    model is asked: every component is then an average over rows drawn from the data, and comes with
    its standard error; so do shares of the variance. What lies beyond ``max_order`` is the
    remainder; so are, of models with more than 15 columns that have to be asked, interactions of
    columns that interact less than the 15 that do most.

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows.
    data
        The background: a table, a data frame or an array.
    max_order
        The most columns a component has; None for every order, where the model is taken apart
        exactly.
    scale
        "raw": what the model adds up, before any link; where it adds up nothing, its prediction or
        the probabilities of classes. Sampled components take "probability" and "margin" too.
    output
        The class, or the name of the output, to explain.
    weights
        Weights of the background rows; a table's own weight column when None.
    n_background
        Rows that are drawn where the model has to be asked; 200 when None. A number asks for
        importance to be measured at all of them, over all of them; by default it takes as many as
        250,000 evaluations of the model allow.
    time_budget
        Seconds that measuring the importance may take, where the model has to be asked: fewer rows
        are then used, and the standard errors are larger.
    exact
        Whether to take the model apart exactly where that can be done. Forests of millions of
        leaves take hours; asking them takes seconds.
    seed
        Fixes the draw.
    n_jobs
        Threads, where the model is taken apart exactly.

    Returns
    -------
    Decomposition

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> why = explain(lambda X: X[:, 0] + X[:, 1] * X[:, 2], X)
    >>> parts = why.values(X[:2])
    >>> bool((parts.standard_errors > 0).any()), bool(abs(parts.remainder).max() < 1e-9)
    (True, True)
    """
    if exact:
        try:
            return exact_decomposition.explain(
                model,
                data,
                max_order=max_order,
                scale=scale,
                output=output,
                weights=weights,
                n_jobs=n_jobs,
            )
        except NotTakenApartError:
            pass  # the model is sound, and can be asked
    if n_background is not None and n_background < 2:
        raise InputError(f"n_background is {n_background}; it must be at least 2")
    if time_budget is not None and not time_budget > 0:
        raise InputError(f"time_budget is {time_budget!r} seconds; it must be above 0")
    if max_order is None or max_order > 3:
        raise InputError(
            f"max_order={max_order} would ask the model about too many coalitions",
            hint="sampled decompositions go up to max_order=3.",
        )
    data = as_data(data)
    own = data.weights if isinstance(data, Table) else None
    n_rows = len(data)
    checked = checked_weights(own if weights is None else weights, n_rows)
    wanted = min(n_background or _BACKGROUND, n_rows)
    chosen = np.arange(n_rows)
    if wanted < n_rows:
        chosen = np.sort(np.random.default_rng(seed).choice(n_rows, wanted, replace=False))
    checked = None if checked is None else checked_weights(checked[chosen], wanted)
    store = _Store(model, take_rows(data, chosen), output, scale, n_jobs, seed)
    allowance = None if n_background else _MEASURING
    if time_budget is not None:
        allowance = int(min(allowance or np.inf, time_budget * store.rate()))
    game = store.game(n_rows, allowance, max_order)
    notes = [f"sampled: averages over {wanted:,} of the {n_rows:,} rows, with standard errors"]
    if max_order > 1 and len(game.interacting) < len(game.columns):
        notes.append(
            f"interactions are looked for among the {len(game.interacting)} of "
            f"{len(game.columns)} columns that interact most; the others' are in the remainder"
        )
    return decomposition_of(
        game,
        store.first(data, chosen),
        checked,
        notes=tuple(notes),
        max_order=max_order,
        scale=scale,
        n_jobs=n_jobs,
    )


@dataclass
class _Store:
    """The drawn rows, then those read last, where the model can be asked about both."""

    model: Any
    background: Any
    output: Any
    scale: str
    n_jobs: int
    seed: int

    def __post_init__(self) -> None:
        data, n_twice = stacked(self.model, self.background, self.background)
        self.behind = take_rows(data, np.arange(n_twice, 2 * n_twice))
        self.n_behind = n_twice
        self.predictor = self._asked(self.behind)

    def _asked(self, data: Any) -> Predictor:
        return asked_on(self.model, data, self.output, self.scale, self.n_jobs)

    def first(self, data: Any, chosen: NDArray[np.intp]) -> Rows:
        """Give the drawn rows."""
        rows = self._rows(slice(0, self.n_behind))
        return replace(rows, labels=label_rows(data, len(data))[chosen])

    def read(self, data: Any) -> Rows:
        """Keep the user's rows after the drawn ones, in place of those read before."""
        both, n_new = stacked(self.model, data, self.behind)
        order = np.concatenate([np.arange(n_new, n_new + self.n_behind), np.arange(n_new)])
        self.predictor = self._asked(take_rows(both, order))
        rows = self._rows(slice(self.n_behind, self.n_behind + n_new))
        return replace(rows, labels=label_rows(data, n_new))

    def _rows(self, part: slice) -> Rows:
        positions = np.arange(part.start, part.stop, dtype=np.float64)
        columns = tuple(column.take(part) for column in self.predictor.columns)
        codes = np.repeat(positions[:, None], len(columns), axis=1)
        return Rows(codes=codes, columns=columns, labels=np.arange(len(positions)))

    def ask(self, positions: NDArray[np.intp]) -> Floats:
        """Predict rows put together column by column."""
        held = {k: positions[:, k] for k in range(1, positions.shape[1])}
        return self.predictor.predict(positions[:, 0], held)

    def share(
        self, positions: NDArray[np.intp], weights: Floats, step: Step | None
    ) -> tuple[Floats, Floats]:
        """Estimate Shapley values of rows over the drawn rows."""
        n_columns = positions.shape[1]
        everything = self.predictor.predict(np.arange(len(self.predictor)))
        game = Interventional(
            predictor=self.predictor,
            n_rows=0,
            members=tuple((k,) for k in range(n_columns)),
            weights=weights,
            chosen=np.arange(self.n_behind),
            full=everything,
            behind=everything[: self.n_behind],
        )
        stopping = Stopping(_PRECISION, _MOST_EVALUATIONS)
        found = []
        for at, row in enumerate(positions[:, 0]):
            if n_columns <= _FEW_COLUMNS:
                found.append(by_subsets(game, int(row), stopping, _silent))
            else:
                generator = np.random.default_rng([self.seed, at])
                found.append(by_permutations(game, int(row), stopping, _silent, generator))
            if step is not None:
                step(1)
        shape = (len(positions), n_columns, everything.shape[1])
        values = np.array([one.values for one in found]).reshape(shape)
        return values, np.array([one.errors for one in found]).reshape(shape)

    def rate(self) -> float:
        """Give the evaluations of the model in a second."""
        started = time.perf_counter()
        n_asked = 0
        while time.perf_counter() - started < _TRIAL:
            self.predictor.predict(np.arange(self.n_behind))
            n_asked += self.n_behind
        return n_asked / (time.perf_counter() - started)

    def game(self, n_rows: int, allowance: int | None, max_order: int) -> SampledGame:
        """Give the game that the columns play."""
        names = self.predictor.names
        interacting = tuple(range(len(names)))
        if max_order > 1:
            interacting = interacting_columns(self.predictor, self.n_behind, self.seed)
        return SampledGame(
            columns=names,
            groups=np.arange(len(names)),
            outputs=self.predictor.outputs,
            unit=self.predictor.unit,
            is_step=self.predictor.is_step,
            kind=self.predictor.kind,
            reader=self.read,
            ask=self.ask,
            share=self.share,
            n_rows=n_rows,
            interacting=interacting,
            allowance=allowance,
            seed=self.seed,
        )


def _silent(n: int = 0, *, note: str = "") -> None:
    """Show nothing: the rows are counted outside."""
