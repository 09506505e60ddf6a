"""A table of factors without some of its columns: their mean effect is in the base value."""

import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import Call, ClearwoodWarning, InputError, Option, words
from clearwood.explanation.factors.comparison import AGREEING, MIXED_ROWS, predicted
from clearwood.explanation.factors.csv_file import read_text
from clearwood.explanation.factors.result import Factors, FactorTerm
from clearwood.fitted import Unit
from clearwood.table import Schema, Table

__all__ = ["Averaged", "averaged_out", "calibrated", "compared_with", "completed"]


@dataclass(frozen=True, eq=False)
class Averaged:
    """A model that is the mean of a learner over values of some columns, and calibrated.

    A model that is no learner says by ``__clearwood_factors__`` that it is one of these.

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
    """Replace columns by their mean, after the link, over a law of their values.

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
            "left after averaging is no table of factors",
            parameter="model",
            value=pair.columns[0],
            hint=words("fit one without such pairs: ", Call("learner", ("'glm'",)), " or 'gam'."),
        )
    if result.unit is Unit.LOG_ODDS:
        raise InputError(
            "probabilities are averaged, and their mean is no product of odds ratios",
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
    """Drop what a table says of columns that it no longer has."""
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
