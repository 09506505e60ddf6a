"""Warnings of iterative solvers, put in the words of the catalogue."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from clearwood._shared.errors import ClearwoodWarning

__all__ = ["convergence_named"]


@contextmanager
def convergence_named(name: str) -> Iterator[None]:
    """Say once, and by the learner's name, that a solver stopped too early.

    Libraries have a ``ConvergenceWarning`` each, which speaks of their own options. All other
    warnings pass as they are.

    Examples
    --------
    >>> from sklearn.exceptions import ConvergenceWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     with convergence_named("mlp"):
    ...         warnings.warn("Maximum iterations reached", ConvergenceWarning)
    >>> print(caught[0].message)
    learner 'mlp' stopped before it had converged (Maximum iterations reached); ...
    """
    with warnings.catch_warnings(record=True) as caught:
        # all are kept here and judged by the caller's filters when they are raised again below
        warnings.simplefilter("always")
        yield
    reason = None
    for warning in caught:
        kinds = {kind.__name__ for kind in warning.category.__mro__}
        if "ConvergenceWarning" in kinds:
            reason = reason or str(warning.message).strip().splitlines()[0].rstrip(".: ")
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if reason is not None:
        warnings.warn(
            f"learner {name!r} stopped before it had converged ({reason}); its predictions may be "
            "off. A stronger penalty, fewer columns or other settings may help.",
            ClearwoodWarning,
            stacklevel=4,
        )
