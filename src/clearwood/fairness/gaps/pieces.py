"""Predictions of every row as a member of every group, and what follows from them."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import logit

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, did_you_mean, unknown_choice, words
from clearwood._shared.weights import counted
from clearwood.explanation import Scale
from clearwood.fairness.groups.grouping import Grouping
from clearwood.fitted import FittedModel
from clearwood.table import Table, Task
from clearwood.table import as_table as to_table

__all__ = ["GapScale", "Pieces", "pieces_of", "with_values"]

GapScale = Literal["response", "margin"]

#: The scales on which means are compared.
_SCALES = (Scale.RESPONSE, Scale.MARGIN)
#: Rows of one call of the model.
_ROWS_PER_CALL = 200_000


@dataclass(frozen=True, eq=False)
class Pieces:
    """A model over the rows of a table, in one number for each row.

    Parameters
    ----------
    model
        The model.
    table
        Rows that count, with the model's own columns.
    groups
        The groups of these rows.
    weights
        How much each row counts; the sum is 1.
    output
        Which column of the response is taken.
    scale
        "response", or "margin" for its log or log odds.
    """

    model: FittedModel
    table: Table
    groups: Grouping
    weights: Floats
    output: int
    scale: Scale

    @property
    def task(self) -> Task:
        """What the model predicts."""
        return self.model.task

    @property
    def label(self) -> Any:
        """The class that is looked at; None for numbers."""
        return self.model.classes[self.output] if self.model.classes else None

    @property
    def permitted(self) -> tuple[str, ...]:
        """The features of the model that are not protected."""
        protected = self.groups.cells.names
        return tuple(n for n in self.model.features_in(self.table) if n not in protected)

    @property
    def is_aware(self) -> bool:
        """Whether the model uses a protected column."""
        return len(self.permitted) < len(self.model.features_in(self.table))

    @property
    def shares(self) -> Floats:
        """The share of each group."""
        shares: Floats = np.bincount(
            self.groups.which, self.weights, minlength=len(self.groups)
        ).astype(np.float64)
        return shares

    @property
    def has_log(self) -> bool:
        """Whether predictions on the margin are logs, whose differences are ratios."""
        return self.scale is Scale.MARGIN and self.task in (Task.COUNT, Task.AMOUNT)

    def means(self, values: Floats) -> Floats:
        """Return the mean over each group of values of the rows; NaN for one without rows."""
        totals = np.bincount(self.groups.which, self.weights * values, minlength=len(self.groups))
        shares = self.shares
        return np.where(shares > 0, totals / np.where(shares > 0, shares, 1.0), np.nan)

    def respond(self, table: Table) -> Floats:
        """Predict rows on the scale."""
        predicted = self.model.predict(table, scale="response")[:, self.output]
        if self.scale is Scale.RESPONSE or self.task is Task.REGRESSION:
            return predicted
        with np.errstate(divide="ignore"):
            margin = logit(predicted) if self.task.is_classification else np.log(predicted)
        if not np.isfinite(margin).all():
            raise InputError(
                "some predictions are 0 or 1, whose logs are infinite",
                parameter="scale",
                value="margin",
                hint=words("set ", Option("scale", "response"), "."),
            )
        return np.asarray(margin)

    def as_members(self, table: Table) -> Floats:
        """Predict each row as a member of each group: (rows, groups)."""
        if not self.is_aware:
            return np.repeat(self.respond(table)[:, None], len(self.groups), axis=1)
        made = np.empty((table.n_rows, len(self.groups)))
        step = max(1, _ROWS_PER_CALL // max(table.n_rows, 1))
        for first in range(0, len(self.groups), step):
            cells = self.groups.cells.take(slice(first, first + step))
            rows = table.take(np.tile(np.arange(table.n_rows), cells.n_rows))
            held = cells.take(np.repeat(np.arange(cells.n_rows), table.n_rows))
            predicted = self.respond(with_values(rows, held))
            made[:, first : first + step] = predicted.reshape(cells.n_rows, -1).T
        return made

    def fair(self, table: Table) -> Floats:
        """Predict rows with the protected columns averaged out."""
        return np.asarray(self.as_members(table) @ self.shares)


def with_values(table: Table, other: Table) -> Table:
    """Return a table whose columns are those of another where that has them."""
    own = {column.name: column for column in other.columns}
    return replace(table, columns=tuple(own.get(c.name, c) for c in table.columns))


def pieces_of(
    model: Any,
    table: Table,
    groups: Grouping,
    *,
    output: Any = None,
    scale: str = Scale.RESPONSE,
    needs_every_group: bool = True,
) -> Pieces:
    """Put together a model and the rows of a table that count."""
    if scale not in _SCALES:
        raise unknown_choice("scale", scale, _SCALES)
    rows, weights = counted(table.weights, table.n_rows)
    counts = np.bincount(groups.which[rows], minlength=len(groups))
    if needs_every_group and not counts.all():
        label = groups.names[int(np.argmin(counts))]
        raise InputError(f"no row of the group {label!r} has weight", parameter="protected")
    view = FittedModel(model, table)
    features = table.take(rows)
    if view.schema is not None:
        features = to_table(features, schema=view.schema)
    groups = replace(groups.take(rows), cells=_aligned(groups.cells, features))
    place = _output_of(view, output)
    return Pieces(view, features, groups, weights / weights.sum(), place, Scale(scale))


def _aligned(cells: Table, table: Table) -> Table:
    """Return the values of groups with the levels that the model knows."""
    columns = []
    for column in cells.columns:
        if column.name not in table.names or table.column(column.name).levels == column.levels:
            columns.append(column)
            continue
        levels = table.column(column.name).levels
        place = np.array([*(levels.index(one) for one in column.levels), -1], np.int32)
        columns.append(replace(column, values=place[column.values], levels=levels))
    return Table(tuple(columns))


def _output_of(model: FittedModel, output: Any) -> int:
    """Return the column of the response that is looked at: of two classes the second."""
    labels = model.labels
    if not labels:
        return 0
    if output is None and len(labels) == 2:
        return 1
    if output is None or str(output) not in labels:
        raise InputError(
            f"there are {len(labels)} classes, and {output!r} is none of them",
            parameter="output",
            value=output,
            hint=did_you_mean(str(output), labels),
        )
    return labels.index(str(output))
