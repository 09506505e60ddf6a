"""Rule ensembles for numbers, counts and classes, as scikit-learn estimators."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.numbers import count, number, share_of
from clearwood._shared.results import Result
from clearwood.kernels import LassoFamily, lasso_path
from clearwood.models.catalogue.rules.growing import LINKS, Grower, balanced_folds, merged
from clearwood.models.shared.conditions import Among, Between, Line, Rule, chains
from clearwood.models.shared.rows import check_choice, check_real, check_whole, level_counts
from clearwood.models.shared.score import ProductTerm, ScoreParts, SumOfProducts
from clearwood.models.shared.score_estimators import (
    Scored,
    ScoredClasses,
    ScoredCounts,
    ScoredNumbers,
)

__all__ = ["RuleList", "RuleRow", "RulesClassifier", "RulesPoisson", "RulesRegressor", "write_rows"]


# The rules and lines of a fitted ensemble, as a table that can be read.


@dataclass(frozen=True)
class RuleRow:
    """One rule or line of the ensemble.

    Parameters
    ----------
    rule
        The rule as text: its conditions, or the range of a line.
    kind
        "rule" or "line".
    coefficient
        What it adds to the score where it holds; for a line, per unit of the column.
    support
        Share of the training weight for which it holds; 1 for lines.
    importance
        The standard deviation, over the training rows, of what it adds.
    columns
        The columns that it involves.
    output
        The class whose score it adds to; empty where there is one score.
    """

    rule: str
    kind: str
    coefficient: float
    support: float
    importance: float
    columns: tuple[str, ...]
    output: str = ""


@dataclass(frozen=True)
class RuleList(Result):
    """The score of a rule ensemble: a constant, rules and lines, the most important first.

    Parameters
    ----------
    constant
        What every row starts from, by output.
    rows
        Rules and lines.
    counted_by
        What shares are of: "rows", or what they count by, such as "exposure".

    Examples
    --------
    >>> row = RuleRow("age > 41", "rule", 2.5, 0.4, 1.22, ("age",))
    >>> print(RuleList({"": 10.0}, (row,)))
    10 and 1 rule or line:
      + 2.5  if age > 41 (40 % of rows)
    """

    constant: Mapping[str, float]
    rows: tuple[RuleRow, ...]
    counted_by: str = "rows"

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        several = len(self.constant) > 1
        start = ", ".join(
            f"{name}: {number(value)}" if name else number(value)
            for name, value in self.constant.items()
        )
        lines = [f"{start} and {count(len(self.rows), 'rule or line', 'rules or lines')}:"]
        for row in self.rows:
            sign = "−" if row.coefficient < 0 else "+"
            text = f"  {sign} {number(abs(row.coefficient))}"
            if row.kind == "rule":
                text += f"  if {row.rule} ({share_of(row.support, self.counted_by)})"
            else:
                text += f" · {row.rule}"
            lines.append(f"{text} for {row.output}" if several else text)
        return "\n".join(lines)

    def _columns(self) -> Mapping[str, Any]:
        names = ["rule", "kind", "coefficient", "support", "importance"]
        names += ["output"] if len(self.constant) > 1 else []
        return {name: [getattr(row, name) for row in self.rows] for name in names}


def write_rows(
    terms: Sequence[tuple[Callable[[], str], str, Sequence[float], float, float, tuple[str, ...]]],
    outputs: Sequence[str],
) -> tuple[RuleRow, ...]:
    """Make the rows of a list, the most important first.

    Parameters
    ----------
    terms
        For each rule or line: what writes it, its kind, its coefficient for each output, its
        support, the standard deviation of the term itself, and its columns.
    outputs
        Names of the outputs.
    """
    rows = [
        RuleRow(written(), kind, float(beta), support, abs(float(beta)) * spread, columns, output)
        for written, kind, betas, support, spread, columns in terms
        for output, beta in zip(outputs, betas, strict=True)
        if beta != 0
    ]
    return tuple(sorted(rows, key=lambda row: -row.importance))


#: What the standard deviation of a typical rule is: lines are scaled to it (Friedman and Popescu).
_TYPICAL = 0.4


class _Rules(Scored):
    """What regression, counts and classes share: growing rules, the lasso, the list."""

    def __init__(
        self,
        *,
        n_trees: int = 100,
        mean_leaves: float = 4.0,
        shrinkage: float = 0.1,
        share: float = 0.5,
        min_leaf: int = 10,
        min_support: float = 0.02,
        lines: bool = True,
        winsor: float = 0.025,
        folds: int = 5,
        n_penalties: int = 50,
        choose: str = "best",
        categorical: Sequence[int] = (),
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.n_trees = n_trees
        self.mean_leaves = mean_leaves
        self.shrinkage = shrinkage
        self.share = share
        self.min_leaf = min_leaf
        self.min_support = min_support
        self.lines = lines
        self.winsor = winsor
        self.folds = folds
        self.n_penalties = n_penalties
        self.choose = choose
        self.categorical = categorical
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _grower(self, X: Floats) -> Grower:
        """Check the settings and put the growing of trees together."""
        check_whole("folds", self.folds, 2)
        check_whole("n_penalties", self.n_penalties, 2)
        check_choice("choose", self.choose, ["best", "one-se"])
        check_real("min_support", self.min_support, 0, 0.5)
        check_real("winsor", self.winsor, 0, 0.4)
        return Grower(
            n_trees=check_whole("n_trees", self.n_trees, 1),
            mean_leaves=check_real("mean_leaves", self.mean_leaves, 2),
            shrinkage=check_real("shrinkage", self.shrinkage, 0, 1),
            share=check_real("share", self.share, 0, 1, strict=True),
            min_leaf=check_whole("min_leaf", self.min_leaf, 1),
            levels=level_counts(X, self.categorical),
        )

    def _fit(
        self, X: Floats, response: Floats, weight: Floats, family: LassoFamily, strata: NDArray[Any]
    ) -> Self:
        """Grow rules and choose among them and the lines.

        Parameters
        ----------
        X, weight
            Training rows and what they count.
        response
            Of shape (outputs, rows).
        family
            Whose loss the lasso minimises.
        strata
            Groups of rows that every fold has its share of.
        """
        grower = self._grower(X)
        rng = np.random.default_rng(self.random_state)
        rules, inside = merged(
            (
                candidate
                for source in (grower(X, response, weight, family, rng), _simple(X, grower.levels))
                for candidate in source
            ),
            weight,
            self.min_support,
        )
        columns = self._line_columns(X, weight, grower.levels)
        lines = [line for _, line in columns]
        raw = [line(X[:, column])[:, 0] for column, line in columns]
        scales = np.array([_root_mean_square(values, weight) for values in raw])
        design = np.array([_TYPICAL * v / s for v, s in zip(raw, scales, strict=True)])
        path = lasso_path(
            inside,
            design.reshape(len(lines), len(X)),
            response,
            weight,
            balanced_folds(strata, self.folds, rng),
            family=family,
            n_penalties=self.n_penalties,
            one_error=self.choose == "one-se",
            n_jobs=self.n_jobs,
        )
        beta = path.coefficients.T
        of_rules, of_lines = beta[: len(rules)], beta[len(rules) :] * _TYPICAL
        of_lines = of_lines / scales[:, None]
        kept = np.flatnonzero(np.any(of_rules != 0, axis=1))
        self.kept_rules_ = tuple(rules[k] for k in kept)
        self.rule_coefficients_ = of_rules[kept]
        self.support_ = inside[kept] @ weight / weight.sum()
        with_line = np.flatnonzero(np.any(of_lines != 0, axis=1))
        self.line_spreads_ = scales[with_line]
        self.n_candidates_ = len(rules)
        self.has_gaps_: Bools = np.asarray(np.isnan(X).any(axis=0))
        self.penalty_ = float(path.penalties[path.chosen])
        terms = tuple(
            ProductTerm((columns[k][0],), (lines[k],), of_lines[k][None, :]) for k in with_line
        )
        trees = chains(self.kept_rules_, self.rule_coefficients_, X, weight)
        self.parts_ = ScoreParts(SumOfProducts(path.intercept, terms), trees, LINKS[family])
        return self

    def _line_columns(
        self, X: Floats, weight: Floats, levels: NDArray[np.int32]
    ) -> list[tuple[int, Line]]:
        """Return the columns that enter as lines, cut off at outer quantiles."""
        found = []
        for column in np.flatnonzero(levels == 0) if self.lines else ():
            present = ~np.isnan(X[:, column])
            values, weights = X[present, column], weight[present]
            if not len(values):
                continue
            low, high = _quantiles(values, weights, (self.winsor, 1 - self.winsor))
            if low == high:  # a rare value is the only other one
                low, high = values.min(), values.max()
            centre = float(np.average(np.clip(values, low, high), weights=weights))
            if low < high:
                found.append((int(column), Line(float(low), float(high), centre)))
        return found

    @property
    def rules_(self) -> RuleList:
        """The rules and lines, with columns named x0, x1, ..."""
        return self.equation()

    def equation(
        self, names: Sequence[str] | None = None, levels: Sequence[Sequence[str]] | None = None
    ) -> RuleList:
        """List the rules and lines, the most important first.

        Parameters
        ----------
        names
            Names of the columns; x0, x1, ... when None.
        levels
            For each column, the names of its levels; empty for columns of numbers.
        """
        check_is_fitted(self, "parts_")

        def name(column: int) -> str:
            return names[column] if names is not None else f"x{column}"

        def rule_text(rule: Rule) -> str:
            return " and ".join(
                condition.written(
                    name(column),
                    tuple(levels[column]) if levels else (),
                    gaps=bool(self.has_gaps_[column]),
                )
                for column, condition in rule.conditions.items()
            )

        terms: list[Any] = []
        for rule, beta, share in zip(
            self.kept_rules_, self.rule_coefficients_, self.support_, strict=True
        ):
            spread = float(np.sqrt(share * (1 - share)))
            terms.append(
                (lambda rule=rule: rule_text(rule), "rule", beta, float(share), spread,
                 tuple(map(name, rule.conditions)))
            )  # fmt: skip
        for term, spread in zip(self.parts_.products.terms, self.line_spreads_, strict=True):
            (column,), (line,) = term.columns, term.bases
            terms.append(
                (lambda line=line, column=column: line.written(name(column)), "line",
                 term.coefficients[0], 1.0, float(spread), (name(column),))
            )  # fmt: skip
        outputs = self._outputs()
        constant = dict(zip(outputs, map(float, self.parts_.products.constant), strict=True))
        return RuleList(constant, write_rows(terms, outputs))


class RulesRegressor(ScoredNumbers, _Rules):
    """A rule ensemble for numbers (RuleFit, Friedman and Popescu 2008).

    Small trees are boosted on random rows with random thresholds. Each of their nodes is a rule: a
    conjunction of conditions. Rules that hold for the same rows, or for the opposite ones, are
    merged. The lasso then chooses among the rules and the columns as lines, with its penalty by
    cross-validation. Levels of categories and missing values are rules of their own.

    Parameters
    ----------
    n_trees
        Number of trees that candidates come from.
    mean_leaves
        Mean number of leaves of a tree; sizes follow an exponential distribution. 2 gives rules of
        one condition, an additive model.
    shrinkage
        What each tree's predictions are multiplied by before the next is grown.
    share
        Share of the rows that a tree is grown on.
    min_leaf
        Rows in a leaf at least.
    min_support
        Share of the rows for which a rule must hold, and must not.
    lines
        Whether columns of numbers may enter as lines.
    winsor
        Share of the values that lines cut off at each end.
    folds
        Folds of the cross-validation.
    n_penalties
        Length of the path of penalties.
    choose
        "best" for the least held-out loss, "one-se" for the largest penalty within one standard
        error of it: fewer rules.
    categorical
        Positions of the columns that hold category codes.
    random_state
        Fixes trees and folds.
    n_jobs
        Threads over folds; the result does not depend on it.

    Attributes
    ----------
    rules_ : RuleList
        Rules and lines with coefficient, support and importance.
    parts_ : ScoreParts
        Lines as products, rules as trees of one path.
    n_candidates_ : int
        Different rules that the lasso chose from.
    penalty_ : float

    Notes
    -----
    The trees see all training rows, so the cross-validation of the penalty is a little optimistic:
    the lasso keeps more rules than it would with rules grown in each fold.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.integers(0, 4, 300), rng.integers(0, 2, 300)])
    >>> y = 3.0 * ((X[:, 0] > 1) & (X[:, 1] > 0)) + 0.1 * rng.normal(size=300)
    >>> model = RulesRegressor(choose="one-se").fit(X, y)
    >>> print(model.equation(["rooms", "garden"]))
    0.0167 and 1 rule or line:
      + 2.95  if rooms > 1.962 and garden > 0.707 (29.7 % of rows)
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow rules and fit their coefficients."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        return self._fit(rows, target[None, :], weight, "gaussian", np.zeros(len(rows)))


class RulesPoisson(ScoredCounts, _Rules):
    """A rule ensemble for counts and rates, with a log link.

    Parameters and attributes are those of `RulesRegressor`; a rule multiplies the mean by the
    exponential of its coefficient.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 100, axis=0)
    >>> model = RulesPoisson().fit(X, np.tile([1, 3], 100) * (1 + X[:, 0]))
    >>> model.predict([[0.0], [1.0]]).round(1)
    array([2., 4.])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow rules and fit their coefficients."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        return self._fit(rows, target[None, :], weight, "poisson", target > 0)


class RulesClassifier(ScoredClasses, _Rules):
    """A rule ensemble for classes: logistic, or with one score per class where there are more.

    Parameters and attributes are those of `RulesRegressor`, and ``classes_``. With more than two
    classes, trees are grown for each class in turn, and the lasso minimises the multinomial log
    loss with a coefficient of each rule for each class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RulesClassifier().fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow rules and fit their coefficients."""
        rows, codes, weight = self._classes(X, y, sample_weight)
        response = np.eye(len(self.classes_))[codes].T
        if len(self.classes_) == 2:
            return self._fit(rows, response[1:], weight, "logistic", codes)
        return self._fit(rows, response, weight, "multinomial", codes)


def _simple(X: Floats, levels: NDArray[np.int32]) -> Any:
    """Yield the rules of single levels and of missing values, with the rows that meet them."""
    for column in range(X.shape[1]):
        values = X[:, column]
        if levels[column]:
            for code in range(levels[column] + 1):
                condition: Any = Among(np.arange(levels[column] + 1) == code)
                yield Rule({column: condition}), condition(values)
        elif np.isnan(values).any():
            condition = Between(np.inf, np.inf, missing=True)
            yield Rule({column: condition}), condition(values)


def _quantiles(values: Floats, weight: Floats, at: tuple[float, float]) -> tuple[float, float]:
    """Return weighted quantiles; a row of weight two counts as two rows."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    low, high = np.searchsorted(below, np.array(at) * below[-1] * (1 - 1e-12))
    return float(values[order[low]]), float(values[order[min(high, len(values) - 1)]])


def _root_mean_square(values: Floats, weight: Floats) -> float:
    """Return the root of the mean square, also where squares would be too large or too small."""
    largest = np.abs(values).max()
    return float(largest * np.sqrt(np.average((values / largest) ** 2, weights=weight)))
