"""What the page shows of an explanation, each with the settings of the page."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.condensing import Condensed, condense, with_surrogates
from clearwood.explanation import (
    Attention,
    Coefficients,
    Decomposition,
    Effect,
    Explanation,
    Factors,
    Shapley,
    TermTable,
    TrainingCurve,
    attention,
    coefficients,
    factors_of_game,
    training_curve,
)
from clearwood.models import Learner, equation, has_equation
from clearwood.reporting.browser.tree_places import directions, tree_in_page
from clearwood.reporting.collect.findings import Findings, PageTree
from clearwood.table import Table

__all__ = [
    "EVALUATIONS",
    "attention_of",
    "coefficients_of",
    "decomposition_of",
    "effect_of",
    "equation_of",
    "factors_of",
    "one_tree_of",
    "over_rows",
    "page_tree",
    "shapley_of",
    "some_rows",
    "terms_of",
    "training_of",
]


#: Draws of the bootstrap behind a band, and how often the band is meant to cover.
_DRAWS, _CONFIDENCE = 100, 0.9


# Bytes for one tree, whatever else the machine does.
_BYTES = 2e9


# Cells of pairs in a table of factors, at most.
_MOST_CELLS = 20_000


#: Evaluations for one row, and background rows, where Shapley values are estimated.
EVALUATIONS = 2000


_BACKGROUND_ROWS = 25

#: With more leaves than this the rules are left to the library.
_MOST_RULES = 3_000


def over_rows(explanation: Explanation, rows: Table) -> Explanation:
    """Return the model over some rows; the explanation itself if they are its own."""
    return explanation if rows is explanation.data else explanation.on(rows)


def decomposition_of(
    explanation: Explanation,
    rows: Any,
    *,
    is_sampled: bool,
    max_order: int,
    time_limit: float | None,
    seed: int,
) -> Decomposition:
    """Decompose the prediction, from sampled predictions or exactly."""
    in_parts = explanation.in_parts
    if in_parts is not None and rows is explanation.data and not is_sampled:
        rows = in_parts.parts  # exact over all of them
    result = explanation.on(
        rows,
        max_order=max_order,
        exact=not is_sampled,
        n_background=None if is_sampled else "all",  # the rows were drawn to be all used
        time_limit=time_limit,
        seed=seed,
    ).decomposition
    names = _names_in_table(explanation, result.columns)
    return replace(
        result,
        columns=tuple(names[name] for name in result.columns),
        components=tuple(tuple(names[name] for name in part) for part in result.components),
    )


def terms_of(explanation: Explanation, rows: Table, order: int) -> TermTable:
    """Return the terms of a model that can be read term by term."""
    table = explanation.on(rows, max_order=order).terms()
    names = _names_in_table(explanation, explanation.game.columns)
    named = tuple(
        replace(term, columns=tuple(names[name] for name in term.columns)) for term in table.terms
    )
    return replace(table, terms=named)


def coefficients_of(explanation: Explanation) -> Coefficients | None:
    """Return the coefficients of a linear learner explained on its training rows, or None."""
    model, table = explanation.model, explanation.data
    if not isinstance(model, Learner) or table.target is None:
        return None
    with warnings.catch_warnings():
        # the notes of the result say the same
        warnings.simplefilter("ignore", ClearwoodWarning)
        try:
            return coefficients(model, table)
        except InputError:
            return None


def equation_of(model: Any) -> Any:
    """Write out the model, or return None where it cannot be written out."""
    return equation(model) if has_equation(model) else None


def training_of(model: Any) -> TrainingCurve | None:
    """Return the training of a network, or None."""
    try:
        return training_curve(model)
    except InputError:
        return None


def attention_of(model: Any, rows: Table) -> Attention | None:
    """Return the attention of a transformer, or None."""
    try:
        return attention(model, rows)
    except InputError:
        return None


def factors_of(explanation: Explanation) -> Factors | None:
    """Return the model as a table of factors; None for other models than learners."""
    model, game = explanation.model, explanation.exact_game
    if not isinstance(model, Learner) or game is None or game.order > 2:
        return None
    if model.task_.is_classification and len(model.classes_) != 2:
        return None
    with warnings.catch_warnings():  # the notes of the result say the same
        warnings.simplefilter("ignore", ClearwoodWarning)
        return factors_of_game(model, game, explanation.data, most_cells=_MOST_CELLS)


def effect_of(
    explanation: Explanation,
    column: str,
    *,
    kind: Literal["pdp", "ice", "ale"],
    points: int,
    grid: Sequence[Any] | None,
    n_rows: int,
    time_limit: float | None,
    seed: int,
) -> Effect:
    """Return the effect of one column over ``n_rows`` rows of the table."""
    is_curves = kind == "ice"
    with warnings.catch_warnings():
        # the page shows where it extrapolates
        warnings.simplefilter("ignore", ClearwoodWarning)
        return explanation.effect(
            column,
            kind=kind,
            points=points,
            grid=grid,
            sample=n_rows,
            n_bootstrap=0 if is_curves else _DRAWS,
            band="rows",
            confidence=_CONFIDENCE,
            exact=False,
            extrapolation=not is_curves,
            time_limit=time_limit,
            seed=seed,
        )


def shapley_of(
    explanation: Explanation, rows: Table, *, is_sampled: bool, time_limit: float | None, seed: int
) -> Shapley:
    """Return interventional Shapley values of rows over the same rows."""
    options: dict[str, Any] = {"seed": seed}
    if is_sampled:
        options |= {
            "method": "permutation",
            "max_evaluations": EVALUATIONS,
            "n_background": min(_BACKGROUND_ROWS, rows.n_rows),
            # predictions one by one are slower than those of all rows at once
            "time_limit": None if time_limit is None else 4 * time_limit,
        }
    values: Shapley = over_rows(explanation, rows).shapley(**options)
    if len(values) < rows.n_rows:
        raise InputError(
            f"the time limit was reached after {len(values)} of {rows.n_rows} rows",
            hint="cw.shapley(model, data, rows) explains single rows.",
        )
    names = _names_in_table(explanation, values.columns)
    return replace(values, columns=tuple(names[name] for name in values.columns))


def one_tree_of(explanation: Explanation, *, nodes: int, time_limit: float | None) -> Condensed:
    """Return one tree in place of the model."""
    if explanation.forest is None:
        raise InputError("the model is not a tree, a forest or boosted trees")
    condensed = condense(
        explanation.forest, explanation.data, nodes=nodes, time_limit=time_limit, memory=_BYTES
    )
    return with_surrogates(condensed, explanation.model)


def _names_in_table(explanation: Explanation, columns: Sequence[str]) -> dict[str, str]:
    """Map a result's columns to the table's: a model fitted to an array has only positions."""
    own = explanation.predictor().names
    if len(own) == len(columns) and not set(columns) <= set(own):
        return dict(zip(columns, own, strict=True))
    return {name: name for name in columns}


def some_rows(table: Table, most: int, seed: int) -> Table:
    """Return at most this many rows of a table, drawn with the seed, in their order."""
    return table if table.n_rows <= most else table.take(draw_rows(table.n_rows, most, seed=seed))


def page_tree(findings: Findings, condensed: Condensed) -> PageTree:
    """Lay a condensed tree out for the page."""
    ways = tuple(directions(condensed, condensed.matrix(findings.sample)))
    if condensed.certificate.share_certified == 0 or not condensed.diagram.certified.any():
        return PageTree(ways=ways)
    places = tree_in_page(
        condensed,
        condensed.matrix(findings.table),
        _outcomes(findings),
        used=_used_columns(findings, condensed),
        weights=findings.table.weights,
    )
    if condensed.n_leaves > _MOST_RULES:
        why = (
            f"There is one rule for each of the {condensed.n_leaves:,} leaves. In Python: "
            "cw.condense(model).rules(data)."
        )
        return PageTree(places, None, why, ways)
    try:
        return PageTree(places, condensed.rules(findings.table), "", ways)
    except InputError as error:
        return PageTree(places, None, str(error.message), ways)


def _used_columns(findings: Findings, condensed: Condensed) -> Index | None:
    """Return the model's columns that the page computes, if they are the condensed tree's too."""
    carried = findings.page_model
    if carried.codes is None:
        return None
    own = condensed.matrix(findings.sample)
    same = carried.codes.shape == own.shape and np.array_equal(carried.codes, own, equal_nan=True)
    return carried.used if same else None


def _outcomes(findings: Findings) -> Floats | None:
    """Return the outcomes as numbers: the target itself, or of two classes the second as 1."""
    table = findings.table
    if table.target is None:
        return None
    if not findings.classes:
        column = table.column(table.target)
        return None if column.is_coded else np.asarray(table.y, np.float64)
    if len(findings.classes) == 2:
        second: Bools = np.asarray(table.y).astype(str) == findings.classes[1]
        return second.astype(np.float64)
    return None
