"""Games of sums of products and trees, held against brute force over all coalitions."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import clearwood as cw
from clearwood import InputError
from clearwood.explanation import ProductGame, SumGame, TermsGame, TreeGame
from clearwood.explanation.games.from_model import game_of
from clearwood.explanation.games.groups import grouped
from clearwood.explanation.games.terms import TableTerm
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.fitted import Unit
from clearwood.models import ProductTerm, ScoreParts, SumOfProducts

N_ROWS = 60
WEIGHTS = np.random.default_rng(2).integers(0, 4, N_ROWS).astype(float)


def rows_of(codes):
    return EncodedRows(codes=codes, columns=(), labels=np.arange(len(codes)))


def all_sets(n_players):
    return [s for size in range(1, n_players + 1) for s in combinations(range(n_players), size)]


@pytest.fixture(scope="module")
def data(hand_made):
    return hand_made.matrix(N_ROWS)


@pytest.fixture(scope="module")
def models(hand_made):
    constant = SumOfProducts(np.array([2.0]))
    several = hand_made.parts(3, link="softmax")
    return {
        "products": hand_made.Score(hand_made.parts(trees=False)),
        "trees": hand_made.Score(ScoreParts(constant, hand_made.stumps())),
        "both": hand_made.Score(hand_made.parts()),
        "three outputs": hand_made.Classes(several, labels=("a", "b", "c")),
    }


KINDS = ("products", "trees", "both", "three outputs")
PLAYERS = {"alone": None, "together": {"pair": ["x0", "x3"]}, "three": {"rest": ["x0", "x1", "x3"]}}


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_value_of_the_game_is_that_of_brute_force(
    brute, kind, weights, players, models, data
):
    model = models[kind]
    game = grouped(game_of(model), PLAYERS[players])
    oracle = brute(model.parts_, data, game.groups, weights)
    bound = game.bind(rows_of(data), weights)
    few, n_players = data[:3], oracle.n_players
    sets = all_sets(n_players)
    truth = np.array([[oracle.component(x, s) for s in sets] for x in few])
    assert_allclose(bound.components(rows_of(few), sets).values, truth, atol=1e-10)
    assert_allclose(bound.baseline, oracle.value(few[0], ()), atol=1e-12)
    shared = bound.shapley(rows_of(few), interactions=True)
    values = np.array([[oracle.shapley(x, k) for k in range(n_players)] for x in few])
    assert_allclose(shared.values, values, atol=1e-10)
    for i, j in combinations(range(n_players), 2):
        halves = np.array([oracle.interaction(x, i, j) for x in few]) / 2
        assert_allclose(shared.interactions[:, i, j], halves, atol=1e-10)
    assert_allclose(shared.interactions.sum(axis=2), shared.values, atol=1e-10)
    for players_held in (sets[0], sets[-2]):
        held = np.array([oracle.value(x, players_held) for x in few])
        assert_allclose(bound.dependence(rows_of(few), players_held).values, held, atol=1e-10)
    # components that are not listed are zero, and the longest ones that are listed are not
    listed = set(game.sets(n_players))
    assert all(np.abs(truth[:, k]).max() < 1e-10 for k, s in enumerate(sets) if s not in listed)
    assert game.order == max(map(len, listed))


def test_the_game_is_chosen_by_what_the_score_is_made_of(models):
    kinds = {name: type(game_of(model)) for name, model in models.items()}
    assert kinds == {
        "products": ProductGame,
        "trees": TreeGame,
        "both": SumGame,
        "three outputs": SumGame,
    }


def test_repeated_rows_are_integer_weights(models, data):
    game = game_of(models["both"])
    repeated = np.repeat(data, WEIGHTS.astype(int), axis=0)
    sets = game.sets(3)
    weighted = game.bind(rows_of(data), WEIGHTS).components(rows_of(data), sets).values
    plain = game.bind(rows_of(repeated), None).components(rows_of(data), sets).values
    assert_allclose(weighted, plain, atol=1e-10)


def test_tables_of_a_discretised_input_have_the_same_components(hand_made):
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 3, (50, 2)).astype(float)
    main, pair = generator.normal(size=(3, 1)), generator.normal(size=(3, 3, 1))
    levels = hand_made.Levels(3)
    terms = (
        ProductTerm((0,), (levels,), main),
        ProductTerm((0, 1), (levels, levels), pair),
    )
    settings = {
        "columns": ("u", "v"),
        "groups": np.arange(2),
        "outputs": ("prediction",),
        "unit": Unit.PREDICTION,
        "is_step": False,
        "kind": "tables",
        "reader": rows_of,
    }
    ours = ProductGame(products=SumOfProducts(np.array([1.0]), terms), **settings)
    tables = TermsGame(
        places=lambda matrix: matrix,
        terms=(TableTerm((0,), (0,), (0,), main), TableTerm((0, 1), (0, 1), (0, 1), pair)),
        constant=np.array([1.0]),
        **settings,
    )
    rows = rows_of(codes)
    assert ours.sets(2) == tables.sets(2)
    assert_allclose(
        ours.bind(rows, None).components(rows, ours.sets(2)).values,
        tables.bind(rows, None).components(rows, ours.sets(2)).values,
        atol=1e-12,
    )


def test_a_product_of_two_columns_of_one_player_is_its_main_effect(hand_made):
    """Indicators of one category are columns of one player."""
    line = hand_made.Powers(1)
    term = ProductTerm((0, 1), (line, line), np.array([[[2.0], [0.0]], [[0.0], [0.0]]]))
    game = ProductGame(
        columns=("a", "b"),
        groups=np.array([0, 0, 1, 1]),
        outputs=("prediction",),
        unit=Unit.PREDICTION,
        is_step=False,
        kind="product",
        reader=rows_of,
        products=SumOfProducts(np.zeros(1), (term,)),
    )
    assert (game.order, game.sets(2)) == (1, [(0,)])
    full = hand_made.matrix(missing=False)
    effect = game.bind(rows_of(full), None).components(rows_of(full), [(0,)]).values[:, 0, 0]
    product = 2 * full[:, 0] * full[:, 1]
    assert_allclose(effect, product - product.mean(), atol=1e-12)


def test_the_model_is_explained_through_the_front_door(models, data):
    why = cw.explain(models["both"], data, max_order=None)
    assert (why.is_complete, why.order) == (True, 3)
    assert_allclose(why.predict(data), models["both"].predict(data), atol=1e-10)
    assert_allclose(why.remainder(data), 0)
    assert {("x0", "x1", "x3"), ("x0", "x2")} <= set(why.components)
    shares = why.importance()
    assert_allclose(shares.share.sum() + shares.remainder_share, 1)


def test_pair_surfaces_and_main_effects_add_up_to_the_partial_dependence(models, data):
    why = cw.explain(models["both"], data, max_order=3)
    pair = why.effect("x0", "x2", kind="component", points=5)
    joint = why.decomposition.partial_dependence("x0", "x2", points=5)
    mains = [why.effect(name, kind="component", points=5) for name in ("x0", "x2")]
    total = pair.values + mains[0].values[:, None] + mains[1].values[None, :] + why.baseline
    assert_allclose(joint.values, total, atol=1e-10)


def test_outputs_and_units_are_named_by_classes_and_link(hand_made, models):
    two = game_of(hand_made.Classes(hand_made.parts(link="logistic")))
    assert (two.outputs, two.unit) == (("yes",), Unit.LOG_ODDS)
    three = game_of(models["three outputs"])
    assert (three.outputs, three.unit) == (("a", "b", "c"), Unit.SOFTMAX_SCORE)
    counts = game_of(hand_made.Score(hand_made.parts(link="log")))
    assert (counts.outputs, counts.unit) == (("prediction",), Unit.LOG_MEAN)


@pytest.mark.parametrize("kind", ["logistic", "log", "softmax"])
def test_the_margin_is_the_score_itself(kind, hand_made, data):
    n_outputs = 3 if kind == "softmax" else 1
    own = hand_made.parts(n_outputs, link=kind)
    labels = ("a", "b", "c") if n_outputs == 3 else ("no", "yes")
    model = hand_made.Score(own) if kind == "log" else hand_made.Classes(own, labels=labels)
    dependence = cw.effect(model, data, "x2", scale="margin", n_bootstrap=0, extrapolation=False)
    sampled = cw.effect(
        model, data, "x2", scale="margin", n_bootstrap=0, exact=False, extrapolation=False
    )
    assert (dependence.exact, sampled.exact) == (True, False)
    assert_allclose(dependence.values, sampled.values, atol=1e-8)


def test_trees_as_arrays_are_imported_as_a_forest(hand_made, data):
    trees = hand_made.stumps(3)
    forest = cw.forest.from_model(trees)
    assert forest.n_trees == 2
    assert_allclose(forest.predict_raw(data), trees(data), atol=0)


def test_missing_values_are_taken_and_labels_are_not(models, data):
    why = cw.explain(models["products"], data)
    assert np.isnan(why.effect("x0", kind="component").grid[0][-1])
    with pytest.raises(InputError, match="column 'x3' holds 'red'"):
        why.shapley({"x0": 1.0, "x1": 1.0, "x2": 0.0, "x3": "red"})


def test_a_constant_model_has_no_components(hand_made, data):
    why = cw.explain(hand_made.Score(ScoreParts(SumOfProducts(np.array([3.0])))), data)
    assert (why.components, why.baseline) == ((), 3)
    assert_allclose(why.shapley(data[:2]).values, 0)


def test_the_oracle_would_notice_a_wrong_mean(brute, hand_made, data):
    """Means of functions by column, instead of joint ones, give other components."""
    oracle = brute(hand_made.products(), data)
    shuffled = data.copy()
    shuffled[:, 0] = np.random.default_rng(0).permutation(data[:, 0])
    other = brute(hand_made.products(), shuffled)
    gap = oracle.component(data[1], (3,)) - other.component(data[1], (3,))
    assert np.abs(gap).max() > 1e-3
