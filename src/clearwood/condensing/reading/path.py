"""Why one row is predicted as it is, in a sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clearwood._shared.errors import InputError
from clearwood._shared.frames import frame
from clearwood._shared.results import Result
from clearwood.condensing.reading.wording import Condition, Wording
from clearwood.condensing.tree.condensed_tree import CondensedTree

__all__ = ["Path", "path"]

_MOST_VISITS = 2000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Path(Result):
    """The path of one row through a condensed tree.

    Parameters
    ----------
    conditions
        The conditions that decide, one a column: every row that meets them is predicted the same.
    prediction
        The label or number.
    answer
        The prediction as text.
    n_questions
        The number of questions on the path.
    certified
        Whether the leaf is proved; otherwise the ensemble predicts.
    """

    conditions: tuple[str, ...]
    prediction: Any
    answer: str
    n_questions: int
    certified: bool

    _derived: ClassVar[tuple[str, ...]] = ("sentence",)

    @property
    def sentence(self) -> str:
        """Prediction and conditions in a sentence."""
        if not self.conditions:
            return f"{self.answer}, whatever the row"
        *first, last = self.conditions
        listed = f"{', '.join(first)} and {last}" if first else last
        return f"{self.answer}, because {listed}"

    def __repr__(self) -> str:
        return self.sentence


def path(condensed: CondensedTree, row: Any, *, units: Mapping[str, str] | None = None) -> Path:
    """Return the few conditions that decide one row.

    Conditions are merged by column. Those that can be dropped without another prediction in the box
    that remains are dropped.

    Parameters
    ----------
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
    table = _one_row(condensed, row)
    matrix = condensed.matrix(table)
    if len(matrix) != 1:
        raise InputError(
            f"path takes one row, not {len(matrix):,}",
            parameter="row",
            hint="pick one, such as data.head(1).",
        )
    x = matrix[0]
    diagram = condensed.diagram
    missing = np.unique(condensed.shell.groups[np.isnan(x)]).tolist()
    wording = Wording(condensed, units=units, missing=missing)
    node, n_questions = 0, 0
    conditions: dict[int, Condition] = {}
    while (question := wording.questions[node]) is not None:
        value = x[diagram.feature[node : node + 1]]
        left = bool(diagram.goes_left(np.array([node]), value)[0])
        before = conditions.get(question.column, Condition(question.column))
        conditions[question.column] = before.and_also(question, left=left)
        node = int(diagram.left[node] if left else diagram.right[node])
        n_questions += 1
    decisive = _widened(condensed, wording, conditions, node)
    certified = bool(diagram.certified[node])
    if certified:
        prediction, answer = wording.predictions[node], wording.answer(node)
    else:
        prediction = condensed.predict(table).tolist()[0]
        answer = f"{prediction} (predicted by the ensemble)"
    return Path(
        conditions=tuple(wording.condition(condition) for condition in decisive.values()),
        prediction=prediction,
        answer=answer,
        n_questions=n_questions,
        certified=certified,
    )


def _one_row(condensed: CondensedTree, row: Any) -> Any:
    if isinstance(row, Mapping):
        return frame({str(name): [value] for name, value in row.items()})
    if isinstance(row, list | tuple) and not any(isinstance(v, list | tuple) for v in row):
        texts = any(isinstance(value, str) or value is None for value in row)
        return np.array([list(row)], dtype=object if texts else np.float64)
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return row.reshape(1, -1)
    if hasattr(row, "to_dict") and getattr(row, "ndim", 2) == 1:
        return _one_row(condensed, row.to_dict())  # a row of a data frame
    return row


def _widened(
    condensed: CondensedTree, wording: Wording, conditions: dict[int, Condition], leaf: int
) -> dict[int, Condition]:
    """Drop conditions on whole columns that change no prediction in the box of the others."""
    kept = dict(conditions)
    for column in sorted(conditions, key=lambda j: -_tightness(conditions[j])):
        tried = {j: condition for j, condition in kept.items() if j != column}
        if _only_leaf(condensed, wording, tried, leaf):
            kept = tried
    return kept


def _tightness(condition: Condition) -> int:
    if condition.labels is not None:
        return 1
    return sum((low > -np.inf) + (high < np.inf) for low, high in condition.spans)


def _only_leaf(
    condensed: CondensedTree, wording: Wording, conditions: dict[int, Condition], leaf: int
) -> bool:
    """Whether every row that meets the conditions is predicted as at a leaf; gives up early."""
    diagram = condensed.diagram
    stack = [(0, conditions)]
    visits = 0
    while stack:
        node, box = stack.pop()
        visits += 1
        if visits > _MOST_VISITS:
            return False
        question = wording.questions[node]
        if question is None:
            if not _same_prediction(condensed, node, leaf):
                return False
            continue
        before = box.get(question.column, Condition(question.column))
        for left in (True, False):
            after = before.and_also(question, left=left)
            if after.is_empty:
                continue
            child = int(diagram.left[node] if left else diagram.right[node])
            stack.append((child, {**box, question.column: after}))
    return True


def _same_prediction(condensed: CondensedTree, one: int, other: int) -> bool:
    diagram = condensed.diagram
    return one == other or bool(
        diagram.certified[one]
        and diagram.certified[other]
        and diagram.outcome[one] == diagram.outcome[other]
        and np.array_equal(diagram.value[one], diagram.value[other])
    )
