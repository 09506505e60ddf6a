"""Learners that select columns, resampled: nothing leaks, and the result shows what was chosen."""

import json

import numpy as np
import pytest

import clearwood as cw
from clearwood import InputError
from clearwood.benchmarking.selection import selection_frequency

PLAIN = {"tune": 0, "interval": "naive", "repeats": 1}


@pytest.fixture
def noise():
    """Many columns and a target that has nothing to do with them."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=100) for j in range(300)}
    with pytest.warns(cw.ClearwoodWarning, match="more features"):
        return cw.read({**columns, "y": rng.normal(size=100)}, target="y")


@pytest.fixture
def diabetes():
    return cw.datasets.load("diabetes")


def test_selecting_inside_the_folds_finds_no_skill_in_noise(noise):
    bench = cw.benchmark(noise, cw.learner("ols", select="anova:10"), tune=0, repeats=1)
    gap = bench.compare("ols", "baseline")
    assert gap.high > 0  # no better than the baseline
    # the trap: the same ten columns, chosen from all rows beforehand
    chosen = cw.learner("ols", select="anova:10").fit(noise).selected_
    outside = noise.select([*chosen, "y"])
    trapped = cw.benchmark(outside, "ols", tune=0, repeats=1).compare("ols", "baseline")
    assert trapped.clear
    assert trapped.difference < -0.2


def test_frequencies_are_those_of_the_fits(diabetes):
    bench = cw.benchmark(diabetes, cw.learner("ridge", select="anova:3"), **PLAIN)
    result = bench.selection("ridge")
    times = dict.fromkeys(diabetes.features, 0)
    for unit in bench.units.values():
        if unit.learner == "ridge":
            train = diabetes.take(unit.train)
            for name in cw.learner("ridge", select="anova:3").fit(train).selected_:
                times[name] += 1
    assert dict(zip(result.columns, result.counts.tolist(), strict=True)) == times
    assert result.draws == 5
    assert result.sizes == (3,) * 5
    assert bench.selecting == ("ridge",)
    assert bench.to_json()["selection"]["ridge"]["counts"] == result.counts.tolist()
    assert "ridge with anova:3: 3 of 10 columns selected on average" in repr(bench)
    assert "selected on average" in bench._repr_html_()
    json.dumps(result.to_json())
    assert result.to_frame("dict")["share"][0] == 1.0


def test_agreement_is_one_for_the_same_choice_and_about_zero_for_chance():
    rng = np.random.default_rng(1)
    names = [f"x{j}" for j in range(40)]
    assert selection_frequency("a", "anova:2", names, [names[:2]] * 4).stability == 1
    by_chance = [list(rng.choice(names, 8, replace=False)) for _ in range(200)]
    assert abs(selection_frequency("a", "anova:8", names, by_chance).stability) < 0.01
    assert np.isnan(selection_frequency("a", "boruta", names, [[], []]).stability)


def test_tuning_finds_how_many_columns_a_filter_keeps():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 20))
    y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=100)
    data = cw.read({**{f"x{j}": X[:, j] for j in range(20)}, "y": y}, target="y")
    bench = cw.benchmark(
        data,
        {"tuned": cw.learner("ols", select="anova"), "all": "ols"},
        tune=6,
        search="grid",
        interval="naive",
    )
    assert bench.learners[0] == "tuned"
    sizes = bench.selection("tuned").sizes
    assert 2 <= np.mean(sizes) <= 5
    model = bench.choose("tuned").fit(data)
    assert {"x0", "x1"} <= set(model.selected_)


def test_ways_to_select_can_be_a_part_of_the_space(diabetes):
    ways = ["anova:2", "lasso:6", None]
    bench = cw.benchmark(
        diabetes, "ridge", tune=3, space={"ridge": {"select": ways}}, interval="naive"
    )
    assert bench["ridge"].settings["select"] in ways
    with pytest.raises(InputError, match="did you mean 'anova'"):
        cw.benchmark(diabetes, "ridge", tune=3, space={"ridge": {"select": ["anvoa"]}})
    space = {"ridge": {"select": cw.models.Whole(1, 3)}}
    with pytest.raises(InputError, match="are a list"):
        cw.benchmark(diabetes, "ridge", tune=3, space=space)


def test_a_run_that_is_resumed_knows_what_was_selected(diabetes, tmp_path):
    learner = cw.learner("ridge", select="anova:3")
    first = cw.benchmark(diabetes, learner, store=tmp_path / "fits.db", **PLAIN)
    again = cw.benchmark(diabetes, learner, store=tmp_path / "fits.db", **PLAIN)
    assert again.selection("ridge").to_json() == first.selection("ridge").to_json()
    other = cw.learner("ridge", select="anova:4")
    with pytest.raises(InputError, match="another learner there"):
        cw.benchmark(diabetes, other, store=tmp_path / "fits.db", **PLAIN)


def test_trees_are_tuned_with_a_selection_that_may_be_empty(noise):
    data = noise.select([*noise.features[:30], "y"])
    learner = cw.learner("gbm", select="knockoffs", max_iter=20)
    with pytest.warns(cw.ClearwoodWarning, match="no column is selected"):
        bench = cw.benchmark(data, learner, tune=2, interval="hold-out")
    assert not bench.failures
    assert bench["gbm"].risk == pytest.approx(bench["baseline"].risk, rel=0.2)


def test_bad_requests_end_a_benchmark_before_its_first_fit(diabetes):
    with pytest.raises(InputError, match="the table has 10"):
        cw.benchmark(diabetes, cw.learner("ridge", select="anova:11"), **PLAIN)
    bench = cw.benchmark(diabetes, "ols", **PLAIN)
    with pytest.raises(InputError, match=r"'ols' selects no columns.*select='anova:10'"):
        bench.selection("ols")
