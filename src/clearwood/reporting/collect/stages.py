"""Stages of the work: each timed, shown, and allowed to fail without ending the page."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood._shared.progress import Step, progress
from clearwood.reporting.collect.findings import Stage

__all__ = ["Clock", "Stages"]

T = TypeVar("T")


@dataclass
class Stages:
    """Runs stages one after the other and keeps what is to be told of them.

    Parameters
    ----------
    total
        How many there will be, for the bar.
    """

    total: int
    done: list[Stage] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    warned: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _step: Step | None = None

    @contextmanager
    def shown(self, title: str) -> Iterator["Stages"]:
        """Show the progress while the stages run."""
        with progress(title, total=self.total) as step:
            self._step = step
            yield self
        self._step = None

    def run(self, name: str, work: Callable[[], T], *, note: str = "") -> T | None:
        """Do one stage; None where it failed, and why is in `failures`.

        Parameters
        ----------
        name
            What is done, in a word or two.
        work
            Does it. What it raises is kept in words, but for the user's own Ctrl-C.
        note
            What the reader should know of how it was done.
        """
        if self._step is not None:
            self._step(0, note=name)
        start = time.perf_counter()
        found: T | None = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = work()
            except InputError as error:
                self.failures[name] = str(error)
            except Exception as error:
                self.failures[name] = f"{type(error).__name__}: {error}"
        self.done.append(Stage(name, time.perf_counter() - start, note))
        told = dict.fromkeys(
            str(one.message) for one in caught if issubclass(one.category, ClearwoodWarning)
        )
        if told:
            self.warned[name] = tuple(told)
        if self._step is not None:
            self._step(1)
        return found

    def skip(self, name: str, reason: str) -> None:
        """Leave a stage out, and say why."""
        self.failures[name] = reason
        if self._step is not None:
            self._step(1)

    def leave_out(self) -> None:
        """Count a stage that does not apply as done."""
        if self._step is not None:
            self._step(1)


class Clock:
    """Says when the time of a stage is over.

    Parameters
    ----------
    seconds
        How long it may take.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.perf_counter() + seconds

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return time.perf_counter() > self._end

    @property
    def left(self) -> float:
        """Seconds that are left, never none."""
        return max(self._end - time.perf_counter(), 0.1)
