"""How well predictions rank rows: AUC, Gini, Kolmogorov-Smirnov distance, average precision.

Every measure is weighted, and ties of predictions count half.
"""

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood.evaluation.estimates import ATANH, LOGIT, Estimate
from clearwood.evaluation.intervals import Mean, around
from clearwood.evaluation.pairs import Pairs

__all__ = [
    "auc",
    "average_precision",
    "concentration",
    "gini_of_auc",
    "ks",
    "ks_bounds",
    "normalised",
    "ranks_within",
    "shares_below",
    "times_perfect",
]

_SAMPLES = 100


def shares_below(score: Floats, weights: Floats, at: Floats) -> Floats:
    """Return the share of the weight with a score below each value; equal scores count half.

    Examples
    --------
    >>> shares_below(np.array([1.0, 2.0, 2.0]), np.ones(3), np.array([2.0, 3.0]))
    array([0.66666667, 1.        ])
    """
    order = np.argsort(score, kind="stable")
    up_to = np.concatenate([[0.0], np.cumsum(weights[order])])
    below = up_to[np.searchsorted(score[order], at)]
    not_above = up_to[np.searchsorted(score[order], at, side="right")]
    return np.asarray((below + not_above) / (2 * up_to[-1]))


def ranks_within(score: Floats, fits: NDArray[np.intp], weights: Floats) -> Floats:
    """Return scores that can be compared across fits: shares of the fit's rows below each.

    The scores themselves where there is one fit.
    """
    if not len(fits) or (fits == fits[0]).all():
        return score
    ranks = np.empty(len(score))
    for fit in np.unique(fits):
        own = fits == fit
        ranks[own] = shares_below(score[own], weights[own], score[own])
    return ranks


def auc(member: Bools, score: Floats, fits: NDArray[np.intp], weights: Floats) -> Estimate:
    """Return the share of pairs of a member and a non-member that are ranked correctly.

    Pairs are formed within each fit. The influence values are the placements of DeLong, DeLong and
    Clarke-Pearson (1988), of rows with weights.

    Examples
    --------
    >>> one = np.zeros(3, dtype=np.intp)
    >>> auc(np.array([False, True, True]), np.array([0.2, 0.1, 0.9]), one, np.ones(3)).value
    0.5
    """
    right, pairs = np.zeros(len(score)), 0.0
    opposite = np.zeros(len(score))  # the weight of the other class in the fit of each row
    for fit in np.unique(fits):
        own = np.flatnonzero(fits == fit)
        yes, no = own[member[own]], own[~member[own]]
        if not len(yes) or not len(no):
            continue
        right[yes] = shares_below(score[no], weights[no], score[yes])
        right[no] = 1 - shares_below(score[yes], weights[yes], score[no])
        opposite[yes], opposite[no] = weights[no].sum(), weights[yes].sum()
        pairs += float(weights[yes].sum() * weights[no].sum())
    if not pairs:
        return Estimate(np.nan, np.zeros(len(score)), LOGIT)
    value = float((weights * member * opposite * right).sum() / pairs)
    influence = weights.sum() / pairs * opposite * (right - value)
    return Estimate(value, influence, LOGIT)


def gini_of_auc(area: Estimate) -> Estimate:
    """Return the normalised Gini coefficient of a ranking of two classes: 2 AUC - 1."""
    return Estimate(2 * area.value - 1, 2 * area.influence, ATANH)


def concentration(truth: Floats, score: Floats, weights: Floats) -> Estimate:
    """Return the Gini coefficient 1 - 2 ∫ L, where L is the Lorenz curve of the truth by score.

    Twice the covariance of the truth and the share of rows ranked below, over the mean truth.

    Examples
    --------
    >>> concentration(np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.ones(3)).value
    0.5
    """
    total, all_weight = float((weights * truth).sum()), float(weights.sum())
    if not total > 0:
        return Estimate(np.nan, np.zeros(len(truth)), ATANH)
    below = shares_below(score, weights, score)
    # by truth instead of by weight, where a row without either has no rank
    below_by_truth = shares_below(score, weights * truth, score)
    value = float((weights * truth * (2 * below - 1)).sum() / total)
    mean = total / all_weight
    of_truth = truth / mean * (2 * below - 1)
    of_weight = 1 - 2 * below_by_truth
    influence = of_truth + of_weight - value * (1 + truth / mean)
    return Estimate(value, influence, ATANH)


def normalised(gini: Estimate, perfect: Estimate) -> Estimate:
    """Return a Gini coefficient relative to that of the perfect ranking, by the truth itself."""
    if not perfect.value > 0:
        return Estimate(np.nan, gini.influence, ATANH)
    value = gini.value / perfect.value
    influence = (gini.influence - value * perfect.influence) / perfect.value
    return Estimate(value, influence, ATANH)


def times_perfect(share: Estimate, perfect: Estimate) -> Estimate:
    """Return the Gini coefficient of which a normalised one is the share."""
    influence = share.influence * perfect.value + share.value * perfect.influence
    return Estimate(share.value * perfect.value, influence, ATANH)


def average_precision(member: Bools, score: Floats, weights: Floats) -> Estimate:
    """Return the mean precision over the members, each at its own score as the threshold.

    Examples
    --------
    >>> score = np.array([3.0, 2.0, 1.0])
    >>> round(average_precision(np.array([True, False, True]), score, np.ones(3)).value, 3)
    0.833
    """
    levels, place = np.unique(-score, return_inverse=True)
    of_members = np.bincount(place, weights * member, len(levels))
    members, everyone = np.cumsum(of_members), np.cumsum(np.bincount(place, weights, len(levels)))
    total = float(members[-1])
    if not total:
        return Estimate(np.nan, np.zeros(len(score)), LOGIT)
    precision = members / everyone
    value = float((of_members * precision).sum() / total)
    # a row changes the precision at its own score and at all that are lower
    each = np.cumsum((of_members / everyone)[::-1])[::-1]
    times = np.cumsum((of_members * precision / everyone)[::-1])[::-1]
    own = member * (precision[place] - value)
    influence = weights.sum() / total * (own + member * each[place] - times[place])
    return Estimate(value, influence, LOGIT)


def ks(pairs: Pairs) -> tuple[float, float]:
    """Return the largest difference of the shares of non-members and members up to a score.

    The second number is the score where it occurs.
    """
    levels, gaps = _gaps(pairs)
    at = int(gaps.argmax())
    return max(float(gaps[at]), 0.0), float(levels[at])


def _gaps(pairs: Pairs) -> tuple[Floats, Floats]:
    levels, place = np.unique(pairs.predicted, return_inverse=True)
    yes = np.cumsum(np.bincount(place, pairs.weights * pairs.truth, len(levels)))
    no = np.cumsum(np.bincount(place, pairs.weights * (1 - pairs.truth), len(levels)))
    return levels, no / no[-1] - yes / yes[-1]


def ks_bounds(
    pairs: Pairs, confidence: float, *, inflation: float = 1.0, seed: int = 0
) -> tuple[float, float]:
    """Return the interval of the Kolmogorov-Smirnov distance.

    It is that of a difference of two shares at the score where the distance is largest (Newcombe
    1998). As that score was chosen for its distance, the lower end is moved down by twice the bias
    that the largest distance has in samples of the units drawn with replacement.
    """
    value, level = ks(pairs)
    below = (pairs.predicted <= level).astype(np.float64)
    no, yes = (
        Mean.of(below[own], pairs.weights[own], pairs.units[own])
        for own in (pairs.truth == 0, pairs.truth == 1)
    )
    low, high = around(no, "probability", confidence, inflation=inflation)
    low_yes, high_yes = around(yes, "probability", confidence, inflation=inflation)
    down = float(np.hypot(no.mean - low, high_yes - yes.mean))
    up = float(np.hypot(high - no.mean, yes.mean - low_yes))
    optimism = max(_resampled(pairs, seed) - value, 0.0)
    return max(value - down - 2 * inflation * optimism, 0.0), min(value + up, 1.0)


def _resampled(pairs: Pairs, seed: int) -> float:
    """Return the mean distance over samples of the units with replacement."""
    order = np.argsort(pairs.predicted, kind="stable")
    score, truth = pairs.predicted[order], pairs.truth[order]
    weights, units = pairs.weights[order], pairs.units[order]
    last = np.flatnonzero(np.append(np.diff(score) > 0, True))
    n = int(pairs.units.max()) + 1
    rng = np.random.default_rng(seed)
    distances = []
    for _ in range(_SAMPLES):
        drawn = weights * np.bincount(rng.integers(0, n, n), minlength=n)[units]
        yes, no = np.cumsum(drawn * truth), np.cumsum(drawn * (1 - truth))
        if yes[-1] and no[-1]:
            distances.append(max(float((no / no[-1] - yes / yes[-1])[last].max()), 0.0))
    return float(np.mean(distances)) if distances else np.nan
