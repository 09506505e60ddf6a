"""The sparse linear model near a row: weights, choice of terms, least squares."""

from dataclasses import dataclass

import numpy as np

from clearwood._shared.arrays import Floats

__all__ = ["Moments", "Sparse", "chosen_terms", "fit", "moments_of"]


#: Terms whose weighted variance is below this share of the largest carry nothing to fit.
_FLAT = 1e-10
#: Terms whose gains differ by less than this share gain the same.
_TIE = 1e-9
#: A term that fits less than this share of the variance fits rounding.
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted means, variances and covariances of standardised terms and the prediction."""

    mean: Floats
    gram: Floats
    product: Floats
    centre: float
    spread: float
    n: int


@dataclass(frozen=True, eq=False)
class Sparse:
    """A linear model of few terms, standardised."""

    coefficients: Floats
    intercept: float  # the fitted prediction where every standardised term is zero
    r2: float  # share of the weighted variance of the prediction that is fitted


def moments_of(features: Floats, predicted: Floats, weights: Floats) -> Moments:
    """Add up what least squares needs; the weights are scaled to sum to one."""
    share = weights / weights.sum()
    mean = share @ features
    centre = float(share @ predicted)
    offset = features - mean
    scaled = offset * share[:, None]
    return Moments(
        mean=mean,
        gram=scaled.T @ offset,
        product=scaled.T @ (predicted - centre),
        centre=centre,
        spread=float(share @ (predicted - centre) ** 2),
        n=len(features),
    )


def chosen_terms(moments: Moments, n_terms: int, method: str) -> list[int]:
    """Choose terms by forward selection, or as the lasso lets them in."""
    return _forward(moments, n_terms) if method == "forward" else _lasso(moments, n_terms)


def _forward(moments: Moments, n_terms: int) -> list[int]:
    """Add the term that lowers the weighted squared error most, again and again."""
    gram, product = moments.gram.copy(), moments.product.copy()
    floor = _FLAT * max(float(np.diag(gram).max(initial=0.0)), 1e-300)
    chosen: list[int] = []
    while len(chosen) < n_terms:
        size = np.diag(gram)
        usable = size > floor
        usable[chosen] = False
        if not usable.any():
            break
        gain = np.where(usable, product**2 / np.where(usable, size, 1.0), -1.0)
        # the last levels of a column gain the same, but for rounding: the first one is taken
        best = int(np.flatnonzero(gain >= gain.max() * (1 - _TIE))[0])
        if gain[best] <= _NOTHING * moments.spread:
            break
        chosen.append(best)
        # what the new term explains is taken out of all others
        ray = gram[best] / gram[best, best]
        product = product - ray * product[best]
        gram = gram - np.outer(gram[best], ray)
    return chosen


def _lasso(moments: Moments, n_terms: int) -> list[int]:
    from sklearn.linear_model import lars_path_gram

    size = np.diag(moments.gram)
    usable = np.flatnonzero(size > _FLAT * max(float(size.max(initial=0.0)), 1e-300))
    if not len(usable) or not moments.spread > 0:
        return []
    gram = moments.gram[np.ix_(usable, usable)]
    _, _, path = lars_path_gram(
        Xy=moments.product[usable], Gram=gram, n_samples=1, method="lasso", max_iter=4 * n_terms
    )
    path = np.where(path**2 * size[usable, None] > _NOTHING * moments.spread, path, 0.0)
    counts = (path != 0).sum(axis=0)
    fitting = np.flatnonzero(counts <= n_terms)
    at = fitting[np.argmax(counts[fitting])]
    result = np.flatnonzero(path[:, at])
    order = np.argsort(-np.abs(path[result, at]), kind="stable")
    return [int(k) for k in usable[result[order]]]


def fit(moments: Moments, chosen: list[int]) -> Sparse:
    """Fit the chosen terms by weighted least squares, with an intercept."""
    if not chosen:
        return Sparse(np.empty(0), moments.centre, 0.0 if moments.spread > 0 else 1.0)
    gram = moments.gram[np.ix_(chosen, chosen)]
    result = np.linalg.lstsq(gram, moments.product[chosen], rcond=1e-12)[0]
    fitted = float(result @ moments.product[chosen])
    r2 = fitted / moments.spread if moments.spread > 0 else 1.0
    intercept = moments.centre - float(moments.mean[chosen] @ result)
    return Sparse(np.asarray(result, np.float64), intercept, float(np.clip(r2, 0.0, 1.0)))
