"""How far a benchmark is, shown while it runs: a live table on a terminal, lines elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["shown"]


@contextmanager
def shown(names: list[str]) -> Iterator[Any]:
    """Show how far the run is: a table that is redrawn on a terminal, lines elsewhere."""
    import os
    import sys

    if os.environ.get("CLEARWOOD_PROGRESS") == "0":
        yield _unseen
    elif sys.stderr.isatty():
        with _live(names) as watch:
            yield watch
    else:
        yield _lines()


def _unseen(snapshot: Any) -> None:
    """Show nothing."""
    del snapshot


@contextmanager
def _live(names: list[str]) -> Iterator[Any]:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:
        yield lambda snapshot: live.update(_progress_table(snapshot, names))


def _progress_table(snapshot: Any, names: list[str]) -> Any:
    import math

    from rich.progress_bar import ProgressBar
    from rich.table import Table

    from clearwood.benchmarking import duration

    left = "" if snapshot.left is None else f", about {duration(snapshot.left)} left"
    table = Table(
        box=None,
        padding=(0, 2, 0, 0),
        title=f"{snapshot.done} of {snapshot.total} fits{left}",
        title_justify="left",
    )
    for heading in ("learner", "fits", "", "risk so far"):
        table.add_column(heading, no_wrap=True)
    for name in names:
        done, total, risk = snapshot.by_learner.get(name, (0, 0, float("nan")))
        so_far = "" if math.isnan(risk) else f"{risk:.4g}"
        bar = ProgressBar(total=max(total, 1), completed=done, width=20)
        table.add_row(name, f"{done}/{total}", bar, so_far)
    return table


#: Seconds between two lines where there is no terminal to redraw.
_LINE_EVERY = 10.0


def _lines() -> Any:
    import sys
    import time

    from clearwood.benchmarking import duration

    last = time.monotonic()

    def watch(snapshot: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _LINE_EVERY:
            last = now
            left = "" if snapshot.left is None else f", about {duration(snapshot.left)} left"
            sys.stderr.write(f"benchmark: {snapshot.done} of {snapshot.total} fits{left}\n")
            sys.stderr.flush()

    return watch
