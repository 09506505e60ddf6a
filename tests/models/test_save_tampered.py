"""Files made to run something, or to lead a prediction astray, are refused and run nothing."""

import functools
import io
import json
import operator
import os
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood import InputError, files
from clearwood.models import catalogue
from clearwood.models.files import packing as _packing

X = np.random.default_rng(3).random((60, 2))

# Every payload would create the canary, whose fixture looks for it afterwards


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


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


scraps = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.sampled_from(["1.npy", "2", "[]", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["content", "__id__", "__loader__", "a"]), inner, max_size=3
        )
    ),
    max_leaves=4,
)


@given(data=st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_description_changed_anywhere_is_refused_or_still_a_model(model, data):
    """No scrap in any place may give another error than ours."""
    before = model.read_bytes()

    def put(schema, entries):
        where = data.draw(st.sampled_from(list(places(schema))[1:]))
        part = schema
        for key in where[:-1]:
            part = part[key]
        part[where[-1]] = data.draw(scraps)

    try:
        change_schema(model, put)
        cw.load(model)
    except InputError:
        pass
    finally:
        model.write_bytes(before)


def test_a_tree_cannot_claim_more_outputs_than_it_has_counts_for(model):
    def put(schema, entries):
        tree = schema["content"]["content"]["tree_"]
        tree["__reduce__"]["args"]["content"][2]["content"] = "100000000"

    change_schema(model, put)
    refused(model, "a tree has other outputs than it declares; nothing was run")


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
    settings = {"iterations": 3} if name == "catboost" else {"n_estimators": 3}
    cw.save(cw.learner(name, **settings).fit(X, X[:, 0]), tmp_path / "m.cw")
    archive = files.read(tmp_path / "m.cw")
    native = next(key for key in archive.members if key.startswith("native/"))
    members = {**archive.members, native: b"\x80\x04not a model"}
    files.write(tmp_path / "m.cw", archive.manifest, members, force=True)
    refused(tmp_path / "m.cw", f"{name} cannot read the model in '{native}'")


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"estimator": value("os.system"), "member": value(""), "state": value({})},
        {"estimator": value("lightgbm.LGBMRegressor"), "member": value("x"), "state": value({})},
        {"estimator": value(["lightgbm"]), "member": value(""), "state": value({})},
        {"estimator": value("lightgbm.LGBMRegressor"), "member": value(""), "state": value(1)},
    ],
)
def test_a_stand_in_for_a_boosted_model_names_only_what_is_known(model, attributes):
    keys = [node("builtins", "str", "TypeNode") for _ in attributes]
    content = node(
        "builtins", "dict", "DictNode", content=attributes, key_types=sequence("list", *keys)
    )
    stand_in = node("clearwood.models.files.native", "Native", "ObjectNode", content=content)
    change_schema(model, lambda schema, entries: (schema.update(stand_in), schema.pop("__id__")))
    refused(model, "which cannot be read")


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
    cw.save(cw.learner("ridge").fit(X, X[:, 0]), tmp_path / "m.cw")
    archive = files.read(tmp_path / "m.cw")
    files.write(tmp_path / "m.cw", archive.manifest, {**archive.members, member: data}, force=True)
    with pytest.raises(InputError, match="nothing was run"):
        cw.load(tmp_path / "m.cw")


def test_a_container_of_another_kind_is_refused(tmp_path):
    files.write(tmp_path / "m.cw", files.Manifest("recipe"), {})
    refused(tmp_path / "m.cw", "holds a 'recipe', not a model")
