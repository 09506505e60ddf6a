"""Which of the user's columns a model's column comes from, where an encoder stands in front."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.forest import Forest, LearnerEncoder
from clearwood.table import ColumnSchema, Kind, NumberEncoder

__all__ = [
    "LevelSource",
    "NumberSource",
    "Source",
    "column_names",
    "data_names",
    "derived_columns",
    "sources",
]


@dataclass(frozen=True, eq=False)
class NumberSource:
    """A column of numbers, or the indicator that one is missing."""

    column: int  # position among the user's columns
    missing: float  # the number that stands for a missing value
    indicator: bool = False  # whether the column only indicates that the value is missing


@dataclass(frozen=True, eq=False)
class LevelSource:
    """A number for each level of a category."""

    column: int  # position among the user's columns
    labels: tuple[Any, ...]
    values: Floats  # the number of each level, then of unseen levels and of missing values


Source = NumberSource | LevelSource


def column_names(shell: Forest) -> tuple[str, ...]:
    """Name the columns of questions: the user's columns, then those of the model's own."""
    if not isinstance(shell.encoder, LearnerEncoder):
        return shell.feature_names
    own = [name for name, of in zip(shell.feature_names, sources(shell), strict=True) if of is None]
    return (*shell.columns, *own)


def data_names(shell: Forest) -> tuple[str, ...]:
    """Name the columns of questions as the data do, not by their labels: for code that runs."""
    names = column_names(shell)
    if not isinstance(shell.encoder, LearnerEncoder):
        return names
    headers = {c.name: c.header for c in shell.encoder.schema.columns if c.header}
    return tuple(headers.get(name, name) for name in names)


def derived_columns(shell: Forest) -> tuple[str, ...]:
    """Name the columns of questions that no table of the user has."""
    if isinstance(shell.encoder, LearnerEncoder):
        return column_names(shell)[len(shell.columns) :]
    return tuple(name for name in shell.feature_names if name not in set(shell.columns))


def sources(shell: Forest) -> list[Source | None]:
    """Return the source of each of the model's columns; None where it is the model's own.

    Parts of dates and standardised numbers are the model's own, as are columns of pipelines.
    """
    if not isinstance(shell.encoder, LearnerEncoder):
        return [None] * shell.n_features
    encoder = shell.encoder.encoder
    result: list[Source | None] = []
    for j, (name, way) in enumerate(zip(encoder.used_, encoder._encoders, strict=True)):  # noqa: SLF001
        if isinstance(way, NumberEncoder):
            result += _of_numbers(j, way)
            continue
        labels = _typed(encoder.schema_[name])
        codes = np.append(np.arange(len(labels) + 1), -1).astype(np.int32)
        table = np.empty((len(codes), way.width))
        way.write(codes, table)
        result += [LevelSource(j, labels, table[:, k].copy()) for k in range(way.width)]
    return result


def _of_numbers(j: int, way: NumberEncoder) -> list[Source | None]:
    if way.parts != (None,) or way.center is not None:
        return [None] * way.width
    missing = np.nan if way.fill is None else float(way.fill[0])
    values: list[Source | None] = [NumberSource(j, missing)]
    return [*values, NumberSource(j, missing, indicator=True)] if way.indicator else values


def _typed(column: ColumnSchema) -> tuple[Any, ...]:
    """Return levels that are integers or booleans as such: a database compares them by type."""
    texts = tuple(map(str, column.levels))
    if column.kind is Kind.YES_NO and set(texts) <= {"False", "True"}:
        return tuple(text == "True" for text in texts)
    try:
        whole = tuple(int(text) for text in texts)
    except ValueError:
        return texts
    return whole if tuple(map(str, whole)) == texts else texts
