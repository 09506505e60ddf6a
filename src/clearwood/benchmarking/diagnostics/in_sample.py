"""Criteria that need no held-out rows: Cp, AIC, BIC, effective degrees of freedom."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import special
from sklearn.linear_model import ElasticNet, LogisticRegression

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import number
from clearwood._shared.results import Result
from clearwood.benchmarking.diagnostics.smoothers import linear_smoother, parts_of, ridge_leverage
from clearwood.models import Learner
from clearwood.table import Table

__all__ = ["InSample", "in_sample"]


@dataclass(frozen=True)
class InSample(Result):
    """Criteria computed from the rows a model was fitted to.

    They estimate the error at the same feature values with new targets, and are valid if the
    model's form is right. Use them to choose among models of one kind, not to state a risk.

    Parameters
    ----------
    learner
        Its name.
    rows
        How many rows.
    df
        Effective degrees of freedom, the intercept included: the trace of the hat matrix (for
        generalised linear models, of the last step of iterated least squares); for the lasso,
        coefficients other than zero plus one.
    log_likelihood
        Of the fit; for numbers with normal errors, at the maximum over their variance.
    training
        Mean squared error on the training rows, where a number is predicted.
    noise
        The variance of the errors that Cp takes: from least squares on the same columns, or, where
        these are as many as the rows, from the fit itself.
    cp
        training + 2 df noise / rows, where normal errors are assumed.
    aic
        -2 log-likelihood + 2 df.
    bic
        -2 log-likelihood + log(rows) df.
    gcv
        Generalised cross-validation, for linear smoothers.
    """

    learner: str
    rows: int
    df: float
    log_likelihood: float
    training: float = float("nan")
    noise: float = float("nan")
    cp: float = float("nan")
    gcv: float = float("nan")
    _derived: ClassVar[tuple[str, ...]] = ("aic", "bic")

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return -2 * self.log_likelihood + 2 * self.df

    @property
    def bic(self) -> float:
        """The Bayesian criterion."""
        return -2 * self.log_likelihood + float(np.log(self.rows)) * self.df

    def __repr__(self) -> str:
        values = ((key, getattr(self, key)) for key in ("df", "cp", "aic", "bic", "gcv"))
        written = [f"{key} {number(value, 4)}" for key, value in values if not np.isnan(value)]
        return f"InSample({self.learner!r}, {self.rows} rows, {', '.join(written)})"


def in_sample(model: Any, data: Table) -> InSample:
    """Compute Cp, AIC, BIC and effective degrees of freedom of a fitted learner.

    AIC and BIC follow Rosso's notes on The Elements of Statistical Learning, (43)-(46), not divided
    by the number of rows; the noise variance in the penalty of (44) is a slip there, as the
    log-likelihood of classes has none.

    Parameters
    ----------
    model
        A fitted `Learner`: "ols", "ridge", "kernel-ridge", "lasso", "elastic-net", "glm" (Poisson)
        or "logistic" for two classes.
    data
        The table it was fitted to.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> in_sample(cw.learner("ols").fit(data), data)
    InSample('ols', 442 rows, df 11, cp 3,006, aic 4,794, bic 4,839, gcv 3,008)
    """
    learner, encoded, estimator = parts_of(model, data)
    if data.weights is not None:
        raise InputError(
            "in-sample criteria are not defined for weighted rows",
            parameter="data",
            hint="use cross-validation.",
        )
    if isinstance(estimator, LogisticRegression):
        return _of_logistic(learner, estimator, encoded, model, data)
    if hasattr(model.estimator_, "distribution_"):
        return _of_counts(learner, model.estimator_, encoded, np.asarray(data.y, dtype=np.float64))
    y = np.asarray(data.y, dtype=np.float64)
    if isinstance(estimator, ElasticNet):
        df = 1.0 + _active_df(estimator, encoded)
        fitted = np.ravel(model.estimator_.predict(encoded))
        return _gaussian(learner, y, fitted, df, encoded)
    smoother = linear_smoother(model, data)
    criteria = _gaussian(learner, y, smoother.fitted, smoother.df, encoded)
    return replace(criteria, gcv=smoother.gcv)


def _gaussian(learner: str, y: Floats, fitted: Floats, df: float, x: Floats) -> InSample:
    n = len(y)
    training = float(np.mean((y - fitted) ** 2))
    design = np.column_stack([np.ones(n), x])
    rank = int(np.linalg.matrix_rank(design))
    if rank < n:
        residuals = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        noise = float((residuals**2).sum() / (n - rank))
    else:
        noise = training * n / (n - df) if df < n else float("nan")
    likelihood = -0.5 * n * (np.log(2 * np.pi * training) + 1) if training > 0 else np.inf
    cp = training + 2 * df * noise / n
    return InSample(learner, n, df, float(likelihood), training, noise, cp)


def _active_df(estimator: Any, x: Floats) -> float:
    """Return degrees of freedom of a lasso (columns kept) or elastic net (ridge on those)."""
    kept = np.ravel(estimator.coef_) != 0
    ratio = float(getattr(estimator, "l1_ratio", 1.0))
    squared = float(estimator.alpha) * (1 - ratio) * len(x)
    centred = x[:, kept] - x[:, kept].mean(axis=0)
    d = np.linalg.svd(centred, compute_uv=False) if kept.any() else np.empty(0)
    known = d[d > 1e-10 * d.max(initial=1.0)]
    return float((known**2 / (known**2 + squared)).sum())


def _of_logistic(
    learner: str, estimator: LogisticRegression, x: Floats, model: Learner, data: Table
) -> InSample:
    if len(model.classes_) != 2:
        raise InputError(
            f"in-sample criteria of {learner!r} are for two classes, not {len(model.classes_)}",
            parameter="model",
            value=learner,
            hint="use cross-validation.",
        )
    score = x @ np.ravel(estimator.coef_) + float(np.ravel(estimator.intercept_)[0])
    one = data.y == model.classes_[1]
    likelihood = float(-np.logaddexp(0.0, np.where(one, -score, score)).sum())
    p = special.expit(score)
    absolute, squared = _penalties(model)
    kept = np.ravel(estimator.coef_) != 0 if absolute else np.ones(x.shape[1], dtype=bool)
    return InSample(learner, len(x), _working_df(x[:, kept], p * (1 - p), squared), likelihood)


def _penalties(model: Learner) -> tuple[bool, float]:
    """Return whether the penalty is absolute (in part), and the weight of its squared part."""
    settings = model.all_settings
    penalty, c = settings["penalty"], float(settings["C"])
    ratio = {"none": 0.0, "l2": 0.0, "l1": 1.0}.get(penalty, settings["l1_ratio"])
    return ratio > 0, 0.0 if penalty == "none" else (1 - ratio) / c


def _of_counts(learner: str, estimator: Any, x: Floats, y: Floats) -> InSample:
    if estimator.distribution_ != "poisson":
        raise InputError(
            f"in-sample criteria of {learner!r} are for the Poisson distribution, not "
            f"{estimator.distribution_}",
            parameter="model",
            value=learner,
            hint="use cross-validation.",
        )
    mean = np.ravel(estimator.predict(x)).astype(np.float64)
    likelihood = float((special.xlogy(y, mean) - mean - special.gammaln(y + 1)).sum())
    # scikit-learn's objective is per row
    penalty = float(estimator.alpha) * len(y)
    return InSample(learner, len(y), _working_df(x, mean, penalty), likelihood)


def _working_df(x: Floats, variance: Floats, penalty: float) -> float:
    """Return the trace of the hat matrix of the last step of iterated least squares."""
    return float(ridge_leverage(x, np.sqrt(variance), penalty, intercept=True).sum())
