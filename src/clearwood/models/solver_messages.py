"""Warnings and errors of solvers, with the name of the learner."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.messages import tell
from clearwood._shared.numbers import number
from clearwood.table import Encoder

__all__ = ["convergence_named", "too_large_named"]


# Warnings of iterative solvers, with the name of the learner.


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


# Numbers too large for a learner, with the column that holds them.


@contextmanager
def too_large_named(name: str, encoder: Encoder, encoded: Floats) -> Iterator[None]:
    """Name the column whose numbers are too large for single precision.

    Trees of scikit-learn and the boosting libraries hold columns in single precision; their error
    for a larger number does not name the column.
    """
    try:
        yield
    except ValueError as error:
        largest = np.nanmax(np.abs(encoded), axis=0, initial=0.0)
        at = int(np.argmax(largest))
        if largest[at] <= np.finfo(np.float32).max:
            raise
        column = encoder.columns_[at].source
        raise InputError(
            f"learner {name!r} cannot use numbers as large as {number(largest[at])}, which column "
            f"{column!r} has",
            parameter=column,
            value=float(largest[at]),
            hint="write the column in larger units, or choose a learner that standardises.",
        ) from error
