"""Roles, and tables read anew."""

from typing import ClassVar

import numpy as np
import pytest

import clearwood as cw
from clearwood import ClearwoodWarning, InputError
from clearwood.table import Kind, Role, Task, read_as

N = 40


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return {
        "age": rng.normal(50, 10, N),
        "gender": ["f", "m"] * 20,
        "exposure": rng.uniform(0.1, 1, N),
        "policy": [f"p{i // 2}" for i in range(N)],
        "signed": np.datetime64("2020-01-01") + np.arange(N),
        "remark": ["none", "late", "odd", "none"] * 10,
        "claims": rng.poisson(0.5, N),
    }


@pytest.fixture
def table(data):
    return cw.read(
        data,
        target="claims",
        weight="exposure",
        group="policy",
        time="signed",
        protected="gender",
        ignore=["remark"],
    )


def test_every_role_is_kept(table, data):
    assert table.target == "claims"
    assert table.task is Task.COUNT
    assert table.features == ("age", "gender")
    assert table.protected == ("gender",)
    assert table.n_features == 2
    np.testing.assert_array_equal(table.weights, data["exposure"])
    assert len(np.unique(table.groups)) == 20
    np.testing.assert_array_equal(table.times, data["signed"])
    assert table.role("remark") is Role.IGNORED
    assert table.X.names == ("age", "gender")


def test_a_table_can_be_read_anew_with_other_roles(table):
    again = cw.read(table, target="gender", ignore=["claims", "policy", "signed"])
    assert again.task is Task.BINARY
    assert again.y.tolist() == ["f", "m"] * 20
    assert again.features == ("age", "exposure", "remark")


def test_kinds_survive_being_read_anew(data):
    first = cw.read(data, kinds={"remark": ["none", "odd", "late"], "claims": "category"})
    again = cw.read(first, target="age")
    assert again.kinds == first.kinds
    assert again.levels == first.levels


def test_a_position_names_the_target_of_an_array():
    values = np.random.default_rng(0).normal(size=(N, 3))
    assert cw.read(values, target=-1).features == ("x0", "x1")
    with pytest.raises(cw.InputError, match="target=3: the table has 3 columns"):
        cw.read(values, target=3)


def test_more_columns_than_rows_work_with_a_warning():
    values = np.random.default_rng(0).normal(size=(12, 30))
    with pytest.warns(cw.ClearwoodWarning, match=r"more features \(29\) than rows \(12\)"):
        assert cw.read(values, target="x0").n_features == 29


def test_a_warning_points_at_the_line_that_read(data):
    data["planet"] = ["earth"] * N
    with pytest.warns(cw.ClearwoodWarning, match="planet") as caught:
        cw.read(data)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("option", ["target", "weight", "group", "time", "protected", "ignore"])
def test_a_misspelt_role_error_offers_the_nearest_name(data, option):
    with pytest.raises(cw.InputError, match=rf"'expsure' \(set as {option}\).*'exposure'"):
        cw.read(data, **{option: "expsure"})


def test_a_misspelt_kind_error_offers_the_nearest_name(data):
    with pytest.raises(cw.InputError, match=r"'ge' \(set as kinds\).*"):
        cw.read(data, kinds={"ge": "number"})


def test_a_column_has_one_role(data):
    with pytest.raises(cw.InputError, match="'claims' cannot be both target and weight"):
        cw.read(data, target="claims", weight="claims")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1.0, 2.0] * 20, r"the weight 'w' is negative \(-1\)"),
        ([0.0] * N, "the weight 'w' is 0 in every row"),
        ([1.0, None] * 20, "the weight 'w' is missing in 20 of 40 rows"),
        (["much", "little"] * 20, "column 'w' should hold numbers but has 'much'"),
        ([1.0, np.inf] * 20, "column 'w' has 20 infinite values"),
    ],
)
def test_weights_that_weigh_nothing_are_refused(data, weights, message):
    with pytest.raises(cw.InputError, match=message):
        cw.read({**data, "w": weights}, target="claims", weight="w")


def test_a_weight_of_ones_and_zeros_is_a_number(data):
    table = cw.read({**data, "w": [0, 1] * 20}, weight="w", ignore="policy")
    assert table["w"].kind is Kind.NUMBER
    np.testing.assert_array_equal(table.weights, [0.0, 1.0] * 20)


class TestReadingAsAnotherTable:
    """`read_as`: kinds, levels and roles of a table that a model was fitted on."""

    FIRST: ClassVar = {
        "size": ["S", "M", "L", "M", "S", "L"],
        "age": [31, 45, 28, 60, 45, 39],
        "claims": ["no", "yes", "no", "yes", "yes", "no"],
        "firm": ["a", "a", "b", "b", "c", "c"],
    }

    def schema(self):
        kinds = {"size": ["S", "M", "L"]}
        return cw.read(self.FIRST, target="claims", group="firm", kinds=kinds).schema

    def test_target_and_groups_are_kept_and_levels_are_the_models(self):
        again = read_as({name: values[::-1] for name, values in self.FIRST.items()}, self.schema())
        assert again.target == "claims"
        assert again.features == ("size", "age")
        assert again["size"].levels == ("S", "M", "L")
        assert list(again.y) == self.FIRST["claims"][::-1]
        assert again.groups is not None
        assert str(again.task) == "binary"

    def test_rows_without_target_are_dropped_in_every_column(self):
        rows = {name: list(values) for name, values in self.FIRST.items()}
        rows["claims"][2] = None
        again = read_as(rows, self.schema())
        assert (again.n_rows, again.dropped) == (5, 1)
        assert again["age"].values.tolist() == [31, 45, 60, 45, 39]

    def test_without_the_target_the_features_are_enough(self):
        rows = {"age": [20.5], "size": ["M"]}
        again = read_as(rows, self.schema())
        assert again.target is None
        assert again.task is None
        assert again["age"].values.tolist() == [20.5]

    def test_a_column_that_is_not_there_is_named(self):
        with pytest.raises(InputError, match="lacks the column 'age'"):
            read_as({"size": ["M"]}, self.schema())

    def test_columns_that_nobody_knows_are_left_out_with_a_warning(self):
        with pytest.warns(ClearwoodWarning, match="'note'"):
            again = read_as({**self.FIRST, "note": list("uvwxyz")}, self.schema())
        assert "note" not in again.names
