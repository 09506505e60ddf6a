"""How many threads a kernel may use."""

import operator
import os
from typing import SupportsIndex

from clearwood._errors import InputError

__all__ = ["threads"]


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
    clearwood._errors.InputError: n_jobs=0 is not a number of threads. Hint: use 1 for one thread,
    -1 for all cores.
    """
    if n_jobs is None:
        return 1
    hint = "use 1 for one thread, -1 for all cores."
    # True is an index too, but who writes n_jobs=True means "yes, in parallel", not 1
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__"):
        raise InputError(f"n_jobs={n_jobs!r} is not a whole number", hint=hint)
    count = operator.index(n_jobs)
    if count == 0:
        raise InputError("n_jobs=0 is not a number of threads", hint=hint)
    if count < 0:
        return max(1, _usable_cores() + 1 + count)
    if count > _MOST:
        raise InputError(f"n_jobs={count} is more than the limit of {_MOST} threads", hint=hint)
    return count


# More is a slip of the keyboard; the system would refuse most of them anyway.
_MOST = 4096


def _usable_cores() -> int:
    # a container or taskset may grant fewer cores than the machine has
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
