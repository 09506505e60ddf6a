"""PyTorch, where it is installed, on one thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from clearwood._shared.errors import MissingExtraError

__all__ = ["EXTRA", "MODULE", "one_thread", "part"]

#: The package, and the extra that installs it.
MODULE, EXTRA = "torch", "networks"

_lock = threading.Lock()
_inside = 0
_before = 1


def part(name: str) -> Any:
    """Import a module of this package that needs PyTorch; an error with the install command."""
    if find_spec(MODULE) is None:
        raise MissingExtraError("a neural network", extra=EXTRA)
    return import_module(f"clearwood.models.catalogue.network.{name}")


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold PyTorch to one thread.

    Sums of several threads round differently from those of one, so a fit would depend on the
    number of cores. Networks for tables are too small to gain from threads. The setting belongs to
    the process: the last of several users puts the number of before back.
    """
    import torch

    global _inside, _before  # noqa: PLW0603 - so is the number of threads
    with _lock:
        if not _inside:
            _before = torch.get_num_threads()
        _inside += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                torch.set_num_threads(_before)
