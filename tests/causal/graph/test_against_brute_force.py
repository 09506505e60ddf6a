"""Separation and adjustment against brute force, regressions and worked examples."""

from itertools import chain, combinations, pairwise

import numpy as np
import pytest

from clearwood.causal import Graph


def random_graph(random, n=None, *, density=None, hidden=True):
    """Make a graph whose order of causes is not that of its names; some nodes are hidden."""
    n = int(random.integers(2, 8)) if n is None else n
    density = random.uniform(0.15, 0.7) if density is None else density
    order = random.permutation(n)
    edges = [
        (f"v{order[i]}", f"v{order[j]}")
        for i in range(n)
        for j in range(i + 1, n)
        if random.random() < density
    ]
    names = [f"v{k}" for k in range(n)]
    unseen = [name for name in names if hidden and random.random() < 0.2]
    return Graph(edges, nodes=names, hidden=unseen)


def subsets(names):
    """Give all subsets."""
    names = list(names)
    return chain.from_iterable(combinations(names, size) for size in range(len(names) + 1))


def is_separated_in_moral_graph(edges, a, b, given):
    """Separation in the moral graph of the ancestors (Lauritzen et al. 1990)."""
    ancestral = {a, b, *given}
    while more := {cause for cause, effect in edges if effect in ancestral} - ancestral:
        ancestral |= more
    kept = [(cause, effect) for cause, effect in edges if {cause, effect} <= ancestral]
    joined = {frozenset(edge) for edge in kept}
    joined |= {
        frozenset((one, other)) for one, x in kept for other, y in kept if x == y and one != other
    }
    seen, stack = {a}, [a]
    while stack:
        node = stack.pop()
        for pair in joined:
            if node in pair:
                (other,) = pair - {node}
                if other not in seen and other not in given:
                    seen.add(other)
                    stack.append(other)
    return b not in seen


def simple_paths(edges, a, b):
    """Give all paths as lists of nodes."""
    near = {}
    for cause, effect in edges:
        near.setdefault(cause, set()).add(effect)
        near.setdefault(effect, set()).add(cause)

    def walk(path):
        if path[-1] == b:
            yield path
            return
        for node in sorted(near.get(path[-1], ())):
            if node not in path:
                yield from walk([*path, node])

    return list(walk([a]))


def descendants(edges, node):
    """Return all effects of a node."""
    found, stack = set(), [node]
    while stack:
        at = stack.pop()
        for cause, effect in edges:
            if cause == at and effect not in found:
                found.add(effect)
                stack.append(effect)
    return found


def is_blocked(edges, path, given):
    """Definition 8.0.2, word for word."""
    edges = set(edges)
    for left, node, right in zip(path, path[1:], path[2:], strict=False):
        is_collider = (left, node) in edges and (right, node) in edges
        if not is_collider and node in given:
            return True
        if is_collider and not ({node} | descendants(edges, node)) & set(given):
            return True
    return False


def is_valid_by_paths(edges, treatment, outcome, given):
    """The adjustment criterion by enumeration of all proper paths (Shpitser et al. 2010)."""
    edges = set(edges)
    for x in treatment:
        for y in outcome:
            for path in simple_paths(edges, x, y):
                if set(path[1:]) & set(treatment):
                    continue  # not proper
                is_causal = all(pair in edges for pair in pairwise(path))
                if is_causal:
                    reach = set(path[1:]).union(*(descendants(edges, k) for k in path[1:]))
                    if reach & set(given):
                        return False
                elif not is_blocked(edges, path, given):
                    return False
    return True


@pytest.fixture
def random():
    """A generator with a fixed seed."""
    return np.random.default_rng(16)


# Separation


def test_three_ways_of_separation_agree(random):
    open_ones = 0
    for _ in range(250):
        graph = random_graph(random)
        a, b = random.choice(graph.nodes, 2, replace=False)
        rest = [name for name in graph.nodes if name not in {a, b}]
        given = [name for name in rest if random.random() < 0.4]
        by_paths = all(
            is_blocked(graph.edges, path, given) for path in simple_paths(graph.edges, a, b)
        )
        assert graph.d_separated(a, b, given) == by_paths
        assert is_separated_in_moral_graph(graph.edges, a, b, given) == by_paths
        open_ones += not by_paths
    assert 50 < open_ones < 200  # both answers occur often


def test_sets_are_separated_if_all_their_members_are(random):
    for _ in range(60):
        graph = random_graph(random, 6)
        names = random.permutation(graph.nodes)
        a, b, given = names[:2], names[2:4], names[4:5]
        each = all(graph.d_separated(x, y, given) for x in a for y in b)
        assert graph.d_separated(a, b, given) == each


def test_paths_are_those_of_the_skeleton_with_the_rule_that_blocks_them(random):
    for _ in range(80):
        graph = random_graph(random)
        a, b = random.choice(graph.nodes, 2, replace=False)
        given = [name for name in graph.nodes if name not in {a, b} and random.random() < 0.4]
        listed = graph.paths(a, b, given)
        expected = {tuple(path) for path in simple_paths(graph.edges, a, b)}
        assert {path.nodes for path in listed} == expected
        assert len(listed) == len(expected)
        lengths = [len(path.nodes) for path in listed]
        assert lengths == sorted(lengths)
        for path in listed:
            assert path.is_open != is_blocked(graph.edges, path.nodes, given)
            for block in path.blocks:
                at = path.nodes.index(block.node)
                left, right = path.nodes[at - 1], path.nodes[at + 1]
                edges = set(graph.edges)
                is_collider = {(left, block.node), (right, block.node)} <= edges
                assert block.rule == ("b" if is_collider else "a")
        assert graph.d_separated(a, b, given) == (not listed.open)


def test_limited_paths_are_the_shortest(random):
    graph = random_graph(random, 8, density=0.9, hidden=False)
    everything = graph.paths("v0", "v1")
    some = graph.paths("v0", "v1", limit=5)
    assert not some.is_complete
    assert [len(path.nodes) for path in some] == [len(path.nodes) for path in everything][:5]


# Adjustment


def problem(random, *, several=False, **options):
    """Draw a graph, treatments and outcomes, which are observed."""
    while True:
        graph = random_graph(random, **options)
        if len(graph.observed) < 4:
            continue
        names = random.permutation(graph.observed).tolist()
        size = int(random.integers(1, 3)) if several else 1
        return graph, names[:size], names[size : 2 * size]


def test_validity_is_that_of_all_proper_paths(random):
    valid = 0
    for _ in range(200):
        graph, treatment, outcome = problem(random, several=True)
        rest = [name for name in graph.observed if name not in {*treatment, *outcome}]
        for given in subsets(rest):
            expected = is_valid_by_paths(graph.edges, treatment, outcome, given)
            found = graph.is_valid_adjustment(treatment, outcome, given)
            assert bool(found) == expected, (graph, treatment, outcome, given)
            valid += expected
            if found.path:
                nodes = found.path[::2]
                assert not is_blocked(graph.edges, nodes, given)
                arrows = ["->" if pair in graph.edges else "<-" for pair in pairwise(nodes)]
                assert list(found.path[1::2]) == arrows
    assert valid > 200


def test_listed_sets_are_those_of_all_subsets(random):
    empty = 0
    for _ in range(150):
        graph, treatment, outcome = problem(random, several=True)
        rest = [name for name in graph.observed if name not in {*treatment, *outcome}]
        valid = {
            frozenset(given)
            for given in subsets(rest)
            if is_valid_by_paths(graph.edges, treatment, outcome, given)
        }
        minimal = {one for one in valid if not any(other < one for other in valid)}
        listed = graph.adjustment_sets(treatment, outcome)
        assert {frozenset(one) for one in listed} == minimal, (graph, treatment, outcome)
        assert len(listed) == len(minimal)
        every = graph.adjustment_sets(treatment, outcome, kind="all", limit=1000)
        assert {frozenset(one) for one in every} == valid
        assert len(every) == len(valid)
        least = graph.adjustment_sets(treatment, outcome, kind="minimum")
        assert len(least) == min(1, len(valid))
        if valid:
            assert len(least[0]) == min(map(len, valid))
        else:
            empty += 1
            assert listed.reason
            assert not listed
            assert every.reason == listed.reason
            # the path that is shown is open given everything that may be adjusted for
            assert listed.path
    assert empty > 20


def test_included_and_excluded_nodes_restrict_the_minimal_sets(random):
    for _ in range(120):
        graph, treatment, outcome = problem(random)
        rest = [name for name in graph.observed if name not in {*treatment, *outcome}]
        include = [name for name in rest if random.random() < 0.3]
        exclude = [name for name in rest if name not in include and random.random() < 0.3]
        valid = {
            frozenset(given)
            for given in subsets(rest)
            if set(include) <= set(given)
            and not set(exclude) & set(given)
            and is_valid_by_paths(graph.edges, treatment, outcome, given)
        }
        minimal = {one for one in valid if not any(other < one for other in valid)}
        listed = graph.adjustment_sets(treatment, outcome, include=include, exclude=exclude)
        assert {frozenset(one) for one in listed} == minimal, (graph, treatment, outcome)
        every = graph.adjustment_sets(
            treatment, outcome, include=include, exclude=exclude, kind="all", limit=1000
        )
        assert {frozenset(one) for one in every} == valid


def test_minimum_sets_have_the_least_cost_of_all_subsets(random):
    for _ in range(120):
        graph, treatment, outcome = problem(random)
        rest = [name for name in graph.observed if name not in {*treatment, *outcome}]
        cost = {name: float(random.choice([0, 0.1, 0.3, 1, 2.5])) for name in rest}
        prices = [
            sum(cost[name] for name in given)
            for given in subsets(rest)
            if is_valid_by_paths(graph.edges, treatment, outcome, given)
        ]
        least = graph.adjustment_sets(treatment, outcome, kind="minimum", cost=cost)
        assert bool(least) == bool(prices)
        if prices:
            assert least.costs[0] == pytest.approx(min(prices), abs=1e-12)


def test_small_sets_come_first_and_a_limit_says_that_there_are_more(random):
    graph = Graph([(f"z{k}", end) for k in range(8) for end in ("x", "y")] + [("x", "y")])
    graph = Graph(graph, nodes=[f"w{k}" for k in range(6)])
    listed = graph.adjustment_sets("x", "y", kind="all", limit=8)
    assert [len(one) for one in listed] == [8, 9, 9, 9, 9, 9, 9, 10]
    assert not listed.is_complete
    assert graph.adjustment_sets("x", "y", kind="all", limit=64).is_complete


def test_a_limited_list_of_minimal_sets_has_a_smallest_one():
    # the sets nearest to the treatment, which come first, are the large ones
    arrows = [(f"z{k}", "x") for k in range(8)]
    arrows += [(f"w{k // 2}", f"z{k}") for k in range(8)]
    arrows += [("v", f"w{k}") for k in range(4)]
    graph = Graph([*arrows, ("v", "y"), ("x", "y")])
    assert len(graph.adjustment_sets("x", "y")) == 2**4 + 1
    for limit in (1, 5):
        listed = graph.adjustment_sets("x", "y", limit=limit)
        assert listed[0] == ("v",)
        assert len({*listed}) == limit
        assert not listed.is_complete
        assert all(graph.is_valid_adjustment("x", "y", one) for one in listed)


def linear_model(random, graph):
    """Draw coefficients, and return the covariance of all nodes and the total effects."""
    n = len(graph.nodes)
    place = {name: k for k, name in enumerate(graph.nodes)}
    matrix = np.zeros((n, n))
    for cause, effect in graph.edges:
        matrix[place[effect], place[cause]] = random.uniform(0.5, 1.5) * random.choice([-1, 1])
    totals = np.linalg.inv(np.eye(n) - matrix)
    noise = np.diag(random.uniform(0.5, 2.0, n))
    return place, totals @ noise @ totals.T, matrix


def regression(covariance, place, treatment, outcome, given):
    """Coefficient of the treatment in the regression of the outcome on it and a set."""
    columns = [place[treatment], *(place[name] for name in given)]
    among = covariance[np.ix_(columns, columns)]
    return np.linalg.solve(among, covariance[columns, place[outcome]])[0]


def test_regression_has_the_effect_exactly_with_valid_sets(random):
    checked = {True: 0, False: 0}
    for _ in range(120):
        graph, (treatment,), (outcome,) = problem(random)
        place, covariance, matrix = linear_model(random, graph)
        cut = matrix.copy()
        cut[place[treatment]] = 0
        effect = np.linalg.inv(np.eye(len(cut)) - cut)[place[outcome], place[treatment]]
        rest = [name for name in graph.observed if name not in {treatment, outcome}]
        for given in subsets(rest):
            right = abs(regression(covariance, place, treatment, outcome, given) - effect) < 1e-9
            valid = bool(graph.is_valid_adjustment(treatment, outcome, given))
            # what is not valid misses for almost all coefficients
            assert right == valid, (graph, treatment, outcome, given)
            checked[valid] += 1
    assert min(checked.values()) > 100


def test_optimal_sets_have_the_least_asymptotic_variance(random):
    found = 0
    for _ in range(300):
        graph, (treatment,), (outcome,) = problem(random, hidden=False)
        optimal = graph.adjustment_sets(treatment, outcome, kind="optimal")
        valid = graph.adjustment_sets(treatment, outcome, kind="all", limit=1000)
        has_effect = outcome in graph.descendants(treatment)
        assert bool(optimal) == (has_effect and bool(valid))
        if not optimal:
            continue
        found += 1
        place, covariance, _ = linear_model(random, graph)

        def variance(given, place=place, covariance=covariance, of=(treatment, outcome)):
            x, y = place[of[0]], place[of[1]]
            others = [place[name] for name in given]
            return residual(covariance, y, [x, *others]) / residual(covariance, x, others)

        least = variance(optimal[0])
        assert optimal[0] in list(valid)
        assert all(least <= variance(one) + 1e-9 for one in valid)
    assert found > 40


def residual(covariance, of, given):
    """Variance of a node given others."""
    if not given:
        return covariance[of, of]
    among = covariance[np.ix_(given, given)]
    return covariance[of, of] - covariance[of, given] @ np.linalg.solve(
        among, covariance[given, of]
    )


def test_parents_are_a_valid_set_unless_one_is_hidden_or_the_outcome(random):
    for _ in range(100):
        graph, (treatment,), (outcome,) = problem(random)
        parents = graph.parents(treatment)
        listed = graph.adjustment_sets(treatment, outcome, kind="parents")
        is_usable = outcome not in parents and not set(parents) & set(graph.hidden)
        assert list(listed) == ([parents] if is_usable else [])
        assert is_usable or listed.reason


# Laws


def test_valid_sets_do_not_depend_on_names_order_or_childless_nodes(random):
    for _ in range(60):
        graph, (treatment,), (outcome,) = problem(random)
        sets = {
            frozenset(one)
            for one in graph.adjustment_sets(treatment, outcome, kind="all", limit=1000)
        }
        edges = random.permutation(graph.edges).tolist() if graph.edges else []
        mixed = Graph([tuple(edge) for edge in edges], nodes=graph.nodes, hidden=graph.hidden)
        again = mixed.adjustment_sets(treatment, outcome, kind="all", limit=1000)
        assert {frozenset(one) for one in again} == sets
        new = {name: f"n {k} é" for k, name in enumerate(random.permutation(graph.nodes).tolist())}
        renamed = Graph(
            [(new[a], new[b]) for a, b in graph.edges],
            nodes=new.values(),
            hidden=[new[name] for name in graph.hidden],
        )
        other = renamed.adjustment_sets(new[treatment], new[outcome], kind="all", limit=1000)
        assert {frozenset(one) for one in other} == {frozenset(new[k] for k in one) for one in sets}
        more = Graph(graph, nodes="new")
        causes = [(name, "new") for name in graph.nodes if random.random() < 0.5]
        more = Graph([*graph.edges, *causes], nodes=more.nodes, hidden=graph.hidden)
        minimal = {frozenset(one) for one in graph.adjustment_sets(treatment, outcome)}
        assert {frozenset(one) for one in more.adjustment_sets(treatment, outcome)} == minimal


def test_hidden_common_causes_act_as_hidden_nodes(random):
    for _ in range(40):
        graph = random_graph(random, 5, hidden=False)
        one, other = random.choice(graph.nodes, 2, replace=False)
        by_arrow = Graph([*graph.edges, (one, "<->", other)], nodes=graph.nodes)
        by_node = Graph([*graph.edges, ("u", one), ("u", other)], nodes=graph.nodes, hidden="u")
        for a in graph.nodes:
            for b in graph.nodes:
                if a != b:
                    assert list(by_arrow.adjustment_sets(a, b)) == list(
                        by_node.adjustment_sets(a, b)
                    )
                    assert by_arrow.d_separated(a, b) == by_node.d_separated(a, b)


def test_interventions_make_their_nodes_independent_of_what_they_do_not_cause(random):
    for _ in range(60):
        graph = random_graph(random)
        node = random.choice(graph.nodes)
        after = graph.do(node)
        assert after.parents(node) == ()
        assert after.descendants(node) == graph.descendants(node)
        for other in set(graph.nodes) - {node, *graph.descendants(node)}:
            assert after.d_separated(node, other)


# Worked examples (Hiabu 2024, Examples 25 and 26)


def test_example_25():
    graph = Graph({"X3": ["X1", "X4"], "X1": ["X2"], "X2": ["X4"]})
    assert graph.order == ("X3", "X1", "X2", "X4")
    assert list(graph.adjustment_sets("X1", "X4")) == [("X3",)]
    assert list(graph.adjustment_sets("X2", "X4")) == [("X1",), ("X3",)]
    assert list(graph.adjustment_sets("X2", "X4", kind="optimal")) == [("X3",)]
    assert graph.d_separated("X1", "X4", ["X2", "X3"])
    assert graph.d_separated("X2", "X3", "X1")
    assert not graph.d_separated("X1", "X4", "X2")


def test_example_26_confounding_inside_a_vector_does_not_matter():
    graph = Graph("W -> {M1 M2 Y}; {M1 M2} -> Y; M1 <-> M2")
    assert list(graph.adjustment_sets(["M1", "M2"], "Y")) == [("W",)]
    assert list(graph.adjustment_sets("M1", "Y", include="W")) == [("W", "M2")]


def test_an_outcome_that_causes_the_treatment_gives_the_reason_and_no_set():
    graph = Graph("y -> x; z -> {x y}")
    for kind in ("parents", "optimal", "minimal", "minimum", "all"):
        listed = graph.adjustment_sets("x", "y", kind=kind)
        assert not listed
        assert "has no effect" in listed.reason
    assert "the effect is zero" in graph.adjustment_sets("x", "y", kind="parents").reason


def test_a_collider_that_is_an_ancestor_of_the_treatment_is_handled_as_the_theorem_says():
    # conditioning on x opens c, so that blocking by Z and blocking by Z and x differ
    graph = Graph("a -> c <- b; c -> x -> y; a -> x; b -> y", hidden="a")
    assert not graph.is_valid_adjustment("x", "y")
    assert not graph.is_valid_adjustment("x", "y", "c")
    assert graph.is_valid_adjustment("x", "y", "b")
