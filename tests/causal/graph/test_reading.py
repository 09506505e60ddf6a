"""Graphs from every accepted form, and the errors of what cannot be a graph."""

import itertools
from pathlib import Path

import pytest

import clearwood as cw
from clearwood.causal import Graph


class DiGraph:
    """What is used of a networkx graph, which need not be installed."""

    def __init__(self, edges, attributes=None, *, directed=True):
        self._edges, self._attributes, self._directed = edges, attributes or {}, directed

    def is_directed(self):
        return self._directed

    def nodes(self, *, data):
        names = dict.fromkeys(node for edge in self._edges for node in edge)
        return [(name, self._attributes.get(name, {})) for name in names]

    def edges(self):
        return self._edges


@pytest.mark.parametrize(
    "source",
    [
        "a -> b; b -> c; a -> c",
        "a -> b -> c <- a",
        "{a b} -> c; a -> b",
        "c <- {a, b}\nb <- a  # a comment",
        "a→b→c←a",
        "dag { a -> b -> c a -> c }",
        'dag "name" {\nbb="0,0,1,1"\na [pos="0,1"]\na -> b [pos="1,2"]\nb -> c\na -> c\n}',
        "digraph G { a -> {b; c}; b -> c; }",
        "/* all */ a -> b -> c // more\n a -> c",
        {"a": ["b", "c"], "b": "c"},
        {"a": {"b": {}, "c": {}}, "b": {"c": {}}},
        [("a", "b"), ("b", "c"), ("a", "c")],
        [("a", "->", "b"), ("c", "<-", "b"), ("a", "->", "c")],
        DiGraph([("a", "b"), ("b", "c"), ("a", "c")]),
        Graph("a -> b -> c <- a"),
    ],
)
def test_every_form_gives_the_same_graph(source):
    graph = Graph(source)
    assert graph == Graph("a -> b -> c <- a")
    assert hash(graph) == hash(Graph("a -> b -> c <- a"))
    assert set(graph.edges) == {("a", "b"), ("b", "c"), ("a", "c")}
    assert graph.order == ("a", "b", "c")


def test_marks_of_dagitty_are_kept():
    text = 'dag{ x [exposure] y [o] z [adjusted] u [latent,pos="1,2"] u -> {x y} z -> x -> y }'
    graph = Graph(text)
    assert (graph.exposure, graph.outcome, graph.adjusted) == (("x",), ("y",), ("z",))
    assert graph.hidden == ("u",)
    assert graph.observed == ("x", "y", "z")
    assert not graph.adjustment_sets()
    assert list(Graph("x [exposure]; y [outcome]; x -> y").adjustment_sets()) == [()]


@pytest.mark.parametrize(
    "text",
    [
        "dag { u [latent] u -> x -> y [beta=-0.5]; u -> y [beta = +.3] }",
        'digraph { node [shape=box]; edge [color=red]; u [observed="no"]; u -> {x y}; x -> y }',
        "u [hidden=true, observed=yes] -> {x y}; x [latent=false] -> y",
        "\ufeffu [l] -> {x y}; x -> y",
    ],
)
def test_settings_of_other_programs_make_no_nodes_and_hide_those_they_say(text):
    assert Graph(text) == Graph("u -> x -> y <- u", hidden="u")


def test_hidden_common_causes_with_alike_names_are_two():
    graph = Graph([("a <-> b", "<->", "c"), ("a", "<->", "b <-> c")])
    assert graph.hidden_causes == (("a <-> b", "c"), ("a", "b <-> c"))
    assert not graph.d_separated("a <-> b", "c")
    assert Graph(graph.to_text()) == Graph.from_json(graph.to_json()) == graph


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"nodes": 5, "edges": []}, "document: 5 is not a name"),
        ({"nodes": [["a"]], "edges": []}, "is not a name"),
        ({"nodes": ["a", 1], "edges": []}, "1 is not a name"),
        ({"nodes": ["a"], "edges": [], "hidden": 5}, "5 is not a name"),
        ({"nodes": [], "edges": []}, "no nodes"),
        ({"nodes": ["a", " "], "edges": []}, "empty"),
    ],
)
def test_documents_that_are_no_graph_are_refused(document, said):
    with pytest.raises(cw.InputError, match=said):
        Graph.from_json(document)


def test_further_nodes_need_a_name():
    with pytest.raises(cw.InputError, match="the name of a node is empty"):
        Graph("a -> b", nodes="")


def test_hidden_common_causes_are_hidden_nodes():
    graph = Graph("a <-> b -> c")
    assert graph.nodes == ("a", "b", "c", "a <-> b")
    assert graph.hidden == ("a <-> b",)
    assert graph.hidden_causes == (("a", "b"),)
    assert graph.parents("a") == ("a <-> b",)
    assert graph.paths("a", "c")[0].steps == ("a", "<->", "b", "->", "c")


def test_relatives_are_in_the_order_of_the_graph_and_no_node_is_its_own():
    graph = Graph("a -> b -> c -> d; a -> d")
    assert graph.parents("d") == ("a", "c")
    assert graph.children("a") == ("b", "d")
    assert graph.ancestors("c") == ("a", "b")
    assert graph.descendants("b") == ("c", "d")
    assert graph.descendants(["a", "b"]) == ("c", "d")
    assert "a" in graph
    assert len(graph) == 4


NAMES = [
    "body mass (kg/m²)",
    'say "hi"',
    "back\\slash",
    "a->b",
    "dag",
    "<script>",
    "年齢",
    "x;y",
    "#1",
    "it's",
    "line\nbreak",
    "-1",
    "{",
    "1e300",
    "a b\tc",
    "=",
    "->",
]


def test_any_name_survives_text_and_json():
    edges = list(itertools.pairwise(NAMES))
    graph = Graph([*edges, (NAMES[0], "<->", NAMES[5])], hidden=NAMES[3], nodes="alone")
    assert Graph(graph.to_text()) == graph
    assert Graph.from_json(graph.to_json()) == graph
    assert Graph(graph) == graph
    assert set(Graph(graph.to_text()).nodes) == set(graph.nodes)


def test_files_are_read_by_their_path(tmp_path):
    path = tmp_path / "model.dag"
    path.write_text("\ufeffa -> b", encoding="utf-8")
    assert Graph(path).edges == (("a", "b"),)
    with pytest.raises(cw.InputError, match="cannot be read"):
        Graph(tmp_path / "no.dag")
    with pytest.raises(cw.InputError, match="this is a file"):
        Graph(str(path))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(cw.InputError, match="UTF-8"):
        Graph(Path(tmp_path / "bytes"))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("a -> b -> c -> a", "cycle: a -> b -> c -> a"),
        ("a -> a", "cycle: a -> a"),
        ("x -> a; a -> b -> a; b -> y", "cycle: a -> b -> a"),
        ([("a", "b"), ("b", "a")], "cycle: a -> b -> a"),
        ("a -- b", "mark -- is not supported.*direction"),
        ("a --- b", "is not supported"),
        ("a @-> b", "@-> is not supported.*circles"),
        ("a @-@ b", "circles"),
        ("a - b", "direction"),
        ("a -b", "direction"),
        ("a > b", "direction"),
        ("a ->", "an arrow has no end"),
        ("a -> ; b", "';' stands where a name is expected"),
        ("-> b", "'->' stands where a name is expected"),
        ("{a b -> c", "a brace has no partner"),
        ("a } -> c", "a closing brace has no partner"),
        ("{} -> c", "there is no node between the braces"),
        ("{" * 100 + "a" + "}" * 100, "too deep"),
        ('"a -> b', "a quotation mark has no partner"),
        ("a [latnt]", "'latnt' is not a known mark.*did you mean 'latent'"),
        ("a [selected]", "'selected' is not a known mark"),
        ("a [latent", "a bracket has no partner"),
        ("a -> b [latent]", "brackets at the end of an arrow.*b \\[latent\\]"),
        ("a <-> a", "joins a node with itself"),
        ("a#b -> c", "quote the name"),
        ("pdag { a -> b }", "'pdag' is not supported"),
        ("mag { a -> b }", "'mag' is not supported"),
        ("dag { a -> b } c", "the graph has ended"),
        ('"" -> b', "a name is empty"),
        ("", "the graph has no nodes"),
        ({}, "no nodes"),
        ([("a", "b", "c")], "is not an edge"),
        (["ab"], "'ab' is not an edge"),
        ([("a", None)], "None cannot be the name of a node"),
        ({"a": 1.5}, "not a list of names"),
        ([(1, "1")], "two nodes with one name"),
        (3, "cannot be made from int"),
        (b"a -> b", "cannot be made from bytes"),
        (DiGraph([("a", "b")], directed=False), "no direction"),
        ("y ~ x", "'~' has no meaning here.*quotes"),
        ("a [pos=]", "no value is set to 'pos'"),
    ],
)
def test_what_is_no_graph_is_refused_by_name(source, said):
    with pytest.raises(cw.InputError, match=f"(?s){said}"):
        Graph(source)


def test_the_line_of_a_mistake_is_named():
    with pytest.raises(cw.InputError, match="in line 3"):
        Graph("a -> b\nb -> c\nc -- d\n")


def test_hidden_nodes_of_networkx_are_found():
    graph = Graph(
        DiGraph([("u", "x"), ("v", "x")], {"u": {"hidden": True}, "v": {"observed": "no"}})
    )
    assert graph.hidden == ("u", "v")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda g: g.parents("agee"), "'agee' is not a node of the graph.*did you mean 'age'"),
        (lambda g: g.d_separated("age", "age"), "a and b both have 'age'"),
        (lambda g: g.d_separated("age", "y", given="age"), "a and given both have 'age'"),
        (lambda g: g.d_separated([], "y"), "a names no node"),
        (lambda g: g.d_separated(3, "y"), "3 is not a name"),
        (lambda g: g.d_separated(["age", 3], "y"), "3 is not a name"),
        (lambda g: g.paths("age", "y", limit=0), "limit=0"),
        (lambda g: g.adjustment_sets("age", "y", kind="minimla"), "did you mean 'minimal'"),
        (lambda g: g.adjustment_sets("age", "y", limit=True), "limit=True"),
        (lambda g: g.adjustment_sets("age", "y", include="y"), "both have 'y'"),
        (lambda g: g.adjustment_sets("age", "y", include="z", exclude="z"), "both have 'z'"),
        (lambda g: g.adjustment_sets("age"), "outcome names no node"),
        (lambda g: g.adjustment_sets("age", "y", cost={"z": -1}), "the cost of 'z' is -1"),
        (lambda g: g.adjustment_sets("age", "y", cost={"z": float("inf")}), "exclude"),
        (lambda g: g.adjustment_sets("age", "y", cost={"q": 1}), "'q' is not a node"),
        (lambda g: g.adjustment_sets("age", "y", cost=3), "cost=3"),
        (lambda g: g.independences("some"), "kind='some'"),
        (lambda g: g.do("q"), "'q' is not a node"),
        (lambda g: Graph(g, hidden="q"), "hidden='q'"),
        (lambda g: Graph.from_json({"nodes": []}), "not a graph that to_json wrote"),
    ],
)
def test_questions_that_cannot_be_answered_name_what_is_wrong(call, said):
    with pytest.raises(cw.InputError, match=f"(?s){said}"):
        call(Graph("z -> {age y}; age -> y"))


def test_forbidden_and_hidden_nodes_cannot_be_included():
    graph = Graph("u -> x -> m -> y; u -> y", hidden="u")
    assert "must not be included" in graph.adjustment_sets("x", "y", include="m").reason
    assert "is hidden" in graph.adjustment_sets("x", "y", include="u").reason
    assert "'u' is hidden" in graph.is_valid_adjustment("x", "y", "u").why


def test_costs_of_any_size_choose_the_cheaper_cut():
    graph = Graph("a -> b -> {x y}; a -> x; x -> y; b <- c -> y")
    for scale in (1e-300, 1.0, 1e300):
        cost = {"a": 5 * scale, "b": scale, "c": scale}
        cheapest = graph.adjustment_sets("x", "y", kind="minimum", cost=cost)
        assert len(cheapest) == 1
        assert graph.is_valid_adjustment("x", "y", cheapest[0])


def test_results_have_text_frames_json_and_html():
    graph = Graph("<b> -> x -> y <- <b>".replace("<b>", '"<b>"'))
    for result in (
        graph.adjustment_sets("x", "y"),
        graph.paths("x", "y"),
        graph.independences(),
        graph.is_valid_adjustment("x", "y"),
    ):
        assert str(result)
        assert isinstance(result.to_json(), dict)
        assert result.to_frame("dict")
        assert "<b>" not in result._repr_html_()


def test_a_chain_of_many_nodes_needs_no_recursion():
    names = [f"v{k}" for k in range(1100)]
    graph = Graph(list(itertools.pairwise(names)))
    assert not graph.d_separated("v0", "v1099")
    assert graph.d_separated("v0", "v1099", "v500")
    assert len(graph.paths("v0", "v1099")) == 1
