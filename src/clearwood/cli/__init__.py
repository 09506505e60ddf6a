"""The command line: the library's verbs, each from a file to a file."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

__all__ = ["STARTED", "interrupts_handled_by", "main"]

#: When the command began, on the monotonic clock.
STARTED = time.monotonic()
_STOPPED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    The exit code is 0 for success, 2 for input that cannot be used, 130 after Ctrl-C, and 1 for
    anything unexpected.

    Parameters
    ----------
    arguments
        The words after `clearwood`; those of the process when None.
    """
    with interrupts_handled_by(_stop_at_once):
        from clearwood.cli.app import run
    sys.exit(run(arguments))


def _stop_at_once(*_: object) -> None:
    """End the process without a traceback, while modules are imported.

    Nothing has been written yet. An exception is not a safe way out of an import: some compiled
    modules print it, or turn it into another one.
    """
    os.write(2, b"stopped; nothing was written\n")
    os._exit(_STOPPED)


@contextmanager
def interrupts_handled_by(handler: Callable[..., None]) -> Iterator[None]:
    """Let Ctrl-C call a handler, where signals can be handled."""
    try:
        previous = signal.signal(signal.SIGINT, handler)
    except ValueError:  # signals belong to the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
