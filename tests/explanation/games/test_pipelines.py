"""Pipelines that end in a linear model: what each column adds, read off the coefficients."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

import clearwood as cw
from clearwood import InputError
from clearwood.explanation import NotDecomposableError
from clearwood.explanation.games.from_model import game_of
from clearwood.explanation.games.pipelines import ColumnTerms

NUMBERS, LEVELS = ["a", "b", "c", "d"], ["u", "v"]


def table(n_rows=400, seed=0):
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame({name: generator.normal(size=n_rows) for name in NUMBERS})
    frame["u"] = generator.choice(["x", "y", "z"], n_rows)
    frame["v"] = generator.choice(["left", "right"], n_rows)
    target = 2 * frame["a"] - frame["b"] + (frame["u"] == "y") + generator.normal(size=n_rows)
    return frame, target


def columnwise(*numbers, sparse=True):
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=sparse)
    return make_column_transformer((make_pipeline(*numbers), NUMBERS), (encoder, LEVELS))


STEPS = {
    "scaled": columnwise(SimpleImputer(), StandardScaler()),
    "dense": columnwise(StandardScaler(), sparse=False),
    "splines": columnwise(SplineTransformer(n_knots=4)),
    "bins": columnwise(KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")),
    "union": columnwise(
        FeatureUnion([("s", StandardScaler()), ("q", FunctionTransformer(np.square))])
    ),
}
ENDS = {
    "ridge": (Ridge(), lambda y: y),
    "poisson": (PoissonRegressor(), np.exp),
    "two classes": (LogisticRegression(), lambda y: y > 0),
    "three classes": (LogisticRegression(), lambda y: np.digitize(y, [-1, 1])),
}


def assert_same(terms, rows):
    """Compare with the column-by-column way, which measures from a reference row."""
    fast, slow = terms(rows), replace(terms, owners=None)(rows)
    assert_allclose(fast - fast[:1], slow - slow[:1], atol=1e-9)
    assert_allclose(terms.constant + fast.sum(axis=1), terms.score.of(rows), atol=1e-9)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("steps", STEPS)
def test_coefficients_give_what_holding_each_column_gives(steps, end):
    frame, target = table()
    last, of = ENDS[end]
    model = make_pipeline(STEPS[steps], last).fit(frame, of(target))
    terms = game_of(model, frame).reader.terms
    assert terms.owners is not None
    assert_same(terms, frame)


@pytest.mark.parametrize("library", ["pandas", "polars", "array"])
def test_terms_add_up_to_the_prediction_in_every_form(library):
    frame, target = table()
    data = {"pandas": frame, "polars": pl.from_pandas(frame), "array": frame[NUMBERS].to_numpy()}
    steps = STEPS["scaled"] if library != "array" else StandardScaler()
    model = make_pipeline(steps, Ridge()).fit(data[library], target)
    game = game_of(model, data[library])
    rows = game.rows(data[library][:7])
    assert_allclose(game.predict(rows)[:, 0], model.predict(data[library][:7]), atol=1e-10)


def test_levels_that_the_checked_rows_lack_get_their_own_column():
    frame, target = table(600)
    frame.loc[frame.index[:500], "u"] = "x"  # only rows that are not checked have other levels
    model = make_pipeline(STEPS["scaled"], Ridge()).fit(frame, target)
    terms = game_of(model, frame).reader.terms
    assert (terms.owners < 0).sum() == 3
    assert_same(terms, frame)


def test_rows_may_have_levels_that_the_background_lacks():
    frame, target = table()
    model = make_pipeline(STEPS["scaled"], Ridge()).fit(frame, target)
    background, others = frame[frame["u"] == "x"], frame[frame["u"] != "x"]
    game = game_of(model, background)
    rows = game.rows(others)
    assert_allclose(game.predict(rows)[:, 0], model.predict(others), atol=1e-10)
    at = list(game.columns).index("u")
    assert (np.abs(game.terms(rows.codes)[:, at]) > 1e-6).all()


def test_categories_of_rows_may_differ_from_those_of_the_background():
    frame, target = table()
    typed = frame.astype({"u": "category", "v": "category"})
    model = make_pipeline(STEPS["scaled"], Ridge()).fit(typed, target)
    few = frame[frame["u"] == "z"].head(4).astype({"u": "category", "v": "category"})
    game = game_of(model, typed)
    assert_allclose(game.predict(game.rows(few))[:, 0], model.predict(few), atol=1e-10)


@pytest.mark.parametrize("last", [Ridge(), LogisticRegression()])
def test_steps_that_mix_columns_linearly_are_a_part_of_the_linear_model(last):
    frame, target = table()
    target = target if isinstance(last, Ridge) else np.digitize(target, [-1, 1])
    model = make_pipeline(STEPS["dense"], PCA(4), last).fit(frame, target)
    terms = game_of(model, frame).reader.terms
    assert terms.owners is not None
    assert len(terms.score.steps) == 1
    assert_same(terms, frame)


def test_steps_that_bend_what_they_mix_are_held_column_by_column():
    frame, target = table()
    bent = FunctionTransformer(np.tanh)  # a sum over columns only because the weights are zero
    model = make_pipeline(STEPS["dense"], PCA(4), bent, Ridge()).fit(frame, 0.0 * target)
    game = game_of(model, frame)
    assert_allclose(game.predict(game.rows(frame))[:, 0], model.predict(frame), atol=1e-10)


def test_steps_inside_a_learner_are_read_off_their_coefficients_too():
    frame, target = table()
    data = cw.read(frame.assign(target=target), target="target")
    model = cw.learner("spline").fit(data)
    game = game_of(model)
    rows = game.reader(data)
    terms = ColumnTerms.of(game.adds.score, game.adds.reference[None, :], rows.codes)
    assert terms.owners is not None
    assert_same(terms, rows.codes)
    assert_allclose(game.predict(game.encode(rows))[:, 0], model.predict(data), atol=1e-9)


def test_steps_that_multiply_columns_are_refused():
    frame, target = table()
    X = frame[NUMBERS]
    model = make_pipeline(PolynomialFeatures(2), Ridge()).fit(X, target)
    with pytest.raises(NotDecomposableError, match="a step before the last mixes them"):
        game_of(model, X)


def test_large_data_is_read_in_blocks(monkeypatch):
    frame, target = table()
    model = make_pipeline(STEPS["scaled"], Ridge()).fit(frame, target)
    terms = game_of(model, frame).reader.terms
    whole = terms(frame)
    monkeypatch.setattr("clearwood.explanation.games.pipelines._CELLS_PER_BLOCK", 1)
    assert_allclose(terms(frame), whole, atol=1e-12)


def test_a_background_without_rows_is_refused():
    frame, target = table()
    model = make_pipeline(STEPS["scaled"], Ridge()).fit(frame, target)
    with pytest.raises(InputError, match="the background has no rows"):
        game_of(model, frame.head(0))


def test_no_rows_have_no_values():
    frame, target = table()
    model = make_pipeline(STEPS["scaled"], Ridge()).fit(frame, target)
    assert cw.shapley(model, frame, frame.head(0)).values.shape == (0, 6)


def test_contributions_of_a_pipeline_are_measured_from_its_zero():
    frame, target = table()
    model = make_pipeline(STEPS["scaled"], Ridge()).fit(frame, target)
    found = cw.contributions(model, frame, frame.head(3))
    assert_allclose(found.constant, model[-1].intercept_)
    scaled = model[:-1].transform(frame.head(3))
    assert_allclose(found.values[:, 0], scaled[:, 0] * model[-1].coef_[0])
    assert_allclose(found.total, model.predict(frame.head(3)))


def test_rows_that_are_held_column_by_column_are_measured_from_the_same_zero(monkeypatch):
    frame, target = table()
    model = make_pipeline(STEPS["scaled"], Ridge()).fit(frame, target)
    terms = game_of(model, frame).reader.terms
    fast = terms(frame.head(5))
    by_coefficients = ColumnTerms.by_coefficients

    def only_the_reference(self, rows):
        return by_coefficients(self, rows) if len(rows) == 1 else None

    monkeypatch.setattr(ColumnTerms, "by_coefficients", only_the_reference)
    assert_allclose(terms(frame.head(5)), fast, atol=1e-10)
