"""A condensed tree as one SQL expression."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from clearwood._shared.sql import LARGEST, identifier, is_missing, literal
from clearwood.condensing.export.common import (
    exported_predictions,
    refuse_many_leaves,
    warn_of_preparation,
)
from clearwood.condensing.reading.questions import (
    Labels,
    Question,
    data_names,
    leaf_values,
    questions,
    value_names,
)
from clearwood.condensing.tree.condensed_tree import CondensedTree

__all__ = ["condition", "identifier", "literal", "to_sql"]

_MOST_LEAVES = 100_000


def to_sql(
    condensed: CondensedTree, *, table: str | Sequence[str], column: str = "prediction"
) -> str:
    """Write a SELECT that adds the prediction to a table.

    For a classifier condensed with ``equal="value"`` it also adds the probability of each class,
    as columns ``probability:<label>`` before the prediction, or ``score`` where the model's score
    is not a probability. Each column holds every leaf.

    The expression is a searched CASE of standard SQL, tested in SQLite and DuckDB. Numbers are
    compared as double precision without casts: a model that rounds to float32 has that rounding
    worked into its thresholds. Missing values are NULL or NaN (in databases that, like DuckDB and
    PostgreSQL, sort NaN above all numbers). Cast columns of other types, such as booleans or
    decimals with more than 15 digits, in a view.

    Parameters
    ----------
    table
        The table's name; ("schema", "table") for a qualified one.
    column
        The name of the column of predictions.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> print(to_sql(cw.condense(tree), table="claims"))
    SELECT *,
      CASE
        WHEN "x0" <= 0.5000000298023224e0 THEN 'no'
        ELSE 'yes'
      END AS "prediction"
    FROM "claims"
    """
    names = value_names(condensed)
    refuse_many_leaves(condensed.n_leaves, _MOST_LEAVES // (1 + len(names)), "SQL")
    parts = [table] if isinstance(table, str) else list(table)
    source = ".".join(identifier(part) for part in parts)
    writer = _Writer(condensed)
    warn_of_preparation(condensed, writer.questions)
    values = leaf_values(condensed)
    columns = [
        (name, {node: numbers[k] for node, numbers in values.items()})
        for k, name in enumerate(names)
    ]
    columns.append((column, writer.predictions))
    added = ",\n".join(
        f"{writer.case(0, '  ', of_leaf)} AS {identifier(name)}" for name, of_leaf in columns
    )
    return f"SELECT *,\n{added}\nFROM {source}"


class _Writer:
    """Writes branches with fewer leaves inside and follows the other in the same CASE.

    Cases then nest no deeper than the logarithm of the number of leaves: parsers have limits.
    """

    def __init__(self, condensed: CondensedTree) -> None:
        self._diagram = condensed.diagram
        self._names = [identifier(name) for name in data_names(condensed.shell)]
        self.questions = questions(condensed)
        self.predictions = exported_predictions(condensed, "SQL")
        self._count = condensed.diagram.leaf_counts

    def case(self, node: int, indent: str, of_leaf: Mapping[int, Any]) -> str:
        """Write the label or number of the leaf that a row reaches from a node."""
        if node in of_leaf:
            return indent + literal(of_leaf[node])
        lines = [f"{indent}CASE"]
        while node not in of_leaf:
            question = self.questions[node]
            assert question is not None
            left, right = int(self._diagram.left[node]), int(self._diagram.right[node])
            is_left = self._count[left] <= self._count[right]
            inner, node = (left, right) if is_left else (right, left)
            test = condition(question, self._names[question.column], left=is_left)
            if inner in of_leaf:
                lines.append(f"{indent}  WHEN {test} THEN {literal(of_leaf[inner])}")
            else:
                lines.append(f"{indent}  WHEN {test} THEN")
                lines.append(self.case(inner, indent + "    ", of_leaf))
        lines.append(f"{indent}  ELSE {literal(of_leaf[node])}")
        lines.append(f"{indent}END")
        return "\n".join(lines)


def condition(question: Question, name: str, *, left: bool) -> str:
    """Write a test that is true where a row goes to one side, and false or unknown elsewhere."""
    with_missing = question.missing_left == left
    if isinstance(question, Labels):
        return _of_labels(question, name, left=left)
    spans = question.left if left else question.right
    tests = [_span(name, low, high) for low, high in spans]
    inside = " OR ".join(tests) if tests else ""
    if not with_missing:
        # NaN sorts above every number, so it would pass where a span has no upper end
        open_ended = any(math.isinf(high) and high > 0 for _, high in spans)
        if not inside:
            return "1 = 0"
        if open_ended:
            inside = f"({inside})" if len(tests) > 1 else inside
            return f"{inside} AND ({name} <= {LARGEST} OR -{name} <= {LARGEST})"
        return f"({inside})" if len(tests) > 1 else inside
    missing = is_missing(name)
    return f"({inside} OR {missing})" if inside else f"({missing})"


def _span(name: str, low: float, high: float) -> str:
    tests = []
    if low > -math.inf:
        tests.append(f"{name} > {literal(low)}")
    if high < math.inf:
        tests.append(f"{name} <= {literal(high)}")
    if not tests:
        return f"{name} IS NOT NULL"
    return tests[0] if len(tests) == 1 else f"({' AND '.join(tests)})"


def _of_labels(question: Labels, name: str, *, left: bool) -> str:
    mine, rest = (question.left, question.right) if left else (question.right, question.left)
    if question.unseen_left == left:
        test = f"{name} NOT IN ({', '.join(map(literal, rest))})" if rest else f"{name} IS NOT NULL"
    else:
        test = f"{name} IN ({', '.join(map(literal, mine))})" if mine else "1 = 0"
    return f"({name} IS NULL OR {test})" if question.missing_left == left else test
