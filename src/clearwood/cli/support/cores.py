"""The number of cores a command may use."""

from collections.abc import Iterator
from contextlib import contextmanager

from clearwood._shared.errors import InputError

__all__ = ["limited_cores"]


@contextmanager
def limited_cores(n_jobs: int) -> Iterator[None]:
    """Limit the thread pools of compiled libraries to a number of cores; -1 is all of them.

    Learners pass ``n_jobs`` on to their library, but linear algebra and histogram boosting use
    every core unless they are limited, which slows down everyone else on a shared machine.
    """
    if n_jobs == 0 or n_jobs < -1:
        raise InputError(
            f"--jobs {n_jobs} is not a number of cores", hint="use 1 or more, or -1 for all."
        )
    from threadpoolctl import threadpool_limits

    with threadpool_limits(n_jobs if n_jobs > 0 else None):
        yield
