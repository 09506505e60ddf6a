"""How much of a model a time allows to ask."""

from dataclasses import replace

import numpy as np
import pytest

import clearwood as cw
from clearwood.reporting.collect.asked import Asked, limits_of, read_once, thinned
from clearwood.reporting.collect.findings import Options
from clearwood.reporting.collect.gather import _Gathering, gather
from clearwood.reporting.collect.gather_why import decomposed
from clearwood.reporting.collect.inputs import check
from clearwood.reporting.collect.stages import Stages


@pytest.fixture(scope="module")
def asked():
    data = cw.datasets.insurance(900)
    model = cw.learner("gbm", max_depth=3, max_iter=20).fit(data)
    given, options = check(model, data, None, None), Options(quick=True)
    return Asked(read_once(given, data.head(20)), given, options, limits_of(options))


def test_trees_are_read_as_a_forest_once(asked):
    assert isinstance(asked.model, cw.forest.Forest)


def test_slow_models_are_asked_about_fewer_rows(asked):
    fast, slow = replace(asked, seconds_per_row=1e-7), replace(asked, seconds_per_row=1e-4)
    assert fast.affordable(5.0, 1000, 10) == 1000
    assert 100 <= slow.affordable(5.0, 1000, 10) < 1000


def test_little_time_takes_fewer_rows_and_too_little_asks_instead(asked):
    assert asked.exact_rows(60.0) == 900
    n_leaves = asked.model.n_leaves
    assert 200 <= asked.exact_rows(n_leaves * (1.5e-5 + 300 * 2e-8)) <= 301
    assert asked.exact_rows(1e-9) is None


def test_the_decomposition_says_over_how_many_rows_it_is(asked):
    seconds = asked.model.n_leaves * (1.5e-5 + 300 * 2e-8)
    less = replace(asked, limits=replace(asked.limits, decomposition=seconds))
    assert decomposed(less).background.n_rows <= 301
    none = replace(asked, limits=replace(asked.limits, decomposition=1e-9))
    assert "sampled" in decomposed(none).notes[0]


def test_positions_get_the_names_of_the_table(asked):
    names = asked.given.features
    by_position = tuple(f"x{k}" for k in range(len(names)))
    assert asked.named(by_position) == names
    assert asked.named(by_position, ("x1",)) == (names[1],)
    assert asked.named(names) == names


def test_thinned_rows_keep_their_order_and_come_with_the_seed():
    table = cw.read({"x": np.arange(100.0) ** 2, "y": np.ones(100)}, ignore="y")
    few = thinned(table, 10, seed=1)
    assert few.n_rows == 10
    assert np.all(np.diff(few["x"].values) > 0)
    np.testing.assert_array_equal(few["x"].values, thinned(table, 10, seed=1)["x"].values)
    assert thinned(table, 100, seed=1) is table


def test_a_model_that_has_to_be_asked_slowly_gets_fewer_rows_on_the_page():
    data = cw.datasets.insurance(200)
    options = Options(quick=True, sample=150, sections=("one-by-one",))
    given = check(lambda frame: frame["age"].to_numpy() * 1.0, data, None, None)
    found = gather(given, title="t", options=options)
    assert len(found.shapley) == found.sample.n_rows  # however many they are
    run = _Gathering(given, options, Stages(total=1), {"shapley"})
    run.asked = replace(run.asked, seconds_per_row=1.0)
    fewer = run._fewer_rows(found)
    assert fewer.sample.n_rows == 30
    assert set(fewer.sample_rows) <= set(found.sample_rows)
    np.testing.assert_array_equal(fewer.sample["age"].values, data["age"].values[fewer.sample_rows])
