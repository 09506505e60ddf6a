"""Everything a report asks of a benchmark, on tables that are not as one would like them."""

import json
import warnings

import numpy as np
import pytest

import clearwood as cw
from clearwood.benchmarking import learning_curve

ROWS = 60


def columns(rows=ROWS, features=2):
    rng = np.random.default_rng(0)
    made = {f"x{i}": rng.normal(size=rows) for i in range(features)}
    return made, made["x0"] + rng.normal(size=rows)


def table(target, *, rows=ROWS, features=2, extra=None, **roles):
    made, _ = columns(rows, features)
    return cw.read({**made, "y": target, **(extra or {})}, target="y", **roles)


def numbers(rows=ROWS, features=2):
    return columns(rows, features)[1]


def signs(rows=ROWS):
    return np.where(numbers(rows) > 0, "yes", "no")


ODD = {
    "one feature": lambda: table(numbers(), features=1),
    "twelve rows": lambda: table(numbers(12), rows=12),
    "truth values": lambda: table(numbers() > 0),
    "thirty classes": lambda: table([f"c{i % 30:02d}" for i in range(150)], rows=150),
    "counts, nearly all zero": lambda: table([1, 2] + [0] * (ROWS - 2), task="count"),
    "groups": lambda: table(
        numbers(), extra={"who": [f"p{i // 5}" for i in range(ROWS)]}, group="who"
    ),
    "groups and classes": lambda: table(
        signs(), extra={"who": [f"p{i // 5}" for i in range(ROWS)]}, group="who"
    ),
    "time": lambda: table(numbers(), extra={"day": np.arange(ROWS)}, time="day"),
    "time and classes": lambda: table(signs(), extra={"day": np.arange(ROWS)}, time="day"),
    "weights, some zero": lambda: table(
        numbers(), extra={"w": np.arange(ROWS) % 3 / 2}, weight="w"
    ),
    "names with signs": lambda: cw.read(
        {"a b": numbers(), "ü.$[0]": numbers()[::-1], "y:Q": numbers()}, target="y:Q"
    ),
}


@pytest.fixture(scope="module", params=ODD, ids=lambda name: name.replace(" ", "-"))
def result(request):
    data = ODD[request.param]()
    model = "logistic" if data.task.is_classification else "ridge"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # failing fits and edges are in bench.warnings too
        repeats = 1 if data.times is None else None
        learners = ["baseline", model, "tree"]
        bench = cw.benchmark(data, learners, tune=2, outer=3, inner=2, repeats=repeats)
    return data, bench


def strict(value):
    """As a page would hold it: no NaN, no infinity."""
    return json.dumps(value, allow_nan=False)


def finished(bench):
    return [one.learner for one in bench.standings if np.isfinite(one.risk)]


def test_standings_are_whole_and_every_form_of_them_can_be_had(result):
    _, bench = result
    assert len(finished(bench)) >= 2
    for one in bench.standings:
        values = [one.low, one.high, one.difference_low, one.difference_high]
        assert np.isfinite(values).all() or one.failures
    strict(bench.to_json())
    for library in ("pandas", "polars", "pyarrow"):
        assert len(bench.to_frame(library)) == 3
    strict(bench.plot().to_dict())
    assert max(map(len, repr(bench).splitlines())) <= 80


def test_what_a_learner_predicted_is_there_row_by_row(result):
    data, bench = result
    assert finished(bench)
    for name in finished(bench):
        predicted = bench.predictions(name)
        tested = ~np.isnan(predicted.reshape(data.n_rows, -1)).any(axis=1)
        assert tested.sum() >= data.n_rows / 2 or bench[name].failures
        rows = np.concatenate(list(bench.losses(name).rows.values()))
        assert set(rows.tolist()) == set(np.flatnonzero(tested).tolist())


def test_measures_and_calibration_are_json_frames_and_figures(result):
    data, bench = result
    for name in finished(bench):
        measured = bench.measures(name)
        strict(measured.to_json())
        assert list(measured.to_frame("dict")) == [
            "measure",
            "value",
            "low",
            "high",
            "meaning",
        ]
        curve = bench.calibration(name)
        strict(curve.to_json())
        strict(curve.plot().to_dict())
        tested = len(np.concatenate(list(bench.losses(name).rows.values())))
        assert curve.rows.sum() + curve.n_zero_weight == tested
    assert data.task.is_classification == ("accuracy" in measured.values)


def test_tuning_is_told_in_every_frame_library(result):
    _, bench = result
    if "tree" not in finished(bench):
        pytest.skip("the tree could not be fitted to these rows")
    for result in (bench.archive("tree"), bench.curve("tree")):
        strict(result.to_json())
        sizes = {len(result.to_frame(library)) for library in ("pandas", "polars", "pyarrow")}
        assert len(sizes) == 1
    strict(bench.curve("tree").plot().to_dict())


def test_comparisons_are_json(result):
    _, bench = result
    best, *others = finished(bench)
    for other in others:
        strict(bench.compare(other, best).to_json())


def test_a_winner_can_always_be_fitted(result):
    data, bench = result
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = bench.best().fit(data)
    assert len(model.predict(data.head(3))) == 3


def test_learning_curves_can_be_drawn(result):
    data, _ = result
    loss = "squared" if data.task == "count" else None  # a mean of zero has no Poisson deviance
    curve = learning_curve("baseline", data, outer=3, sizes=[0.8, 1.0], loss=loss)
    strict(curve.to_json())
    strict(curve.plot().to_dict())


def test_a_part_of_the_rows_that_a_learner_cannot_take_is_refused_in_words():
    # the most recent rows of the first span are all of one class
    data = table(["no"] * 30 + ["yes"] * 30, extra={"day": np.arange(ROWS)}, time="day")
    with pytest.raises(cw.InputError, match=r"'logistic' cannot be fitted to .* rows.*Hint"):
        learning_curve("logistic", data, outer=3)


def test_two_rows_of_a_class_are_refused_with_a_way_out_that_works():
    data = table(["rare"] * 2 + ["a", "b"] * 29)
    with pytest.raises(cw.InputError, match=r"'rare' has 2.*interval='hold-out'"):
        cw.benchmark(data, ["baseline", "tree"], tune=0)
    bench = cw.benchmark(data, ["baseline", "tree"], tune=0, interval="hold-out")
    strict(bench.to_json())
    assert bench.measures("tree")["accuracy"] > 0
    strict(bench.calibration("tree").to_json())


def test_a_single_test_row_has_no_interval_and_is_still_drawn_and_told():
    bench = cw.benchmark(table(numbers(5), rows=5), ["baseline"], tune=0, interval="hold-out")
    assert np.isnan(bench["baseline"].low)
    strict(bench.to_json())
    strict(bench.plot().to_dict())
    strict(bench.calibration("baseline").plot().to_dict())


def test_a_target_that_is_constant_is_refused_before_the_benchmark():
    with pytest.raises(cw.InputError, match="constant"):
        table([3.0] * ROWS)


def test_rows_that_are_there_many_times_give_no_risk_below_zero():
    """Correcting for the rows that fits lacked would go below; a square never is negative."""
    made, y = columns(10)
    data = cw.read({**{k: np.tile(v, 6) for k, v in made.items()}, "y": np.tile(y, 6)}, target="y")
    bench = cw.benchmark(data, ["baseline", "knn", "tree"], tune=3, outer=3, inner=3)
    for one in bench.standings:
        assert 0 <= one.low <= one.risk <= one.high


def test_learners_that_predict_the_same_tie_exactly():
    """A tree that cannot split says the mean, in another order of summing."""
    from sklearn.tree import DecisionTreeRegressor

    stump = DecisionTreeRegressor(min_samples_leaf=10)
    bench = cw.benchmark(
        table(numbers(12), rows=12), {"mean": "baseline", "stump": stump}, tune=0, outer=3
    )
    assert [one.difference for one in bench.standings] == [0.0, 0.0]
    assert repr(bench).count(" best ") == 2  # the heading and the first


def test_spans_of_time_are_told_in_words():
    data = table(numbers(), extra={"day": np.arange(ROWS)}, time="day")
    bench = cw.benchmark(data, ["ridge"], tune=2, outer=3, inner=2)
    said = " ".join(repr(bench).split())
    assert "each after a fit to all before it; settings tuned" in said
    assert "by tests on 2 spans of time" in said
