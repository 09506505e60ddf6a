"""Warnings of classes that columns separate."""

import warnings

import numpy as np
import pytest

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
