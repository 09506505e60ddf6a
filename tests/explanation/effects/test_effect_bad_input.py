"""What `cw.effect` says when a model, a column or an option cannot be used."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import clearwood as cw

X = np.random.default_rng(0).normal(size=(60, 3))


def first(X):
    return X[:, 0]


def test_unknown_column_is_answered_with_the_nearest():
    data = cw.datasets.load("diabetes")
    model = cw.learner("ols").fit(data)
    with pytest.raises(cw.InputError, match=r"no column 'bim'.*'bmi'"):
        cw.effect(model, data, "bim")


def test_unknown_kind_scale_and_output_are_answered_with_the_nearest():
    with pytest.raises(cw.InputError, match=r"'pdpp'.*'pdp'"):
        cw.effect(first, X, "x0", kind="pdpp")
    with pytest.raises(cw.InputError, match=r"'marginn'.*'margin'"):
        cw.effect(first, X, "x0", scale="marginn")
    wine = cw.datasets.load("wine")
    model = cw.learner("logistic").fit(wine)
    with pytest.raises(cw.InputError, match="no output 'class_9'"):
        cw.effect(model, wine, "ash", output="class_9")


@pytest.mark.parametrize("kind", ["pdp", "ice", "marginal", "ale", "supported_pdp"])
def test_constant_and_empty_columns_are_refused(kind):
    made = np.column_stack([X[:, 0], np.full(60, 3.0), np.full(60, np.nan)])
    with pytest.raises(cw.InputError, match="'x1' is constant in these rows: it is 3"):
        cw.effect(first, made, "x1", kind=kind)
    with pytest.raises(cw.InputError, match="'x2' is all missing"):
        cw.effect(first, made, "x2", kind=kind)


def test_one_row_is_not_enough():
    with pytest.raises(cw.InputError, match="1 row"):
        cw.effect(first, X[:1], "x0")


@pytest.mark.parametrize("kind", ["pdp", "ice", "marginal", "ale", "supported_pdp"])
def test_two_rows_and_two_points_are(kind):
    assert np.isfinite(cw.effect(first, X[:2], "x0", kind=kind, points=2).values).all()
    found = cw.effect(first, X, "x0", kind=kind, points=2)
    assert len(found.grid[0]) in (2, 3)


def test_a_model_that_answers_with_the_wrong_length_is_refused():
    with pytest.raises(cw.InputError, match="gives 59 predictions for 60 rows"):
        cw.effect(lambda X: X[: 59 if len(X) == 60 else None, 0], X, "x0", kind="marginal")


def test_a_model_that_answers_nan_is_refused_with_the_count():
    def odd(X):
        return np.where(X[:, 0] > 1, np.nan, 1.0)

    count = int((X[:, 0] > 1).sum())
    with pytest.raises(cw.InputError, match=f"NaN or infinity for {count} of 60 rows"):
        cw.effect(odd, X, "x0", kind="marginal")


def test_a_model_that_answers_words_is_refused():
    with pytest.raises(cw.InputError, match=r"'yes'.*not a number"):
        cw.effect(lambda X: np.full(len(X), "yes"), X, "x0")


def test_functions_get_a_frame_or_an_array_as_they_need():
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    by_name = cw.effect(lambda rows: rows["a"] * 2, frame, "a")
    by_position = cw.effect(lambda rows: rows[:, 0] * 2, frame, "a")
    np.testing.assert_allclose(by_name.values, by_position.values)


def test_a_model_fitted_to_names_takes_an_array_and_the_other_way_round():
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = LinearRegression().fit(frame, X[:, 0])
    assert cw.effect(named, X, "a").columns == ("a",)
    nameless = LinearRegression().fit(X, X[:, 0])
    assert cw.effect(nameless, frame, "a").exact


def test_a_model_that_takes_neither_says_why():
    def broken(rows):
        raise RuntimeError("no such device")

    with pytest.raises(cw.InputError, match="no such device"):
        cw.effect(broken, X, "x0")


def test_unfitted_models_classes_and_other_things_are_refused():
    with pytest.raises(cw.InputError, match="fit"):
        cw.effect(LinearRegression(), X, "x0")
    with pytest.raises(cw.InputError, match="is a class"):
        cw.effect(LinearRegression, X, "x0")
    with pytest.raises(cw.InputError, match="no `predict`"):
        cw.effect(3, X, "x0")
    with pytest.raises(cw.InputError, match="not fitted"):
        cw.effect(cw.learner("ridge"), cw.datasets.load("diabetes"), "bmi")


def test_ten_thousand_levels_show_the_most_common_and_say_so():
    rng = np.random.default_rng(1)
    names = np.array([f"town {k}" for k in range(10_000)])
    town = np.concatenate([rng.choice(names[:5], 6000), names])
    data = cw.read(
        {"town": town, "a": rng.normal(size=16_000), "y": rng.normal(size=16_000)},
        target="y",
        kinds={"town": "category"},
    )
    model = cw.learner("ridge", categories="target").fit(data)
    for kind in ("pdp", "ale", "marginal"):
        with pytest.warns(cw.ClearwoodWarning, match=r"10,000 levels; the 50 most common"):
            found = cw.effect(model, data, "town", kind=kind, extrapolation=False)
        assert len(found.grid[0]) == 50
        assert {f"town {k}" for k in range(5)} <= set(found.grid[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"points": 1}, "at least 2"),
        ({"confidence": 90}, "between 0 and 1"),
        ({"n_bootstrap": -1}, "number of draws"),
        ({"sample": 1}, "sample=1: it must be a whole number of at least 2"),
        ({"points": "many"}, "points='many': it must be a whole number of at least 2"),
        ({"confidence": "high"}, "confidence='high': it must lie between 0 and 1"),
        ({"derivative": True}, "individual curves"),
        ({"n_refits": 3}, "cannot be refitted"),
        ({"scale": "probability"}, "no probabilities"),
    ],
)
def test_odd_options_are_refused(options, message):
    with pytest.raises(cw.InputError, match=message):
        cw.effect(first, X, "x0", **options)


def test_three_columns_and_one_twice_are_refused():
    with pytest.raises(cw.InputError, match="one column or two, not 3"):
        cw.effect(first, X, ("x0", "x1", "x2"))
    with pytest.raises(cw.InputError, match="twice"):
        cw.effect(first, X, ("x0", "x0"))
    with pytest.raises(cw.InputError, match="of one column"):
        cw.effect(first, X, ("x0", "x1"), kind="ice")


def test_a_sample_is_used_when_asked_for():
    found = cw.effect(first, X, "x1", sample=10)
    assert found.n_rows == 10


def test_a_column_with_one_value_besides_missing_has_an_effect_but_no_interaction():
    made = np.column_stack([np.where(np.arange(60) % 3 == 0, np.nan, 2.0), X[:, 1]])
    model = lambda X: np.isnan(X[:, 0]) + X[:, 1]  # noqa: E731
    for kind in ("pdp", "ice", "marginal", "ale", "supported_pdp"):
        alone = cw.effect(model, made, "x0", kind=kind)
        assert alone.values[1] - alone.values[0] == pytest.approx(1, abs=0.5)
    with pytest.raises(cw.InputError, match="two values of either"):
        cw.effect(model, made, ("x0", "x1"), kind="ale")
