"""The independences that a graph implies, and their tests on columns of all kinds."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.causal import Graph, Independence


def pairs(graph, **options):
    return {(one.a, one.b, frozenset(one.given)) for one in graph.independences(**options)}


def test_example_25_implies_two_independences():
    graph = Graph("X3 -> X1 -> X2 -> X4 <- X3", nodes=())
    assert pairs(graph) == {
        ("X1", "X4", frozenset({"X2", "X3"})),
        ("X3", "X2", frozenset({"X1"})),
    }


def test_every_listed_set_separates_and_pairs_without_one_are_not_listed():
    random = np.random.default_rng(1)
    for _ in range(40):
        names = [f"v{k}" for k in range(6)]
        edges = [
            (a, b) for i, a in enumerate(names) for b in names[i + 1 :] if random.random() < 0.35
        ]
        hidden = [name for name in names if random.random() < 0.25]
        graph = Graph(edges, nodes=names, hidden=hidden)
        listed = {(one.a, one.b): one for one in graph.independences()}
        everything = graph.independences("all")
        for one in everything:
            assert graph.d_separated(one.a, one.b, one.given)
            assert not set(one.given) & set(hidden)
            for name in one.given:
                smaller = [other for other in one.given if other != name]
                assert not graph.d_separated(one.a, one.b, smaller)
        smallest = {}
        for one in everything:
            key = one.a, one.b
            smallest[key] = min(len(one.given), smallest.get(key, 99))
        assert smallest == {key: len(one.given) for key, one in listed.items()}


def test_limited_lists_say_that_there_are_more():
    graph = Graph([], nodes=[f"v{k}" for k in range(10)])
    assert len(graph.independences()) == 45
    assert not graph.independences(limit=3).is_complete


def portfolio(n=600, seed=0):
    """Numbers, categories, yes/no, dates and gaps; x and y depend on z and g only."""
    random = np.random.default_rng(seed)
    z, g = random.normal(size=n), random.choice(["n", "s", "e"], n)
    shift = np.select([g == "n", g == "s"], [1.0, -1.0], 0.0)
    x = np.sin(z) + shift + random.normal(size=n)
    y = np.where(random.random(n) < 1 / (1 + np.exp(-z - shift)), "yes", "no")
    day = np.datetime64("2020-01-01") + (100 * (x + random.normal(size=n))).astype(int)
    x[::17] = np.nan
    return {"z": z, "g": g, "x": x, "y": y, "day": day}


GRAPH = "{z g} -> {x y}; x -> day"


def test_right_graphs_pass_and_a_missing_arrow_is_found():
    data = portfolio()
    tests = Graph(GRAPH).independences().test(data)
    assert not tests.rejected
    assert "does not prove" in tests.text
    wrong = Graph("z -> x; g -> {x y}; x -> day").independences().test(data)
    assert ("z", "y") in {(one.a, one.b) for one in wrong.rejected}
    assert "an arrow or a hidden cause is missing" in wrong.text


def test_size_is_near_its_level():
    rejected = 0
    for seed in range(25):
        random = np.random.default_rng(seed)
        z = random.normal(size=150)
        data = {
            "x": np.sin(2 * z) + random.normal(size=150),
            "y": z**2 / 2 + random.normal(size=150),
            "z": z,
        }
        rejected += Graph("x <- z -> y").independences().test(data, seed=seed)[0].is_rejected
    # 2 or 3 are expected; 10 or more have a chance below one in a thousand at the size of .12
    assert rejected < 10


def test_rows_of_another_order_or_library_give_the_same_numbers():
    pandas = pytest.importorskip("pandas")
    data = portfolio(200)
    independences = Graph("z -> {x y}; g").independences()
    frame = pandas.DataFrame(data)
    frame.index = np.random.default_rng(0).permutation(len(frame))
    for one, other in zip(independences.test(data), independences.test(frame), strict=True):
        assert one == other


def test_weights_of_two_count_like_rows_given_twice_as_one_group():
    random = np.random.default_rng(3)
    x, y = random.normal(size=(2, 300))
    y = y + 0.2 * x
    weight = random.integers(1, 3, 300)
    once = cw.read({"x": x, "y": y, "w": weight}, weight="w")
    rows = np.repeat(np.arange(300), weight)
    twice = cw.read({"x": x[rows], "y": y[rows], "person": rows}, group="person")
    independences = Graph([], nodes=["x", "y"]).independences()
    one, other = independences.test(once)[0], independences.test(twice)[0]
    assert one.effect == pytest.approx(other.effect, abs=1e-3)
    assert one.p_value == pytest.approx(other.p_value, rel=0.02)


def test_rows_without_weight_do_not_count():
    random = np.random.default_rng(4)
    x, y = random.normal(size=(2, 200))
    weight = np.ones(200)
    weight[100:], y[100:] = 0, x[100:]
    data = cw.read({"x": x, "y": y, "w": weight}, weight="w")
    tests = Graph([], nodes=["x", "y"]).independences().test(data)
    assert tests.n_rows == 100
    assert not tests[0].is_rejected


def test_holm_keeps_the_order_and_never_lowers_a_p_value():
    tests = Graph("z -> {x y}; g").independences().test(portfolio())
    raw = [one.p_value for one in tests]
    adjusted = [one.p_adjusted for one in tests]
    assert all(a >= p for p, a in zip(raw, adjusted, strict=True))
    assert np.all(np.argsort(raw, kind="stable") == np.lexsort((raw, adjusted)))
    smallest = int(np.argmin(raw))
    assert adjusted[smallest] == pytest.approx(min(1.0, len(raw) * raw[smallest]))


def test_what_cannot_be_tested_is_named():
    random = np.random.default_rng(0)
    few = {"x": random.normal(size=10), "y": random.normal(size=10)}
    tests = Graph([], nodes=["x", "y"]).independences().test(few)
    assert tests[0].is_rejected is None
    assert "10 observations" in tests[0].reason
    assert tests.text == "No implied independence could be tested."
    assert tests._repr_html_()
    x = random.normal(size=100)
    same = {"x": x, "y": 2 * x, "z": x}
    assert Graph("x <- z -> y").independences().test(same)[0].p_value >= 0


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_units_of_columns_do_not_matter(scale):
    random = np.random.default_rng(5)
    x, y = random.normal(size=(2, 200))
    y = y + x
    independences = Graph([], nodes=["x", "y"]).independences()
    usual, scaled = (independences.test({"x": x * k, "y": y})[0] for k in (1.0, scale))
    assert scaled.effect == pytest.approx(usual.effect, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"confidence": "high"}, "confidence=.high"),
        ({"folds": 1}, "folds=1"),
        ({"learner": "splin"}, "did you mean 'spline'"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, said):
    data = {"x": np.arange(50.0), "y": np.arange(50.0) % 7}
    with pytest.raises(cw.InputError, match=said):
        Graph([], nodes=["x", "y"]).independences().test(data, **options)


def test_columns_that_the_data_lack_are_named():
    with pytest.raises(cw.InputError, match="'y' is a node of the graph, but not a column"):
        Graph("x y").independences().test({"x": np.arange(50.0)})


def test_independences_are_written_as_usual():
    assert str(Independence("a", "b", ("c", "d"))) == "a ⊥ b | c, d"
    assert str(Independence("a", "b")) == "a ⊥ b"


def test_rare_levels_of_two_categories_keep_the_size_near_its_level():
    implied = Graph("level; side").independences()
    shares = [0.4, 0.3, 0.15, 0.08, 0.05, 0.015, 0.005]
    rejected = 0
    for seed in range(150):
        random = np.random.default_rng([4711, seed])
        level = random.choice(list("abcdefg"), p=shares, size=250)
        side = random.choice(["left", "right"], p=[0.93, 0.07], size=250)
        rejected += implied.test({"level": level, "side": side}, seed=seed)[0].p_value < 0.1
    assert rejected <= 22  # 15 are expected; 37 are rejected with sums over a few shared rows


def test_intervals_of_several_tests_hold_together():
    """Nothing depends on anything: in one of ten tables an interval leaves out 0, not in most."""
    graph = cw.Graph("a -> f; b -> f; c -> f; d -> f; e -> f").independences()
    missed = rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        columns = {name: rng.normal(size=120) for name in "abcdef"}
        tests = graph.test(columns, learner="ols", seed=seed)
        outside = [one.low > 0 or one.high < 0 for one in tests]
        assert all(one.is_rejected for one, out in zip(tests, outside, strict=True) if out)
        missed += any(outside)
        rejected += bool(tests.rejected)
    assert len(tests) == 10
    assert missed <= rejected <= 12  # 6 are expected; by itself, each misses one in ten
    assert "hold for all independences together" in str(tests)
    assert "interval, of all together" in tests._repr_html_()
    one = cw.Graph("a -> c; b -> c").independences().test(columns, learner="ols")
    assert len(one) == 1
    assert "together;" not in str(one)
