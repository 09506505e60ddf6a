"""Printing: results to stdout, messages to stderr."""

import dataclasses
import json
import math
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.numbers import IN_TABLES, duration, number

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from clearwood.benchmarking import Snapshot

    Watch = Callable[[Snapshot], None]

__all__ = [
    "benchmark_progress",
    "commands",
    "facts",
    "folded",
    "json_text",
    "print_json",
    "print_message",
    "print_text",
    "program",
    "prose",
    "quoted",
    "text_without",
    "width",
    "written",
]


#: Files this run has finished writing, for the message when it is stopped.
written: list[Path] = []

#: Seconds between two lines where there is no terminal to redraw.
_LINE_EVERY = 10.0


def _console(*, stderr: bool = False) -> "Console":
    """Make a console on the present streams, which tests and shells may have replaced."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def print_text(*things: Any) -> None:
    """Print results to stdout: text, which is never cut or folded, or Rich tables."""
    console = _console()
    for thing in things:
        if console.is_terminal or isinstance(thing, str):
            console.print(thing, soft_wrap=isinstance(thing, str))
        else:
            # Tables are padded to their width; files and pipes do not need the spaces.
            with console.capture() as capture:
                console.print(thing)
            lines = capture.get().splitlines()
            console.print("\n".join(line.rstrip() for line in lines), soft_wrap=True)


def width() -> int:
    """Return the number of characters in a line of stdout."""
    return _console().width


def prose(text: str) -> "Text":
    """Make text for `print_text` that is folded to the width of the terminal."""
    from rich.text import Text

    return Text(text)


def print_message(label: str, text: str, *, style: str) -> None:
    """Print a message to stderr: "error: ...", "hint: ...", "warning: ..."."""
    from rich.text import Text

    line = Text.assemble((f"{label}: ", style), text)
    _console(stderr=True).print(line, soft_wrap=True)


def text_without(result: Any, field: str) -> str:
    """Return the text of a result without the messages in one of its fields."""
    return repr(dataclasses.replace(result, **{field: ()}))


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document to stdout."""
    sys.stdout.write(json_text(document))


def json_text(document: Mapping[str, Any]) -> str:
    """Write a JSON document as people read it."""
    from clearwood._shared.frames import plain

    return json.dumps(plain(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def quoted(word: object) -> str:
    """Write a word so that a shell takes it as one.

    Examples
    --------
    >>> quoted("my model.cw")
    "'my model.cw'"
    """
    return shlex.quote(str(word))


def program() -> str:
    """Return what to type to run this program again from the present folder.

    That is its name where the shell finds this very program by it, and its path otherwise: after
    ``make demo`` the program is in a virtual environment that is not active.
    """
    here = Path(sys.argv[0])
    on_path = shutil.which("clearwood")
    if here.name != "clearwood" or not here.is_file():
        return "clearwood"
    if on_path is not None and here.samefile(on_path):
        return "clearwood"
    try:
        return quoted(here.absolute().relative_to(Path.cwd()))
    except ValueError:
        return quoted(here.absolute())


def facts(rows: Iterable[tuple[str, str]]) -> Any:
    """Lay out names and their descriptions in two columns."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in rows:
        grid.add_row(Text(f"  {name}"), Text(text))
    return grid


def commands(title: str, lines: Iterable[tuple[str, str]]) -> None:
    """Show commands to type next, each with what it does, in a form that can be pasted."""
    from rich.text import Text

    console = _console()
    lines = list(lines)
    widths = [len(command) for command, purpose in lines if purpose]
    width = max(widths, default=0)
    console.print(Text(title, style="bold"))
    purposes = max((len(purpose) for _, purpose in lines), default=0)
    width = width if width + purposes + 6 <= console.width else 0  # else no common column
    for command, purpose in lines:
        if purpose and max(width, len(command)) + len(purpose) + 6 <= console.width:
            line = Text.assemble("  ", (command.ljust(width), "cyan"), (f"  # {purpose}", "dim"))
        else:
            line = Text(folded(command, console.width), style="cyan")
        console.print(line, soft_wrap=True)


def folded(command: str, width: int) -> str:
    r"""Indent a command and break it so that it fits and can still be pasted.

    It breaks before options, or before a file's name where a piece between options is too long.

    Examples
    --------
    >>> print(folded("clearwood fit data.csv --target y -o model.cw", 40))
      clearwood fit data.csv --target y \
        -o model.cw
    >>> print(folded("clearwood explain demo/model.cw demo/data.csv -o why", 40))
      clearwood explain demo/model.cw \
        demo/data.csv -o why
    """
    lines = [" "]
    for option in re.split(r" (?=-)", command):
        pieces = [option] if len(option) + 5 <= width else option.split(" ")
        for piece in pieces:
            if lines[-1].strip() and len(lines[-1]) + len(piece) + 3 > width:
                lines.append("   ")
            lines[-1] += f" {piece}"
    return " \\\n".join(lines)


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
