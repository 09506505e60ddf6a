"""The progress of a benchmark: a live table on a terminal, lines in logs that ask for them."""

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clearwood._shared.numbers import IN_TABLES, duration, number

if TYPE_CHECKING:
    from rich.table import Table

    from clearwood.benchmarking import Snapshot

    Watch = Callable[[Snapshot], None]

__all__ = ["benchmark_progress"]

#: Seconds between two lines where there is no terminal to redraw.
_LINE_EVERY = 10.0


@contextmanager
def benchmark_progress() -> Iterator["Watch"]:
    """Show the progress of a benchmark through the function that it calls after each fit."""
    choice = os.environ.get("CLEARWOOD_PROGRESS", "")  # as for all other progress
    if choice == "0" or not (sys.stderr.isatty() or choice == "1"):
        yield lambda _: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:
            yield lambda snapshot: live.update(_table(snapshot))
    else:
        yield _lines()


def _summary(snapshot: "Snapshot") -> str:
    left = "" if snapshot.left is None else f", about {duration(snapshot.left)} left"
    return f"{snapshot.done} of {snapshot.total} fits{left}"


def _table(snapshot: "Snapshot") -> "Table":
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), title=_summary(snapshot), title_justify="left")
    for heading in ("learner", "fits", "", "risk so far"):
        table.add_column(heading, no_wrap=True)
    for name, (done, total, risk) in snapshot.by_learner.items():
        bar = ProgressBar(total=max(total, 1), completed=done, width=20)
        so_far = "" if math.isnan(risk) else number(risk, IN_TABLES)
        table.add_row(name, f"{done}/{total}", bar, so_far)
    return table


def _lines() -> "Watch":
    last = time.monotonic()

    def watch(snapshot: "Snapshot") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _LINE_EVERY:
            last = now
            sys.stderr.write(f"benchmark: {_summary(snapshot)}\n")
            sys.stderr.flush()

    return watch
