"""Causal graphs: d-separation, one minimal adjustment set, beside networkx and DoWhy."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks._harness import Case, Comparison
from clearwood.causal import Graph

Answer = Callable[[], Any]


def comparisons(*, quick: bool) -> list[Comparison]:
    n_nodes = 1_000 if quick else 10_000
    n_edges = 5 * n_nodes
    size = f"{n_nodes:,} nodes, {n_edges:,} arrows"
    return [
        Comparison(
            title=f"6 questions of d-separation, {size}",
            data=lambda: problem(n_nodes, n_edges),
            cases=[
                Case("clearwood", _separations),
                Case("networkx.is_d_separator", _networkx_separations, package="networkx"),
            ],
            promises={"networkx.is_d_separator": 100.0},
        ),
        Comparison(
            title=f"One minimal adjustment set, {size}",
            data=lambda: problem(n_nodes, n_edges),
            cases=[
                Case("clearwood", _minimal_set),
                Case("networkx minimal separator", _networkx_set, package="networkx"),
            ],
            # minimal sets are not unique: what is compared is whether both are valid and minimal
            difference=lambda one, other: _faults(n_nodes, n_edges, one, other),
            promises={"networkx minimal separator": 50.0},
            repeats=3,
        ),
        Comparison(
            title="One minimal adjustment set, 50 nodes, 150 arrows",
            data=lambda: problem(50, 150),
            cases=[
                Case("clearwood", _minimal_set),
                Case("dowhy.identify_backdoor", _dowhy_set, package="dowhy"),
            ],
            difference=lambda one, other: _faults(50, 150, one, other),
        ),
    ]


@dataclass(frozen=True)
class Problem:
    edges: tuple[tuple[str, str], ...]
    graph: Graph
    treatment: str
    outcome: str
    questions: tuple[tuple[str, str, tuple[str, ...]], ...]


@cache
def problem(n_nodes: int, n_edges: int) -> Problem:
    """Make a random graph, questions of separation and an effect; all nodes are observed."""
    random = np.random.default_rng(0)
    ends = np.sort(random.integers(0, n_nodes, (2 * n_edges, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    ends = ends[random.permutation(len(ends))[:n_edges]]
    edges = tuple((f"v{cause}", f"v{effect}") for cause, effect in ends.tolist())
    graph = Graph(edges, nodes=[f"v{k}" for k in range(n_nodes)])
    middle = (f"v{k}" for k in range(n_nodes // 2, n_nodes))
    treatment = next(name for name in middle if graph.children(name) and graph.parents(name))
    outcome = graph.descendants(treatment)[-1]
    questions = []
    for place in range(6):
        a, b, *given = (f"v{k}" for k in random.choice(n_nodes, 25, replace=False))
        if place % 2:  # a node is separated by its parents from what it does not affect
            given = list(graph.parents(a))
            others = set(graph.nodes) - {a, *given, *graph.descendants(a)}
            b = min(others)
        questions.append((a, b, tuple(given)))
    return Problem(edges, graph, treatment, outcome, tuple(questions))


def _separations(data: Problem, _threads: int) -> Answer:
    return lambda: [data.graph.d_separated(a, b, given) for a, b, given in data.questions]


def _networkx_separations(data: Problem, _threads: int) -> Answer:
    import networkx as nx

    graph = _digraph(data, set())
    return lambda: [nx.is_d_separator(graph, {a}, {b}, set(g)) for a, b, g in data.questions]


def _minimal_set(data: Problem, _threads: int) -> Answer:
    return lambda: data.graph.adjustment_sets(data.treatment, data.outcome, limit=1)[0]


def _networkx_set(data: Problem, _threads: int) -> Answer:
    import networkx as nx

    # the criterion is prepared here and not timed: networkx has the separator only
    causal = {*data.graph.descendants(data.treatment)} & {
        *data.graph.ancestors(data.outcome),
        data.outcome,
    }
    forbidden = {*causal, *data.graph.descendants(causal), data.treatment, data.outcome}
    graph = _digraph(data, {(data.treatment, name) for name in causal})
    allowed = set(graph) - forbidden
    return lambda: tuple(
        nx.find_minimal_d_separator(
            graph, data.treatment, data.outcome, restricted=allowed | {data.treatment, data.outcome}
        )
    )


def _dowhy_set(data: Problem, _threads: int) -> Answer:
    from dowhy.causal_identifier import BackdoorAdjustment
    from dowhy.causal_identifier.auto_identifier import identify_backdoor

    graph = _digraph(data, set())
    kind = BackdoorAdjustment.BACKDOOR_MIN

    def found() -> tuple[str, ...]:
        sets = identify_backdoor(
            graph, [data.treatment], [data.outcome], list(graph), backdoor_adjustment=kind
        )
        return min((tuple(one.get_adjustment_variables()) for one in sets), key=len)

    return found


def _digraph(data: Problem, left_out: set[tuple[str, str]]) -> Any:
    import networkx as nx

    graph = nx.DiGraph([edge for edge in data.edges if edge not in left_out])
    graph.add_nodes_from(data.graph.nodes)
    return graph


def _faults(n_nodes: int, n_edges: int, *answers: Any) -> float:
    """Count the sets that are not valid, or of which a node can be left out."""
    data = problem(n_nodes, n_edges)
    faults = 0
    for answer in answers:
        names = tuple(answer)
        if not data.graph.is_valid_adjustment(data.treatment, data.outcome, names):
            faults += 1
            continue
        smaller = (names[:k] + names[k + 1 :] for k in range(len(names)))
        faults += any(
            data.graph.is_valid_adjustment(data.treatment, data.outcome, one) for one in smaller
        )
    return float(faults)
