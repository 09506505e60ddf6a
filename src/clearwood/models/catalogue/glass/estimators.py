"""The two estimators: smooth curves and shallow boosted trees, averaged over folds."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Setting, unknown_choice
from clearwood.models.catalogue.gam.covariance import curve_spread
from clearwood.models.catalogue.gam.design import build_design, warn_of_certain_levels
from clearwood.models.catalogue.gam.fitting import at_least_rows, relative
from clearwood.models.catalogue.gam.trust import beyond_ends, reaching_doubted, trusted
from clearwood.models.catalogue.glass.boosting import (
    MANY_ROWS,
    BoostedLoss,
    boost_folds,
    deviating_trees,
    jackknife,
)
from clearwood.models.catalogue.glass.curves import FAMILY_OF_LOSS, fold_curves
from clearwood.models.shared.response import FAMILIES, FamilyName, check_target
from clearwood.models.shared.rows import check_real, check_whole
from clearwood.models.shared.score import Link, ProductTerm, ScoreParts, Spread, SumOfProducts
from clearwood.models.shared.score_estimators import Scored, ScoredClasses

__all__ = ["GlassClassifier", "GlassRegressor"]

#: Columns that have curves, and B-splines of all curves together, beyond which each has fewer.
MOST_CURVES = 100
MOST_SPLINES = 600
LEAST_SPLINES = 6
#: A class with fewer rows than this for each fold is rare.
RARE = 5
_LINKS: dict[BoostedLoss, Link] = {
    "squared": "identity",
    "logistic": "logistic",
    "softmax": "softmax",
    "poisson": "log",
    "gamma": "log",
}


class _Glass(Scored):
    """What the two estimators share."""

    def __init__(
        self,
        *,
        order: int = 2,
        pairs: int | None = None,
        learning_rate: float | None = None,
        folds: int | None = None,
        max_trees: int = 3_000,
        l2: float = 1.0,
        min_rows: int = 5,
        n_splines: int = 20,
        parametric: Sequence[int] = (),
        categorical: Sequence[int] = (),
        monotone: Sequence[int] = (),
        names: Sequence[str] = (),
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.order = order
        self.pairs = pairs
        self.learning_rate = learning_rate
        self.folds = folds
        self.max_trees = max_trees
        self.l2 = l2
        self.min_rows = min_rows
        self.n_splines = n_splines
        self.parametric = parametric
        self.categorical = categorical
        self.monotone = monotone
        self.names = names
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(
        self,
        X: ArrayLike,
        y: Floats,
        sample_weight: ArrayLike | None,
        loss: BoostedLoss,
        n_outputs: int = 1,
        exposure: ArrayLike | None = None,
    ) -> None:
        """Fit curves and trees of all folds."""
        matrix = self._matrix(X, reset=True)
        self._check(matrix)
        weights, positions = np.ones(len(y)), np.arange(len(y))
        shares = None if exposure is None else np.asarray(exposure, np.float64)
        if sample_weight is not None:
            weights = np.asarray(sample_weight, np.float64)
            used = weights > 0
            positions = np.flatnonzero(used)
            matrix, y, weights = matrix[used], y[used], weights[used]
            shares = None if shares is None else shares[used]
        n_folds = self.folds or (4 if len(y) >= MANY_ROWS else 8)
        n_folds = max(2, min(n_folds, len(y) // 2))
        is_class = loss in ("logistic", "softmax")
        weights = at_least_rows(weights) if is_class else weights
        fold_of_row = _draw_folds(y, n_folds, seed=self.random_state, is_class=is_class)
        # columns without variation have neither curves nor splits
        is_parametric = np.isin(np.arange(matrix.shape[1]), list(self.parametric))
        split_on = np.where(is_parametric, 0.0, matrix)
        # a fit of curves takes the cube of their number: with many columns there are only trees
        few = matrix.shape[1] <= MOST_CURVES
        with_curves = matrix if few else np.where(is_parametric, matrix, 0.0)
        build = partial(
            build_design,
            with_curves,
            categorical=self.categorical,
            weights=weights,
            n_splines=self._splines(matrix),
            parametric=self.parametric,
            exposure=shares,
        )
        if loss in FAMILY_OF_LOSS:
            family = FAMILY_OF_LOSS[loss]
            full = relative(weights, len(y), family)
            every = weights if shares is None else shares
            design, weights, doubted = trusted(
                build, with_curves, y, weights, family, every if loss == "poisson" else None
            )
            warn_of_certain_levels(design, y, weights, family, self.names)
        else:
            design, doubted = build(), []
        curves = fold_curves(
            design,
            y,
            weights,
            fold_of_row,
            loss=loss,
            n_outputs=n_outputs,
            exposure=shares,
            monotone=self.monotone,
        )
        boosted = boost_folds(
            split_on,
            y,
            curves.scores,
            fold_of_row,
            loss=loss,
            weights=weights,
            categorical=self.categorical,
            monotone=self.monotone,
            order=self.order,
            pairs=self.pairs,
            learning_rate=self.learning_rate,
            l2=self.l2,
            min_rows=self.min_rows,
            max_trees=self.max_trees,
            seed=self.random_state,
            n_jobs=self.n_jobs,
        )
        # positions among all rows, those of weight zero included
        self.doubted_rows_ = [{**one, "row": int(positions[one["row"]])} for one in doubted]
        self.n_folds_ = n_folds
        self.loss_ = loss
        self.curves_ = [(term.columns, term.bases, term.width) for term in design.terms]
        self.coefficients_ = curves.coefficients
        self.deviations_, self.freedom_ = curves.deviations, curves.freedom
        if self.deviations_ is not None and loss in ("squared", "gamma"):
            # what trees explain of the curves' residuals is not noise
            left = float(boosted.curve[boosted.rounds] / max(boosted.curve[0], 1e-300))
            self.deviations_ = self.deviations_ * np.sqrt(min(left, 1.0))
        if self.deviations_ is not None:
            mean = self.coefficients_.mean(axis=0)
            self.beyond_ = beyond_ends(design, mean, self.deviations_)
            if doubted:
                self.beyond_ = reaching_doubted(
                    self.beyond_, doubted, design, mean[:, 0], self.deviations_[:, 0],
                    y, full / curves.noise, FAMILY_OF_LOSS[loss],
                )  # fmt: skip
        self.trees_ = boosted.trees
        self.n_trees_ = boosted.rounds
        self.held_out_losses_ = boosted.curve
        self.__dict__.pop("_parts", None)

    def _splines(self, matrix: Floats) -> int:
        """Return the B-splines of each curve: few where there are few rows or many columns."""
        each = min(MOST_SPLINES, 2 * len(matrix)) // max(matrix.shape[1], 1)
        return int(min(self.n_splines, max(LEAST_SPLINES, each)))

    def _check(self, matrix: Floats) -> None:
        """Raise where a setting or the number of rows makes no sense."""
        check_whole("order", self.order, 1, 3)
        check_whole("max_trees", self.max_trees, 0)
        check_whole("n_splines", self.n_splines, 4, 1_000)
        for name, least in (("pairs", 0), ("folds", 2)):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), least)
        if self.learning_rate is not None:
            check_real("learning_rate", self.learning_rate, 0.0, 1.0, strict=True)
        check_real("l2", self.l2, 0.0)
        check_real("min_rows", self.min_rows, 1.0)
        if len(matrix) < 4:
            raise InputError(
                f"{len(matrix)} rows are too few for folds",
                parameter="X",
                value=len(matrix),
                hint="fit it to at least 4 rows.",
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: the parts are put together again when they are needed."""
        state: dict[str, Any] = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_parts"}

    @property
    def parts_(self) -> ScoreParts:  # type: ignore[override]  # made when it is needed
        """The score as curves and trees, with the deviations of both."""
        check_is_fitted(self, "coefficients_")
        if "_parts" not in self.__dict__:
            mean = self._products(self.coefficients_.mean(axis=0))
            self._parts = ScoreParts(mean, self.trees_, _LINKS[self.loss_], self._spread())
        return self._parts

    def _spread(self) -> Spread:
        """Describe how far the score varies: curves by their covariance, trees by their folds."""
        trees = self.trees_
        curves = None
        of_folds = np.zeros((*self.coefficients_.shape[1:], self.n_folds_))
        if self.deviations_ is None:
            of_folds = np.einsum("kco,kd->cod", self.coefficients_, jackknife(self.n_folds_))
        else:
            curves = curve_spread(
                [(columns, bases, (width,)) for columns, bases, width in self.curves_],
                self.deviations_,
                self.beyond_,
                self.freedom_,
            )
            if trees is None:
                return curves
        flat = of_folds.reshape(len(of_folds), -1)
        return Spread(
            ScoreParts(
                SumOfProducts(flat[0]) if curves else self._products(flat),
                None if trees is None else deviating_trees(trees, self.n_folds_),
            ),
            count=self.n_folds_,
            freedom=self.n_folds_ - 1,
            source="folds",
            further=curves,
        )

    def _products(self, coefficients: Floats) -> SumOfProducts:
        """Describe curves by their coefficients, of shape (coefficients, outputs)."""
        terms, start = [], 1
        for columns, bases, width in self.curves_:
            terms.append(ProductTerm(columns, bases, coefficients[start : start + width].copy()))
            start += width
        return SumOfProducts(coefficients[0].copy(), tuple(terms))

    def _score(self, X: ArrayLike) -> Floats:
        """Compute the score of rows, of shape (rows, outputs)."""
        matrix, parts = self._matrix(X), self.parts_
        score = parts.products(matrix)
        return score if parts.trees is None else score + parts.trees(matrix, n_jobs=self.n_jobs)


def _draw_folds(y: Floats, n_folds: int, *, seed: int, is_class: bool) -> Index:
    """Draw the fold that holds each row out, of equal sizes.

    A rare class has the same share in every fold. Otherwise shares vary as they would from sample
    to sample, which the jackknife needs to see how far the constant varies.
    """
    shuffled = np.random.default_rng(seed).permutation(len(y))
    if is_class and np.unique(y, return_counts=True)[1].min() < RARE * n_folds:
        shuffled = shuffled[np.argsort(y[shuffled], kind="stable")]
    fold_of_row = np.empty(len(y), np.intp)
    fold_of_row[shuffled] = np.arange(len(y)) % n_folds
    return fold_of_row


class GlassRegressor(RegressorMixin, _Glass):
    """Smooth curves and shallow boosted trees, averaged over folds, for numbers.

    The rows are divided into K folds. On the rows that a fold keeps, smooth curves of all columns
    are fitted (a generalised additive model with automatic smoothness), then shallow trees are
    boosted on what the curves leave. All folds grow their trees in step, and the number of trees is
    where the loss on held-out rows, pooled over the folds, is least. The model is the mean of the K
    models: a sum of functions of at most ``order`` columns each. Bands are from the likelihood of
    the curves, with levels as if they were not shrunk, and from the trees of the K models by the
    delete-a-group jackknife, which has K − 1 degrees of freedom.

    Parameters
    ----------
    family
        "gaussian" for numbers, "poisson" for counts and amounts with zeros (log link, mean of any
        dispersion), "gamma" for positive amounts (log link).
    order
        Columns that one term combines at most: 1, 2 or 3.
    pairs
        How many pairs of columns may be combined, chosen by a screen of what the curves leave; None
        for all.
    learning_rate
        Factor of each tree; None for 0.1, or 0.2 from 5,000 rows on.
    folds
        Number of folds; None for 8, or 4 from 5,000 rows on.
    max_trees
        Trees of each fold at most.
    l2, min_rows
        Penalty of leaves, in rows, and the rows that a leaf must have at least.
    n_splines
        B-splines of each curve at most. All curves together have at most 600, and at most twice as
        many as there are rows, but each has at least 6. With more than 100 columns there are only
        trees.
    parametric
        Positions of columns without any penalty: straight lines of numbers, levels as in a linear
        model. No tree splits on them.
    categorical
        Positions of columns of category codes.
    monotone
        For each column 1 (the prediction may not fall as it rises), -1 or 0.
    names
        Names of columns, for messages.
    random_state
        For the folds and the random thresholds of trees on fewer than 5,000 rows.
    n_jobs
        Threads over folds; the result does not depend on it.

    Attributes
    ----------
    parts_ : ScoreParts
        The score as curves and trees, with the deviations of both.
    deviations_, freedom_
        A root of the covariance of the curves' coefficients, and the degrees of freedom of its
        scale.
    beyond_
        How uncertain curves become for each unit beyond the ends where they are constant.
    doubted_rows_ : list of dict
        As in `GamRegressor`.
    n_trees_ : int
        Trees of each fold.
    held_out_losses_ : ndarray
        Pooled loss on held-out rows by the number of trees.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 3))
    >>> y = np.sin(6 * X[:, 0]) + 2 * X[:, 1] * (X[:, 2] > 0.5) + 0.1 * rng.normal(size=300)
    >>> model = GlassRegressor().fit(X, y)
    >>> model.predict([[0.5, 0.5, 0.1], [0.5, 0.5, 0.9]]).round(1)
    array([0.1, 1.1])
    """

    def __init__(
        self,
        *,
        family: FamilyName = "gaussian",
        order: int = 2,
        pairs: int | None = None,
        learning_rate: float | None = None,
        folds: int | None = None,
        max_trees: int = 3_000,
        l2: float = 1.0,
        min_rows: int = 5,
        n_splines: int = 20,
        parametric: Sequence[int] = (),
        categorical: Sequence[int] = (),
        monotone: Sequence[int] = (),
        names: Sequence[str] = (),
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        super().__init__(
            order=order,
            pairs=pairs,
            learning_rate=learning_rate,
            folds=folds,
            max_trees=max_trees,
            l2=l2,
            min_rows=min_rows,
            n_splines=n_splines,
            parametric=parametric,
            categorical=categorical,
            monotone=monotone,
            names=names,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.family = family

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Fit curves and trees; ``exposure`` is the part of the weights that is exposure."""
        target = np.asarray(y, np.float64)
        losses = {family: loss for loss, family in FAMILY_OF_LOSS.items() if family != "binomial"}
        if self.family not in losses:
            raise unknown_choice("family", self.family, losses, kind=Setting)
        loss = losses[self.family]
        check_target(target, self.family, with_zeros="poisson")
        self._fit(X, target, sample_weight, loss, exposure=exposure)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        return FAMILIES[self.family].mean(self._score(X)[:, 0])

    @property
    def has_log_link(self) -> bool:
        """Whether the score is the logarithm of the prediction."""
        return FAMILIES[self.family].link == "log"

    def multiply(self, factor: float) -> None:
        """Multiply all predictions by a factor."""
        self.coefficients_[:, 0] += np.log(factor)
        self.__dict__.pop("_parts", None)


class GlassClassifier(ScoredClasses, _Glass):
    """Smooth curves and shallow boosted trees, averaged over folds, for classes.

    As `GlassRegressor`, with log loss: one score on the scale of log odds for two classes, else a
    score for each class, joined by the softmax. Bands and components are those of the scores.

    Parameters
    ----------
    order, pairs, learning_rate, folds, max_trees, l2, min_rows, n_splines, parametric
        As in `GlassRegressor`.
    categorical, monotone, names, random_state, n_jobs
        As in `GlassRegressor`. Monotone is for two classes.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    parts_, deviations_, freedom_, n_trees_, held_out_losses_
        As in `GlassRegressor`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 2))
    >>> y = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 0.5, "yes", "no")
    >>> model = GlassClassifier().fit(X, y)
    >>> model.predict([[0.1, 0.5], [0.9, 0.5]])
    array(['no', 'yes'], dtype='<U3')
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit curves and trees."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError("the target has a single class", parameter="y")
        several = len(self.classes_) > 2
        if several and any(self.monotone):
            raise InputError(
                "several classes have no common direction",
                parameter="monotone",
                value=tuple(self.monotone),
                hint="constrain a target of two classes.",
            )
        self._fit(
            X,
            codes.astype(np.float64),
            sample_weight,
            "softmax" if several else "logistic",
            len(self.classes_) if several else 1,
        )
        return self
