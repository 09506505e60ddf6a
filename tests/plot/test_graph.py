"""Pictures of causal graphs: readable with thirty nodes, safe with any name."""

import json
from itertools import combinations, pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from clearwood.causal import Graph
from clearwood.plot import graph_svg, plot_graph
from clearwood.plot.graph_layout import HEIGHT, layout_of

HOSTILE = [
    '<script>alert("1")</script>',
    "a & b",
    "'quoted'",
    "line\nbreak",
    "nul\x00",
    "年齢" * 20,
]


def random_graph(n, seed, density=0.1):
    random = np.random.default_rng(seed)
    names = [f"column {'x' * int(random.integers(0, 20))} {k}" for k in range(n)]
    edges = [
        (names[i], names[j]) for i, j in combinations(range(n), 2) if random.random() < density
    ]
    return Graph([*edges, (names[0], "<->", names[n // 2])], nodes=names, hidden=names[1])


@pytest.mark.parametrize("seed", range(5))
def test_boxes_of_thirty_nodes_do_not_overlap_and_arrows_lead_to_the_right(seed):
    graph = random_graph(30, seed)
    layout = layout_of(graph)
    assert {box.name for box in layout.boxes} == set(graph.nodes) - {graph.hidden[-1]}
    for one, other in combinations(layout.boxes, 2):
        apart_across = one.right < other.left or other.right < one.left
        assert apart_across or abs(one.y - other.y) >= HEIGHT
    for box in layout.boxes:
        assert 0 <= box.left < box.right <= layout.width
        assert HEIGHT / 2 <= box.y <= layout.height - HEIGHT / 2
    boxes = {box.name: box for box in layout.boxes}
    for line in layout.lines:
        if not line.is_shared:
            across = [x for x, _ in line.points]
            assert across == sorted(across)
            # what an arrow passes is not a box
            for x, y in line.points[1:-1]:
                assert not any(
                    box.left <= x <= box.right and abs(box.y - y) < HEIGHT / 2
                    for box in boxes.values()
                )


def test_orders_of_layers_have_fewer_crossings_than_the_order_of_names():
    # two chains whose effects are named in the opposite order
    graph = Graph("a -> y1; b -> y2; c -> y3", nodes=["y3", "y2", "y1"])
    mixed = Graph({"y3": [], "y2": [], "y1": [], "a": ["y1"], "b": ["y2"], "c": ["y3"]})
    for one in (graph, mixed):
        boxes = {box.name: box for box in layout_of(one).boxes}
        for cause, effect in one.edges:
            assert boxes[cause].y == pytest.approx(boxes[effect].y, abs=1e-6)


def test_svg_is_valid_and_holds_hostile_names_as_text_only():
    edges = [(one, other) for one, other in pairwise(HOSTILE)]
    graph = Graph([*edges, (HOSTILE[0], "<->", HOSTILE[2])], hidden=HOSTILE[4])
    picture = graph_svg(graph, treatment=[HOSTILE[0]], outcome=[HOSTILE[1]], given=[HOSTILE[2]])
    tree = ET.fromstring(picture)
    assert not [node for node in tree.iter() if node.tag.endswith("script")]
    titles = [node.text for node in tree.iter() if node.tag.endswith("title")]
    assert titles[:3] == HOSTILE[:3]
    assert len(titles) == len(HOSTILE)
    assert "<script" not in picture


def test_figures_have_every_node_and_say_what_is_dashed():
    graph = Graph("z -> x -> y <- z; x <-> y; u -> y", hidden="u")
    document = plot_graph(graph, treatment=["x"], outcome=["y"]).to_dict()
    assert document["title"]["text"] == "4 nodes, 4 arrows"
    assert document["title"]["subtitle"] == ["dashed: hidden"]
    written = json.dumps(document)
    assert all(f'"label": "{name}"' in written for name in "xyzu")
    assert "z -> " in document["description"]


@pytest.mark.parametrize("text", ["a", "a b", "a -> b", "a <-> b"])
def test_small_graphs_can_be_drawn(text):
    graph = Graph(text)
    ET.fromstring(graph.to_svg())
    assert graph.plot().to_dict()["title"]


def test_marked_nodes_must_be_in_the_graph():
    with pytest.raises(ValueError, match="treatment: 'q' is not a node"):
        Graph("a -> b").plot(treatment="q")


def test_nodes_without_arrows_are_below_the_others():
    graph = Graph("a -> {x y}; b -> y; c; d <-> x; e", nodes=["f"])
    first = {box.name: box.y for box in layout_of(graph).boxes if box.name in "abcdef"}
    assert max(first[name] for name in "abd") < min(first[name] for name in "cef")
