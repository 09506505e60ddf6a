"""A condensed tree as C source without dependencies."""

import math
from typing import Any

from clearwood._shared.errors import bad_value
from clearwood.condensing.export.common import exported_predictions, warn_of_preparation
from clearwood.condensing.reading.questions import (
    Labels,
    LevelSource,
    Question,
    column_names,
    data_names,
    leaf_values,
    questions,
    sources,
    value_names,
)
from clearwood.condensing.tree.condensed_tree import CondensedTree
from clearwood.forest import Forest, LearnerEncoder

__all__ = ["to_c"]


def to_c(condensed: CondensedTree, *, name: str = "clearwood") -> str:
    """Write C99 source with a function ``<name>_predict``.

    It takes a row of doubles, the user's columns for a learner and else the model's, in the order
    that the first comment lists: NaN for missing values, and for a category what ``<name>_code``
    gives for its label. It returns a number, or for classifiers the position
    of the label in ``<name>_labels``. For a classifier condensed with ``equal="value"``,
    ``<name>_predict_proba`` writes the probabilities of these labels to its second argument, or
    ``<name>_predict_raw`` returns the score where the model's score is not a probability. Equal
    branches are written once, so the source grows with
    ``n_nodes``, not with ``n_leaves``. Do not compile it with options that ignore NaN, such as
    ``-ffast-math``.

    Parameters
    ----------
    name
        What the names in the source start with.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> print(to_c(cw.condense(tree), name="tree").partition("int tree_predict")[2].strip())
    (const double *x) {
      if (x[0] <= 0.5000000298023224) goto n2; else goto n1;
    n1: return 1; /* yes */
    n2: return 0; /* no */
    }
    """
    predictions = exported_predictions(condensed, "C source")
    if not (name.isascii() and name.isidentifier()):
        raise bad_value(
            "name", name, "it cannot start the name of a function in C", hint="try 'tree'."
        )
    classes = condensed.classes
    # a learner's tree asks about the user's columns, as its SQL does
    asked = questions(condensed, encoded=not isinstance(condensed.shell.encoder, LearnerEncoder))
    warn_of_preparation(condensed, asked)
    levels = _levels(condensed.shell)
    shown = f"{condensed.n_leaves:,} leaves, depth {condensed.depth}"
    lines = [
        f"/* {_harmless(condensed.shell.source)} as one tree: {shown};",
        f"   {_harmless(condensed.certificate.statement)}.",
        "",
        "   Columns of a row x, doubles, NaN where missing:",
        *(
            f"   x[{j}]  {_harmless(column)}"
            for j, column in enumerate(data_names(condensed.shell))
        ),
        "*/",
        "#include <string.h>",
        "",
    ]
    if classes is not None:
        position = {label: k for k, label in enumerate(classes.tolist())}
        listed = ", ".join(_string(str(label)) for label in classes.tolist())
        lines += [f"const char *const {name}_labels[] = {{{listed}}};", ""]
    lines += _codes(levels, name)
    names, values = value_names(condensed), leaf_values(condensed)
    leaves: list[tuple[int, tuple[float, ...]]] = []  # position of the label, and the numbers
    sets: dict[tuple[bool, ...], str] = {}
    body: list[str] = []
    diagram = condensed.diagram
    for node, question in enumerate(asked):
        label = "  " if node == 0 else f"n{node}: "
        if question is None:
            prediction = predictions[node]
            if classes is not None:
                k = len(leaves) if names else position[prediction]
                leaves.append((position[prediction], values[node]))
                end = f"return {k}; /* {_harmless(str(prediction))} */"
            else:
                end = f"return {_number(prediction)};"
            body.append(f"{label}{end}")
            continue
        test = _condition(question, levels, sets, name)
        body.append(
            f"{label}if ({test}) goto n{diagram.left[node]}; else goto n{diagram.right[node]};"
        )
    for members, held in sets.items():
        bits = ", ".join(str(int(member)) for member in members)
        lines.append(f"static const unsigned char {held}[] = {{{bits}}};")
    result = "double" if classes is None else "int"
    function = f"static int {name}_leaf" if names else f"{result} {name}_predict"
    lines += ["", f"{function}(const double *x) {{"]
    lines += ["  (void)x;"] * (len(body) == 1)
    lines += [*body, "}", ""]
    if names:
        lines += _of_leaves(leaves, name, is_score=names == ("score",))
    return "\n".join(lines)


def _of_leaves(
    leaves: list[tuple[int, tuple[float, ...]]], name: str, *, is_score: bool
) -> list[str]:
    """Write the label and the numbers of each leaf, and the functions that look them up."""
    width = len(leaves[0][1])
    lines = [f"static const int {name}_label_of_leaf[] = {{"]
    lines += [f"  {position}," for position, _ in leaves]
    lines += ["};", f"static const double {name}_values_of_leaf[][{width}] = {{"]
    lines += [f"  {{{', '.join(map(_number, values))}}}," for _, values in leaves]
    lines += [
        "};",
        "",
        f"int {name}_predict(const double *x) {{",
        f"  return {name}_label_of_leaf[{name}_leaf(x)];",
        "}",
        "",
    ]
    if is_score:
        return [
            *lines,
            "/* The score that decides the label. */",
            f"double {name}_predict_raw(const double *x) {{",
            f"  return {name}_values_of_leaf[{name}_leaf(x)][0];",
            "}",
            "",
        ]
    return [
        *lines,
        f"/* The probability of each label in {name}_labels. */",
        f"void {name}_predict_proba(const double *x, double *probabilities) {{",
        f"  memcpy(probabilities, {name}_values_of_leaf[{name}_leaf(x)],",
        f"         {width} * sizeof(double));",
        "}",
        "",
    ]


def _levels(shell: Forest) -> dict[int, tuple[Any, ...]]:
    """Return the labels of each column of categories in the order of their codes."""
    place = {name: k for k, name in reversed(list(enumerate(column_names(shell))))}
    is_learner = isinstance(shell.encoder, LearnerEncoder)
    held: dict[int, tuple[Any, ...]] = {}
    for j, (source, levels) in enumerate(zip(sources(shell), shell.levels, strict=True)):
        if isinstance(source, LevelSource):
            held[source.column] = source.labels
        elif levels is not None:
            held[place.get(shell.feature_names[j], -1) if is_learner else j] = tuple(levels)
    return held


def _codes(levels: dict[int, tuple[Any, ...]], name: str) -> list[str]:
    """Write the function that gives a label's code; -1 for labels that the model has not seen."""
    lines = [
        "/* The code of a label in column j; -1 where the model has not seen it. */",
        f"double {name}_code(int j, const char *label) {{",
    ]
    for j, labels in levels.items():
        for code, level in enumerate(labels):
            lines.append(
                f"  if (j == {j} && strcmp(label, {_string(str(level))}) == 0) return {code};"
            )
    return [*lines, "  (void)j; (void)label;", "  return -1;", "}", ""]


def _condition(
    question: Question,
    levels: dict[int, tuple[Any, ...]],
    sets: dict[tuple[bool, ...], str],
    name: str,
) -> str:
    """Write when a row goes left."""
    x = f"x[{question.column}]"
    if isinstance(question, Labels):
        left = set(question.left)
        members = tuple(level in left for level in levels[question.column])
        held = sets.setdefault(members, f"{name}_set_{len(sets)}")
        inside = f"{x} >= 0 && {x} < {len(members)}"
        if question.unseen_left != question.missing_left:
            other = f"{x} == {x}" if question.unseen_left else f"{x} != {x}"
            return f"({inside}) ? {held}[(int){x}] : {other}"
        if question.missing_left:
            return f"!({inside}) || {held}[(int){x}]"
        return f"{inside} && {held}[(int){x}]"
    if question.cut is not None and not math.isinf(question.cut):
        # comparisons with NaN are false
        return (
            f"!({x} > {_number(question.cut)})"
            if question.missing_left
            else f"{x} <= {_number(question.cut)}"
        )
    if question.missing_left:
        inside = " || ".join(_span(x, *span) for span in question.right) or "0"
        return f"!({inside})"
    return " || ".join(_span(x, *span) for span in question.left) or "0"


def _span(x: str, low: float, high: float) -> str:
    tests = []
    if not math.isinf(low):
        tests.append(f"{x} > {_number(low)}")
    if not math.isinf(high):
        tests.append(f"{x} <= {_number(high)}")
    if not tests:
        return f"{x} == {x}"
    return f"({' && '.join(tests)})"


def _number(value: float) -> str:
    return repr(float(value))


def _string(text: str) -> str:
    """Write a string literal byte by byte where it is not plain, in UTF-8."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8")
    )
    return f'"{plain}"'


def _harmless(text: str) -> str:
    """Keep a name from ending the comment it is shown in."""
    return text.encode("unicode_escape").decode("ascii").replace("*/", "* /").replace("/*", "/ *")
