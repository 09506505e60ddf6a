"""Questions, conditions and predictions of a condensed tree as text, in the user's columns."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared import numbers
from clearwood._shared.errors import InputError, Option, words
from clearwood.condensing.reading.questions import (
    Labels,
    Question,
    Span,
    column_names,
    leaf_predictions,
    leaf_values,
    questions,
    value_names,
)
from clearwood.condensing.tree.condensed_tree import CondensedTree
from clearwood.forest import LearnerEncoder

__all__ = ["Condition", "Wording", "too_large"]

_MOST_LABELS = 6
_TINY = 1e-34


@dataclass(frozen=True)
class Condition:
    """Which values of one column follow a path through the tree."""

    column: int  # position among `column_names`
    spans: tuple[Span, ...] = ((-math.inf, math.inf),)  # intervals of numbers that pass
    labels: tuple[Any, ...] | None = None  # labels that pass; None for columns of numbers
    every: tuple[Any, ...] = ()  # all labels that the model has seen
    missing: bool = True  # whether missing values pass
    unseen: bool = True  # whether labels that the model has not seen pass

    @property
    def is_empty(self) -> bool:
        """Whether no value passes."""
        passes = self.labels or self.unseen if self.labels is not None else self.spans
        return not passes and not self.missing

    def and_also(self, question: Question, *, left: bool) -> "Condition":
        """Return the condition on rows that also go to one side of a question."""
        missing = self.missing and question.missing_left == left
        if isinstance(question, Labels):
            passes = question.left if left else question.right
            kept = passes if self.labels is None else [x for x in self.labels if x in passes]
            return replace(
                self,
                labels=tuple(kept),
                every=question.left + question.right,
                missing=missing,
                unseen=self.unseen and question.unseen_left == left,
            )
        spans = []
        for low, high in question.left if left else question.right:
            for start, end in self.spans:
                if max(low, start) < min(high, end):
                    spans.append((max(low, start), min(high, end)))
        return replace(self, spans=tuple(spans), missing=missing)


def too_large(size: str, instead: str) -> InputError:
    """Make the error for a tree that is too large to be written in some form."""
    return InputError(
        f"the tree has {size}",
        hint=words(
            "condense with ", Option("leaves"), " or ", Option("tolerance"), f", {instead}."
        ),
    )


class Wording:
    """Writes about one condensed tree; only columns in ``missing`` get "or missing"."""

    def __init__(
        self,
        condensed: CondensedTree,
        *,
        units: Mapping[str, str] | None = None,
        missing: Iterable[int] = (),
    ) -> None:
        self._tree = condensed
        self._units = dict(units or {})
        self._missing = set(missing)
        #: The question of every node; None at leaves.
        self.questions = questions(condensed)
        #: The prediction of every leaf, certified or not.
        self.predictions = leaf_predictions(condensed)
        self._values = leaf_values(condensed)
        names = value_names(condensed)
        labels = () if condensed.classes is None else map(str, condensed.classes.tolist())
        self._value_names = tuple(labels) if len(names) > 1 else names
        self._names = column_names(condensed.shell)
        self._levels = _levels(condensed)

    def question(self, node: int) -> str:
        """Write the condition under which a row goes left at a node."""
        question = self.questions[node]
        assert question is not None
        return self.condition(Condition(question.column).and_also(question, left=True))

    def cut(self, node: int) -> float | None:
        """Return the number that a question compares its column with; None for other questions."""
        question = self.questions[node]
        if question is None or isinstance(question, Labels) or self._levels[question.column]:
            return None
        return None if question.cut is None or math.isinf(question.cut) else question.cut

    def answer(self, node: int) -> str:
        """Write what is predicted at a leaf."""
        diagram = self._tree.diagram
        if not diagram.certified[node]:
            return "ensemble predicts"
        prediction = self.predictions[node]
        if self._tree.classes is None:
            values = prediction if isinstance(prediction, list) else [prediction]
            return ", ".join(map(_number, values))
        named = zip(self._value_names, self._values[node], strict=True)
        shown = ", ".join(f"{name} {_number(value)}" for name, value in named)
        return f"{prediction} ({shown})" if shown else str(prediction)

    def condition(self, condition: Condition) -> str:
        """Write a condition on one column."""
        column = condition.column
        level = self._levels[column]
        name = self._names[column] if level is None else level.column
        if condition.labels is not None:
            return self._of_labels(condition, name)
        spans = condition.spans
        if spans == ((-math.inf, math.inf),):
            return f"{name} is known" if not condition.missing else f"{name} is anything"
        if not spans:
            return f"{name} is missing" if condition.missing else f"{name} is impossible"
        if level is not None:
            one, zero = _holds(spans, 1.0), _holds(spans, 0.0)
            if one != zero:
                return f"{name} is {'' if one else 'not '}{level.name}"
        unit = self._units.get(name, "")
        joined, without_zero = _across_zero(spans)
        text = " or ".join(_span(name, span, f" {unit}" if unit else "") for span in joined)
        text += " (but not 0)" if without_zero else ""
        return text + (" or missing" if condition.missing and column in self._missing else "")

    def _of_labels(self, condition: Condition, name: str) -> str:
        labels = condition.labels or ()
        others = [level for level in condition.every if level not in labels]
        also = " or missing" if condition.missing and condition.column in self._missing else ""
        if not labels:
            unknown = ["missing"] * condition.missing + ["unknown"] * condition.unseen
            return f"{name} is {' or '.join(unknown)}"
        if not others:
            return f"{name} is known" if not condition.missing else f"{name} is anything"
        if condition.unseen and len(others) < len(labels):
            return f"{name} is not {_either(others)}"
        return f"{name} is {_either(labels)}{also}"


@dataclass(frozen=True)
class _Level:
    """One level of one of the user's columns, as a column of the model."""

    column: str
    name: str


def _levels(condensed: CondensedTree) -> list[_Level | None]:
    """Find which of the model's columns are one level of one of the user's, by their names."""
    shell = condensed.shell
    if isinstance(shell.encoder, LearnerEncoder):
        return [None] * len(column_names(shell))  # its questions are on the user's columns
    if shell.columns == shell.feature_names:
        return [None] * shell.n_features
    sizes = np.bincount(shell.groups, minlength=len(shell.columns))
    levels: list[_Level | None] = []
    for name, group in zip(shell.feature_names, shell.groups.tolist(), strict=True):
        column = shell.columns[group]
        own = name.partition("__")[2] if "__" in name and not name.startswith(column) else name
        level = own[len(column) + 1 :] if own.startswith(column) else ""
        is_level = sizes[group] > 1 and level and own[len(column)] in "_="
        levels.append(_Level(column, level) if is_level else None)
    return levels


def _holds(spans: Iterable[Span], x: float) -> bool:
    return any(low < x <= high for low, high in spans)


def _across_zero(spans: tuple[Span, ...]) -> tuple[list[Span], bool]:
    """Join two intervals that only zero parts, as where zeros count as missing."""
    joined: list[Span] = []
    without_zero = False
    for low, high in spans:
        if joined and -_TINY < joined[-1][1] <= 0 <= low < _TINY:
            joined[-1] = (joined[-1][0], high)
            without_zero = True
        else:
            joined.append((low, high))
    return joined, without_zero


def _span(name: str, span: Span, unit: str) -> str:
    low, high = span
    if -_TINY < low <= 0 <= high < _TINY:
        return f"{name} = 0"
    if math.isinf(low):
        return f"{name} ≤ {_number(high)}{unit}"
    if math.isinf(high):
        return f"{name} > {_number(low)}{unit}"
    return f"{_number(low)} < {name} ≤ {_number(high)}{unit}"


def _number(value: float) -> str:
    """Write whole numbers in full, and others with enough digits to compare a row by eye."""
    is_whole = math.isfinite(value) and value == int(value)
    return numbers.number(value, 15 if is_whole else 6)


def _either(labels: Iterable[Any]) -> str:
    names = [str(label) for label in labels]
    if len(names) > _MOST_LABELS:
        names = [*names[: _MOST_LABELS - 1], f"{len(names) - _MOST_LABELS + 1} others"]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" or {names[-1]}"
