"""A condensed tree as indented lines."""

from collections.abc import Mapping

from clearwood.condensing.reading.surrogates import drawn, surrogate_lines
from clearwood.condensing.reading.wording import Wording
from clearwood.condensing.tree.condensed_tree import CondensedTree

__all__ = ["to_text"]

_MOST_LINES = 10_000


def to_text(
    condensed: CondensedTree, *, depth: int | None = None, units: Mapping[str, str] | None = None
) -> str:
    """Write the tree as lines for a terminal: the yes branch first, then the no branch.

    Parameters
    ----------
    depth
        How many levels of questions to write; all where it is left out, up to ten thousand lines.
    units
        The unit of each column that has one.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["no", "yes", "no"])
    >>> print(to_text(cw.condense(tree)))
    x0 ≤ 0.5
    ├─ yes: no
    └─ no: x0 ≤ 1.5
       ├─ yes: yes
       └─ no: no
    """
    condensed = drawn(condensed)
    wording = Wording(condensed, units=units)
    diagram = condensed.diagram
    lines: list[str] = []
    # node, what stands before it, what stands before its children, levels above it
    stack = [(0, "", "", 0)]
    while stack:
        node, before, indent, level = stack.pop()
        if len(lines) >= _MOST_LINES:
            lines.append(f"... {condensed.n_leaves:,} leaves in total")
            break
        if diagram.is_leaf[node]:
            lines.append(before + wording.answer(node))
            continue
        if depth is not None and level >= depth:
            lines.append(f"{before}... {diagram.leaf_counts[node]:,} leaves")
            continue
        lines.append(before + wording.question(node))
        left, right = int(diagram.left[node]), int(diagram.right[node])
        stack.append((right, f"{indent}└─ no: ", f"{indent}   ", level + 1))
        stack.append((left, f"{indent}├─ yes: ", f"{indent}│  ", level + 1))
    others = surrogate_lines(condensed)
    if others:
        lines += ["", "Where a value is missing, another split stands in for its own:", *others]
    return "\n".join(lines)
