"""Every entry of the catalogue: complete, fits every task it lists, and learns something."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.models import Entry, catalogue
from clearwood.table import Task

ROUNDS = {"n_estimators", "max_iter", "iterations"}
BUILT_IN = catalogue.built_in()
# columns that form a grid are tested in networks/test_cnn.py
PAIRS = [(entry, task) for entry in BUILT_IN for task in sorted(entry.tasks) if entry.name != "cnn"]


def easy_table(n, seed):
    """An additive signal in two numbers and a category, with gaps, and a target for each task."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    c = rng.choice(["low", "middle", "high"], n)
    noise = 0.2 * rng.normal(size=n)
    signal = 1.2 * a - b + 1.5 * (c == "high") + noise
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "d": rng.choice(["x", "y"], n)})
    frame.loc[rng.random(n) < 0.05, "b"] = np.nan
    frame.loc[rng.random(n) < 0.05, "c"] = None
    targets = {
        Task.REGRESSION: 20 + 3 * signal,
        Task.COUNT: rng.poisson(np.exp(0.8 * signal)),
        Task.AMOUNT: 100 * np.exp(0.5 * signal) * (rng.random(n) < 0.9),
        Task.BINARY: np.where(signal > 0.4, "yes", "no"),
        Task.MULTICLASS: np.array(["1 few", "2 some", "3 many"])[np.digitize(signal, [-0.6, 1.2])],
    }
    return frame, targets


TRAIN, TRAIN_TARGETS = easy_table(150, seed=0)
TEST, TEST_TARGETS = easy_table(150, seed=1)


def quick_learner(entry, task, **settings):
    if entry.name == "stacking":
        settings["members"] = ["lda" if task.is_classification else "ols", "tree"]
    return cw.learner(entry.name, task=task.value, **{**entry.quick, **settings})


def risk(model, task):
    """Held-out error rate, or squared error."""
    truth, predicted = TEST_TARGETS[task], model.predict(TEST)
    if task.is_classification:
        return np.mean(truth != predicted)
    return np.mean((truth - predicted) ** 2)


@pytest.mark.parametrize(("entry", "task"), PAIRS, ids=lambda value: getattr(value, "name", value))
def test_every_entry_learns_an_easy_problem_for_each_of_its_tasks(entry, task):
    pytest.importorskip(entry.module or "numpy")
    if entry.name == "hyperplane":  # it is for classes that do not overlap, as these do
        with pytest.raises(cw.InputError, match="no hyperplane separates"):
            quick_learner(entry, task).fit(TRAIN, TRAIN_TARGETS[task])
        return
    model = quick_learner(entry, task).fit(TRAIN, TRAIN_TARGETS[task])
    baseline = cw.learner("baseline", task=task.value).fit(TRAIN, TRAIN_TARGETS[task])
    # boxes are kept only where rows held out confirm them, which 150 rows rarely do
    if entry.name not in ("baseline", "prim"):
        assert risk(model, task) < 0.85 * risk(baseline, task)
    if task.is_classification and hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(TEST)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
        likeliest = model.classes_[probabilities.argmax(axis=1)]
        # calibrated machines may give the nearest runner-up the larger probability
        assert np.mean(likeliest == model.predict(TEST)) > 0.9


@pytest.mark.parametrize(
    "entry", [entry for entry in BUILT_IN if entry.name != "cnn"], ids=lambda entry: entry.name
)
def test_random_points_of_the_tuning_space_are_valid_settings(entry):
    pytest.importorskip(entry.module or "numpy")
    assert set(entry.space) <= set(entry.defaults)
    task = sorted(entry.tasks)[-1]
    rng = np.random.default_rng(0)
    rows = slice(0, 60)
    for _ in range(3 if entry.space else 0):
        point = {name: dimension.sample(rng) for name, dimension in entry.space.items()}
        cheap = {name: value for name, value in point.items() if name not in ROUNDS}
        model = quick_learner(entry, task, **cheap)
        with warnings.catch_warnings():
            # a point may be a poor one, for which the solver does not get there
            warnings.filterwarnings("ignore", ".*stopped before it had converged")
            model.fit(TRAIN[rows], TRAIN_TARGETS[task][rows])
        predicted = model.predict(TEST)
        assert len(predicted) == len(TEST)
        assert task.is_classification or np.isfinite(predicted).all()


@pytest.mark.parametrize("entry", BUILT_IN, ids=lambda entry: entry.name)
def test_entries_say_what_they_are(entry):
    for text in (entry.title, entry.family, entry.source, entry.described_in, entry.loss):
        assert text
        assert text == text.strip()
    assert len(entry.title) <= 90
    assert entry.estimates
    assert entry.tasks
    assert entry.reading in ("glass box", "tree", "black box")
    assert 1 <= entry.complexity <= 9
    assert (entry.module is None) == (entry.extra is None)


@pytest.mark.parametrize("entry", BUILT_IN, ids=lambda entry: entry.name)
def test_the_ends_of_each_range_are_in_order_and_hold_the_default(entry):
    for name, dimension in entry.space.items():
        default = entry.defaults[name]
        if hasattr(dimension, "values"):
            assert default in dimension.values
        else:
            assert dimension.low < dimension.high
            assert not dimension.log or dimension.low > 0
            unset = default is None or isinstance(default, str) or default in (-1, 0.0)
            assert unset or dimension.low <= default <= dimension.high


RANDOM = ["perceptron", "svm", "tree", "bagging", "forest", "extra-trees", "adaboost", "mlp"]


@pytest.mark.parametrize(
    "name", [*RANDOM, "gbm", "lightgbm", "xgboost", "catboost", "ebm", "network"]
)
def test_the_same_seed_gives_the_same_model(name):
    entry = catalogue.get(name)
    pytest.importorskip(entry.module or "numpy")
    y = TRAIN_TARGETS[Task.BINARY]
    first, second = (quick_learner(entry, Task.BINARY).fit(TRAIN, y) for _ in range(2))
    method = "predict_proba" if hasattr(first, "predict_proba") else "predict"
    np.testing.assert_array_equal(getattr(first, method)(TEST), getattr(second, method)(TEST))


def test_the_catalogue_has_every_learner_the_documents_name():
    wanted = """baseline ols ridge lasso elastic-net lars omp pcr pls huber quantile glm logistic
    softmax one-vs-rest lda qda perceptron ordinal bayes-ridge knn kernel-ridge svm svr spline tree
    bagging forest extra-trees adaboost gbm stacking mlp lightgbm xgboost catboost ebm
    network transformer cnn"""
    assert set(wanted.split()) <= set(catalogue.names())


def test_a_mistyped_setting_error_offers_the_nearest():
    with pytest.raises(cw.InputError, match=r"no setting 'alhpa'.*did you mean 'alpha'"):
        cw.learner("ridge", alhpa=1.0)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("baseline", {"statistic": "mode"}),
        ("logistic", {"penalty": "l3"}),
        ("knn", {"metric": "taxi"}),
        ("svm", {"kernel": "radial"}),
        ("svm", {"probabilities": "plat"}),
        ("gbm", {"loss": "hinge"}),
        ("tree", {"prune": "two-se"}),
        ("network", {"optimizer": "adams"}),
    ],
)
def test_a_setting_that_is_not_one_of_the_known_words_is_refused(name, settings):
    ((setting, value),) = settings.items()
    with pytest.raises(cw.InputError, match=rf"{setting}='{value}' is not a known value.*Hint"):
        cw.learner(name, **settings).fit(TRAIN, TRAIN_TARGETS[Task.BINARY])


def test_building_an_entry_is_what_imports_its_library():
    import subprocess
    import sys

    code = (
        "import sys; from clearwood.models.catalogue import entries; entries();"
        "print([m for m in ('lightgbm', 'xgboost', 'catboost', 'interpret', 'statsmodels', 'torch')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("metric", "weights"), [("cosine", "distance"), ("jaccard", "uniform")])
def test_neighbours_by_other_distances(metric, weights):
    task = Task.BINARY
    model = cw.learner("knn", metric=metric, weights=weights).fit(TRAIN, TRAIN_TARGETS[task])
    baseline = cw.learner("baseline").fit(TRAIN, TRAIN_TARGETS[task])
    assert risk(model, task) < 0.8 * risk(baseline, task)


@pytest.mark.parametrize("penalty", ["none", "l1", "l2", "elastic-net"])
def test_logistic_regression_with_each_penalty(penalty):
    y = TRAIN_TARGETS[Task.BINARY]
    model = cw.learner("logistic", penalty=penalty, C=0.05, l1_ratio=0.9).fit(TRAIN, y)
    zeros = np.count_nonzero(model.estimator_.coef_ == 0)
    assert (zeros > 0) == (penalty in ("l1", "elastic-net"))


@pytest.mark.parametrize("probabilities", ["platt", "isotonic", "none"])
def test_support_vector_machines_predict_probabilities_on_request(probabilities):
    y = TRAIN_TARGETS[Task.BINARY]
    model = cw.learner("svm", probabilities=probabilities).fit(TRAIN, y)
    assert hasattr(model, "predict_proba") == (probabilities != "none")


def test_a_loss_decides_what_boosting_estimates():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 1)), rng.exponential(size=400)
    settings = {"max_iter": 30, "max_leaf_nodes": 3}
    high = cw.learner("gbm", loss="quantile", quantile=0.9, **settings).fit(X, y).predict(X)
    median = cw.learner("gbm", loss="absolute_error", **settings).fit(X, y).predict(X)
    assert np.mean(y < high) == pytest.approx(0.9, abs=0.04)
    assert np.mean(y < median) == pytest.approx(0.5, abs=0.06)


def test_the_quantile_learner_covers_its_share_of_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = 1000 * (X[:, 0] + rng.exponential(size=300))
    model = cw.learner("quantile", quantile=0.8, alpha=1e-5).fit(X, y)
    assert np.mean(y < model.predict(X)) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("name", ["gbm", "lightgbm", "xgboost", "ebm"])
def test_native_categories_are_split_as_sets_not_as_numbers(name):
    entry = catalogue.get(name)
    pytest.importorskip(entry.module or "numpy")
    rng = np.random.default_rng(0)
    levels = np.array(list("abcdefgh"))[rng.integers(0, 8, 300)]
    y = np.isin(levels, list("aceg")) * 1.0
    one_split = {
        "gbm": {"max_iter": 1, "max_leaf_nodes": 2, "learning_rate": 1.0},
        "lightgbm": {"n_estimators": 1, "num_leaves": 2, "learning_rate": 1.0},
        "xgboost": {"n_estimators": 1, "max_depth": 1, "learning_rate": 1.0, "reg_lambda": 0.0},
        "ebm": {"outer_bags": 1, "interactions": 0, "learning_rate": 0.1},
    }[name]
    model = cw.learner(name, task="regression", **one_split).fit(pd.DataFrame({"k": levels}), y)
    predicted = model.predict(pd.DataFrame({"k": list("abcdefgh")}))
    # alternate levels: with numbers, one split could get five of the eight right
    right = np.count_nonzero((predicted > 0.5) == np.array([True, False] * 4))
    assert right >= 7


def test_learners_cut_their_size_settings_to_a_small_table():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 2)), rng.normal(size=8)
    for name, settings in {
        "knn": {"n_neighbors": 50},
        "pcr": {"n_components": 50},
        "pls": {"n_components": 20},
        "omp": {"n_nonzero_coefs": 60},
        "lars": {"n_nonzero_coefs": 60},
    }.items():
        assert np.isfinite(cw.learner(name, **settings).fit(X, y).predict(X)).all()


def test_components_of_all_columns_are_least_squares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=60)
    weight = rng.uniform(0.5, 2.0, size=60)
    ols = cw.learner("ols").fit(X, y, sample_weight=weight).predict(X)
    pcr = cw.learner("pcr", n_components=3).fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_allclose(pcr, ols, atol=1e-8)


def test_a_solver_that_stops_early_is_named():
    y = TRAIN_TARGETS[Task.REGRESSION]
    with pytest.warns(cw.ClearwoodWarning, match="learner 'mlp' stopped before it had converged"):
        cw.learner("mlp", max_iter=2).fit(TRAIN, y)


def test_a_learner_of_ones_own_can_be_registered(monkeypatch):
    from sklearn.linear_model import TheilSenRegressor

    monkeypatch.setattr(catalogue.registry, "_entries", dict(catalogue.registry._all()))
    mine = Entry(
        name="mine",
        title="Theil and Sen's regression",
        family="linear",
        tasks=frozenset({Task.REGRESSION}),
        reading="glass box",
        source="scikit-learn TheilSenRegressor",
        described_in="",
        loss="spatial median of least squares fits",
        estimates="mean",
        build=lambda job: TheilSenRegressor(random_state=job.seed, **job.settings),
        defaults={"max_subpopulation": 50},
        module="nowhere_at_all",
        extra="mine",
    )
    catalogue.register(mine)
    with pytest.raises(cw.InputError, match="a learner named 'mine' exists"):
        catalogue.register(mine)
    with pytest.raises(cw.MissingExtraError, match=r"pip install 'clearwood\[mine\]'"):
        cw.learner("mine").fit(TRAIN, TRAIN_TARGETS[Task.REGRESSION])


@pytest.mark.parametrize("name", ["glm", "gbm", "lightgbm", "xgboost", "catboost", "ebm"])
def test_counts_in_the_thousands_are_learned_as_small_ones_are(name):
    """Boosting counts starts near 1 in some libraries, and has a long way to go."""
    pytest.importorskip(catalogue.get(name).module or "numpy")
    rng = np.random.default_rng(0)
    x = rng.uniform(size=150)
    rows = {"x": x, "y": rng.poisson(3000 * np.exp(x))}
    data = cw.read(rows, target="y", task="count")
    predicted = cw.learner(name, task="count").fit(data).predict(data)
    assert np.corrcoef(np.log(predicted), x)[0, 1] > 0.9
    assert predicted.mean() == pytest.approx(rows["y"].mean(), rel=0.1)


INSIDE = """
from dataclasses import replace

from clearwood.models.catalogue import linear

ENTRIES = (replace(linear.ENTRIES[0], name="new", complexity=1),)
"""


def test_a_new_module_of_the_catalogue_is_all_that_a_new_learner_takes(tmp_path, monkeypatch):
    (tmp_path / "newly_written.py").write_text(INSIDE)
    monkeypatch.setattr(catalogue, "__path__", [*catalogue.__path__, str(tmp_path)])
    monkeypatch.setattr(catalogue.registry, "_entries", {})
    monkeypatch.setattr(catalogue.registry, "built_in", catalogue.built_in.__wrapped__)
    added = set(catalogue.names()) - {entry.name for entry in BUILT_IN}
    assert added == {"new"}
    assert np.isfinite(
        cw.learner("new").fit(TRAIN, TRAIN_TARGETS[Task.REGRESSION]).predict(TEST)
    ).all()


def test_nothing_but_the_face_of_models_takes_anything_from_a_learner():
    """So that a learner can be added, moved or taken out by its folder alone."""
    root = Path(cw.__file__).parent
    folder = root / "models" / "catalogue"
    learners = {path.stem for path in folder.iterdir()} - {"__init__", "registry", "__pycache__"}
    takes = re.compile(rf"models\.catalogue\.({'|'.join(sorted(learners))})\b")
    naming = [
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if takes.search(path.read_text(encoding="utf-8")) and folder not in path.parents
    ]
    assert naming == ["models/__init__.py"]
