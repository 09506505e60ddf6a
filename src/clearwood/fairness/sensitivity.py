"""How strong hidden causes would have to be to explain a difference between groups."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.results import Result
from clearwood._shared.weights import quantiles
from clearwood.fairness.groups.intervals import Spread
from clearwood.table import Column

__all__ = ["Sensitivity", "e_value", "partial_t", "robustness_value", "share_outside"]

_MOST_LEVELS = 20
#: The group must have a row in the same of this many bins of every column.
_BINS = 20


@dataclass(frozen=True)
class Sensitivity(Result):
    """What a hidden cause would have to be like, for one group against the reference.

    Parameters
    ----------
    columns
        The protected columns.
    group, reference
        The groups that are compared.
    ratio
        The ratio of their mean predictions, or what stands for it where predictions can be
        negative: exp(0.91 d) of the standardised difference d.
    e_value
        A hidden cause would have to be associated with the group and with the outcome by a ratio
        of at least this, each beyond the columns of the model, to explain the ratio away
        (VanderWeele and Ding 2017).
    e_value_of_interval
        The same for the end of the interval that is nearer to 1; 1 where it includes 1.
    robustness_value
        A hidden cause would have to explain at least this share of what other columns leave
        unexplained of the group and of the target, to explain away the coefficient of the group in
        a linear regression of the target (Cinelli and Hazlett 2020); NaN without a target.
    share_outside
        The share of the rows of the reference whose values lie where the group has no rows, in
        some column: predictions for them as members of the group are extrapolated.
    """

    columns: tuple[str, ...]
    group: str
    reference: str
    ratio: float
    e_value: float
    e_value_of_interval: float
    robustness_value: float
    share_outside: float


def e_value(ratio: float) -> float:
    """Return the E-value of a ratio: r + √(r (r - 1)), of its inverse below 1.

    Examples
    --------
    >>> round(e_value(2.0), 3), round(e_value(0.5), 3), e_value(1.0)
    (3.414, 3.414, 1.0)
    """
    if not ratio > 0 or not np.isfinite(ratio):
        return float("inf") if ratio == 0 or ratio == np.inf else float("nan")
    above = max(ratio, 1 / ratio)
    return float(above + np.sqrt(above * (above - 1)))


def e_value_of_interval(spread: Spread) -> float:
    """Return the E-value of the end of an interval nearer to 1; 1 where it includes 1.

    Examples
    --------
    >>> e_value_of_interval(Spread(1.2, 0.9, 1.6)), round(e_value_of_interval(Spread(3, 2, 4)), 3)
    (1.0, 3.414)
    """
    if not (np.isfinite(spread.low) and spread.high == spread.high):
        return float("nan")
    if spread.low <= 1 <= spread.high:
        return 1.0
    return e_value(spread.low if spread.low > 1 else spread.high)


def robustness_value(t: float, degrees: float, share: float = 1.0) -> float:
    """Return the robustness value of a coefficient: (√(f⁴ + 4f²) - f²) / 2, f = share |t| / √df.

    Parameters
    ----------
    t
        The t value of the coefficient.
    degrees
        Its degrees of freedom.
    share
        The share of the coefficient that would be explained away.

    Examples
    --------
    >>> round(robustness_value(4.18, 783), 3)  # table 1 of Cinelli and Hazlett (2020)
    0.139
    """
    if not degrees > 0 or not np.isfinite(t):
        return float("nan")
    square = (share * t) ** 2 / degrees
    return float((np.sqrt(square**2 + 4 * square) - square) / 2)


def partial_t(
    target: Floats, member: Bools, columns: Sequence[Column], weights: Floats
) -> tuple[float, float]:
    """Return the t value of a group's coefficient in a weighted linear regression, and its degrees.

    Numbers enter as they are, missing ones as their mean with an indicator, categories by level.
    """
    parts = [np.ones((len(target), 1)), member.astype(np.float64).reshape(-1, 1)]
    parts += [_design(column) for column in columns]
    design = np.hstack(parts) * np.sqrt(weights)[:, None]
    unit = float(np.abs(target).max()) or 1.0
    outcome = target / unit * np.sqrt(weights)
    others = np.delete(design, 1, axis=1)
    # the coefficient from what the other columns leave unexplained (Frisch, Waugh and Lovell)
    of_group, of_target = (
        values - others @ np.linalg.lstsq(others, values, rcond=None)[0]
        for values in (design[:, 1], outcome)
    )
    square = float(of_group @ of_group)
    degrees = float(len(target) - np.linalg.matrix_rank(others) - 1)
    if square <= 1e-9 * float(design[:, 1] @ design[:, 1]) or degrees <= 0:
        return float("nan"), degrees
    slope = float(of_group @ of_target) / square
    rest = of_target - slope * of_group
    error = float(np.sqrt(rest @ rest / degrees / square))
    return (slope / error if error > 0 else float("nan")), degrees


def _design(column: Column) -> Floats:
    """Return a column as numbers of about one, or one column for each of its frequent levels."""
    if column.is_coded:
        known = column.values[column.values >= 0]
        levels = np.argsort(-np.bincount(known, minlength=len(column.levels)), kind="stable")
        return np.column_stack(
            [column.values == level for level in levels[:_MOST_LEVELS]] or [column.values < 0]
        ).astype(np.float64)
    if column.values.dtype.kind == "O":
        return np.zeros((len(column), 0))
    missing = column.missing
    values = column.values.astype(np.float64)
    present = values[~missing]
    if not len(present):
        return np.zeros((len(column), 0))
    unit = float(np.abs(present).max()) or 1.0
    centre = float((present / unit).mean())
    filled = np.where(missing, 0.0, values / unit - centre)
    return np.column_stack([filled, missing.astype(np.float64)])


def share_outside(columns: Sequence[Column], member: Index, other: Index, weights: Floats) -> float:
    """Return the share of other rows with values where a group has no rows, in some column.

    Numbers are compared in bins of about equally many rows of both, categories by level.

    Parameters
    ----------
    columns
        The columns that are not protected.
    member, other
        The rows of the group, and those that are given its level.
    weights
        Of the rows.
    """
    outside = np.zeros(len(other), dtype=bool)
    for column in columns:
        if column.values.dtype.kind == "O":
            continue
        codes = _bins(column, np.concatenate([member, other]))
        own, theirs = codes[: len(member)], codes[len(member) :]
        outside |= ~np.isin(theirs, np.unique(own))
    return float(np.average(outside, weights=weights[other])) if len(other) else float("nan")


def _bins(column: Column, rows: Index) -> Index:
    """Return codes of levels, or of bins of numbers; missing values are one of them."""
    if column.is_coded:
        return column.values[rows].astype(np.intp)
    missing = column.missing[rows]
    values = column.values[rows].astype(np.float64)
    if missing.all():
        return np.zeros(len(rows), dtype=np.intp)
    edges = np.unique(quantiles(values[~missing], np.arange(1, _BINS) / _BINS))
    codes = np.searchsorted(edges, values, side="right")
    return np.where(missing, -1, codes).astype(np.intp)
