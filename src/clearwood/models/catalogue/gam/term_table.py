"""What each term is and does: degrees of freedom, tests, shares, concurvity."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats
from scipy.linalg import eigh

from clearwood._shared.arrays import Floats
from clearwood.models.catalogue.gam.bases import SplineBasis
from clearwood.models.catalogue.gam.design import Design, Term
from clearwood.models.catalogue.gam.fitting import ClassFit, Fit

__all__ = ["class_table", "concurvity", "curve_test", "level_test", "term_table"]

#: Smoothness of the curves that may imitate another, as a multiple of the rows' weight.
MODERATE = 3.0


def term_table(
    design: Design,
    fit: Fit,
    *,
    weights: Floats,
    phi: float,
    residual_freedom: float | None,
    monotone: Sequence[int] = (),
    names: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Describe every term of a fitted score.

    Parameters
    ----------
    design, fit
        The terms and their coefficients.
    weights
        Of rows.
    phi
        Scale of the noise.
    residual_freedom
        Rows less used degrees of freedom where the scale was estimated, else None.
    monotone
        0, 1 or -1 for each column.
    names
        Names of columns.

    Returns
    -------
    list of dict
        ``term`` (its columns), ``kind``, ``edf`` (effective degrees of freedom),
        ``reference_df``, ``statistic`` and ``p`` of the test that the term is zero, ``share`` of
        the variance that terms have over the training rows, ``concurvity``, ``monotone``, ``low``
        and ``high`` of the training range.
    """
    state = fit.state
    influence = np.eye(design.width) - state.inverse * state.penalty
    used = np.diag(influence)
    # tr(2F − FF), by rows: what unpenalised terms of the same fit would have used
    reference = 2 * used - np.einsum("ij,ji->i", influence, influence)
    variances = [
        _variance(design.term_values(one, fit.coefficients), weights)
        for one in range(len(design.terms))
    ]
    total = sum(variances) or 1.0
    # weights of working models come close to zero where classes are clear, those of rows do not
    gram = design.gram(weights)
    shared = concurvity(design, fit, gram)
    rows = []
    for i, (term, at) in enumerate(zip(design.terms, design.at, strict=True)):
        edf = float(used[at].sum())
        if term.kind == "levels":
            statistic, freedom, p = level_test(fit, at, phi, residual_freedom)
        else:
            freedom = float(np.clip(reference[at].sum(), min(1.0, term.width), term.width))
            # of the values at the rows, of which coefficients of products are no measure
            size = 1e-12 * max(float(np.trace(gram[at, at])), 1e-300)
            root = np.linalg.cholesky(gram[at, at] + size * np.eye(term.width)).T
            values = root @ fit.coefficients[at]
            covariance = root @ (state.inverse[at, at] * phi) @ root.T
            statistic, p = curve_test(values, covariance, freedom, residual_freedom)
        low, high = _range(term)
        rows.append(
            {
                "term": _title(term, names),
                "columns": term.columns,
                "kind": term.kind,
                "edf": edf,
                "reference_df": freedom,
                "statistic": statistic,
                "p_value": p,
                "share": variances[i] / total,
                "concurvity": shared[i],
                "monotone": int(monotone[term.columns[0]])
                if len(monotone) and len(term.columns) == 1
                else 0,
                "low": low,
                "high": high,
            }
        )
    return rows


def class_table(
    design: Design,
    fit: ClassFit,
    *,
    weights: Floats,
    classes: Sequence[Any],
    names: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Describe every term of the scores of several classes: one row for each class and term."""
    rows = []
    for one, label in enumerate(classes):
        beta, state = fit.coefficients[:, one], fit.fits[one].state
        used = 1 - np.diag(state.inverse) * state.penalty
        variances = [
            _variance(design.term_values(i, beta), weights) for i in range(len(design.terms))
        ]
        total = sum(variances) or 1.0
        for term, at, variance in zip(design.terms, design.at, variances, strict=True):
            low, high = _range(term)
            rows.append(
                {
                    "class": label,
                    "term": _title(term, names),
                    "columns": term.columns,
                    "kind": term.kind,
                    "edf": float(used[at].sum()),
                    "p_value": None,
                    "share": variance / total,
                    "low": low,
                    "high": high,
                }
            )
    return rows


def _title(term: Term, names: Sequence[str]) -> str:
    return " × ".join(names[at] if len(names) else f"x{at}" for at in term.columns)


def _variance(values: Floats, weights: Floats) -> float:
    return float(np.average((values - np.average(values, weights=weights)) ** 2, weights=weights))


def _range(term: Term) -> tuple[float | None, float | None]:
    basis = term.bases[0]
    if term.kind in ("curve", "line") and isinstance(basis, SplineBasis):
        return basis.least, basis.greatest
    return None, None


def curve_test(
    values: Floats, covariance: Floats, freedom: float, residual_freedom: float | None
) -> tuple[float, float]:
    """Test that a term is zero (Wood 2013, On p-values for smooth components).

    The statistic is fᵀ V⁻ f for the term's values f, with a pseudo-inverse of rank r, the term's
    degrees of freedom, which need not be whole: of r = k + ν, directions 1 to k − 1 count fully,
    and directions k and k + 1 by the matrix [[1, ρ], [ρ, ν]] with ρ² = ν(1 − ν)/2. Its sign is
    arbitrary, so both are averaged. Under the null hypothesis it is a sum of χ² variables with
    weights 1 and the eigenvalues of that matrix; here a scaled χ² (or F) with the same mean and
    variance.

    Returns
    -------
    statistic, p
    """
    variances, vectors = eigh(covariance)
    order = np.argsort(variances)[::-1]
    scores = (vectors.T @ values)[order] / np.sqrt(np.maximum(variances[order], 1e-300))
    whole = min(int(np.floor(freedom + 1e-9)), len(scores))
    part = freedom - whole
    if part < 1e-6 or whole == len(scores):
        statistic, weights = float(scores[:whole] @ scores[:whole]), np.ones(whole)
    elif whole == 0:
        statistic, weights = float(part * scores[0] ** 2), np.array([part])
    else:
        first, second = scores[whole - 1], scores[whole]
        # the cross terms of the two signs cancel in their average
        statistic = float(scores[: whole - 1] @ scores[: whole - 1] + first**2 + part * second**2)
        root = np.sqrt(1 - part**2)
        pair = [(1 + part + root) / 2, (1 + part - root) / 2]
        weights = np.concatenate([np.ones(whole - 1), pair])
    stretch = float((weights**2).sum() / weights.sum())
    return statistic, _tail(statistic / stretch, float(weights.sum()) / stretch, residual_freedom)


def level_test(
    fit: Fit, at: slice, phi: float, residual_freedom: float | None
) -> tuple[float, float, float]:
    """Test that all levels of a category have the same effect, given the other terms.

    With the block P of the inverse, P⁻¹ − S is the Gram matrix of the levels less what the other
    terms explain of it, and P⁻¹β the score of the levels without their penalty.

    Returns
    -------
    statistic, degrees of freedom, p
    """
    block = np.linalg.inv(fit.state.inverse[at, at])
    score = block @ fit.state.coefficients[at]
    gram = block - np.diag(fit.state.penalty[at])
    values, vectors = eigh(gram)
    keep = values > 1e-6 * max(float(values[-1]), 1e-300)
    statistic = float(((vectors[:, keep].T @ score) ** 2 / values[keep]).sum() / phi)
    freedom = float(keep.sum())
    return statistic, freedom, _tail(statistic, freedom, residual_freedom)


def _tail(statistic: float, freedom: float, residual_freedom: float | None) -> float:
    if residual_freedom is None:
        return float(stats.chi2.sf(statistic, freedom))
    return float(stats.f.sf(statistic / freedom, freedom, residual_freedom))


def concurvity(design: Design, fit: Fit, gram: Floats) -> list[float]:
    """Return the share of each term's variance that smooth curves of the other columns imitate.

    All curves have the same moderate smoothness here, vanished ones included: a copy of a column
    imitates it whichever of the two the model has kept. With M = (G + S)⁻¹, the Gram matrix of what
    the other terms leave of term j is (M_jj)⁻¹ − S_j.
    """
    rows = max(float(gram[0, 0]), 1e-300)
    penalty = np.full(design.width, 1e-6 * rows)
    for term, at in zip(design.terms, design.at, strict=True):
        if term.kind in ("curve", "pair"):
            penalty[at] += MODERATE * rows * term.penalties[0]
    inverse = np.linalg.inv(gram + np.diag(penalty))
    shares = []
    for at in design.at:
        beta = fit.coefficients[at]
        centre = float(gram[0, at] @ beta) / rows
        whole = float(beta @ gram[at, at] @ beta) - rows * centre**2
        left = np.linalg.inv(inverse[at, at]) - np.diag(penalty[at])
        vanished = whole <= 1e-12 * rows
        share = 0.0 if vanished else 1 - float(beta @ left @ beta) / whole
        shares.append(float(np.clip(share, 0.0, 1.0)))
    return shares
