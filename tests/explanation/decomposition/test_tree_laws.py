"""Laws of the decomposition of trees, on random forests over random backgrounds."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

import clearwood as cw

RELAXED = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def fitted_forests(draw, n_columns=4):
    seed = draw(st.integers(0, 2**16))
    generator = np.random.default_rng(seed)
    n_rows = draw(st.integers(20, 60))
    X = generator.integers(0, 5, (n_rows, n_columns)).astype(float)
    y = generator.normal(size=n_rows) + X[:, 0] * X[:, 1]
    model = ExtraTreesRegressor(
        draw(st.integers(1, 4)), max_depth=draw(st.integers(1, 5)), random_state=seed
    )
    return model.fit(X, y), X, generator


@RELAXED
@given(fitted_forests())
def test_components_of_every_order_add_up_to_the_prediction(case):
    model, X, _ = case
    why = cw.explain(model, X, max_order=None)
    assert why.is_complete
    assert_allclose(why.predict(X), model.predict(X), atol=1e-10)


@RELAXED
@given(fitted_forests())
def test_baseline_components_and_remainder_add_up_to_the_prediction(case):
    model, X, _ = case
    why = cw.explain(model, X, max_order=2)
    found = why.values(X)
    total = found.baseline + found.values.sum(axis=1) + found.remainder
    assert_allclose(total, model.predict(X), atol=1e-10)


@RELAXED
@given(fitted_forests())
def test_components_are_those_of_the_marginal_identification(brute, case):
    model, X, _ = case
    why = cw.explain(model, X, max_order=3)
    oracle = brute(model.predict, X)
    found = why.values(X[:2])
    position = {name: k for k, name in enumerate(why.columns)}
    for k, names in enumerate(found.sets):
        players = tuple(position[name] for name in names)
        expected = [oracle.component(x, players)[0] for x in X[:2]]
        assert_allclose(found.values[:, k], expected, atol=1e-10)


@RELAXED
@given(fitted_forests())
def test_columns_that_never_meet_have_no_component_left_out(brute, case):
    model, X, _ = case
    listed = {frozenset(names) for names in cw.explain(model, X, max_order=2).components}
    oracle = brute(model.predict, X)
    for i in range(4):
        for j in range(i):
            if frozenset((f"x{i}", f"x{j}")) not in listed:
                assert_allclose(oracle.component(X[0], (j, i)), 0, atol=1e-10)


@RELAXED
@given(fitted_forests())
def test_shapley_values_are_the_components_shared_equally(brute, case):
    model, X, _ = case
    found = cw.explain(model, X, max_order=None).values(X[:3])
    shared = np.zeros((3, 4))
    for k, names in enumerate(found.sets):
        for name in names:
            shared[:, int(name[1:])] += found.values[:, k] / len(names)
    exact = cw.shapley(model, X, X[:3])
    assert_allclose(exact.values, shared, atol=1e-10)
    oracle = brute(model.predict, X)
    expected = [[oracle.shapley(x, k)[0] for k in range(4)] for x in X[:3]]
    assert_allclose(exact.values, expected, atol=1e-10)


@RELAXED
@given(fitted_forests())
def test_interactions_are_those_of_brute_force_and_lines_add_up_to_values(brute, case):
    model, X, _ = case
    found = cw.explain(model, X).shapley(X[:2], interactions=True)
    assert_allclose(found.interactions.sum(axis=2), found.values, atol=1e-10)
    oracle = brute(model.predict, X)
    for i in range(4):
        for j in range(i):
            expected = [0.5 * oracle.interaction(x, i, j)[0] for x in X[:2]]
            assert_allclose(found.interactions[:, i, j], expected, atol=1e-10)
            assert_allclose(found.interactions[:, j, i], expected, atol=1e-10)


@RELAXED
@given(fitted_forests(), st.sampled_from(["x0", "x1"]))
def test_without_a_column_the_rest_is_the_partial_dependence_on_the_others(brute, case, column):
    model, X, _ = case
    others = tuple(k for k in range(4) if f"x{k}" != column)
    oracle = brute(model.predict, X)
    expected = [oracle.value(x, others)[0] for x in X[:3]]
    whole = cw.explain(model, X, max_order=None).without(column)
    assert_allclose(whole.predict(X[:3]), expected, atol=1e-10)
    part = cw.explain(model, X, max_order=1).without(column)
    assert_allclose(part.predict(X[:3]) + part.remainder(X[:3]), expected, atol=1e-10)


@RELAXED
@given(fitted_forests(), st.sampled_from(["x0", "x3"]))
def test_shapley_values_without_a_column_share_what_is_left(brute, case, column):
    model, X, _ = case
    why = cw.explain(model, X, max_order=None).without(column)
    found = why.shapley(X[:3], interactions=True)
    assert_allclose(found.values[:, why.columns.index(column)], 0)
    assert_allclose(found.prediction, why.predict(X[:3]), atol=1e-10)
    assert_allclose(found.interactions.sum(axis=2), found.values, atol=1e-10)
    # the removed column never joins, so it is one of the background's columns
    rest = [k for k in range(4) if f"x{k}" != column]

    class Reduced(brute):
        def value(self, x, players):
            return brute(model.predict, X).value(x, [rest[p] for p in players])

    oracle = Reduced(model.predict, X[:, rest])
    expected = [[oracle.shapley(x, k)[0] for k in range(3)] for x in X[:3]]
    assert_allclose(found.values[:, rest], expected, atol=1e-10)
    assert_allclose(
        found.interactions[:, rest[0], rest[1]],
        [0.5 * oracle.interaction(x, 0, 1)[0] for x in X[:3]],
        atol=1e-10,
    )


@RELAXED
@given(fitted_forests())
def test_a_column_the_model_ignores_gets_zero(case):
    model, X, generator = case
    wide = np.column_stack([X, generator.normal(size=len(X))])
    ignoring = ExtraTreesRegressor(2, max_depth=3, random_state=0).fit(
        np.column_stack([X, np.zeros(len(X))]), model.predict(X)
    )
    found = cw.shapley(ignoring, wide)
    assert_allclose(found.values[:, -1], 0, atol=0)
    why = cw.explain(ignoring, wide)
    assert not any("x4" in names for names in why.components)
    assert why.importance().total[-1] == 0
    assert_allclose(why.effect("x4", kind="component").values, 0, atol=0)


@RELAXED
@given(fitted_forests(), st.integers(0, 2**16))
def test_whole_weights_count_as_repeated_rows(case, seed):
    model, X, _ = case
    times = np.random.default_rng(seed).integers(0, 3, len(X))
    if not times.sum():
        times[0] = 1
    weighted = cw.explain(model, X, weights=times)
    repeated = cw.explain(model, np.repeat(X, times, axis=0))
    assert_allclose(weighted.baseline, repeated.baseline)
    assert_allclose(weighted.predict(X[:5]), repeated.predict(X[:5]), atol=1e-10)
    assert_allclose(
        weighted.importance().variances.variance,
        repeated.importance().variances.variance,
        atol=1e-10,
    )


@RELAXED
@given(fitted_forests())
def test_components_that_touch_a_column_cancel_when_it_is_drawn_from_the_background(case):
    model, X, _ = case
    why = cw.explain(model, X, max_order=None)
    drawn = np.repeat(X[:1], len(X), axis=0)
    drawn[:, 0] = X[:, 0]
    found = why.values(drawn)
    touching = [k for k, names in enumerate(found.sets) if "x0" in names]
    assert_allclose(found.values[:, touching].sum(axis=1).mean(), 0, atol=1e-10)


@RELAXED
@given(fitted_forests())
def test_importance_is_the_variance_of_the_components(case):
    model, X, _ = case
    why = cw.explain(model, X)
    found, importance = why.values(), why.importance()
    assert_allclose(importance.variances.variance[:, 0], found.values.var(axis=0), atol=1e-9)
    assert_allclose(importance.variances.remainder[0], found.remainder.var(), atol=1e-9)
    assert_allclose(importance.variances.prediction[0], model.predict(X).var(), atol=1e-9)


def test_classes_are_outputs_and_one_can_be_chosen(brute):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 3))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
    model = ExtraTreesClassifier(3, max_depth=3, random_state=0).fit(X, y)
    found = cw.shapley(model, X, X[:4])
    assert found.outputs == ("a", "b", "c")
    assert found.values.shape == (4, 3, 3)
    assert_allclose(found.prediction, model.predict_proba(X[:4]), atol=1e-12)
    oracle = brute(model.predict_proba, X)
    expected = [[oracle.shapley(x, k) for k in range(3)] for x in X[:4]]
    assert_allclose(found.values, expected, atol=1e-12)
    one = cw.shapley(model, X, X[:4], output="b")
    assert_allclose(one.values, found.values[..., 1])
    assert_allclose(found.output("b").values, one.values)
    why = cw.explain(model, X, output="c")
    assert_allclose(why.predict(X) + why.remainder(X), model.predict_proba(X)[:, 2], atol=1e-12)
    assert why.effect("x0", kind="component").values.ndim == 1
    everything = cw.explain(model, X)
    assert everything.effect("x0", kind="component").values.shape[-1] == 3


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_the_number_of_threads_changes_nothing(n_jobs):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(200, 5))
    model = ExtraTreesRegressor(10, max_depth=6, random_state=0).fit(X, X[:, 0] * X[:, 1])
    one = cw.explain(model, X).values(X).values
    several = cw.explain(model, X, n_jobs=n_jobs).values(X).values
    np.testing.assert_array_equal(several, one)
