"""Directions of models: proofs against brute force and random search, witnesses, bad input."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood import InputError
from clearwood.explanation.monotone.forests import ForestSplits, axes_of, least_step

LEARNERS = ["gbm", "tree", "forest", "glass", "gam", "lightgbm", "xgboost", "catboost", "ebm"]


def policies(n=250, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.gamma(3.0, 1000.0, n),
            "region": rng.choice(["North", "it's <b>", "Süd"], n),
            "z": rng.normal(size=n),
        }
    )
    signal = 0.03 * frame["age"] - 0.0005 * frame["income"] + np.sin(3 * frame["z"])
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame["y"] = signal + 0.5 * (frame["region"] == "Süd") + 0.3 * rng.normal(size=n)
    return frame


def table(**options):
    return cw.read(policies(**options), target="y")


def attacked(model, column, way, *, n=4_000, seed=1):
    """Return the largest step against a direction among rows drawn far beyond the data."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 120, n).astype(float),
            "income": rng.normal(3000, 4000, n),
            "region": rng.choice(["North", "it's <b>", "Süd"], n),
            "z": rng.normal(size=n) * 3,
        }
    )
    for name in ("age", "income", "z"):
        frame.loc[(rng.random(n) < 0.1) & (name != column), name] = np.nan
    frame.loc[rng.random(n) < 0.1, "region"] = None
    near = rng.choice(policies()[column].dropna(), (n, 2)) + rng.normal(size=(n, 2))
    low, high = np.sort(np.round(near) if column == "age" else near, axis=1).T
    predicted = [
        np.asarray(model.predict(frame.assign(**{column: values})), float) for values in (low, high)
    ]
    change = predicted[1] - predicted[0]
    return float(max(0.0, np.max(-change if way == "up" else change)))


# Proofs


@pytest.mark.parametrize("seed", range(6))
def test_the_least_step_of_a_forest_is_that_of_all_cells(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(120, 4)), 1)
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 0] * X[:, 2]
    model = GradientBoostingRegressor(n_estimators=4, max_depth=3, random_state=seed).fit(X, y)
    game = cw.explain(model, X).game
    rows = game.rows(X)
    axes = axes_of(game.forest, rows, np.asarray(game.groups))
    splits = ForestSplits(game.forest, axes, game.forest.leaf_value[:, 0])
    mine = next(a for a, axis in enumerate(axes) if axis.player == 0)
    values = [axis.codes[:, 0][~np.isnan(axis.codes[:, 0])] for axis in axes]
    cells = np.array(list(product(*values)))
    full = np.zeros((len(cells), 4))
    full[:, [axis.player for axis in axes]] = cells
    score = game.forest.predict_raw(full).reshape([len(v) for v in values])
    brute = np.diff(score, axis=mine).min()
    order = np.arange(len(values[mine])).tolist()
    # no step is a witness, so that the search goes on to the least one
    least = least_step(splits, mine, order, tolerance=-brute * (1 - 1e-9), budget=10**7)
    assert least.change == pytest.approx(brute, abs=1e-12)
    place = least.place
    at = np.zeros((2, 4))
    for a, cell in place.items():
        at[:, axes[a].player] = axes[a].codes[cell, 0]
    at[:, 0] = axes[mine].codes[[least.before, least.after], 0]
    assert np.diff(game.forest.predict_raw(at))[0] == pytest.approx(brute, abs=1e-12)


@pytest.mark.parametrize("name", LEARNERS)
def test_constraints_are_proved_and_no_random_rows_refute_them(name):
    data = table()
    wanted = {"age": "up", "income": "down"}
    pytest.importorskip({"ebm": "interpret"}.get(name, name if name in _LIBRARIES else "numpy"))
    few = {"ebm": {"max_rounds": 200}}.get(name, {})
    model = cw.learner(name, monotone=wanted, **few).fit(data)
    known = cw.monotone(model, data, wanted)
    assert [claim.proved for claim in known.claims] == [True, True]
    assert known.holds is True
    for column, way in wanted.items():
        assert attacked(model, column, way) < 1e-5


_LIBRARIES = ("lightgbm", "xgboost", "catboost")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gbm", {"max_iter": 5}),
        ("glass", {"order": 1}),
        ("gam", {}),
        ("mars", {}),
        ("tree", {"max_depth": 2}),
        ("planted", {"order": 1, "n_trees": 1, "n_splits": 2}),
    ],
)
def test_what_is_proved_is_never_refuted_without_constraints_either(name, settings):
    data = table()
    model = cw.learner(name, **settings).fit(data)
    claims = cw.monotone(model, data).claims
    assert any(claim.proved and claim.direction != "neither" for claim in claims)
    for claim in claims:
        if claim.proved and claim.direction != "neither":
            for way in {"up", "down"} if claim.direction == "flat" else {claim.direction}:
                assert attacked(model, claim.column, way) < 1e-5


def test_a_violation_that_no_row_shows_is_constructed():
    """The only fall is where x0 > 5 and x1 > 5, and no row has both."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (400, 3))
    X[(X[:, 0] > 5) & (X[:, 1] > 5), 1] = 2.0
    corner = np.array([[9.0, 9.0, 5.0]] * 3)
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(
        np.vstack([X, corner]), np.append(X[:, 0] > 5, [-4.0] * 3)
    )
    claim = cw.monotone(model, X, {"x0": "up"}, n_rows=3)["x0"]
    assert claim.holds is False
    rows = [[row[f"x{k}"] for k in range(3)] for row in (claim.against.low, claim.against.high)]
    low, high = model.predict(rows)
    assert (low, high) == (claim.against.predicted_low, claim.against.predicted_high)
    assert high < low
    assert rows[0][1:] == rows[1][1:]


def test_witnesses_differ_in_one_column_and_predict_what_they_state():
    data = table()
    model = cw.learner("gbm").fit(data)
    claim = cw.monotone(model, data, {"z": "up"})["z"]
    assert claim.holds is False
    pair = claim.against
    assert {k for k in pair.low if pair.low[k] != pair.high[k]} == {"z"}
    predicted = model.predict(pd.DataFrame([pair.low, pair.high]))
    np.testing.assert_allclose(predicted, [pair.predicted_low, pair.predicted_high])
    assert claim.n_against > 0


def test_models_of_libraries_are_proved_as_they_are():
    lightgbm = pytest.importorskip("lightgbm")
    frame = policies().dropna()
    X, y = frame[["age", "income", "z"]], frame["y"]
    model = lightgbm.LGBMRegressor(n_estimators=30, monotone_constraints=[1, -1, 0], verbose=-1)
    known = cw.explain(model.fit(X, y), X).monotone({"age": "up", "income": "down"})
    assert known.holds is True
    forest = RandomForestClassifier(10, monotonic_cst=[1, 0, 0], random_state=0).fit(X, y > 0)
    assert cw.monotone(forest, X, {"age": "up"}).holds is True
    line = LogisticRegression().fit(X, y > 0)
    assert cw.monotone(line, X, "age")["age"].proved


def test_ordered_categories_and_yes_no_columns_have_directions():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 3, 300)
    frame = pd.DataFrame({"size": np.array(["S", "M", "L"])[level], "new": rng.random(300) < 0.5})
    frame["y"] = level + frame["new"] + 0.1 * rng.normal(size=300)
    data = cw.read(frame, target="y", kinds={"size": ["S", "M", "L"]})
    wanted = {"size": "up", "new": "up"}
    for name in ("gbm", "tree"):
        model = cw.learner(name, monotone=wanted).fit(data)
        assert cw.monotone(model, data, wanted).holds is True


def test_a_black_box_is_counted_and_marked_as_not_proved():
    X = np.random.default_rng(0).normal(size=(100, 2))
    claim = cw.monotone(lambda X: X[:, 0] ** 3 + X[:, 1], X, {"x0": "up"})["x0"]
    assert claim.holds is None
    assert not claim.proved
    assert claim.direction == "up"
    assert claim.sentence.startswith("not proved: the prediction rises in all")


def test_a_column_that_the_model_ignores_is_flat():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0] > 0)
    claim = cw.monotone(model, X)["x1"]
    assert (claim.direction, claim.proved) == ("flat", True)


def test_the_result_has_text_frame_and_json():
    data = table()
    known = cw.monotone(cw.learner("gbm", max_iter=20).fit(data), data, {"z": "down"})
    assert "two rows: from" in repr(known)
    assert known.to_frame("dict")["column"] == ["z"]
    assert known.to_json()["claims"][0]["holds"] is False


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"ag": "up"}, "there is no column 'ag'.*did you mean 'age'"),
        ({"age": "rising"}, "direction of column 'age' must be 'up' or 'down'"),
        ({"age": None}, "direction of column 'age' must be 'up' or 'down'"),
        ({"region": "up"}, "column 'region' is a category, whose values have no order"),
    ],
)
def test_columns_that_cannot_be_meant_are_named(columns, message):
    data = table(n=80)
    with pytest.raises(InputError, match=message):
        cw.monotone(cw.learner("tree").fit(data), data, columns)


def test_several_outputs_need_a_name():
    wine = cw.datasets.load("wine")
    model = cw.learner("tree").fit(wine)
    with pytest.raises(InputError, match="3 outputs, and directions are of one"):
        cw.monotone(model, wine)


def test_a_column_with_an_indicator_of_gaps_is_proved_too():
    X, y = policies()[["income", "age", "z"]], policies()["y"]
    trees = HistGradientBoostingRegressor(max_iter=20, monotonic_cst=[-1, 0, 0, 0])
    model = make_pipeline(SimpleImputer(add_indicator=True), trees).fit(X, y)
    known = cw.monotone(model, X, {"income": "down", "z": "up"})
    assert (known["income"].holds, known["z"].holds) == (True, False)


def test_one_row_and_rows_without_a_value_are_no_reason_to_fail():
    data = table()
    model = cw.learner("gbm", max_iter=5, monotone={"age": "up"}).fit(data)
    assert cw.monotone(model, data.head(1), {"age": "up"}).holds is True
    gaps = policies().assign(age=np.nan).drop(columns="y").head(5)
    claim = cw.monotone(model, gaps, {"age": "up"})["age"]
    assert claim.n_steps == 0


def test_names_of_several_lines_and_huge_numbers_are_written_in_one_line():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a\nb <i>'": 1e300 * rng.normal(size=200), "k": rng.normal(size=200)})
    frame["y"] = np.where(rng.random(200) < 0.5 + 0.3 * (frame["k"] > 0), "yes", "no")
    data = cw.read(frame, target="y")
    model = cw.learner("scorecard", monotone={"k": "up"}).fit(data)
    known = cw.monotone(model, data, {"k": "up", "a\nb <i>'": "up"})
    assert known["k"].holds is True
    text = repr(known).splitlines()
    assert len(text) in (3, 4)
    assert text[2].startswith("  a b <i>': ")
    points = cw.factors(model, data, points=(600, 50, 20)).points
    assert all(line[:1] in ("P", " ", "r") for line in repr(points).splitlines())
