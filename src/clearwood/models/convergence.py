"""Warnings of iterative solvers, with the name of the learner."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from clearwood._shared.messages import tell

__all__ = ["convergence_named"]


@contextmanager
def convergence_named(name: str) -> Iterator[None]:
    """Warn once, with the learner's name, that a solver stopped too early.

    Each library has its own ``ConvergenceWarning``, about its own options. All other warnings pass
    unchanged.

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
        # all are recorded here; the caller's filters apply when they are raised again below
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
        tell(
            f"learner {name!r} stopped before it had converged ({reason}); its predictions may be "
            "inaccurate. A stronger penalty, fewer columns or other settings may help."
        )
