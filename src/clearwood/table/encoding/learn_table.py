"""Learning the encoding of a whole table: which columns are used, and how."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, bad_value, unknown_choice, words
from clearwood._shared.messages import tell
from clearwood.table.column import Column
from clearwood.table.encoding.columns import ColumnEncoder, Encoded
from clearwood.table.encoding.learn_columns import (
    Learned,
    learn_codes,
    learn_complete_numbers,
    learn_dates,
    learn_numbers,
    learn_onehot,
    learn_ranks,
    learn_target,
    learn_yes_no,
    level_counts,
)
from clearwood.table.encoding.target_encoding import TargetEncoding
from clearwood.table.encoding.weighted import Weight
from clearwood.table.schema import Schema
from clearwood.table.table import Table
from clearwood.table.types import NUMERIC, Kind, Role, Task

__all__ = ["LearnedTable", "Tallies", "Ways", "learn_table"]

#: So many cells are stacked in memory without a thought.
_AT_ONCE = 1 << 18
_OPTIONS = {
    "categories": ("onehot", "ordinal", "native", "target"),
    "missing": ("impute", "native"),
    "unseen": ("zeros", "mean"),
}


@dataclass(frozen=True, kw_only=True)
class Ways:
    """How columns are to be encoded: the options of `Encoder` that decide what is learned."""

    categories: str
    missing: str
    ranked: Sequence[str] | None
    reference: bool
    max_levels: int
    native_levels: int | None
    smooth: float
    task: str | None
    seed: int
    unseen: str = "zeros"

    def __post_init__(self) -> None:
        for option, known in _OPTIONS.items():
            value = getattr(self, option)
            if value not in known:
                raise unknown_choice(option, value, known)
        if not (math.isfinite(self.smooth) and self.smooth >= 0):
            raise bad_value("smooth", self.smooth, "it must be a number of rows, 0 or more")

    def way(self, column: Column) -> str:
        """Return how a column is encoded."""
        if column.kind in NUMERIC:
            return "number"
        if column.kind in (Kind.DATE, Kind.YES_NO):
            return str(column.kind)
        if column.kind is Kind.ORDERED and (
            self.categories != "native" or column.name in (self.ranked or ())
        ):
            return "rank"
        if self.categories == "target":
            return "target"
        n_levels = int(np.count_nonzero(level_counts(column)[: len(column.levels)]))
        if n_levels > self.max_levels:
            raise InputError(
                f"column {column.name!r} has {n_levels:,} levels, more than {self.max_levels:,}",
                parameter=column.name,
                value=n_levels,
                hint=words(
                    "leave it out (",
                    Option("ignore", [column.name]),
                    "), or encode categories by their mean target (",
                    Option("categories", "target"),
                    ").",
                ),
            )
        if self.categories == "native" and n_levels > (self.native_levels or n_levels):
            return "target"
        return self.categories

    def learn(self, column: Column, way: str, weight: Weight) -> Learned:
        """Learn a column whose encoding does not use the target."""
        impute, mean = self.missing == "impute", self.unseen == "mean"
        if way == "number":
            return learn_numbers(column, weight, impute=impute)
        if way == Kind.DATE:
            return learn_dates(column, weight, impute=impute)
        if way == Kind.YES_NO:
            return learn_yes_no(column, weight, impute=impute, mean=mean)
        if way == "rank":
            return learn_ranks(column, weight, impute=impute, mean=mean)
        if way == "onehot":
            return learn_onehot(column, weight, reference=self.reference, mean=mean)
        if way == "native":
            return learn_codes(column, unseen=math.nan, missing=math.nan, quantities=0)
        missing = -1.0 if impute else math.nan
        return learn_codes(column, unseen=-1.0, missing=missing, quantities=1)


@dataclass(frozen=True, eq=False)
class LearnedTable:
    """What was learned.

    Parameters
    ----------
    schema
        The features used.
    encoders
        One for each of them.
    columns
        The model columns that they make, of unique names.
    categorical
        Positions of the model columns that hold native category codes.
    left_out
        Columns not used, with the reason.
    crossed
        Cross-fitted target codes of the training rows, by the position of their first model column.
    """

    schema: Schema
    encoders: tuple[ColumnEncoder, ...]
    columns: tuple[Encoded, ...]
    categorical: tuple[int, ...]
    left_out: dict[str, str]
    crossed: Mapping[int, Floats] = field(default_factory=dict)


#: A column of few values that tell as much as all rows, each with its weight.
Tallies = Mapping[str, tuple[Column, Weight]]


def learn_table(
    table: Table, y: Any, weight: Weight, ways: Ways, tallies: Tallies | None = None
) -> LearnedTable:
    """Learn how every feature of a table is encoded; nothing is learned from rows of weight 0.

    With tallies, the table has no rows and what is learned comes from them.
    """
    left_out = _left_out(table)
    counting = None if weight is None else weight > 0
    target = _target_encoding(table, y, weight, ways)
    middles = {} if tallies is not None else _middles(table, weight)
    used: list[str] = []
    encoders: list[ColumnEncoder] = []
    columns: list[Encoded] = []
    categorical: list[int] = []
    crossed: dict[int, Floats] = {}
    for column in table.columns:
        if column.name in left_out:
            continue
        if tallies is not None:
            counted, share = tallies[column.name]
        elif counting is None:
            counted, share = column, None
        else:
            counted, share = column.take(counting), None if weight is None else weight[counting]
        way = ways.way(counted)
        if way == "target":
            encoder, encoded = learn_target(column, target.codes(column), target.outputs)
        elif column.name in middles:
            impute = ways.missing == "impute"
            encoder, encoded = learn_complete_numbers(column, middles[column.name], impute=impute)
        else:
            encoder, encoded = ways.learn(counted, way, share)
        if not encoded:
            left_out[column.name] = "constant in the training rows"
            continue
        if way == "native":
            categorical.append(len(columns))
        elif way == "target":
            crossed[len(columns)] = target.cross_fitted(column)
        used.append(column.name)
        encoders.append(encoder)
        columns.extend(encoded)
    if not used:
        raise InputError(
            f"no column can be used as a feature: {_listed(left_out)}",
            parameter="data",
            hint="a model needs at least one number, category or date that varies.",
        )
    return LearnedTable(
        Schema(tuple(table.schema[name] for name in used)),
        tuple(encoders),
        tuple(_with_unique_names(columns)),
        tuple(categorical),
        left_out,
        crossed,
    )


def _middles(table: Table, weight: Weight) -> dict[str, float]:
    """Compute the medians of all columns of numbers without gaps at once, where there is room.

    Fits to few rows are many, and most of their time would go into a call for each column.
    """
    numbers = [column for column in table.columns if column.kind in NUMERIC]
    if weight is not None or not 0 < len(numbers) * table.n_rows <= _AT_ONCE:
        return {}
    values = np.array([column.values for column in numbers])
    medians = np.median(values, axis=1)
    return {
        column.name: float(middle)
        for column, middle in zip(numbers, medians, strict=True)
        if not np.isnan(middle)
    }


def _target_encoding(table: Table, y: Any, weight: Weight, ways: Ways) -> TargetEncoding:
    target = None if y is None else np.asarray(y).reshape(-1)
    if target is not None and len(target) != table.n_rows:
        raise InputError(
            f"the target has {len(target)} values for {table.n_rows} rows",
            parameter="y",
            value=len(target),
        )
    task = ways.task or table.task
    return TargetEncoding(
        target, weight, task=Task(task) if task else None, smooth=ways.smooth, seed=ways.seed
    )


def _left_out(table: Table) -> dict[str, str]:
    """Return the columns that are left out, with the reason; warn of text among the features."""
    left_out = {}
    text = []
    for column in table.columns:
        role = table.role(column.name)
        if role not in (Role.FEATURE, Role.PROTECTED):
            left_out[column.name] = str(role)
        elif column.kind is Kind.TEXT:
            left_out[column.name] = "text"
            text.append(column.name)
    if text:
        names = ", ".join(repr(name) for name in text)
        noun, verb = ("columns", "are") if len(text) > 1 else ("column", "is")
        tell(
            words(
                f"text {noun} {names} {verb} left out: the models cannot use free text. "
                "Hint: if the values repeat, set ",
                Option("kinds", {text[0]: "category"}),
                "; otherwise set ",
                Option("ignore", text),
                ".",
            )
        )
    return left_out


def _listed(left_out: Mapping[str, str]) -> str:
    if not left_out:
        return "there are no columns"
    shown = [f"{name!r} ({reason})" for name, reason in list(left_out.items())[:8]]
    return ", ".join(shown) + (", …" if len(left_out) > 8 else "")


def _with_unique_names(columns: Sequence[Encoded]) -> list[Encoded]:
    """Make model columns' names unique: a column `a:missing` and the indicator of `a` differ."""
    taken: set[str] = set()
    unique = []
    for column in columns:
        name, n = column.name, 1
        while name in taken:
            n += 1
            name = f"{column.name} ({n})"
        taken.add(name)
        unique.append(column if n == 1 else replace(column, name=name))
    return unique
