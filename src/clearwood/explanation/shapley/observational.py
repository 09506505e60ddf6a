"""Observational value functions: columns outside a coalition follow those inside.

ν(S) = E[f(X) | X_S = x_S] (Hiabu 2024, definition 7.1.3) asks for a distribution that no table
shows directly, so each way to estimate it assumes something, and says what.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import Option, bad_value, unknown_choice, words
from clearwood.explanation.adapter.compose import perturbed
from clearwood.explanation.adapter.explained import Explained
from clearwood.explanation.local.lime_representation import representation_of
from clearwood.explanation.scales import Scale, Unit
from clearwood.explanation.shapley.value_functions import Coalitions, CoalitionValues, ValueFunction
from clearwood.table import NUMERIC, Kind

__all__ = ["ASSUMPTIONS", "observational"]

ASSUMPTIONS = {
    "gaussian": "assumes that the columns are jointly normal over the background",
    "copula": "assumes that the columns depend on each other as jointly normal ones do, whatever "
    "the distribution of each",
    "kernel": "assumes that rows near in the coalition's columns (Mahalanobis distance, bandwidth "
    "n^(-1/(s+4)) for s columns) have the others as this row would",
    "forest": "assumes that rows in the same leaves of a forest fitted to the coalition's columns "
    "have the other columns as this row would",
}

#: Background rows that carry the weights of "kernel" and "forest"; few of them weigh anything.
_WEIGHED_ROWS = 1000
#: Weights below this share of the largest are left out.
_NEGLIGIBLE = 1e-4
_TREES = 30
_ROWS_PER_LEAF = 10


def observational(
    conditional: str, parts: dict[str, Any], explained: Explained, generator: np.random.Generator
) -> ValueFunction:
    """Make an observational value function.

    Parameters
    ----------
    conditional
        "gaussian", "copula", "kernel" or "forest".
    parts
        What every value function has.
    explained
        The model, which "gaussian" and "copula" evaluate at values that no row has.
    generator
        Makes the draws.
    """
    if conditional not in ASSUMPTIONS:
        raise unknown_choice("conditional", conditional, ASSUMPTIONS)
    if conditional in ("gaussian", "copula"):
        numbers = _numbers(parts, conditional)
        normal = _of_normal(numbers, parts, copula=conditional == "copula")
        return Normal(**parts, explained=explained, generator=generator, normal=normal)
    weights = parts["weights"]
    usable = np.flatnonzero(weights > 0)
    if len(parts["chosen"]) < min(_WEIGHED_ROWS, len(usable)):
        size = min(_WEIGHED_ROWS, len(usable))
        parts = {**parts, "chosen": np.sort(generator.choice(usable, size, replace=False))}
    n_rows = parts["n_rows"]
    space = representation_of(parts["predictor"].columns)
    below = space.features[n_rows:]
    spread = below.std(axis=0)
    features = (space.features - below.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    owner = np.full(len(space.terms), -1)
    for player, columns in enumerate(parts["members"]):
        owner[[term.column in columns for term in space.terms]] = player
    kind = KernelWeights if conditional == "kernel" else ForestWeights
    return kind(**parts, features=features, owner=owner, seed=int(generator.integers(1 << 31)))


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
    marginal
        Sorted background values of each column, with a copula; None without.
    """

    scores: Floats
    mean: Floats
    covariance: Floats
    marginal: Floats | None

    def back(self, scores: Floats) -> Floats:
        """Return scores on the scale of the data; with a copula, values that occur."""
        if self.marginal is None:
            return scores
        n_values = len(self.marginal)
        place = np.clip(np.ceil(ndtr(scores) * n_values).astype(np.intp) - 1, 0, n_values - 1)
        return np.take_along_axis(self.marginal, place, axis=0)


def _numbers(parts: dict[str, Any], conditional: str) -> Floats:
    columns = parts["predictor"].columns
    for column in columns:
        what = "categories or text"
        if column.kind in NUMERIC:
            if not column.n_missing:
                continue
            what = "missing values"
        elif column.kind is Kind.DATE:
            what = "dates"
        raise bad_value(
            "conditional",
            conditional,
            f"it takes columns of numbers; {column.name!r} has {what}",
            hint=words("use ", Option("conditional", "forest"), " or 'kernel'."),
        )
    return np.column_stack([column.values for column in columns]).astype(np.float64)


def _of_normal(numbers: Floats, parts: dict[str, Any], *, copula: bool) -> _NormalData:
    n_rows, weights = parts["n_rows"], parts["weights"]
    marginal = None
    scores = numbers
    if copula:
        marginal = np.sort(numbers[n_rows:], axis=0)
        scores = np.column_stack(
            [_normal_scores(numbers[:, k], marginal[:, k]) for k in range(numbers.shape[1])]
        )
    mean = weights @ scores[n_rows:]
    offset = scores[n_rows:] - mean
    return _NormalData(scores, mean, (offset * weights[:, None]).T @ offset, marginal)


def _normal_scores(values: Floats, ordered: Floats) -> Floats:
    """Return the normal quantile of each value's place, the middle one among ties."""
    below = np.searchsorted(ordered, values, "left")
    upto = np.searchsorted(ordered, values, "right")
    return np.asarray(ndtri(np.clip((below + upto) / 2, 0.5, len(ordered) - 0.5) / len(ordered)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Normal(ValueFunction):
    """Columns outside a coalition are drawn from a normal distribution given those inside.

    Aas, Jullum and Løland (2021), sections 3.1 and 3.2.
    """

    explained: Explained
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
        rows = perturbed(self.explained.data, self.predictor.names, base, {}, written)
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
        predictor = self.explained.predictor(rows, scale=scale, output=output)
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
        """Average over background rows, by their weight; few weigh enough to be evaluated."""
        weights = np.array([self._weights(row, coalition) for coalition in coalitions])
        at, which = np.nonzero(weights > _NEGLIGIBLE * weights.max(axis=1, keepdims=True))
        others = self.n_rows + self.chosen[which]
        predicted = self.mixed(row, coalitions[at], others)
        share = weights[at, which]
        total = np.bincount(at, share, minlength=len(coalitions))
        mean = [
            np.bincount(at, share * predicted[:, k], minlength=len(coalitions)) / total
            for k in range(predicted.shape[1])
        ]
        return CoalitionValues(np.column_stack(mean))

    def _weights(self, row: int, coalition: NDArray[np.bool_]) -> Floats:
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelWeights(_Weighted):
    """Background rows weigh by their distance from the row (Aas, Jullum and Løland 2021, 3.3)."""

    def _weights(self, row: int, coalition: NDArray[np.bool_]) -> Floats:
        inside = coalition[self.owner] & (self.owner >= 0)
        below = self.features[self.n_rows + self.chosen][:, inside]
        key = inside.tobytes()
        if key not in self._known:
            covariance = np.cov(below, rowvar=False).reshape(below.shape[1], -1)
            inverse = np.linalg.pinv(covariance, rcond=1e-8, hermitian=True)
            self._known[key] = inverse, np.eye(len(covariance)) - inverse @ covariance
        offset = below - self.features[row, inside]
        inverse, flat = self._known[key]
        distance = np.einsum("bi,ij,bj->b", offset, inverse, offset)
        # along directions in which the background does not vary any difference is a large one
        distance = distance + 1e4 * ((offset @ flat) ** 2).sum(axis=1)
        n_players = int(coalition.sum())
        width = len(below) ** (-1 / (n_players + 4))
        log_weight = -(distance - distance.min()) / (2 * width**2)
        return np.asarray(np.exp(log_weight) * self.weights[self.chosen])


@dataclass(frozen=True, eq=False, kw_only=True)
class ForestWeights(_Weighted):
    """Background rows weigh by how often they share a leaf with the row.

    The forest predicts the columns outside a coalition from those inside. Weights of all explained
    rows are found when a coalition first occurs, as fitting is what takes time.
    """

    def _weights(self, row: int, coalition: NDArray[np.bool_]) -> Floats:
        key = coalition.tobytes()
        if key not in self._known:
            self._known[key] = self._fitted(coalition)
        return np.asarray(self._known[key][row] * self.weights[self.chosen])

    def _fitted(self, coalition: NDArray[np.bool_]) -> Floats:
        from sklearn.ensemble import RandomForestRegressor

        inside = coalition[self.owner]
        below = self.features[self.n_rows + self.chosen]
        leaf = min(_ROWS_PER_LEAF, max(1, len(below) // 10))
        forest = RandomForestRegressor(
            n_estimators=_TREES, min_samples_leaf=leaf, max_features=1.0, random_state=self.seed
        )
        forest.fit(below[:, inside], below[:, ~inside].squeeze())
        mine = forest.apply(self.features[: self.n_rows, inside])
        theirs = forest.apply(below[:, inside])
        result = np.zeros((self.n_rows, len(below)))
        for tree in range(_TREES):
            same = mine[:, tree, None] == theirs[:, tree]
            result += same / same.sum(axis=1, keepdims=True)
        return result / _TREES
