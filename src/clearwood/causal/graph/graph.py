"""`Graph`: which columns cause which, and what follows from it."""

from collections.abc import Callable, Mapping, Set
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from clearwood._shared.choices import AdjustmentKind
from clearwood._shared.errors import InputError, unknown_choice
from clearwood.causal.graph.adjustment import (
    AdjustmentSets,
    Validity,
    adjustment_sets,
    validity_of,
)
from clearwood.causal.graph.arrays import Arrays
from clearwood.causal.graph.independences import (
    IndependenceKind,
    Independences,
    independences_of,
)
from clearwood.causal.graph.numbered import Names, NumberedGraph, several
from clearwood.causal.graph.order import causes_first, cycle_in
from clearwood.causal.graph.paths import Paths, paths_between
from clearwood.causal.graph.sketch import Sketch, Word
from clearwood.causal.graph.sources import sketch_of
from clearwood.causal.graph.text import quoted

__all__ = ["Graph"]

#: Under which key JSON has the nodes of each mark.
KEYS: dict[Word, str] = {
    "latent": "hidden",
    "exposure": "exposure",
    "outcome": "outcome",
    "adjusted": "adjusted",
}


class Graph:
    """A directed acyclic graph of causes and effects, some of which may be hidden.

    An arrow `a -> b` says that a may affect b directly; the absence of an arrow says that it does
    not. `a <-> b` says that a and b have a common cause that is not in the data: it becomes a
    hidden node with the name "a <-> b".

    Parameters
    ----------
    source
        Text such as ``"a -> b <- c; {d e} -> f; g <-> h"``, the text of dagitty
        (``dag { … }``, with marks such as ``[latent]``), a dictionary from each node to its
        *effects*, pairs of a cause and an effect, a directed graph of networkx, the path of a text
        file, or another graph.
    hidden
        Nodes that are not in the data.
    nodes
        Further nodes, without arrows.

    Raises
    ------
    InputError
        If the arrows form a cycle (which is named), if a name is not in the graph, or if an edge
        has no direction.

    Notes
    -----
    A node is not its own ancestor or descendant. Effects are ordered in time, or nodes are vectors
    (Hiabu 2024, Example 26): where two columns affect each other, join them in one node.

    Examples
    --------
    >>> import clearwood as cw
    >>> graph = cw.Graph("gender -> {height mileage accidents}; mileage -> accidents")
    >>> graph.parents("accidents")
    ('gender', 'mileage')
    >>> graph.d_separated("height", "accidents", given="gender")
    True
    """

    def __init__(self, source: Any, *, hidden: Names = (), nodes: Names = ()) -> None:
        sketch = source._sketch() if isinstance(source, Graph) else sketch_of(source)  # noqa: SLF001
        sketch.nodes |= dict.fromkeys(several(nodes))
        named = tuple(sketch.nodes)
        for mark in several(hidden):
            if mark not in sketch.nodes:
                raise unknown_choice("hidden", mark, named, what="name")
            sketch.marked["latent"][mark] = None
        self._build(sketch)

    def _build(self, sketch: Sketch) -> None:
        """Number the nodes, add those of hidden common causes and look for cycles."""
        for name in chain(*sketch.marked.values()):
            sketch.nodes.setdefault(name)
        if not sketch.nodes:
            raise InputError(
                "the graph has no nodes",
                parameter="source",
                hint="write arrows, such as 'age -> accidents'.",
            )
        if any(not name.strip() for name in sketch.nodes):
            raise InputError("the name of a node is empty", parameter="nodes", value="")
        self._hidden_causes: dict[str, tuple[str, str]] = {}
        taken = set(sketch.nodes)
        for one, other in sketch.shared:
            name = _shared_name(one, other, taken)
            taken.add(name)
            self._hidden_causes[name] = one, other
        self._nodes = (*sketch.nodes, *self._hidden_causes)
        place = {name: place for place, name in enumerate(self._nodes)}
        hidden = {*sketch.marked["latent"], *self._hidden_causes}
        self._hidden = tuple(name for name in self._nodes if name in hidden)
        self._exposure = tuple(sketch.marked["exposure"])
        self._outcome = tuple(sketch.marked["outcome"])
        self._adjusted = tuple(sketch.marked["adjusted"])
        shared = ((cause, node) for cause, both in self._hidden_causes.items() for node in both)
        places = [(place[cause], place[effect]) for cause, effect in chain(sketch.arrows, shared)]
        ends = np.array(sorted(places), dtype=np.int32).reshape(-1, 2)
        self._arrays = Arrays(
            len(self._nodes), np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])
        )
        self._graph = NumberedGraph(self._nodes, self._arrays, self._hidden, self._hidden_causes)
        order = causes_first(self._arrays)
        if len(order) < len(self._nodes):
            cycle = [self._nodes[node] for node in cycle_in(self._arrays, order)]
            raise InputError(
                f"the arrows form a cycle: {' -> '.join([*cycle, cycle[0]])}",
                parameter="source",
                value=tuple(cycle),
                hint="reverse or remove one of these arrows, or join the columns in one node.",
            )
        self._order = tuple(self._nodes[node] for node in order)

    # What the graph states

    @property
    def nodes(self) -> tuple[str, ...]:
        """All nodes, in the order in which they were named; hidden common causes come last."""
        return self._nodes

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All arrows, as pairs of a cause and an effect."""
        ends = zip(self._arrays.causes.tolist(), self._arrays.effects.tolist(), strict=True)
        return tuple((self._nodes[cause], self._nodes[effect]) for cause, effect in ends)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The nodes that are not in the data."""
        return self._hidden

    @cached_property
    def observed(self) -> tuple[str, ...]:
        """The nodes that are in the data."""
        hidden = set(self._hidden)
        return tuple(name for name in self._nodes if name not in hidden)

    @property
    def order(self) -> tuple[str, ...]:
        """All nodes, causes before their effects."""
        return self._order

    @property
    def hidden_causes(self) -> tuple[tuple[str, str], ...]:
        """The pairs that were joined by `<->`."""
        return tuple(self._hidden_causes.values())

    @property
    def shared_causes(self) -> dict[str, tuple[str, str]]:
        """The hidden nodes that `<->` stands for, each with the pair that it joins."""
        return dict(self._hidden_causes)

    @property
    def exposure(self) -> tuple[str, ...]:
        """The nodes that the text marks as exposure: treatments, where none are named."""
        return self._exposure

    @property
    def outcome(self) -> tuple[str, ...]:
        """The nodes that the text marks as outcome."""
        return self._outcome

    @property
    def adjusted(self) -> tuple[str, ...]:
        """The nodes that the text marks as adjusted for."""
        return self._adjusted

    def parents(self, node: Names) -> tuple[str, ...]:
        """Return the direct causes of a node, or of several without these themselves."""
        return self._around(node, self._arrays.causes_of)

    def children(self, node: Names) -> tuple[str, ...]:
        """Return the direct effects of a node, or of several without these themselves."""
        return self._around(node, self._arrays.effects_of)

    def ancestors(self, node: Names) -> tuple[str, ...]:
        """Return all causes of a node, direct or not; a node is not its own ancestor."""
        start = self._graph.mask("node", node)
        return self._graph.named(self._arrays.above(start) > start)

    def descendants(self, node: Names) -> tuple[str, ...]:
        """Return all effects of a node, direct or not; a node is not its own descendant."""
        start = self._graph.mask("node", node)
        return self._graph.named(self._arrays.below(start) > start)

    # Separation

    def d_separated(self, a: Names, b: Names, given: Names = ()) -> bool:
        """Whether every path between two nodes is blocked by a set (Hiabu 2024, def. 8.0.2).

        If so, a and b are independent given the set in all data that follow the graph. The time
        is linear in the size of the graph.

        Parameters
        ----------
        a, b
            A name, or several.
        given
            The nodes that are conditioned on. Hidden nodes may be among them.

        Examples
        --------
        >>> graph = Graph("x3 -> x1 -> x2 -> x4 <- x3")
        >>> graph.d_separated("x1", "x4", given=["x2", "x3"]), graph.d_separated("x1", "x4")
        (True, False)
        """
        start, end, blocked = self._graph.disjoint(a=a, b=b, given=given)
        return self._arrays.is_separated(start, end, blocked)

    def paths(self, a: Names, b: Names, given: Names = (), *, limit: int = 1000) -> Paths:
        """List the paths between two nodes, each open, or blocked where and by which rule.

        Short paths come first. Two nodes are d-separated if no path is open.

        Parameters
        ----------
        a, b
            A name, or several: then paths lead from one set to the other.
        given
            The nodes that are conditioned on.
        limit
            The most paths that are listed; their number can grow exponentially with the graph.

        Examples
        --------
        >>> graph = Graph("gender -> {height mileage accidents}; mileage -> accidents")
        >>> print(graph.paths("height", "accidents", given="gender"))
        2 paths between height and accidents, 0 open, given gender
          height <- gender -> accidents  blocked: gender is given and no collider (a)
          height <- gender -> mileage -> accidents  blocked: gender is given and no collider (a)
        """
        return paths_between(self._graph, a, b, given, limit)

    # Adjustment

    def adjustment_sets(
        self,
        treatment: Names | None = None,
        outcome: Names | None = None,
        *,
        kind: AdjustmentKind = "minimal",
        include: Names = (),
        exclude: Names = (),
        cost: Mapping[str, float] | None = None,
        limit: int = 100,
    ) -> AdjustmentSets:
        """List sets of columns that identify an effect by adjustment, or why there is none.

        If Z is such a set, the mean of the outcome under do(treatment = x) is the mean over Z of
        its mean given x and Z. That both are defined needs data at every Z that occurs: look for
        values of Z at which the treatment hardly varies.

        Parameters
        ----------
        treatment, outcome
            A name, or several; by default those that the text marks as exposure and outcome.
        kind
            "minimal": all sets of which no node can be left out. "minimum": one of least total
            cost. "all": every valid set. "parents": the causes of the treatments. "optimal": the
            set with the least asymptotic variance in linear models (Henckel et al. 2022).
        include
            Nodes that must be in every set. Sets are then minimal among those that have them.
        exclude
            Nodes that must not be in any. Hidden nodes never are.
        cost
            The cost of nodes for kind="minimum"; 1 for those that are left out.
        limit
            The most sets that are listed; a smallest one is always among them. Their number can
            grow exponentially with the graph; the time between two sets is polynomial.

        Returns
        -------
        AdjustmentSets
            A sequence of tuples, by size and then by names. It is empty if there is no such set;
            `reason` says why.

        Examples
        --------
        >>> graph = Graph("x3 -> x1 -> x2 -> x4 <- x3")
        >>> list(graph.adjustment_sets("x2", "x4"))
        [('x1',), ('x3',)]
        >>> list(graph.adjustment_sets("x2", "x4", kind="optimal"))
        [('x3',)]
        >>> print(graph.adjustment_sets("x1", "x4", exclude="x3").reason)
        no permitted set blocks the path x1 <- x3 -> x4
        """
        return adjustment_sets(
            self._graph,
            self._exposure if treatment is None else treatment,
            self._outcome if outcome is None else outcome,
            kind=kind,
            include=include,
            exclude=exclude,
            cost=cost,
            limit=limit,
        )

    def is_valid_adjustment(self, treatment: Names, outcome: Names, given: Names = ()) -> Validity:
        """Check whether a set identifies an effect by adjustment (complete criterion).

        Returns
        -------
        Validity
            True or false, with the reason in `why`.

        Examples
        --------
        >>> graph = Graph("x3 -> x1 -> x2 -> x4 <- x3")
        >>> print(graph.is_valid_adjustment("x1", "x4"))
        {} is not valid for the effect of x1 on x4: the path x1 <- x3 -> x4 is open and not causal
        """
        return validity_of(self._graph, treatment, outcome, given)

    def independences(
        self, kind: IndependenceKind = "minimal", *, limit: int = 1000
    ) -> Independences:
        """List the independences that the graph implies for observed columns.

        Parameters
        ----------
        kind
            "minimal": for each pair of columns that some set of observed columns separates, one
            smallest such set. "all": all minimal sets of each pair.
        limit
            The most independences that are listed.

        Examples
        --------
        >>> graph = Graph("gender -> {height mileage accidents}; mileage -> accidents")
        >>> print(graph.independences())
        2 independences
          height ⊥ mileage | gender
          height ⊥ accidents | gender
        """
        return independences_of(self._graph, kind, limit)

    def do(self, *nodes: str) -> "Graph":
        """Return the graph after interventions, which remove all arrows into the nodes.

        Examples
        --------
        >>> Graph("z -> x -> y; z -> y").do("x").edges
        (('z', 'y'), ('x', 'y'))
        """
        fixed = {self._nodes[place] for place in self._graph.places("nodes", nodes)}
        sketch = self._sketch()
        sketch.arrows = {edge: None for edge in sketch.arrows if edge[1] not in fixed}
        for one, other in list(sketch.shared):
            if one in fixed or other in fixed:
                # the cause still affects the other one, of which it is then a cause of its own
                del sketch.shared[one, other]
        made = object.__new__(Graph)
        made._build(sketch)
        return made

    # Text and JSON

    def to_text(self) -> str:
        """Return the graph as text that `Graph` reads.

        Examples
        --------
        >>> print(Graph("a -> {b c} <- d; a <-> d", hidden="c", nodes="e").to_text())
        a -> {b c}
        d -> {b c}
        a <-> d
        e
        c [latent]
        """
        sketch = self._sketch()
        effects: dict[str, list[str]] = {}
        for cause, effect in sketch.arrows:
            effects.setdefault(cause, []).append(quoted(effect))
        lines = [
            f"{quoted(cause)} -> {some[0] if len(some) == 1 else '{' + ' '.join(some) + '}'}"
            for cause, some in effects.items()
        ]
        lines += [f"{quoted(one)} <-> {quoted(other)}" for one, other in sketch.shared]
        joined = {name for pair in chain(sketch.arrows, sketch.shared) for name in pair}
        marks: dict[str, list[str]] = {name: [] for name in sketch.nodes if name not in joined}
        for mark, marked in sketch.marked.items():
            for name in marked:
                marks.setdefault(name, []).append(mark)
        lines += [
            f"{quoted(name)} [{', '.join(some)}]" if some else quoted(name)
            for name, some in marks.items()
        ]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the graph as plain JSON values, which `Graph.from_json` reads.

        Examples
        --------
        >>> Graph("a -> b <-> c").to_json()["edges"]
        [['a', '->', 'b'], ['b', '<->', 'c']]
        """
        sketch = self._sketch()
        edges = [[cause, "->", effect] for cause, effect in sketch.arrows]
        edges += [[one, "<->", other] for one, other in sketch.shared]
        marks = {KEYS[mark]: list(marked) for mark, marked in sketch.marked.items()}
        return {"nodes": list(sketch.nodes), "edges": edges, **marks}

    @classmethod
    def from_json(cls, document: Any) -> "Graph":
        """Return the graph that `to_json` wrote.

        Examples
        --------
        >>> graph = Graph("a -> b <-> c")
        >>> Graph.from_json(graph.to_json()) == graph
        True
        """
        if not isinstance(document, Mapping) or not {"nodes", "edges"} <= document.keys():
            raise InputError(
                "the document is not a graph that to_json wrote",
                parameter="document",
                value=document,
                hint="it has 'nodes' and 'edges'.",
            )
        sketch = sketch_of(document["edges"])
        listed = several(document["nodes"], "document")
        sketch.nodes = dict.fromkeys([*listed, *sketch.nodes])
        for mark, key in KEYS.items():
            sketch.marked[mark] |= dict.fromkeys(several(document.get(key, ()), "document"))
        made = object.__new__(cls)
        made._build(sketch)
        return made

    def plot(self, *, treatment: Names = (), outcome: Names = (), given: Names = ()) -> Any:
        """Draw the graph, causes on the left, hidden nodes and common causes dashed (Altair).

        Parameters
        ----------
        treatment, outcome, given
            Nodes to mark by a colour; by default those that the text marks.
        """
        from clearwood.plot import plot_graph

        marked = {"treatment": treatment, "outcome": outcome, "given": given}
        return plot_graph(self, **{key: self._checked(key, some) for key, some in marked.items()})

    def to_svg(self, *, treatment: Names = (), outcome: Names = (), given: Names = ()) -> str:
        """Return a picture of the graph that a page can hold as it is.

        Parameters
        ----------
        treatment, outcome, given
            Nodes to mark by a colour; by default those that the text marks.
        """
        from clearwood.plot import graph_svg

        marked = {"treatment": treatment, "outcome": outcome, "given": given}
        return graph_svg(self, **{key: self._checked(key, some) for key, some in marked.items()})

    def _checked(self, parameter: str, names: Names) -> tuple[str, ...]:
        """Return names of nodes, which must be in the graph."""
        return self._graph.named(self._graph.mask(parameter, names))

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        """What makes two graphs equal: nodes, arrows and marks, in any order."""
        sketch = self._sketch()
        shared = frozenset(frozenset(pair) for pair in sketch.shared)
        marks = tuple(frozenset(marked) for marked in sketch.marked.values())
        return frozenset(sketch.nodes), frozenset(sketch.arrows), shared, marks

    def __repr__(self) -> str:
        return f"Graph({'; '.join(self.to_text().splitlines())!r})"

    def __str__(self) -> str:
        return self.to_text()

    def __contains__(self, name: object) -> bool:
        return name in self._graph.place

    def __len__(self) -> int:
        return len(self._nodes)

    def _sketch(self) -> Sketch:
        """Return what the graph states, for another one to be made of."""
        sketch = Sketch()
        named = [name for name in self._nodes if name not in self._hidden_causes]
        sketch.nodes = dict.fromkeys(named)
        sketch.arrows = {edge: None for edge in self.edges if edge[0] not in self._hidden_causes}
        sketch.shared = dict.fromkeys(self._hidden_causes.values())
        hidden = [name for name in self._hidden if name not in self._hidden_causes]
        sketch.marked["latent"] = dict.fromkeys(hidden)
        sketch.marked["exposure"] = dict.fromkeys(self._exposure)
        sketch.marked["outcome"] = dict.fromkeys(self._outcome)
        sketch.marked["adjusted"] = dict.fromkeys(self._adjusted)
        return sketch

    def _around(self, node: Names, neighbours: Callable[[int], list[int]]) -> tuple[str, ...]:
        """Return the neighbours of nodes in one direction."""
        places = self._graph.places("node", node)
        around = {to for place in places for to in neighbours(place)} - set(places)
        return tuple(self._nodes[place] for place in sorted(around))


def _shared_name(one: str, other: str, taken: Set[str]) -> str:
    """Name the hidden common cause of two nodes."""
    name = f"{one} <-> {other}"
    while name in taken:
        name += "'"
    return name
