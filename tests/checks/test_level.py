"""The level of predictions: observed / expected, its interval, and rebalancing."""

import numpy as np
import pytest

import clearwood as cw
from clearwood import ClearwoodWarning, InputError
from clearwood.checks import Level, level_of

#: Learners with a log link, quick settings.
LEARNERS = {
    "glm": {},
    "gbm": {"max_iter": 20},
    "gam": {},
    "glass": {},
    "mars": {},
    "bayes": {},
    "hme": {},
    "lightgbm": {"n_estimators": 20},
    "xgboost": {"n_estimators": 20},
    "stacking": {"members": ["glm", "gbm"]},
}


def amounts(n=600, seed=0, share=0.6):
    """Amounts whose means a log link misses, and with them the level."""
    rng = np.random.default_rng(seed)
    x = rng.exponential(size=n)
    mean = 1 + 5 * x**2
    y = rng.gamma(3.0, mean / 3) * (rng.random(n) < share)
    years = rng.uniform(0.3, 1, n)
    return {"x": x, "z": rng.normal(size=n), "y": y * years, "years": years}


def table(task, **options):
    rows = amounts(**options)
    if task == "count":
        rows["y"] = np.minimum(np.round(rows["y"]), 30)
    return cw.read(rows, target="y", exposure="years", task=task)


def off(model, data):
    return float((data.y * data.weights).sum() / (model.predict(data) * data.weights).sum())


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
@pytest.mark.parametrize("task", ["amount", "count"])
@pytest.mark.parametrize("name", LEARNERS)
def test_rebalanced_predictions_add_up_and_are_else_the_same(name, task, tmp_path):
    if name in ("lightgbm", "xgboost"):
        pytest.importorskip(name)
    data = table(task)
    if task == "amount" and cw.learner(name, task=task).can_rebalance is False:
        pytest.skip("no log link for amounts")
    try:
        plain = cw.learner(name, **LEARNERS[name]).fit(data)
    except InputError:
        pytest.skip("not its task")
    model = cw.learner(name, rebalance=True, **LEARNERS[name]).fit(data)
    assert plain.level_.ratio == pytest.approx(off(plain, data), rel=1e-9)
    assert off(model, data) == pytest.approx(1, abs=1e-6)
    ratio = model.predict(data) / plain.predict(data)
    # XGBoost computes in single precision
    np.testing.assert_allclose(ratio, plain.level_.ratio, rtol=3e-6 if name == "xgboost" else 1e-9)
    cw.save(model, tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    assert again.level_.to_json() == model.level_.to_json()
    assert any("multiplied" in note for note in again.notes_)


def test_a_fit_whose_level_is_off_warns_and_says_what_to_do():
    data = table("amount", n=4000)
    with pytest.warns(ClearwoodWarning, match="on the training rows the predictions are too"):
        model = cw.learner("glm", alpha=0).fit(data)
    assert model.level_.is_off
    (note,) = (one for one in model.notes_ if "rebalance=True" in one)
    assert model.level_.text in note


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_the_level_of_the_fit_is_that_of_an_evaluation():
    for data in (table("amount"), table("count")):
        model = cw.learner("glm", alpha=0.1).fit(data)
        evaluated = cw.evaluate(model, data)
        low, high = evaluated.measures().interval("observed_expected")
        one, other = model.level_, evaluated.level
        assert (other.ratio, other.low, other.high) == pytest.approx(
            (evaluated.measures()["observed_expected"], low, high)
        )
        assert (one.ratio, one.low, one.high) == pytest.approx(
            (other.ratio, other.low, other.high), rel=1e-9
        )


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_a_benchmark_states_the_level_of_its_evaluations_and_warns_of_it():
    data = table("amount", n=1500, share=1.0)
    options = {"tune": 0, "repeats": 1}
    bench = cw.benchmark(data, ["glm", "tree"], **options)
    for name, level in bench.levels.items():
        measured = bench.evaluation(name).measures()
        assert (level.ratio, level.low, level.high) == pytest.approx(
            (measured["observed_expected"], *measured.interval("observed_expected"))
        )
    (finding,) = (one for one in bench.warnings if one.kind == "level")
    assert set(finding.levels) == {name for name, one in bench.levels.items() if one.is_off}
    assert "rebalance=True" in str(finding)
    assert "Observed / expected of the held-out rows: " in repr(bench)
    balanced = cw.benchmark(data, cw.learner("glm", rebalance=True), **options)
    assert abs(np.log(balanced.levels["glm"].ratio)) < abs(np.log(bench.levels["glm"].ratio)) / 2


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_coefficients_of_a_rebalanced_model_differ_in_the_constant_only():
    data = table("amount", n=2000)
    plain, other = (
        cw.coefficients(cw.learner("glm", alpha=0, rebalance=one).fit(data), data)
        for one in (False, True)
    )
    np.testing.assert_allclose(other.values[1:], plain.values[1:], rtol=1e-12)
    np.testing.assert_allclose(other.standard_errors, plain.standard_errors, rtol=1e-9)
    level = cw.learner("glm", alpha=0).fit(data).level_
    assert other.values[0] - plain.values[0] == pytest.approx(np.log(level.ratio))


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_rows_in_parts_are_rebalanced_as_rows_in_memory():
    rows = amounts(n=900)
    blocks = [{name: values[k::3] for name, values in rows.items()} for k in range(3)]
    import pandas as pd

    frames = [pd.DataFrame(one) for one in blocks]
    parts = cw.scan(frames, target="y", exposure="years", task="amount")
    whole = cw.read(pd.DataFrame(rows), target="y", exposure="years", task="amount")
    one, other = (cw.learner("glm", rebalance=True).fit(data) for data in (parts, whole))
    assert one.level_.ratio == pytest.approx(other.level_.ratio, rel=1e-7)
    np.testing.assert_allclose(one.predict(whole), other.predict(whole), rtol=1e-7)
    assert "nan" not in " ".join(one.notes_)


def test_rebalancing_is_refused_where_it_means_nothing():
    rows = amounts()
    classes = cw.read({**rows, "y": np.where(rows["y"] > 1, "yes", "no")}, target="y")
    with pytest.raises(InputError, match="only predictions of counts and amounts"):
        cw.learner("logistic", rebalance=True).fit(classes)
    with pytest.raises(InputError, match="'knn' for count have no log link"):
        cw.learner("knn", rebalance=True).fit(
            cw.read({**rows, "y": np.round(rows["y"])}, target="y", task="count", ignore="years")
        )


def test_the_interval_covers_with_groups_and_weights():
    """2,000 tables of 60 groups, whose rows share a factor of the mean."""
    rng = np.random.default_rng(7)
    covered = 0
    groups = np.repeat(np.arange(60), 5)
    for _ in range(2000):
        expected = rng.uniform(0.5, 2, 300)
        shared = rng.gamma(4, 1 / 4, 60)[groups]
        weights = rng.uniform(0.2, 1, 300)
        level = level_of(rng.poisson(shared * expected), expected, weights, groups)
        covered += level.low <= 1 <= level.high
    assert 0.87 < covered / 2000 < 0.93


def test_no_level_without_totals():
    assert level_of(np.zeros(3), np.ones(3)) is None
    assert level_of(np.array([1.0, -1.0, 3.0]), np.ones(3)) is None
    assert not Level(ratio=2.0, low=np.nan, high=np.nan).is_off
