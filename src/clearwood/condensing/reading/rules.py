"""A condensed tree as a list of rules."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.condensing.condensed import Condensed
from clearwood.condensing.reading.words import Condition, Wording
from clearwood.table import Table

__all__ = ["Rule", "Rules", "rules"]

_MOST_LEAVES = 100_000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Rule:
    """One leaf as a tree: conditions and what is predicted where they all hold.

    Parameters
    ----------
    conditions
        One a column, in the user's words, in the order in which the tree first asks.
    prediction
        The label or number; None where the ensemble answers.
    value
        The ensemble's raw prediction there, where the tree holds it.
    support
        Share of the rows that get here; None without data.
    n_rows
        How many that are.
    precision
        Of these, the share whose target is the prediction (classes), or the mean absolute
        distance from it (numbers); None without targets or rows.
    certified
        Whether the prediction is proved for every row that gets here.
    """

    conditions: tuple[str, ...]
    prediction: Any
    value: tuple[float, ...] | None
    support: float | None
    n_rows: int | None
    precision: float | None
    certified: bool
    answer: str = ""

    def __repr__(self) -> str:
        when = " and ".join(self.conditions) or "always"
        text = f"if {when}: {self.answer}" if self.conditions else f"always: {self.answer}"
        if self.support is not None:
            text += f"  [{100 * self.support:.3g} % of rows"
            if self.precision is not None:
                is_share = not isinstance(self.prediction, float)
                text += (
                    f", {100 * self.precision:.3g} % right"
                    if is_share
                    else (f", off by {self.precision:.4g} on average")
                )
            text += "]"
        return text


@dataclass(frozen=True, eq=False, repr=False)
class Rules:
    """Rules of a condensed tree: exactly one holds for any row.

    Sorted by support where there is data, else by the number of conditions.
    """

    items: tuple[Rule, ...]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.items)

    def __getitem__(self, at: int) -> Rule:
        return self.items[at]

    def to_frame(self) -> Any:
        """Give a pandas or polars data frame, whichever is installed."""
        return _frame(
            {
                "rule": [" and ".join(rule.conditions) for rule in self.items],
                "prediction": [rule.answer for rule in self.items],
                "support": [rule.support for rule in self.items],
                "rows": [rule.n_rows for rule in self.items],
                "precision": [rule.precision for rule in self.items],
                "certified": [rule.certified for rule in self.items],
            }
        )

    def to_json(self) -> list[dict[str, Any]]:
        """Give plain JSON values."""
        return [
            {
                "conditions": list(rule.conditions),
                "prediction": rule.prediction,
                "value": None if rule.value is None else list(rule.value),
                "support": rule.support,
                "rows": rule.n_rows,
                "precision": rule.precision,
                "certified": rule.certified,
            }
            for rule in self.items
        ]

    def __repr__(self) -> str:
        shown = [str(rule) for rule in self.items[:20]]
        if len(self.items) > 20:
            shown.append(f"... and {len(self.items) - 20:,} more")
        return "\n".join(shown)


def _frame(columns: dict[str, list[Any]]) -> Any:
    try:
        import pandas as pd

        return pd.DataFrame(columns)
    except ImportError:
        pass
    try:
        import polars as pl
    except ImportError:
        raise InputError(
            "a data frame needs pandas or polars", hint="to_json gives the same as plain values."
        ) from None
    return pl.DataFrame(columns)


def rules(
    condensed: Condensed,
    data: Any = None,
    target: Any = None,
    *,
    units: Mapping[str, str] | None = None,
) -> Rules:
    """Give one rule for every leaf of the tree, with what it asks of each column merged.

    Parameters
    ----------
    condensed
        The tree.
    data
        Rows to count: support is the share of them that a rule holds for.
    target
        Their targets, for the precision; a `clearwood.Table` brings its own.
    units
        The unit of each column that has one, said after its numbers.

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
        raise InputError(
            f"the tree has {condensed.n_leaves:,} leaves; more than {_MOST_LEAVES:,} rules are "
            "not listed",
            hint="give a tolerance or a budget of leaves, prune to data, or ask path(row).",
        )
    matrix, truth = _given(condensed, data, target)
    missing: list[int] = []
    if matrix is not None:
        missing = np.unique(condensed.shell.groups[np.isnan(matrix).any(axis=0)]).tolist()
    words = Wording(condensed, units=units, missing=missing)
    found = list(_walk(condensed, words, matrix, truth))
    key = (
        (lambda rule: (-rule.n_rows, len(rule.conditions)))
        if matrix is not None
        else (lambda rule: len(rule.conditions))
    )
    return Rules(tuple(sorted(found, key=key)))


def _given(
    condensed: Condensed, data: Any, target: Any
) -> tuple[NDArray[np.float64] | None, NDArray[Any] | None]:
    if data is None:
        return None, None
    matrix = condensed.matrix(data)
    if target is None and isinstance(data, Table) and data.target is not None:
        target = data.y
    if target is None:
        return matrix, None
    truth = np.asarray(target)
    if len(truth) != len(matrix):
        raise InputError(f"there are {len(truth):,} targets for {len(matrix):,} rows")
    return matrix, truth


def _walk(
    condensed: Condensed,
    words: Wording,
    matrix: NDArray[np.float64] | None,
    truth: NDArray[Any] | None,
) -> Iterator[Rule]:
    """Go through the unfolded tree with the rows that reach each place."""
    diagram = condensed.diagram
    answers = _predictions(condensed)
    everyone = np.arange(0 if matrix is None else len(matrix))
    stack: list[tuple[int, dict[int, Condition], NDArray[np.intp]]] = [(0, {}, everyone)]
    while stack:
        node, conditions, rows = stack.pop()
        asked = words.asked[node]
        if asked is None:
            said = tuple(words.condition(condition) for condition in conditions.values())
            yield _rule(
                condensed, node, said, answers[node], words.answer(node), rows, matrix, truth
            )
            continue
        left = np.zeros(len(rows), bool)
        if matrix is not None and len(rows):
            left = diagram.goes_left(np.full(len(rows), node), matrix[rows, diagram.feature[node]])
        before = conditions.get(asked.column, Condition(asked.column))
        for goes in (False, True):
            after = before.and_also(asked, left=goes)
            child = int(diagram.left[node] if goes else diagram.right[node])
            if after.is_empty:
                continue  # no value passes
            stack.append((child, {**conditions, asked.column: after}, rows[left == goes]))


def _predictions(condensed: Condensed) -> dict[int, Any]:
    from clearwood.condensing.reading.questions import outputs

    if condensed.shell.classes is None and condensed.shell.n_outputs > 1:
        leaves = np.flatnonzero(condensed.diagram.is_leaf).tolist()
        return {leaf: condensed.diagram.value[leaf].tolist() for leaf in leaves}
    return outputs(condensed, "rules")


def _rule(
    condensed: Condensed,
    node: int,
    conditions: tuple[str, ...],
    prediction: Any,
    answer: str,
    rows: NDArray[np.intp],
    matrix: NDArray[np.float64] | None,
    truth: NDArray[Any] | None,
) -> Rule:
    diagram = condensed.diagram
    certified = bool(diagram.certified[node])
    precision = None
    if truth is not None and len(rows) and certified:
        if condensed.classes is not None:
            precision = float(np.mean(truth[rows] == prediction))
        elif not isinstance(prediction, list):
            precision = float(np.mean(np.abs(truth[rows].astype(np.float64) - prediction)))
    return Rule(
        conditions=conditions,
        prediction=prediction if certified else None,
        value=tuple(diagram.value[node].tolist()) if diagram.n_outputs and certified else None,
        support=None if matrix is None else len(rows) / max(len(matrix), 1),
        n_rows=None if matrix is None else len(rows),
        precision=precision,
        certified=certified,
        answer=answer,
    )
