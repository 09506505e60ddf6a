"""Tables of coefficients from several imputed tables, joined by Rubin's rules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.pooling import pool, pooled_test
from clearwood.explanation.linear.result import Coefficients, ColumnTest

__all__ = ["Estimate", "joined"]


@dataclass(frozen=True, eq=False)
class Estimate:
    """The coefficients of one fit.

    Parameters
    ----------
    table
        The coefficients.
    covariance
        Of its lines; None where they have no standard errors.
    freedom
        Degrees of freedom of its intervals.
    """

    table: Coefficients
    covariance: Floats | None = None
    freedom: float = np.inf


def joined(estimates: Sequence[Estimate]) -> Coefficients:
    """Join the coefficients of models that are fitted to imputed tables.

    Where one of them has no standard errors, the result has none. The tests of columns are those
    of Li, Raghunathan and Rubin (1991).
    """
    first = estimates[0].table
    for one in estimates[1:]:
        if one.table.names() != first.names():
            raise InputError(
                "the fits to imputed tables have different lines, so they cannot be joined: "
                f"{_difference(first, one.table)}",
                parameter="gaps",
                value="impute",
                hint="leave out levels of very few rows.",
            )
    values = np.stack([one.table.values for one in estimates])
    covariances = [one.covariance for one in estimates if one.covariance is not None]
    if len(covariances) < len(estimates):
        none = np.full(len(first.values), np.nan)
        without = next(one.table for one in estimates if one.covariance is None)
        return replace(
            without,
            values=values.mean(axis=0),
            standard_errors=none,
            low=none,
            high=none,
            p_values=none,
        )
    errors = np.stack([one.table.standard_errors for one in estimates])
    freedom = estimates[0].freedom
    pooled = pool(values, errors**2, freedom)
    law = stats.t(pooled.freedom)
    reach = law.ppf(0.5 + first.confidence / 2) * pooled.standard_errors
    reach[first.is_base] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2 * law.sf(np.abs(pooled.values) / pooled.standard_errors)
    p_values[first.is_base] = np.nan
    return replace(
        first,
        values=pooled.values,
        standard_errors=pooled.standard_errors,
        low=pooled.values - reach,
        high=pooled.values + reach,
        p_values=p_values,
        tests=_tests(first, values, np.stack(covariances), freedom),
        dispersion=float(np.mean([one.table.dispersion for one in estimates])),
        freedom=pooled.freedom,
        unknown=pooled.unknown,
        n_imputations=len(estimates),
    )


def _difference(first: Coefficients, other: Coefficients) -> str:
    names = [name for name in first.names() if name not in other.names()]
    names += [name for name in other.names() if name not in first.names()]
    return ", ".join(map(repr, names[:4]))


def _tests(
    table: Coefficients, values: Floats, covariances: Floats, freedom: float
) -> tuple[ColumnTest, ...]:
    """Test for each column that all its coefficients are zero."""
    tests = []
    known = np.isfinite(table.standard_errors) & ~table.is_base
    for test in table.tests:
        own = np.flatnonzero(known & (np.array(table.columns) == test.column))
        found = pooled_test(values[:, own], covariances[:, own[:, None], own], freedom)
        tests.append(ColumnTest(test.column, *found))
    return tuple(tests)
