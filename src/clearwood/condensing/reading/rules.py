"""A condensed tree as a list of rules."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count, number, percent, share_of
from clearwood._shared.results import Result
from clearwood.condensing.reading.wording import Condition, Wording, too_large
from clearwood.condensing.tree.condensed_tree import CondensedTree
from clearwood.table import Table

__all__ = ["Rule", "Rules", "rules"]

_MOST_LEAVES = 100_000
_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Rule(Result):
    """One leaf of the tree: conditions, and the prediction where they all hold.

    Parameters
    ----------
    conditions
        One a column, in the order of their first question.
    prediction
        The label or number; None where the ensemble predicts.
    answer
        The prediction as text.
    value
        The ensemble's raw prediction there, where the tree holds it.
    support
        Share of the rows for which the rule holds, by weight where rows have one; None without
        data.
    n_rows
        How many rows that are.
    accuracy
        Of these, the share whose target is the predicted class; weighted in the same way. None
        without targets or rows.
    mean_error
        Mean absolute distance of their targets from the predicted number; None without targets or
        rows.
    certified
        Whether the prediction is proved for every row for which the rule holds.
    counted_by
        What `support` and `accuracy` are shares of: "rows", or their "weight" or "exposure".
    """

    conditions: tuple[str, ...]
    prediction: Any
    answer: str
    value: tuple[float, ...] | None
    support: float | None
    n_rows: int | None
    accuracy: float | None
    mean_error: float | None
    certified: bool
    counted_by: str = "rows"

    def __repr__(self) -> str:
        when = f"if {' and '.join(self.conditions)}" if self.conditions else "always"
        facts = []
        if self.support is not None:
            facts.append(share_of(self.support, self.counted_by))
        if self.accuracy is not None:
            facts.append(f"{percent(self.accuracy)} right")
        if self.mean_error is not None:
            facts.append(f"off by {number(self.mean_error)} on average")
        return f"{when}: {self.answer}" + (f"  [{', '.join(facts)}]" if facts else "")


@dataclass(frozen=True, eq=False, repr=False)
class Rules(Result):
    """Rules of a condensed tree: exactly one holds for any row.

    Sorted by support where there is data, else by the number of conditions.
    """

    items: tuple[Rule, ...]

    _in_frame: ClassVar[tuple[str, ...]] = (
        *("support", "n_rows", "accuracy", "mean_error", "certified"),
    )

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.items)

    def __getitem__(self, at: int) -> Rule:
        return self.items[at]

    def _columns(self) -> Mapping[str, Any]:
        return {
            "rule": [" and ".join(rule.conditions) for rule in self.items],
            "prediction": [rule.answer for rule in self.items],
            **{name: [getattr(rule, name) for rule in self.items] for name in self._in_frame},
        }

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"rules": [rule.to_json() for rule in self.items]}

    def __repr__(self) -> str:
        shown = [str(rule) for rule in self.items[:_SHOWN]]
        if len(self.items) > _SHOWN:
            shown.append(f"... and {len(self.items) - _SHOWN:,} more")
        return "\n".join(shown)


def rules(
    condensed: CondensedTree,
    data: Any = None,
    target: Any = None,
    *,
    units: Mapping[str, str] | None = None,
) -> Rules:
    """Return one rule for every leaf of the tree, with one condition a column.

    Parameters
    ----------
    data
        Rows to count: support is the share of them that a rule holds for. Rows of a
        `clearwood.Table` count by its weight and exposure.
    target
        Their targets, for accuracy or mean error; a `clearwood.Table` brings its own.
    units
        The unit of each column that has one, written after its numbers.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "yes", "yes", "no"]
    >>> one = cw.condense(DecisionTreeClassifier().fit(X, y))
    >>> rules(one, X, y)
    if 1.5 < x0 ≤ 3.5: yes  [50 % of rows, 100 % right]
    if x0 ≤ 1.5: no  [25 % of rows, 100 % right]
    if x0 > 3.5: no  [25 % of rows, 100 % right]
    """
    if condensed.n_leaves > _MOST_LEAVES:
        raise too_large(
            f"{condensed.n_leaves:,} leaves; lists have up to {_MOST_LEAVES:,} rules",
            "prune the tree to data, or read the path of one row",
        )
    matrix, truth = _rows_and_targets(condensed, data, target)
    missing: list[int] = []
    if matrix is not None:
        missing = np.unique(condensed.shell.groups[np.isnan(matrix).any(axis=0)]).tolist()
    wording = Wording(condensed, units=units, missing=missing)
    weights = np.ones(0 if matrix is None else len(matrix))
    if isinstance(data, Table) and data.weights is not None:
        weights = np.asarray(data.weights, dtype=np.float64)
    unsorted = _walk(condensed, wording, matrix, truth, weights)
    if isinstance(data, Table):
        unsorted = (replace(rule, counted_by=data.counted_by) for rule in unsorted)
    key = (
        (lambda rule: (-rule.support, -rule.n_rows, len(rule.conditions)))
        if matrix is not None
        else (lambda rule: len(rule.conditions))
    )
    return Rules(tuple(sorted(unsorted, key=key)))


def _rows_and_targets(
    condensed: CondensedTree, data: Any, target: Any
) -> tuple[Floats | None, NDArray[Any] | None]:
    if data is None:
        return None, None
    matrix = condensed.matrix(data)
    if target is None and isinstance(data, Table) and data.target is not None:
        target = data.y
    if target is None:
        return matrix, None
    truth = np.asarray(target)
    if len(truth) != len(matrix):
        raise InputError(
            f"there are {count(len(truth), 'target')} for {count(len(matrix), 'row')}",
            parameter="target",
        )
    return matrix, truth


def _walk(
    condensed: CondensedTree,
    wording: Wording,
    matrix: Floats | None,
    truth: NDArray[Any] | None,
    weights: Floats,
) -> Iterator[Rule]:
    """Go through the unfolded tree with the rows that reach each place."""
    diagram = condensed.diagram
    n_rows = 0 if matrix is None else len(matrix)
    total = float(weights.sum())
    stack: list[tuple[int, dict[int, Condition], Index]] = [(0, {}, np.arange(n_rows))]
    while stack:
        node, conditions, rows = stack.pop()
        question = wording.questions[node]
        if question is None:
            yield _rule(
                condensed,
                wording,
                node,
                conditions,
                targets=None if truth is None else truth[rows],
                n_rows=None if matrix is None else len(rows),
                support=None
                if matrix is None
                else float(weights[rows].sum()) / total
                if total > 0
                else 0.0,
                weights=weights[rows],
            )
            continue
        left = np.zeros(len(rows), bool)
        if matrix is not None and len(rows):
            left = diagram.goes_left(np.full(len(rows), node), matrix[rows, diagram.feature[node]])
        before = conditions.get(question.column, Condition(question.column))
        for goes in (False, True):
            after = before.and_also(question, left=goes)
            child = int(diagram.left[node] if goes else diagram.right[node])
            if after.is_empty:
                continue  # no value passes
            stack.append((child, {**conditions, question.column: after}, rows[left == goes]))


def _rule(
    condensed: CondensedTree,
    wording: Wording,
    node: int,
    conditions: Mapping[int, Condition],
    *,
    targets: NDArray[Any] | None,
    n_rows: int | None,
    support: float | None,
    weights: Floats,
) -> Rule:
    diagram = condensed.diagram
    certified = bool(diagram.certified[node])
    prediction: Any = wording.predictions[node] if certified else None
    accuracy = mean_error = None
    if targets is not None and weights.any() and certified:
        if condensed.classes is not None:
            accuracy = float(np.average(targets == prediction, weights=weights))
        elif not isinstance(prediction, list):
            distances = np.abs(targets.astype(np.float64) - prediction)
            mean_error = float(np.average(distances, weights=weights))
    return Rule(
        conditions=tuple(wording.condition(condition) for condition in conditions.values()),
        prediction=prediction,
        answer=wording.answer(node),
        value=tuple(diagram.value[node].tolist()) if diagram.n_outputs and certified else None,
        support=support,
        n_rows=n_rows,
        accuracy=accuracy,
        mean_error=mean_error,
        certified=certified,
    )
