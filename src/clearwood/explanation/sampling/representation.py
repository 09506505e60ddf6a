"""The interpretable representation of rows, and rows drawn around it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood.explanation.results.about import axis_numbers
from clearwood.table import Column, Kind

__all__ = ["Drawn", "Representation", "RepresentedTerm", "representation_of"]


#: Levels of a column that get a term of their own; the others share one.
_MOST_LEVELS = 30


@dataclass(frozen=True)
class RepresentedTerm:
    """One column of the interpretable representation."""

    column: int  # position of the user's column
    name: str  # in words: "age", "town = Bern", "age is missing"
    level: int | None = None  # its code, -1 missing, -2 all without a term; None for a number


@dataclass(frozen=True, eq=False)
class Drawn:
    """Perturbed rows."""

    taken: dict[int, Index]  # for columns of categories and text, the rows they are taken from
    written: dict[int, NDArray[Any]]  # for columns of numbers and dates, their values
    features: Floats  # the interpretable representation: (rows, terms)


@dataclass(frozen=True, eq=False)
class Representation:
    """How rows are represented, and how they are drawn (Hiabu 2024, example 19)."""

    columns: tuple[Column, ...]  # the explained row first, then the data
    terms: tuple[RepresentedTerm, ...]
    features: Floats  # the explained row and the data, represented
    weights: Floats  # of the rows of the data
    scale: Floats  # standard deviation of each term over the data
    lumped: tuple[str, ...]  # columns with too many levels for a term each

    @property
    def kernel_scale(self) -> Floats:
        """What one step of the kernel is for each term.

        The standard deviation; but 1 for the levels of a column that has too many for a term each,
        as nearly every drawn row has another level, and none would be near.
        """
        many = [self.columns[term.column].name in self.lumped for term in self.terms]
        return np.where(many, 1.0, self.scale)

    @property
    def row(self) -> Floats:
        """The explained row, represented."""
        return np.asarray(self.features[0])

    def draw(self, n: int, generator: np.random.Generator) -> Drawn:
        """Draw each column on its own: numbers from a normal, others as often as they occur."""
        taken: dict[int, Index] = {}
        written: dict[int, NDArray[Any]] = {}
        parts: list[Floats] = []
        for k, column in enumerate(self.columns):
            terms = [term for term in self.terms if term.column == k]
            source = 1 + _drawn(self.weights, n, generator)
            if not _is_number(column):
                taken[k] = source
                parts.append(_indicators(_codes(column)[source], terms))
                continue
            numbers = axis_numbers(column.values)
            present = ~column.missing[1:]
            drawn: Any = np.nan
            if present.any():
                drawn = generator.normal(*_moments(numbers[1:][present], self.weights[present]), n)
            drawn = np.where(column.missing[source], np.nan, drawn)
            written[k] = _dates(drawn) if column.kind is Kind.DATE else drawn
            parts.append(_number_terms(drawn, column, self.weights, terms))
        return Drawn(taken, written, np.concatenate(parts, axis=1))


def _drawn(weights: Floats, n: int, generator: np.random.Generator) -> Index:
    """Draw rows as often as their weights suggest; whole ones as if rows were repeated."""
    above = np.cumsum(weights)
    if (weights == np.round(weights)).all():
        drawn = generator.integers(int(above[-1]), size=n)
        return np.asarray(np.searchsorted(above, drawn, side="right"))
    place = np.searchsorted(above, generator.random(n) * above[-1], side="right")
    return np.asarray(place.clip(max=len(weights) - 1))


def _moments(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Compute mean and standard deviation over the rows, the first axis."""
    mean = np.average(values, axis=0, weights=weights)
    spread = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))
    return np.asarray(mean), np.asarray(spread)


def representation_of(columns: tuple[Column, ...], weights: Floats | None = None) -> Representation:
    """Represent categories by one indicator per level, numbers by themselves."""
    weights = np.ones(len(columns[0]) - 1) if weights is None else weights
    terms: list[RepresentedTerm] = []
    parts: list[Floats] = []
    lumped = []
    for k, column in enumerate(columns):
        if _is_number(column):
            own = [RepresentedTerm(k, column.name)]
            if column.n_missing:
                own.append(RepresentedTerm(k, f"{column.name} is missing", -1))
            parts.append(_number_terms(axis_numbers(column.values), column, weights, own))
        else:
            codes = _codes(column)
            own, is_lumped = _level_terms(k, column, codes, weights)
            lumped += [column.name] * is_lumped
            parts.append(_indicators(codes, own))
        terms += own
    features = np.concatenate(parts, axis=1)
    return Representation(
        columns=columns,
        terms=tuple(terms),
        features=features,
        weights=weights,
        scale=_moments(features[1:], weights)[1],
        lumped=tuple(lumped),
    )


def _is_number(column: Column) -> bool:
    return column.kind in (Kind.NUMBER, Kind.WHOLE, Kind.DATE)


def _dates(days: Floats) -> NDArray[Any]:
    stamps = np.where(np.isnan(days), 0.0, days) * 86_400e6
    result: NDArray[Any] = stamps.astype(np.int64).astype("datetime64[us]")
    result[np.isnan(days)] = np.datetime64("NaT")
    return result


def _codes(column: Column) -> NDArray[np.int64]:
    if column.is_coded:
        return column.values.astype(np.int64)
    written = np.array(["" if v is None else f"={v}" for v in column.values])
    codes = np.unique(written, return_inverse=True)[1].astype(np.int64)
    return np.where(written == "", -1, codes)


def _number_terms(
    numbers: Floats, column: Column, weights: Floats, terms: list[RepresentedTerm]
) -> Floats:
    """Return numbers, the mean where they are missing, and whether they are."""
    known = axis_numbers(column.values)[1:]
    present = ~np.isnan(known)
    gaps = np.isnan(numbers)
    mean = np.average(known[present], weights=weights[present]) if present.any() else 0.0
    filled = np.where(gaps, mean, numbers)
    return np.column_stack([filled, gaps][: len(terms)]).astype(np.float64)


def _level_terms(
    k: int, column: Column, codes: NDArray[np.int64], weights: Floats
) -> tuple[list[RepresentedTerm], bool]:
    result, at = np.unique(codes[1:], return_inverse=True)
    counts = np.bincount(at, weights)
    order = result[np.argsort(-counts, kind="stable")][:_MOST_LEVELS].tolist()
    own = int(codes[0])
    kept = sorted({own, *order})
    first = {int(code): at for at, code in reversed(list(enumerate(codes)))}
    labels = column.labels()
    terms = [
        RepresentedTerm(
            k,
            f"{column.name} is missing" if code < 0 else f"{column.name} = {labels[first[code]]}",
            code,
        )
        for code in kept
    ]
    is_lumped = len(result) > _MOST_LEVELS
    if is_lumped:
        terms.append(RepresentedTerm(k, f"{column.name} = another", -2))
    return terms, is_lumped


def _indicators(codes: NDArray[np.int64], terms: list[RepresentedTerm]) -> Floats:
    named = np.array([term.level for term in terms if term.level != -2])
    result = (codes[:, None] == named).astype(np.float64)
    if len(named) < len(terms):
        result = np.column_stack([result, 1 - result.sum(axis=1)])
    return np.asarray(result, np.float64)
