"""Bayesian regression for numbers, counts and two classes, as scikit-learn estimators."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import expit
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.messages import tell
from clearwood._shared.numbers import number
from clearwood._shared.progress import progress
from clearwood.models.catalogue.bayes.chains import effective_size, hamiltonian, nuts, r_hat
from clearwood.models.catalogue.bayes.posteriors import (
    Family,
    Laplace,
    Prior,
    Stated,
    default_units,
    fit_conjugate,
    fit_laplace,
)
from clearwood.models.catalogue.gam.fitting import at_least_rows
from clearwood.models.shared.conditions import Line
from clearwood.models.shared.rows import (
    check_choice,
    check_real,
    check_size,
    check_whole,
    row_weights,
)
from clearwood.models.shared.score import Link, ProductTerm, ScoreParts, Spread, SumOfProducts
from clearwood.models.shared.score_estimators import (
    Scored,
    ScoredClasses,
    ScoredCounts,
    ScoredNumbers,
)

__all__ = ["BayesClassifier", "BayesPoisson", "BayesRegressor", "IntervalOf", "PosteriorLines"]

#: What a predictive interval is of: a new row's target, or its mean.
IntervalOf = Literal["row", "mean"]
_METHODS = ("laplace", "mcmc", "nuts")
#: Beyond these, chains do not agree well enough (Vehtari et al. 2021).
_MOST_R_HAT = 1.01
_LEAST_SIZE = 100.0  # for each chain
_MOST_NAMED = 3
_NODES = 41
_MOST_DRAWS = 1_000


@dataclass(frozen=True, eq=False)
class PosteriorLines:
    """What is known of combinations of coefficients.

    Parameters
    ----------
    spread, low, high
        Posterior standard deviation and interval.
    prior_low, prior_high
        The interval of the prior; infinite where it is flat.
    r_hat, effective_size
        How well the chains agree, and the number of independent draws that are as exact; NaN where
        there are no chains.
    """

    spread: Floats
    low: Floats
    high: Floats
    prior_low: Floats
    prior_high: Floats
    r_hat: Floats
    effective_size: Floats


class _Bayes(Scored):
    """What numbers, counts and classes share: priors, posterior and its reading.

    A subclass's fit calls `_set_posterior`.
    """

    scale: float | None
    priors: Sequence[Stated]
    names: Sequence[str]
    draws_: Floats | None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags

    def _training(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, numeric: bool = True
    ) -> tuple[Floats, NDArray[Any], Floats]:
        matrix, target = validate_data(self, X, y, y_numeric=numeric, dtype=np.float64)
        weight, used = row_weights(sample_weight, matrix)
        if sample_weight is not None:  # exposures count as they are, whatever their mean
            weight = np.asarray(sample_weight, np.float64)[used]
        return matrix[used], target[used], weight

    def _matrix(self, X: ArrayLike, *, reset: bool = False) -> Floats:
        check_is_fitted(self, "parts_")
        matrix: Floats = validate_data(self, X, reset=reset, dtype=np.float64)
        return matrix

    def _check_priors(self, n_columns: int) -> None:
        """Refuse priors that are no distributions."""
        if self.scale is not None:
            check_real("scale", self.scale, 0.0, strict=True)
        for position, mean, deviation in self.priors:
            check_whole("priors", position, 0, n_columns - 1)
            check_real("priors", mean, -np.inf)
            check_real("priors", deviation, 0.0, strict=True)

    def _centred(self, rows: Floats, weight: Floats) -> Floats:
        self.centre_ = weight @ rows / weight.sum()
        with np.errstate(over="ignore", invalid="ignore"):
            centred: Floats = rows - self.centre_
            fits = np.isfinite(centred**2).all()
        if not fits:
            raise InputError(
                "some values are too large: their squares are infinite",
                parameter="data",
                hint="divide the column by a power of ten.",
            )
        return centred

    def _set_posterior(
        self, prior: Prior, vector: Floats, matrix: Floats, freedom: float, link: Link
    ) -> Self:
        """Keep a posterior of the score of the mean row and the coefficients."""
        self.prior_mean_, self.prior_spread_ = prior.mean, prior.spread
        self.is_stated_ = prior.is_stated
        self.vector_, self.scale_matrix_, self.freedom_ = vector, matrix, float(freedom)
        lines = [Line(-np.inf, np.inf, float(centre)) for centre in self.centre_]
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        spread = Spread(ScoreParts(_linear(lines, root)), len(vector), self.freedom_, "posterior")
        self.parts_ = ScoreParts(_linear(lines, vector[:, None]), None, link, spread)
        return self

    @property
    def _coefficients(self) -> Floats:
        return self.vector_[1:]

    @property
    def intercept_(self) -> float:
        """The score where every column is zero."""
        return float(self.vector_[0] - self.centre_ @ self.vector_[1:])

    def posterior_of(self, contrasts: ArrayLike, confidence: float = 0.9) -> PosteriorLines:
        """Describe the posterior of combinations of the coefficients.

        Parameters
        ----------
        contrasts
            Of shape (lines, 1 + columns): of the intercept, and of the coefficients.
        confidence
            Of the intervals, whose ends cut off the same probability.
        """
        check_is_fitted(self, "parts_")
        weights = np.array(contrasts, np.float64)
        weights[:, 1:] -= weights[:, [0]] * self.centre_
        middle = weights @ self.vector_
        tail = (1 - confidence) / 2
        # relative to the largest, so that coefficients of any size do not overflow
        reach = np.sqrt(
            np.maximum(np.einsum("ij,jk,ik->i", weights, self.scale_matrix_, weights), 0)
        )
        is_flat = np.abs(weights[:, 0]) > 0
        prior_middle = weights[:, 1:] @ self.prior_mean_
        prior_reach = np.sqrt(weights[:, 1:] ** 2 @ self.prior_spread_**2)
        prior_reach = np.where(is_flat, np.inf, prior_reach * stats.norm.isf(tail))
        unknown = np.full(len(weights), np.nan)
        prior_ends = prior_middle - prior_reach, prior_middle + prior_reach
        if self.draws_ is None:
            factor = float(stats.t.isf(tail, self.freedom_))
            known = np.sqrt(self.freedom_ / (self.freedom_ - 2)) if self.freedom_ > 2 else np.inf
            if np.isinf(self.freedom_):
                known = 1.0
            ends = middle - factor * reach, middle + factor * reach
            return PosteriorLines(known * reach, *ends, *prior_ends, unknown, unknown)
        lines = self.draws_ @ weights.T
        flat = lines.reshape(-1, len(weights))
        low, high = np.quantile(flat, (tail, 1 - tail), axis=0)
        moves = [k for k in range(len(weights)) if np.ptp(flat[:, k]) > 0]
        agreement, sizes = unknown.copy(), unknown.copy()
        for k in moves:
            agreement[k], sizes[k] = r_hat(lines[:, :, k]), effective_size(lines[:, :, k])
        return PosteriorLines(flat.std(axis=0), low, high, *prior_ends, agreement, sizes)

    def _score_spread(self, X: ArrayLike) -> tuple[Floats, Floats]:
        """Return the mean score of rows and its standard deviation, or scale of its t."""
        matrix = self._matrix(X)
        design = np.column_stack([np.ones(len(matrix)), matrix - self.centre_])
        reach = np.einsum("ij,jk,ik->i", design, self.scale_matrix_, design)
        return design @ self.vector_, np.sqrt(np.maximum(reach, 0.0))

    def _score_draws(self, X: ArrayLike) -> Floats:
        """Return scores of rows under some of the draws, (rows, draws)."""
        assert self.draws_ is not None
        matrix = self._matrix(X)
        flat = self.draws_.reshape(-1, self.draws_.shape[-1])
        chosen = np.unique(np.linspace(0, len(flat) - 1, _MOST_DRAWS).astype(np.intp))
        design = np.column_stack([np.ones(len(matrix)), matrix - self.centre_])
        return np.asarray(design @ flat[chosen].T)

    def _score_ends(self, X: ArrayLike, confidence: float) -> tuple[Floats, Floats]:
        """Return the interval of the score."""
        tail = (1 - check_real("confidence", confidence, 0.0, 1.0, strict=True)) / 2
        if self.draws_ is not None:
            low, high = np.quantile(self._score_draws(X), (tail, 1 - tail), axis=1)
            return low, high
        middle, reach = self._score_spread(X)
        reach = reach * float(stats.t.isf(tail, self.freedom_))
        return middle - reach, middle + reach


class _Approximated(_Bayes):
    """What counts and classes share: the Laplace approximation, and chains."""

    def __init__(
        self,
        *,
        scale: float | None = None,
        priors: Sequence[Stated] = (),
        method: str = "laplace",
        draws: int = 1_000,
        chains: int = 4,
        names: Sequence[str] = (),
        random_state: int = 0,
    ) -> None:
        self.scale = scale
        self.priors = priors
        self.method = method
        self.draws = draws
        self.chains = chains
        self.names = names
        self.random_state = random_state

    def _fit(self, rows: Floats, target: Floats, weight: Floats, family: Family) -> Self:
        check_choice("method", self.method, _METHODS)
        check_whole("draws", self.draws, 8)
        check_whole("chains", self.chains, 2)
        self._check_priors(rows.shape[1])
        centred = self._centred(rows, weight)
        fit = fit_laplace(
            centred,
            target,
            weight,
            family=family,
            units=default_units(rows, weight, 1.0),
            stated=self.priors,
            scale=self.scale,
        )
        if not fit.is_converged:
            tell(
                "learner 'bayes' did not find the mode of the posterior; state narrower priors, or "
                "a smaller scale"
            )
        self.scale_, self.log_evidence_ = fit.scale, fit.log_evidence
        vector, covariance, self.draws_ = fit.coefficients, fit.covariance, None
        if self.method != "laplace":
            self.draws_ = self._drawn(fit)
            flat = self.draws_.reshape(-1, len(vector))
            vector, covariance = flat.mean(axis=0), np.atleast_2d(np.cov(flat.T))
        self._set_posterior(
            fit.prior, vector, covariance, np.inf, "logistic" if family == "logistic" else "log"
        )
        if self.draws_ is not None:
            self._check_chains()
        return self

    def _drawn(self, fit: Laplace) -> Floats:
        """Draw from the posterior, of shape (chains, draws, coefficients)."""
        sampler = hamiltonian if self.method == "mcmc" else nuts
        moves = self.draws + max(self.draws // 2, 100)
        with progress("drawing from the posterior", total=moves) as step:
            found = sampler(
                fit.posterior,
                fit.coefficients,
                fit.root,
                draws=self.draws,
                chains=self.chains,
                seed=self.random_state,
                step=step,
            )
        self.accepted_ = found.accepted
        return found.draws

    def _check_chains(self) -> None:
        """Measure how well chains agree, and warn where they do not."""
        assert self.draws_ is not None
        places = range(self.draws_.shape[2])
        self.r_hat_ = np.array([r_hat(self.draws_[:, :, k]) for k in places])
        self.effective_size_ = np.array([effective_size(self.draws_[:, :, k]) for k in places])
        least = _LEAST_SIZE * self.chains
        bad = np.flatnonzero((self.r_hat_ > _MOST_R_HAT) | (self.effective_size_ < least))
        if not len(bad):
            return
        order = bad[np.argsort(-self.r_hat_[bad], kind="stable")]
        named = ", ".join(
            f"{self._name(k)} (R-hat {number(self.r_hat_[k], 4)}, "
            f"{number(self.effective_size_[k])} effective draws)"
            for k in order[:_MOST_NAMED]
        )
        more = len(bad) - _MOST_NAMED
        tell(
            f"the chains of learner 'bayes' do not agree well on {len(bad)} of {len(places)} "
            f"coefficients: {named}{f' and {more} more' if more > 0 else ''}. R-hat should be at "
            f"most {_MOST_R_HAT} and effective draws {number(least)} or more; draw more, or state "
            "narrower priors"
        )

    def _name(self, position: int) -> str:
        """Name a coefficient by its column."""
        if position == 0:
            return "the constant"
        return repr(self.names[position - 1]) if self.names else f"column {position - 1}"


class BayesRegressor(ScoredNumbers, _Bayes):
    """Linear regression with a normal-inverse-gamma prior: everything is in closed form.

    The prior of a coefficient is normal, that of the noise inverse gamma, and the constant has a
    flat one. Coefficients, means and new targets then have t distributions.

    Parameters
    ----------
    scale
        Standard deviation of the default priors: of what one standard deviation of a column of
        numbers, or a step from 0 to 1, adds to the prediction, in standard deviations of the
        target. By default the one with the largest product of scale and evidence, from 0.5 on; less
        with fewer than ten rows for each column.
    priors
        Stated priors: position of the column, mean and standard deviation of its coefficient.
    noise
        The expected standard deviation of the noise, in the target's unit; nothing is expected when
        None.
    noise_rows
        The number of rows that this counts for.
    names
        Of the columns, for messages.

    Attributes
    ----------
    coef_, intercept_
        Posterior means.
    scale_matrix_, freedom_
        Of the t distribution of the score of the mean row and the coefficients.
    noise_ : float
        Standard deviation of the noise.
    scale_ : float
    log_evidence_ : float
        Log density of the targets, up to a constant that is the same for all models of these rows.
        The model with the larger one is the more probable one, if both were equally probable.

    Notes
    -----
    A conjugate prior is proportional to the noise: with a wide one, each coefficient that turns out
    to be small counts as a row without noise, so that the noise is estimated too low where there
    are many columns and few rows (Moran, Ročková and George 2019). The scale of the largest
    evidence avoids this.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> model = BayesRegressor().fit(X, 3 + 2 * X[:, 0] + rng.normal(size=60))
    >>> low, high = model.predict_interval(X, 0.9)
    >>> bool((low < model.predict(X)).all() and (model.predict(X) < high).all())
    True
    """

    def __init__(
        self,
        *,
        scale: float | None = None,
        priors: Sequence[Stated] = (),
        noise: float | None = None,
        noise_rows: float = 1.0,
        names: Sequence[str] = (),
    ) -> None:
        self.scale = scale
        self.priors = priors
        self.noise = noise
        self.noise_rows = noise_rows
        self.names = names

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Compute the posterior."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        weight = at_least_rows(weight)
        self._check_priors(rows.shape[1])
        expected = None
        if self.noise is not None:
            expected = (
                check_real("noise", self.noise, 0.0, strict=True),
                check_real("noise_rows", self.noise_rows, 0.0, strict=True),
            )
        check_size(target, weight)
        if weight.sum() <= 1 and expected is None:
            raise InputError(
                "there is 1 sample only, and one row says nothing of the noise",
                parameter="noise",
                hint="state what is expected of it, with noise and noise_rows.",
            )
        centred = self._centred(rows, weight)
        level = float(weight @ target / weight.sum())
        spread = float(np.sqrt(weight @ (target - level) ** 2 / weight.sum()))
        self.draws_ = None
        fit = fit_conjugate(
            centred,
            target,
            weight,
            units=default_units(rows, weight, spread if spread > 0 else 1.0),
            stated=self.priors,
            scale=self.scale,
            noise=expected,
        )
        self.scale_, self.noise_, self.log_evidence_ = fit.scale, fit.noise, fit.log_evidence
        return self._set_posterior(
            fit.prior, fit.coefficients, fit.scale_matrix, fit.freedom, "identity"
        )

    @property
    def coef_(self) -> Floats:
        """The posterior mean of each coefficient."""
        return self._coefficients

    def predict_interval(
        self,
        X: ArrayLike,
        confidence: float = 0.9,
        *,
        of: IntervalOf = "row",
        exposure: ArrayLike | None = None,
    ) -> tuple[Floats, Floats]:
        """Return where new targets, or their means, lie with this probability.

        Parameters
        ----------
        X
            Rows.
        confidence
            The probability.
        of
            "row" for a new target, "mean" for its mean.
        exposure
            What the noise of a target is divided by, as a weight; 1 when None.
        """
        tail = (1 - check_real("confidence", confidence, 0.0, 1.0, strict=True)) / 2
        middle, reach = self._score_spread(X)
        if of == "row":
            share = np.ones(len(middle)) if exposure is None else np.asarray(exposure, np.float64)
            reach = np.sqrt(reach**2 + self.noise_**2 / share)
        reach = reach * float(stats.t.isf(tail, self.freedom_))
        return middle - reach, middle + reach


class BayesClassifier(ScoredClasses, _Approximated):
    """Logistic regression with normal priors, for two classes.

    Parameters
    ----------
    scale
        Standard deviation of the default priors: of what one standard deviation of a column of
        numbers, or a step from 0 to 1, adds to the log odds. By default the one with the
        largest product of scale and evidence, from 1 to 2.5; less with fewer than ten rows for each
        column.
    priors
        Stated priors: position of the column, mean and standard deviation of its coefficient.
    method
        "laplace" approximates the posterior by a normal distribution. "mcmc" draws from it by
        Hamiltonian Monte Carlo. "nuts" does so with the library nutpie.
    draws, chains
        Draws kept of each chain, and chains.
    names
        Of the columns, for messages.
    random_state
        Fixes the draws.

    Attributes
    ----------
    coef_, intercept_
        The mode of the posterior, or the mean of the draws.
    draws_ : ndarray or None
        Of shape (chains, draws, 1 + columns); the first is the score of the mean row.
    r_hat_, effective_size_ : ndarray
        Of the draws. A warning names coefficients on which chains do not agree.
    scale_ : float
    log_evidence_ : float
        By the Laplace approximation, up to a constant that is the same for all models of these
        rows.

    Examples
    --------
    >>> X = np.array([[-2.0], [-1.0], [0.0], [0.5], [1.0], [2.0]])
    >>> model = BayesClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    >>> low, high = model.predict_interval([[0.25]], 0.9)
    >>> bool(0 < low < 0.5 < high < 1)
    True
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Approximate the posterior, or draw from it."""
        rows, codes, weight = self._classes(X, y, sample_weight)
        if len(self.classes_) > 2:
            raise InputError(
                f"Only binary classification is supported: there are {len(self.classes_)} classes",
                parameter="target",
                value=len(self.classes_),
                hint="choose 'softmax' or 'gam' for more than two classes.",
            )
        return self._fit(rows, codes.astype(np.float64), weight, "logistic")

    @property
    def coef_(self) -> Floats:
        """The coefficient of each column, of shape (1, columns)."""
        return self._coefficients[None, :]

    def predict_interval(
        self,
        X: ArrayLike,
        confidence: float = 0.9,
        *,
        of: IntervalOf = "mean",
        exposure: ArrayLike | None = None,
    ) -> tuple[Floats, Floats]:
        """Return where the probability of the second class lies with this probability.

        Parameters
        ----------
        X
            Rows.
        confidence
            The probability.
        of
            "mean", the only one for classes.
        exposure
            Not used.
        """
        del exposure
        check_choice("of", of, ["mean"])
        low, high = self._score_ends(X, confidence)
        return expit(low), expit(high)


class BayesPoisson(ScoredCounts, _Approximated):
    """Poisson regression with normal priors, for counts and rates.

    Parameters and attributes are those of `BayesClassifier`; the scale is that of the logarithm of
    the mean. For rates, weights are exposures.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 50, axis=0)
    >>> model = BayesPoisson().fit(X, np.tile([1, 3], 50) * (1 + X[:, 0]))
    >>> low, high = model.predict_interval([[0.0]], 0.9)
    >>> low, high
    (array([0.]), array([5.]))
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Approximate the posterior, or draw from it."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        return self._fit(rows, target, weight, "poisson")

    def multiply(self, factor: float) -> None:
        """Multiply all predictions by a factor; the prior of the constant is flat."""
        super().multiply(factor)
        self.vector_[0] = self.parts_.products.constant[0]
        if self.draws_ is not None:
            self.draws_[:, :, 0] += np.log(factor)

    @property
    def coef_(self) -> Floats:
        """The coefficient of each column."""
        return self._coefficients

    def predict_interval(
        self,
        X: ArrayLike,
        confidence: float = 0.9,
        *,
        of: IntervalOf = "row",
        exposure: ArrayLike | None = None,
    ) -> tuple[Floats, Floats]:
        """Return where new counts, or their means, lie with this probability or a little more.

        Parameters
        ----------
        X
            Rows.
        confidence
            The probability.
        of
            "row" for a new count, "mean" for its mean.
        exposure
            Of the rows, 1 when None: the interval is that of the count over it.
        """
        if of == "mean":
            low, high = self._score_ends(X, confidence)
            return np.exp(low), np.exp(high)
        tail = (1 - check_real("confidence", confidence, 0.0, 1.0, strict=True)) / 2
        scores, shares = self._mixture(X)
        share = np.ones(len(scores)) if exposure is None else np.asarray(exposure, np.float64)
        means = share[:, None] * np.exp(np.minimum(scores, 700.0))
        return (
            _mixed_quantile(means, shares, tail) / share,
            _mixed_quantile(means, shares, 1 - tail) / share,
        )

    def _mixture(self, X: ArrayLike) -> tuple[Floats, Floats]:
        """Return scores of rows and their probabilities: nodes of the normal, or draws."""
        if self.draws_ is not None:
            scores = self._score_draws(X)
            return scores, np.full(scores.shape[1], 1 / scores.shape[1])
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        middle, reach = self._score_spread(X)
        return middle[:, None] + reach[:, None] * nodes, weights / weights.sum()


def _linear(lines: Sequence[Line], vector: Floats) -> SumOfProducts:
    """Return a constant and lines, with coefficients of shape (1 + columns, outputs)."""
    terms = tuple(
        ProductTerm((column,), (line,), vector[1 + column][None, :])
        for column, line in enumerate(lines)
    )
    return SumOfProducts(vector[0], terms)


def _mixed_quantile(means: Floats, shares: Floats, level: float) -> Floats:
    """Return quantiles of mixtures of Poisson distributions, of shape (rows, nodes)."""
    low = np.full(len(means), -1.0)
    high = stats.poisson.ppf(level, means).max(axis=1)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        reached = stats.poisson.cdf(middle[:, None], means) @ shares >= level * (1 - 1e-12)
        high = np.where(reached & (high - low > 1), middle, high)
        low = np.where(~reached & (high - low > 1), middle, low)
    return np.asarray(high)
