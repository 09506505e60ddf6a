"""The command of the command line that is running, which the pages it makes print."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Invocation", "invocation", "invoked"]


@dataclass(frozen=True)
class Invocation:
    """A command, for the pages that it makes.

    Parameters
    ----------
    command
        As it was typed; None where nothing was.
    seconds
        What starting and reading took.
    model_file
        The file that the model was loaded from, if it was.
    """

    command: str | None = None
    seconds: float | None = None
    model_file: str | None = None


_NONE = Invocation()
_invocation: ContextVar[Invocation] = ContextVar("invocation", default=_NONE)


def invocation() -> Invocation:
    """Return the command that is running; an empty one in Python."""
    return _invocation.get()


@contextmanager
def invoked(running: Invocation) -> Iterator[None]:
    """Let pages that are made meanwhile know the command.

    Examples
    --------
    >>> with invoked(Invocation("clearwood report model.cw claims.csv")):
    ...     invocation().command
    'clearwood report model.cw claims.csv'
    >>> invocation().command is None
    True
    """
    token = _invocation.set(running)
    try:
        yield
    finally:
        _invocation.reset(token)
