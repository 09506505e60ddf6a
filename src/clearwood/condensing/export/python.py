"""A condensed tree as a Python module without imports."""

import math
from typing import Any

from clearwood.condensing.export.common import exported_predictions, warn_of_preparation
from clearwood.condensing.reading.questions import (
    Labels,
    Question,
    data_names,
    leaf_values,
    questions,
    value_names,
)
from clearwood.condensing.tree.condensed_tree import CondensedTree

__all__ = ["to_python"]

# Branches with at least so many leaves that several parents share become functions.
_SHARED = 8


def to_python(condensed: CondensedTree) -> str:
    """Write a module with a function ``predict(row)``.

    A row is a mapping from the names in ``COLUMNS``, the columns that the tree uses, to values;
    missing values are None or NaN, categories their labels. For a classifier condensed with
    ``equal="value"``, ``predict_proba(row)`` gives the probabilities of the labels in ``CLASSES``,
    or ``predict_raw(row)`` the score where the model's score is not a probability.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> module = {}
    >>> exec(to_python(cw.condense(tree)), module)
    >>> module["predict"]({"x0": 0.2})
    'no'
    """
    writer = _Writer(condensed)
    warn_of_preparation(condensed, writer.questions)
    body = writer.function("_node_0", 0)
    written = {0}
    functions = [body]
    while missing := writer.called - written:
        node = min(missing)
        written.add(node)
        functions.append(writer.function(f"_node_{node}", node))
    columns = "".join(f"    {name!r},\n" for name in writer.columns)
    shape = f"{condensed.n_leaves:,} leaves, depth {condensed.depth}"
    names = value_names(condensed)
    is_score = names == ("score",)
    classes = ""
    if names and not is_score and condensed.classes is not None:
        labels = "".join(f"    {label!r},\n" for label in condensed.classes.tolist())
        classes = f"CLASSES = (\n{labels})\n"
    head = (
        f'"""{_harmless(condensed.shell.source)} as one tree: {shape}; '
        f'{condensed.certificate.statement}."""\n\n'
        f"COLUMNS = (\n{columns})\n{classes}\n\n"
        "def predict(row):\n"
        '    """Predict one row: a mapping from COLUMNS to values, None or NaN where missing."""\n'
    )
    if is_score:
        head += (
            "    return _leaf(row)[0]\n\n\n"
            "def predict_raw(row):\n"
            '    """Return the score of one row, which decides its label."""\n'
            "    return _leaf(row)[1]\n\n\n"
            "def _leaf(row):\n"
        )
    elif names:
        head += (
            "    return _leaf(row)[0]\n\n\n"
            "def predict_proba(row):\n"
            '    """Return the probabilities of one row, in the order of CLASSES."""\n'
            "    return _leaf(row)[1:]\n\n\n"
            "def _leaf(row):\n"
        )
    head += (
        "    values = [row[name] for name in COLUMNS]\n"
        "    return _node_0([None if x is None or x != x else x for x in values])\n"
    )
    return head + "".join(f"\n\n{function}" for function in functions)


class _Writer:
    """Writes the branch with fewer leaves inside an if and goes on below it with the other."""

    def __init__(self, condensed: CondensedTree) -> None:
        self.called: set[int] = set()
        self._predictions = exported_predictions(condensed, "Python source")
        if value_names(condensed):
            values = leaf_values(condensed)
            self._predictions = {
                node: (label, *values[node]) for node, label in self._predictions.items()
            }
        self.questions = questions(condensed)
        names = data_names(condensed.shell)
        used = sorted({question.column for question in self.questions if question is not None})
        self.columns = [names[column] for column in used]
        self._place = {column: k for k, column in enumerate(used)}
        diagram = condensed.diagram
        self._left, self._right = diagram.left.tolist(), diagram.right.tolist()
        parents = [0] * diagram.n_nodes
        self._count = [1] * diagram.n_nodes
        self._apart: set[int] = set()
        for node in range(diagram.n_nodes):
            if self._left[node] >= 0:
                parents[self._left[node]] += 1
                parents[self._right[node]] += 1
        for node in range(diagram.n_nodes - 1, -1, -1):
            if self._left[node] >= 0:
                self._count[node] = sum(
                    1 if child in self._apart else self._count[child]
                    for child in (self._left[node], self._right[node])
                )
                if parents[node] > 1 and self._count[node] >= _SHARED:
                    self._apart.add(node)

    def function(self, name: str, node: int) -> str:
        lines = [f"def {name}(v):"]
        self._body(node, "    ", lines, first=True)
        return "\n".join(lines) + "\n"

    def _body(self, node: int, indent: str, lines: list[str], *, first: bool = False) -> None:
        while node not in self._predictions and (first or node not in self._apart):
            first = False
            question = self.questions[node]
            assert question is not None
            left, right = self._left[node], self._right[node]
            is_left = self._size(left) <= self._size(right)
            inner, node = (left, right) if is_left else (right, left)
            place = self._place[question.column]
            name = _harmless(self.columns[place])
            test = _condition(question, f"v[{place}]", left=is_left)
            lines.append(f"{indent}if {test}:  # {name}")
            self._body(inner, indent + "    ", lines)
        if node in self._predictions:
            lines.append(f"{indent}return {self._predictions[node]!r}")
        else:
            self.called.add(node)
            lines.append(f"{indent}return _node_{node}(v)")

    def _size(self, node: int) -> int:
        return 1 if node in self._apart else self._count[node]


def _harmless(text: str) -> str:
    """Keep a name from ending the comment or docstring it is shown in."""
    return text.encode("unicode_escape").decode("ascii").replace('"', "'")


def _condition(question: Question, x: str, *, left: bool) -> str:
    with_missing = question.missing_left == left
    if isinstance(question, Labels):
        mine, rest = (question.left, question.right) if left else (question.right, question.left)
        if question.unseen_left == left:
            test = f"{x} not in {_members(rest)}"
            return test if with_missing else f"{x} is not None and {test}"
        test = f"{x} in {_members(mine)}"
        return f"{x} is None or {test}" if with_missing else test
    spans = question.left if left else question.right
    tests = [_span(x, low, high) for low, high in spans]
    if with_missing:
        return " or ".join([f"{x} is None", *tests])
    inside = " or ".join(tests) if tests else "False"
    return f"{x} is not None and ({inside})" if len(tests) > 1 else f"{x} is not None and {inside}"


def _span(x: str, low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return "True"
    if math.isinf(low):
        return f"{x} <= {high!r}"
    if math.isinf(high):
        return f"{x} > {low!r}"
    return f"{low!r} < {x} <= {high!r}"


def _members(labels: tuple[Any, ...]) -> str:
    """Write a tuple; booleans may also come as the words that files have for them."""
    words = [str(label) for label in labels if isinstance(label, bool)]
    return "(" + "".join(f"{label!r}, " for label in (*labels, *words)).rstrip() + ")"
