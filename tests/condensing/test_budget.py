"""Budgets: exact where it says so, the ensemble answers the rest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

import clearwood as cw
from clearwood._shared import memory
from clearwood.condensing import DoesNotFitError, Limit, LittleProvedWarning, Region, load

# most budgets here are far too small on purpose
pytestmark = pytest.mark.filterwarnings("ignore::clearwood.condensing.LittleProvedWarning")


@pytest.mark.parametrize("with_data", [True, False])
@pytest.mark.parametrize(
    ("task", "aggregation"),
    [("binary", "sum"), ("classes", "sum"), ("classes", "hard vote"), ("scores", "mean")],
)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), leaves=st.integers(1, 30))
def test_certified_leaves_are_right_and_the_rest_is_the_ensembles(
    any_forest, cells, task, aggregation, with_data, seed, leaves
):
    forest = any_forest(seed, task=task, aggregation=aggregation)
    X = cells(forest)
    rows = X[np.random.default_rng(seed).integers(0, len(X), 30)] if with_data else None
    one = cw.condense(forest, data=rows, leaves=leaves)
    assert one.n_leaves <= leaves
    truth = forest.predict(X)
    at = one.apply(X)
    sure = one.diagram.certified[at]
    np.testing.assert_array_equal(forest.classes[one.diagram.outcome[at[sure]]], truth[sure])
    np.testing.assert_array_equal(one.predict(X), truth)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), leaves=st.integers(1, 30), tolerance=st.floats(0.01, 2))
def test_values_under_a_budget_keep_to_the_tolerance(any_forest, cells, seed, leaves, tolerance):
    forest = any_forest(seed, task="number")
    X = cells(forest)
    one = cw.condense(forest, data=X, leaves=leaves, tolerance=tolerance)
    assert np.abs(one.predict_raw(X) - forest.predict_raw(X)).max() <= tolerance


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), leaves=st.integers(2, 40))
def test_medians_and_values_under_a_budget_are_the_ensembles(any_forest, cells, seed, leaves):
    for aggregation in ("weighted median", "mean"):
        forest = any_forest(seed, task="number", aggregation=aggregation, trees=3)
        X = cells(forest)
        one = cw.condense(forest, data=X, leaves=leaves)
        np.testing.assert_array_equal(one.predict_raw(X), forest.predict_raw(X))


def test_threads_give_the_same_tree():
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = load_breast_cancer(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=60, max_depth=3, random_state=0).fit(X, y)
    one, two = (cw.condense(model, data=X, leaves=60, n_jobs=n) for n in (1, 2))
    assert one.diagram.equals(two.diagram)
    assert one.certificate.share_certified > 0.3
    assert cw.certify(one, model)


def test_the_share_of_certified_rows_is_the_datas(any_forest, cells):
    forest = any_forest(12, task="binary", trees=12, kinds=["number"] * 3)
    X = cells(forest)
    one = cw.condense(forest, data=X, leaves=6)
    assert one.certificate.share_certified == one.is_certified(X).mean()
    assert 0 < one.certificate.share_certified < 1
    assert one.certificate.region is Region.CERTIFIED_LEAVES
    assert one.certificate.stopped is Limit.LEAVES
    assert "of the data" in repr(one)


@pytest.fixture(scope="module")
def noise():
    """Many deep trees on noise: no budget gets far."""
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, 300)
    return RandomForestClassifier(20, random_state=0).fit(X, y), X


def test_a_budget_that_proves_no_row_is_told_with_what_to_try(noise):
    model, X = noise
    message = r"none of the 300 rows reaches a certified leaf.*raise leaves, .*tolerance"
    with pytest.warns(LittleProvedWarning, match=message):
        one = cw.condense(model, data=X, leaves=5)
    assert "0 % of the data" in repr(one)
    np.testing.assert_array_equal(one.predict(X), model.predict(X))


def test_a_budget_without_data_says_that_the_share_is_not_known(noise):
    with pytest.warns(LittleProvedWarning, match=r"nothing was proved.*rows that matter as data"):
        one = cw.condense(noise[0], leaves=5)
    assert "share of rows is unknown" in repr(one)


def test_a_budget_that_proves_most_rows_is_not_complained_of(any_forest, cells, recwarn):
    forest = any_forest(12, task="binary", trees=12, kinds=["number"] * 3)
    one = cw.condense(forest, data=cells(forest), leaves=6)
    assert 0.1 < one.certificate.share_certified < 1
    assert not recwarn.list


def test_a_file_with_an_ensemble_inside_holds_no_array_of_one_value_at_length(noise, tmp_path):
    model, X = noise
    one = cw.condense(model, data=X, leaves=5)
    kept = one.to_json()["fallback"]
    n = one.fallback.n_nodes
    assert kept["cover"] == {"every": "NaN", "shape": [n]}
    assert kept["unseen_left"] == {"every": False, "shape": [n]}
    again = load(one.save(tmp_path / "tree.json"))
    assert again.fallback.equals(one.fallback)
    assert again.certificate == one.certificate
    assert again.certificate.stopped is Limit.LEAVES
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_budget_that_suffices_gives_an_exact_tree(any_forest, cells):
    forest = any_forest(12, task="binary", kinds=["number"] * 3)
    one = cw.condense(forest, leaves=100_000, time_limit=60)
    assert one.is_exact
    assert one.certificate.is_everywhere


def test_the_fallback_keeps_only_what_open_leaves_need(any_forest, cells):
    forest = any_forest(12, task="binary", trees=12, kinds=["number"] * 3)
    one = cw.condense(forest, data=cells(forest), leaves=8)
    assert one.fallback is not None
    assert one.fallback.n_nodes < forest.n_nodes


def test_an_exact_tree_that_does_not_fit_says_so_with_an_estimate_and_the_ways_on(monkeypatch):
    from sklearn.ensemble import GradientBoostingClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    y = (X.sum(axis=1) + rng.normal(size=2000) > 0).astype(int)
    model = GradientBoostingClassifier(n_estimators=100, max_depth=4, random_state=0).fit(X, y)
    monkeypatch.setattr("clearwood.condensing.tree.budget._MOST_BYTES", 3_000_000)
    with pytest.raises(DoesNotFitError, match=r"does not fit.*leaves=1000.*tolerance") as error:
        cw.condense(model)
    assert error.value.memory == 3_000_000
    assert 0 < error.value.share < 1
    assert error.value.estimate > error.value.n_nodes


def test_the_estimate_leaves_out_what_is_easy_to_decide(monkeypatch):
    """Most of the space has the common class: its boxes are done first and say little."""
    from sklearn.ensemble import GradientBoostingClassifier

    X = np.random.default_rng(0).exponential(size=(3000, 5))
    model = GradientBoostingClassifier(n_estimators=60, random_state=0).fit(X, X.prod(axis=1) > 5)
    n_nodes = cw.condense(model, effort="fast").n_nodes
    monkeypatch.setattr("clearwood.condensing.tree.budget._MOST_BYTES", 1_000_000)
    with pytest.raises(DoesNotFitError) as error:
        cw.condense(model, effort="fast")
    assert error.value.n_nodes / error.value.share < n_nodes / 2
    assert n_nodes / 2 < error.value.estimate < 2 * n_nodes


@pytest.mark.parametrize("limits", [{}, {"nodes": 3000}, {"leaves": 40}, {"memory": 2e6}])
def test_the_tree_does_not_depend_on_the_memory_that_is_free_or_on_threads(
    any_forest, cells, monkeypatch, limits
):
    """Only a time limit makes a result depend on the machine."""
    forest = any_forest(12, task="binary", trees=12, kinds=["number"] * 3)
    X = cells(forest)
    documents = []
    for free, n_jobs in ((10**5, 1), (10**9, 2), (10**12, 3)):
        for source in ("_of_machine", "_of_container", "_of_process"):
            monkeypatch.setattr(memory, source, lambda free=free: free)
        documents.append(cw.condense(forest, data=X, n_jobs=n_jobs, **limits).to_json())
    assert documents[0] == documents[1] == documents[2]


def test_a_certificate_says_how_much_the_limit_allowed_that_ended_the_work(any_forest, cells):
    forest = any_forest(12, task="binary", trees=12, kinds=["number"] * 3)
    cut = cw.condense(forest, data=cells(forest), leaves=6).certificate
    assert (cut.stopped, cut.limit, cut.ended) == (
        Limit.LEAVES,
        6,
        "the limit of 6 leaves was reached",
    )
    whole = cw.condense(forest).certificate
    assert (whole.stopped, whole.limit, whole.ended) == (None, None, "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": -1.0, "equal": "value"}, "tolerance=-1.0"),
        ({"tolerance": 0.1}, "a class has no tolerance"),
        ({"effort": "best"}, r"effort='best' is not a known value.*'fast', 'good'"),
        ({"objective": "leafs"}, "did you mean 'leaves'"),
        ({"leaves": 0}, "leaves=0"),
        ({"time_limit": 0}, "time_limit=0"),
        ({"memory": -1}, "memory=-1"),
        ({"objective": "questions"}, "pass rows as data"),
    ],
)
def test_bad_options_are_answered_in_the_users_words(any_forest, options, message):
    forest = any_forest(0, task="binary")
    with pytest.raises(cw.InputError, match=message):
        cw.condense(forest, **options)


def test_a_model_without_trees_is_answered_with_what_can_be_condensed():
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(cw.InputError, match=r"LogisticRegression is not a tree model"):
        cw.condense(model)


def test_a_few_hundred_leaves_prove_most_unseen_rows_of_a_boosted_model():
    from sklearn.datasets import make_classification
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = make_classification(3000, 8, n_informative=6, n_redundant=0, flip_y=0.05, random_state=0)
    model = GradientBoostingClassifier(n_estimators=60, random_state=0).fit(X[:2000], y[:2000])
    one = cw.condense(model, data=X[:2000], leaves=500)
    # 0.65 of them; 0.52 where trees give back an equal part only and cuts go by plain ranges
    assert one.is_certified(X[2000:]).mean() > 0.6
    np.testing.assert_array_equal(one.predict(X[2000:]), model.predict(X[2000:]))


def test_a_limit_on_nodes_ends_the_work_without_a_clock():
    X, y = np.random.default_rng(0).normal(size=(300, 4)), np.random.default_rng(1).normal(size=300)
    model = RandomForestRegressor(8, max_depth=6, random_state=0).fit(X, y)
    few, again, more = (
        cw.condense(model, X, nodes=n, n_jobs=jobs) for n, jobs in ((2000, 1), (2000, 2), (8000, 1))
    )
    assert few.certificate.stopped is Limit.NODES
    assert few.certificate.to_json() == again.certificate.to_json()
    assert few.n_leaves <= 100 < more.n_leaves
    with pytest.raises(cw.InputError, match="nodes=0"):
        cw.condense(model, nodes=0)
