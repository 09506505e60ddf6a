"""A saved model predicts the same bits; a tampered file is refused and runs nothing."""

import functools
import io
import json
import operator
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood import ClearwoodWarning, InputError, files
from clearwood.models import Entry, _packing, catalogue
from clearwood.models._native import take_out
from clearwood.table import Task

ROWS = 90
TINY = {"n_estimators": 5, "iterations": 5, "max_rounds": 10, "outer_bags": 2, "folds": 2}


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
        Task.BINARY: np.where(score > 1.5, "a", "b"),
        Task.MULTICLASS: np.array(["u", "v", "w"])[np.digitize(score, [1.0, 2.0])],
    }[task]
    return cw.read(frame, target="y", task=task)


def fitted(name, task):
    settings = {k: v for k, v in TINY.items() if k in catalogue.get(name).defaults}
    if name == "gbm":
        settings["max_iter"] = 5
    if name == "stacking":
        settings["members"] = ["baseline", "gbm"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence of a fit that is cut short
        return cw.learner(name, task=task, **settings).fit(table(task))


CASES = [
    pytest.param(name, task, id=f"{name}-{task.value}")
    for task in Task
    for name in catalogue.names(task, installed=True)
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
    found = cw.inspect(tmp_path / "m.cw")
    assert (found.kind, found.learner, found.trusted) == ("estimator", "Pipeline", True)


def test_a_boosted_model_inside_a_stack_is_saved_in_its_own_format(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 3)), rng.integers(0, 2, 80)
    member = lightgbm.LGBMClassifier(n_estimators=3, min_child_samples=2, verbose=-1)
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
    with pytest.raises(InputError, match=r"'ridge' is not fitted.*call \.fit"):
        cw.save(cw.learner("ridge"), tmp_path / "m.cw")
    with pytest.raises(InputError, match="'Ridge' is not fitted"):
        cw.save(Ridge(), tmp_path / "m.cw")
    with pytest.raises(InputError, match="a dict cannot be saved"):
        cw.save({"coef": 1}, tmp_path / "m.cw")
    assert not (tmp_path / "m.cw").exists()


def test_an_existing_file_is_kept_without_force(tmp_path):
    model = fitted("ridge", Task.REGRESSION)
    (tmp_path / "m.cw").write_text("mine")
    with pytest.raises(InputError, match=r"exists already.*--force"):
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
        section="",
        loss="",
        estimates="",
        build=lambda job: Doubled(),
    )
    monkeypatch.setitem(catalogue._entries, "doubled", entry)
    data = table(Task.REGRESSION)
    model = cw.learner("doubled").fit(data)
    with pytest.raises(InputError, match=r"Doubled', which cw\.load would refuse.*trusted=\["):
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
    with pytest.raises(InputError, match="pass a list"):
        cw.load(tmp_path / "m.cw", trusted=name)


def test_functions_that_are_not_known_are_refused_at_saving(tmp_path):
    X = np.ones((4, 1))
    for function in (lambda X: X, os.system, functools.partial(os.system, "true")):
        model = make_pipeline(FunctionTransformer(function), Ridge())
        model.steps[1][1].fit(X, np.ones(4))
        model.steps[0][1].n_features_in_ = 1
        with pytest.raises(InputError, match=r"lambda|system|partial"):
            cw.save(model, tmp_path / "m.cw")


# Tampering: every payload would create the canary


@pytest.fixture
def model(tmp_path):
    X, y = np.arange(20.0).reshape(-1, 2), np.arange(10.0)
    cw.save(DecisionTreeRegressor(max_depth=2).fit(X, y), tmp_path / "m.cw")
    return tmp_path / "m.cw"


@pytest.fixture
def canary(tmp_path):
    path = tmp_path / "canary"
    yield path
    assert not path.exists()


def swap(path, **members):
    """Put other members in, with checksums that fit: what an attacker would do."""
    archive = files.read(path)
    new = {**archive.members, **{name.replace("__", "."): data for name, data in members.items()}}
    files.write(path, files.Manifest(archive.manifest.kind), new, force=True)


def change_schema(path, change):
    with zipfile.ZipFile(io.BytesIO(files.read(path).raw("estimator.skops"))) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(entries["schema.json"])
    change(schema, entries)
    entries["schema.json"] = json.dumps(schema).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    swap(path, estimator__skops=buffer.getvalue())


def refused(path, message):
    with pytest.raises(InputError, match=message):
        cw.load(path)


class Payload:
    def __init__(self, canary):
        self.canary = str(canary)

    def __reduce__(self):
        return (open, (self.canary, "w"))


def test_pickle_in_place_of_the_model_is_not_unpickled(model, canary):
    swap(model, estimator__skops=pickle.dumps(Payload(canary)))
    refused(model, "not stored as skops stores it.*nothing was run")
    with pytest.raises(InputError, match="nothing was run"):
        cw.inspect(model)


def test_a_pickle_as_the_whole_file_is_not_unpickled(tmp_path, canary):
    (tmp_path / "x.cw").write_bytes(pickle.dumps(Payload(canary)))
    refused(tmp_path / "x.cw", "not a Clearwood file")


@pytest.mark.parametrize(
    "payload",
    [
        lambda path: functools.partial(os.system, f"touch {path}"),
        lambda path: os.system,
        lambda path: operator.methodcaller("touch"),
        lambda path: make_pipeline(FunctionTransformer(os.system)),
        lambda path: StandardScaler().fit,
        lambda path: [functools.partial(np.load, allow_pickle=True)],
    ],
)
def test_functions_methods_and_operators_are_refused(model, canary, payload):
    dumped = skops.io.dumps(payload(canary))
    with zipfile.ZipFile(io.BytesIO(dumped)) as archive:  # as `pack` would have stored it
        schema = _packing._Tidied(json.loads(archive.read("schema.json"))).schema
    change_schema(model, lambda old, entries: (old.clear(), old.update(schema), drop(entries)))
    refused(model, "does not trust; nothing was run")
    assert not cw.inspect(model).trusted


def drop(entries):
    for name in [name for name in entries if name.endswith(".npy")]:
        del entries[name]


def node(module, name, loader, **fields):
    return {"__class__": name, "__module__": module, "__loader__": loader, **fields}


def value(content):
    return node("builtins", "str", "JsonNode", content=json.dumps(content), is_json=True)


def sequence(kind, *content):
    return node("builtins", kind, f"{kind.title()}Node", content=list(content))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        # skops would call these types with arguments from the file
        (node("os", "system", "ConstructorFromReduceNode", content=sequence("tuple")), "os.system"),
        (node("builtins", "eval", "ListNode", content=[value("x")]), "builtins.eval"),
        (node("sklearn.svm._classes", "SVC", "ListNode", content=[]), "SVC"),
        (node("os", "system", "NdArrayNode", type="numpy", file="1.npy"), "os.system"),
        (
            node(
                "os", "system", "LossNode", __reduce__={"args": sequence("tuple")}, content=value(1)
            ),
            "os.system",
        ),
        (
            node(
                "os", "system", "TreeNode", __reduce__={"args": sequence("tuple")}, content=value(1)
            ),
            "os.system",
        ),
        # the type of a key is called with the key
        (
            node(
                "builtins",
                "dict",
                "DictNode",
                content={"touch x": value(1)},
                key_types=sequence("list", node("os", "system", "FunctionNode")),
            ),
            "neither text nor numbers|os.system",
        ),
        (
            node(
                "builtins",
                "dict",
                "DictNode",
                content={"touch x": value(1)},
                key_types=sequence("list", node("sklearn.svm._classes", "SVC", "TypeNode")),
            ),
            "neither text nor numbers",
        ),
        (
            node(
                "numpy.random._generator",
                "Generator",
                "RandomGeneratorNode",
                content={
                    "bit_generator": node(
                        "builtins",
                        "dict",
                        "DictNode",
                        content={"bit_generator": value("seed")},
                        key_types=sequence("list", node("builtins", "str", "TypeNode")),
                    ),
                    "seed_seq": value(1),
                },
            ),
            "numpy.random.seed",
        ),
        (node("subprocess", "Popen", "ObjectNode", content=value({})), "subprocess.Popen"),
        (node("builtins", "str", "JsonNode", content="{", is_json=True), "not JSON"),
        (node("builtins", "list", "ListNode", content=[], extra=1), "fields it should not have"),
        (node("builtins", "list", "ListNode", content="abc"), "not a list"),
        (node("numpy", "ndarray", "NdArrayNode", type="numpy", file="99.npy"), "99.npy.* missing"),
        (node("os", "system", "NoSuchNode"), "os.system"),
        ({"__loader__": "ListNode"}, "no type"),
        (3, "not an object"),
    ],
)
def test_handmade_nodes_are_refused(model, canary, part, message):
    def put(schema, entries):
        schema["content"]["content"]["extra"] = part
        schema["content"]["key_types"]["content"].append(node("builtins", "str", "TypeNode"))

    change_schema(model, put)
    refused(model, f"(?s)({message}).*nothing was run")


def test_an_id_cannot_stand_for_another_node(model):
    """skops takes the first node with an id and never looks at the second."""

    def put(schema, entries):
        first = schema["content"]["__id__"]
        schema["content"]["content"]["extra"] = {**sequence("list"), "__id__": first}
        schema["content"]["key_types"]["content"].append(node("builtins", "str", "TypeNode"))

    change_schema(model, put)
    refused(model, "two nodes have one id")


@pytest.mark.parametrize("protocol", [0, 1, 3, True, None, "2"])
def test_older_and_newer_formats_of_skops_are_refused(model, protocol):
    """Old loaders are still in skops, and a file could ask for them."""
    change_schema(model, lambda schema, entries: schema.update(protocol=protocol))
    refused(model, "revision")


def test_an_array_of_pickled_objects_is_not_unpickled(model, canary):
    buffer = io.BytesIO()
    np.save(buffer, np.array([Payload(canary)], dtype=object), allow_pickle=True)
    change_schema(model, lambda schema, entries: entries.update({"1.npy": buffer.getvalue()}))
    refused(model, "cannot be rebuilt here.*allow_pickle=False|not a plain array")


def test_a_pickle_in_place_of_an_array_is_not_unpickled(model, canary):
    data = pickle.dumps(Payload(canary))
    change_schema(model, lambda schema, entries: entries.update({"1.npy": data}))
    refused(model, "'1.npy' is not an array; nothing was run")


def test_parts_that_do_not_belong_are_refused(model):
    change_schema(model, lambda schema, entries: entries.update({"../evil.py": b"x"}))
    refused(model, "a part named '../evil.py'")


def test_the_files_own_list_of_types_has_no_say(model, canary):
    """Types are read off the model itself; nothing in the manifest can add to what is trusted."""
    payload = node("os", "system", "FunctionNode")

    def put(schema, entries):
        schema["content"]["content"]["extra"] = payload
        schema["content"]["key_types"]["content"].append(node("builtins", "str", "TypeNode"))

    change_schema(model, put)
    archive = files.read(model)
    claimed = {**archive.members, "trusted.json": files.from_json(["os.system"])}
    files.write(model, files.Manifest("estimator", {"trusted": "os.system"}), claimed, force=True)
    refused(model, "'os.system', which Clearwood does not trust")


def test_an_altered_byte_is_noticed(model):
    raw = bytearray(model.read_bytes())
    raw[len(raw) // 2] ^= 1
    model.write_bytes(raw)
    refused(model, "truncated or was altered.*'estimator.skops'")


def damage(array, field, to):
    array = array.copy()
    array[field][0] = to
    return array


@pytest.mark.parametrize(
    ("field", "to"),
    [
        ("left_child", 10**6),
        ("left_child", 0),
        ("right_child", -1),
        ("feature", 7),
        ("feature", -3),
    ],
)
def test_a_tree_that_leads_outside_of_its_arrays_is_refused(tmp_path, field, to):
    X = np.arange(20.0).reshape(-1, 2)
    tree = DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0])
    state = tree.tree_.__getstate__()
    state["nodes"] = damage(state["nodes"], field, to)
    tree.tree_.__setstate__(state)
    cw.save(tree, tmp_path / "m.cw")
    refused(tmp_path / "m.cw", "a Tree points outside of its own arrays")


@pytest.mark.parametrize(("field", "to"), [("left", 10**6), ("right", 0), ("feature_idx", 9)])
def test_a_histogram_tree_that_leads_outside_is_refused(tmp_path, field, to):
    X = np.arange(200.0).reshape(-1, 2)
    boosted = HistGradientBoostingRegressor(max_iter=2).fit(X, X[:, 0])
    predictor = boosted._predictors[1][0]
    predictor.nodes = damage(predictor.nodes, field, to)
    cw.save(boosted, tmp_path / "m.cw")
    refused(tmp_path / "m.cw", "is damaged")


def test_a_forest_with_a_tree_of_more_columns_is_refused(tmp_path):
    X = np.random.default_rng(0).random((30, 4))
    forest = RandomForestRegressor(n_estimators=2).fit(X[:, :2], X[:, 0])
    forest.estimators_[1] = DecisionTreeRegressor().fit(X, X[:, 3])
    cw.save(forest, tmp_path / "m.cw")
    refused(tmp_path / "m.cw", "a tree reads 4 columns, the model has 2")


def test_a_search_tree_that_leads_outside_is_refused(tmp_path):
    X = np.random.default_rng(0).random((90, 2))
    model = KNeighborsRegressor(algorithm="kd_tree").fit(X, X[:, 0])
    state = list(model._tree.__getstate__())
    state[1] = np.asarray(state[1]) + 50
    model._tree.__setstate__(tuple(state))
    cw.save(model, tmp_path / "m.cw")
    refused(tmp_path / "m.cw", "a KDTree points outside")


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "catboost"])
def test_a_damaged_boosted_model_is_refused(tmp_path, name):
    if not catalogue.get(name).available:
        pytest.skip(f"{name} is not installed")
    cw.save(fitted(name, Task.REGRESSION), tmp_path / "m.cw")
    archive = files.read(tmp_path / "m.cw")
    native = next(key for key in archive.members if key.startswith("native/"))
    members = {**archive.members, native: b"\x80\x04not a model"}
    files.write(tmp_path / "m.cw", archive.manifest, members, force=True)
    refused(tmp_path / "m.cw", f"{name} cannot read the model in '{native}'")


@pytest.mark.parametrize(
    ("member", "data"),
    [
        ("learner.json", b"[]"),
        ("encoder.json", b"[]"),
        ("learner.json", b"{"),
        ("encoder.json", b"{}"),
        ("learner.json", files.from_json({"params": {}, "title": "", "task": "sorcery"})),
    ],
)
def test_a_damaged_learner_is_refused(tmp_path, member, data):
    cw.save(fitted("ridge", Task.REGRESSION), tmp_path / "m.cw")
    archive = files.read(tmp_path / "m.cw")
    files.write(tmp_path / "m.cw", archive.manifest, {**archive.members, member: data}, force=True)
    with pytest.raises(InputError, match="nothing was run"):
        cw.load(tmp_path / "m.cw")


def test_a_container_of_another_kind_is_refused(tmp_path):
    files.write(tmp_path / "m.cw", files.Manifest("recipe"), {})
    refused(tmp_path / "m.cw", "holds a 'recipe', not a model")


def test_other_versions_of_libraries_are_warned_about(tmp_path):
    cw.save(fitted("ridge", Task.REGRESSION), tmp_path / "m.cw")
    archive = files.read(tmp_path / "m.cw")
    other = files.Manifest("learner", {**archive.manifest.libraries, "scikit-learn": "0.24.1"})
    files.write(tmp_path / "m.cw", other, archive.members, force=True)
    with pytest.warns(ClearwoodWarning, match=r"made with scikit-learn 0\.24\.1 \(here"):
        cw.load(tmp_path / "m.cw")


# Inspecting


def test_inspecting_tells_what_was_saved_and_imports_nothing(tmp_path):
    model = fitted("forest", Task.BINARY)
    cw.save(model, tmp_path / "m.cw")
    found = cw.inspect(tmp_path / "m.cw")
    raw = found.to_json()
    assert json.loads(json.dumps(raw)) == raw
    assert (raw["learner"], raw["task"], raw["target"]) == ("forest", "binary", "y")
    assert raw["title"] == catalogue.get("forest").title
    assert raw["settings"] == {"n_estimators": 5}
    assert [column["name"] for column in raw["columns"]] == list(table(Task.BINARY).features)
    assert {c["name"]: c["levels"] for c in raw["columns"]}["region"] == 3
    assert raw["training"]["rows"] == ROWS
    assert raw["size"] == (tmp_path / "m.cw").stat().st_size
    assert "sklearn.tree._tree.Tree" in found.types
    assert found.trusted
    assert "forest" in repr(found)
    assert "<th" in found._repr_html_()


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
def test_a_process_killed_while_saving_leaves_the_old_model(model):
    before = model.read_bytes()
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), str(model)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert model.read_bytes() == before
    cw.load(model)
