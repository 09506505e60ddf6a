"""How many threads a kernel may use."""

import operator
import os
import sys
from contextlib import AbstractContextManager
from typing import Any, SupportsIndex

from threadpoolctl import ThreadpoolController

from clearwood._shared.errors import bad_value

__all__ = ["limited", "threads"]


def threads(n_jobs: SupportsIndex | None) -> int:
    """Turn ``n_jobs`` into a number of threads.

    Parameters
    ----------
    n_jobs
        As in joblib and scikit-learn: None means 1, -1 all the cores this process may use, -2 all
        but one, and so on.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> threads(None), threads(3)
    (1, 3)
    >>> threads(0)
    Traceback (most recent call last):
    ...
    clearwood.InputError: n_jobs=0: it must not be 0. Hint: use 1 for one thread, -1 for all cores.
    """
    if n_jobs is None:
        return 1
    hint = "use 1 for one thread, -1 for all cores."
    # True is an index too, but n_jobs=True is written to mean "in parallel", not 1
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__"):
        raise bad_value("n_jobs", n_jobs, "it must be a whole number", hint=hint)
    count = operator.index(n_jobs)
    if count == 0:
        raise bad_value("n_jobs", count, "it must not be 0", hint=hint)
    if count < 0:
        return max(1, _usable_cores() + 1 + count)
    if count > _MOST:
        raise bad_value("n_jobs", count, f"it must be at most {_MOST}", hint=hint)
    return count


# The controller and how many modules were loaded when it looked for thread pools.
_controller: tuple[ThreadpoolController, int] | None = None


def limited(count: int) -> AbstractContextManager[Any]:
    """Hold the thread pools of compiled libraries to a number of threads.

    Looking for the pools takes milliseconds, as long as a small fit; they are looked for again only
    when a module has been imported since, for pools come with modules.

    Examples
    --------
    >>> with limited(1):
    ...     pass
    """
    global _controller  # noqa: PLW0603 - thread pools are global too
    if _controller is None or _controller[1] != len(sys.modules):
        _controller = (ThreadpoolController(), len(sys.modules))
    limits: AbstractContextManager[Any] = _controller[0].limit(limits=count)
    return limits


# More is a typing error; the system would refuse most of them anyway.
_MOST = 4096


def _usable_cores() -> int:
    # a container or taskset may grant fewer cores than the machine has
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
