"""The separate checker against exhaustive comparison, and what it says of other models."""

import ast
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

import clearwood as cw
from clearwood import InputError
from clearwood.condensing import Verdict
from clearwood.condensing.proof.joint_ranks import joint_ranks
from clearwood.condensing.tree.doubles import just_below, last_double
from clearwood.forest import links

PER_NODE = [
    *("feature", "threshold", "default_left", "zero_missing", "category_start", "category_size"),
    *("unseen_left", "left", "right", "outcome", "value", "low", "high", "certified"),
]
MUTABLE = [
    *("threshold", "default_left", "unseen_left", "category_words", "outcome"),
    *("value", "low", "high"),
]
TASKS = ("binary", "scores", "classes", "number")


def joint_cells(forest, diagram):
    """One row for every cell that either side tells apart."""
    columns = joint_ranks([diagram, forest], forest.n_features).columns
    values = [c.places if c.is_set else np.append(c.cuts, [np.inf, np.nan]) for c in columns]
    return np.array(list(product(*values)))


def differs(one, forest, rows):
    """Which rows a tree answers otherwise than the forest, by predicting them."""
    raw = forest.predict_raw(rows)
    leaves = one.diagram.apply(rows)
    if one.equal == "class":
        outcome = one.diagram.outcome[leaves]
        label = forest.classes[np.clip(outcome, 0, len(forest.classes) - 1)]
        wrong = (label != links.predict(forest, raw)) | (outcome < 0)
        wrong |= outcome >= len(forest.classes)
    else:
        off = np.abs(raw.reshape(len(rows), -1) - one.diagram.value[leaves]).max(axis=1)
        wrong = ~(off <= (one.tolerance or 0.0))
    return wrong & one.diagram.certified[leaves]


def mutated(diagram, rng):
    """Change one leaf, threshold, side of missing values, category or unseen side."""
    arrays = {name: getattr(diagram, name).copy() for name in MUTABLE}
    inner, leaves = np.flatnonzero(~diagram.is_leaf), np.flatnonzero(diagram.is_leaf)
    what = rng.integers(5) if len(inner) else 0
    if what == 0:
        leaf = rng.choice(leaves)
        arrays["outcome"][leaf] = (arrays["outcome"][leaf] + 1) % 3
        shift = rng.choice([1e-9, 0.1, 3.0])
        for name in ("value", "low", "high"):
            arrays[name][leaf] += shift
    elif what == 1:
        t = arrays["threshold"]
        node = rng.choice(inner)
        t[node] = rng.choice([np.nextafter(t[node], np.inf), t[node] + 0.3, t[node] * 1.0000001])
    elif what == 2:
        arrays["default_left"][rng.choice(inner)] ^= True
    elif what == 3 and len(arrays["category_words"]):
        word = rng.integers(len(arrays["category_words"]))
        arrays["category_words"][word] ^= np.uint32(1 << int(rng.integers(6)))
    else:
        arrays["unseen_left"][rng.choice(inner)] ^= True
    return replace(diagram, **arrays)


def drawn(any_forest, seed, task):
    """A forest and a tree for it, of a kind that the seed draws."""
    rng = np.random.default_rng(seed)
    choices = ["sum", "mean", "weighted median"] if task == "number" else ["sum", "mean"]
    if task in ("scores", "classes"):
        choices.append("hard vote")
    aggregation = str(rng.choice(choices))
    forest = any_forest(
        seed, task=task, aggregation=aggregation, whole=bool(rng.random() < 0.4), trees=4
    )
    options = {}
    if task != "number" and rng.random() < 0.5:
        options["equal"] = "value"
    if (task == "number" or options) and aggregation != "weighted median" and rng.random() < 0.5:
        options["tolerance"] = float(rng.choice([0.5, 2.0]))
    effort = "fast" if options or task == "number" else str(rng.choice(["fast", "good"]))
    return forest, cw.condense(forest, effort=effort, **options), rng


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(8))
def test_verdict_is_that_of_all_cells(any_forest, seed, task):
    forest, one, rng = drawn(any_forest, seed, task)
    assert cw.certify(one, forest)
    for _ in range(8):
        two = replace(one, diagram=mutated(one.diagram, rng))
        found = cw.certify(two, forest)
        wrong = differs(two, forest, joint_cells(forest, two.diagram)).any()
        assert bool(found) == (not wrong)
        if wrong:
            assert differs(two, forest, found.row[None, :]).all()
            assert not found.same_tree
            assert found.of_tree != found.of_ensemble


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(6, max_depth=4, random_state=0),
        GradientBoostingClassifier(n_estimators=15, max_depth=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_classifiers_are_proved(model, load):
    X, y = load(return_X_y=True)
    if load is load_breast_cancer:
        X = X[:, :5]
    model.fit(X, y)
    assert cw.certify(cw.condense(model, effort="fast"), model)


def test_values_within_a_tolerance_are_proved_and_not_within_less():
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(n_estimators=10, max_depth=2, random_state=0).fit(X, y)
    one = cw.condense(model, tolerance=20.0)
    assert cw.certify(one, model)
    tighter = replace(one, tolerance=5.0)
    found = cw.certify(tighter, model)
    assert not found
    assert abs(found.of_tree - found.of_ensemble) > 5.0


def test_weighted_medians_are_proved():
    X, y = load_diabetes(return_X_y=True)
    model = AdaBoostRegressor(n_estimators=5, random_state=0).fit(X[:, :3], y)
    one = cw.condense(model)
    assert cw.certify(one, model)
    value = one.diagram.value.copy()
    leaf = np.flatnonzero(one.diagram.is_leaf)[0]
    value[leaf] += 1.0
    shifted = replace(one.diagram, value=value, low=value, high=value)
    assert not cw.certify(replace(one, diagram=shifted), model)


def test_a_proof_that_skipped_a_branch_is_not_reused_in_another_box():
    """One node shared by two boxes: in the first, its wrong branch cannot be reached."""
    tree = DecisionTreeClassifier().fit(
        [[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0]], [0, 0, 1, 1]
    )
    one = cw.condense(tree)
    # x1 <= 5 ? (x1 <= 7 ? A : B) : (the same node), where A asks x0 as the tree does and B lies
    diagram = one.diagram
    made = {name: getattr(diagram, name)[[0, 0, 0, 0, 0]] for name in PER_NODE}
    leaf = {int(diagram.outcome[k]): k for k in np.flatnonzero(diagram.is_leaf)}
    for name in PER_NODE:
        made[name] = np.concatenate(
            [getattr(diagram, name)[[0, 0, 0]], getattr(diagram, name)[[leaf[0], leaf[1]]]]
        )
    made["feature"][:3] = [1, 1, 0]
    made["threshold"][:2] = [5.0, 7.0]
    made["left"], made["right"] = np.array([1, 2, 3, -1, -1]), np.array([1, 4, 4, -1, -1])
    wrong = replace(one, diagram=replace(diagram, **made))
    found = cw.certify(wrong, tree)
    assert not found
    assert found.counterexample["x1"] > 7
    assert found.counterexample["x0"] <= 4.5


def test_leaves_left_to_the_ensemble_are_not_claimed(any_forest):
    forest = any_forest(3, task="binary")
    one = cw.condense(forest, effort="fast")
    leaf = np.flatnonzero(one.diagram.is_leaf)[0]
    certified, outcome = one.diagram.certified.copy(), one.diagram.outcome.copy()
    certified[leaf], outcome[leaf] = False, -1
    part = replace(
        one, diagram=replace(one.diagram, certified=certified, outcome=outcome), fallback=forest
    )
    found = cw.certify(part, forest)
    assert found
    assert found.reason == "same class at certified leaves"


def test_another_model_is_said_with_a_row_where_it_differs():
    X, y = load_iris(return_X_y=True)
    one = RandomForestClassifier(4, max_depth=2, random_state=0).fit(X, y)
    other = RandomForestClassifier(4, max_depth=2, random_state=1).fit(X, y)
    found = cw.certify(cw.condense(one), other)
    assert not found
    assert found.verdict is Verdict.DIFFERENT
    assert not found.same_model
    assert "another model" in found.reason
    assert set(found.counterexample) == {"x0", "x1", "x2", "x3"}


def test_a_model_with_other_columns_is_refused():
    X, y = load_iris(return_X_y=True)
    one = cw.condense(RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y))
    other = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X[:, :2], y)
    with pytest.raises(InputError, match="the tree is of another model: it has the columns"):
        cw.certify(one, other)


def test_exchanged_labels_are_refuted():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)
    one = cw.condense(model)
    swapped = replace(one, shell=replace(one.shell, classes=one.shell.classes[::-1]))
    found = cw.certify(swapped, model)
    assert not found
    assert found.verdict is Verdict.OTHER_SETTINGS
    assert found.setting == "classes"
    assert found.of_tree != found.of_ensemble


def test_the_checker_imports_nothing_of_the_composer():
    import clearwood.condensing.proof as proof

    modules = list(Path(proof.__file__).parent.glob("*.py"))
    assert len(modules) > 3
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith("clearwood.condensing.compose"), module


def test_something_that_is_no_tree_is_refused():
    with pytest.raises(InputError, match="takes a condensed tree"):
        cw.certify(42, None)


def test_no_time_at_all_is_refused():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(1, random_state=0).fit(X, y)
    one = cw.condense(model)
    with pytest.raises(InputError, match="time_limit=0: it is a number of seconds above 0"):
        cw.certify(one, model, time_limit=0)


def test_memory_that_runs_out_is_said(any_forest):
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(6, max_depth=3, random_state=0).fit(X, y)
    one = cw.condense(model, effort="fast")
    found = cw.certify(one, model, memory=1000)
    assert not found
    assert found.counterexample is None
    assert found.verdict is Verdict.OUT_OF_MEMORY
    assert "memory ran out" in found.reason


@given(st.floats(allow_nan=False), st.sampled_from(["float32", "float64"]))
@settings(max_examples=300)
def test_last_double_is_the_last_that_goes_left(threshold, precision):
    dtype = np.dtype(precision).type
    last = last_double(np.array([threshold]), precision)[0]
    with np.errstate(over="ignore"):
        # as Python's numbers: numpy would round the threshold too
        assert float(dtype(last)) <= threshold
        if last < np.inf:
            assert not float(dtype(np.nextafter(last, np.inf))) <= threshold


@given(st.floats(-1e30, 1e30), st.sampled_from(["float32", "float64"]))
def test_just_below_is_the_last_that_is_less(value, precision):
    dtype = np.dtype(precision).type
    value = float(dtype(value))
    last = just_below(np.array([value]), precision)[0]
    assert float(dtype(last)) < value
    assert not float(dtype(np.nextafter(last, np.inf))) < value


def test_rows_that_a_model_refuses_are_no_counterexample():
    X, y = load_iris(return_X_y=True)
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4).fit(X, y)
    one = cw.condense(model)
    inner = np.flatnonzero(~one.diagram.is_leaf)
    assert len(inner)
    for node in inner:
        sides = one.diagram.default_left.copy()
        sides[node] ^= True
        two = replace(one, diagram=replace(one.diagram, default_left=sides))
        assert cw.certify(two, model)  # it has no rule for missing values


LIBRARIES = {
    "XGBoost": lambda: _boosted("xgboost", "XGBClassifier", max_depth=2, n_jobs=1),
    "XGBoost numbers": lambda: _boosted("xgboost", "XGBRegressor", max_depth=2, n_jobs=1),
    "LightGBM": lambda: _boosted("lightgbm", "LGBMClassifier", num_leaves=4, verbose=-1, n_jobs=1),
    "LightGBM zeros": lambda: _boosted(
        "lightgbm", "LGBMRegressor", num_leaves=4, zero_as_missing=True, verbose=-1, n_jobs=1
    ),
    "forest": lambda: RandomForestClassifier(4, max_depth=2, random_state=0),
    "AdaBoost": lambda: AdaBoostClassifier(n_estimators=6, random_state=0),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=4),
}


def _boosted(library, kind, **options):
    return getattr(pytest.importorskip(library), kind)(n_estimators=4, **options)


def changed(diagram, forest, what, rng):
    """Change one thing about a diagram, by as little as can be."""
    arrays = {name: getattr(diagram, name).copy() for name in PER_NODE}
    inner, leaves = np.flatnonzero(~diagram.is_leaf), np.flatnonzero(diagram.is_leaf)
    node, leaf = rng.choice(inner), rng.choice(leaves)
    threshold = arrays["threshold"]
    if what == "leaf":
        arrays["outcome"][leaf] = (arrays["outcome"][leaf] + 1) % 2
        for name in ("value", "low", "high"):
            arrays[name][leaf] = np.nextafter(arrays[name][leaf], np.inf)
    elif what == "rank":
        asked = np.unique(forest.threshold[forest.feature == diagram.feature[node]])
        place = np.searchsorted(asked, threshold[node]) + rng.choice([-1, 1])
        threshold[node] = asked[place] if 0 <= place < len(asked) else threshold[node] + 1
    elif what == "unit":
        threshold[node] = np.nextafter(threshold[node], rng.choice([-np.inf, np.inf]))
    elif what == "missing":
        arrays["default_left"][node] ^= True
    else:
        left, right = arrays["left"], arrays["right"]
        left[node], right[node] = right[node], left[node]
    return replace(diagram, **arrays)


@pytest.mark.parametrize("what", ["leaf", "rank", "unit", "missing", "sides"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_least_change_is_found_whatever_the_library(name, what):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(200, 3)), 2)
    if name not in ("forest", "AdaBoost"):
        X[rng.random(X.shape) < 0.1] = np.nan
    model = LIBRARIES[name]().fit(X, (np.nansum(X, axis=1) > 0).astype(int))
    forest = cw.forest.from_model(model)
    one = cw.condense(model, effort="fast")
    for _ in range(10):
        two = replace(one, diagram=changed(one.diagram, forest, what, rng))
        rows = joint_cells(forest, two.diagram)
        if not forest.accepts_missing:
            rows = rows[~np.isnan(rows).any(axis=1)]
        wrong = differs(two, forest, rows).any()
        found = cw.certify(two, model)
        assert bool(found) == (not wrong)
        assert not wrong or differs(two, forest, found.row[None, :]).all()
