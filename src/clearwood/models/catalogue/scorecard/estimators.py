"""The scorecard as an estimator of scikit-learn's kind."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils import Tags

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import percent
from clearwood.models.catalogue.scorecard.bands import TRENDS, BandRules, Bands, OneBand, bands_of
from clearwood.models.shared.rows import check_choice, check_real, check_whole
from clearwood.models.shared.score import ScoreParts, SumOfProducts, TreeArrays
from clearwood.models.shared.score_estimators import ScoredClasses

__all__ = ["ScorecardClassifier", "band_trees", "nonnegative_logistic"]


# Logistic regression whose coefficients are not negative.


_NEWTON_STEPS = 25


def nonnegative_logistic(
    X: Floats, y: Floats, weight: Floats, *, l2: float
) -> tuple[float, Floats]:
    """Minimise the log loss plus l2/2 · Σ β² over an intercept and coefficients β ≥ 0.

    Parameters
    ----------
    X, y, weight
        Rows, 1 for events and 0 for others, and how many rows each stands for.
    l2
        The penalty, in rows.

    Returns
    -------
    intercept : float
    coefficients : ndarray

    Examples
    --------
    >>> X = np.array([[0.0, 1], [1, 0], [2, 1], [3, 0]])
    >>> intercept, beta = nonnegative_logistic(X, np.array([0.0, 1, 0, 1]), np.ones(4), l2=1.0)
    >>> beta.round(3)
    array([0.453, 0.   ])
    """
    design = np.column_stack([np.ones(len(X)), X])
    ridge = np.concatenate([[0.0], np.full(X.shape[1], l2)])

    def loss(beta: Floats) -> tuple[float, Floats]:
        score = design @ beta
        value = weight @ (np.logaddexp(0.0, score) - y * score) + ridge @ beta**2 / 2
        return float(value), design.T @ (weight * (expit(score) - y)) + ridge * beta

    share = weight @ y / weight.sum()
    start = np.concatenate([[np.log(share / (1 - share))], np.full(X.shape[1], 0.5)])
    bounds = [(None, None)] + [(0.0, None)] * X.shape[1]
    options = {"maxiter": 1_000, "ftol": 1e-13, "gtol": 1e-8}
    beta = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    beta = _polished(design, y, weight, ridge, beta)
    return float(beta[0]), beta[1:]


def _polished(design: Floats, y: Floats, weight: Floats, ridge: Floats, beta: Floats) -> Floats:
    """Take Newton steps with the coefficients that are not at their bound, as far as they hold."""
    free = np.concatenate([[True], beta[1:] > 0])
    own, penalty = design[:, free], ridge[free]
    current = beta[free]
    for _ in range(_NEWTON_STEPS):
        p = expit(own @ current)
        slope = own.T @ (weight * (p - y)) + penalty * current
        bend = own.T @ ((weight * p * (1 - p))[:, None] * own) + np.diag(penalty)
        try:
            step = np.linalg.solve(bend, slope)
        except np.linalg.LinAlgError:
            break
        nearer = current - step
        if not np.isfinite(nearer).all() or (nearer[1:] < 0).any() or np.abs(step).max() > 1.0:
            break
        current = nearer
        if np.abs(step).max() < 1e-13:
            break
    result = beta.copy()
    result[free] = current
    return result


# A scorecard as one small tree for each column, whose leaves are the bands.


#: Divides values from missing ones: every value is below.
_ANY_VALUE = float(np.finfo(np.float64).max)


def band_trees(columns: Sequence[Bands], effects: Sequence[Floats], n_features: int) -> TreeArrays:
    """Make the trees; ``effects`` are what the bands of each column add, missing values last."""
    grower = _Grower()
    roots = []
    for bands, added in zip(columns, effects, strict=True):
        roots.append(len(grower.nodes))
        grower.grow(bands, added)
    nodes = grower.nodes
    start, size, words = _sets([node.levels for node in nodes])
    return TreeArrays(
        roots=np.array(roots, np.int32),
        left=np.array([node.left for node in nodes], np.int32),
        right=np.array([node.right for node in nodes], np.int32),
        feature=np.array([node.feature for node in nodes], np.int32),
        threshold=np.array([node.threshold for node in nodes], np.float64),
        # missing values and unseen levels are always on the right
        default_left=np.zeros(len(nodes), bool),
        value=np.array([node.value for node in nodes], np.float64).reshape(-1, 1),
        cover=np.array([node.cover for node in nodes], np.float64),
        tree_output=np.zeros(len(roots), np.int32),
        n_features=n_features,
        n_outputs=1,
        category_start=start,
        category_size=size,
        category_words=words,
        unseen_left=np.zeros(len(nodes), bool),
    )


class _Node:
    """One node; a leaf until it has children."""

    def __init__(self, cover: float) -> None:
        self.left = self.right = self.feature = -1
        self.threshold = 0.0
        self.levels: list[int] | None = None
        self.value, self.cover = 0.0, cover


class _Grower:
    """Adds the nodes of one tree after another."""

    def __init__(self) -> None:
        self.nodes: list[_Node] = []

    def grow(self, bands: Bands, added: Floats) -> None:
        """Divide known values from missing ones, then the bands by halves."""
        self._bands, self._added = bands, added
        self._mass = bands.events + bands.others
        known = list(range(bands.n_bands))
        root = self._node([*known, bands.n_bands])
        self._split(root, known, [bands.n_bands], _ANY_VALUE)

    def _node(self, members: list[int]) -> int:
        self.nodes.append(_Node(float(self._mass[members].sum())))
        return len(self.nodes) - 1

    def _split(self, at: int, low: list[int], high: list[int], threshold: float) -> None:
        """Give a node two children: the bands up to a threshold, and those above."""
        node, bands = self.nodes[at], self._bands
        node.feature = bands.column
        if bands.groups is None:
            node.threshold = threshold
        else:
            node.levels = np.flatnonzero(np.isin(bands.groups, low)).tolist()
        node.left = self._below(low)
        node.right = self._below(high)

    def _below(self, members: list[int]) -> int:
        """Add the node of some bands, and those below it."""
        at = self._node(members)
        if len(members) == 1:
            self.nodes[at].value = float(self._added[members[0]])
            return at
        half = len(members) // 2
        last = members[half - 1]
        cut = self._bands.cuts[last] if self._bands.groups is None else 0.0
        self._split(at, members[:half], members[half:], float(cut))
        return at


def _sets(
    levels: Sequence[list[int] | None],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pack sets of levels into bits."""
    start, size = np.full(len(levels), -1, np.int32), np.zeros(len(levels), np.int32)
    words: list[np.ndarray] = []
    used = 0
    for at, own in enumerate(levels):
        if own is None:
            continue
        bits = np.zeros(-(-(max(own) + 1) // 32) * 32, bool)
        bits[own] = True
        packed = np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)
        start[at], size[at] = used, len(packed)
        words.append(packed)
        used += len(packed)
    return start, size, np.concatenate(words) if words else np.empty(0, np.uint32)


_ONE_BAND: dict[OneBand, str] = {
    "no value": "no values",
    "one value": "one value only",
    "max_bands": "max_bands allows one band",
    "trend": "rates do not go the way of the constraint or trend",
    "equal": "equal rates, so no information value",
    "min_gain": "a second band adds less information than min_gain asks for",
}


class ScorecardClassifier(ScoredClasses):
    """Bands of every column, and a logistic regression on their weights of evidence.

    Each column is divided into the bands of the greatest information value that a few rules allow
    (see `clearwood.models.catalogue.scorecard.bands`). A band is replaced by its weight of
    evidence, log of the ratio of the shares that both classes have in it. The regression on these
    has no negative coefficient, so the score never runs against the rates of a column's bands.

    Parameters
    ----------
    max_bands
        Bands of a column at most, that of missing values not counted.
    min_share
        Share of the rows that a band has at least, that of missing values excepted.
    trend
        How the share of the second class goes from band to band, in columns of numbers: "up",
        "down", "free", or "auto" for the better of the first two. One word, or one for each column.
    min_gain
        What a band must add to the information value, in multiples of what it adds on average
        where the column has nothing to do with the target, 1/events + 1/others.
    l2
        Penalty of the coefficients, in rows.
    candidates
        Groups of neighbouring values, of about equal weight, that bands are made of at most; all
        distinct values where there are fewer.
    categorical
        Positions of columns of category codes.
    monotone
        For each column 1 (the probability of the second class may not fall as it rises), -1 or 0.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    bands_ : list of Bands
        The bands of each column, also of those that have no part in the score.
    intercept_ : float
    coef_ : ndarray
        Of the weight of evidence of each column; zero where a column has no part in the score.
    parts_ : ScoreParts
        The score as one small tree for each column.
    left_out_ : dict of int to str
        Why columns have no part in the score, by position.
    one_class_ : list of tuple
        Bands in the score whose rows are all of one class: the position of the column, whether it
        is the band of missing values, the class as 0 or 1, and how many rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(500, 2))
    >>> y = rng.uniform(size=500) < X[:, 0]
    >>> model = ScorecardClassifier().fit(X, y)
    >>> bool((model.coef_ >= 0).all()), model.bands_[0].n_bands
    (True, 6)
    """

    def __init__(
        self,
        *,
        max_bands: int = 6,
        min_share: float = 0.05,
        trend: str | Sequence[str] = "auto",
        min_gain: float = 0.0,
        l2: float = 10.0,
        candidates: int = 200,
        categorical: Sequence[int] = (),
        monotone: Sequence[int] = (),
    ) -> None:
        self.max_bands = max_bands
        self.min_share = min_share
        self.trend = trend
        self.min_gain = min_gain
        self.l2 = l2
        self.candidates = candidates
        self.categorical = categorical
        self.monotone = monotone

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose bands and fit the regression."""
        rows, codes, weight = self._classes(X, y, sample_weight)
        if len(self.classes_) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"it has {len(self.classes_)} classes",
                parameter="target",
                value=len(self.classes_),
            )
        is_event = codes == 1
        trends = self._trends(rows.shape[1])
        rules = self._rules(float(weight[is_event].sum()), float(weight[~is_event].sum()))
        self.bands_ = [
            bands_of(
                k,
                rows[:, k],
                is_event,
                weight,
                is_category=k in set(self.categorical),
                trend=trends[k],
                rules=rules,
            )
            for k in range(rows.shape[1])
        ]
        used = [own for own in self.bands_ if not own.is_empty]
        evidence = np.column_stack(
            [np.empty((len(rows), 0)), *(b.evidence[b.places(rows[:, b.column])] for b in used)]
        )
        self.intercept_, beta = nonnegative_logistic(
            evidence, is_event.astype(np.float64), weight, l2=self.l2
        )
        self.coef_ = np.zeros(rows.shape[1])
        self.coef_[[b.column for b in used]] = beta
        kept = [b for b in used if self.coef_[b.column] > 0]
        effects = [self.coef_[b.column] * b.evidence for b in kept]
        constant = SumOfProducts(np.array([self.intercept_]))
        trees = band_trees(kept, effects, rows.shape[1]) if kept else None
        self.parts_ = ScoreParts(constant, trees, "logistic")
        self.left_out_ = {
            b.column: self._why_left_out(b) for b in self.bands_ if self.coef_[b.column] == 0
        }
        self.one_class_ = []
        for b in kept:
            place = b.places(rows[:, b.column])
            for band in np.flatnonzero((b.events > 0) != (b.others > 0)).tolist():
                n_rows = int(np.count_nonzero(place == band))
                is_missing = band == b.n_bands
                self.one_class_.append((b.column, is_missing, int(b.events[band] > 0), n_rows))
        return self

    def _why_left_out(self, bands: Bands) -> str:
        """Say why a column has no part in the score."""
        if not bands.is_empty:
            return "no positive weight given the other columns"
        why = bands.one_band or "equal"
        if why == "too few":
            share = percent(float(self.min_share))
            return f"no two bands can have {share} of the rows each and rows of both classes"
        return _ONE_BAND[why]

    def _rules(self, events: float, others: float) -> BandRules:
        """Check the settings of bands, and return what they mean for so many rows."""
        check_whole("max_bands", self.max_bands, 1, 100)
        check_real("min_share", self.min_share, 0.0, 0.5)
        check_real("min_gain", self.min_gain, 0.0)
        check_real("l2", self.l2, 0.0)
        check_whole("candidates", self.candidates, 2, 2_000)
        price = self.min_gain * (1 / events + 1 / others)
        return BandRules(self.max_bands, self.min_share, price, self.candidates)

    def _trends(self, n_columns: int) -> list[Any]:
        """Return the trend of each column; constraints come before the setting."""
        trends = [self.trend] * n_columns if isinstance(self.trend, str) else list(self.trend)
        for trend in trends:
            check_choice("trend", trend, TRENDS)
        for column, way in enumerate(self.monotone):
            if way:
                trends[column] = "up" if way > 0 else "down"
        return trends
