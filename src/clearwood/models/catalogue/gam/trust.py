"""Rows at thin ends: they count less, and curves end before them, where others contradict them.

A row far beyond the others would draw the end of a curve to itself, right or wrong. Curves that end
where rows support them say what the other rows would have expected there: that the curve stays at
its last value or, where its slope is well known, goes on straight, or anything between. t is the
deviance residual of the row about the nearest of these, in a fit without such rows. Beyond 2, the
row counts (2 / t)⁴ as much, and the curves of columns in which it lies far out end before it. Rows
that are as expected count fully, and curves reach them. Elsewhere neighbours outvote a single row,
and means of skewed targets stay means.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypedDict

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.dispersion import are_whole
from clearwood.models.catalogue.gam.bases import SplineBasis, deviating_bases
from clearwood.models.catalogue.gam.covariance import scale
from clearwood.models.catalogue.gam.design import Design, build_design
from clearwood.models.catalogue.gam.fitting import Fit, fit_counts, fit_score
from clearwood.models.shared.response import FAMILIES, FamilyName

__all__ = ["DoubtedRow", "beyond_ends", "reaching_doubted", "trusted", "trusted_ends"]

#: A residual beyond this makes a row count less.
EXPECTED = 2.0
#: Curves end before rows that count less than this.
DOUBTED = 0.5
#: Curves may go on straight where the variance of that is at most this multiple of the noise.
SURE = 4.0
#: The fourth root of the least that a row counts.
LEAST = 0.1
#: Beyond its end a curve may be this many standard errors from the constant: a band of 90 %.
BAND = 1.645


class DoubtedRow(TypedDict):
    """A training row far beyond all others that counts less, because it contradicts them.

    ``row`` is its position among the training rows, ``values`` are its values far out, by the
    position of the column, and ``counts_as`` is below one.
    """

    row: int
    values: dict[int, float]
    counts_as: float


def trusted(
    build: Callable[..., Design],
    matrix: Floats,
    y: Floats,
    weights: Floats,
    family: FamilyName,
    exposure: Floats | None = None,
) -> tuple[Design, Floats, list[DoubtedRow]]:
    """Build the terms, with curves that reach the rows that can be trusted, and weigh the rows.

    Parameters
    ----------
    build
        Builds the design with ends of curves, as in `build_design`.
    matrix
        Rows, as in `build_design`.
    y, weights, family
        As in `fit_score`.
    exposure
        The part of the weights that is exposure, for counts with any dispersion.

    Returns
    -------
    design, weights, doubted
        The rows that count less come last, those that count least first.
    """
    design = build()
    rows = design.at_thin_ends
    if not len(rows):
        return design, weights, []
    factors = _factors(design, matrix, y, weights, family, exposure)
    ends = np.repeat([[-np.inf], [np.inf]], matrix.shape[1], axis=1)
    is_doubted = np.zeros(len(matrix), bool)
    is_doubted[rows[factors < DOUBTED]] = True
    for term in design.terms:
        column, basis = term.columns[0], term.bases[0]
        if isinstance(basis, SplineBasis):
            values = matrix[:, column]
            # False where missing
            inside = values[(values >= basis.low) & (values <= basis.high) & (weights > 0)]
            if (is_doubted & (values < basis.low)).any():
                ends[0, column] = inside.min()
            if (is_doubted & (values > basis.high)).any():
                ends[1, column] = inside.max()
    used = weights.copy()
    used[rows] *= factors
    doubted: list[DoubtedRow] = []
    for one in np.argsort(factors):
        if factors[one] < 1:
            values = matrix[rows[one]]
            outside = {
                term.columns[0]: float(values[term.columns[0]])
                for term in design.terms
                if isinstance(basis := term.bases[0], SplineBasis)
                and not (basis.low <= values[term.columns[0]] <= basis.high)
                and not np.isnan(values[term.columns[0]])
            }
            doubted.append(
                {"row": int(rows[one]), "values": outside, "counts_as": float(factors[one])}
            )
    return build(ends=ends), used, doubted


def trusted_ends(
    matrix: Floats,
    y: Floats,
    weights: Floats,
    family: FamilyName = "gaussian",
    categorical: Sequence[int] = (),
) -> tuple[Floats, Floats]:
    """Return where curves of other models should end, and the weights of their rows.

    Additive curves judge the rows at thin ends.

    Parameters
    ----------
    matrix, y, weights, family, categorical
        As in `build_design` and `fit_score`; weights of counts are exposures.

    Returns
    -------
    ends : ndarray of shape (2, columns)
        Infinite where no row is doubted.
    weights : ndarray of shape (rows,)

    Examples
    --------
    >>> x = np.append(np.linspace(0, 1, 50), 3.0)[:, None]
    >>> y = np.append(np.linspace(0, 1, 50) + 0.05 * np.cos(np.arange(50) ** 2), -9.0)
    >>> ends, weights = trusted_ends(x, y, np.ones(51))
    >>> ends.ravel().round(2), weights[-2:].round(3)
    (array([-inf,   1.]), array([1., 0.]))
    """
    exposure = weights if family == "poisson" else None
    build = partial(
        build_design, matrix, categorical=categorical, weights=weights, exposure=exposure
    )
    design, weights, _ = trusted(build, matrix, y, weights, family, exposure)
    ends = np.repeat([[-np.inf], [np.inf]], matrix.shape[1], axis=1)
    for term in design.terms:
        basis = term.bases[0]
        if isinstance(basis, SplineBasis):
            ends[0, term.columns[0]] = basis.low if basis.low > basis.least else -np.inf
            ends[1, term.columns[0]] = basis.high if basis.high < basis.greatest else np.inf
    return ends, weights


def beyond_ends(design: Design, coefficients: Floats, deviating: Floats) -> Floats:
    """Return how uncertain curves become for each unit beyond the ends where they are constant.

    A band of 90 % then includes that of the curve that goes on straight: where this is BAND times a
    away, and its standard error is s, the standard error becomes a + s.

    Parameters
    ----------
    design, coefficients
        The terms, and their coefficients, of shape (coefficients, outputs).
    deviating
        Deviations of the coefficients, of shape (coefficients, outputs, deviations).

    Returns
    -------
    ndarray of shape (terms, 2, outputs)
        Standard deviations below and above.
    """
    slopes = np.zeros((len(design.terms), 2, coefficients.shape[1]))
    for k, (term, at) in enumerate(zip(design.terms, design.at, strict=True)):
        (straight,) = deviating_bases(term.bases[:1])
        if term.kind == "pair" or not isinstance(straight, SplineBasis):
            continue
        if straight is not term.bases[0] and straight.furthest > 0:
            low, high, room = straight.low, straight.high, straight.furthest
            at_ends = straight(np.array([low, high]))
            further = straight(np.array([low - room, high + room])) - at_ends
            away = np.abs(further @ coefficients[at]) / BAND
            errors = np.sqrt((np.tensordot(further, deviating[at], (1, 0)) ** 2).sum(axis=2))
            slopes[k] = np.sqrt(away**2 + 2 * away * errors) / room
    return slopes


def reaching_doubted(
    slopes: Floats,
    doubted: Sequence[DoubtedRow],
    design: Design,
    coefficients: Floats,
    deviating: Floats,
    y: Floats,
    precision: Floats,
    family: FamilyName,
) -> Floats:
    """Widen bands of 90 % until they reach what a fit would be that counts doubted rows fully.

    Parameters
    ----------
    slopes
        As from `beyond_ends`, of one output.
    doubted
        As from `trusted`.
    design, coefficients, deviating
        The terms, their coefficients, and deviations of these as columns.
    y, family
        As in `trusted`.
    precision
        Full weights of rows, divided by the dispersion of the noise.
    """
    slopes = slopes.copy()
    place = {term.columns[0]: k for k, term in enumerate(design.terms) if term.kind != "pair"}
    for one in doubted:
        row = one["row"]
        functions = design.take(np.array([row])).functions()
        score = functions @ coefficients
        away: dict[tuple[int, int], float] = {}
        for column, value in one["values"].items():
            k = place[column]
            (straight,) = deviating_bases(design.terms[k].bases)
            assert isinstance(straight, SplineBasis)
            distance = max(straight.low - value, value - straight.high)
            if distance > 0 and straight is not design.terms[k].bases[0]:
                functions[:, design.at[k]] = straight(np.array([value]))
                away[k, int(value > straight.high)] = min(distance, straight.furthest)
        residual, weight = FAMILIES[family].working(y[[row]], score)
        variance = float(((functions @ deviating) ** 2).sum())
        variance += sum(float(slopes[key][0] * far) ** 2 for key, far in away.items())
        known = float(weight[0] * precision[row])
        moved = abs(float(residual[0])) * variance * known / (variance * known + 1)
        for key, far in away.items():
            slopes[key] = np.maximum(slopes[key], moved / far / BAND)
    return slopes


def _factors(
    design: Design,
    matrix: Floats,
    y: Floats,
    weights: Floats,
    family: FamilyName,
    exposure: Floats | None,
) -> Floats:
    """Return how much each row at thin ends counts."""
    rows = design.at_thin_ends
    if exposure is not None:
        precision = exposure[rows]
    else:
        # repetitions make no row more precise
        precision = np.ones(len(rows)) if are_whole(weights) else weights[rows]
    # a wrong row with its weight would have drawn the curve to itself already
    used = weights.copy()
    used[rows] *= LEAST**4
    dispersion = 1.0
    if exposure is not None:
        fit, estimated = fit_counts(design, y, used, exposure)
        dispersion = estimated.value
    else:
        fit = fit_score(design, y, weights=used, family=family)
    noise = dispersion * scale(design, fit, y, used / dispersion, family)
    whole = weights[rows] / dispersion
    size = _surprises(design, fit, matrix[rows], y[rows], whole, precision / noise, family)
    return np.maximum(EXPECTED / np.maximum(size, EXPECTED), LEAST) ** 4


def _surprises(
    design: Design,
    fit: Fit,
    matrix: Floats,
    y: Floats,
    weights: Floats,
    precision: Floats,
    family: FamilyName,
) -> Floats:
    """Return the deviance residuals of rows at thin ends about a fit without them.

    Parameters
    ----------
    design, fit, family
        As in `trusted`.
    matrix, y, weights
        The rows at thin ends, and the weights that they would have.
    precision
        One over the dispersion of each row.
    """
    law = FAMILIES[family]
    functions = design.take(design.at_thin_ends).functions()
    low = high = functions @ fit.coefficients
    own = law.working(y, low)[1] * weights

    def variances(at_rows: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", at_rows @ fit.state.inverse, at_rows) * own)

    for term, at in zip(design.terms, design.at, strict=True):
        basis = term.bases[0]
        if isinstance(basis, SplineBasis) and term.kind != "pair":
            straight = functions.copy()
            straight[:, at] = replace(basis, extrapolate="linear")(matrix[:, term.columns[0]])
            further = (straight - functions) @ fit.coefficients
            # a slope that is hardly known allows anything far out, and so says nothing
            further = np.where(variances(straight) <= SURE, further, 0.0)
            low, high = low + np.minimum(further, 0), high + np.maximum(further, 0)
    is_below, is_above = law.working(y, low)[0] < 0, law.working(y, high)[0] > 0
    missed = np.where(is_below, law.deviance(y, low), law.deviance(y, high))
    missed = np.where(is_below | is_above, np.maximum(missed, 0.0), 0.0)
    return np.asarray(np.sqrt(missed * precision / (1 + variances(functions))))
