"""Observational value functions: columns outside a coalition follow those inside.

ν(S) = E[f(X) | X_S = x_S] (Hiabu 2024, definition 7.1.3) needs a distribution that no table
shows directly, so each way to estimate it makes an assumption, which a note names.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.choices import Conditional
from clearwood._shared.errors import Option, bad_value, unknown_choice, words
from clearwood.explanation.rows.compose import perturbed
from clearwood.explanation.sampling.representation import representation_of
from clearwood.explanation.sampling.value_functions import (
    Coalitions,
    CoalitionValues,
    ValueFunction,
)
from clearwood.fitted import Scale, Unit
from clearwood.table import NUMERIC, Column, Kind

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["ASSUMPTIONS", "conditional_for", "observational"]

ASSUMPTIONS: dict[Conditional, str] = {
    "gaussian": "assumes that the columns are jointly normal over the background",
    "copula": "assumes that the columns depend on each other as jointly normal ones do, whatever "
    "the distribution of each",
    "kernel": "assumes that rows near in the coalition's columns (Mahalanobis distance, bandwidth "
    "n^(-1/(s+4)) for s columns and n different rows) have the others as this row would",
    "forest": "assumes that rows in the same leaves of a forest fitted to the coalition's columns "
    "have the other columns as this row would",
}

#: Background rows that carry the weights of "kernel" and "forest"; few of them weigh anything.
_WEIGHED_ROWS = 1000
#: Rows whose similarity is below this share of the largest are left out.
_NEGLIGIBLE = 1e-4
_TINY = np.finfo(np.float64).tiny
#: The kernel is as narrow as for this many different rows, where there are fewer.
_FEWEST_DISTINCT = 100
_TREES = 30
_ROWS_PER_LEAF = 10


def conditional_for(conditional: str, columns: Sequence[Column]) -> Conditional:
    """Choose how columns depend on each other: by what they hold, where that is left open."""
    if conditional == "auto":
        return "gaussian" if all(_is_complete_number(column) for column in columns) else "kernel"
    if conditional not in ASSUMPTIONS:
        raise unknown_choice("conditional", conditional, ("auto", *ASSUMPTIONS))
    return conditional


def _is_complete_number(column: Column) -> bool:
    return column.kind in NUMERIC and not column.n_missing


def observational(
    conditional: Conditional,
    parts: dict[str, Any],
    explanation: "Explanation",
    generator: np.random.Generator,
) -> ValueFunction:
    """Make an observational value function from what every value function has.

    "gaussian" and "copula" evaluate the model at values that no row has.
    """
    if conditional in ("gaussian", "copula"):
        numbers = _numbers(parts, conditional)
        normal = _of_normal(numbers, parts, copula=conditional == "copula")
        return Normal(**parts, explanation=explanation, generator=generator, normal=normal)
    size = min(_WEIGHED_ROWS, len(parts["weights"]))
    if len(parts["chosen"]) < size:
        chosen = generator.choice(len(parts["weights"]), size, replace=False)
        parts = {**parts, "chosen": np.sort(chosen)}
    features, owner = _features(parts)
    kind = KernelWeights if conditional == "kernel" else ForestWeights
    return kind(**parts, features=features, owner=owner, seed=int(generator.integers(1 << 31)))


def _features(parts: dict[str, Any]) -> tuple[Floats, Index]:
    """Represent all columns by numbers, standardised over the background, with their players."""
    columns, n_rows, weights = parts["predictor"].columns, parts["n_rows"], parts["weights"]
    space = representation_of(columns)
    features = space.features.copy()
    owner = np.full(len(space.terms), -1)
    for k, term in enumerate(space.terms):
        owner[k] = next(p for p, own in enumerate(parts["members"]) if term.column in own)
        gaps = columns[term.column].missing
        if term.level is None and gaps.any():  # a gap has a term of its own, and here the mean
            share = np.where(gaps[n_rows:], 0.0, weights)
            features[gaps, k] = share @ features[n_rows:, k] / max(share.sum(), _TINY)
    mean = weights @ features[n_rows:]
    spread = np.sqrt(weights @ (features[n_rows:] - mean) ** 2)
    return (features - mean) / np.where(spread > 0, spread, 1.0), owner


# Drawn from a normal distribution


@dataclass(frozen=True, eq=False)
class _NormalData:
    """Columns on the scale on which they are taken for normal.

    Parameters
    ----------
    scores
        Of all rows, explained ones first.
    mean, covariance
        Over the background.
    marginals
        The background's distribution of each column, with a copula; None without.
    """

    scores: Floats
    mean: Floats
    covariance: Floats
    marginals: tuple["_Marginal", ...] | None

    def back(self, scores: Floats) -> Floats:
        """Return scores on the scale of the data; with a copula, values that occur."""
        if self.marginals is None:
            return scores
        columns = (marginal.value(scores[:, k]) for k, marginal in enumerate(self.marginals))
        return np.column_stack(list(columns))


@dataclass(frozen=True, eq=False)
class _Marginal:
    """The weighted distribution of a column: its values, rising, and the share up to each."""

    values: Floats
    upto: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats) -> "_Marginal":
        distinct, place = np.unique(values, return_inverse=True)
        return cls(distinct, np.cumsum(np.bincount(place, weights)))

    def score(self, values: Floats) -> Floats:
        """Return the normal quantile of each value's place, the middle one among ties."""
        edges = np.concatenate([[0.0], self.upto])
        below = edges[np.searchsorted(self.values, values, "left")]
        upto = edges[np.searchsorted(self.values, values, "right")]
        # beyond the range, as at its end
        least, most = edges[1] / 2, (edges[-2] + edges[-1]) / 2
        return np.asarray(ndtri(np.clip((below + upto) / 2, least, most) / edges[-1]))

    def value(self, scores: Floats) -> Floats:
        """Return the value at the place of each normal quantile."""
        # sums of weights that are equal in truth may differ in their last bits
        wanted = ndtr(scores) * self.upto[-1] * (1 - 1e-12)
        place = np.searchsorted(self.upto, wanted, "left")
        return np.asarray(self.values[place.clip(max=len(self.values) - 1)])


def _numbers(parts: dict[str, Any], conditional: str) -> Floats:
    columns = parts["predictor"].columns
    for column in columns:
        if _is_complete_number(column):
            continue
        what = "missing values" if column.kind in NUMERIC else "categories or text"
        raise bad_value(
            "conditional",
            conditional,
            f"it takes columns of numbers; {column.name!r} has "
            f"{'dates' if column.kind is Kind.DATE else what}",
            hint=words("use ", Option("conditional", "kernel"), " or 'forest'."),
        )
    return np.column_stack([column.values for column in columns]).astype(np.float64)


def _of_normal(numbers: Floats, parts: dict[str, Any], *, copula: bool) -> _NormalData:
    n_rows, weights = parts["n_rows"], parts["weights"]
    marginals = None
    scores = numbers
    if copula:
        marginals = tuple(_Marginal.of(column[n_rows:], weights) for column in numbers.T)
        scored = [one.score(column) for one, column in zip(marginals, numbers.T, strict=True)]
        scores = np.column_stack(scored)
    mean = weights @ scores[n_rows:]
    offset = scores[n_rows:] - mean
    return _NormalData(scores, mean, (offset * weights[:, None]).T @ offset, marginals)


@dataclass(frozen=True, eq=False, kw_only=True)
class Normal(ValueFunction):
    """Columns outside a coalition are drawn from a normal distribution given those inside.

    Aas, Jullum and Løland (2021), sections 3.1 and 3.2.
    """

    explanation: "Explanation"
    generator: np.random.Generator
    normal: _NormalData
    _known: dict[bytes, tuple[Floats, Floats]] = field(default_factory=dict)

    def at(self, row: int, coalitions: Coalitions) -> CoalitionValues:
        """Average over draws of each coalition's own."""
        n_draws, n_columns = len(self.chosen), len(self.normal.mean)
        drawn = np.tile(self.normal.scores[row], (len(coalitions), n_draws, 1))
        for at, coalition in enumerate(coalitions):
            inside = self._columns(coalition)
            slope, root = self._given(inside)
            offset = self.normal.scores[row, inside] - self.normal.mean[inside]
            noise = self.generator.normal(size=((n_draws + 1) // 2, root.shape[0]))
            both = np.concatenate([noise, -noise])[:n_draws]  # the mean is then exact
            drawn[at][:, ~inside] = self.normal.mean[~inside] + slope @ offset + both @ root
        flat = self.normal.back(drawn.reshape(-1, n_columns))
        held = np.repeat([self._columns(c) for c in coalitions], n_draws, axis=0)
        own = np.array([c.values[row] for c in self.predictor.columns], np.float64)
        values = np.where(held, own, flat)
        base = np.zeros(len(values), np.intp)  # every column is written
        written = dict(enumerate(values.T.copy()))
        rows = perturbed(self.explanation.data, self.predictor.names, base, {}, written)
        predicted = self._predicted(rows).reshape(len(coalitions), n_draws, -1)
        halves = n_draws // 2
        pairs = (predicted[:, :halves] + predicted[:, (n_draws + 1) // 2 :][:, :halves]) / 2
        spread = (
            pairs.var(axis=1, ddof=1) / halves if halves > 1 else np.zeros(predicted[:, 0].shape)
        )
        return CoalitionValues(predicted.mean(axis=1), noise=spread)

    def _columns(self, coalition: NDArray[np.bool_]) -> NDArray[np.bool_]:
        inside = np.zeros(len(self.normal.mean), np.bool_)
        for player in np.flatnonzero(coalition):
            inside[list(self.members[player])] = True
        return inside

    def _given(self, inside: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return the regression of columns outside on those inside, and a root of what is left."""
        key = inside.tobytes()
        if key not in self._known:
            covariance = self.normal.covariance
            within = covariance[np.ix_(inside, inside)]
            across = covariance[np.ix_(~inside, inside)]
            # columns that determine each other make it singular: the shortest solution serves
            slope = across @ np.linalg.pinv(within, rcond=1e-10, hermitian=True)
            left = covariance[np.ix_(~inside, ~inside)] - slope @ across.T
            size, vectors = np.linalg.eigh((left + left.T) / 2)
            floor = 1e-12 * max(float(np.trace(covariance)), 0.0)
            root = (np.sqrt(np.where(size > floor, size, 0.0)) * vectors).T
            self._known[key] = slope, root
        return self._known[key]

    def _predicted(self, rows: Any) -> Floats:
        scorer, unit = self.predictor.scorer, self.predictor.unit
        scale = None if unit is Unit.PREDICTION else Scale.MARGIN
        if unit.is_probability:
            scale = Scale.PROBABILITY
        output = None if scorer.only is None else scorer.names[scorer.only]
        predictor = self.explanation.predictor(rows, scale=scale, output=output)
        self.predictor.evaluations[0] += len(predictor)
        return predictor.predict(np.arange(len(predictor)))


# Weighted background rows


@dataclass(frozen=True, eq=False, kw_only=True)
class _Weighted(ValueFunction):
    """Columns outside a coalition are those of background rows that are like the row inside it.

    Parameters
    ----------
    features
        All columns as standardised numbers, explained rows first.
    owner
        The player of each feature.
    seed
        Fixes what is random.
    """

    features: Floats
    owner: Index
    seed: int
    _known: dict[bytes, Any] = field(default_factory=dict)

    def at(self, row: int, coalitions: Coalitions) -> CoalitionValues:
        """Average over background rows; few are similar enough to be evaluated."""
        similar = np.array([self._similarity(row, coalition) for coalition in coalitions])
        at, which = np.nonzero(similar > _NEGLIGIBLE * similar.max(axis=1, keepdims=True))
        others = self.n_rows + self.chosen[which]
        predicted = self.mixed(row, coalitions[at], others)
        share = similar[at, which] * self.weights[self.chosen[which]]
        total = np.bincount(at, share, minlength=len(coalitions))
        mean = [
            np.bincount(at, share * predicted[:, k], minlength=len(coalitions)) / total
            for k in range(predicted.shape[1])
        ]
        return CoalitionValues(np.column_stack(mean))

    @abstractmethod
    def _similarity(self, row: int, coalition: NDArray[np.bool_]) -> Floats:
        """Measure how like the row each chosen background row is, whatever its weight."""


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelWeights(_Weighted):
    """Background rows weigh by their distance from the row (Aas, Jullum and Løland 2021, 3.3)."""

    def _similarity(self, row: int, coalition: NDArray[np.bool_]) -> Floats:
        inside = coalition[self.owner]
        below = self.features[self.n_rows + self.chosen][:, inside]
        key = inside.tobytes()
        if key not in self._known:
            share = self.weights[self.chosen] / self.weights[self.chosen].sum()
            centred = below - share @ below
            covariance = (centred * share[:, None]).T @ centred
            inverse = np.linalg.pinv(covariance, rcond=1e-8, hermitian=True)
            self._known[key] = inverse, np.eye(len(covariance)) - inverse @ covariance
        offset = below - self.features[row, inside]
        inverse, flat = self._known[key]
        distance = ((offset @ inverse) * offset).sum(axis=1)
        # along directions in which the background does not vary any difference is a large one
        distance = distance + 1e4 * ((offset @ flat) ** 2).sum(axis=1)
        width = self._n_distinct ** (-1 / (int(coalition.sum()) + 4))
        log_weight = -(distance - distance.min()) / (2 * width**2)
        return np.asarray(np.exp(log_weight))

    @cached_property
    def _n_distinct(self) -> int:
        """Background rows that differ, so that repeating a row does not make the kernel narrower.

        Few of them mean values that repeat, between which there is nothing to smooth.
        """
        distinct = np.unique(self.features[self.n_rows + self.chosen].round(9), axis=0)
        return max(len(distinct), _FEWEST_DISTINCT)


@dataclass(frozen=True, eq=False, kw_only=True)
class ForestWeights(_Weighted):
    """Background rows weigh by how often they share a leaf with the row.

    The forest predicts the columns outside a coalition from those inside. Weights of all explained
    rows are computed when a coalition first occurs, as fitting is what takes time.
    """

    def _similarity(self, row: int, coalition: NDArray[np.bool_]) -> Floats:
        key = coalition.tobytes()
        if key not in self._known:
            self._known[key] = self._fitted(coalition)
        return np.asarray(self._known[key][row])

    def _fitted(self, coalition: NDArray[np.bool_]) -> Floats:
        from sklearn.ensemble import RandomForestRegressor

        inside = coalition[self.owner]
        below = self.features[self.n_rows + self.chosen]
        leaf = min(_ROWS_PER_LEAF, max(1, len(below) // 10))
        forest = RandomForestRegressor(
            n_estimators=_TREES, min_samples_leaf=leaf, max_features=1.0, random_state=self.seed
        )
        weights = self.weights[self.chosen]
        forest.fit(below[:, inside], below[:, ~inside].squeeze(), weights / weights.mean())
        mine = forest.apply(self.features[: self.n_rows, inside])
        theirs = forest.apply(below[:, inside])
        result = np.zeros((self.n_rows, len(below)))
        for tree in range(_TREES):
            same = mine[:, tree, None] == theirs[:, tree]
            result += same / (same @ weights)[:, None]
        return result / _TREES
