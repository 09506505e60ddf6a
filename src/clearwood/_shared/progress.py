"""How far long work has come, shown on stderr."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["Display", "Step", "display", "progress", "shown_by", "silent"]

#: Seconds between two lines where there is no terminal to redraw.
_LINE_EVERY = 5.0

# One display at a time owns the terminal; work inside other work adds its line to it.
_lock = threading.Lock()
_display: "Progress | None" = None


#: Opened while a run goes on, it gives a function that takes the state of the run after each step.
Display = Callable[[], AbstractContextManager[Callable[[Any], None]]]
_shown_by: ContextVar[Display | None] = ContextVar("shown_by", default=None)


class Step(Protocol):
    """Says that more of the work is done."""

    def __call__(self, n: int = 0, *, note: str = "") -> None:
        """Count ``n`` more units as done and show what is being worked on."""


@contextmanager
def progress(title: str, *, total: int | None = None) -> Iterator[Step]:
    """Show the progress of a piece of work while it runs.

    Shown only when stderr is a terminal, and gone when the work is done. The environment variable
    ``CLEARWOOD_PROGRESS`` decides otherwise: 0 for never, 1 for always (plain lines where stderr
    is not a terminal, for logs). Nothing is ever written to stdout.

    Parameters
    ----------
    title
        What is being done: "fitting".
    total
        How many units there are; None where nobody knows, which shows a moving bar.

    Yields
    ------
    Step
        Call it as ``step(1)`` when one unit is done, ``step(note="forest")`` to say what is next.

    Examples
    --------
    >>> with progress("adding", total=3) as step:
    ...     for number in (1, 2, 3):
    ...         step(1, note=f"after {number}")
    """
    choice = os.environ.get("CLEARWOOD_PROGRESS", "")
    # while a bar is shown, sys.stderr may be a stand-in that denies being a terminal (Rich 14)
    at_terminal = _display is not None or (sys.stderr is not None and sys.stderr.isatty())
    if choice == "0" or not (at_terminal or choice == "1"):
        yield silent
    elif at_terminal:
        with _bars(title, total) as step:
            yield step
    else:
        yield _lines(title, total)


@contextmanager
def shown_by(display: Display) -> Iterator[None]:
    """Show runs that tell more than a count in a display of one's own, in place of a bar.

    Examples
    --------
    >>> from contextlib import nullcontext
    >>> with shown_by(lambda: nullcontext(print)), display()() as show:
    ...     show("3 of 10 fits")
    3 of 10 fits
    """
    token = _shown_by.set(display)
    try:
        yield
    finally:
        _shown_by.reset(token)


def display() -> Display | None:
    """Return what shows runs in place of a bar, if anything does."""
    return _shown_by.get()


def silent(n: int = 0, *, note: str = "") -> None:
    """Show nothing."""


def _lines(title: str, total: int | None) -> Step:
    """Write a plain line now and then."""
    done = 0
    last = time.monotonic()
    print(f"{title} …", file=sys.stderr, flush=True)  # noqa: T201 - its purpose

    def step(n: int = 0, *, note: str = "") -> None:
        nonlocal done, last
        done += n
        now = time.monotonic()
        if now - last < _LINE_EVERY and done != total:
            return
        last = now
        text = ", ".join(filter(None, (_count(done, total), note)))
        print(f"{title}: {text}", file=sys.stderr, flush=True)  # noqa: T201 - its purpose

    return step


@contextmanager
def _bars(title: str, total: int | None) -> Iterator[Step]:
    """Draw a bar that is redrawn in place, below the bars of the work this is part of."""
    global _display  # noqa: PLW0603 - the terminal is global too
    with _lock:
        owner = _display is None
        if _display is None:
            _display = _new_display()
            _display.start()
        display = _display
    done = 0
    task = display.add_task(title, total=total, note="", count=_count(done, total))

    def step(n: int = 0, *, note: str = "") -> None:
        nonlocal done
        done += n
        said: dict[str, Any] = {"note": note} if note else {}
        display.update(task, advance=n, count=_count(done, total), **said)

    try:
        yield step
    finally:
        display.remove_task(task)
        if owner:
            with _lock:
                _display = None
            display.stop()


def _count(done: int, total: int | None) -> str:
    if total is None:
        return str(done) if done else ""
    return f"{done} of {total}"


def _new_display() -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.table import Column

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn(
            "{task.fields[note]}",
            markup=False,
            table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
        ),
        # Short of the full width: the terminal's own ^C must not push the bar to a second line.
        console=Console(stderr=True, width=max(Console(stderr=True).width - 4, 20)),
        transient=True,
        expand=True,
    )
