"""A saved model predicts the same bits; a tampered file is refused and runs nothing."""

import functools
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings
import zipfile
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import clearwood as cw
from clearwood import ClearwoodWarning, InputError, files
from clearwood.models import Entry, catalogue
from clearwood.models.files.native import take_out
from clearwood.models.files.old_names import RENAMED
from clearwood.table import Task

ROWS = 90
TINY = {"n_estimators": 5, "iterations": 5, "max_rounds": 10, "outer_bags": 2, "folds": 2}
TINY |= {"epochs": 2, "n_trees": 10}


@functools.cache
def table(task):
    """Numbers with gaps, categories with gaps, a yes/no and a date; a target for the task."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, ROWS),
            "power": rng.integers(1, 9, ROWS),
            "region": rng.choice(["north", "south", "west"], ROWS),
            "urban": rng.choice(["yes", "no"], ROWS),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, ROWS), "D"),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "region"] = None
    score = 0.3 * frame["power"] + (frame["region"] == "north") + rng.normal(size=ROWS)
    frame["y"] = {
        Task.REGRESSION: score + 10,
        Task.COUNT: rng.poisson(np.exp(0.3 * score)),
        Task.AMOUNT: np.exp(0.3 * score),
        Task.BINARY: np.where(score > 1.5, "a", "b"),
        Task.MULTICLASS: np.array(["u", "v", "w"])[np.digitize(score, [1.0, 2.0])],
    }[task]
    return cw.read(frame, target="y", task=task)


def fitted(name, task):
    settings = {k: v for k, v in TINY.items() if k in catalogue.get(name).defaults}
    if name == "gbm":
        settings["max_iter"] = 5
    if name == "stacking":
        settings["members"] = ["lda" if task.is_classification else "ols", "tree"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence of a fit that is cut short
        return cw.learner(name, task=task, **settings).fit(table(task))


CASES = [
    pytest.param(name, task, id=f"{name}-{task.value}")
    for task in Task
    for name in catalogue.names(task, installed=True)
    # for classes that do not overlap, and for grids: saved in test_discriminant.py and test_cnn.py
    if name not in ("hyperplane", "cnn")
]


@pytest.mark.parametrize(("name", "task"), CASES)
def test_every_learner_predicts_the_same_bits_after_loading(tmp_path, name, task):
    model = fitted(name, task)
    cw.save(model, tmp_path / "m.cw")
    loaded = cw.load(tmp_path / "m.cw")
    data = table(task)
    np.testing.assert_array_equal(loaded.predict(data), model.predict(data))
    assert loaded.predict(data).dtype == model.predict(data).dtype
    assert hasattr(loaded, "predict_proba") == hasattr(model, "predict_proba")
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(loaded.predict_proba(data), model.predict_proba(data))
    assert vars(loaded).keys() == vars(model).keys()
    assert loaded.get_params() == model.get_params()
    assert (loaded.schema_, loaded.task_) == (model.schema_, model.task_)
    assert loaded.training_ == model.training_


@pytest.mark.parametrize("name", ["ridge", "tree", "forest", "gbm", "lightgbm", "xgboost"])
def test_saving_twice_gives_the_same_file(tmp_path, name):
    if not catalogue.get(name).available:
        pytest.skip(f"{name} is not installed")
    model = fitted(name, Task.REGRESSION)
    cw.save(model, tmp_path / "1")
    cw.save(model, tmp_path / "2")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_saving_leaves_the_model_as_it_was():
    model = fitted("lightgbm", Task.BINARY)
    before = dict(vars(model.estimator_))
    take_out(model.estimator_)
    assert vars(model.estimator_) == before


def test_labels_of_every_type_come_back(tmp_path):
    X = np.arange(20.0).reshape(-1, 1)
    for i, labels in enumerate(([0, 1], [False, True], ["no", "yes"])):
        y = np.array(labels)[np.arange(20) % 2]
        model = cw.Learner("tree", task="binary").fit(X, y)
        cw.save(model, tmp_path / str(i))
        loaded = cw.load(tmp_path / str(i))
        assert loaded.classes_.dtype == model.classes_.dtype
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_plain_estimators_and_pipelines_are_saved_too(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(60) + 1, "b": rng.choice(["x", "y"], 60)})
    columns = ColumnTransformer(
        [
            ("a", make_pipeline(FunctionTransformer(np.log1p), StandardScaler()), ["a"]),
            ("b", OneHotEncoder(sparse_output=False), ["b"]),
        ]
    )
    stack = StackingClassifier(
        [("gb", GradientBoostingClassifier(n_estimators=3)), ("lr", LogisticRegression())]
    )
    model = make_pipeline(columns, stack).fit(frame, rng.integers(0, 3, 60))
    cw.save(model, tmp_path / "m.cw")
    loaded = cw.load(tmp_path / "m.cw")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    result = cw.inspect(tmp_path / "m.cw")
    assert (result.kind, result.learner, result.trusted) == ("estimator", "Pipeline", True)


def test_a_boosted_model_is_inspected_by_the_name_of_its_library(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    model = lightgbm.LGBMRegressor(n_estimators=2, n_jobs=1, verbose=-1)
    cw.save(model.fit(rng.random((40, 2)), rng.random(40)), tmp_path / "m.cw")
    assert cw.inspect(tmp_path / "m.cw").learner == "lightgbm"


def test_a_boosted_model_inside_a_stack_is_saved_in_its_own_format(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 3)), rng.integers(0, 2, 80)
    member = lightgbm.LGBMClassifier(n_estimators=3, min_child_samples=2, n_jobs=1, verbose=-1)
    model = StackingClassifier([("boosted", member), ("lr", LogisticRegression())], cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks of LightGBM about names of columns
        model.fit(X, y)
        cw.save(model, tmp_path / "m.cw")
        loaded = cw.load(tmp_path / "m.cw")
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    members = files.read(tmp_path / "m.cw").members
    native = [name for name in members if name.startswith("native/")]
    assert native == ["native/000.lightgbm.txt"]  # held twice by the stack, stored once
    assert members[native[0]].startswith(b"tree\nversion=")
    assert loaded.named_estimators_["boosted"] is loaded.estimators_[0]


# What cannot be saved


def test_what_is_not_fitted_or_not_an_estimator_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"'ridge' is not fitted yet.*call its fit"):
        cw.save(cw.learner("ridge"), tmp_path / "m.cw")
    with pytest.raises(InputError, match="this Ridge is not fitted yet"):
        cw.save(Ridge(), tmp_path / "m.cw")
    with pytest.raises(InputError, match="a dict cannot be saved"):
        cw.save({"coef": 1}, tmp_path / "m.cw")
    assert not (tmp_path / "m.cw").exists()


def test_an_existing_file_is_kept_without_force(tmp_path):
    model = fitted("ridge", Task.REGRESSION)
    (tmp_path / "m.cw").write_text("mine")
    with pytest.raises(InputError, match=r"exists already.*force=True"):
        cw.save(model, tmp_path / "m.cw")
    assert (tmp_path / "m.cw").read_text() == "mine"
    cw.save(model, tmp_path / "m.cw", force=True)
    cw.load(tmp_path / "m.cw")


class Doubled(RegressorMixin, BaseEstimator):
    """A learner of the user's own."""

    def fit(self, X, y):
        self.mean_ = 2 * float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_a_type_of_the_users_own_needs_to_be_named_on_both_sides(tmp_path, monkeypatch):
    monkeypatch.setitem(
        sys.modules, __name__, sys.modules.get(__name__) or sys.modules[Doubled.__module__]
    )
    name = f"{Doubled.__module__}.Doubled"
    entry = Entry(
        name="doubled",
        title="Twice the mean",
        family="own",
        tasks=frozenset({Task.REGRESSION}),
        reading="glass box",
        source="",
        described_in="",
        loss="",
        estimates="",
        build=lambda job: Doubled(),
    )
    monkeypatch.setattr(
        catalogue.registry, "_entries", {**catalogue.registry._all(), "doubled": entry}
    )
    data = table(Task.REGRESSION)
    model = cw.learner("doubled").fit(data)
    with pytest.raises(InputError, match=r"Doubled', which loading would refuse.*trusted=\["):
        cw.save(model, tmp_path / "m.cw")
    assert not (tmp_path / "m.cw").exists()
    cw.save(model, tmp_path / "m.cw", trusted=[name])
    with pytest.raises(
        InputError, match=r"does not trust; nothing was run.*cw\.load\(path, trusted"
    ):
        cw.load(tmp_path / "m.cw")
    assert cw.inspect(tmp_path / "m.cw").types[name] is False
    loaded = cw.load(tmp_path / "m.cw", trusted=[name])
    np.testing.assert_array_equal(loaded.predict(data), model.predict(data))
    with pytest.raises(InputError, match="must be a list of names"):
        cw.load(tmp_path / "m.cw", trusted=name)


@pytest.mark.parametrize("name", ["mars", "subset", "lasso", "rules", "local"])
def test_files_of_earlier_versions_name_classes_by_their_old_places(name, tmp_path):
    """What the version before wrote: the same file, with the names that it had for the classes."""
    before = {new: old for old, new in RENAMED.items()}
    model = fitted(name, Task.REGRESSION)
    cw.save(model, tmp_path / "m.cw")
    archive = files.read(tmp_path / "m.cw")
    changed = []

    def in_old_places(node):
        if isinstance(node, dict):
            full = f"{node.get('__module__')}.{node.get('__class__')}"
            if full in before:
                changed.append(before[full])
                node["__module__"], _, node["__class__"] = before[full].rpartition(".")
        for item in node.values() if isinstance(node, dict) else node:
            if isinstance(item, dict | list):
                in_old_places(item)

    with zipfile.ZipFile(io.BytesIO(archive.raw("estimator.skops"))) as packed:
        members = {member: packed.read(member) for member in packed.namelist()}
    schema = json.loads(members["schema.json"])
    in_old_places(schema)
    assert any(old.endswith(type(model.estimator_).__name__) for old in changed)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for member, data in {**members, "schema.json": json.dumps(schema)}.items():
            packed.writestr(member, data)
    old = {**archive.members, "estimator.skops": buffer.getvalue()}
    files.write(tmp_path / "old.cw", archive.manifest, old)
    data = table(Task.REGRESSION)
    np.testing.assert_array_equal(cw.load(tmp_path / "old.cw").predict(data), model.predict(data))
    assert cw.inspect(tmp_path / "old.cw").types == cw.inspect(tmp_path / "m.cw").types


def test_every_class_that_has_moved_is_where_the_table_says():
    for old, new in RENAMED.items():
        module, _, name = new.rpartition(".")
        library = {"quiet_ebm": "interpret", "network": "torch"}
        needed = next((library[one] for one in module.split(".") if one in library), "numpy")
        if find_spec(needed) is not None:
            assert hasattr(import_module(module), name), old
        with pytest.raises(ModuleNotFoundError):
            import_module(old.rpartition(".")[0])


def test_functions_that_are_not_known_are_refused_at_saving(tmp_path):
    X = np.ones((4, 1))
    for function in (lambda X: X, os.system, functools.partial(os.system, "true")):
        model = make_pipeline(FunctionTransformer(function), Ridge())
        model.steps[1][1].fit(X, np.ones(4))
        model.steps[0][1].n_features_in_ = 1
        with pytest.raises(InputError, match=r"lambda|system|partial"):
            cw.save(model, tmp_path / "m.cw")


def test_other_versions_of_libraries_are_warned_about(tmp_path):
    cw.save(fitted("ridge", Task.REGRESSION), tmp_path / "m.cw")
    archive = files.read(tmp_path / "m.cw")
    other = files.Manifest("learner", {**archive.manifest.libraries, "scikit-learn": "0.24.1"})
    files.write(tmp_path / "m.cw", other, archive.members, force=True)
    with pytest.warns(ClearwoodWarning, match=r"saved with scikit-learn 0\.24\.1 \(here"):
        cw.load(tmp_path / "m.cw")


# Inspecting


def test_inspecting_shows_what_was_saved_and_imports_nothing(tmp_path):
    model = fitted("forest", Task.BINARY)
    cw.save(model, tmp_path / "m.cw")
    result = cw.inspect(tmp_path / "m.cw")
    raw = result.to_json()
    assert json.loads(json.dumps(raw)) == raw
    assert (raw["learner"], raw["task"], raw["target"]) == ("forest", "binary", "y")
    assert raw["title"] == catalogue.get("forest").title
    assert raw["settings"] == {"n_estimators": 5}
    assert [column["name"] for column in raw["columns"]] == list(table(Task.BINARY).features)
    assert {c["name"]: c["levels"] for c in raw["columns"]}["region"] == 3
    assert raw["training"]["rows"] == ROWS
    assert raw["size"] == (tmp_path / "m.cw").stat().st_size
    assert "sklearn.tree._tree.Tree" in result.types
    assert result.trusted
    assert "forest" in repr(result)
    assert "<th" in result._repr_html_()


def test_html_is_escaped(tmp_path):
    cw.save(fitted("ridge", Task.REGRESSION), tmp_path / "<b>.cw")
    assert "<b>" not in cw.inspect(tmp_path / "<b>.cw")._repr_html_()


def test_inspecting_imports_no_code_the_file_names(tmp_path):
    cw.save(fitted("mlp", Task.BINARY), tmp_path / "m.cw")
    code = """
        import sys, clearwood as cw
        assert cw.inspect(sys.argv[1]).trusted
        assert "sklearn.neural_network" not in sys.modules
        assert "skops" not in sys.modules
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "m.cw")]
    subprocess.run(command, check=True)


KILLED = """
    import os, signal, sys
    import numpy as np, clearwood as cw
    from sklearn.linear_model import Ridge
    real = os.fsync
    def die(handle):
        os.kill(os.getpid(), signal.SIGKILL)
    os.fsync = die
    cw.save(Ridge().fit(np.eye(3), np.ones(3)), sys.argv[1], force=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_process_killed_while_saving_leaves_the_old_model(tmp_path):
    model = tmp_path / "m.cw"
    cw.save(fitted("ridge", Task.REGRESSION), model)
    before = model.read_bytes()
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), str(model)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert model.read_bytes() == before
    cw.load(model)
