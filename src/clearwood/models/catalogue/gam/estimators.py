"""Generalised additive models as estimators."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import RegressorMixin

from clearwood._shared.arrays import Floats
from clearwood._shared.dispersion import Dispersion
from clearwood._shared.errors import InputError, Setting, words
from clearwood.models.catalogue.gam.bases import Extrapolate
from clearwood.models.catalogue.gam.covariance import (
    class_covariance,
    corrected,
    curve_spread,
    deviations,
    projected_deviations,
    scale,
)
from clearwood.models.catalogue.gam.design import (
    Design,
    Projection,
    build_design,
    constraint_rows,
    warn_of_certain_levels,
)
from clearwood.models.catalogue.gam.fitting import (
    Fit,
    at_least_rows,
    constrain,
    fit_classes,
    fit_counts,
    fit_score,
    relative,
)
from clearwood.models.catalogue.gam.pairs import pair_term, screen, weak_pairs
from clearwood.models.catalogue.gam.term_table import class_table, term_table
from clearwood.models.catalogue.gam.trust import beyond_ends, reaching_doubted, trusted
from clearwood.models.shared.response import FAMILIES, POWER, FamilyName, check_target
from clearwood.models.shared.rows import check_choice, check_whole
from clearwood.models.shared.score import Link, ProductTerm, ScoreParts, SumOfProducts
from clearwood.models.shared.score_estimators import Scored, ScoredClasses

__all__ = ["GamClassifier", "GamRegressor", "backfit", "parts_of"]


# Backfitting and local scoring: the same fit, one term at a time.
#
# Each term is replaced by the penalised smooth of the residuals that the others leave, in turn,
# until nothing changes; for other families than the gaussian, that is done for every working
# model (Hastie & Tibshirani 1990). Slower than the direct solution, and equal to it.


MAX_ROUNDS, MAX_SCORINGS = 500, 50
TOLERANCE = 1e-9


def backfit(
    design: Design, y: Floats, weights: Floats, family: FamilyName, penalty: Floats
) -> tuple[Floats, int]:
    """Fit coefficients at known penalties.

    Parameters
    ----------
    design
        The terms.
    y, weights, family
        As in `fit_score`.
    penalty
        The penalty of each coefficient, Σ λ_k d_k.

    Returns
    -------
    coefficients, rounds
        The coefficients, and rounds over the terms in all.
    """
    kind = FAMILIES[family]
    beta, rounds = np.zeros(design.width), 0
    beta[0] = kind.score(float(np.average(y, weights=weights)))
    for _ in range(1 if kind.is_quadratic else MAX_SCORINGS):
        score = design.score(beta)
        residual, weight = kind.working(y, score)
        new, used = _additive(design, residual, weight * weights, penalty, beta)
        rounds += used
        moved = float(np.abs(design.score(new) - score).max())
        beta = new
        if moved < 1e-7:
            break
    return beta, rounds


def _additive(
    design: Design, residual: Floats, weight: Floats, penalty: Floats, start: Floats
) -> tuple[Floats, int]:
    """Smooth partial residuals term by term; ``residual`` is what ``start`` leaves."""
    beta, residual = start.copy(), residual.copy()
    columns = [design.rows_of(term) for term in design.terms]
    factors = []
    for matrix, at in zip(columns, design.at, strict=True):
        gram = matrix.T @ (matrix * weight[:, None])
        # a term without rows of any weight has nothing but its penalty
        factors.append(cho_factor(gram + np.diag(penalty[at] + 1e-12), lower=True))
    size = float(np.sqrt(np.average(residual**2, weights=weight))) or 1.0
    rounds, largest = 0, np.inf
    while rounds < MAX_ROUNDS and largest > TOLERANCE * size:
        rounds += 1
        step = float(np.average(residual, weights=weight))
        beta[0] += step
        residual -= step
        largest = abs(step)
        for matrix, at, factor in zip(columns, design.at, factors, strict=True):
            # the smooth of partial residuals, as a change of the term's last coefficients
            gradient = matrix.T @ (weight * residual) - penalty[at] * beta[at]
            change = cho_solve(factor, gradient)
            beta[at] += change
            moved = matrix @ change
            residual -= moved
            largest = max(largest, float(np.abs(moved).max(initial=0.0)))
    return beta, rounds


Method = Literal["direct", "backfitting"]


def parts_of(
    design: Design,
    coefficients: Floats,
    deviating: Floats | None,
    link: Link,
    *,
    freedom: float = np.inf,
    beyond: Floats | None = None,
) -> ScoreParts:
    """Describe a score by its terms.

    Parameters
    ----------
    design
        The terms.
    coefficients
        Of shape (coefficients, outputs).
    deviating
        Deviations of the coefficients, of shape (coefficients, outputs, deviations).
    link
        Turns the score into the prediction.
    freedom
        Degrees of freedom that the scale of the deviations is estimated with.
    beyond
        As from `beyond_ends`, which is used when None.
    """
    curves = [
        (term.columns, term.bases, tuple(len(one) for one in term.leading) or (term.width,))
        for term in design.terms
    ]
    terms = tuple(
        ProductTerm(columns, bases, coefficients[at].reshape(*shape, -1).copy())
        for (columns, bases, shape), at in zip(curves, design.at, strict=True)
    )
    spread = None
    if deviating is not None:
        beyond = beyond_ends(design, coefficients, deviating) if beyond is None else beyond
        spread = curve_spread(curves, deviating, beyond, freedom)
    return ScoreParts(SumOfProducts(coefficients[0].copy(), terms), None, link, spread)


class _Gam(Scored):
    """What the two estimators share."""

    def __init__(
        self,
        *,
        n_splines: int = 20,
        shrink: bool = True,
        parametric: Sequence[int] = (),
        pairs: int | Sequence[tuple[int, int]] = 0,
        extrapolate: Extrapolate = "constant",
        method: Method = "direct",
        categorical: Sequence[int] = (),
        monotone: Sequence[int] = (),
        convex: Sequence[int] = (),
        concave: Sequence[int] = (),
        names: Sequence[str] = (),
    ) -> None:
        self.n_splines = n_splines
        self.shrink = shrink
        self.parametric = parametric
        self.pairs = pairs
        self.extrapolate = extrapolate
        self.method = method
        self.categorical = categorical
        self.monotone = monotone
        self.convex = convex
        self.concave = concave
        self.names = names

    def _design(
        self, X: ArrayLike, sample_weight: ArrayLike | None, exposure: Floats | None = None
    ) -> tuple[partial[Design], Floats, Floats]:
        """Check settings and rows; return what builds the terms, the rows and their weights."""
        self._check_settings()
        matrix = self._matrix(X, reset=True)
        weights = np.ones(len(matrix))
        if sample_weight is not None:
            weights = np.asarray(sample_weight, np.float64)
        build = partial(
            build_design,
            matrix,
            categorical=self.categorical,
            weights=weights,
            n_splines=self.n_splines,
            shrink=self.shrink,
            parametric=self.parametric,
            extrapolate=self.extrapolate,
            # a curve that is convex on another scale need not be so on its own
            unwarped=[*self.convex, *self.concave],
            exposure=exposure,
        )
        return build, matrix, weights

    def _check_settings(self) -> None:
        check_choice("extrapolate", self.extrapolate, ("constant", "linear"))
        check_choice("method", self.method, ("direct", "backfitting"))
        check_whole("n_splines", self.n_splines, 4, 1_000)
        if not isinstance(self.pairs, Sequence):
            check_whole("pairs", self.pairs, 0)
        shaped = [*np.flatnonzero(self.monotone), *self.convex, *self.concave]
        for column in shaped:
            if column in self.categorical:
                raise InputError(
                    f"column {self._name(column)!r} is a category, which has no direction",
                    parameter="monotone",
                    value=self._name(column),
                )
            if not isinstance(self.pairs, int) and column in np.ravel(self.pairs):
                raise InputError(
                    f"column {self._name(column)!r} cannot have a shape and be in a pair",
                    parameter="pairs",
                    value=self._name(column),
                )
        for column in self.parametric:
            if column in (*self.convex, *self.concave):
                raise InputError(
                    f"column {self._name(column)!r} cannot be a straight line and bend",
                    parameter="parametric",
                    value=self._name(column),
                )
        both = set(self.convex) & set(self.concave)
        if both:
            raise InputError(
                f"column {self._name(both.pop())!r} cannot be both convex and concave",
                parameter="convex",
            )

    def _name(self, column: int) -> str:
        return self.names[column] if len(self.names) else f"x{column}"

    def _fit_single(
        self,
        build: partial[Design],
        matrix: Floats,
        y: Floats,
        weights: Floats,
        family: FamilyName,
        exposure: Floats | None = None,
    ) -> None:
        """Fit one score, and keep what predictions, bands and tables need."""
        weights = relative(weights, len(y), family)
        full_weights = weights
        design, weights, self.doubted_rows_ = trusted(build, matrix, y, weights, family, exposure)
        all_weights = weights
        warn_of_certain_levels(design, y, weights, family, self.names)
        dispersion = Dispersion(1.0, np.inf)
        if exposure is not None:
            fit, dispersion = fit_counts(design, y, weights, exposure)
            weights = weights / dispersion.value
        else:
            fit = fit_score(design, y, weights=weights, family=family)
        if not isinstance(self.pairs, int) or self.pairs:
            design, fit = self._with_pairs(design, fit, y, weights, family)
            if exposure is not None:
                fit, dispersion = fit_counts(
                    design, y, all_weights, exposure, first=dispersion.value
                )
                weights = all_weights / dispersion.value
        if self.method == "backfitting":
            beta, self.rounds_ = backfit(design, y, weights, family, fit.state.penalty)
            fit = replace(fit, coefficients=beta)
        phi = scale(design, fit, y, weights, family)
        covariance = corrected(fit, phi)
        bend = np.zeros(self.n_features_in_, int)
        bend[list(self.convex)], bend[list(self.concave)] = 1, -1
        shape = constraint_rows(design, monotone=tuple(self.monotone), bend=tuple(bend))
        if len(shape):
            free = fit.coefficients
            fit = constrain(design, y, fit, shape, weights=weights, family=family)
            projection = Projection(shape, fit.state.inverse)
            deviating = projected_deviations(free, covariance, projection, fit.coefficients)
        else:
            deviating = deviations(covariance)
        used = 1 - np.diag(fit.state.inverse) * fit.state.penalty
        freedom = dispersion.freedom
        if FAMILIES[family].has_scale:
            freedom = max(fit.working.rows - float(used.sum()), 1.0)
        self.scale_ = phi * dispersion.value
        beyond = reaching_doubted(
            beyond_ends(design, fit.coefficients[:, None], deviating[:, None, :]),
            self.doubted_rows_,
            design, fit.coefficients, deviating, y, full_weights / self.scale_, family,
        )  # fmt: skip
        self.parts_ = parts_of(
            design,
            fit.coefficients[:, None],
            deviating[:, None, :],
            FAMILIES[family].link,
            freedom=freedom,
            beyond=beyond,
        )
        self.edf_ = float(used.sum())
        self.term_table_ = term_table(
            design,
            fit,
            weights=weights,
            phi=phi,
            residual_freedom=freedom if np.isfinite(freedom) else None,
            monotone=self.monotone,
            names=self.names,
        )

    def _with_pairs(
        self, design: Design, fit: Fit, y: Floats, weights: Floats, family: FamilyName
    ) -> tuple[Design, Fit]:
        """Add the pairs that are set, or those that matter."""
        if isinstance(self.pairs, int):
            phi = scale(design, fit, y, weights, family)
            shaped = {*np.flatnonzero(self.monotone), *self.convex, *self.concave, *self.parametric}
            chosen = screen(
                design, fit, y, weights, family, phi=phi, most=self.pairs, left_out=shaped
            )
        else:
            place = {term.columns[0]: i for i, term in enumerate(design.terms)}
            # columns without any term, such as constant ones, have no pairs either
            named = dict.fromkeys(tuple(sorted(pair)) for pair in self.pairs)
            chosen = [(place[a], place[b]) for a, b in named if {a, b} <= set(place)]
        added = [pair_term(design, first, second) for first, second in chosen]
        while added:
            larger = design.with_pairs(added)
            with_pairs = fit_score(larger, y, weights=weights, family=family)
            weak = weak_pairs(larger, with_pairs, added) if isinstance(self.pairs, int) else []
            if not weak:
                return larger, with_pairs
            added = [term for term in added if term not in weak]
        return design, fit


class GamRegressor(RegressorMixin, _Gam):
    """An additive model of smooth curves for numbers, counts and amounts.

    The score is an intercept plus a penalised cubic B-spline of every column of numbers and a
    shrunk effect of every level (but see ``shrink`` and ``parametric``); its mean is the score
    (gaussian) or its exponential (poisson, gamma). How smooth each curve is, and whether it is
    needed at all, is chosen by restricted maximum likelihood.

    Parameters
    ----------
    family
        Distribution of the target: "gaussian", "poisson" (counts, rates), "gamma" (amounts above
        zero, whose spread grows with their mean) or "tweedie" (amounts of which some are zero).
    n_splines
        B-splines of each column: an upper bound of the detail, not the smoothness. Fewer where a
        column has fewer distinct values, or where all columns together would have more than 1.5
        for each row.
    shrink
        Whether straight lines, levels and missing values are penalised as well, so that a term can
        vanish. Otherwise only curvature is, and levels have the effects of a linear model.
    parametric
        Positions of columns without any penalty: straight lines of numbers, levels as in a linear
        model. Pairs are not searched among them.
    pairs
        Pairs of columns to add: how many at most are searched for, or positions.
    extrapolate
        Beyond the training range curves stay "constant" or go on "linear".
    method
        "direct" solves for all terms at once; "backfitting" smooths term by term, with the same
        result.
    categorical
        Positions of columns of category codes.
    monotone
        For each column 1 (rising), -1 (falling) or 0; or nothing.
    convex, concave
        Positions of columns whose curves bend one way.
    names
        Names of columns, for the table of terms.

    Attributes
    ----------
    parts_ : ScoreParts
        The terms, with the spread that bands come from.
    term_table_ : list of dict
        What each term is and does; see `clearwood.models.catalogue.gam.term_table.term_table`.
    doubted_rows_ : list of dict
        Training rows far beyond all others that count less, because they contradict them; see
        `clearwood.models.catalogue.gam.trust.DoubtedRow`. Empty for more
        than two classes, which are not judged.
    edf_ : float
        Effective degrees of freedom of the whole model.
    scale_ : float
        Estimated scale of the noise: the variance (gaussian), or the dispersion of counts and
        amounts.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 2))
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=300)
    >>> model = GamRegressor().fit(X, y)
    >>> [(row["term"], round(row["edf"], 1)) for row in model.term_table_]
    [('x0', 12.8), ('x1', 0.0)]
    """

    def __init__(
        self,
        *,
        family: FamilyName = "gaussian",
        n_splines: int = 20,
        shrink: bool = True,
        parametric: Sequence[int] = (),
        pairs: int | Sequence[tuple[int, int]] = 0,
        extrapolate: Extrapolate = "constant",
        method: Method = "direct",
        categorical: Sequence[int] = (),
        monotone: Sequence[int] = (),
        convex: Sequence[int] = (),
        concave: Sequence[int] = (),
        names: Sequence[str] = (),
    ) -> None:
        super().__init__(
            n_splines=n_splines,
            shrink=shrink,
            parametric=parametric,
            pairs=pairs,
            extrapolate=extrapolate,
            method=method,
            categorical=categorical,
            monotone=monotone,
            convex=convex,
            concave=concave,
            names=names,
        )
        self.family = family

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Fit curves and their smoothness.

        Parameters
        ----------
        X
            Columns of numbers and codes.
        y
            The target: a rate where rows have an exposure.
        sample_weight
            How many times each row counts, times its exposure.
        exposure
            The part of the weights that is exposure, for the dispersion of counts: the rest are
            repetitions. All of the weights when None.
        """
        target = np.asarray(y, np.float64)
        check_choice("family", self.family, [name for name in FAMILIES if name != "binomial"])
        check_target(target, self.family)
        shares = None if exposure is None else np.asarray(exposure, np.float64)
        build, matrix, weights = self._design(X, sample_weight, shares)
        # working weights would grow with the unit of such amounts, beyond the limits of smoothness
        unit = float(np.average(target, weights=weights)) if self.family == "tweedie" else 1.0
        if self.family == "poisson":
            shares = weights if shares is None else shares
            self._fit_single(build, matrix, target, weights, self.family, shares)
        else:
            self._fit_single(build, matrix, target / unit, weights, self.family)
        self.parts_.products.constant[:] += np.log(unit)
        self.scale_ *= unit ** (2 - POWER)
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
        self.parts_.products.constant[:] += np.log(factor)
        if self.family == "tweedie":
            self.scale_ *= factor ** (2 - POWER)


class GamClassifier(ScoredClasses, _Gam):
    """An additive model of smooth curves for classes.

    Of two classes, the logit of the second is the score. Of more, each class has a score of its
    own and the softmax joins them; see `clearwood.models.catalogue.gam.fitting`.

    Parameters
    ----------
    n_splines, shrink, parametric, pairs, extrapolate, method
        As in `GamRegressor`.
    categorical, monotone, convex, concave, names
        As in `GamRegressor`; pairs, backfitting and shapes are for two classes.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    parts_, term_table_, edf_, scale_
        As in `GamRegressor`; with more than two classes the table has one row for each class and
        term, without tests.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X[:, 0] > 0
    >>> float(GamClassifier().fit(X, y).predict_proba([[2.0, 0.0]])[0, 1].round(2))
    1.0
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit curves and their smoothness."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError("the target has a single class", parameter="y")
        build, matrix, weights = self._design(X, sample_weight)
        weights = at_least_rows(weights)
        if len(self.classes_) == 2:
            self._fit_single(build, matrix, codes.astype(np.float64), weights, "binomial")
            return self
        self._check_several()
        design, self.doubted_rows_ = build(), []
        many = fit_classes(design, codes, len(self.classes_), weights=weights)
        covariance = class_covariance(design, many, weights)
        deviating = None
        if covariance is not None:
            shape = (len(self.classes_), design.width, -1)
            deviating = deviations(covariance).reshape(shape).transpose(1, 0, 2)
        self.parts_ = parts_of(design, many.coefficients, deviating, "softmax")
        self.scale_ = 1.0
        self.term_table_ = class_table(
            design, many, weights=weights, classes=self.classes_.tolist(), names=self.names
        )
        self.edf_ = float(sum(row["edf"] for row in self.term_table_)) + len(self.classes_) - 1
        return self

    def _check_several(self) -> None:
        """Raise where a setting is for two classes only."""
        set_to = {
            "pairs": self.pairs if isinstance(self.pairs, int) else len(self.pairs),
            "method": self.method != "direct",
            "monotone": np.any(self.monotone),
            "convex": len(self.convex),
            "concave": len(self.concave),
        }
        for name, value in set_to.items():
            if value:
                raise InputError(
                    words(Setting(name), " is not possible with more than two classes"),
                    parameter=name,
                    value=getattr(self, name),
                )
