"""How the coefficients of a linear learner change with its penalty or its number of columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.checks import check_seed, is_whole
from clearwood._shared.errors import InputError, bad_value, unknown_choice
from clearwood._shared.numbers import IN_TABLES, count, number, percent
from clearwood._shared.results import Result, html_table
from clearwood.explanation.linear.coefficients import training_table
from clearwood.models import Learner, Real, check_fitted, fit_criteria, unit_of
from clearwood.table import as_table

__all__ = ["CoefficientPath", "path"]

#: The setting that a learner's path runs along.
_SETTINGS = {
    "ridge": "alpha",
    "lasso": "alpha",
    "elastic-net": "alpha",
    "lars": "n_nonzero_coefs",
    "omp": "n_nonzero_coefs",
    "pcr": "n_components",
    "pls": "n_components",
}
#: Learners that keep their path.
_KEPT = {"subset": "columns", "stagewise": "steps"}
#: What the degrees of freedom leave out.
_AT_LEAST = {
    "subset": "the search uses up more degrees of freedom than are counted here",
    "omp": "the search uses up more degrees of freedom than are counted here",
    "stagewise": "degrees of freedom: coefficients that are not zero, a rough measure",
    "pls": "components are made with the target, which uses up more degrees",
}
#: What the horizontal axis of the figure is.
Along = Literal["auto", "setting", "freedom", "shrinkage"]

_MOST_LINES = 20
#: Letters of a line.
_WIDTH = 79


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CoefficientPath(Result):
    """The coefficients of a linear learner along its penalty, or its number of columns.

    Made by `path`. Coefficients are those of the model's columns: for one standard
    deviation of a number, and for a level of a category as the learner encodes it.

    Parameters
    ----------
    model
        The learner.
    setting
        What the path runs along: "alpha", "columns", "steps", "n_components", ...
    points
        The values of the setting, from the simplest model on.
    freedom
        Degrees of freedom of each model, the constant included.
    names
        The model's columns: "age", "region=city".
    coefficients
        Of shape (points, columns).
    rss
        Residual sums of squares.
    r2, adjusted_r2, aic, bic, cp
        Criteria on the training rows; Cp is NaN where no row is left for the variance.
    cv, cv_error
        Mean squared error of held-out rows and its standard error; NaN where it was not computed.
    chosen
        The position of the fitted model in the path.
    outcome
        What is predicted.
    n_rows, seed
        Training rows, and what fixes the folds.
    notes
        What the reader should know.
    loadings
        For "pcr" and "pls": the weights of the columns in each component, of shape (components,
        columns). Each line has length 1.
    variance
        For them: the share of the variance of all columns that each component holds.
    """

    model: str
    setting: str
    points: NDArray[Any]
    freedom: Floats
    names: tuple[str, ...]
    coefficients: Floats
    rss: Floats
    r2: Floats
    adjusted_r2: Floats
    aic: Floats
    bic: Floats
    cp: Floats
    cv: Floats
    cv_error: Floats
    chosen: int
    outcome: str
    n_rows: int
    seed: int
    notes: tuple[str, ...] = ()
    loadings: Floats | None = None
    variance: Floats | None = None
    _derived = ("shrinkage",)

    @property
    def shrinkage(self) -> Floats:
        """The sum of the sizes of the coefficients, as a share of the largest on the path."""
        sizes = np.abs(self.coefficients).sum(axis=1)
        largest = float(sizes.max(initial=0.0))
        return np.asarray(sizes / largest) if largest > 0 else sizes

    @property
    def held_variance(self) -> Floats | None:
        """The share of the variance of all columns that the components of each point hold."""
        if self.variance is None:
            return None
        held = np.cumsum(self.variance)
        return np.asarray(held[np.minimum(np.arange(len(self.points)), len(held) - 1)])

    def _columns(self) -> Mapping[str, Any]:
        lines: dict[str, Any] = {
            self.setting: self.points,
            "freedom": self.freedom,
            **{name: getattr(self, name) for name in ("rss", "r2", "adjusted_r2", "aic", "bic")},
            **{name: getattr(self, name) for name in ("cp", "cv", "cv_error", "shrinkage")},
        }
        if self.held_variance is not None:
            lines["held_variance"] = self.held_variance
        taken = set(lines)
        for name, values in zip(self.names, self.coefficients.T, strict=True):
            lines[f"coefficient {name}" if name in taken else name] = values
        return lines

    def members(self, point: int) -> tuple[str, ...]:
        """Return the columns whose coefficient is not zero at a point of the path."""
        held = self.coefficients[point] != 0
        return tuple(name for name, is_in in zip(self.names, held, strict=True) if is_in)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        headings = [self.setting, "df", "R²", "Cp", "AIC", "BIC", "CV", "not zero"]
        held_variance = self.held_variance
        if held_variance is not None:
            headings[-1] = "variance of columns"
        n = len(self.points)
        shown = set(np.linspace(0, n - 1, min(n, _MOST_LINES)).round().astype(int).tolist())
        lines = []
        for k in sorted(shown | {self.chosen}):
            values = [getattr(self, name)[k] for name in ("r2", "cp", "aic", "bic", "cv")]
            held = self.members(k)
            named = ", ".join(held) if len(held) < len(self.names) else "all"
            if held_variance is not None:  # all columns have a part in every component
                named = percent(held_variance[k])
            mark = " *" if k == self.chosen else ""
            lines.append(
                [
                    f"{number(self.points[k], IN_TABLES)}{mark}",
                    number(self.freedom[k], 3),
                    *(number(v, 5) if np.isfinite(v) else "–" for v in values),
                    named,
                ]
            )
        return headings, lines

    def _headline(self) -> str:
        rows = count(self.n_rows, "row")
        return f"Path of {self.model} along {self.setting}: {self.outcome}, {rows}; * the model"

    def __repr__(self) -> str:
        headings, lines = self._cells()
        widths = [max(map(len, cells)) for cells in zip(headings, *lines, strict=True)][:-1]
        left = max(8, _WIDTH - sum(widths) - 2 * len(widths))
        text = []
        for *cells, named in (headings, *lines):
            right = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
            short = named if len(named) <= left else named[: left - 1] + "…"
            text.append("  ".join([*right, short]).rstrip())
        return "\n".join([self._headline(), "", *text, *(f"note: {note}" for note in self.notes)])

    def plot(self, *, along: Along = "auto") -> Any:
        """Draw the coefficients from the simplest model on (Altair).

        Parameters
        ----------
        along
            The horizontal axis: "setting" (the penalty, the number of components), "freedom"
            (degrees of freedom), "shrinkage" (the sum of the sizes of the coefficients, as a share
            of the largest); "auto" chooses one that shows the changes.
        """
        from clearwood.plot import plot_path

        if along not in get_args(Along):
            raise unknown_choice("along", along, get_args(Along))
        return plot_path(self, along=along)

    def plot_components(self, *, most: int = 8) -> Any:
        """Draw the weights of the columns in the first components of "pcr" and "pls" (Altair).

        Parameters
        ----------
        most
            How many components.
        """
        from clearwood.plot import plot_components

        if self.loadings is None:
            raise InputError(
                f"learner {self.model!r} has no components",
                parameter="model",
                value=self.model,
                hint="fit 'pcr' or 'pls'.",
            )
        return plot_components(self, most=most)

    def _repr_html_(self) -> str:
        headings, lines = self._cells()
        return html_table(self._headline(), headings, lines, self.notes)


def path(model: Learner, data: Any, *, folds: int = 10, seed: int = 0) -> CoefficientPath:
    """Compute how the coefficients of a linear learner change with its penalty or size.

    Parameters
    ----------
    model
        A fitted "ridge", "lasso", "elastic-net", "lars", "omp", "pcr", "pls", "subset" or
        "stagewise".
    data
        The rows it was fitted to: a table with the target, or anything that can be read as one.
    folds
        Of the cross-validated error; 0 for none. "subset" and "stagewise" have theirs from their
        own fit.
    seed
        Fixes the folds.

    Returns
    -------
    CoefficientPath

    Notes
    -----
    Degrees of freedom are the trace of the matrix that maps the target to the fit for ridge
    regression and the elastic net (given its columns), and the number of coefficients that are not
    zero for the lasso (Zou, Hastie and Tibshirani 2007). AIC, BIC and Cp use them.

    The error of cross-validation at the chosen point is too good as an estimate of risk, because
    the point is chosen by it; `clearwood.benchmark` gives an honest one.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> found = cw.explanation.path(cw.learner("subset").fit(data), data)
    >>> found.members(3)
    ('bmi', 'bp', 's5')
    >>> int(found.points[found.chosen])
    5
    """
    if not is_whole(folds) or folds < 0 or folds == 1:
        raise bad_value("folds", folds, "it must be 0, for none, or a whole number of 2 or more")
    check_seed(seed)
    check_fitted(model)
    name = getattr(model, "name", type(model).__name__)
    if name not in {*_SETTINGS, *_KEPT}:
        raise InputError(
            f"{name!r} has no path of coefficients",
            parameter="model",
            value=name,
            hint=f"fit one of {', '.join(map(repr, [*_SETTINGS, *_KEPT]))}.",
        )
    table = training_table(model, data)
    matrix = model.encoder_.transform(as_table(table, schema=model.schema_))
    unit = unit_of(model.task_, model.estimator_, table.y, table.weights, table.exposures)
    weight = unit.weights(table.weights)
    weight = np.ones(table.n_rows) if weight is None else weight
    rows = np.flatnonzero(weight)
    work = _PathFits(model, matrix[rows], np.asarray(table.y, np.float64)[rows], weight[rows])
    found = work.kept() if model.name in _KEPT else work.computed(min(folds, len(rows)), seed)
    notes = [_AT_LEAST[model.name]] if model.name in _AT_LEAST else []
    if np.isfinite(found["cv"]).any():
        notes.append("the error of cross-validation at the chosen point is not its risk")
    return CoefficientPath(
        model=model.name,
        names=tuple(one.name for one in model.encoder_.columns_),
        outcome=table.outcome or "the target",
        n_rows=len(rows),
        seed=model.seed if model.name in _KEPT else seed,
        notes=tuple(notes),
        **found,
    )


@dataclass(frozen=True, eq=False)
class _PathFits:
    """A learner and its training rows."""

    model: Learner
    matrix: Floats
    y: Floats
    weight: Floats

    def kept(self) -> dict[str, Any]:
        """Return the path that the learner kept."""
        fitted = self.model.estimator_
        kept = fitted.path_
        n = len(kept["rss"])
        sizes = np.count_nonzero(kept["coefficients"], axis=1) + 1.0
        unknown = np.full(n, np.nan)
        residuals = self.y[:, None] - kept["intercept"] - self.matrix @ kept["coefficients"].T
        return {
            "setting": _KEPT[self.model.name],
            "points": kept.get("steps", np.arange(n)),
            "coefficients": kept["coefficients"],
            "chosen": fitted.chosen_,
            "cv": kept.get("cv", unknown),
            "cv_error": kept.get("cv_error", unknown),
            **self._judged(self.weight @ residuals**2, kept.get("n_parameters", sizes)),
        }

    def computed(self, folds: int, seed: int) -> dict[str, Any]:
        """Fit the learner at values of its setting."""
        setting = _SETTINGS[self.model.name]
        own = self.model.all_settings[setting]
        points = self._grid(setting, own)
        everything = np.arange(len(self.y))
        fits = [self._coefficients(everything, setting, point) for point in points]
        intercepts = np.array([intercept for intercept, _ in fits])
        coefficients = np.stack([one for _, one in fits])
        residuals = self.y[:, None] - intercepts - self.matrix @ coefficients.T
        freedom = np.array([self._freedom(p, c) for p, c in zip(points, coefficients, strict=True)])
        cv, cv_error = self._held_out(folds, seed, setting, points)
        return {
            "setting": setting,
            "points": np.array(points),
            "coefficients": coefficients,
            "chosen": points.index(min(own, max(points)) if own not in points else own),
            "cv": cv,
            "cv_error": cv_error,
            **self._components(max(points)),
            **self._judged(self.weight @ residuals**2, freedom),
        }

    def _components(self, most: Any) -> dict[str, Any]:
        """Return what components are made of, and how much of the columns each holds."""
        if self.model.name not in ("pcr", "pls"):
            return {}
        fitted = self._fitted(np.arange(len(self.y)), "n_components", most).estimator_
        if self.model.name == "pcr":
            pca = fitted.named_steps["pca"]
            return {"loadings": pca.components_, "variance": pca.explained_variance_ratio_}
        # scores are uncorrelated, so that what each explains of the columns adds up
        explanation = (fitted.x_scores_**2).sum(axis=0) * (fitted.x_loadings_**2).sum(axis=0)
        total = float(((self.matrix - self.matrix.mean(axis=0)) ** 2).sum())
        return {"loadings": fitted.x_weights_.T, "variance": explanation / total}

    def _grid(self, setting: str, own: Any) -> list[Any]:
        """Return values of the setting, from the simplest model on, the learner's among them."""
        space = self.model.entry.space[setting]
        if isinstance(space, Real):
            grid = np.geomspace(space.low, space.high, 60)
            return sorted({*grid.tolist(), float(own)}, reverse=True)
        most = max(1, min(self.matrix.shape[1], len(self.y) - 2, 100))
        return list(range(1, most + 1))

    def _fitted(self, rows: Index, setting: str, point: Any) -> Any:
        """Fit to some rows."""
        job = self.model.job({**self.model.all_settings, setting: point}, self.y)
        estimator = self.model.entry.build(replace(job, n_rows=len(rows)))
        weighted = {} if np.ptp(self.weight) == 0 else {"sample_weight": self.weight[rows]}
        return estimator.fit(self.matrix[rows], self.y[rows], **weighted)

    def _coefficients(self, rows: Index, setting: str, point: Any) -> tuple[float, Floats]:
        """Fit to some rows; the prediction is linear, so a few rows show its coefficients."""
        estimator = self._fitted(rows, setting, point)
        width = self.matrix.shape[1]
        corners = np.vstack([np.zeros(width), np.eye(width)])
        predicted = np.ravel(estimator.predict(corners)).astype(np.float64)
        slopes = predicted[1:] - predicted[0]
        # differences of predictions leave a trace of rounding where a coefficient is zero
        slopes[np.abs(slopes) <= 1e-12 * np.abs(predicted).max(initial=0.0)] = 0.0
        return float(predicted[0]), slopes

    def _freedom(self, point: Any, coefficients: Floats) -> float:
        """Count the degrees of freedom of a fit, the constant included."""
        name, settings = self.model.name, self.model.all_settings
        if name in ("pcr", "pls"):
            return float(point) + 1
        if name in ("ridge", "elastic-net"):
            held = np.flatnonzero(coefficients)
            share = self.weight / self.weight.sum()
            root = np.sqrt(self.weight if name == "ridge" else share)
            centred = self.matrix[:, held] - share @ self.matrix[:, held]
            sizes = np.linalg.svd(root[:, None] * centred, compute_uv=False) ** 2
            penalty = point if name == "ridge" else point * (1 - settings["l1_ratio"])
            known = sizes > 1e-12 * sizes.max(initial=0.0)
            return 1 + float((sizes[known] / (sizes[known] + penalty)).sum())
        return 1.0 + np.count_nonzero(coefficients)

    def _held_out(
        self, folds: int, seed: int, setting: str, points: Sequence[Any]
    ) -> tuple[Floats, Floats]:
        """Return the mean squared error of held-out rows at each point, and its standard error."""
        if folds < 2:
            return np.full(len(points), np.nan), np.full(len(points), np.nan)
        squares = np.empty((len(self.y), len(points)))
        for train, test in KFold(folds, shuffle=True, random_state=seed).split(self.matrix):
            for k, point in enumerate(points):
                intercept, slopes = self._coefficients(train, setting, point)
                squares[test, k] = (self.y[test] - intercept - self.matrix[test] @ slopes) ** 2
        share = self.weight / self.weight.sum()
        mean = share @ squares
        return mean, np.sqrt((share**2) @ (squares - mean) ** 2)

    def _judged(self, rss: Floats, freedom: Floats) -> dict[str, Floats]:
        """Return the criteria of fits by their sums of squares and degrees of freedom."""
        level = np.average(self.y, weights=self.weight)
        total = float(self.weight @ (self.y - level) ** 2)
        # weights that are not whole numbers count by their ratios only, as in fits
        whole = np.array_equal(self.weight, np.round(self.weight))
        scale = 1.0 if whole else 1 / float(self.weight.mean())
        n = scale * float(self.weight.sum())
        centred = self.matrix - np.average(self.matrix, axis=0, weights=self.weight)
        root = np.sqrt(self.weight)
        full, *_ = np.linalg.lstsq(root[:, None] * centred, root * (self.y - level), rcond=None)
        left = n - np.linalg.matrix_rank(root[:, None] * centred) - 1
        spared = scale * float(self.weight @ (self.y - level - centred @ full) ** 2)
        variance = spared / left if left > 0 else np.nan
        # the constant alone comes first, as the measure of the others
        judged = fit_criteria(scale * np.append(total, rss), np.append(1.0, freedom), n, variance)
        r2 = np.maximum(0.0, 1 - rss / total) if total > 0 else np.full(len(rss), np.nan)
        r2[r2 < 1e-12] = 0.0  # rounding
        return {
            "rss": rss,
            "freedom": freedom,
            "r2": r2,
            **{name: values[1:] for name, values in judged.items()},
        }
