"""What the reader of an evaluation should know about its rows; adds up over parts of a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import Text
from clearwood._shared.numbers import count
from clearwood.checks import Drift
from clearwood.fitted import FittedModel
from clearwood.models import Extrapolation, outside_training
from clearwood.table import Schema, Table

__all__ = ["RowFacts", "facts_of"]

#: With fewer rows than these, an evaluation has a remark.
_FEW_ROWS = 100


@dataclass(frozen=True)
class RowFacts:
    """Counts of rows, in plain values.

    Parameters
    ----------
    n_rows
        Rows whose target is known.
    n_left_out, unknown
        Rows whose target is not known, and classes among these that the model does not predict.
    classes
        Positions of the classes that occur.
    low, high
        The least and the greatest prediction, of each class where there are several.
    new_levels
        By feature, levels that the model was not fitted with.
    n_new
        By feature, how many rows have such a level.
    outside
        Rows and predictions outside what the model was fitted to, where that is known.
    """

    n_rows: int = 0
    n_left_out: int = 0
    unknown: tuple[str, ...] = ()
    classes: tuple[int, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    new_levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n_new: Mapping[str, int] = field(default_factory=dict)
    outside: Extrapolation | None = None

    def __add__(self, other: "RowFacts") -> "RowFacts":
        """Return what is known of the rows of both."""
        if not self.low or not other.low:
            low, high = self.low or other.low, self.high or other.high
        else:
            low = tuple(map(min, self.low, other.low))
            high = tuple(map(max, self.high, other.high))
        names = dict.fromkeys([*self.new_levels, *other.new_levels])
        return RowFacts(
            self.n_rows + other.n_rows,
            self.n_left_out + other.n_left_out,
            _union(self.unknown, other.unknown),
            _union(self.classes, other.classes),
            low,
            high,
            {
                name: _union(self.new_levels.get(name, ()), other.new_levels.get(name, ()))
                for name in names
            },
            {name: self.n_new.get(name, 0) + other.n_new.get(name, 0) for name in names},
            self.outside + other.outside
            if self.outside is not None and other.outside is not None
            else self.outside or other.outside,
        )

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "RowFacts":
        """Return facts from the fields of others, after a journey as JSON."""
        made: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        made["new_levels"] = {k: tuple(v) for k, v in values["new_levels"].items()}
        made["outside"] = None if values["outside"] is None else Extrapolation(**values["outside"])
        return cls(**made)

    def notes(
        self, classes: Sequence[str], dropped: int, target: str | None, shifted: Drift | None
    ) -> Iterator[Text]:
        """Return what the reader should know.

        Parameters
        ----------
        classes
            The labels of the model.
        dropped, target
            How many rows had no target, and its name.
        shifted
            How far the rows differ from those of the fit, where these are known.
        """
        if dropped:
            yield f"{count(dropped, 'row')} without {target!r} left out"
        if self.unknown:
            shown = ", ".join(map(repr, self.unknown[:3]))
            yield (
                f"{count(self.n_left_out, 'row')} left out, with classes that the model "
                f"does not predict: {shown}"
            )
        if self.n_rows < _FEW_ROWS:
            yield f"{count(self.n_rows, 'row')} are few: intervals are wide and approximate"
        if classes and len(self.classes) == 1:
            label = classes[self.classes[0]]
            yield f"all rows have the class {label!r}, so nothing can be said about the ranking"
        if self.low == self.high:
            yield "all predictions are equal, so calibration has no slope and no curve"
        for name, new in self.new_levels.items():
            shown = ", ".join(map(repr, new[:3])) + (", …" if len(new) > 3 else "")
            yield (
                f"{count(self.n_new[name], 'row')} have levels of {name!r} that the model was not "
                f"fitted with: {shown}"
            )
        if self.outside is not None:
            yield from self.outside.notes()
        if shifted is not None and shifted.differing:
            most = ", ".join(repr(entry.column) for entry in shifted.differing[:4])
            yield (
                f"{count(len(shifted.differing), 'column')} "
                f"{'differs' if len(shifted.differing) == 1 else 'differ'} from the rows of the "
                f"fit, most of all {most}: the measures are those of another population"
            )


def facts_of(
    table: Table,
    truth: Floats,
    known: Bools,
    predicted: Floats,
    model: FittedModel,
) -> RowFacts:
    """Return what is known of the rows of a table.

    Parameters
    ----------
    table
        The rows.
    truth, known
        As by `truth_of`.
    predicted
        Of each row.
    model
        What made the predictions.
    """
    column = table.target_column
    labels = column.labels()[~known & ~column.missing] if model.classes else ()
    new = _new_levels(table, model.schema)
    flat = predicted[known].reshape(int(known.sum()), -1)
    counts = known if table.weights is None else known & (table.weights > 0)
    return RowFacts(
        n_rows=len(flat),
        n_left_out=int((~known).sum()),
        unknown=tuple(sorted({str(label) for label in labels})),
        classes=tuple(np.unique(truth[known]).astype(int).tolist()) if model.classes else (),
        low=tuple(flat.min(axis=0).tolist()) if len(flat) else (),
        high=tuple(flat.max(axis=0).tolist()) if len(flat) else (),
        new_levels={name: levels for name, (levels, _) in new.items()},
        n_new={name: rows for name, (_, rows) in new.items()},
        outside=outside_training(model.model, table.take(counts), predicted[counts])
        if hasattr(model.model, "training_")
        else None,
    )


def _new_levels(table: Table, schema: Schema | None) -> dict[str, tuple[tuple[str, ...], int]]:
    """Return the levels of each feature that the model was not fitted with, and their rows."""
    levels: dict[str, tuple[tuple[str, ...], int]] = {}
    if schema is None:
        return levels
    for name in schema.features:
        if name not in table.names or not schema[name].levels:
            continue
        column = table.column(name)
        if column.is_coded:
            rows = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
            is_new = [level not in schema[name].levels for level in column.levels]
            places = np.flatnonzero((rows > 0) & np.array(is_new, bool))
            if len(places):
                new = tuple(sorted(column.levels[k] for k in places))
                levels[name] = (new, int(rows[places].sum()))
    return levels


def _union(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(sorted({*one, *other}))
