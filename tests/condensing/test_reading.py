"""Rules, paths, text, pictures and pruned trees say what the tree says."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import clearwood as cw
from clearwood import InputError
from clearwood.condensing import Region
from clearwood.condensing.reading import Wording


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["sepal length", "sepal width", "petal length", "petal width"]
    model = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    return cw.condense(model), model, X, y.to_numpy()


def holds(condition, row):
    """Evaluate a condition on numbers as it is written."""
    name = next(name for name in row.index if name in condition)
    if condition.endswith((" is known", " is missing")):
        return condition.endswith("known")
    text = condition.replace(name, repr(float(row[name]))).replace("≤", "<=")
    return eval(text)


def test_exactly_one_rule_holds_and_it_predicts_the_row(iris):
    one, model, X, _ = iris
    rules = one.rules(X)
    for at in range(0, len(X), 7):
        row = X.iloc[at]
        true = [rule for rule in rules if all(holds(c, row) for c in rule.conditions)]
        assert len(true) == 1
        assert true[0].prediction == model.predict(X.iloc[[at]])[0]


def test_support_adds_up_and_sorts_and_precision_is_counted(iris):
    one, _, X, y = iris
    rules = one.rules(X, y)
    support = [rule.support for rule in rules]
    assert sum(support) == pytest.approx(1.0)
    assert support == sorted(support, reverse=True)
    right = sum(rule.n_rows * rule.accuracy for rule in rules if rule.n_rows)
    assert right == pytest.approx((one.predict(X) == y).sum())
    assert list(rules.to_frame()["n_rows"]) == [rule.n_rows for rule in rules]
    assert json.loads(json.dumps(rules.to_json()))["rules"][0]["support"] == support[0]
    assert rules.to_frame("dict")["accuracy"] == [rule.accuracy for rule in rules]


def test_rules_of_a_tree_of_values_bring_the_value():
    X, y = [[1.0], [2.0], [3.0]], [10.0, 20.0, 30.0]
    one = cw.condense(DecisionTreeRegressor().fit(X, y))
    rules = one.rules(X, y, units={"x0": "km"})
    assert sorted(rule.value for rule in rules) == [(10.0,), (20.0,), (30.0,)]
    assert all(rule.mean_error == 0.0 for rule in rules)
    assert any("km" in condition for rule in rules for condition in rule.conditions)


def test_a_path_keeps_only_what_decides(iris):
    one, model, X, _ = iris
    rng = np.random.default_rng(0)
    n_met = 0
    for at in range(0, len(X), 11):
        path = one.path(X.iloc[at])
        assert path.prediction == model.predict(X.iloc[[at]])[0]
        assert len(path.conditions) <= path.n_questions
        # any row that meets the conditions is predicted the same
        others = X.sample(200, replace=True, random_state=at) * rng.uniform(0.3, 3, (200, 4))
        meets = [all(holds(c, other) for c in path.conditions) for _, other in others.iterrows()]
        n_met += sum(meets)
        if any(meets):
            assert (model.predict(others[meets]) == path.prediction).all()
    assert n_met > 100


def test_a_path_takes_a_row_in_any_form(iris):
    one, _, X, _ = iris
    row = X.iloc[3]
    sentences = {str(one.path(form)) for form in (row, dict(row), X.iloc[[3]], X.to_numpy()[3])}
    assert len(sentences) == 1
    with pytest.raises(InputError, match="path takes one row, not 2"):
        one.path(X.head(2))


def test_the_sentence_says_what_and_why(iris):
    path = iris[0].path(iris[2].iloc[0])
    assert re.match(r"^0, because .*petal", str(path))
    document = path.to_json()
    assert document["sentence"] == str(path)
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_one_hot_columns_are_shown_as_their_category():
    frame = pd.DataFrame({"region": ["north", "south", "west"] * 20, "age": range(60)})
    y = np.where((frame["region"] == "south") & (frame["age"] > 20), "yes", "no")
    encode = ColumnTransformer([("kind", OneHotEncoder(), ["region"])], remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(random_state=0)).fit(frame, y)
    text = " ".join(str(rule) for rule in cw.condense(model).rules())
    assert "region is south" in text
    assert "region is not south" in text
    assert "0.5 " not in text


def test_a_question_compares_with_a_number_only_where_its_text_does(iris):
    wording = Wording(iris[0])
    for node in np.flatnonzero(~iris[0].diagram.is_leaf):
        cut, text = wording.cut(node), wording.question(node)
        assert text.endswith(" is known" if cut is None else f"≤ {cut:.6g}")
    frame = pd.DataFrame({"region": ["north", "south", "west"] * 20})
    encode = ColumnTransformer([("kind", OneHotEncoder(), ["region"])])
    model = make_pipeline(encode, DecisionTreeClassifier(random_state=0))
    levels = Wording(cw.condense(model.fit(frame, frame["region"] == "south")))
    assert levels.question(0) == "region is not south"
    assert levels.cut(0) is None


def test_a_learners_levels_are_named():
    frame = pd.DataFrame({"region": ["north", "south", "west"] * 20})
    frame["age"] = [7 * k % 50 for k in range(60)]
    frame["y"] = np.where((frame["region"] == "south") & (frame["age"] > 20), "yes", "no")
    model = cw.learner("tree").fit(cw.read(frame, target="y"))
    path = cw.condense(model).path({"region": "south", "age": 45})
    assert path.prediction == "yes"
    assert any("region is south" in condition for condition in path.conditions)


def test_text_can_stop_at_a_depth(iris):
    text = iris[0].to_text(depth=1)
    assert len(text.splitlines()) == 3
    assert "leaves" in text


def test_the_picture_is_well_formed_and_draws_every_leaf(iris):
    one = iris[0]
    svg = one.to_svg()
    root = ET.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    boxes = root.findall(f"{space}g/{space}rect")
    assert sum(box.get("class") == "leaf" for box in boxes) == one.n_leaves
    assert len(boxes) == 2 * one.n_leaves - 1
    corners = [(float(box.get("x")), float(box.get("y"))) for box in boxes]
    assert len(set(corners)) == len(corners)
    assert root.find(f"{space}title").text.startswith("Condensed")
    assert "<svg" in one._repr_html_()


def test_pictures_escape_names(iris):
    one = iris[0]
    names = ("<b>", "a & b", '"c"', "d")
    shell = replace(one.shell, feature_names=names, columns=(), groups=np.empty(0, np.int32))
    picture = ET.fromstring(replace(one, shell=shell).to_svg())
    used = {names[k] for k in np.unique(one.diagram.feature[~one.diagram.is_leaf])}
    text = " ".join(picture.itertext())
    assert used
    assert all(name in text for name in used)


def test_plot_saves(iris, tmp_path):
    picture = iris[0].plot()
    assert picture.save(tmp_path / "tree.svg").read_text().startswith("<svg")
    assert picture._repr_svg_() == picture.svg


def test_too_many_leaves_are_not_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    model = DecisionTreeRegressor().fit(X, rng.normal(size=3000))
    with pytest.raises(InputError, match="pictures show up to 600"):
        cw.condense(model, effort="fast").to_svg()


def test_the_pruned_tree_agrees_on_its_rows_and_says_it_is_not_equal_everywhere(iris):
    one, model, X, _ = iris
    small = one.prune(X)
    assert small.tree.n_leaves < one.n_leaves
    assert small.agreement(model, X) == 1.0
    assert "no longer equal everywhere" in str(small)
    assert small.tree.certificate.region is Region.ROWS
    # every leaf holds rows
    reached = set(small.tree.apply(X).tolist())
    assert reached == set(np.flatnonzero(small.tree.diagram.is_leaf).tolist())
    far = pd.DataFrame(np.random.default_rng(1).uniform(0, 8, (3000, 4)), columns=X.columns)
    assert small.agreement(model, far) < 1.0
    assert not cw.certify(small.tree, model)


def test_pruning_to_nothing_is_refused(iris):
    with pytest.raises(InputError, match="no rows to prune to"):
        iris[0].prune(iris[2].head(0))


def test_values_are_pruned_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = RandomForestRegressor(3, max_depth=2, random_state=0).fit(X, X[:, 0])
    small = cw.condense(model, effort="fast").prune(X)
    np.testing.assert_array_equal(small.tree.predict(X), model.predict(X))


def test_zeros_that_count_as_missing_are_said_briefly():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 1)) < 0.3, 0.0, rng.uniform(-5, 5, (300, 1)))
    y = np.where(X[:, 0] == 0, 9.0, X[:, 0] > 2)
    model = lightgbm.LGBMRegressor(
        n_estimators=1, num_leaves=3, zero_as_missing=True, verbose=-1, min_child_samples=5
    ).fit(X, y)
    text = str(cw.condense(model).rules())
    assert "1e-35" not in text
    assert "(but not 0)" in text or "is missing" in text


def test_rows_of_rules_count_by_their_weight():
    frame = {"x": [1.0, 2.0, 3.0, 4.0] * 5, "y": [0.0, 0.0, 1.0, 2.0] * 5, "w": [1, 1, 4, 2] * 5}
    data = cw.read(frame, target="y", weight="w", task="regression")
    model = cw.learner("tree", max_depth=1).fit(data)
    listed = cw.condense(model, data).rules(data)
    high, low = listed.items
    assert high.support == pytest.approx(0.75)
    assert (high.n_rows, low.n_rows) == (10, 10)
    assert high.prediction == pytest.approx(4 / 3)
    assert high.mean_error == pytest.approx((4 * 1 / 3 + 2 * 2 / 3) / 6)
    twice = {name: values + values[2:3] for name, values in frame.items()}
    assert cw.condense(model, data).rules(
        cw.read(twice, target="y", weight="w", task="regression")
    ).items[0].support == pytest.approx(34 / 44)
