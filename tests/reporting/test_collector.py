"""What is computed, over how many rows, within budgets; and the model imported once."""

import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import clearwood as cw
from clearwood.explanation import leaves_of
from clearwood.forest.importers import from_model as home
from clearwood.reporting.collect.answers import _names_in_table, some_rows
from clearwood.reporting.collect.collector import SECTIONS, Collector, budgets_of, collect
from clearwood.reporting.collect.findings import Options, Step
from clearwood.reporting.collect.inputs import report_input
from clearwood.reporting.collect.stages import Stages


@pytest.fixture(scope="module")
def collector():
    data = cw.datasets.insurance(900)
    model = cw.learner("gbm", max_depth=3, max_iter=20).fit(data)
    return Collector(report_input(model, data), Options(quick=True), Stages(), set())


@pytest.fixture
def imported(monkeypatch):
    """The models of trees that are imported while a test runs, by their class."""
    for name in ("learner", "pipeline"):  # these bind the function that is replaced below
        import_module(f"clearwood.forest.importers.{name}")
    original, counted = home.from_model, []

    def counting(model):
        # a learner and a pipeline hand over to the importer of what is inside
        if not isinstance(model, cw.forest.Forest | cw.models.Learner | Pipeline):
            counted.append(type(model).__name__)
        return original(model)

    for module in [module for name, module in sys.modules.items() if name.startswith("clearwood")]:
        if vars(module).get("from_model") is original:
            monkeypatch.setattr(module, "from_model", counting)
    return counted


@pytest.mark.parametrize("kind", ["learner", "pipeline"])
def test_a_whole_report_imports_the_model_once(kind, imported):
    wine = cw.datasets.load("wine")
    data = wine.select([*wine.features[:4], wine.target])
    X = data.X.to_frame("pandas")
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    model = {
        "learner": lambda: cw.learner("gbm", max_iter=5).fit(data),
        "pipeline": lambda: make_pipeline(StandardScaler(), forest).fit(X, data.y),
    }[kind]()
    page = cw.report(model, data, quick=True, sample=40)
    assert [section.name for section in page.sections] == [
        n for n in SECTIONS if n not in ("terms", "table", "network", "fairness")
    ]
    assert len(imported) == 1


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_columns_that_a_learners_encoder_leaves_out_are_listed_and_the_model_is_imported_once(
    imported,
):
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    note = [f"note {k} says {k * 7919 % 1000}" for k in range(150)]
    raw = {"x": x, "note": note, "z": rng.normal(size=150), "y": x + rng.normal(size=150)}
    data = cw.read(raw, target="y", kinds={"note": "text"})
    model = cw.learner("gbm", max_iter=5).fit(data)
    given = report_input(model, data)
    assert given.features == model.schema_.features
    np.testing.assert_allclose(given.predict(data), model.predict(data))
    cw.report(model, data, quick=True, sample=30)
    assert len(imported) == 2  # here, and once for the report


def test_larger_models_are_explained_over_fewer_rows(collector):
    steps = 900 * 10 * 42 * collector.steps_of_prediction
    assert collector.rows_within(10 * steps, 900, 10) == 900
    assert 500 <= collector.rows_within(0.7 * steps, 900, 10) < 900
    assert collector.rows_within(1.0, 900, 10) == 500
    unknown = Collector(
        report_input(lambda frame: frame["age"].to_numpy() * 1.0, collector.table),
        Options(),
        Stages(),
        set(),
    )
    assert unknown.steps_of_prediction > 10 * collector.steps_of_prediction


def test_a_small_budget_means_fewer_rows_and_too_small_a_one_means_sampling(collector):
    assert collector.exact_rows(1e9) == 900
    n_leaves = leaves_of(collector.given.explanation.exact_game)
    assert collector.exact_rows(n_leaves * (7500 + 300 * 10)) == 300
    assert collector.exact_rows(1.0) is None


def test_the_decomposition_has_as_many_rows_as_its_budget_allows(collector):
    steps = leaves_of(collector.given.explanation.exact_game) * (7500 + 300 * 10)
    for budget, is_exact in ((steps, True), (1.0, False)):
        one = replace(collector)
        one.budgets = replace(collector.budgets, decomposition=budget)
        result = one._decomposition()
        assert result.background.n_rows == (300 if is_exact else 200)
        assert one.is_sampled != is_exact


def test_a_time_limit_is_shared_by_the_steps_and_there_is_none_by_default():
    usual, short = budgets_of(Options()), budgets_of(Options(time_limit=6.5))
    assert short.effects == pytest.approx(usual.effects / 10)
    assert short.agreement_rows == usual.agreement_rows
    assert budgets_of(Options(before={"benchmark": 7200.0})) == usual
    given = report_input(lambda X: X[:, 0], np.random.default_rng(0).normal(size=(30, 3)))
    for limit in (None, 10.0):
        collector = Collector(given, Options(time_limit=limit), Stages(), set())
        seconds = [collector.seconds_of(step) for step in (Step.EFFECTS, Step.CONDENSE)]
        assert all(one is None for one in seconds) if limit is None else sum(seconds) < limit
    with pytest.raises(cw.InputError, match="time_limit=0"):
        cw.report(lambda X: X[:, 0], np.eye(3), time_limit=0)


def test_positions_get_the_names_of_the_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = cw.forest.from_model(
        RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, X[:, 0] > 0)
    )
    data = cw.read({"width": X[:, 0], "height": X[:, 1]})
    given = report_input(model, data)
    names = dict(zip(("x0", "x1"), given.features, strict=True))
    assert _names_in_table(given.explanation, ("x0", "x1")) == names
    own = _names_in_table(given.explanation, given.features)
    assert own == {name: name for name in given.features}


def test_drawn_rows_keep_their_order_and_come_with_the_seed():
    table = cw.read({"x": np.arange(100.0) ** 2, "y": np.ones(100)}, ignore="y")
    few = some_rows(table, 10, seed=1)
    assert few.n_rows == 10
    assert np.all(np.diff(few["x"].values) > 0)
    np.testing.assert_array_equal(few["x"].values, some_rows(table, 10, seed=1)["x"].values)
    assert some_rows(table, 100, seed=1) is table


def test_a_model_that_is_sampled_has_fewer_rows_on_the_page_unless_they_are_asked_for():
    data = cw.datasets.insurance(200)
    options = Options(quick=True, sample=150, sections=("individual",))
    given = report_input(lambda frame: frame["age"].to_numpy() * 1.0, data)
    fewer = collect(given, title="t", options=options)
    assert fewer.is_sampled
    assert len(fewer.shapley) == fewer.sample.n_rows == 30
    np.testing.assert_array_equal(fewer.sample["age"].values, data["age"].values[fewer.sample_rows])
    wanted = replace(options, sample=40, given={"sample": 40})
    assert collect(given, title="t", options=wanted).sample.n_rows == 40
