"""The scorecard as an estimator of scikit-learn's kind."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from clearwood._shared.errors import InputError
from clearwood._shared.numbers import percent
from clearwood.models.catalogue.scorecard.bands import BandRules, Bands, OneBand, bands_of
from clearwood.models.catalogue.scorecard.logistic import nonnegative_logistic
from clearwood.models.catalogue.scorecard.optimal import TRENDS
from clearwood.models.catalogue.scorecard.trees import band_trees
from clearwood.models.shared.score import ScoreParts, SumOfProducts
from clearwood.models.shared.scored import ScoredClasses
from clearwood.models.shared.settings import check_choice, check_real, check_whole

__all__ = ["ScorecardClassifier"]

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
    (see `clearwood.models.catalogue.scorecard.optimal`). A band is replaced by its weight of
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
