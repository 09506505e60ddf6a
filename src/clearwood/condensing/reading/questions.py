"""A diagram's questions as people, databases and compilers ask them.

A number goes left where it lies in one of a few intervals of doubles; a category where it is one of
a few labels; a missing value by a side of its own. Rounding to float32, zeros that count as missing
and marks for missing values are all worked into these, so that nobody who asks needs to know.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.condensing.compose.doubles import just_below, last_double
from clearwood.condensing.condensed import Condensed
from clearwood.condensing.reading.sources import (
    LevelSource,
    NumberSource,
    Source,
    column_names,
    made_columns,
    sources,
)
from clearwood.forest.links import predict as on_scale
from clearwood.forest.predict import ZERO

__all__ = [
    "Labels",
    "Question",
    "Ranges",
    "column_names",
    "leaf_counts",
    "outputs",
    "questions",
    "refuse_fallback",
    "tell_of_made_columns",
]


@dataclass(frozen=True)
class Ranges:
    """Which numbers go left.

    Parameters
    ----------
    column
        Position among `column_names`.
    left
        Intervals of doubles that go left, rising and apart: above the first end, not above the
        second.
    missing_left
        Whether a missing value goes left.
    """

    column: int
    left: tuple[tuple[float, float], ...]
    missing_left: bool

    @property
    def cut(self) -> float | None:
        """The largest number that goes left, where all below it do; None for other questions."""
        if len(self.left) == 1 and self.left[0][0] == -np.inf:
            return self.left[0][1]
        return None


@dataclass(frozen=True)
class Labels:
    """Which labels go left.

    Parameters
    ----------
    column
        Position among `column_names`.
    left, right
        Labels that go either way.
    missing_left, unseen_left
        Whether missing values, and labels the model does not know, go left.
    """

    column: int
    left: tuple[Any, ...]
    right: tuple[Any, ...]
    missing_left: bool
    unseen_left: bool


Question = Ranges | Labels


def questions(condensed: Condensed, *, encoded: bool = False) -> list[Question | None]:
    """Give the question of every node; None at leaves.

    Parameters
    ----------
    condensed
        The tree.
    encoded
        Ask of the model's columns even where an encoder makes them from the user's.
    """
    diagram, shell = condensed.diagram, condensed.shell
    marked = _mark(shell.missing_value)
    behind: list[Source | None] = [None] * shell.n_features if encoded else sources(shell)
    number = list(range(shell.n_features))
    if not encoded:
        names = {name: k for k, name in reversed(list(enumerate(column_names(shell))))}
        number = [names.get(name, -1) for name in shell.feature_names]
    asked: list[Question | None] = [None] * diagram.n_nodes
    known: dict[tuple[Any, ...], Question] = {}
    for node in np.flatnonzero(~diagram.is_leaf).tolist():
        j = int(diagram.feature[node])
        key = (
            j,
            float(diagram.threshold[node]),
            bool(diagram.default_left[node]),
            bool(diagram.zero_missing[node]),
            bool(diagram.unseen_left[node]),
            diagram.category_set(node) if diagram.category_start[node] >= 0 else None,
            int(diagram.category_size[node]),
        )
        if key not in known:
            levels, source = shell.levels[j], behind[j]
            if isinstance(source, LevelSource):
                known[key] = _of_levels(condensed, node, source)
            elif levels is not None:
                known[key] = replace(_labels(condensed, node, levels, marked), column=number[j])
            elif isinstance(source, NumberSource):
                known[key] = _of_numbers(condensed, node, source, marked)
            else:
                known[key] = replace(_ranges(condensed, node, marked), column=number[j])
        asked[node] = known[key]
    return asked


def _mark(missing_value: float | None) -> tuple[float, float] | None:
    """Give the doubles that a model with a mark for missing values takes for it."""
    if missing_value is None or np.isnan(missing_value):
        return None
    mark = np.array([np.float32(missing_value)], np.float64)
    return float(just_below(mark, "float32")[0]), float(last_double(mark, "float32")[0])


def _labels(
    condensed: Condensed,
    node: int,
    levels: Sequence[Any],
    marked: tuple[float, float] | None,
) -> Labels:
    codes = np.arange(len(levels), dtype=np.float64)
    if marked is not None:
        codes = np.where((codes > marked[0]) & (codes <= marked[1]), np.nan, codes)
    left = condensed.diagram.goes_left(np.full(len(codes), node, np.intp), codes)
    return Labels(
        column=int(condensed.diagram.feature[node]),
        left=tuple(level for level, goes in zip(levels, left, strict=True) if goes),
        right=tuple(level for level, goes in zip(levels, left, strict=True) if not goes),
        missing_left=bool(condensed.diagram.default_left[node]),
        unseen_left=bool(condensed.diagram.default_left[node]),
    )


def _of_levels(condensed: Condensed, node: int, source: LevelSource) -> Labels:
    """Ask for the labels whose numbers go left."""
    nodes = np.full(len(source.values), node, np.intp)
    left = condensed.diagram.goes_left(nodes, source.values).tolist()
    return Labels(
        column=source.column,
        left=tuple(label for label, goes in zip(source.labels, left, strict=False) if goes),
        right=tuple(label for label, goes in zip(source.labels, left, strict=False) if not goes),
        missing_left=left[-1],
        unseen_left=left[-2],
    )


def _of_numbers(
    condensed: Condensed, node: int, source: NumberSource, marked: tuple[float, float] | None
) -> Ranges:
    """Ask for numbers that are filled in where they are missing."""
    nodes = np.full(3, node, np.intp)
    known, absent, filled = condensed.diagram.goes_left(
        nodes, np.array([0.0, 1.0, source.missing])
    ).tolist()
    if source.indicator:
        return Ranges(source.column, ((-np.inf, np.inf),) if known else (), absent)
    asked = _ranges(condensed, node, marked)
    return Ranges(source.column, asked.left, filled)


def _ranges(condensed: Condensed, node: int, marked: tuple[float, float] | None) -> Ranges:
    diagram = condensed.diagram
    column, missing_left = int(diagram.feature[node]), bool(diagram.default_left[node])
    plain = diagram.category_start[node] < 0 and not diagram.zero_missing[node]
    if plain and marked is None:
        last = float(last_double(diagram.threshold[node : node + 1], diagram.precision)[0])
        return Ranges(column, ((-np.inf, last),), missing_left)
    ends = [np.array([np.inf])]
    if diagram.category_start[node] >= 0:
        n_codes = int(diagram.category_size[node]) * 32
        ends.append(just_below(np.arange(n_codes + 1.0), diagram.precision))
    else:
        ends.append(last_double(diagram.threshold[node : node + 1], diagram.precision))
    if diagram.zero_missing[node]:
        ends.append(just_below(np.array([-ZERO]), diagram.precision))
        ends.append(last_double(np.array([ZERO]), diagram.precision))
    if marked is not None:
        ends.append(np.array(marked))
    values = np.unique(np.concatenate(ends))
    seen = values
    if marked is not None:
        seen = np.where((values > marked[0]) & (values <= marked[1]), np.nan, values)
    left = diagram.goes_left(np.full(len(seen), node, np.intp), seen)
    return Ranges(column, _joined(values, left), missing_left)


def _joined(
    values: NDArray[np.float64], left: NDArray[np.bool_]
) -> tuple[tuple[float, float], ...]:
    """Join neighbouring intervals, each told by its end, that go left."""
    found: list[tuple[float, float]] = []
    low = -np.inf
    for end, goes in zip(values.tolist(), left.tolist(), strict=True):
        if goes and found and found[-1][1] == low:
            found[-1] = (found[-1][0], end)
        elif goes:
            found.append((low, end))
        low = end
    return tuple(found)


def refuse_fallback(condensed: Condensed, what: str) -> None:
    """Raise where some leaves are answered by the ensemble, which an export does not hold."""
    if not condensed.diagram.certified.all():
        raise InputError(
            f"this tree leaves some rows to the ensemble, which {what} cannot hold",
            hint="condense without a budget or with a larger one, or prune it to the data; "
            "to_json keeps the ensemble.",
        )


def tell_of_made_columns(condensed: Condensed, asked: Sequence[Question | None]) -> None:
    """Warn where an export asks for columns that an encoder makes and no table of the user has."""
    made = set(made_columns(condensed.shell))
    names = column_names(condensed.shell)
    used = {names[question.column] for question in asked if question is not None}
    if found := sorted(made & used):
        shown = ", ".join(map(repr, found[:5])) + (", ..." if len(found) > 5 else "")
        warnings.warn(
            f"this asks for {shown}, which the model's own encoder makes; add "
            f"{'them' if len(found) > 1 else 'it'} to the table, in a view for instance",
            ClearwoodWarning,
            stacklevel=4,
        )


def outputs(condensed: Condensed, what: str) -> dict[int, Any]:
    """Give what `predict` answers at each leaf: a label or a number.

    Parameters
    ----------
    condensed
        The tree.
    what
        What asks, for the message where a leaf holds several numbers.
    """
    diagram, shell = condensed.diagram, condensed.shell
    leaves = np.flatnonzero(diagram.is_leaf)
    if condensed.equal == "class":
        assert shell.classes is not None
        labels = shell.classes[np.maximum(diagram.outcome[leaves], 0)]
    elif shell.classes is None and shell.n_outputs > 1:
        raise InputError(
            f"the model predicts {shell.n_outputs} numbers a row; {what} holds one",
            hint="to_json keeps all of them.",
        )
    else:
        raw = diagram.value[leaves]
        labels = on_scale(shell, raw[:, 0] if shell.n_outputs == 1 else raw)
    return dict(zip(leaves.tolist(), np.asarray(labels).tolist(), strict=True))


def leaf_counts(condensed: Condensed) -> list[int]:
    """Give how many leaves each node has below it, as a tree."""
    diagram = condensed.diagram
    left, right = diagram.left.tolist(), diagram.right.tolist()
    count = [1] * diagram.n_nodes
    for node in range(diagram.n_nodes - 1, -1, -1):
        if left[node] >= 0:
            count[node] = count[left[node]] + count[right[node]]
    return count
