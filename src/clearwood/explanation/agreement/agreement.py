"""Whether explanations of one model agree, column by column, and likely reasons why not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.clock import Clock
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import InputError
from clearwood._shared.messages import tell
from clearwood._shared.progress import progress
from clearwood.checks import effective_rows
from clearwood.explanation.agreement.measures import (
    difference,
    differing_shapes,
    observed_gap,
    partners_of,
)
from clearwood.explanation.agreement.result import Agreement, ColumnAgreement
from clearwood.explanation.effects.effect import measured_effect
from clearwood.explanation.effects.request import Options
from clearwood.explanation.importance.importance import importance
from clearwood.explanation.results.outputs import noting_zero_weights, two_rows_or_more
from clearwood.explanation.rows.blocks import limit_words
from clearwood.explanation.rows.predictor import Predictor
from clearwood.table import Column, Table

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["agreement"]

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
    explanation, y = self.counted(y)
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
    plain = Options(kind="ice", points=_POINTS, sample=len(rows), exact=False, seed=seed)
    narrow = replace(plain, kind="ale", bands=_DRAWS, confidence=0.95, extrapolation=False)
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
