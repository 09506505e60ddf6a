"""Keeping to the number of cores the user allowed."""

from collections.abc import Iterator
from contextlib import contextmanager

from clearwood._shared.errors import InputError

__all__ = ["at_most"]


@contextmanager
def at_most(jobs: int) -> Iterator[None]:
    """Hold the thread pools of compiled libraries to a number of cores; -1 is all of them.

    Learners hand ``n_jobs`` to their library, but linear algebra and histogram boosting take
    every core unless they are told otherwise: on a shared machine that slows down everyone.
    """
    if jobs == 0 or jobs < -1:
        raise InputError(f"--jobs {jobs} is no number of cores", hint="1 or more, or -1 for all.")
    from threadpoolctl import threadpool_limits

    with threadpool_limits(jobs if jobs > 0 else None):
        yield
