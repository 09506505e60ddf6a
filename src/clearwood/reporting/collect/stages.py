"""Steps of the work: each timed, shown, and allowed to fail without ending the page."""

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from clearwood._shared.clock import Clock
from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood._shared.progress import Step as Shown
from clearwood._shared.progress import progress
from clearwood.reporting.collect.findings import Stage, Step

__all__ = ["Stages", "attempt"]

T = TypeVar("T")

#: Set to "raise", it lets faults end the page, as in the tests.
_FAULTS = "CLEARWOOD_FAULTS"


def attempt(
    work: Callable[[], T], *, expected: type[Exception] | tuple[()] = InputError
) -> tuple[T | None, Exception | None]:
    """Return the result of a part of a page, or the error that left it out.

    All that keeps an error from ending the page stands here. An error that is not expected is a
    fault of the library or of the model: with ``CLEARWOOD_FAULTS=raise`` in the environment it
    ends the page.

    Examples
    --------
    >>> attempt(lambda: 2 + 3)
    (5, None)
    """
    try:
        return work(), None
    except Exception as error:
        if not isinstance(error, expected) and os.environ.get(_FAULTS) == "raise":
            raise
        return None, error


@dataclass
class Stages:
    """Runs steps one after the other and records their times, failures and warnings."""

    #: Those that the bar counts, in their order; what is left out counts as done.
    plan: tuple[Step, ...] = ()
    #: Whether errors and warnings may be quoted: they may name values.
    quotes: bool = True
    done: list[Stage] = field(default_factory=list)
    failures: dict[Step, str] = field(default_factory=dict)
    warnings: dict[Step, tuple[str, ...]] = field(default_factory=dict)
    _shown: Shown | None = None
    _counted: int = 0

    @contextmanager
    def shown(self, title: str) -> Iterator["Stages"]:
        """Show the progress while the steps run."""
        with progress(title, total=len(self.plan)) as step:
            self._shown = step
            yield self
            self._count(len(self.plan))
        self._shown = None

    def run(self, step: Step, work: Callable[[], T]) -> T | None:
        """Do one step and return its result; None if it failed, with the reason in `failures`.

        Whatever the work raises is recorded, except the user's own Ctrl-C.
        """
        if step in self.plan:
            self._count(self.plan.index(step), note=str(step))
        clock = Clock()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result, error = attempt(work)
        if error is not None:
            name = type(error).__name__
            reason = str(error) if isinstance(error, InputError) else f"{name}: {error}"
            withheld = f"{name}; the message is left out, because it may contain values"
            self.failures[step] = reason if self.quotes else withheld
        self.done.append(Stage(step, clock.passed))
        messages = dict.fromkeys(
            str(one.message) for one in caught if issubclass(one.category, ClearwoodWarning)
        )
        if messages and self.quotes:
            self.warnings[step] = tuple(messages)
        return result

    def skip(self, step: Step, reason: str) -> None:
        """Leave a step out, with a reason that the page gives."""
        self.failures[step] = reason

    def _count(self, done: int, *, note: str = "") -> None:
        if self._shown is not None:
            self._shown(done - self._counted, note=note)
            self._counted = done
