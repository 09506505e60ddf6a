"""The page's script predicts and explains what the library predicts and explains."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

import clearwood as cw
from clearwood.reporting import Prose, Report, Section
from clearwood.reporting.browser.columns import Probe, mixed_rows, page_values
from clearwood.reporting.browser.page_model import page_model

ROWS = 300

FEW = {
    "xgboost": {"n_estimators": 15, "max_depth": 4},
    "lightgbm": {"n_estimators": 15},
    "catboost": {"iterations": 15},
    "gbm": {"max_iter": 15},
    "forest": {"n_estimators": 8},
    "extra-trees": {"n_estimators": 5},
    "bagging": {"n_estimators": 5},
    "adaboost": {"n_estimators": 10},
    "ebm": {"max_rounds": 60},
    "isle": {"n_trees": 15, "folds": 2, "n_penalties": 5},
}
TREES = ["tree", "forest", "extra-trees", "bagging", "gbm", "xgboost", "lightgbm", "catboost"]
CASES = [
    *((name, task) for name in TREES for task in ("regression", "binary", "multiclass")),
    *((name, "count") for name in ("gbm", "xgboost", "lightgbm", "catboost", "glm", "ebm")),
    *(
        (name, task)
        for name in ("adaboost", "logistic", "lda")
        for task in ("binary", "multiclass")
    ),
    *((name, "regression") for name in ("ols", "ridge", "lasso", "pls", "baseline", "ebm")),
    *(("spline", task) for task in ("regression", "binary", "multiclass")),
    ("ebm", "binary"),
    ("ebm", "multiclass"),
    ("isle", "count"),
    ("isle", "binary"),
    ("one-vs-rest", "multiclass"),
    ("perceptron", "multiclass"),
    ("ordinal", "multiclass"),
]


def frame_of(task: str, n_rows: int = 220, seed: int = 0) -> pd.DataFrame:
    """A table with numbers, whole numbers, levels, gaps, an interaction and an outlier."""
    generator = np.random.default_rng(seed)
    size = generator.normal(size=n_rows)
    age = np.round(generator.gamma(4, 10, n_rows))
    town = generator.choice(["Bern", "Chur", "Genf", "Zug"], n_rows).astype(object)
    smoker = generator.choice(["yes", "no"], n_rows)
    income = np.exp(generator.normal(size=n_rows))
    income[generator.random(n_rows) < 0.15] = np.nan
    score = size + 0.03 * age * (town == "Bern") + (smoker == "yes") * np.nan_to_num(income)
    score += 0.3 * generator.normal(size=n_rows)
    town[generator.random(n_rows) < 0.1] = None
    y = {
        "regression": lambda: 100 * score,
        "count": lambda: generator.poisson(np.exp(0.3 * score)),
        "binary": lambda: np.where(score > np.median(score), "good", "bad"),
        "multiclass": lambda: np.array(["low", "mid", "top"])[
            np.digitize(score, np.quantile(score, [0.3, 0.7]))
        ],
    }[task]()
    columns = {"size": size, "age": age, "town": town, "smoker": smoker, "income": income}
    return pd.DataFrame({**columns, "y": y})


def table_of(task: str, **options):
    return cw.read(frame_of(task), target="y", task=task, **options)


@pytest.fixture(scope="module")
def script(browser, tmp_path_factory):
    """A page that is open, to call its functions."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(Report("Page", (Section("a", "A", (Prose(("words",)),)),)).to_html(), "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    yield page
    page.close()


COMPUTE = """({model, background, rows}) => {
  const read = clearwood.readModel(model);
  const explain = clearwood.explainer(read, background);
  return {
    baseline: Array.from(explain.baseline),
    rows: rows.map((row) => {
      const code = read.encode(row);
      const raw = read.raw(code);
      return {raw: [...raw], response: [...read.response(raw)], parts: [...explain.parts(code)]};
    }),
  };
}"""


def lines(table, columns):
    """Rows as the page holds them."""
    return [list(row) for row in zip(*(page_values(table.column(c)) for c in columns), strict=True)]


def answers(model, rows):
    """What the model itself answers, one column an output; of two classes the second."""
    if hasattr(model, "predict_proba"):
        found = np.asarray(model.predict_proba(rows))
        return found[:, 1:] if found.shape[1] == 2 else found
    if hasattr(model, "decision_function") and hasattr(model, "classes_"):
        return np.reshape(model.decision_function(rows), (len(rows), -1))
    return np.reshape(model.predict(rows), (len(rows), -1))


def check(script, model, background, *, as_frame=False):
    """Compare the page with the library on rows put together at random."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # made-up rows have gaps that were never seen
        explanation = cw.Explanation(model, background)
        found = page_model(explanation, background)
        assert found.data is not None, found.reason
        rows = mixed_rows(Probe(explanation.on(background).game, background), ROWS, seed=7)
        own = cw.shapley(model, background, rows)
        taken = rows.X.to_frame("pandas") if as_frame else rows
        expected = answers(model, taken)
    got = script.evaluate(
        COMPUTE,
        {
            "model": found.data,
            "background": lines(background, found.columns),
            "rows": lines(rows, found.columns),
        },
    )
    response = np.array([row["response"] for row in got["rows"]])
    parts = np.array([row["parts"] for row in got["rows"]])
    raw = np.array([row["raw"] for row in got["rows"]])
    size = np.maximum(1.0, np.abs(expected))
    assert (np.abs(response - expected) / size).max() < 1e-6
    values = own.values.reshape(ROWS, -1)
    np.testing.assert_allclose(parts, values, rtol=0, atol=1e-6 * max(1.0, np.abs(values).max()))
    np.testing.assert_allclose(got["baseline"], np.reshape(own.baseline, -1), rtol=1e-9)
    shares = parts.reshape(ROWS, len(found.columns), -1).sum(axis=1)
    total = got["baseline"] + shares
    np.testing.assert_allclose(total, raw, rtol=0, atol=2e-6 * max(1.0, np.abs(raw).max()))
    return found


@pytest.mark.parametrize(("name", "task"), CASES)
def test_the_page_computes_what_the_learner_and_its_shapley_values_are(script, name, task):
    table = table_of(task)
    model = cw.learner(name, task=task, **FEW.get(name, {})).fit(table)
    check(script, model, table)


def test_the_page_keeps_the_order_of_classes_that_the_table_states(script):
    frame = frame_of("multiclass").replace({"y": {"top": "high"}})
    table = cw.read(frame, target="y", kinds={"y": ["low", "mid", "high"]})
    model = cw.learner("ordinal").fit(table)
    assert list(model.classes_) == ["high", "low", "mid"]
    check(script, model, table)


@pytest.mark.parametrize("categories", ["onehot", "ordinal", "target"])
def test_levels_reach_the_trees_in_any_way(script, categories):
    table = table_of("binary")
    model = cw.learner("gbm", categories=categories, max_iter=10).fit(table)
    check(script, model, table)


def test_row_weights_of_the_table_weigh_the_background(script):
    frame = frame_of("regression").assign(weight=np.linspace(0.5, 3, 220))
    table = cw.read(frame, target="y", weight="weight")
    for name in ("gbm", "ridge"):
        found = check(script, cw.learner(name, **FEW.get(name, {})).fit(table), table)
        assert found.data["weights"] is not None


@pytest.mark.parametrize("name", ["gbm", "ols", "forest"])
def test_dates_are_taken_apart_in_the_page(script, name):
    frame = frame_of("regression")
    hours = np.random.default_rng(1).integers(0, 24 * 900, len(frame))
    frame["seen"] = pd.Timestamp("2021-01-05") + pd.to_timedelta(hours, unit="h")
    frame.loc[:5, "seen"] = pd.NaT
    frame["y"] += 20 * frame["seen"].dt.month.fillna(6)
    table = cw.read(frame, target="y")
    check(script, cw.learner(name, **FEW.get(name, {})).fit(table), table)


def test_pipelines_of_trees_are_followed_back_to_the_users_columns(script):
    table = cw.read(frame_of("binary"), target="y")
    frame = table.X.to_frame("pandas")
    steps = ColumnTransformer(
        [
            ("levels", OneHotEncoder(handle_unknown="ignore"), ["town", "smoker"]),
            ("numbers", StandardScaler(), ["size", "age"]),
            ("filled", SimpleImputer(add_indicator=True), ["income"]),
        ]
    )
    for last in (
        RandomForestClassifier(8, random_state=0),
        GradientBoostingClassifier(n_estimators=9),
    ):
        model = make_pipeline(steps, last).fit(frame, table.y)
        check(script, model, table, as_frame=True)


@pytest.mark.parametrize(
    "steps",
    [
        SplineTransformer(n_knots=5, extrapolation="linear"),
        KBinsDiscretizer(6, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
        make_pipeline(StandardScaler(), PolynomialFeatures(3, include_bias=False)),
        FunctionTransformer(np.cbrt, feature_names_out="one-to-one"),
    ],
    ids=["spline", "bins", "polynomial", "cube root"],
)
def test_curves_of_any_shape_become_pieces(script, steps):
    table = cw.read(frame_of("regression").drop(columns=["town", "smoker", "income"]), target="y")
    each = ColumnTransformer([(name, steps, [name]) for name in ("size", "age")])
    model = make_pipeline(each, Ridge()).fit(table.X.to_frame("pandas"), table.y)
    check(script, model, table, as_frame=True)


def test_models_of_plain_numbers_refuse_missing_values_in_the_page_too(script):
    table = cw.read(frame_of("regression")[["size", "age", "y"]], target="y")
    model = LinearRegression().fit(table.X.to_frame("pandas"), table.y)
    found = check(script, model, table, as_frame=True)
    assert [column["missing"] for column in found.data["columns"]] == [None, None]


def test_deep_trees_and_many_columns_are_shared_exactly(script):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 25))
    y = np.sin(X).sum(axis=1) + X[:, 0] * X[:, 1]
    table = cw.read({f"c{k}": X[:, k] for k in range(25)} | {"y": y}, target="y")
    model = cw.learner("extra-trees", n_estimators=4).fit(table)
    assert cw.Explanation(model, table).on(table).game.order > 12
    check(script, model, table)
