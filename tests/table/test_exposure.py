"""The role `exposure`: the table holds rates, and each row counts in proportion to its exposure."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.table import Role, Schema, read_as

AGE = [31, 45, 28, 60, 45, 39]
YEARS = [1.0, 0.5, 0.25, 1.0, 0.5, 2.0]
CLAIMS = [0, 1, 0, 1, 1, 3]
POLICIES = {"age": AGE, "years": YEARS, "claims": CLAIMS}


def policies(**changed):
    return cw.read(POLICIES | changed, target="claims", exposure="years")


def test_the_target_is_a_rate_and_rows_count_by_their_exposure():
    table = policies()
    assert table.features == ("age",)
    assert table.role("years") is Role.EXPOSURE
    np.testing.assert_array_equal(table.y, np.array(CLAIMS) / YEARS)
    np.testing.assert_array_equal(table.weights, YEARS)
    assert (table.exposure, table.outcome) == ("years", "claims per year")


def test_weights_and_exposures_are_multiplied():
    table = cw.read(
        POLICIES | {"w": [1, 2, 3, 0, 1, 1]}, target="claims", exposure="years", weight="w"
    )
    np.testing.assert_array_equal(table.weights, np.array(YEARS) * [1, 2, 3, 0, 1, 1])


def test_parts_of_a_table_keep_the_rates():
    table = policies()[np.array([4, 1])]
    np.testing.assert_array_equal(table.y, [2.0, 2.0])
    np.testing.assert_array_equal(table.weights, [0.5, 0.5])


def test_two_different_counts_are_counts_and_no_classes():
    table = policies(claims=[0, 1, 0, 1, 1, 0])
    assert str(table.task) == "count"


def test_one_count_over_different_exposures_is_not_constant():
    assert policies(claims=[1] * 6).y.std() > 0
    with pytest.raises(cw.InputError, match="'claims' is constant"):
        policies(claims=[0] * 6)


@pytest.mark.parametrize(
    ("years", "message"),
    [
        ([0, 0, 1, 1, 1, 1.5], "the exposure 'years' is zero in 2 of 6 rows"),
        ([-1, 1, 1, 1, 1, 1.5], "the exposure 'years' is negative in 1 of 6 rows"),
        ([None, 1, 1, 0, 1, 1.5], "'years' is missing in 1 and zero in 1 of 6 rows"),
    ],
)
def test_exposures_that_have_no_rate_are_refused_with_their_rows(years, message):
    with pytest.raises(cw.InputError, match=message):
        policies(years=years)


@pytest.mark.parametrize("role", ["target", "weight", "group", "time", "protected", "ignore"])
def test_an_exposure_has_no_second_role(role):
    roles = {"target": "claims", "exposure": "years"} | {role: "years"}
    with pytest.raises(cw.InputError, match=r"column 'years' cannot be both .*exposure"):
        cw.read(POLICIES, **roles)


def test_an_unknown_exposure_has_the_nearest_name_as_a_hint():
    with pytest.raises(cw.InputError, match=r"no column 'yers' .*did you mean 'years'"):
        cw.read(POLICIES, target="claims", exposure="yers")


def test_an_exposure_is_a_number():
    with pytest.raises(cw.InputError, match="the exposure 'years' is of kind category"):
        cw.read(POLICIES, target="claims", exposure="years", kinds={"years": "category"})


@pytest.mark.parametrize("claims", [["no", "yes"] * 3, ["a", "b", "c"] * 2])
def test_classes_have_no_rate(claims):
    with pytest.raises(cw.InputError, match=r"'claims' is a class .*the exposure 'years'"):
        policies(claims=claims)


def test_the_unit_is_that_of_the_label():
    labels = {"years": {"name": "Time insured", "unit": "policy years"}, "claims": "Claims"}
    table = cw.read(POLICIES, target="claims", exposure="years", labels=labels)
    assert table.outcome == "Claims per policy year"
    again = cw.read(POLICIES, target="Claims", exposure=table.exposure, labels=labels)
    assert again.outcome == table.outcome


def test_a_schema_keeps_the_exposure_for_new_data():
    schema = policies().schema
    assert Schema.from_json(schema.to_json()) == schema
    assert (schema.exposure, schema.outcome) == ("years", "claims per year")
    new = read_as({name: list(values)[::-1] for name, values in POLICIES.items()}, schema)
    np.testing.assert_array_equal(new.y, policies().y[::-1])


def test_new_data_with_a_target_need_its_exposure():
    schema = policies().schema
    with pytest.raises(cw.InputError, match="has the target 'claims' but lacks its exposure"):
        read_as({"age": AGE, "claims": CLAIMS}, schema)
    assert read_as({"age": AGE}, schema).features == ("age",)


def test_the_first_line_names_the_rate():
    assert repr(policies()).startswith("Table: 6 rows, 3 columns, count of 'claims per year'\n")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library_have_exposures(library):
    pytest.importorskip(library)
    frame = policies().to_frame(library)
    np.testing.assert_array_equal(cw.read(frame, target="claims", exposure="years").y, policies().y)


@pytest.mark.parametrize("role", ["target", "weight", "exposure", "group", "time"])
def test_a_role_of_one_column_takes_one_name(role):
    rows = {name: [1.0, 2.0, 3.0, 4.0, 5.0] for name in ("x", "a", "b", "y")}
    with pytest.raises(cw.InputError, match=f"{role}=.*the name of one column"):
        cw.read(rows, **{"target": "y", role: ["a", "b"]})
