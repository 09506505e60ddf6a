"""Comparing a table of factors with the model, row by row and by the loss."""

import warnings
from dataclasses import replace

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import ClearwoodWarning
from clearwood.explanation.factors.csv_file import read_text
from clearwood.explanation.factors.model_cells import ModelCells
from clearwood.explanation.factors.result import FactorLosses, Factors
from clearwood.fitted import Unit
from clearwood.losses import default_loss, find_loss
from clearwood.models import Learner
from clearwood.table import Table

__all__ = ["AGREEING", "MIXED_ROWS", "compared", "mixed_rows", "predicted"]

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
    if learner.task_.is_classification:
        return np.asarray(learner.predict_proba(rows)[:, 1])
    return np.asarray(learner.predict(rows), np.float64)


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
                column = replace(column, levels=(*cells.levels(k), _new_level(cells.levels(k))))
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


def _new_level(levels: tuple[str, ...]) -> str:
    """Return a level that a column does not have."""
    return "new" + "'" * (1 + max(map(len, levels)))
