"""PRIM as estimators: the mean of the box that a row lies in, or that of the rows outside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from textwrap import wrap
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError, Setting, bad_value
from clearwood._shared.numbers import count, interval, number, share_of
from clearwood._shared.results import Result
from clearwood.models.catalogue.prim.search import Hunt, mean_and_error
from clearwood.models.shared.conditions import Among, Rule, chains
from clearwood.models.shared.rows import check_real, check_whole, level_counts
from clearwood.models.shared.score import ScoreParts, SumOfProducts
from clearwood.models.shared.score_estimators import (
    Scored,
    ScoredClasses,
    ScoredCounts,
    ScoredNumbers,
)

__all__ = ["BoxList", "BoxRow", "PrimClassifier", "PrimPoisson", "PrimRegressor"]


# The boxes of a fitted PRIM model, as a table that can be read.


_WIDTH = 79


@dataclass(frozen=True)
class BoxRow:
    """One box.

    Parameters
    ----------
    rule
        Its conditions as text.
    support
        Its share of all rows, by weight, without the rows of boxes before it.
    mean, error
        Of the target, from rows that took no part in finding the box, and its standard error.
    found_mean
        From the rows that found the box: too far from the rest, by the search.
    n_held_out
        Rows that the mean is from.
    columns
        The columns that it involves.
    """

    rule: str
    support: float
    mean: float
    error: float
    found_mean: float
    n_held_out: int
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class BoxList(Result):
    """Boxes in which the target is high, or low, in the order in which they were found.

    Parameters
    ----------
    direction
        "high" or "low".
    mean
        Of the target, outside all boxes.
    rows
        The boxes.
    trajectory
        For the first box: support, mean where it was sought and mean of other rows after each peel,
        of shape (peels, 3).
    bounds
        Between which values means can lie: 0 and 1 for classes.
    counted_by
        What shares are of: "rows", or what they count by, such as "exposure".
    """

    direction: str
    mean: float
    rows: tuple[BoxRow, ...]
    trajectory: Floats
    bounds: tuple[float, float] = (-np.inf, np.inf)
    counted_by: str = "rows"

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [f"{count(len(self.rows), 'box', 'boxes')} of {self.direction} mean:"]
        for row in self.rows:
            ends = ""
            if np.isfinite(row.error):
                low, high = np.clip(row.mean + 1.645 * row.error * np.array([-1, 1]), *self.bounds)
                ends = f", 90 % interval {interval(low, high)}"
            lines += _wrapped(f"{number(row.mean)}  if {row.rule}", indent="  ")
            lines += _wrapped(
                f"{share_of(row.support, self.counted_by)}; mean of {count(row.n_held_out, 'row')} "
                f"held out{ends}; {number(row.found_mean)} where it was found"
            )
        return "\n".join([*lines, f"  {number(self.mean)}  outside"])

    __repr__ = __str__

    @property
    def notes(self) -> tuple[str, ...]:
        """What the table of the boxes does not have."""
        return (f"the prediction outside all boxes is {number(self.mean)}",)

    def _columns(self) -> Mapping[str, Any]:
        names = ("rule", "support", "mean", "error", "found_mean", "n_held_out")
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def plot(self) -> Any:
        """Draw the trajectory of the first box: mean against support (Altair)."""
        from clearwood.plot import plot_boxes

        return plot_boxes(self)


def _wrapped(text: str, *, indent: str = "      ") -> list[str]:
    """Break a text into lines that fit a terminal, the later ones indented."""
    return wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent="      ",
        break_on_hyphens=False,
    )


#: Standard errors that a difference of means must exceed: the level 5 %, one-sided.
_CLEAR = 1.645
#: Boxes at most: their overlaps are written out, 2ⁿ - 1 of them.
_MOST_BOXES = 8


class _Prim(Scored):
    """What the three share: settings, the search, and boxes as parts of a score.

    Parameters
    ----------
    direction
        Whether the target is "high" or "low" in the boxes.
    boxes
        How many are sought, each among the rows outside those before it. The search ends earlier
        where the mean of a box is not above that outside at the level 5 %, one-sided.
    alpha
        The share of a box that one peel leaves out: the smaller, the more patient.
    min_support
        The smallest share of all rows in a box.
    pasting
        Whether a box grows back where that helps.
    held_out
        The share of rows that take no part in finding a box: a third of them choose among the boxes
        of the trajectory, the others give its mean.
    categorical
        Positions of the columns that hold category codes.
    random_state
        Fixes which rows are held out.
    n_jobs
        Has no effect: the search uses one thread.
    """

    #: Between which values means lie.
    _bounds = (-np.inf, np.inf)

    def __init__(
        self,
        *,
        direction: Literal["high", "low"] = "high",
        boxes: int = 3,
        alpha: float = 0.05,
        min_support: float = 0.05,
        pasting: bool = True,
        held_out: float = 0.5,
        categorical: Sequence[int] = (),
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.direction = direction
        self.boxes = boxes
        self.alpha = alpha
        self.min_support = min_support
        self.pasting = pasting
        self.held_out = held_out
        self.categorical = categorical
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_settings(self) -> None:
        """Refuse settings that mean nothing."""
        if self.direction not in ("high", "low"):
            raise bad_value("direction", self.direction, "it must be 'high' or 'low'", kind=Setting)
        check_whole("boxes", self.boxes, 1, _MOST_BOXES)
        if not isinstance(self.pasting, bool | np.bool_):
            raise bad_value("pasting", self.pasting, "it must be True or False", kind=Setting)
        for name, value, most in (
            ("alpha", self.alpha, 0.5),
            ("min_support", self.min_support, 1.0),
            ("held_out", self.held_out, 0.9),
        ):
            if not check_real(name, value, 0.0, strict=True) < most:
                expected = f"it must lie between 0 and {most:g}"
                raise bad_value(name, value, expected, kind=Setting)

    def _find(self, X: Floats, y: Floats, weight: Floats) -> None:
        """Find boxes one after another and keep them with their means."""
        self._check_settings()
        n = len(y)
        if n < 10:
            raise InputError(
                f"there are {n} rows, and boxes are sought and judged on different rows: 10 are "
                "needed",
                parameter="rows",
                value=n,
                hint="take learner 'tree'.",
            )
        sign = 1.0 if self.direction == "high" else -1.0
        finds, chooses, judges = self._parts(n)
        levels = level_counts(X, self.categorical)
        left = np.ones(n, bool)
        self.rules_: list[Rule] = []
        self.facts_: list[dict[str, float]] = []
        for _ in range(self.boxes):
            part = finds & left
            least = self.min_support * float(weight[finds].sum())
            if float(weight[part].sum()) < 2 * least or len(np.unique(y[part])) < 2:
                break
            hunt = Hunt(X[part], sign * y[part], weight[part], levels, self.alpha, least)
            trajectory = hunt.peel(Rule({}))
            judged = self._trajectory(trajectory, X, y, weight, (part, chooses & left))
            rule = trajectory[self._choice(judged, sign)]
            if not rule.conditions:
                break
            rule = hunt.paste(rule) if self.pasting else rule
            inside = rule(X) & left
            judging = judges & left
            spread = (
                float(np.cov(y[judging], aweights=weight[judging], ddof=0))
                if judging.any()
                else None
            )
            mean, error = mean_and_error(y[judging & inside], weight[judging & inside], spread)
            outside, other = mean_and_error(y[judging & ~inside], weight[judging & ~inside], spread)
            if not sign * (mean - outside) > _CLEAR * np.hypot(error, other):
                break
            if not self.rules_:
                self.trajectory_ = judged
            self.rules_.append(rule)
            self.facts_.append(
                {
                    "support": float(weight[inside].sum() / weight.sum()),
                    "mean": mean,
                    "error": error,
                    "found_mean": mean_and_error(y[part & inside], weight[part & inside])[0],
                    "n_held_out": int((judges & inside).sum()),
                }
            )
            left &= ~inside
        if not self.rules_:
            self.trajectory_ = np.empty((0, 3))
        self.outside_ = float(np.average(y[left], weights=weight[left])) if left.any() else 0.0
        self.has_gaps_ = np.asarray(np.isnan(X).any(axis=0))

    def _parts(self, n: int) -> tuple[Bools, Bools, Bools]:
        """Divide rows into those that find boxes, choose one and give its mean."""
        rank = np.random.default_rng(self.random_state).permutation(n)
        n_held = max(3, round(self.held_out * n))
        return rank >= n_held, rank < n_held // 3, (rank >= n_held // 3) & (rank < n_held)

    def _trajectory(
        self,
        boxes: Sequence[Rule],
        X: Floats,
        y: Floats,
        weight: Floats,
        parts: tuple[Bools, Bools],
    ) -> Floats:
        """Return support, mean where boxes were found and mean of other rows, for each box."""
        lines = []
        for box in boxes:
            inside = box(X)
            found, other = (inside & part for part in parts)
            support = float(weight[found].sum() / weight[parts[0]].sum())
            lines.append(
                (
                    support,
                    mean_and_error(y[found], weight[found])[0],
                    mean_and_error(y[other], weight[other])[0],
                )
            )
        return np.array(lines)

    def _choice(self, trajectory: Floats, sign: float) -> int:
        """Choose the box whose excess over all rows, times the root of its support, is greatest."""
        other = sign * trajectory[:, 2]
        gain = (other - other[0]) * np.sqrt(trajectory[:, 0])
        return int(np.argmax(np.nan_to_num(gain, nan=-np.inf)))

    def _build(self, link: Literal["identity", "log", "logistic"], X: Floats, w: Floats) -> None:
        """Write the means of boxes as a constant and rules that are added up."""
        values = np.array(
            [self._linked(fact["mean"], int(fact["n_held_out"])) for fact in self.facts_]
        )
        base = self._linked(self.outside_, len(X))
        rules, coefficients = [], []
        for k, rule in enumerate(self.rules_):
            # rows of box k that lie in no box before it, by inclusion and exclusion
            for size in range(k + 1):
                for before in combinations(range(k), size):
                    both = rule
                    for j in before:
                        for column, condition in self.rules_[j].conditions.items():
                            both = both.joined(column, condition)
                    if not _is_empty(both):
                        rules.append(both)
                        coefficients.append((-1.0) ** size * (values[k] - base))
        trees = chains(rules, np.array(coefficients)[:, None], X, w) if rules else None
        self.parts_ = ScoreParts(SumOfProducts(np.array([base])), trees, link)

    def _linked(self, mean: float, n: int) -> float:
        """Return a mean on the scale of the score."""
        del n
        return mean

    def equation(
        self, names: Sequence[str] | None = None, levels: Sequence[Sequence[str]] | None = None
    ) -> BoxList:
        """List the boxes.

        Parameters
        ----------
        names
            Names of the columns; x0, x1, ... when None.
        levels
            For each column, the names of its levels; empty for columns of numbers.
        """
        check_is_fitted(self, "parts_")
        shown = names if names is not None else [f"x{k}" for k in range(self.n_features_in_)]
        rows = tuple(
            BoxRow(
                rule=" and ".join(
                    condition.written(
                        shown[column],
                        tuple(levels[column]) if levels else (),
                        gaps=bool(self.has_gaps_[column]),
                    )
                    for column, condition in rule.conditions.items()
                ),
                columns=tuple(shown[column] for column in rule.conditions),
                **fact,  # type: ignore[arg-type]
            )
            for rule, fact in zip(self.rules_, self.facts_, strict=True)
        )
        return BoxList(self.direction, self.outside_, rows, self.trajectory_, self._bounds)


def _is_empty(rule: Rule) -> bool:
    """Whether no value can meet a condition of the rule."""
    return any(
        not condition.member.any()
        if isinstance(condition, Among)
        else condition.low >= condition.high and not condition.missing
        for condition in rule.conditions.values()
    )


class PrimRegressor(_Prim, ScoredNumbers):
    """Boxes in which the mean of a number is high, or low (Friedman and Fisher 1999).

    A box is found by patient peeling: again and again the small share of rows at one side of one
    column is left out whose loss raises the mean of the others most for its size. It then grows
    back where that helps. Rows that took no part in the search choose among the boxes on the way,
    and others give the mean of the chosen one.

    Parameters
    ----------
    direction, boxes, alpha, min_support, pasting, held_out
        Of the search; ``clearwood models prim`` describes them.
    categorical
        Positions of the columns that hold category codes.
    random_state
        Fixes which rows are held out.
    n_jobs
        Has no effect: the search uses one thread.

    Attributes
    ----------
    rules_ : list of Rule
    facts_ : list of dict
        Support, mean, its standard error, and the mean where the box was found.
    outside_ : float
        The mean outside all boxes.
    trajectory_ : ndarray
        Of the first box: support, mean where it was sought, mean of other rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(1000, 3))
    >>> y = 1.0 * ((X[:, 0] > 0.6) & (X[:, 1] < 0.5)) + 0.2 * rng.normal(size=1000)
    >>> model = PrimRegressor(boxes=1).fit(X, y)
    >>> sorted(model.rules_[0].conditions), round(model.facts_[0]["mean"], 1)
    ([0, 1], 0.9)
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the boxes."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        self._find(rows, target, weight)
        self._build("identity", rows, weight)
        return self


class PrimPoisson(_Prim, ScoredCounts):
    """Boxes in which counts or amounts are high, or low; see `PrimRegressor`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(800, 2))
    >>> y = rng.poisson(np.where(X[:, 0] > 0.7, 5.0, 1.0))
    >>> PrimPoisson(boxes=1).fit(X, y).predict([[0.9, 0.5], [0.1, 0.5]]).round()
    array([5., 1.])
    """

    _bounds = (0.0, np.inf)
    has_log_link = False  # boxes keep means, which are found the same in any unit

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the boxes."""
        rows, target, weight = self._numbers(X, y, sample_weight)
        self._find(rows, target, weight)
        self._least = 0.5 * float(target[target > 0].min(initial=np.inf)) / len(target)
        self._build("log", rows, weight)
        return self

    def _linked(self, mean: float, n: int) -> float:
        """Return the log of a mean; a mean of zero counts as half the least value in one row."""
        del n
        least = self._least if np.isfinite(self._least) else np.finfo(float).tiny
        return float(np.log(max(mean, least)))


class PrimClassifier(_Prim, ScoredClasses):
    """Boxes in which the second of two classes is frequent, or rare; see `PrimRegressor`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(800, 2))
    >>> y = rng.random(800) < np.where(X[:, 0] > 0.7, 0.9, 0.2)
    >>> PrimClassifier(boxes=1).fit(X, y).predict([[0.9, 0.5], [0.1, 0.5]])
    array([ True, False])
    """

    _bounds = (0.0, 1.0)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the boxes."""
        rows, codes, weight = self._classes(X, y, sample_weight)
        if len(self.classes_) != 2:
            raise InputError(
                f"boxes are of one class against another, and there are {len(self.classes_)}",
                parameter="target",
                hint="join classes, or take learner 'tree' or 'rules'.",
            )
        target: Index = codes
        self._find(rows, target.astype(np.float64), weight)
        self._build("logistic", rows, weight)
        return self

    def _linked(self, mean: float, n: int) -> float:
        """Return the log odds; a share of 0 or 1 counts as half a row of the other class."""
        half = 0.5 / max(n, 1)
        return float(logit(np.clip(mean, half, 1 - half)))
