"""Comparing a table of factors with the model, and tables without some columns of the model."""

import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Call, ClearwoodWarning, InputError, Option, words
from clearwood.explanation.factors.files import read_text
from clearwood.explanation.factors.model_cells import ModelCells
from clearwood.explanation.factors.result import FactorLosses, Factors, FactorTerm
from clearwood.fitted import FittedModel, Unit
from clearwood.losses import default_loss, find_loss
from clearwood.models import Learner
from clearwood.table import Schema, Table

__all__ = [
    "AGREEING",
    "MIXED_ROWS",
    "Averaged",
    "averaged_out",
    "calibrated",
    "compared",
    "compared_with",
    "completed",
    "mixed_rows",
    "predicted",
]

MIXED_ROWS = 300
#: What sums of many effects differ by at most, relative to their size, that are equal.
AGREEING = 1e-9


def compared(
    result: Factors, learner: Learner, cells: ModelCells, table: Table, seed: int
) -> Factors:
    """Compare the table with the model, row by row, and by the loss where there is a target.

    The table is read from the text that it is written as, so that the comparison is of the file.
    """
    largest, agrees = 0.0, not result.banded
    result_of_file = read_text(result.to_csv())
    for rows in (cells.table, mixed_rows(cells, seed)):
        with warnings.catch_warnings():  # that nothing is known of a mixed row
            warnings.simplefilter("ignore", ClearwoodWarning)
            own, made = predicted(learner, rows), result_of_file.predict(rows)
            score, added = (
                cells.game.predict(cells.game.rows(rows))[:, -1],
                result_of_file.score(rows),
            )
        off = np.abs(made / own - 1) if result.unit is Unit.LOG_MEAN else np.abs(made - own)
        largest = float(np.maximum(largest, off.max()))
        agrees &= bool(np.allclose(added, score, rtol=0, atol=AGREEING * np.abs(score).max()))
    losses, rebalancing = None, 1.0
    if result.banded:
        means = [
            float(cells.weights @ own)
            for own in (predicted(learner, cells.table), result.predict(cells.table))
        ]
        rebalancing = means[0] / means[1] if means[1] else np.nan
    if result.banded and table.target is not None:
        losses = _losses(result, learner, cells, table)
    return replace(
        result,
        largest_difference=largest,
        is_exact=agrees,
        n_rows=table.n_rows,
        n_mixed=MIXED_ROWS,
        losses=losses,
        rebalancing=rebalancing,
    )


def predicted(learner: Learner, rows: Table) -> Floats:
    """Return the model's prediction; for classes, the probability of the second one."""
    return FittedModel(learner).predict(rows, scale="response")[:, -1]


def _losses(result: Factors, learner: Learner, cells: ModelCells, table: Table) -> FactorLosses:
    """Compute the mean loss of the model and of the table."""
    y = np.asarray(table.y)
    if learner.task_.is_classification:
        y = (y == learner.classes_[1]).astype(np.intp)
    own, made = predicted(learner, cells.table), result.predict(cells.table)
    loss = default_loss(learner.task_, y)
    if not learner.task_.is_classification and min(own.min(), made.min()) <= 0:
        loss = find_loss("squared")  # deviances need positive predictions

    def mean(predicted: Floats) -> float:
        if learner.task_.is_classification:
            predicted = np.column_stack([1 - predicted, predicted])
        return float(cells.weights @ loss.per_row(y, predicted))

    return FactorLosses(loss.risk_title, mean(own), mean(made))


def mixed_rows(cells: ModelCells, seed: int) -> Table:
    """Put rows together at random: every column by itself, all levels, new ones and gaps too."""
    generator = np.random.default_rng(seed)
    rows = cells.table.take(generator.integers(0, cells.table.n_rows, MIXED_ROWS))
    drawn = {}
    for k in cells.used:
        column = cells.column(k)
        known = column.values[~column.missing]
        if column.is_coded:
            n_levels = len(cells.levels(k))
            more = k in cells.takes_other and n_levels > 0
            values = generator.integers(0, n_levels + more, MIXED_ROWS).astype(np.float64)
            if more:
                new = "new" + "'" * (1 + max(map(len, cells.levels(k))))  # longer than any level
                column = replace(column, levels=(*cells.levels(k), new))
        elif len(known):
            between = generator.uniform(known.min(), known.max(), MIXED_ROWS)
            half = generator.random(MIXED_ROWS) < 0.5
            values = np.where(half, generator.choice(known, MIXED_ROWS), between)
        else:
            continue
        if k in cells.takes_missing:
            values[generator.random(MIXED_ROWS) < 0.1] = cells.missing(k)[0]
        drawn[column.name] = replace(column, values=values.astype(column.values.dtype))
    return replace(rows, columns=tuple(drawn.get(c.name, c) for c in rows.columns))


@dataclass(frozen=True, eq=False)
class Averaged:
    """A model that is the mean of a learner over values of some columns, and calibrated.

    A model that is not a learner has ``__clearwood_factors__`` where it is one of these.

    Parameters
    ----------
    learner
        The learner.
    cells, shares
        Combinations of values of the columns that are averaged out, with the levels that the
        learner knows, and the share of each; None where no column is.
    shift, factor
        What is added to the mean, and what it is multiplied by: after the link, but for two classes
        on the scale of log odds.
    name
        What the table calls the model.
    notes
        What its readers should know.
    """

    learner: Any
    cells: Table | None
    shares: Floats | None
    shift: float
    factor: float
    name: str
    notes: tuple[str, ...] = ()


def completed(model: Averaged, table: Table) -> tuple[Table, bool]:
    """Return rows with all columns of the learner, and whether some had to be filled in.

    What they are filled in with changes no factor of the others.
    """
    if model.cells is None or model.shares is None:
        return table, False
    absent = [column for column in model.cells.columns if column.name not in table.names]
    likeliest = np.full(table.n_rows, int(model.shares.argmax()))
    filled = tuple(column.take(likeliest) for column in absent)
    return replace(table, columns=(*table.columns, *filled)), bool(absent)


def averaged_out(result: Factors, cells: Table, shares: Floats, schema: Schema) -> Factors:
    """Replace columns by their mean, after the link, over a distribution of their values.

    The table then predicts the mean of its predictions for each combination of these values. That
    is a table of factors again where the columns are in no pair with others, and the link is the
    identity or the log.

    Parameters
    ----------
    result
        The table with the columns.
    cells, shares
        Combinations of values of the columns to average out, with the levels that the model knows,
        and the share of each.
    schema
        The columns that are left.
    """
    names = set(cells.names)
    of_them = [term for term in result.terms if names.issuperset(term.columns)]
    others = [term for term in result.terms if names.isdisjoint(term.columns)]
    if len(of_them) + len(others) < len(result.terms):
        pair = next(term for term in result.terms if term not in of_them and term not in others)
        raise InputError(
            f"the model has a pair of {' and '.join(map(repr, pair.columns))}, so that what is "
            "left after averaging is not a table of factors",
            parameter="model",
            value=pair.columns[0],
            hint=words("fit one without such pairs: ", Call("learner", ("'glm'",)), " or 'gam'."),
        )
    if result.unit is Unit.LOG_ODDS:
        raise InputError(
            "probabilities are averaged, and their mean is not a product of odds ratios",
            parameter="model",
            value=result.model,
            hint="a table of factors is for numbers, counts and amounts; `predict` gives the "
            "probabilities.",
        )
    effects = sum((term.of(cells) for term in of_them), np.zeros(cells.n_rows))
    if result.unit is Unit.LOG_MEAN:
        highest = effects.max()
        mean = float(highest + np.log(shares @ np.exp(effects - highest)))
    else:
        mean = float(shares @ effects)
    kept = replace(result, terms=tuple(others), base_score=result.base_score + mean)
    return _without(kept, names, schema)


def _without(result: Factors, names: Collection[str], schema: Schema) -> Factors:
    """Drop what a table holds about columns that it no longer has."""
    return replace(
        result,
        base={name: value for name, value in result.base.items() if name not in names},
        banded=tuple(name for name in result.banded if name not in names),
        tests=tuple(test for test in result.tests if test.column not in names),
        ranges={name: ends for name, ends in result.ranges.items() if name not in names},
        schema=schema,
    )


def calibrated(result: Factors, shift: float, factor: float) -> Factors:
    """Multiply predictions and add to them; for two classes, their log odds."""
    if result.unit is not Unit.LOG_MEAN:
        return _moved(result, shift, factor)
    if shift:
        raise InputError(
            "a constant is added to the predictions, which factors do not do",
            parameter="model",
            value=result.model,
            hint=words("calibrate by a factor: ", Option("calibrate", "scale"), "."),
        )
    return _moved(result, float(np.log(factor)), 1.0)


def _moved(result: Factors, shift: float, factor: float) -> Factors:
    """Add to the score and multiply it, before the link."""
    terms: list[FactorTerm] = [
        replace(
            term,
            effects=factor * term.effects,
            powers=None if term.powers is None else factor * term.powers,
            errors=None if term.errors is None else abs(factor) * term.errors,
        )
        for term in result.terms
    ]
    return replace(result, base_score=shift + factor * result.base_score, terms=tuple(terms))


def compared_with(result: Factors, model: Any, rows: Table, weights: Floats, seed: int) -> Factors:
    """Compare a table, read from its own text, with a model.

    Rows are those given, with their weights, and others that are put together from them at random.
    """
    generator = np.random.default_rng(seed)
    columns = [c.take(generator.integers(0, rows.n_rows, MIXED_ROWS)) for c in rows.columns]
    of_file = read_text(result.to_csv())
    largest, agrees, rebalancing = 0.0, not result.banded, 1.0
    for one in (rows, Table(tuple(columns))):
        with warnings.catch_warnings():  # that nothing is known of a mixed row
            warnings.simplefilter("ignore", ClearwoodWarning)
            own, made = predicted(model, one), of_file.predict(one)
        is_relative = result.unit is Unit.LOG_MEAN
        off = float((np.abs(made / own - 1) if is_relative else np.abs(made - own)).max())
        agrees &= off <= AGREEING * (1.0 if is_relative else float(np.abs(own).max()))
        largest = float(np.maximum(largest, off))
        if one is rows and result.banded:
            rebalancing = float(weights @ own / (weights @ made))
    return replace(
        result,
        largest_difference=largest,
        is_exact=agrees,
        n_rows=rows.n_rows,
        n_mixed=MIXED_ROWS,
        losses=None,
        rebalancing=rebalancing,
        points=None,
    )
