"""What may be given as a background and as rows, and what is answered where it cannot be."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw

NAMES = ["age", "power", "speed"]


@pytest.fixture(scope="module", name="X")
def _matrix():
    return np.random.default_rng(0).normal(size=(60, 3)).round(2)


@pytest.fixture(scope="module")
def frame(X):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=NAMES, index=[f"row {i}" for i in range(60)])


@pytest.fixture(scope="module", params=["trees", "sum", "learner"])
def model(request, frame):
    y = frame["age"] * frame["power"]
    if request.param == "trees":
        return GradientBoostingRegressor(n_estimators=5, random_state=0).fit(frame, y)
    if request.param == "sum":
        return LinearRegression().fit(frame, y)
    return cw.learner("gbm", max_iter=5).fit(frame, y)


def as_kind(frame, kind):
    shuffled = frame[["speed", "age", "power"]]
    if kind == "pandas":
        return shuffled
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(
            {name: shuffled[name].to_numpy() for name in shuffled}
        )
    if kind == "arrow":
        return pytest.importorskip("pyarrow").table(
            {name: shuffled[name].to_numpy() for name in shuffled}
        )
    if kind == "table":
        return cw.read(shuffled)
    if kind == "dict":
        return {name: shuffled[name].tolist() for name in shuffled}
    return frame.to_numpy()


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "table", "dict", "numpy"])
def test_names_decide_in_every_kind_of_table(model, frame, kind):
    expected = cw.explain(model, frame)
    data = as_kind(frame, kind)
    why = cw.explain(model, data)
    assert why.columns == tuple(NAMES)
    assert_allclose(why.values(data).values, expected.values(frame).values, atol=1e-12)
    found = cw.shapley(model, data)
    assert_allclose(found.values, expected.shapley(frame).values, atol=1e-12)
    assert_allclose(
        why.effect("power", kind="component").values,
        expected.effect("power", kind="component").values,
        atol=1e-12,
    )


def test_rows_keep_the_labels_of_a_pandas_index(model, frame):
    found = cw.explain(model, frame).shapley(frame.iloc[[5, 3]])
    assert found.rows.tolist() == ["row 5", "row 3"]
    assert found.to_frame("dict")["row"] == ["row 5", "row 3"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
def test_results_become_frames_of_each_library(model, frame, library):
    if library != "dict":
        pytest.importorskip(library)
    why = cw.explain(model, frame)
    for result in (
        why,
        why.importance(),
        why.interactions(),
        why.values(frame),
        why.effect("age", kind="component"),
        why.shapley(frame),
    ):
        assert result.to_frame(library) is not None
        text = json.dumps(result.to_json(), allow_nan=False)
        assert "interventional" in text
        assert "interventional" in repr(result)
    assert why._repr_html_().startswith("<div>")


def test_a_background_lacking_a_column_is_answered_with_its_name(model, frame):
    with pytest.raises(cw.InputError, match="speed"):
        cw.explain(model, frame[["age", "power"]])


def test_arrays_of_the_wrong_width_are_refused(model, X):
    with pytest.raises(cw.InputError, match=r"shape \(60, 2\)|2 columns|2 features"):
        cw.explain(model, X[:, :2])


def test_an_empty_background_is_refused(model, frame):
    with pytest.raises(cw.InputError, match="no rows"):
        cw.explain(model, frame.iloc[:0])
    with pytest.raises(cw.InputError, match="no rows"):
        cw.shapley(model, frame.iloc[:0], frame)


def test_a_background_of_one_row_is_allowed_and_said(model, frame):
    why = cw.explain(model, frame.iloc[:1])
    assert "single row" in repr(why)
    found = cw.shapley(model, frame.iloc[:1], frame)
    assert "single row" in found.notes[0]
    assert_allclose(found.baseline, model.predict(frame.iloc[:1])[0])
    assert_allclose(found.prediction, model.predict(frame), atol=1e-9)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(60), "every row has the weight 0"),
        (np.ones(3), "60 rows"),
        (np.full(60, -1.0), "the weight of row 0 is -1"),
        (np.full(60, np.nan), "the weight of row 0 is nan"),
    ],
)
def test_wrong_weights_are_refused(model, frame, weights, message):
    with pytest.raises(cw.InputError, match=message):
        cw.explain(model, frame, weights=weights)


def test_the_weight_column_of_a_table_is_used(frame):
    weights = np.linspace(0, 1, 60)
    data = cw.read({**{n: frame[n].tolist() for n in NAMES}, "w": weights}, weight="w")
    model = LinearRegression().fit(frame, frame["age"])
    why = cw.explain(model, data)
    assert why.background.weighted
    assert why.baseline == pytest.approx(np.average(frame["age"], weights=weights))


@pytest.mark.parametrize("max_order", [0, -1, 1.5, "2", True])
def test_orders_that_are_no_whole_numbers_are_refused(model, frame, max_order):
    with pytest.raises(cw.InputError, match="max_order"):
        cw.explain(model, frame, max_order=max_order)


def test_orders_beyond_the_model_are_clipped_with_a_note(frame):
    model = DecisionTreeRegressor(max_depth=2).fit(frame, frame["age"] * frame["power"])
    why = cw.explain(model, frame, max_order=9)
    assert why.order == 2
    assert "complete at order 2" in why.notes[0]
    assert cw.explain(model, frame).notes == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": "probability"}, r"use scale='raw'|no probabilities"),
        ({"scale": "nonsense"}, "scale='nonsense'"),
        ({"output": "yes"}, "no output 'yes'"),
    ],
)
def test_scales_and_outputs_that_are_not_there_are_refused(model, frame, options, message):
    with pytest.raises(cw.InputError, match=message):
        cw.explain(model, frame, **options)


def test_gaps_the_background_never_had_are_warned_of_and_go_the_default_way(frame):
    model = HistGradientBoostingRegressor(max_iter=5).fit(frame, frame["age"])
    why = cw.explain(model, frame)
    gaps = frame.copy()
    gaps.iloc[0, 0] = np.nan
    with pytest.warns(cw.ClearwoodWarning, match=r"column 'age' lacks values.*default way") as said:
        found = why.shapley(gaps)
    assert len(said) == 1
    assert_allclose(found.prediction, model.predict(gaps), atol=1e-9)


def test_gaps_the_background_has_are_not_warned_of(frame):
    gaps = frame.copy()
    gaps.iloc[::4, 0] = np.nan
    model = HistGradientBoostingRegressor(max_iter=5).fit(gaps, frame["age"])
    found = cw.explain(model, gaps).shapley(gaps)
    assert_allclose(found.prediction, model.predict(gaps), atol=1e-9)


def test_native_categories_of_pandas_are_shown_by_level(frame):
    pd = pytest.importorskip("pandas")
    lightgbm = pytest.importorskip("lightgbm")
    town = pd.Categorical(np.resize(["Bern", "Chur", "Basel", None], 60))
    data = frame.assign(town=town)
    y = frame["age"] + np.where(town == "Bern", 5, 0)
    model = lightgbm.LGBMRegressor(
        n_estimators=5,
        min_child_samples=2,
        min_data_per_group=1,
        cat_smooth=0,
        n_jobs=1,
        verbose=-1,
    ).fit(data, y)
    why = cw.explain(model, data)
    assert_allclose(why.predict(data) + why.remainder(data), model.predict(data), atol=1e-9)
    effect = why.effect("town", kind="component")
    assert effect.grid[0].tolist() == ["Basel", "Bern", "Chur", None]
    assert effect.values[1] == effect.values.max()


def test_without_takes_one_name_or_many_and_refuses_others(model, frame):
    why = cw.explain(model, frame)
    assert why.without("age").removed == ("age",)
    both = why.without(["power", "age"])
    assert both.removed == ("age", "power")
    assert why.without("age").without("power").components == both.components
    assert_allclose(both.values(frame)["age"], 0)
    with pytest.raises(cw.InputError, match="did you mean 'age'"):
        why.without("aeg")
    with pytest.raises(cw.InputError, match="was removed"):
        both.without("age")
    assert "without age, power" in repr(both)


def test_results_cannot_be_changed(model, frame):
    why = cw.explain(model, frame)
    with pytest.raises(AttributeError):
        why.baseline = 0.0
    with pytest.raises(AttributeError):
        why.shapley(frame).values = None


def test_a_linear_model_is_asked_about_numbers_only(frame):
    model = LinearRegression().fit(frame, frame["age"])
    why = cw.explain(model, frame)
    gaps = frame.copy()
    gaps.iloc[3, 1] = np.nan
    with pytest.raises(cw.InputError, match="'power' has a missing value in row 3"):
        why.shapley(gaps)
    with pytest.raises(cw.InputError, match=r"'speed' holds .*whole pipeline"):
        why.shapley(frame.assign(speed=["fast", "slow"] * 30))
