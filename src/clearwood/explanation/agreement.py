"""Whether explanations of one model agree, column by column, and likely reasons why not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.clock import Clock
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError
from clearwood._shared.messages import tell
from clearwood._shared.numbers import number, percent
from clearwood._shared.progress import progress
from clearwood._shared.results import Result, document, html_table
from clearwood.checks import bins_of, comparable, effective_rows, strength, strengths
from clearwood.explanation.effects.effect import measured_effect
from clearwood.explanation.effects.request import EffectOptions
from clearwood.explanation.importance.importance import importance
from clearwood.explanation.results.about import (
    axis_numbers,
    noting_zero_weights,
    two_rows_or_more,
)
from clearwood.explanation.results.effect import Effect
from clearwood.explanation.rows.predictor import Predictor, limit_words
from clearwood.table import Column, Kind, Table

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = [
    "Agreement",
    "ColumnAgreement",
    "Comparison",
    "agreement",
    "difference",
    "differing_shapes",
    "observed_gap",
    "partners_of",
]

# In standard deviations of the prediction: smaller differences do not matter.
_DIFFERS = 0.1
# Share of the importance that one measure gives and the other does not.
_SHARE_DIFFERS = 0.1


# What the frame has of each column, besides its name and the words.
_NUMBERS = (
    "pdp_ale",
    "interventional_observational",
    "impurity",
    "permutation",
    "interaction",
    "extrapolates",
)


class Comparison(StrEnum):
    """Pairs of methods that are compared."""

    PDP_ALE = "pdp against ale"
    VALUE_FUNCTIONS = "interventional against observational"
    IMPORTANCES = "impurity against permutation"


@dataclass(frozen=True, kw_only=True)
class ColumnAgreement:
    """How far methods agree about one column.

    Parameters
    ----------
    column
        Its name.
    pdp_ale
        How far partial dependence and accumulated local effect differ: root mean square over the
        data, in standard deviations of the prediction; 0 where chance explains it.
    interventional_observational
        The same for partial dependence and the mean prediction of rows with the value.
    impurity, permutation
        Shares of importance by either measure; None where there are no trees or no target.
    associated_with
        Columns it is associated with, with the strength from 0 to 1.
    interacts_with
        The column that its curves depend on most; None where they are nearly parallel.
    interaction
        How far individual curves differ in shape, in standard deviations of the prediction.
    extrapolates
        The share of the grid at which the partial dependence relies on rows outside the data.
    """

    column: str
    pdp_ale: float
    interventional_observational: float
    impurity: float | None
    permutation: float | None
    associated_with: tuple[tuple[str, float], ...]
    interacts_with: str | None
    interaction: float
    extrapolates: float

    @property
    def agrees(self) -> bool:
        """Whether all methods agree."""
        return not self.disagreements

    @property
    def curves_differ(self) -> bool:
        """Whether partial dependence and accumulated local effect differ."""
        return self.pdp_ale > _DIFFERS

    @property
    def is_proxy(self) -> bool:
        """Whether rows with different values also differ in other columns that matter."""
        return self.interventional_observational > _DIFFERS

    @property
    def disagreements(self) -> tuple[Comparison, ...]:
        """The comparisons that differ."""
        differs = {
            Comparison.PDP_ALE: self.curves_differ,
            Comparison.VALUE_FUNCTIONS: self.is_proxy,
            Comparison.IMPORTANCES: _shares_differ(self.impurity, self.permutation),
        }
        return tuple(comparison for comparison, is_so in differs.items() if is_so)

    @property
    def words(self) -> str:
        """What differs and why, in a sentence."""
        if self.agrees:
            return f"{self.column}: all methods agree"
        why = self._reasons()
        reason = f"; likely because {' and '.join(why)}" if why else "; no reason was found"
        return f"{self.column}: {' and '.join(self._differences())}{reason}"

    def _differences(self) -> list[str]:
        texts = []
        if self.curves_differ:
            texts.append(
                f"partial dependence and accumulated local effect differ by {number(self.pdp_ale)} "
                "standard deviations of the prediction"
            )
        if self.is_proxy:
            texts.append(
                "partial dependence and the mean prediction of rows with the value differ by "
                f"{number(self.interventional_observational)} standard deviations"
            )
        if _shares_differ(self.impurity, self.permutation):
            texts.append(
                f"impurity gives it {percent(self.impurity or 0.0)} of the importance, permutation "
                f"{percent(self.permutation or 0.0)}"
            )
        return texts

    def _reasons(self) -> list[str]:
        why = []
        if self.associated_with:
            listed = ", ".join(
                f"{n!r} ({number(strength)})" for n, strength in self.associated_with
            )
            why.append(f"it is associated with {listed}")
        if self.interacts_with is not None:
            why.append(f"it interacts with {self.interacts_with!r}")
        if self.extrapolates > 0:
            why.append(f"{percent(self.extrapolates)} of its grid extrapolates")
        if not why and Comparison.IMPORTANCES in self.disagreements:
            why.append("impurity favours columns with many values and rewards overfitting")
        return why


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """How far methods agree about every column, the largest difference first.

    Made by `clearwood.agreement`. Its frame has one row per column.

    Parameters
    ----------
    columns
        One entry per column.
    model
        The model in words.
    n_rows
        How many rows were used.
    n_zero_weight
        How many further rows have a weight of zero and are left out.
    notes
        What was not compared, and why.
    """

    columns: tuple[ColumnAgreement, ...]
    model: str
    n_rows: int
    n_zero_weight: int = 0
    notes: tuple[str, ...] = ()

    def __getitem__(self, column: str) -> ColumnAgreement:
        """Return the entry of one column."""
        return next(entry for entry in self.columns if entry.column == column)

    def __repr__(self) -> str:
        differing = [entry for entry in self.columns if not entry.agrees]
        if not differing:
            return f"Agreement: all methods agree about {len(self.columns)} columns"
        lines = [f"  {entry.words}" for entry in differing[:10]]
        head = f"Agreement: methods disagree about {len(differing)} of {len(self.columns)} columns"
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        rows = [
            (
                entry.column,
                f"{entry.pdp_ale:.2f}",
                f"{entry.interventional_observational:.2f}",
                entry.words,
            )
            for entry in self.columns
        ]
        headings = ("column", "pdp against ale", "interventional against observational", "in words")
        return html_table("Where methods disagree", headings, rows, self.notes)

    def _columns(self) -> dict[str, Any]:
        table: dict[str, Any] = {"column": [entry.column for entry in self.columns]}
        for name in _NUMBERS:
            values = [getattr(entry, name) for entry in self.columns]
            table[name] = np.array([np.nan if value is None else value for value in values])
        return table | {"words": [entry.words for entry in self.columns]}

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "columns": [
                    {**vars(entry), "words": entry.words, "disagreements": entry.disagreements}
                    for entry in self.columns
                ],
                "model": self.model,
                "rows": self.n_rows,
                "n_zero_weight": self.n_zero_weight,
                "notes": self.notes,
            }
        )

    def plot(self, **options: Any) -> Any:
        """Draw the differences as bars, with what is thought negligible shaded (Altair)."""
        from clearwood.plot import plot_agreement

        return plot_agreement(self, **options)


def _shares_differ(impurity: float | None, permutation: float | None) -> bool:
    if impurity is None or permutation is None:
        return False
    return abs(impurity - permutation) > _SHARE_DIFFERS


_GOES_WITH = 0.3
_INTERACTS = 0.1


def difference(effect: Effect, curve: Effect) -> float:
    """Compute the root mean square difference of two effects, both centred; 0 within chance."""
    n_points = len(effect.grid[0])
    values = effect.values.reshape(n_points, -1)
    assert effect.low is not None
    assert effect.high is not None
    # half of a 95 % band over 1.96 is a standard error
    error = (effect.high - effect.low).reshape(n_points, -1) / 3.92
    weight = effect.shares / effect.shares.sum()
    gap = values - _at(curve, effect.grid[0])
    gap = gap - weight @ gap
    square, chance = float((weight @ gap**2).sum()), float((weight @ error**2).sum())
    # neighbouring points err together, so all of them count as one or two
    return float(np.sqrt(square - chance)) if square > 4 * chance else 0.0


def observed_gap(column: Column, curve: Effect, predicted: Floats, weights: Floats) -> float:
    """Measure how far the mean of those who have a value differs from the partial dependence there.

    Rows are put into bins of the column. Were both the same, the prediction less the partial
    dependence at the row's own value would have the same mean in every bin.
    """
    rest = predicted - _at(curve, column.labels())
    known = np.isfinite(rest).all(axis=1)
    _, bins = np.unique(bins_of(column, weights)[known], return_inverse=True)
    rest, w = rest[known], weights[known]
    counts = np.bincount(bins, w)
    weight = counts / counts.sum()
    square, chance, spread = 0.0, 0.0, 0.0
    for output in rest.T:
        mean = np.bincount(bins, w * output) / counts
        within = np.bincount(bins, w * (output - mean[bins]) ** 2) / np.maximum(counts - 1, 1)
        square += float(weight @ (mean - weight @ mean) ** 2)
        chance += float(weight @ (within / counts))
        spread += float(2 * (weight**2) @ (within / counts) ** 2)
    beyond = square - chance
    return float(np.sqrt(beyond)) if beyond > 3 * np.sqrt(spread) + 1e-20 else 0.0


def _at(curve: Effect, wanted: NDArray[Any]) -> Floats:
    """Return a curve at some values; NaN at levels that it does not show."""
    values = curve.values.reshape(len(curve.grid[0]), -1)
    if not curve.is_ordered[0]:
        place = {str(level): k for k, level in enumerate(curve.grid[0])}
        padded = np.vstack([values, np.full((1, values.shape[1]), np.nan)])
        return padded[[place.get(str(level), len(values)) for level in wanted]]
    own, at = axis_numbers(curve.grid[0]), axis_numbers(wanted)
    known = np.isfinite(own)
    result = np.empty((len(at), values.shape[1]))
    for k in range(values.shape[1]):
        result[:, k] = np.interp(at, own[known], values[known, k])
        result[~np.isfinite(at), k] = values[-1, k]
    return result


def partners_of(predictor: Predictor, position: int) -> tuple[tuple[str, float], ...]:
    """Return the columns that a column goes with, at most three, with the strength from 0 to 1."""
    associated = strengths(predictor.profiles, position)
    associated[position] = 0
    best = np.argsort(-associated, kind="stable")[:3]
    return tuple(
        (predictor.names[k], round(float(associated[k]), 3))
        for k in best
        if associated[k] > _GOES_WITH
    )


def differing_shapes(
    predictor: Predictor, each: Effect, position: int, rows: Index, weights: Floats, scale: float
) -> tuple[float, str | None]:
    """Measure how far curves differ in shape, and find which column their shape depends on."""
    assert each.curves is not None
    curves = each.curves.reshape(len(each.curves), len(each.grid[0]), -1)
    weight = each.shares / each.shares.sum()
    centred = curves - np.einsum("j,ijk->ik", weight, curves)[:, None]
    apart = centred - np.average(centred, axis=0, weights=weights)
    total = float(np.einsum("i,j,ijk->", weights, weight, apart**2))
    size = float(np.sqrt(total / weights.sum())) / scale
    if size < _INTERACTS:
        return size, None
    flat = (apart * np.sqrt(weight)[None, :, None]).reshape(len(apart), -1)
    _, _, directions = np.linalg.svd(flat * np.sqrt(weights)[:, None], full_matrices=False)
    main = comparable(Column("shape", Kind.NUMBER, flat @ directions[0]), weights)
    associated = [
        0.0 if k == position else strength(main, comparable(column.take(rows), weights))
        for k, column in enumerate(predictor.columns)
    ]
    best = int(np.argmax(associated))
    return size, predictor.names[best] if associated[best] > _GOES_WITH else None


_POINTS = 40
_DRAWS = 100
_MOST_ROWS = 2000
_MOST_ASKED = 500


def agreement(
    self: "Explanation",
    *,
    columns: Sequence[str] | None = None,
    y: Any = None,
    output: Any = None,
    scale: str | None = None,
    sample: int | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Agreement:
    """Compare explanations of a model column by column, with likely reasons where they differ.

    The parameters are those of `clearwood.agreement` without model and data.
    """
    clock = Clock.started_now(time_limit)
    seed = self.seed if seed is None else seed
    n_data = self.n_rows
    explanation, y = self.over_positive_weights(y)
    predictor = explanation.predictor(output=output, scale=scale, n_jobs=n_jobs)
    two_rows_or_more(len(predictor), "a comparison")
    names, notes = _columns(predictor, columns)
    size = min(sample or (_MOST_ROWS if predictor.is_step else _MOST_ASKED), len(predictor))
    impurity, permutation, more = _importances(explanation, y, size, seed, n_jobs)
    notes += more
    # the same rows that effects are averaged over
    rows = draw_rows(len(predictor), size, seed=seed)
    predicted = predictor.predict(rows)
    weights = np.ones(len(rows)) if predictor.weights is None else predictor.weights[rows]
    mean = np.average(predicted, axis=0, weights=weights)
    spread = float(np.sqrt(np.average((predicted - mean) ** 2, axis=0, weights=weights).sum()))
    compared: list[ColumnAgreement] = []
    why = ""
    with progress("comparing", total=len(names)) as step:
        try:
            for name in names:
                if compared and clock.is_over:
                    why = limit_words(clock)
                    break
                shares = (impurity.get(name), permutation.get(name))
                compared.append(
                    _compare(explanation, predictor, name, shares, spread, rows, predicted, seed)
                )
                step(1, note=name)
        except KeyboardInterrupt:
            if not compared:
                raise
            why = "interrupted"
    if why:
        notes.append(f"{why} after {len(compared)} of {len(names)} columns")
        tell(notes[-1])
    compared.sort(key=lambda e: -max(e.pdp_ale, e.interventional_observational))
    result = Agreement(tuple(compared), predictor.kind, size, notes=tuple(notes))
    return noting_zero_weights(result, n_data - explanation.n_rows)


def _columns(predictor: Predictor, wanted: Sequence[str] | None) -> tuple[list[str], list[str]]:
    if wanted is not None:
        names = [wanted] if isinstance(wanted, str) else list(wanted)
        return [predictor.names[predictor.position(name)] for name in names], []
    varying = [c.name for c in predictor.columns if _varies(c)]
    left = len(predictor.columns) - len(varying)
    return varying, [f"{left} columns do not vary and are left out"] if left else []


def _varies(column: Column) -> bool:
    missing = column.missing
    if missing.all():
        return False
    present = column.values[~missing]
    return bool(missing.any() or (present != present[0]).any())


def _importances(
    explanation: "Explanation", y: Any, size: int, seed: int, n_jobs: int | None
) -> tuple[dict[str, float], dict[str, float], list[str]]:
    """Compute shares of importance by impurity and permutation, where there are both."""
    data = explanation.data
    if y is None and not (isinstance(data, Table) and data.target is not None):
        return {}, {}, ["impurity and permutation importance are not compared: no target is known"]
    try:
        gains = importance(explanation, kind="impurity")
    except InputError:
        return {}, {}, []
    permuted = importance(
        explanation, kind="permutation", y=y, repeats=3, sample=size, seed=seed, n_jobs=n_jobs
    )
    increase = np.maximum(permuted.values, 0)
    total = increase.sum() or 1.0
    return (
        dict(zip(gains.columns, gains.values.tolist(), strict=True)),
        dict(zip(permuted.columns, (increase / total).tolist(), strict=True)),
        [],
    )


def _compare(
    explanation: "Explanation",
    predictor: Predictor,
    name: str,
    shares: tuple[float | None, float | None],
    spread: float,
    rows: Index,
    predicted: Floats,
    seed: int,
) -> ColumnAgreement:
    plain = EffectOptions(kind="ice", points=_POINTS, sample=len(rows), exact=False, seed=seed)
    narrow = replace(plain, kind="ale", n_bootstrap=_DRAWS, confidence=0.95, extrapolation=False)
    each = measured_effect(explanation, [name], plain, predictor=predictor, rows=rows)
    local = measured_effect(explanation, [name], narrow, predictor=predictor, rows=rows)
    scale = spread or 1.0
    position = predictor.position(name)
    column = predictor.columns[position].take(rows)
    # scaled to the number of rows that chance is judged by; whole weights stay as they are
    own = predictor.weights
    weights = np.ones(len(rows)) if own is None else own[rows]
    weights = weights * (effective_rows(len(rows), weights) / weights.sum())
    interaction, interacts_with = differing_shapes(predictor, each, position, rows, weights, scale)
    return ColumnAgreement(
        column=name,
        pdp_ale=difference(local, each) / scale,
        interventional_observational=observed_gap(column, each, predicted, weights) / scale,
        impurity=shares[0],
        permutation=shares[1],
        associated_with=partners_of(predictor, position),
        interacts_with=interacts_with,
        interaction=interaction,
        extrapolates=float(each.extrapolates.mean()),
    )
