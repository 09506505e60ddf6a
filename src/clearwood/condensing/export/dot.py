"""A condensed tree in the DOT language of Graphviz."""

from clearwood.condensing.reading.wording import Wording, too_large
from clearwood.condensing.tree.condensed_tree import CondensedTree

__all__ = ["to_dot"]

_MOST_NODES = 20_000


def to_dot(condensed: CondensedTree) -> str:
    """Write the diagram, with equal branches drawn once, as a graph for Graphviz.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> print(to_dot(cw.condense(tree)))
    digraph "condensed tree" {
      node [shape=box, fontname="sans-serif"];
      n0 [label="x0 ≤ 0.5"];
      n0 -> n2 [label="yes"];
      n0 -> n1 [label="no"];
      n1 [label="yes", style=rounded];
      n2 [label="no", style=rounded];
    }
    """
    diagram = condensed.diagram
    if diagram.n_nodes > _MOST_NODES:
        raise too_large(
            f"{diagram.n_nodes:,} nodes; graphs have up to {_MOST_NODES:,}", "or read its rules"
        )
    wording = Wording(condensed)
    lines = ['digraph "condensed tree" {', '  node [shape=box, fontname="sans-serif"];']
    for node in range(diagram.n_nodes):
        if diagram.is_leaf[node]:
            lines.append(f"  n{node} [label={_quoted(wording.answer(node))}, style=rounded];")
            continue
        lines.append(f"  n{node} [label={_quoted(wording.question(node))}];")
        lines.append(f'  n{node} -> n{diagram.left[node]} [label="yes"];')
        lines.append(f'  n{node} -> n{diagram.right[node]} [label="no"];')
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
