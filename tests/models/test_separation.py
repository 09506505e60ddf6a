"""Warnings of classes that columns separate."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import clearwood as cw


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return {"a": rng.normal(size=80), "b": rng.normal(size=80), "town": np.array(["x", "y"] * 40)}


def _fitted(rows, is_yes, name="logistic", weight=None, **settings):
    data = cw.read({**rows, "out": np.where(is_yes, "yes", "no")}, target="out")
    return cw.learner(name, **settings).fit(data, data.y, sample_weight=weight)


def test_a_column_that_separates_the_classes_is_named(rows):
    with pytest.warns(cw.ClearwoodWarning, match="column 'b' alone separates.*'yes'.*penalty='l2'"):
        _fitted(rows, rows["b"] > 0.2, penalty="none")


def test_a_level_with_one_class_only_is_named(rows):
    rows["town"][:3] = "z"
    is_yes = (rows["a"] + np.random.default_rng(1).normal(size=80) > 0) | (rows["town"] == "z")
    with pytest.warns(cw.ClearwoodWarning, match="column 'town' alone"):
        _fitted(rows, is_yes, penalty="none")


def test_a_combination_of_columns_is_found_by_its_scores(rows):
    is_yes = rows["a"] + rows["b"] > 0.1
    with pytest.warns(cw.ClearwoodWarning, match="a combination of columns"):
        _fitted(rows, is_yes, penalty="none")


@pytest.mark.parametrize("name", ["logistic", "softmax", "one-vs-rest"])
@pytest.mark.parametrize(
    ("is_alone", "who"), [(True, "column 'a' alone"), (False, "a combination")]
)
def test_one_of_several_classes_that_lies_apart_is_named(rows, name, is_alone, who):
    apart = rows["a"] + (0 if is_alone else rows["b"]) > 0.4
    kind = np.where(apart, "p", np.random.default_rng(1).choice(["q", "r"], 80))
    data = cw.read({**rows, "kind": kind}, target="kind")
    with pytest.warns(cw.ClearwoodWarning, match=f"{who}.*of class 'p' from the other classes"):
        cw.learner(name, penalty="none").fit(data)


def test_a_penalty_or_classes_that_overlap_give_no_warning(rows):
    noise = np.random.default_rng(1).normal(size=80)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _fitted(rows, rows["b"] > 0.2)
        _fitted(rows, rows["a"] + noise > 0, penalty="none")
    assert not caught


def test_rows_of_weight_zero_do_not_count(rows):
    is_yes = rows["b"] > 0.2
    is_yes[:2] = ~is_yes[:2]
    weight = np.where(np.arange(80) < 2, 0.0, 1.0)
    with pytest.warns(cw.ClearwoodWarning, match="'b'"):
        _fitted(rows, is_yes, weight=weight, penalty="none")


def test_an_infinite_c_is_no_penalty(rows):
    with pytest.warns(cw.ClearwoodWarning, match=r"column 'b' alone separates.*C=1"):
        _fitted(rows, rows["b"] > 0.2, C=np.inf)


def test_columns_that_separate_some_rows_only_together_are_named(rows):
    # on one side of a corner every row is of one class, elsewhere classes overlap
    rng = np.random.default_rng(3)
    rows["u"], rows["v"] = np.repeat([0.0, 1.0], 40), np.tile([0.0, 1.0], 40)
    is_yes = (rows["u"] + rows["v"] == 2) | (rng.random(80) < 0.4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # a product makes the corner a direction of its own, which single columns do not show
        rows["w"] = 3.0 * rows["u"] * rows["v"] + rows["a"]
        _fitted(rows, is_yes, penalty="none")
    assert len(caught) == 1
    assert "a combination of columns" in str(caught[0].message)
    assert "'w'" in str(caught[0].message)


@pytest.mark.parametrize("seed", range(20))
def test_steep_lines_and_certain_rows_without_separation_give_no_warning(seed):
    rng = np.random.default_rng(seed)
    x, town = rng.normal(0, 3, 400), rng.choice(["x", "y", "z"], 400)
    is_yes = rng.random(400) < 1 / (1 + np.exp(-4 * x))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _fitted({"x": x, "town": town}, is_yes, penalty="none")
    assert not caught


def test_a_level_without_events_is_named_for_counts():
    rng = np.random.default_rng(0)
    town = rng.choice(["x", "y", "z"], 300)
    claims = rng.poisson(0.5, 300) * (town != "z")
    rows = {"age": rng.normal(size=300), "town": town, "claims": claims}
    data = cw.read(rows, target="claims", task="count")
    with pytest.warns(cw.ClearwoodWarning, match="rows of 'town' have a target of 0"):
        model = cw.learner("glm", alpha=0).fit(data)
    notes = cw.coefficients(model, data).notes
    assert any(note.startswith("'town' has rows without events") for note in notes)
    assert model.predict(data)[town == "z"].max() < 1e-9


def is_separated(matrix, codes):
    """Decide by a linear programme whether some scores suit all rows, and one strictly."""
    n_classes = int(codes.max()) + 1
    rows = np.column_stack([np.ones(len(matrix)), matrix])
    differences = []
    for row, own in zip(rows, codes, strict=True):
        for other in set(range(n_classes)) - {int(own)}:
            signs = np.zeros((n_classes, 1))
            signs[own], signs[other] = 1, -1
            differences.append((signs * row).ravel())
    found = np.array(differences)
    best = linprog(-found.sum(axis=0), A_ub=-found, b_ub=np.zeros(len(found)), bounds=(-1, 1))
    return bool(-best.fun > 1e-6)


def test_several_classes_are_separated_where_a_linear_programme_says_so():
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = 60
        x, town = rng.normal(size=n), rng.choice(["a", "b", "c"], n, p=[0.5, 0.4, 0.1])
        scores = np.column_stack([np.zeros(n), 2 * x, -x])
        codes = (scores + rng.gumbel(size=(n, 3))).argmax(axis=1)
        table = cw.read({"x": x, "town": town, "y": np.array(["u", "v", "w"])[codes]}, target="y")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = cw.learner("logistic", penalty="none").fit(table)
        said = [str(one.message) for one in caught if "separates" in str(one.message)]
        truth = is_separated(model.encoder_.transform(table), codes)
        assert bool(said) == truth, (seed, said)
        found.append(truth)
    assert 10 <= sum(found) <= 50


def test_the_columns_that_separate_one_of_several_classes_together_are_named():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 400))
    codes = np.where(a + b > 1, 0, np.where(c + rng.logistic(size=400) > 0, 1, 2))
    table = cw.read({"a": a, "b": b, "c": c, "y": np.array(["u", "v", "w"])[codes]}, target="y")
    with pytest.warns(cw.ClearwoodWarning, match=r"columns \('a' and 'b'\) separates .* class 'u'"):
        cw.learner("logistic", penalty="none").fit(table)


def said_of(columns, name, *, parts, **settings):
    """Return the warnings of a fit to rows in memory, or in three parts."""
    frame = pd.DataFrame(columns)
    data = cw.scan([frame[k::3] for k in range(3)], target="y") if parts else None
    data = cw.read(frame, target="y") if data is None else data
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cw.learner(name, **settings).fit(data)
    return sorted(str(one.message) for one in caught if "no finite value" in str(one.message))


@pytest.mark.parametrize("seed", range(6))
def test_rows_in_parts_are_separated_as_rows_in_memory_are(seed):
    """Of steep lines, levels with one class, and combinations of columns."""
    rng = np.random.default_rng(seed)
    n = 300
    x, z = rng.normal(size=(2, n))
    town = rng.choice(["a", "b", "c"], n, p=[0.6, 0.35, 0.05])
    steep = 8 * x + rng.logistic(size=n) > 0
    overlap = 2 * x + rng.logistic(size=n) > 0
    cases = {
        "steep": (steep, False),
        "town": (overlap | (town == "c"), True),
        "together": (x + z > 0.1, True),
        "overlap": (overlap, False),
    }
    for y, is_separated in cases.values():
        columns = {"x": x, "z": z, "town": town, "y": np.where(y, "yes", "no")}
        whole, parts = (
            said_of(columns, "logistic", parts=one, penalty="none") for one in (False, True)
        )
        assert bool(whole) == bool(parts) == is_separated
        assert "'yes'" in parts[0] if parts else True
    counts = rng.poisson(np.exp(0.3 * x))
    for y, is_without in ((np.where(town == "c", 0, counts), True), (counts, False)):
        columns = {"x": x, "town": town, "y": y}
        whole, parts = (said_of(columns, "glm", parts=one, alpha=0) for one in (False, True))
        assert whole == parts
        assert bool(parts) == is_without
