"""Single trees: splits, surrogates, pruning and constraints, against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mean_tweedie_deviance
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood import InputError
from clearwood.models.catalogue.trees.estimators import CartClassifier, CartRegressor
from clearwood.models.catalogue.trees.pruning import geometric_middles
from clearwood.models.catalogue.trees.tree import Growth, Presorted, plain_tree
from clearwood.models.shared.folds import Folds
from clearwood.table import as_table


def noisy_steps(n=120, seed=0, *, gaps=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    y = 2.0 * (X[:, 0] > 0) + (X[:, 1] > 0.5) * (X[:, 0] > 0) + rng.normal(size=n)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def with_categories(n=250, seed=0, levels=6, share=0.2):
    """Return rows with a related pair of numbers, two categories and gaps, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    X[:, 1] = (X[:, 0] + rng.normal(size=n) / 2).round(2)
    X[:, 2] = rng.integers(0, levels, n)
    X[:, 3] = (X[:, 2] + rng.integers(0, 2, n)) % levels
    y = 2 * (X[:, 0] > 0) + np.sin(7 * X[:, 2]) + rng.normal(size=n) / 2
    X[rng.random(X.shape) < share] = np.nan
    return X, y


def grown(X, y, growth=None, *, weight=None, **options):
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    rows = Presorted(X, **options)
    return rows.grow(growth or Growth("squared"), np.asarray(y, float), weight, weight)


def new_rows(n=500, seed=1, levels=6):
    """Return rows with many gaps and with codes that no training row has."""
    X, _ = with_categories(n, seed, levels, share=0.0)
    rng = np.random.default_rng(seed)
    X[:, 2:] += rng.choice([0, 0, 0, 40], size=(n, 2))
    X[rng.random(X.shape) < 0.4] = np.nan
    return X


# Splits


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), least=st.integers(1, 8))
def test_splits_of_numbers_are_those_of_scikit_learn(seed, least):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    tree = grown(X, y, Growth("squared", min_samples_leaf=least))
    peer = DecisionTreeRegressor(min_samples_leaf=least, random_state=0).fit(X, y)
    # two columns may part rows alike, so only rows of the training are compared
    np.testing.assert_allclose(tree.value[tree.leaves(X), 0], peer.predict(X), atol=1e-9)
    assert tree.n_nodes == peer.tree_.node_count


def best_of_all_subsets(codes, risk):
    """Return the least risk over all ways to part the levels in two."""
    levels = np.unique(codes)
    parts = [
        set(left) for size in range(1, len(levels)) for left in combinations(levels.tolist(), size)
    ]
    return min(risk(np.isin(codes, list(part))) for part in parts)


DEVIANCES = {"poisson": 1.0, "tweedie": 1.5, "gamma": 2.0}


@pytest.mark.parametrize("criterion", ["squared", *DEVIANCES, "gini", "entropy", "costs"])
@pytest.mark.parametrize("n_levels", [3, 7])
def test_a_categorical_split_is_the_best_of_all_subsets(criterion, n_levels):
    rng = np.random.default_rng(n_levels)
    codes, n_classes = rng.integers(0, n_levels, 120), 0
    costs = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    if criterion in ("gini", "entropy", "costs"):
        n_classes = 3
        y = (
            rng.random(120)[:, None] > np.cumsum(rng.dirichlet([1, 1, 1], n_levels)[codes], 1)
        ).sum(1)
        y = np.minimum(y, 2)
    else:
        y = rng.poisson(1 + codes % 3) + (criterion == "gamma")

    def impurity(of):
        if criterion == "squared":
            return ((of - of.mean()) ** 2).sum()
        if criterion in DEVIANCES:
            same = np.full(len(of), of.mean())
            return len(of) * mean_tweedie_deviance(of, same, power=DEVIANCES[criterion])
        share = np.bincount(of, minlength=3) / len(of)
        if criterion == "entropy":
            return -len(of) * sum(p * np.log(p) for p in share if p > 0)
        return len(of) * (share @ (costs if criterion == "costs" else 1 - np.eye(3)) @ share)

    growth = Growth(
        "gini" if criterion == "costs" else criterion,
        n_classes,
        costs=(costs + costs.T) / 2 if criterion == "costs" else None,
        max_depth=1,
    )
    tree = grown(codes[:, None].astype(float), y, growth, categorical=(0,))
    best = best_of_all_subsets(codes, lambda left: impurity(y[left]) + impurity(y[~left]))
    assert tree.nodes["risk"][1:].sum() == pytest.approx(best, rel=1e-9)
    assert tree.nodes["gain"][0] == pytest.approx(impurity(y) - best, rel=1e-9)


def test_many_levels_of_several_classes_are_ordered_by_their_first_component():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 16, 2000)
    y = np.where(codes % 2 == 1, rng.integers(0, 2, 2000), 2)  # odd levels never have class 2
    tree = grown(codes[:, None].astype(float), y, Growth("gini", 3, max_depth=1), categorical=(0,))
    left = set(tree.category_set(tree.nodes, 0)) & set(range(16))
    assert left in ({*range(0, 16, 2)}, {*range(1, 16, 2)})


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["squared", "poisson", "gamma", "gini"]))
def test_whole_weights_are_repeated_rows(seed, kind):
    # without surrogates: those must send two rows each way, however much the rows weigh
    X, y = with_categories(80, seed)
    y = np.digitize(y, [0.0, 2.0]) + float(kind == "gamma")
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    growth = Growth(kind, n_classes=3 if kind == "gini" else 0, surrogates=0)
    weighted = grown(X, y, growth, weight=times, categorical=(2, 3))
    repeated = grown(np.repeat(X, times, axis=0), np.repeat(y, times), growth, categorical=(2, 3))
    new = new_rows(seed=seed)
    np.testing.assert_allclose(
        weighted.value[weighted.leaves(new)], repeated.value[repeated.leaves(new)], atol=1e-9
    )


def test_equal_splits_keep_the_order_of_the_columns():
    X, y = noisy_steps()
    twice = np.column_stack([X[:, 0], X])
    assert 1 not in grown(twice, y).nodes["column"]


# Missing values


def side(question, at, words, value):
    if np.isnan(value):
        return None
    if question["first_word"][at] < 0:
        left = value <= question["threshold"][at]
    elif value < 32 * question["n_words"][at]:
        word = int(words[question["first_word"][at] + int(value) // 32])
        left = bool(word >> (int(value) % 32) & 1)
    else:
        return None
    return left != bool(question["flipped"][at]) if "flipped" in question else left


def walk(tree, row):
    """Follow the rule as it is written down: split, surrogates in order, majority."""
    node, nodes = 0, tree.nodes
    while nodes["left"][node] >= 0:
        went = side(nodes, node, tree.words, row[nodes["column"][node]])
        first = nodes["first_surrogate"][node]
        for at in range(first, first + nodes["n_surrogates"][node]):
            if went is None:
                went = side(tree.surrogates, at, tree.words, row[tree.surrogates["column"][at]])
        went = nodes["missing_left"][node] if went is None else went
        node = nodes["left" if went else "right"][node]
    return node


def test_rows_follow_surrogates_and_then_the_majority():
    X, y = with_categories()
    tree = grown(X, y, Growth("squared", min_samples_leaf=5), categorical=(2, 3))
    assert tree.nodes["n_surrogates"].max() > 1
    new = new_rows()
    np.testing.assert_array_equal(tree.leaves(new), [walk(tree, row) for row in new])


def test_agreement_counts_rows_that_both_send_the_same_way():
    X, y = with_categories()
    tree = grown(X, y, Growth("squared", min_samples_leaf=20, max_depth=1), categorical=(2, 3))
    ways = np.array([np.nan if np.isnan(x) else x <= tree.nodes["threshold"][0] for x in X[:, 0]])
    assert tree.nodes["column"][0] == 0
    known = ~np.isnan(ways)
    majority = max((ways == 1).sum(), (ways == 0).sum())
    held = tree.surrogates
    for at in range(tree.nodes["n_surrogates"][0]):
        other = [side(held, at, tree.words, x) for x in X[:, held["column"][at]]]
        agreeing = sum(a == b for a, b in zip(ways[known], np.array(other)[known], strict=True))
        assert held["agreement"][at] == pytest.approx(agreeing / known.sum())
        assert held["gain"][at] == pytest.approx((agreeing - majority) / (known.sum() - majority))
        assert held["gain"][at] > 0
    assert (np.diff(held["agreement"]) <= 0).all()


def test_a_surrogate_recovers_a_value_that_is_missing():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    X, y = np.column_stack([x, -x]), (x > 0).astype(float)
    X[rng.random(600) < 0.3, 0] = np.nan
    model = CartRegressor(min_samples_leaf=5).fit(X, y)
    np.testing.assert_array_equal(model.predict([[np.nan, -2.0], [np.nan, 2.0]]), [1.0, 0.0])
    without = CartRegressor(min_samples_leaf=5, surrogates=0).fit(X[:, :1], y)
    assert 0.1 < without.predict([[np.nan]])[0] < 0.9


def test_columns_complete_in_training_send_missing_values_with_the_majority():
    X, y = noisy_steps(300)
    tree = grown(X, y, Growth("squared", max_depth=1))
    assert not tree.nodes["n_surrogates"].any()
    larger = 1 if tree.nodes["n_rows"][1] >= tree.nodes["n_rows"][2] else 2
    assert tree.leaves(np.full((1, 4), np.nan))[0] == larger


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), levels=st.integers(2, 40), depth=st.integers(1, 6))
def test_a_tree_of_ordinary_splits_predicts_the_same(seed, levels, depth):
    X, y = with_categories(200, seed, levels)
    growth = Growth("squared", min_samples_leaf=4, max_depth=depth)
    tree = grown(X, y, growth, categorical=(2, 3))
    new = np.vstack([X, new_rows(400, seed, levels)])
    new[:2, :2] = [[-np.inf, np.inf], [np.inf, -np.inf]]
    np.testing.assert_array_equal(tree.plain(new)[:, 0], tree.value[tree.leaves(new), 0])


def test_a_tree_with_too_many_ordinary_splits_is_explained_by_sampling():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3)) @ rng.normal(size=(3, 16)) + rng.normal(size=(700, 16)) / 3
    y = X.sum(axis=1)
    X[rng.random(X.shape) < 0.3] = np.nan
    model = cw.learner("tree", prune=False, min_samples_leaf=2).fit(X, y)
    tree = model.estimator_.tree_
    assert tree.plain is None
    assert not model.estimator_.is_plain
    assert not cw.forest.supports(model.estimator_)
    with pytest.raises(InputError, match="so many surrogates"):
        cw.forest.from_model(model.estimator_)
    assert not cw.explain(model, X[:60]).is_exact
    few = plain_tree(grown(X, y, Growth("squared", max_depth=3)))
    assert few is not None


def test_the_forest_of_a_learner_predicts_what_the_learner_predicts():
    X, y = with_categories(400, share=0.1)
    X[:, 1] = np.nan_to_num(X[:, 1])
    table = as_table(
        {
            "a": X[:, 0],
            "b": X[:, 1],
            "c": [None if np.isnan(code) else f"level {code:.0f}" for code in X[:, 2]],
            "y": np.where(y > 0.5, "yes", "no"),
        },
        target="y",
    )
    model = cw.learner("tree").fit(table)
    assert model.estimator_.tree_.nodes["n_surrogates"].any()
    forest = cw.forest.from_model(model)
    np.testing.assert_array_equal(forest.predict_proba(table), model.predict_proba(table))
    np.testing.assert_array_equal(forest.predict(table), model.predict(table))


def surveyed(n=600):
    """Return a table where age tells much of an income that is often missing."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, n).astype(float)
    income = age / 2 + rng.normal(size=n) * 6
    region = rng.choice(["north", "south", "east"], n)
    y = 10 * (income > 22) + 5 * (region == "north") + rng.normal(size=n) * 3
    income[rng.random(n) < 0.2] = np.nan
    columns = {"age": age, "income": income, "region": region.tolist(), "y": y}
    return as_table(columns, target="y")


def test_drawings_of_a_tree_list_its_surrogates():
    table = surveyed()
    model = cw.learner("tree", max_depth=2, prune="one-se").fit(table)
    one = cw.condense(model)
    np.testing.assert_array_equal(one.predict(table), model.predict(table))
    (surrogate,) = one.surrogates
    assert surrogate.split.startswith("income ≤ ")
    assert surrogate.surrogate.startswith("age ≤ ")
    tree = model.estimator_.tree_
    assert surrogate.agreement == tree.surrogates["agreement"][0]
    line = f"{surrogate.split}: {surrogate.surrogate} ("
    assert line in one.to_text()
    assert "If missing, income" in one.to_svg()
    # the drawing is of the tree itself; the diagram has the surrogates as questions of its own
    assert one.to_svg().count('class="leaf"') == model.estimator_.get_n_leaves() < one.n_leaves
    assert any("income is missing" in rule.conditions for rule in one.rules())
    assert one.prune(table).tree.outline is None
    assert not cw.condense(cw.learner("tree").fit(cw.datasets.load("wine"))).surrogates
    page = cw.report(model, table, sections=["tree"], quick=True, sample=40).to_html()
    assert "takes the place of another where its value is missing" in page


def test_a_surrogate_that_goes_the_other_way_is_written_so():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X, y = np.column_stack([x, rng.normal(size=400) - x]), (x > 0).astype(float)
    X[rng.random(400) < 0.1, 0] = np.nan
    (surrogate,) = cw.condense(CartRegressor(min_samples_leaf=5, max_depth=1).fit(X, y)).surrogates
    assert surrogate.split.startswith("x0 ≤ ")
    assert surrogate.surrogate.startswith("x1 > ")


def test_explanations_are_exact_with_surrogates():
    table = surveyed(300)
    model = cw.learner("tree").fit(table)
    assert model.estimator_.tree_.nodes["n_surrogates"].any()
    why = cw.explain(model, table)
    assert why.is_exact
    frame = table.to_frame()
    ages = [25.0, 60.0]
    by_hand = [model.predict(frame.assign(age=age)).mean() for age in ages]
    curve = why.effect("age", kind="pdp", grid=ages, centred=False, extrapolation=False)
    np.testing.assert_allclose(curve.values, by_hand, rtol=1e-9)
    assert curve.values[0] < curve.values[1]  # age is a surrogate only, of income
    values = why.shapley(table.head(20))
    total = values.values.sum(axis=1) + values.baseline
    np.testing.assert_allclose(total, model.predict(table.head(20)), rtol=1e-9)


# Pruning


def test_weakest_links_are_those_of_the_worked_sequence():
    # four values in four leaves: g of the nodes above leaves is what their split gains; the root's
    # falls when one of them is cut
    X, y = np.arange(4.0)[:, None], np.array([0.0, 1.0, 5.0, 9.0])
    tree = grown(X, y)
    left, right = ((y[:2] - 0.5) ** 2).sum() / 4, ((y[2:] - 7) ** 2).sum() / 4
    whole = ((y - y.mean()) ** 2).sum() / 4
    expected = {0: whole - left - right, 1: left, 4: right}
    levels = tree.levels()
    for node, level in expected.items():
        assert levels[node] == pytest.approx(level)
    assert [tree.pruned(a).is_leaf.sum() for a in geometric_middles(levels)] == [4, 3, 2, 1]


def test_levels_are_scikit_learns_path_of_penalties():
    X, y = noisy_steps()
    path = DecisionTreeRegressor(min_samples_leaf=3, random_state=0).cost_complexity_pruning_path(
        X, y
    )
    levels = grown(X, y, Growth("squared", min_samples_leaf=3)).levels()
    np.testing.assert_allclose(
        np.unique(levels[np.isfinite(levels)]), np.unique(path.ccp_alphas[1:]), rtol=1e-9
    )


def test_a_regression_tree_is_cut_where_brute_force_would_cut_it():
    X, y = noisy_steps(gaps=True)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = CartRegressor(min_samples_leaf=2, folds=4).fit(X, y, sample_weight=weight)
    growth = Growth("squared", min_samples_leaf=2)
    total = np.zeros(len(model.penalties_))
    for train, test in Folds(4).split(X, y):
        tree = grown(X[train], y[train], growth, weight=weight[train])
        for at, penalty in enumerate(model.penalties_):
            small = tree.pruned(penalty)
            total[at] += weight[test] @ (y[test] - small.value[small.leaves(X[test]), 0]) ** 2
    np.testing.assert_allclose(model.risks_, total / weight.sum(), rtol=1e-9)
    assert model.penalty_ == model.penalties_[np.flatnonzero(total == total.min())[-1]]
    best = grown(X, y, growth, weight=weight).pruned(model.penalty_)
    np.testing.assert_allclose(model.predict(X), best.value[best.leaves(X), 0], rtol=1e-12)
    assert 1 < model.get_n_leaves() < CartRegressor(prune=False).fit(X, y).get_n_leaves()


@pytest.mark.parametrize("labels", ["ab", "abc"])
def test_a_classification_tree_is_cut_by_its_brier_score(labels):
    X, score = noisy_steps(150)
    y = np.array(list(labels))[np.digitize(score, [0.0, 2.0][: len(labels) - 1])]
    model = CartClassifier(min_samples_leaf=2).fit(X, y)
    truth = y[:, None] == np.unique(y)
    total = np.zeros(len(model.penalties_))
    for train, test in Folds(5, stratify=True).split(X, y):
        part = CartClassifier(min_samples_leaf=2, prune=False).fit(X[train], y[train])
        for at, penalty in enumerate(model.penalties_):
            small = part.tree_.pruned(penalty)
            shares = small.value[small.leaves(X[test])]
            total[at] += ((truth[test] - shares) ** 2).sum()
    np.testing.assert_allclose(model.risks_, total / len(y), rtol=1e-9)


def test_one_standard_error_gives_a_tree_that_is_no_larger():
    X, y = noisy_steps(300)
    best = CartRegressor().fit(X, y)
    smaller = CartRegressor(prune="one-se").fit(X, y)
    assert smaller.get_n_leaves() < best.get_n_leaves()
    assert CartRegressor(prune=False).fit(X, y).get_n_leaves() > best.get_n_leaves()


def test_noise_only_leaves_the_root():
    rng = np.random.default_rng(3)
    assert CartRegressor().fit(rng.normal(size=(200, 3)), rng.normal(size=200)).get_n_leaves() == 1


# Counts, priors and costs


def test_rates_are_shrunk_by_one_expected_event_so_that_none_is_zero():
    x = np.repeat([0.0, 1.0], 50)
    y = np.where(x == 0, 0.0, 2.0)
    model = CartRegressor(criterion="poisson").fit(x[:, None], y)
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [1 / 51, 101 / 51])


@pytest.mark.parametrize("criterion", DEVIANCES)
def test_the_risk_of_every_node_is_its_deviance_and_gains_are_their_differences(criterion):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 3)), rng.uniform(0.2, 3.0, 300)
    y = rng.gamma(0.7, np.exp(X[:, 0]))
    y[(rng.random(300) < 0.4) & (criterion != "gamma")] = 0.0
    growth = Growth(criterion, min_samples_leaf=5, surrogates=0)
    tree = Presorted(X).grow(growth, y, weight, weight)
    nodes, leaf = tree.nodes, tree.leaves(X)
    inside = leaf[:, None] == np.arange(tree.n_nodes)
    for node in range(tree.n_nodes)[::-1]:  # children come after their parent
        if not tree.is_leaf[node]:
            left, right = nodes["left"][node], nodes["right"][node]
            inside[:, node] = inside[:, left] | inside[:, right]
            lowered = nodes["risk"][node] - nodes["risk"][left] - nodes["risk"][right]
            assert nodes["gain"][node] == pytest.approx(lowered, rel=1e-6)
        rows = inside[:, node]
        mean = np.average(y[rows], weights=weight[rows])
        assert tree.value[node, 0] == pytest.approx(mean)
        if mean > 0:
            expected = weight[rows].sum() * mean_tweedie_deviance(
                y[rows],
                np.full(rows.sum(), mean),
                sample_weight=weight[rows],
                power=DEVIANCES[criterion],
            )
            assert nodes["risk"][node] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_amounts_with_zeros_are_shrunk_by_one_amount_above_zero():
    x = np.repeat([0.0, 1.0], 50)
    y = np.where(x == 0, 0.0, 8.0)
    model = CartRegressor(criterion="tweedie").fit(x[:, None], y)
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [8 / 52, 408 / 52])


@pytest.mark.parametrize("settings", [{}, {"samples": 2}, {"optimal": True}])
@pytest.mark.parametrize("criterion", DEVIANCES)
def test_the_unit_of_amounts_and_of_exposure_changes_predictions_by_its_factor(criterion, settings):
    rng = np.random.default_rng(1)
    X, exposure = rng.normal(size=(300, 3)).round(1), rng.uniform(0.1, 1.0, 300)
    y = rng.gamma(0.8, np.exp(X[:, 0]))
    y[(rng.random(300) < 0.3) & (criterion != "gamma")] = 0.0
    usual = CartRegressor(criterion=criterion, **settings).fit(X, y, exposure)
    assert usual.get_n_leaves() > 2
    # counts have no unit: leaves are shrunk by one event
    amounts = () if criterion == "poisson" else ((1e-6, 1.0), (1e7 / 3, 1.0))
    for amount, time in (*amounts, (1.0, 365.25), (1.0, 1 / 8_766)):
        other = CartRegressor(criterion=criterion, **settings)
        other.fit(X, y * amount / time, exposure * time)
        expected = usual.predict(X) * amount / time
        np.testing.assert_allclose(other.predict(X), expected, rtol=1e-9)


def test_counts_are_split_by_their_deviance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    data = as_table({"a": X[:, 0], "b": X[:, 1], "y": rng.poisson(np.exp(X[:, 0]))}, target="y")
    model = cw.learner("tree", task="count").fit(data)
    assert model.estimator_.criterion_ == "poisson"
    assert model.predict(data).min() > 0


def test_priors_replace_the_shares_of_the_classes():
    X, y = with_categories(300)
    labels = (y > 2).astype(int)
    model = CartClassifier(priors=[0.5, 0.5], min_samples_leaf=5, categorical=(2, 3))
    model.fit(X, labels)
    weight = np.where(labels == 1, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    weighted = CartClassifier(min_samples_leaf=5, surrogates=0, prune=False).fit(
        X[:, :1], labels, weight
    )
    priors = CartClassifier(priors="equal", min_samples_leaf=5, surrogates=0, prune=False)
    priors.fit(X[:, :1], labels)
    # a column of its own shows the same shares; gaps go with the majority of rows, not of weights
    known = ~np.isnan(X[:, 0])
    np.testing.assert_allclose(priors.tree_.value[0], [0.5, 0.5])
    np.testing.assert_allclose(weighted.tree_.value[0], [0.5, 0.5])
    assert priors.tree_.nodes["threshold"][0] == weighted.tree_.nodes["threshold"][0]
    assert model.predict_proba(X)[known].shape == (known.sum(), 2)


def test_costs_of_two_classes_are_altered_priors_and_move_the_threshold():
    X, y = with_categories(400)
    labels = (y > 1).astype(int)
    costs = [[0, 1], [5, 0]]
    model = CartClassifier(costs=costs, min_samples_leaf=5, categorical=(2, 3)).fit(X, labels)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X), (5 * p > 1 - p).astype(int))
    # probabilities are not altered: the root has the share of the rows
    full = CartClassifier(costs=costs, max_depth=1, prune=False).fit(X, labels)
    np.testing.assert_allclose(full.tree_.value[0], [1 - labels.mean(), labels.mean()])
    weight = np.where(labels == 1, 5.0, 1.0)
    by_weight = CartClassifier(max_depth=1, prune=False).fit(X, labels, weight)
    assert full.tree_.nodes["threshold"][0] == by_weight.tree_.nodes["threshold"][0]


def test_costs_of_several_classes_choose_the_least_expected_cost():
    X, y = with_categories(400)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [0.0, 2.0])]
    costs = np.array([[0.0, 1.0, 8.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    model = CartClassifier(costs=costs.tolist(), min_samples_leaf=5).fit(X, labels)
    expected = model.predict_proba(X) @ costs
    np.testing.assert_array_equal(model.predict(X), np.array(["a", "b", "c"])[expected.argmin(1)])
    assert not cw.forest.supports(model)


# Monotone constraints


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), sign=st.sampled_from([1, -1]), kind=st.sampled_from("nbc"))
def test_predictions_never_move_against_a_constraint(seed, sign, kind):
    X, y = with_categories(250, seed)
    y = y + np.sin(4 * X[:, 1].astype(float) * ~np.isnan(X[:, 1])).clip(-1, 1)
    y = np.where(np.isnan(y), 0.0, y)
    options = {"min_samples_leaf": 3, "categorical": (2, 3), "monotone": (sign, 0, 0, 0)}
    prune = bool(seed % 2)
    if kind == "b":
        model = CartClassifier(prune=prune, **options).fit(X, y > 1)
    elif kind == "c":
        model = CartRegressor(prune=prune, criterion="poisson", **options).fit(X, np.exp(y).round())
    else:
        model = CartRegressor(prune=prune, **options).fit(X, y)
    new = np.repeat(new_rows(40, seed), 25, axis=0)
    new[:, 0] = np.tile(np.linspace(-3, 3, 25), 40)
    predicted = model.predict_proba(new)[:, 1] if kind == "b" else model.predict(new)
    steps = np.diff(predicted.reshape(40, 25), axis=1)
    assert (sign * steps >= -1e-12).all()


# Files and bad input


def test_a_saved_tree_is_the_same_tree(tmp_path):
    X, y = with_categories(300)
    for target in (y, np.where(y > 1, "yes", "no")):
        model = cw.learner("tree").fit(X, target)
        assert cw.explain(model, X[:20]).importance() is not None  # fills what is cached
        cw.save(model, tmp_path / "tree.cw", force=True)
        new = with_categories(200, 5)[0]
        np.testing.assert_array_equal(
            cw.load(tmp_path / "tree.cw").predict(new), model.predict(new)
        )


@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        ("nodes", "left", 10_000),
        ("nodes", "right", 0),
        ("nodes", "column", 77),
        ("nodes", "first_surrogate", 10_000),
        ("surrogates", "column", -1),
        ("surrogates", "first_word", 10_000),
    ],
)
def test_arrays_that_are_no_tree_are_refused(where, name, value):
    X, y = with_categories()
    tree = grown(X, y, categorical=(2, 3))
    held = getattr(tree, where)
    held[name] = held[name].copy()
    held[name][0] = value
    if where == "surrogates":
        held["n_words"] = np.ones_like(held["n_words"])
    with pytest.raises(ValueError, match=r"children|column|surrogates|words"):
        tree.leaves(X)


@pytest.mark.parametrize("y", [np.array([0, 0, 0, 0, 0, 1]), np.array([0, 1, 0, 1, 2, 2])])
def test_rare_classes_do_not_stop_the_pruning(y):
    X = np.arange(6.0)[:, None]
    shares = CartClassifier().fit(X, y).predict_proba(X)
    assert shares.shape == (6, len(np.unique(y)))


def test_columns_without_information_are_left_alone():
    X, y = noisy_steps()
    odd = np.column_stack([np.ones(len(y)), np.full(len(y), np.nan), np.full(len(y), np.nan), X])
    model = CartRegressor(min_samples_leaf=5, categorical=(2,)).fit(odd, y)
    assert model.tree_.nodes["column"].max() > 2
    assert not {0, 1, 2} & set(model.tree_.nodes["column"].tolist())
    np.testing.assert_array_equal(
        model.predict(odd), CartRegressor(min_samples_leaf=5).fit(X, y).predict(X)
    )


def test_one_row_one_class_and_a_constant_target_give_a_single_leaf():
    assert CartRegressor().fit([[1.0]], [3.0]).predict([[9.0]]) == 3.0
    assert CartRegressor().fit([[1.0], [2.0]], [3.0, 3.0]).get_n_leaves() == 1
    model = CartClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert model.predict([[9.0]]) == "a"
    assert CartRegressor(criterion="poisson").fit([[1.0], [2.0]], [0, 0]).predict([[1.0]]) == 0


def test_fitting_does_not_change_the_parameters():
    X, y = noisy_steps()
    model = CartRegressor(min_samples_leaf=4)
    before = model.get_params()
    assert model.fit(X, y).get_params() == before
    first = model.predict(X)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), first)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"prune": "some"}, "prune='some'"),
        ({"criterion": "gini"}, "criterion='gini'"),
        ({"surrogates": -1}, "surrogates=-1"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"min_samples_leaf": 0.5}, r"min_samples_leaf=0\.5"),
    ],
)
def test_settings_that_cannot_be_are_named(settings, match):
    X, y = noisy_steps()
    with pytest.raises(InputError, match=match):
        CartRegressor(**settings).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"costs": [[0, 1, 1]]}, "2 rows and columns"),
        ({"costs": [[1, 1], [1, 0]]}, "zeros in the diagonal"),
        ({"costs": [[0, 0], [1, 0]]}, "a cost above 0 of missing it"),
        ({"priors": [0.5, 0.6]}, "sum to 1"),
        ({"priors": "even"}, "sum to 1"),
        ({"criterion": "poisson"}, "criterion='poisson'"),
    ],
)
def test_settings_of_classes_that_cannot_be_are_named(settings, match):
    X, y = noisy_steps()
    with pytest.raises(InputError, match=match):
        CartClassifier(**settings).fit(X, y > 1)


def test_targets_that_do_not_fit_are_named():
    X, y = noisy_steps()
    with pytest.raises(InputError, match="without negative values"):
        CartRegressor(criterion="poisson").fit(X, y)
    with pytest.raises(InputError, match=r"needs a target above 0; one is 0. Hint.*tweedie"):
        CartRegressor(criterion="gamma").fit(X, np.maximum(y, 0.0))
    weight = (y > 0).astype(float)  # rows that weigh nothing may have any target
    assert CartRegressor(criterion="gamma").fit(X, np.maximum(y, 0.0), weight).predict(X).min() > 0
    with pytest.raises(InputError, match="squares are infinite"):
        CartRegressor().fit(X, y * 1e200)
    with pytest.raises(InputError, match="two classes; there are 3 classes"):
        CartClassifier(monotone=(1, 0, 0, 0)).fit(X, np.digitize(y, [0, 1]))
    with pytest.raises(InputError, match=r"costs.* is for classes"):
        cw.learner("tree", costs=[[0, 1], [1, 0]]).fit(X, y)


def test_importances_are_the_shares_of_what_splits_gain():
    X, y = noisy_steps(300)
    limits = {"max_depth": 3, "min_samples_leaf": 5}
    ours = CartRegressor(prune=False, **limits).fit(X, y)
    theirs = DecisionTreeRegressor(random_state=0, **limits).fit(X, y)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
    constant = CartRegressor().fit(X, np.ones(len(y)))
    assert not constant.feature_importances_.any()
