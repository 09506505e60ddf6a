"""Hierarchical mixtures of experts for numbers, counts and classes, as scikit-learn estimators."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Setting, words
from clearwood._shared.messages import tell
from clearwood._shared.names import short_name
from clearwood._shared.numbers import IN_TABLES, count, number, percent
from clearwood._shared.progress import progress
from clearwood._shared.results import Result, html_table
from clearwood.models.catalogue.hme.mixture import Family, Mixture, MixtureOptions, fit_mixture
from clearwood.models.shared.rows import (
    check_classes,
    check_counts,
    check_real,
    check_size,
    check_whole,
    row_weights,
)

__all__ = ["ExpertTable", "HmeClassifier", "HmePoisson", "HmeRegressor"]


# A mixture of experts, written out as a table of coefficients.


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExpertTable(Result):
    """Gates and experts in the units of the columns.

    Parameters
    ----------
    columns
        "constant", then the columns of the model.
    gates
        Of shape (gates, columns): the log odds of going on to the right. Gate 1 is the first one;
        gate k leads to 2k on the left and 2k + 1 on the right, gates first and then experts.
    experts
        Of shape (experts, columns, outputs): coefficients of the mean, of its logarithm for counts,
        and of the log odds for classes.
    outputs
        Names of the outputs; one empty name where there is one.
    shares
        The share of the rows that each expert has, on average over the training rows.
    noise
        Standard deviation of the noise of each expert; NaN where there is none.
    log_likelihood
        The penalised log-likelihood after each step of the best start.
    counted_by
        What shares are of: "rows", or what they count by, such as "exposure".
    """

    columns: tuple[str, ...]
    gates: Floats
    experts: Floats
    outputs: tuple[str, ...]
    shares: Floats
    noise: Floats
    log_likelihood: Floats
    counted_by: str = "rows"

    def lines(self) -> list[tuple[str, Floats]]:
        """Return the name and the coefficients of each gate and expert."""
        lines = [(f"gate {k + 1}", gate) for k, gate in enumerate(self.gates)]
        for k, expert in enumerate(self.experts):
            for output, name in enumerate(self.outputs):
                label = f"expert {k + 1}"
                lines.append((f"{label}: {name}" if name else label, expert[:, output]))
        return lines

    def _columns(self) -> Mapping[str, Any]:
        lines = self.lines()
        return {
            "part": [name for name, _ in lines for _ in self.columns],
            "column": [*self.columns] * len(lines),
            "coefficient": np.concatenate([values for _, values in lines]),
        }

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        lines = self.lines()
        headings = ["", *(name for name, _ in lines)]
        rows = [
            [column, *(number(values[j], IN_TABLES) for _, values in lines)]
            for j, column in enumerate(self.columns)
        ]
        n_gates, n_outputs = len(self.gates), len(self.outputs)
        shares = [percent(share) for share in self.shares for _ in range(n_outputs)]
        rows.append([f"share of {self.counted_by}", *[""] * n_gates, *shares])
        if np.isfinite(self.noise).all():
            rows.append(["noise", *[""] * n_gates, *(number(one, IN_TABLES) for one in self.noise)])
        return headings, rows

    def __repr__(self) -> str:
        headings, rows = self._cells()
        headings = [_cut(name, 24) for name in headings]
        rows = [[_cut(row[0], 30), *row[1:]] for row in rows]
        gates = count(len(self.gates), "gate")
        head = f"{len(self.experts)} experts, mixed by {gates} (log odds of right)"
        widths = [max(map(len, cells)) for cells in zip(headings, *rows, strict=True)]
        text = [head, ""]
        # parts side by side, as many as fit into 80 characters
        first = 1
        while first < len(headings):
            last = first + 1
            while (
                last < len(headings)
                and widths[0] + sum(w + 2 for w in widths[first : last + 1]) <= 80
            ):
                last += 1
            for cells in (headings, *rows):
                numbers = [f"{cells[j]:>{widths[j]}}" for j in range(first, last)]
                text.append("  ".join([f"{cells[0]:<{widths[0]}}", *numbers]).rstrip())
            text.append("")
            first = last
        steps = count(len(self.log_likelihood) - 1, "step")
        text.append(f"log-likelihood {number(self.log_likelihood[-1], IN_TABLES)} after {steps}")
        return "\n".join(text)

    def _repr_html_(self) -> str:
        headings, rows = self._cells()
        return html_table("Gates and experts", headings, rows)

    def plot(self) -> Any:
        """Draw the log-likelihood after each step (Altair)."""
        from clearwood.plot import plot_likelihood

        return plot_likelihood(self)


def _cut(name: str, width: int) -> str:
    """Write a name on one line of a table, shortened to a width."""
    plain = " ".join(short_name(name).split())
    return plain if len(plain) <= width else plain[: width - 1] + "…"


class _Hme(BaseEstimator):
    """What numbers, counts and classes share."""

    def __init__(
        self,
        *,
        levels: int = 2,
        ridge: float = 1.0,
        restarts: int = 5,
        max_steps: int = 200,
        random_state: int = 0,
    ) -> None:
        self.levels = levels
        self.ridge = ridge
        self.restarts = restarts
        self.max_steps = max_steps
        self.random_state = random_state

    def _training(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, numeric: bool = True
    ) -> tuple[Floats, NDArray[Any], Floats]:
        matrix, target = validate_data(self, X, y, y_numeric=numeric, dtype=np.float64)
        weight, used = row_weights(sample_weight, matrix)
        return matrix[used], target[used], weight

    def _fit(self, X: Floats, target: Floats, weight: Floats, family: Family) -> Self:
        """Fit the mixture; the target has the shape (rows, outputs)."""
        options = MixtureOptions(
            levels=check_whole("levels", self.levels, 1, 4),
            ridge=check_real("ridge", self.ridge, 0.0, strict=True),
            restarts=check_whole("restarts", self.restarts, 1),
            max_steps=check_whole("max_steps", self.max_steps, 1),
            tolerance=1e-5,
        )
        _check_rows(len(X), options.levels)
        share = weight / weight.sum()
        self.centre_ = share @ X
        away = X - self.centre_
        largest = np.abs(away).max(axis=0)
        # squares of ratios, as those of the numbers may be infinite
        spread = largest * np.sqrt(share @ (away / np.where(largest > 0, largest, 1.0)) ** 2)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        design = self._design(X)
        with progress("fitting mixtures", total=options.restarts) as step:
            mixture = fit_mixture(
                design,
                target,
                weight,
                family,
                options,
                np.random.default_rng(self.random_state),
                step,
            )
        if len(mixture.path) > options.max_steps and _still_rises(mixture.path):
            tell(
                words(
                    f"learner 'hme' stopped after {options.max_steps} steps, while the likelihood "
                    "was still rising; allow more with ",
                    Setting("max_steps", 10 * options.max_steps),
                )
            )
        self.gates_, self.experts_, self.noise_ = mixture.gates, mixture.experts, mixture.noise
        self.log_likelihood_ = mixture.path
        self.shares_ = share @ np.exp(mixture.log_shares(design))
        return self

    def _design(self, X: Floats) -> Floats:
        return np.column_stack([np.ones(len(X)), (X - self.centre_) / self.spread_])

    def _means(self, X: ArrayLike, family: Family) -> Floats:
        check_is_fitted(self, "gates_")
        matrix = validate_data(self, X, reset=False, dtype=np.float64)
        mixture = Mixture(self.gates_, self.experts_, self.noise_, self.log_likelihood_)
        return mixture.predict(self._design(matrix), family)

    def equation(
        self, names: Sequence[str] | None = None, levels: Sequence[Sequence[str]] | None = None
    ) -> ExpertTable:
        """List the coefficients of gates and experts in the units of the columns.

        Parameters
        ----------
        names
            Names of the columns; x0, x1, ... when None.
        levels
            Not used.
        """
        del levels
        check_is_fitted(self, "gates_")
        columns = (
            tuple(names)
            if names is not None
            else tuple(f"x{j}" for j in range(self.n_features_in_))
        )
        experts = np.moveaxis(self._raw(np.moveaxis(self.experts_, 2, 1)), 1, 2)
        outputs = self._outputs()
        if len(outputs) < experts.shape[2]:  # of two classes, log odds of the second
            experts = experts[:, :, 1:] - experts[:, :, :1]
        return ExpertTable(
            columns=("constant", *columns),
            gates=self._raw(self.gates_),
            experts=experts,
            outputs=outputs,
            shares=self.shares_,
            noise=self.noise_ if self._has_noise else np.full(len(self.noise_), np.nan),
            log_likelihood=self.log_likelihood_,
        )

    _has_noise = False

    def _outputs(self) -> tuple[str, ...]:
        return ("",)

    def _raw(self, coefficients: Floats) -> Floats:
        """Bring coefficients, on the last axis, back to the units of the columns."""
        slopes = coefficients[..., 1:] / self.spread_
        constant = coefficients[..., :1] - (slopes @ self.centre_)[..., None]
        return np.concatenate([constant, slopes], axis=-1)


class HmeRegressor(RegressorMixin, _Hme):
    """A hierarchical mixture of linear experts for numbers (Jordan and Jacobs 1994).

    Parameters
    ----------
    levels
        Of gates: 2 give four experts.
    ridge
        Weight of the penalty: half the squared slopes of gates and experts in standardised columns,
        those of experts over their noise.
    restarts
        Random starts of EM; the one of the largest penalised likelihood is continued.
    max_steps
        Steps of EM at most.
    random_state
        Fixes the starts.

    Attributes
    ----------
    gates_, experts_, noise_
        In standardised columns; `equation` has them in the units of the columns.
    shares_ : ndarray
        The mean share of the rows of each expert.
    log_likelihood_ : ndarray
        Penalised, after each step of the best start. It never falls.

    Notes
    -----
    The likelihood has many maxima, and experts have no fixed order: another seed may give a
    mixture that predicts alike and reads differently.

    Examples
    --------
    >>> x = np.linspace(-2, 2, 200)[:, None]
    >>> model = HmeRegressor(levels=1, ridge=0.01).fit(x, np.abs(x[:, 0]))
    >>> bool(np.abs(model.predict(x) - np.abs(x[:, 0])).max() < 0.1)
    True
    """

    _has_noise = True

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the mixture."""
        rows, target, weight = self._training(X, y, sample_weight)
        check_size(target, weight)
        if len(target) > 1 and np.ptp(target) == 0:
            raise InputError(
                f"the target is constant: every row has {number(target[0])}",
                parameter="target",
                value=float(target[0]),
                hint="experts need a target that varies.",
            )
        return self._fit(rows, target.astype(np.float64)[:, None], weight, "gaussian")

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        return self._means(X, "gaussian")[:, 0]


class HmePoisson(RegressorMixin, _Hme):
    """A hierarchical mixture of Poisson regressions, for counts and rates.

    Parameters and attributes are those of `HmeRegressor`.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 100, axis=0)
    >>> model = HmePoisson(levels=1).fit(X, np.tile([1, 3], 100) * (1 + X[:, 0]))
    >>> model.predict([[0.0], [1.0]]).round(1)
    array([2., 4.])
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the mixture."""
        rows, target, weight = self._training(X, y, sample_weight)
        check_counts(target.astype(np.float64))
        return self._fit(rows, target.astype(np.float64)[:, None], weight, "poisson")

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the mean."""
        return self._means(X, "poisson")[:, 0]

    has_log_link = True

    def multiply(self, factor: float) -> None:
        """Multiply all predictions by a factor."""
        self.experts_[:, 0] += np.log(factor)


class HmeClassifier(ClassifierMixin, _Hme):
    """A hierarchical mixture of logistic or multinomial regressions, for classes.

    Parameters and attributes are those of `HmeRegressor`, and ``classes_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> HmeClassifier(levels=1).fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the mixture."""
        rows, target, weight = self._training(X, y, sample_weight, numeric=False)
        check_classification_targets(target)
        self.classes_, codes = np.unique(target, return_inverse=True)
        check_classes(len(self.classes_))
        return self._fit(rows, np.eye(len(self.classes_))[codes], weight, "classes")

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Compute the probabilities of the classes."""
        means = self._means(X, "classes")
        return np.asarray(means / means.sum(axis=1, keepdims=True))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)  # refused before the fit
        labels: NDArray[Any] = self.classes_[likeliest]
        return labels

    def _outputs(self) -> tuple[str, ...]:
        if len(self.classes_) == 2:
            return ("",)
        return tuple(str(label) for label in self.classes_)


def _check_rows(n_rows: int, levels: int) -> None:
    """Refuse fewer rows than two for each expert."""
    n_experts = 2**levels
    if n_rows < 2 * n_experts:
        raise InputError(
            f"{count(n_rows, 'sample')} of positive weight cannot fit {n_experts} experts, "
            "which take two rows each or more",
            parameter="levels",
            value=levels,
            hint="take fewer levels, or give more rows.",
        )


def _still_rises(path: Floats) -> bool:
    """Whether the last step gained more than a ten-thousandth of the likelihood."""
    return bool(path[-1] - path[-2] > 1e-4 * max(abs(path[-1]), 1.0))
