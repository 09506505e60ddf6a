"""What the reader of a benchmark should know about its fits, as fields and as a sentence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from clearwood._shared.errors import Option, Text, words
from clearwood._shared.numbers import number, percent
from clearwood._shared.results import Result
from clearwood.checks import REBALANCE, Level

if TYPE_CHECKING:
    from clearwood.benchmarking.diagnostics.two_ways import TwoWays

__all__ = ["Finding", "ended_early", "off_level"]

Kind = Literal[
    "stopped",
    "time limit",
    "failed fits",
    "failed trials",
    "edge",
    "raised",
    "identical rows",
    "repeated units",
    "trend",
    "level",
]


@dataclass(frozen=True)
class Finding(Result):
    """A warning of a benchmark.

    Parameters
    ----------
    kind
        "stopped" and "time limit": the run ended early, after `count` of `total` fits.
        "failed fits": `count` of `total` fits of a learner failed.
        "failed trials": so did `count` of the `total` configurations that tuning tried for it.
        "edge": in `count` of `total` folds the best value of a setting was at an end of its range.
        "raised": a learner raised the same warning in `count` of `total` fits.
        "identical rows": `count` of `total` rows have a twin, and the gain over the baseline falls
        from `gain` to `gain_together` where twins are kept together.
        "repeated units", "trend": so it does if rows of a unit are kept together, or if it is
        fitted to earlier rows than it is tested on; `two_ways` has more. `count` of `total` rows
        are compared.
    count, total
        How many, of how many.
    learner
        The learner; None if it is about the whole run.
    reason
        The most frequent error, or the warning, in the words of the learner's library.
    setting, side, bound
        Of an "edge": the setting, the end of its range, and the value there.
    gain, gain_together
        Of "identical rows", "repeated units" and "trend": shares of the baseline's risk that the
        learner removes.
    two_ways
        Of "repeated units" and "trend": the comparison.
    levels
        Of "level": observed / expected by learner, where the interval excludes 1: `count` of
        `total` learners.
    is_stored
        Whether the same call would resume a run that ended early.

    Examples
    --------
    >>> print(Finding("edge", 4, 5, learner="knn", setting="n_neighbors", side="high", bound=50))
    the best n_neighbors of knn is at the upper end of its range (50) in 4 of 5 folds; a wider range
    in space may do better
    """

    kind: Kind
    count: int
    total: int
    learner: str | None = None
    reason: str | None = None
    setting: str | None = None
    side: Literal["low", "high"] | None = None
    bound: float | None = None
    gain: float | None = None
    gain_together: float | None = None
    two_ways: "TwoWays | None" = None
    levels: Mapping[str, Level] = field(default_factory=dict)
    is_stored: bool = False
    _derived: ClassVar[tuple[str, ...]] = ("text",)

    @property
    def message(self) -> Text:
        """The sentence, with options that each front writes in its own spelling."""
        return _WRITERS[self.kind](self)

    @property
    def text(self) -> str:
        """The sentence, in Python's spelling."""
        return str(self.message)

    def __str__(self) -> str:
        return self.text


def ended_early(done: int, total: int, *, is_stopped: bool, is_stored: bool) -> list[Finding]:
    """Report that a run ended after some of its fits; nothing if all are done."""
    if done == total:
        return []
    return [Finding("stopped" if is_stopped else "time limit", done, total, is_stored=is_stored)]


def off_level(levels: Mapping[str, Level]) -> list[Finding]:
    """Report the learners whose predictions do not add up to what was observed."""
    off = {name: level for name, level in levels.items() if level.is_off}
    return [Finding("level", len(off), len(levels), levels=off)] if off else []


def _stopped(one: Finding) -> Text:
    return f"stopped: {_partial(one)}"


def _out_of_time(one: Finding) -> Text:
    return words("the time limit (", Option("time_limit"), f") is reached: {_partial(one)}")


def _partial(one: Finding) -> str:
    resume = "; the same call resumes the run" if one.is_stored else ""
    return f"{one.count} of {one.total} fits are done and the result is partial{resume}"


def _failed_fits(one: Finding) -> Text:
    return f"{one.learner} failed in {one.count} of {one.total} fits: {one.reason}"


def _failed_trials(one: Finding) -> Text:
    return (
        f"{one.count} of {one.total} configurations of {one.learner} could not be fitted, so "
        f"tuning had few to choose from: {one.reason}"
    )


def _edge(one: Finding) -> Text:
    end = "lower" if one.side == "low" else "upper"
    assert one.bound is not None
    return words(
        f"the best {one.setting} of {one.learner} is at the {end} end of its range "
        f"({number(one.bound)}) in {one.count} of {one.total} folds; a wider range in ",
        Option("space"),
        " may do better",
    )


def _raised(one: Finding) -> Text:
    fits = "" if one.total == 1 else f" ({one.count} of {one.total} fits)"
    return f"{one.learner}: {one.reason}{fits}"


def _identical_rows(one: Finding) -> Text:
    assert one.gain is not None
    assert one.gain_together is not None
    return words(
        f"{one.count:,} of {one.total:,} rows have the same features as another row: {one.learner} "
        f"reduces the baseline's risk by {percent(one.gain)}, but only by "
        f"{percent(one.gain_together)} if identical rows are kept in one fold, as ",
        Option("group", "identical rows"),
        " does; that is what to expect for people or things that are not in the table",
    )


def _two_ways(one: Finding) -> Text:
    assert one.two_ways is not None
    return one.two_ways.message


def _level(one: Finding) -> Text:
    said = "; ".join(f"{name}: {level.verdict}" for name, level in one.levels.items())
    return words(f"out of fold, {said}", REBALANCE)


_WRITERS: dict[Kind, Callable[[Finding], Text]] = {
    "stopped": _stopped,
    "time limit": _out_of_time,
    "failed fits": _failed_fits,
    "failed trials": _failed_trials,
    "edge": _edge,
    "raised": _raised,
    "identical rows": _identical_rows,
    "repeated units": _two_ways,
    "trend": _two_ways,
    "level": _level,
}
