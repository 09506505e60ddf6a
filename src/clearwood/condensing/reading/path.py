"""Why one row is predicted as it is, in a sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.condensing.condensed import Condensed
from clearwood.condensing.reading.rules import _predictions
from clearwood.condensing.reading.words import Condition, Wording

__all__ = ["Path", "path"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Path:
    """The way of one row through a condensed tree.

    Parameters
    ----------
    conditions
        What decides, one condition a column: every row that meets them is predicted the same.
    prediction
        The label or number.
    n_questions
        How many questions the tree asked on the way.
    certified
        Whether the leaf is proved; otherwise the ensemble answers.
    sentence
        All of it in words.
    """

    conditions: tuple[str, ...]
    prediction: Any
    n_questions: int
    certified: bool
    sentence: str

    def __repr__(self) -> str:
        return self.sentence

    def to_json(self) -> dict[str, Any]:
        """Give plain JSON values."""
        return {
            "conditions": list(self.conditions),
            "prediction": self.prediction,
            "questions": self.n_questions,
            "certified": self.certified,
            "sentence": self.sentence,
        }


def path(condensed: Condensed, row: Any, *, units: Mapping[str, str] | None = None) -> Path:
    """Give the few conditions that decide one row.

    Conditions are merged per column and then widened: an end of an interval that can be dropped
    without the tree answering anything else in the box that remains is dropped.

    Parameters
    ----------
    condensed
        The tree.
    row
        A table of one row, a mapping from columns to values, or a sequence of values in order.
    units
        The unit of each column that has one.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[1.0, 5.0], [2.0, 5.0], [2.0, 7.0]], ["no", "no", "yes"]
    >>> one = cw.condense(DecisionTreeClassifier(random_state=0).fit(X, y))
    >>> path(one, [2.0, 7.5])
    yes, because x1 > 6
    """
    matrix = condensed.matrix(_one_row(condensed, row))
    if len(matrix) != 1:
        raise InputError(f"path takes one row; got {len(matrix)}", hint="pick one: data.head(1).")
    x = matrix[0]
    diagram = condensed.diagram
    gaps = np.unique(condensed.shell.groups[np.isnan(x)]).tolist()
    words = Wording(condensed, units=units, missing=gaps)
    node, n_questions = 0, 0
    conditions: dict[int, Condition] = {}
    while (asked := words.asked[node]) is not None:
        value = x[diagram.feature[node : node + 1]]
        left = bool(diagram.goes_left(np.array([node]), value)[0])
        before = conditions.get(asked.column, Condition(asked.column))
        conditions[asked.column] = before.and_also(asked, left=left)
        node = int(diagram.left[node] if left else diagram.right[node])
        n_questions += 1
    decisive = _widened(condensed, words, conditions, node)
    said = tuple(words.condition(condition) for condition in decisive.values())
    certified = bool(diagram.certified[node])
    if certified:
        prediction = _predictions(condensed)[node]
        answer = words.answer(node)
    else:
        prediction = _scalar(condensed.predict(_one_row(condensed, row))[0])
        answer = f"{prediction} (answered by the ensemble)"
    because = f", because {_and(said)}" if said else ", whatever the row"
    return Path(
        conditions=said,
        prediction=prediction,
        n_questions=n_questions,
        certified=certified,
        sentence=f"{answer}{because}",
    )


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _and(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}"


def _one_row(condensed: Condensed, row: Any) -> Any:
    if isinstance(row, Mapping):
        import narwhals as nw

        for backend in ("pandas", "polars", "pyarrow"):
            try:
                columns = {str(name): [value] for name, value in row.items()}
                return nw.from_dict(columns, backend=backend).to_native()
            except (ImportError, ModuleNotFoundError):
                continue
    if isinstance(row, list | tuple) and not any(isinstance(v, list | tuple) for v in row):
        texts = any(isinstance(value, str) or value is None for value in row)
        return np.array([list(row)], dtype=object if texts else np.float64)
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return row.reshape(1, -1)
    if hasattr(row, "to_dict") and getattr(row, "ndim", 2) == 1:
        return _one_row(condensed, row.to_dict())  # a row of a data frame
    return row


def _widened(
    condensed: Condensed, words: Wording, conditions: dict[int, Condition], leaf: int
) -> dict[int, Condition]:
    """Drop conditions on whole columns that change no answer within the box of the others."""
    kept = dict(conditions)
    for column in sorted(conditions, key=lambda j: -_tightness(conditions[j])):
        tried = {j: condition for j, condition in kept.items() if j != column}
        if _only_leaf(condensed, words, tried, leaf):
            kept = tried
    return kept


def _tightness(condition: Condition) -> int:
    if condition.labels is not None:
        return 1
    return sum((low > -np.inf) + (high < np.inf) for low, high in condition.spans)


def _only_leaf(
    condensed: Condensed, words: Wording, conditions: dict[int, Condition], leaf: int
) -> bool:
    """Whether every row that meets the conditions is answered as at a leaf; gives up early."""
    diagram = condensed.diagram
    stack = [(0, conditions)]
    budget = 2000
    while stack:
        node, box = stack.pop()
        budget -= 1
        if budget < 0:
            return False
        asked = words.asked[node]
        if asked is None:
            if not _same_answer(condensed, node, leaf):
                return False
            continue
        before = box.get(asked.column, Condition(asked.column))
        for left in (True, False):
            after = before.and_also(asked, left=left)
            if after.is_empty:
                continue
            child = int(diagram.left[node] if left else diagram.right[node])
            stack.append((child, {**box, asked.column: after}))
    return True


def _same_answer(condensed: Condensed, one: int, other: int) -> bool:
    diagram = condensed.diagram
    return one == other or bool(
        diagram.certified[one]
        and diagram.certified[other]
        and diagram.outcome[one] == diagram.outcome[other]
        and np.array_equal(diagram.value[one], diagram.value[other])
    )
