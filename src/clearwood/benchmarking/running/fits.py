"""One learner fitted to chosen rows of a table and judged on others, again and again."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood._shared.progress import progress
from clearwood.benchmarking.running.contenders import Contender, contenders
from clearwood.benchmarking.running.run import Workers
from clearwood.benchmarking.running.work import in_words, judge, seed_of
from clearwood.benchmarking.target import checked_table, target_codes
from clearwood.losses import Loss, default_loss, find_loss
from clearwood.table import Table

__all__ = ["Candidate", "Judged", "candidate", "judge_all"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Judged:
    """Losses and predictions on the rows asked for."""

    losses: Array
    predictions: Array


@dataclass(frozen=True)
class Candidate:
    """A learner and the table it is to be fitted to.

    Parameters
    ----------
    table
        All rows.
    codes, classes
        The target; classes as positions in the sorted labels.
    loss
        What it is judged by.
    contender
        The learner.
    seed
        Fixes its random choices.
    """

    table: Table
    codes: NDArray[Any]
    classes: NDArray[Any] | None
    loss: Loss
    contender: Contender
    seed: int

    def judge(self, train: Rows, tests: Iterable[Rows]) -> list[Judged]:
        """Fit to some rows, which may repeat, and judge on others."""
        # the seed depends on the rows, not on when they come up, so workers cannot change results
        seed = seed_of(self.seed, self.contender.name, train.tobytes().hex())
        try:
            model = self.contender.build({}, seed=seed).fit(self.table.take(train))
        except InputError:
            raise
        except Exception as error:  # a library's own words, said of what
            raise InputError(
                f"learner {self.contender.name!r} cannot be fitted to {len(train)} of the "
                f"{self.table.n_rows} rows: {in_words(error)}",
                hint="ask for fits to more rows, or for another learner.",
            ) from error
        return [
            Judged(*judge(model, self.table.take(rows), self.codes[rows], self.loss, self.classes))
            for rows in tests
        ]


def candidate(data: Any, learner: Any, *, loss: str | None = None, seed: int = 0) -> Candidate:
    """Check the table, the loss and the learner, and put them together."""
    table = checked_table(data)
    assert table.task is not None
    judged = default_loss(table.task) if loss is None else find_loss(loss, task=table.task)
    made = contenders(learner, table, judged, seed=seed)
    if len(made) != 1:
        raise InputError(f"one learner is asked for, not {len(made)}", hint="give one at a time.")
    codes, classes = target_codes(table)
    return Candidate(table, codes, classes, judged, made[0], seed)


def judge_all(
    one: Candidate, work: Iterable[tuple[Rows, list[Rows]]], *, title: str, n_jobs: int | None
) -> list[list[Judged]]:
    """Fit and judge for each pair of training rows and lists of test rows, in order."""
    work = list(work)
    # as many at a time as keeps workers busy while the display moves
    batch = max(1, len(work) // 20)
    found: list[list[Judged]] = []
    with progress(title, total=len(work)) as step, Workers(n_jobs).spread() as spread:
        for start in range(0, len(work), batch):
            part = work[start : start + batch]
            found += spread(one.judge, part)
            step(len(part))
    return found
