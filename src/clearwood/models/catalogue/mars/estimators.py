"""MARS for numbers, counts and classes, as scikit-learn estimators."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.numbers import number
from clearwood._shared.results import Result
from clearwood.models.catalogue.gam.trust import trusted_ends
from clearwood.models.catalogue.mars.terms import Draw, Search, TermSelection, spread_of_draws
from clearwood.models.shared.response import FamilyName
from clearwood.models.shared.rows import (
    check_choice,
    check_real,
    check_size,
    check_whole,
    level_counts,
)
from clearwood.models.shared.score import Link, ProductTerm, ScoreParts, Spread, SumOfProducts
from clearwood.models.shared.score_estimators import (
    Scored,
    ScoredClasses,
    ScoredCounts,
    ScoredNumbers,
)

__all__ = ["Formula", "MarsClassifier", "MarsPoisson", "MarsRegressor"]


# A fitted sum of products, written out.


@dataclass(frozen=True)
class Formula(Result):
    """A score as a constant and terms, one row for each term and output.

    Parameters
    ----------
    term
        Each term as text; "1" for the constant.
    coefficient
        What it is multiplied by.
    columns
        The columns that it involves.
    output
        The class whose score it adds to; empty where there is one score.

    Examples
    --------
    >>> print(Formula(("1", "max(0, age − 41)"), (10.0, -3.21), ((), ("age",)), ("", "")))
    10
      − 3.21 · max(0, age − 41)
    """

    term: tuple[str, ...]
    coefficient: tuple[float, ...]
    columns: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]

    @classmethod
    def of(
        cls,
        products: SumOfProducts,
        names: Sequence[str] | None,
        levels: Sequence[Sequence[str]] | None,
        *,
        outputs: Sequence[str],
    ) -> Self:
        """Write out a sum whose functions can be written."""

        def name(column: int) -> str:
            return names[column] if names is not None else f"x{column}"

        def level_names(column: int) -> tuple[str, ...]:
            return tuple(levels[column]) if levels is not None else ()

        rows: list[tuple[str, float, tuple[str, ...], str]] = []
        for position, output in enumerate(outputs):
            rows.append(("1", float(products.constant[position]), (), output))
            for term in products.terms:
                text = " · ".join(
                    basis.written(name(column), level_names(column))  # type: ignore[attr-defined]
                    for column, basis in zip(term.columns, term.bases, strict=True)
                )
                beta = float(term.coefficients.reshape(-1, len(outputs))[0, position])
                rows.append((text, beta, tuple(map(name, term.columns)), output))
        texts, betas, columns, of = zip(*rows, strict=True)
        return cls(texts, betas, columns, of)

    def __str__(self) -> str:
        lines = []
        for text, beta, output in zip(self.term, self.coefficient, self.output, strict=True):
            if text == "1":
                lines.append(f"{output}: {number(beta)}" if output else number(beta))
            else:
                lines.append(f"  {'−' if beta < 0 else '+'} {number(abs(beta))} · {text}")
        return "\n".join(lines)

    def _columns(self) -> Mapping[str, Any]:
        columns: dict[str, Any] = {"term": self.term, "coefficient": self.coefficient}
        if any(self.output):
            columns["output"] = self.output
        return columns


class _Mars(Scored):
    """What regression and classification share: the search, bands, formula."""

    def __init__(
        self,
        *,
        degree: int = 1,
        max_terms: int | None = None,
        penalty: float | None = None,
        threshold: float = 0.001,
        min_span: int | None = None,
        end_span: int | None = None,
        max_knots: int = 200,
        n_parents: int = 20,
        extrapolate: str = "constant",
        ridge: float = 1.0,
        bands: int = 0,
        categorical: Sequence[int] = (),
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.degree = degree
        self.max_terms = max_terms
        self.penalty = penalty
        self.threshold = threshold
        self.min_span = min_span
        self.end_span = end_span
        self.max_knots = max_knots
        self.n_parents = n_parents
        self.extrapolate = extrapolate
        self.ridge = ridge
        self.bands = bands
        self.categorical = categorical
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _search(
        self, X: Floats, y: Floats, weight: Floats, family: FamilyName | None
    ) -> tuple[Search, Floats, Floats]:
        """Check the settings; return the search, the rows and their weights.

        Rows far beyond all others that contradict them do not decide where a curve ends.
        """
        degree = check_whole("degree", self.degree, 1, 3)
        check_choice("extrapolate", self.extrapolate, ["constant", "linear"])
        check_real("ridge", self.ridge, 0, strict=True)
        if check_whole("bands", self.bands, 0) and self.bands < 10:
            check_whole("bands", self.bands, 10)
        usual_terms = min(200, max(20, 2 * X.shape[1])) + 1
        usual_penalty = 2.0 if degree == 1 else 3.0
        present = ~np.isnan(X)
        with np.errstate(invalid="ignore"):
            self.low_ = np.min(np.where(present, X, np.inf), axis=0, initial=np.inf)
            self.high_ = np.max(np.where(present, X, -np.inf), axis=0, initial=-np.inf)
        everywhere = np.full(X.shape[1], np.inf)
        is_constant = self.extrapolate == "constant"
        rows, ranges = X, np.array([self.low_, self.high_])
        if family is not None:
            ends, weight = trusted_ends(X, y, weight, family, self.categorical)
            rows = np.clip(X, *ends)
            ranges = np.array([np.fmax(ranges[0], ends[0]), np.fmin(ranges[1], ends[1])])
        search = Search(
            degree=degree,
            max_terms=usual_terms
            if self.max_terms is None
            else check_whole("max_terms", self.max_terms, 1),
            penalty=usual_penalty
            if self.penalty is None
            else check_real("penalty", self.penalty, 0),
            threshold=check_real("threshold", self.threshold, 0),
            min_span=0 if self.min_span is None else check_whole("min_span", self.min_span, 1),
            end_span=0 if self.end_span is None else check_whole("end_span", self.end_span, 1),
            max_knots=check_whole("max_knots", self.max_knots, 1),
            n_parents=check_whole("n_parents", self.n_parents, 0),
            levels=level_counts(X, self.categorical),
            ranges=ranges if is_constant else np.array([-everywhere, everywhere]),
            n_jobs=self.n_jobs,
        )
        return search, rows, weight

    def _keep(
        self,
        selection: TermSelection,
        score: tuple[Floats, Floats],
        link: Link,
        spread: Spread | None,
    ) -> None:
        """Record the fit: the terms, their coefficients and the score that they make up."""
        constant, coefficients = score
        self.products_ = selection.products
        self.gcv_ = selection.gcv
        self.rss_ = selection.rss
        terms = tuple(
            ProductTerm(columns, factors, beta.reshape((1,) * len(columns) + (-1,)))
            for (columns, factors), beta in zip(selection.products, coefficients, strict=True)
        )
        self.parts_ = ScoreParts(SumOfProducts(constant, terms), link=link, spread=spread)

    def _spread(self, draw: Callable[[np.random.Generator], Draw]) -> Spread | None:
        """Repeat the whole search on bootstrap samples."""
        if not self.bands:
            return None
        generators = np.random.default_rng(self.random_state).spawn(self.bands)
        return spread_of_draws([draw(generator) for generator in generators])

    def outside(self, X: ArrayLike) -> NDArray[np.intp]:
        """Count, for each column, the rows whose value lies outside the training range."""
        values = self._matrix(X)
        beyond = (values < self.low_) | (values > self.high_)  # False where missing
        return np.asarray(np.count_nonzero(beyond, axis=0))

    def equation(
        self, names: Sequence[str] | None = None, levels: Sequence[Sequence[str]] | None = None
    ) -> Formula:
        """Write the fitted score as a sum of products.

        Parameters
        ----------
        names
            Names of the columns; x0, x1, ... when None.
        levels
            For each column, the names of its levels; empty for columns of numbers.
        """
        check_is_fitted(self, "parts_")
        return Formula.of(self.parts_.products, names, levels, outputs=self._outputs())


class MarsRegressor(ScoredNumbers, _Mars):
    """Multivariate adaptive regression splines for numbers (Friedman 1991).

    The forward pass adds pairs of hinges max(0, x - t) and max(0, t - x), times a term that is in
    the model already, where they lower the sum of squares most. The backward pass drops terms one
    at a time and keeps the model of the least generalised cross-validation error. Categories enter
    as indicators of sets of levels. Where a column has missing values, its hinges are zero there,
    and the indicator of missing values is a candidate of its own. A level never seen counts as
    missing where training rows had gaps, else as outside every set.

    Parameters
    ----------
    degree
        Columns that a product may involve, 1 to 3; 1 is an additive model.
    max_terms
        Terms of the forward pass at most, with the constant; twice the number of columns, between
        20 and 200, plus one when None.
    penalty
        What the choice of a knot costs in generalised cross-validation, in parameters; 2 for
        degree 1 and 3 above when None.
    threshold
        The forward pass ends once a step adds less than this to R².
    min_span, end_span
        Rows between neighbouring knots, and beyond the outermost ones; Friedman's rules when None.
    max_knots
        Knots tried in a column at most.
    n_parents
        Terms that a step of the forward pass tries to extend (fast MARS); 0 for all.
    extrapolate
        "constant": beyond the range of the training rows, predictions are those at its end;
        "linear" continues the outermost lines.
    ridge
        For classes and counts: weight of the squared penalty on standardised terms.
    bands
        Bootstrap samples to which the whole search is repeated, for bands around effects; 0 for
        none, else at least 10.
    categorical
        Positions of the columns that hold category codes.
    random_state
        Fixes the bootstrap samples.
    n_jobs
        Number of threads; the result does not depend on it.

    Attributes
    ----------
    products_ : tuple
        For each term but the constant, its columns and the function of each.
    parts_ : ScoreParts
    gcv_, rss_ : float
        Generalised cross-validation error and residual sum of squares of the least-squares fit.
    low_, high_ : ndarray
        Range of each column over the training rows.

    Notes
    -----
    Row weights that are whole numbers count rows; others are scaled to a mean of 1. Bands come from
    a bootstrap of residuals, which are enlarged by the share of parameters that the search chose,
    and repeat the whole search: bands of the last least-squares fit would ignore it.

    Examples
    --------
    >>> X = np.linspace(0, 1, 201)[:, None]
    >>> model = MarsRegressor(min_span=1).fit(X, 5 + 3 * np.maximum(X[:, 0] - 0.4, 0))
    >>> print(model.equation(["dose"]))
    5
      + 3 · max(0, dose − 0.4)
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Search for the terms and fit their coefficients."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        check_size(target, weight)
        search, rows, weight = self._search(rows, target, weight, "gaussian")
        selection = search(rows, target[:, None], weight)
        n, root = float(weight.sum()), np.sqrt(weight)
        fitted = selection.constant[0] + selection.values @ selection.coefficients[:, 0]
        # residuals of the fit are smaller than errors, by the parameters that were chosen
        residuals = root * (target - fitted) / np.sqrt(max(1 - selection.freedom / n, 1 / n))
        residuals -= residuals.mean()

        def draw(rng: np.random.Generator) -> Draw:
            response = fitted + rng.choice(residuals, len(residuals)) / root
            again = search(rows, response[:, None], weight)
            return again.products, again.constant, again.coefficients

        score = selection.constant, selection.coefficients
        self._keep(selection, score, "identity", self._spread(draw))
        return self


class MarsPoisson(ScoredCounts, _Mars):
    """Multivariate adaptive regression splines for counts and rates.

    The search of `MarsRegressor`, then a Poisson regression on its terms with a log link and a
    squared penalty. Parameters and attributes are those of `MarsRegressor`; bands come from a
    bootstrap of rows.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> model = MarsPoisson(ridge=1e-6).fit(X, np.tile([1, 3, 2, 2], 10) * (1 + X[:, 0]))
    >>> model.predict([[0.0], [1.0]]).round(3)
    array([2., 4.])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Search for the terms and fit their coefficients."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        search, rows, weight = self._search(rows, target, weight, "poisson")
        selection = search(rows, target[:, None], weight)

        def draw(rng: np.random.Generator) -> Draw:
            at, counts = _resampled(rng, weight, target > 0)
            again = search(rows[at], target[at, None], counts)
            return again.products, *_poisson(again.values, target[at], counts, self.ridge)

        score = _poisson(selection.values, target, weight, self.ridge)
        self._keep(selection, score, "log", self._spread(draw))
        return self

    def multiply(self, factor: float) -> None:
        """Multiply all predictions by a factor."""
        super().multiply(factor)
        self.gcv_, self.rss_ = self.gcv_ * factor**2, self.rss_ * factor**2


class MarsClassifier(ScoredClasses, _Mars):
    """Multivariate adaptive regression splines for classes.

    The search fits the indicators of the classes by least squares, with terms common to all of
    them. A logistic regression on these terms, with a squared penalty, gives the probabilities; for
    more than two classes it has one score per class. Parameters and attributes are those of
    `MarsRegressor`, and ``classes_``; bands come from a bootstrap of rows within each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MarsClassifier().fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Search for the terms and fit their coefficients."""
        rows, codes, weight = self._classes(X, y, sample_weight)
        n_classes = len(self.classes_)
        family: FamilyName | None = "binomial" if n_classes == 2 else None
        search, rows, weight = self._search(rows, codes.astype(np.float64), weight, family)
        response = np.eye(n_classes)[codes]
        response = response[:, 1:] if n_classes == 2 else response
        selection = search(rows, response, weight)

        def draw(rng: np.random.Generator) -> Draw:
            at, counts = _resampled(rng, weight, codes)
            again = search(rows[at], response[at], counts)
            return again.products, *_logistic(again.values, codes[at], counts, self.ridge)

        score = _logistic(selection.values, codes, weight, self.ridge)
        link: Link = "logistic" if n_classes == 2 else "softmax"
        self._keep(selection, score, link, self._spread(draw))
        return self


def _resampled(
    rng: np.random.Generator, weight: Floats, groups: NDArray[Any]
) -> tuple[Index, Floats]:
    """Draw rows with replacement within each group, and return those drawn with their weights."""
    counts = np.zeros(len(weight))
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        np.add.at(counts, rng.choice(members, len(members)), 1.0)
    rows = np.flatnonzero(counts)
    return rows, counts[rows] * weight[rows]


def _standardised(values: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Standardise terms; return them with their means and spreads."""
    mean = np.average(values, axis=0, weights=weight)
    spread = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weight))
    spread[spread == 0] = 1.0
    return (values - mean) / spread, mean, spread


def _unscaled(
    intercept: Floats, coefficients: Floats, mean: Floats, spread: Floats
) -> tuple[Floats, Floats]:
    """Turn coefficients of standardised terms, (terms, outputs), into those of the terms."""
    coefficients = coefficients / spread[:, None]
    return intercept - mean @ coefficients, coefficients


def _poisson(values: Floats, y: Floats, weight: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Fit a Poisson regression to terms."""
    if not values.shape[1]:
        return np.log(np.average(y, weights=weight, keepdims=True)), np.zeros((0, 1))
    scaled, mean, spread = _standardised(values, weight)
    model = PoissonRegressor(
        alpha=ridge / weight.sum(), solver="newton-cholesky", max_iter=200, tol=1e-8
    )
    model.fit(scaled, y, sample_weight=weight)
    return _unscaled(np.atleast_1d(model.intercept_), model.coef_[:, None], mean, spread)


def _logistic(
    values: Floats, codes: NDArray[Any], weight: Floats, ridge: float
) -> tuple[Floats, Floats]:
    """Fit a logistic regression to terms; one output for two classes, else one per class."""
    shares = np.bincount(codes, weight) / weight.sum()
    if not values.shape[1]:
        constant = np.log(shares)
        constant = constant[1:] - constant[0] if len(shares) == 2 else constant
        return constant, np.zeros((0, len(constant)))
    scaled, mean, spread = _standardised(values, weight)
    model = LogisticRegression(C=1 / ridge, solver="newton-cholesky", max_iter=200, tol=1e-8)
    model.fit(scaled, codes, sample_weight=weight)
    return _unscaled(model.intercept_, model.coef_.T, mean, spread)
