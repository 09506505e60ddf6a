"""Steps of the work: each timed, shown, and allowed to fail without ending the page."""

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

__all__ = ["Stages"]

T = TypeVar("T")


@dataclass
class Stages:
    """Runs steps one after the other and records their times, failures and warnings."""

    #: How many there will be, for the bar.
    total: int
    #: Whether errors and warnings may be quoted: they may name values.
    quotes: bool = True
    done: list[Stage] = field(default_factory=list)
    failures: dict[Step, str] = field(default_factory=dict)
    warnings: dict[Step, tuple[str, ...]] = field(default_factory=dict)
    _shown: Shown | None = None

    @contextmanager
    def shown(self, title: str) -> Iterator["Stages"]:
        """Show the progress while the steps run."""
        with progress(title, total=self.total) as step:
            self._shown = step
            yield self
        self._shown = None

    def run(self, step: Step, work: Callable[[], T]) -> T | None:
        """Do one step and return its result; None if it failed, with the reason in `failures`.

        Whatever the work raises is recorded, except the user's own Ctrl-C.
        """
        if self._shown is not None:
            self._shown(0, note=str(step))
        clock = Clock()
        result: T | None = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = work()
            except Exception as error:
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
        self._count()
        return result

    def skip(self, step: Step, reason: str) -> None:
        """Leave a step out, with a reason that the page gives."""
        self.failures[step] = reason
        self._count()

    def leave_out(self) -> None:
        """Count a step that does not apply as done."""
        self._count()

    def _count(self) -> None:
        if self._shown is not None:
            self._shown(1)
