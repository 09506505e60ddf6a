"""One clock for everything that has a time limit."""

import math
import time
from dataclasses import dataclass, field
from typing import Any

from clearwood._shared.errors import bad_value

__all__ = ["Clock"]


@dataclass(frozen=True)
class Clock:
    """Time that has passed since work began, and how much of its limit is left.

    Parameters
    ----------
    time_limit
        Seconds; None for as long as it takes.
    started
        When the work began, on the monotonic clock.

    Examples
    --------
    >>> clock = Clock.started_now(60)
    >>> clock.is_over, 0 < clock.left <= 60
    (False, True)
    """

    time_limit: float | None = None
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def started_now(cls, time_limit: Any = None, *, parameter: str = "time_limit") -> "Clock":
        """Check a time limit that a user gave, and start the clock."""
        if time_limit is None:
            return cls()
        is_number = isinstance(time_limit, int | float) and not isinstance(time_limit, bool)
        if not is_number or math.isnan(time_limit) or time_limit <= 0:
            raise bad_value(parameter, time_limit, "it is a number of seconds above 0, or None")
        return cls(float(time_limit))

    @property
    def passed(self) -> float:
        """Seconds since the work began."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds left of the limit, infinity without one; never below 0."""
        return math.inf if self.time_limit is None else max(0.0, self.time_limit - self.passed)

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.time_limit is not None and self.passed >= self.time_limit
