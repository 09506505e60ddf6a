"""Questions, conditions and answers of a condensed tree in the user's words."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood.condensing.condensed import Condensed
from clearwood.condensing.reading.questions import Labels, Question, column_names, questions
from clearwood.forest.encoders import LearnerEncoder
from clearwood.forest.links import predict as on_scale

__all__ = ["Condition", "Wording", "number"]

_MOST_LABELS = 6
_TINY = 1e-34


def number(value: float) -> str:
    """Write a number with the digits that a reader can use.

    Examples
    --------
    >>> [number(value) for value in (0.5000000298, 1234567.0, 3.0, -1e-9)]
    ['0.5', '1234567', '3', '-1e-09']
    """
    if value == int(value) if math.isfinite(value) else False:
        return f"{value:.0f}" if abs(value) < 1e15 else f"{value:g}"
    return f"{value:.6g}"


@dataclass(frozen=True)
class Condition:
    """What a way through the tree asks of one column.

    Parameters
    ----------
    column
        Position among the columns asked of.
    spans
        Intervals of numbers that pass: above the first end, not above the second.
    labels
        Labels that pass; None for columns of numbers.
    every
        All labels the model knows.
    missing, unseen
        Whether missing values, and labels the model does not know, pass.
    """

    column: int
    spans: tuple[tuple[float, float], ...] = ((-math.inf, math.inf),)
    labels: tuple[Any, ...] | None = None
    every: tuple[Any, ...] = ()
    missing: bool = True
    unseen: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether no value passes."""
        passes = self.labels or self.unseen if self.labels is not None else self.spans
        return not passes and not self.missing

    def and_also(self, asked: Question, *, left: bool) -> "Condition":
        """Give the condition that an answer to one more question leaves."""
        missing = self.missing and asked.missing_left == left
        if isinstance(asked, Labels):
            passes = asked.left if left else asked.right
            kept = passes if self.labels is None else [x for x in self.labels if x in passes]
            return replace(
                self,
                labels=tuple(kept),
                every=asked.left + asked.right,
                missing=missing,
                unseen=self.unseen and asked.unseen_left == left,
            )
        spans = []
        for low, high in asked.left if left else _complement(asked.left):
            for start, end in self.spans:
                if max(low, start) < min(high, end):
                    spans.append((max(low, start), min(high, end)))
        return replace(self, spans=tuple(spans), missing=missing)


def _complement(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    found, low = [], -math.inf
    for start, end in spans:
        if start > low:
            found.append((low, start))
        low = end
    if low < math.inf:
        found.append((low, math.inf))
    return found


class Wording:
    """Writes about one condensed tree.

    Parameters
    ----------
    condensed
        The tree.
    units
        The unit of each of the user's columns that has one.
    missing
        Positions of the columns in which values may be missing; "or missing" is said of
        these only.
    """

    def __init__(
        self,
        condensed: Condensed,
        *,
        units: Mapping[str, str] | None = None,
        missing: Iterable[int] = (),
    ) -> None:
        self._tree = condensed
        self._units = dict(units or {})
        self._missing = set(missing)
        self.asked = questions(condensed)
        self._names = column_names(condensed.shell)
        self._parts = _parts(condensed)

    def question(self, node: int) -> str:
        """Write what is asked at a node; yes is left."""
        asked = self.asked[node]
        assert asked is not None
        return self.condition(Condition(asked.column).and_also(asked, left=True))

    def answer(self, node: int) -> str:
        """Write what a leaf answers."""
        diagram, shell = self._tree.diagram, self._tree.shell
        if not diagram.certified[node]:
            return "asks the ensemble"
        if self._tree.equal == "class":
            assert shell.classes is not None
            return str(shell.classes[diagram.outcome[node]])
        raw = diagram.value[node]
        if shell.classes is not None:
            label = on_scale(shell, raw[:1] if shell.n_outputs == 1 else raw[None, :])[0]
            return f"{label} ({', '.join(number(x) for x in raw)})"
        shown = np.atleast_1d(on_scale(shell, raw[:1] if shell.n_outputs == 1 else raw[None, :])[0])
        return ", ".join(number(float(x)) for x in shown)

    def condition(self, condition: Condition) -> str:
        """Write a condition on one column."""
        column = condition.column
        part = self._parts[column]
        name = self._names[column] if part is None else part.column
        if condition.labels is not None:
            return self._of_labels(condition, name)
        numbers = condition.spans
        whole = numbers == ((-math.inf, math.inf),)
        if whole:
            return f"{name} is known" if not condition.missing else f"{name} is anything"
        if not numbers:
            return f"{name} is missing" if condition.missing else f"{name} is impossible"
        if part is not None and part.level is not None:
            one, zero = _holds(numbers, 1.0), _holds(numbers, 0.0)
            if one != zero:
                return f"{name} is {'' if one else 'not '}{part.level}"
        unit = self._units.get(name, "")
        joined, without_zero = _across_zero(numbers)
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
class _Part:
    column: str
    level: str | None


def _parts(condensed: Condensed) -> list[_Part | None]:
    """Find which of the model's columns are one level of one of the user's."""
    shell = condensed.shell
    if isinstance(shell.encoder, LearnerEncoder):
        return [None] * len(column_names(shell))  # its questions are of the user's columns
    if shell.columns == shell.feature_names:
        return [None] * shell.n_features
    sizes = np.bincount(shell.groups, minlength=len(shell.columns))
    parts: list[_Part | None] = []
    for name, group in zip(shell.feature_names, shell.groups.tolist(), strict=True):
        column = shell.columns[group]
        own = name.partition("__")[2] if "__" in name and not name.startswith(column) else name
        level = own[len(column) + 1 :] if own.startswith(column) else ""
        if sizes[group] > 1 and level and own[len(column)] in "_=":
            parts.append(_Part(column, level))
        else:
            parts.append(None)
    return parts


def _holds(spans: Iterable[tuple[float, float]], x: float) -> bool:
    return any(low < x <= high for low, high in spans)


def _across_zero(
    spans: tuple[tuple[float, float], ...],
) -> tuple[list[tuple[float, float]], bool]:
    """Join two intervals that only zero parts, as where zeros count as missing."""
    joined: list[tuple[float, float]] = []
    without_zero = False
    for low, high in spans:
        if joined and -_TINY < joined[-1][1] <= 0 <= low < _TINY:
            joined[-1] = (joined[-1][0], high)
            without_zero = True
        else:
            joined.append((low, high))
    return joined, without_zero


def _span(name: str, span: tuple[float, float], unit: str) -> str:
    low, high = span
    if -_TINY < low <= 0 <= high < _TINY:
        return f"{name} = 0"
    if math.isinf(low):
        return f"{name} ≤ {number(high)}{unit}"
    if math.isinf(high):
        return f"{name} > {number(low)}{unit}"
    return f"{number(low)} < {name} ≤ {number(high)}{unit}"


def _either(labels: Iterable[Any]) -> str:
    words = [str(label) for label in labels]
    if len(words) > _MOST_LABELS:
        words = [*words[: _MOST_LABELS - 1], f"{len(words) - _MOST_LABELS + 1} others"]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" or {words[-1]}"
