"""Conditions of a direct effect, checked on a graph."""

from itertools import combinations

import numpy as np
import pytest

import clearwood as cw
from clearwood.causal import Condition, conditions_of


class Parents:
    """A graph as the parents of each node."""

    def __init__(self, **parents):
        self.by_node = {name: tuple(causes.split()) for name, causes in parents.items()}
        self.nodes = tuple(self.by_node)

    def parents(self, node):
        return self.by_node[node]


def holds(graph, columns, others):
    return conditions_of(graph, columns, others)[0].holds


@pytest.mark.parametrize(
    ("parents", "columns", "others", "expected"),
    [
        # the condition of the text: a first part that nothing causes, a last part that causes none
        ({"a": "", "r": "a", "b": "a r"}, ["a", "b"], ["r"], True),
        # a permitted column that nothing protected follows from may be confounded with it
        ({"u": "", "x": "u", "a": "u"}, ["x"], ["a"], True),
        ({"u": "", "x": "u", "a": "u x"}, ["x"], ["a"], False),
        # what follows from one of the others and acts on another one
        ({"r": "", "s": "r", "t": "s"}, ["s"], ["r", "t"], False),
        # the second column acts; what it inherits from the first is shared with the other one
        ({"u": "", "s": "u", "t": "s", "r": "t u"}, ["s", "t"], ["r"], False),
        # the column that is confounded does not act
        ({"u": "", "s": "u", "t": "", "r": "t u"}, ["s", "t"], ["r"], True),
        # through a hidden node
        ({"s": "", "h": "s", "r": "h"}, ["s"], ["r"], True),
        ({"h": "", "s": "h", "r": "h", "k": "s", "q": "k"}, ["s"], ["r", "q"], False),
    ],
)
def test_sharper_condition_on_small_graphs(parents, columns, others, expected):
    assert holds(Parents(**parents), columns, others) is expected


def test_failing_condition_names_the_arrow_and_the_path():
    graph = Parents(country="", gender="country", height="gender country")
    (condition,) = conditions_of(graph, ["gender"], ["height"])
    assert condition.path == ("gender", "<-", "country", "->", "height")
    assert "the arrow country -> gender makes it fail" in condition.reason
    assert condition.status == "fails"


def test_without_a_graph_what_is_assumed_is_stated_and_nothing_holds():
    columns, target = conditions_of(None, ["x"], ["z"], target="y", claim="world")
    assert (columns.holds, target.holds) == (None, None)
    assert "it is assumed that 'x' and the other columns have no common cause" in columns.reason
    assert "'y'" in target.reason


def test_claims_on_the_world_need_an_unconfounded_target():
    graph = Parents(u="", x="", z="x u", y="x z u")
    columns, target = conditions_of(graph, ["x"], ["z"], target="y", claim="world")
    assert columns.holds
    assert target.path == ("z", "<-", "u", "->", "y")
    reverse = Parents(y="", x="y")
    _, target = conditions_of(reverse, ["x"], [], target="y", claim="world")
    assert target.reason == "'y' acts on 'x': x <- y; the arrow y -> x makes it fail"


def test_column_that_the_graph_lacks_is_named():
    with pytest.raises(cw.InputError, match=r"column 'heigth' is not in the graph.*'height'"):
        conditions_of(Parents(gender="", height="gender"), ["gender"], ["heigth"])


def test_conditions_are_plain_json():
    condition = Condition("unconfounded target", None, "no graph")
    assert condition.to_json()["status"] == "not checked"


def _linear(parents, order, rng):
    """Random coefficients, and the covariance of the linear Gaussian model."""
    n = len(order)
    arrows = np.zeros((n, n))
    for child, causes in parents.items():
        for cause in causes.split():
            arrows[order.index(child), order.index(cause)] = rng.uniform(0.5, 1.5)
    return arrows


def _covariance(arrows, held=()):
    """Covariance with the held nodes cut from their causes."""
    cut = arrows.copy()
    cut[list(held)] = 0.0
    spread = np.linalg.inv(np.eye(len(arrows)) - cut)
    return spread, spread @ spread.T


def test_condition_agrees_with_random_linear_models_with_hidden_nodes():
    """The law of the others under do(X'_S), X'_S from its marginal law, is their own law or not.

    In a linear Gaussian model both laws are Gaussian with mean zero, so covariances decide; random
    coefficients make accidental equality impossible.
    """
    rng = np.random.default_rng(3)
    outcomes = []
    for _ in range(300):
        n = int(rng.integers(3, 7))
        order = [f"v{k}" for k in range(n)]
        parents = {
            order[k]: " ".join(order[j] for j in range(k) if rng.random() < 0.45) for k in range(n)
        }
        roles = rng.integers(0, 3, n)  # chosen, other, hidden
        chosen, others = np.flatnonzero(roles == 0), np.flatnonzero(roles == 1)
        if not len(chosen) or not len(others):
            continue
        arrows = _linear(parents, order, rng)
        _, observed = _covariance(arrows)
        spread, _ = _covariance(arrows, chosen)
        free = [k for k in range(n) if k not in chosen]
        noise = spread[np.ix_(others, free)]
        to_others = spread[np.ix_(others, chosen)]
        mixed = noise @ noise.T + to_others @ observed[np.ix_(chosen, chosen)] @ to_others.T
        same = np.allclose(mixed, observed[np.ix_(others, others)], atol=1e-9)
        checked = holds(Parents(**parents), [order[k] for k in chosen], [order[k] for k in others])
        assert checked is same, (parents, chosen, others)
        outcomes.append(same)
    # both answers occur, so that agreement means something
    assert 20 < sum(outcomes) < len(outcomes) - 20


def test_order_of_columns_does_not_matter():
    graph = Parents(u="", a="u", b="a", r="b u", q="r a")
    for size in (1, 2):
        for columns in combinations(("a", "b"), size):
            one = conditions_of(graph, columns, ("r", "q"))
            other = conditions_of(graph, columns[::-1], ("q", "r"))
            assert one[0].holds == other[0].holds


def test_a_hidden_common_cause_is_one_arrow_of_the_path_and_of_the_reason():
    graph = cw.Graph("gender -> {height accidents}; gender <-> age; age -> height")
    (condition,) = conditions_of(graph, ["gender"], ["height", "age"])
    assert condition.path == ("gender", "<->", "age")
    assert condition.reason.endswith("the arrow gender <-> age makes it fail")
    (longer,) = conditions_of(graph, ["gender"], ["height"])
    assert longer.path == ("gender", "<->", "age", "->", "height")
