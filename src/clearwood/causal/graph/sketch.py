"""What a source of a graph states, before it is checked: nodes, arrows and marks of nodes."""

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Sketch", "Word"]

#: What a node can be marked as.
Word = Literal["latent", "exposure", "outcome", "adjusted"]


def _marks() -> dict[Word, dict[str, None]]:
    """Return no node for every mark."""
    return {"latent": {}, "exposure": {}, "outcome": {}, "adjusted": {}}


@dataclass
class Sketch:
    """Nodes in the order in which they are named, arrows between them, and marks of nodes.

    Parameters
    ----------
    nodes
        The names.
    arrows
        Pairs of a cause and an effect.
    shared
        Pairs of nodes with a hidden common cause.
    marked
        The nodes of each mark.
    """

    nodes: dict[str, None] = field(default_factory=dict)
    arrows: dict[tuple[str, str], None] = field(default_factory=dict)
    shared: dict[tuple[str, str], None] = field(default_factory=dict)
    marked: dict[Word, dict[str, None]] = field(default_factory=_marks)

    def add(self, cause: str, effect: str) -> None:
        """Add an arrow and its nodes."""
        self.nodes[cause] = self.nodes[effect] = None
        self.arrows[cause, effect] = None

    def share(self, one: str, other: str) -> None:
        """Add a hidden common cause of two nodes."""
        self.nodes[one] = self.nodes[other] = None
        if (other, one) not in self.shared:
            self.shared[one, other] = None
