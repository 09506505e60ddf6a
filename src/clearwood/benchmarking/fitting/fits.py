"""One learner, fitted many times to some rows of a table and judged on others."""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count
from clearwood._shared.progress import progress, silent
from clearwood.benchmarking.fitting.contenders import Contender, contenders
from clearwood.benchmarking.fitting.target import checked_table, loss_for, target_codes
from clearwood.benchmarking.fitting.work import Context, Rows, in_words, judge, seed_of
from clearwood.benchmarking.fitting.workers import Workers

__all__ = ["Candidate", "Judged", "candidate", "judge_all"]


@dataclass(frozen=True)
class Judged:
    """Losses and predictions of test rows."""

    losses: Floats
    predictions: Floats


@dataclass(frozen=True)
class Candidate(Context):
    """A single learner with fixed settings, and the table it is fitted to."""

    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def contender(self) -> Contender:
        """The learner."""
        (only,) = self.contenders.values()
        return only

    def fit(self, train: Rows) -> Any:
        """Fit to some rows, which may be repeated."""
        # the seed depends on the rows, not on when they come up, so workers cannot change results
        seed = seed_of(self.seed, self.contender.name, train.tobytes().hex())
        try:
            return self.contender.build(self.settings, seed=seed).fit(self.table.take(train))
        except InputError:
            raise
        except Exception as error:  # of the learner's library
            raise InputError(
                f"learner {self.contender.name!r} cannot be fitted to {len(train):,} of the "
                f"{count(self.table.n_rows, 'row')}: {in_words(error)}",
                parameter="learner",
                value=self.contender.name,
                hint="use larger training sets, or another learner.",
            ) from error

    def judge(self, train: Rows, tests: Iterable[Rows]) -> list[Judged]:
        """Fit to some rows, which may be repeated, and judge on others."""
        model = self.fit(train)
        return [
            Judged(*judge(model, self.table.take(rows), self.codes[rows], self.loss, self.classes))
            for rows in tests
        ]


def candidate(learner: Any, data: Any, *, loss: str | None = None, seed: int = 0) -> Candidate:
    """Check the learner, the table and the loss, and put them together."""
    table = checked_table(data)
    judged_by = loss_for(table, loss)
    several = contenders(learner, table, judged_by, seed=seed)
    if len(several) != 1:
        raise InputError(
            f"there are {len(several)} learners, but one is needed",
            parameter="learner",
            hint="call it once for each.",
        )
    by_name = {one.name: one for one in several}
    return Candidate(table, *target_codes(table), judged_by, by_name, tuning=None, seed=seed)


def judge_all(
    one: Candidate,
    work: Iterable[tuple[Rows, list[Rows]]],
    *,
    title: str | None,
    n_jobs: int | None,
) -> list[list[Judged]]:
    """Fit and judge for each pair of training rows and lists of test rows, in order.

    Progress is shown under a title, if there is one.
    """
    work = list(work)
    # as many at a time as keeps workers busy while the display moves
    batch = max(1, len(work) // 20)
    results: list[list[Judged]] = []
    shown = nullcontext(silent) if title is None else progress(title, total=len(work))
    with shown as step, Workers(n_jobs).spread() as spread:
        for start in range(0, len(work), batch):
            part = work[start : start + batch]
            results += spread(one.judge, part)
            step(len(part))
    return results
