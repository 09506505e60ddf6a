"""A condensed tree on the user's columns: the question of every node, the prediction of every leaf.

A number goes left where it lies in one of a few intervals of doubles; a category where it is one of
a few labels; a missing value has a side of its own. Rounding to float32, zeros that count as
missing and marks for missing values are worked into these, so no export needs to know of them.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood.condensing.tree.condensed_tree import CondensedTree
from clearwood.condensing.tree.doubles import just_below, last_double
from clearwood.forest import ZERO, Forest, LearnerEncoder, links
from clearwood.table import ColumnSchema, Kind, NumberEncoder

__all__ = [
    "Labels",
    "LevelSource",
    "NumberSource",
    "Question",
    "Ranges",
    "Source",
    "Span",
    "column_names",
    "data_names",
    "derived_columns",
    "leaf_predictions",
    "leaf_values",
    "questions",
    "sources",
    "value_names",
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
            result += _number_sources(j, way)
            continue
        labels = _typed(encoder.schema_[name])
        codes = np.append(np.arange(len(labels) + 1), -1).astype(np.int32)
        table = np.empty((len(codes), way.width))
        way.write(codes, table)
        result += [LevelSource(j, labels, table[:, k].copy()) for k in range(way.width)]
    return result


def _number_sources(j: int, way: NumberEncoder) -> list[Source | None]:
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


#: An interval of numbers: above the first end, not above the second.
Span = tuple[float, float]


@dataclass(frozen=True)
class Ranges:
    """Which numbers go left."""

    column: int  # position among `column_names`
    left: tuple[Span, ...]  # intervals of doubles that go left, rising and apart
    missing_left: bool

    @property
    def right(self) -> tuple[Span, ...]:
        """The intervals that go right.

        Examples
        --------
        >>> Ranges(0, ((0.0, 1.0),), missing_left=False).right
        ((-inf, 0.0), (1.0, inf))
        """
        spans, low = [], -np.inf
        for start, end in self.left:
            if start > low:
                spans.append((low, start))
            low = end
        if low < np.inf:
            spans.append((low, np.inf))
        return tuple(spans)

    @property
    def cut(self) -> float | None:
        """The largest number that goes left, where all below it do; None for other questions."""
        if len(self.left) == 1 and self.left[0][0] == -np.inf:
            return self.left[0][1]
        return None


@dataclass(frozen=True)
class Labels:
    """Which labels go left."""

    column: int  # position among `column_names`
    left: tuple[Any, ...]
    right: tuple[Any, ...]
    missing_left: bool
    unseen_left: bool  # whether labels that the model has not seen go left


Question = Ranges | Labels


def questions(condensed: CondensedTree, *, encoded: bool = False) -> list[Question | None]:
    """Return the question of every node; None at leaves.

    With ``encoded``, on the model's columns even where an encoder makes them from the user's.
    """
    diagram, shell = condensed.diagram, condensed.shell
    marked = _mark(shell.missing_value)
    origins: list[Source | None] = [None] * shell.n_features if encoded else sources(shell)
    number = list(range(shell.n_features))
    if not encoded:
        names = {name: k for k, name in reversed(list(enumerate(column_names(shell))))}
        number = [names.get(name, -1) for name in shell.feature_names]
    result: list[Question | None] = [None] * diagram.n_nodes
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
            levels, source = shell.levels[j], origins[j]
            if isinstance(source, LevelSource):
                known[key] = _of_levels(condensed, node, source)
            elif levels is not None:
                coded = LevelSource(number[j], tuple(levels), _codes(len(levels), marked))
                known[key] = _of_levels(condensed, node, coded)
            elif isinstance(source, NumberSource):
                known[key] = _of_numbers(condensed, node, source, marked)
            else:
                known[key] = replace(_ranges(condensed, node, marked), column=number[j])
        result[node] = known[key]
    return result


def _mark(missing_value: float | None) -> Span | None:
    """Return the doubles that a model with a mark for missing values takes for missing."""
    if missing_value is None or np.isnan(missing_value):
        return None
    mark = np.array([np.float32(missing_value)], np.float64)
    return float(just_below(mark, "float32")[0]), float(last_double(mark, "float32")[0])


def _codes(n_levels: int, marked: Span | None) -> Floats:
    """Return the code of each level, then those of unseen levels and of missing values: NaN."""
    codes = np.append(np.arange(n_levels, dtype=np.float64), [np.nan, np.nan])
    if marked is None:
        return codes
    return np.where((codes > marked[0]) & (codes <= marked[1]), np.nan, codes)


def _of_levels(condensed: CondensedTree, node: int, source: LevelSource) -> Labels:
    """Return the question on labels, of which those whose numbers go left go left."""
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
    condensed: CondensedTree, node: int, source: NumberSource, marked: Span | None
) -> Ranges:
    """Return the question on numbers that are filled in where they are missing."""
    nodes = np.full(3, node, np.intp)
    known, absent, filled = condensed.diagram.goes_left(
        nodes, np.array([0.0, 1.0, source.missing])
    ).tolist()
    if source.indicator:
        return Ranges(source.column, ((-np.inf, np.inf),) if known else (), absent)
    return Ranges(source.column, _ranges(condensed, node, marked).left, filled)


def _ranges(condensed: CondensedTree, node: int, marked: Span | None) -> Ranges:
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


def _joined(values: Floats, left: Bools) -> tuple[Span, ...]:
    """Join neighbouring intervals that go left; each is known by its end."""
    spans: list[Span] = []
    low = -np.inf
    for end, goes in zip(values.tolist(), left.tolist(), strict=True):
        if goes and spans and spans[-1][1] == low:
            spans[-1] = (spans[-1][0], end)
        elif goes:
            spans.append((low, end))
        low = end
    return tuple(spans)


def leaf_predictions(condensed: CondensedTree) -> dict[int, Any]:
    """Return what `predict` gives at each leaf: a label, a number, or a list of several numbers."""
    diagram, shell = condensed.diagram, condensed.shell
    leaves = np.flatnonzero(diagram.is_leaf)
    if condensed.equal == "class":
        assert shell.classes is not None
        predictions = shell.classes[np.maximum(diagram.outcome[leaves], 0)]
    else:
        raw = diagram.value[leaves]
        predictions = links.predict(shell, raw[:, 0] if shell.n_outputs == 1 else raw)
    return dict(zip(leaves.tolist(), np.asarray(predictions).tolist(), strict=True))


def value_names(condensed: CondensedTree) -> tuple[str, ...]:
    """Name what a classifier's tree predicts besides the label; nothing where that is all.

    Where the values are equal, these are the probabilities of the classes, in their order, or
    "score", the raw prediction of a model whose score is not a probability.
    """
    shell = condensed.shell
    if shell.classes is None or condensed.equal == "class":
        return ()
    if shell.n_outputs == 1 and shell.link != "logistic":
        return ("score",)
    return tuple(f"probability:{label}" for label in shell.classes.tolist())


def leaf_values(condensed: CondensedTree) -> dict[int, tuple[float, ...]]:
    """Return the numbers that `value_names` names at each certified leaf."""
    names, diagram = value_names(condensed), condensed.diagram
    leaves = np.flatnonzero(diagram.is_leaf & diagram.certified)
    if not names:
        return dict.fromkeys(leaves.tolist(), ())
    raw = diagram.value[leaves]
    if names != ("score",):
        one = condensed.shell.n_outputs == 1
        raw = links.probabilities(condensed.shell, raw[:, 0] if one else raw)
    return dict(zip(leaves.tolist(), map(tuple, raw.tolist()), strict=True))
