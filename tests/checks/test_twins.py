"""Rows with identical features."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.checks import twins

LEVELS = np.array(list("abcd"))


def people(effect, *, n_rows=1500, n_people=250, target="number", **roles):
    """Several rows of each person; their targets share an effect that no feature explains."""
    rng = np.random.default_rng(0)
    person = np.append(np.arange(n_people), rng.integers(0, n_people, n_rows - n_people))
    x = rng.normal(size=(n_people, 3))
    mean = (x[:, 0] + effect * rng.normal(size=n_people))[person]
    y = mean + rng.normal(size=n_rows)
    if target == "class":
        y = np.where(y > 0, "yes", "no")
    data = {
        "a": x[person, 0],
        "b": x[person, 1],
        "town": rng.choice(LEVELS, n_people)[person],
        "year": 2000 + np.arange(n_rows) % 9,
        "y": y,
    }
    return cw.read(data, target="y", time="year", **roles)


def few_categories(n_rows=3000, *, interaction=1.0):
    """Every row has twins by chance; given the features, targets are independent."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, (n_rows, 3))
    mean = rng.normal(size=(3, 4))[range(3), codes].sum(axis=1)
    mean = mean + interaction * rng.normal(size=(4, 4, 4))[tuple(codes.T)]
    data = {f"x{j}": LEVELS[codes[:, j]] for j in range(3)}
    return cw.read({**data, "y": mean + rng.normal(size=n_rows)}, target="y")


def test_twins_are_counted():
    data = {"a": [1.5, 2.5, 1.5, 3.5, 1.5, 3.5, 9.5], "y": [1.0, 2, 3, 4, 5, 6, 7]}
    result = twins(cw.read(data, target="y"))
    assert (result.n_rows, result.n_distinct, result.n_twins, result.largest) == (7, 4, 5, 3)
    assert result.share == 5 / 7


@pytest.mark.parametrize("target", ["number", "class"])
def test_rows_of_the_same_people_agree(target):
    result = twins(people(effect=1.0, target=target))
    assert result.n_distinct == 250
    assert result.n_distinct_expected > 0.8 * result.n_rows
    assert result.are_unexpected
    assert result.agree
    assert result.agreement > 0.2


def test_people_with_coarse_features_agree():
    """Many of them are alike by chance, and yet there are fewer different rows than by chance."""
    rng = np.random.default_rng(4)
    person = rng.integers(0, 500, 4000)
    x = np.column_stack([rng.integers(0, n, 500) for n in (4, 12, 2, 30, 2)])
    own = x[:, 0] + rng.normal(size=500)
    data = {f"x{j}": x[person, j] for j in range(5)} | {"y": own[person] + rng.normal(size=4000)}
    result = twins(cw.read(data, target="y"))
    assert result.n_distinct < 500
    assert result.are_unexpected
    assert result.agree


def test_twins_in_a_table_of_few_categories_raise_no_alarm():
    result = twins(few_categories())
    assert result.n_twins == result.n_rows
    assert result.n_distinct_expected == result.n_distinct == 64
    assert not result.are_unexpected
    assert not result.agree


def test_twins_among_associated_categories_raise_no_alarm():
    rng = np.random.default_rng(2)
    common = rng.normal(size=4000)
    data = {}
    mean = np.zeros(4000)
    for j in range(8):
        code = np.digitize(0.8 * common + 0.6 * rng.normal(size=4000), [-1, 0, 1])
        data[f"x{j}"] = LEVELS[code]
        mean += rng.normal(size=4)[code]
    result = twins(cw.read({**data, "y": mean + rng.normal(size=4000)}, target="y"))
    assert result.share > 0.3
    assert abs(result.n_distinct_expected - result.n_distinct) < 0.04 * result.n_rows
    assert not result.agree


def test_dummies_of_one_category_raise_no_alarm():
    rng = np.random.default_rng(3)
    town = rng.integers(0, 12, 2000)
    data = {f"town {k}": (town == k).astype(int) for k in range(12)}
    data |= {"age": rng.integers(20, 60, 2000), "y": town + rng.normal(size=2000)}
    assert not twins(cw.read(data, target="y")).agree


@pytest.mark.parametrize("name", ["diabetes", "breast_cancer", "wine"])
def test_tables_of_different_people_raise_no_alarm(name):
    result = twins(cw.datasets.load(name))
    assert result.share < 0.05
    assert not result.agree


def test_only_features_make_twins():
    table = people(effect=1.0)
    as_feature = twins(cw.read(table, target="y"))
    assert as_feature.n_distinct > 1000
    for role in ("time", "group", "weight", "ignore"):
        assert twins(cw.read(table, target="y", **{role: "year"})).n_distinct == 250


def test_without_a_target_twins_are_counted_only():
    table = people(effect=1.0)
    result = twins(table.select(["a", "b", "town"]))
    assert result.are_unexpected
    assert result.agreement is None
    assert not result.agree


def test_missing_values_are_alike():
    table = cw.read({"a": [None, None, 1.5, 2.5, 3.5], "b": [1, 1, 2, 2, 2], "y": range(5)})
    assert twins(table.select(["a", "b"])).n_twins == 2


def test_it_reads_as_a_sentence():
    text = str(twins(people(effect=1.0)))
    assert text.endswith(
        "250 different rows. Targets of twins agree more than the features "
        "explain (correlation 0.554)"
    )
    assert set(twins(few_categories()).to_json()) >= {"n_twins", "share", "agree"}


def test_a_table_without_features_is_refused():
    table = cw.read({"y": [1.0, 2.0, 3.0, 4.0, 5.0], "a": range(5)}, target="y")
    with pytest.raises(cw.InputError, match="no features"):
        twins(table.select(["y"]))


def test_test_rows_that_are_in_the_table_are_counted():
    rng = np.random.default_rng(5)
    data = {"a": rng.normal(size=200), "b": rng.choice(LEVELS, 200), "y": rng.normal(size=200)}
    table = cw.read(data, target="y")
    fresh = {"a": rng.normal(size=50), "b": rng.choice([*LEVELS, "e"], 50)}
    mixed = {name: np.append(fresh[name], data[name][:30]) for name in fresh}
    result = twins(table, test=cw.read(mixed))
    assert (result.n_test, result.n_test_twins) == (80, 30)
    assert result.overlaps_test
    assert not twins(table, test=cw.read(fresh)).overlaps_test
    assert not twins(table).overlaps_test


def test_test_rows_of_few_categories_are_in_the_table_by_chance():
    rows = np.random.default_rng(6).permutation(3000)
    table = few_categories()
    result = twins(table.take(rows[:2000]), test=table.take(rows[2000:]))
    assert result.n_test_twins > 990
    assert not result.overlaps_test
