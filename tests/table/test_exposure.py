"""The role `exposure`: the table holds rates, and each row counts in proportion to its exposure."""

import numpy as np
import pandas as pd
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


def with_zeros(**changed):
    """600 policies, of which 30 have no exposure and carry claims all the same."""
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.uniform(20, 70, 600).round(1),
        "region": rng.choice(["north", "south"], 600).astype(object),
        "years": rng.uniform(0.1, 1.0, 600).round(3),
        "claims": rng.poisson(0.4, 600),
    }
    columns["years"][:30] = 0.0
    columns["region"][:30] = "nowhere"
    order = rng.permutation(600)
    frame = pd.DataFrame({name: values[order] for name, values in columns.items()})
    return frame.assign(**changed)


def in_parts(frame):
    return [frame[:1], frame[1:200], frame[200:]]


ROLES = {"target": "claims", "exposure": "years"}


@pytest.mark.parametrize("cut", [False, True])
def test_rows_with_zero_exposure_are_left_out_on_request_only(cut):
    frame = with_zeros()
    verb, source = (cw.scan, in_parts(frame)) if cut else (cw.read, frame)
    with pytest.raises(cw.InputError, match=r"zero in 30 of 600 .*zero_exposure='drop'"):
        verb(source, **ROLES)
    total = int(frame["claims"][frame["years"] == 0].sum())
    note = f"30 rows with an exposure 'years' of zero left out; their 'claims' add up to {total}"
    with pytest.warns(cw.ClearwoodWarning, match=note):
        read = verb(source, **ROLES, zero_exposure="drop")
    assert note in read.notes
    assert read.options["zero_exposure"] == "drop"
    known = cw.read(frame[frame["years"] > 0], **ROLES)
    rows = read.to_table() if cut else read
    assert rows.schema == known.schema  # also without the level that only these rows have
    assert rows.dropped == 0
    for one, other in zip(rows.columns, known.columns, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
    assert cw.learner("glm").fit(read).expected(known).sum() == pytest.approx(
        cw.learner("glm").fit(known).expected(known).sum(), rel=1e-6
    )


def files_of(frame, folder):
    """Write an exposure and a target that are text in the file."""
    folder.mkdir()
    written = frame.assign(
        years=[f"{years:.3f}".replace(".", ",") for years in frame["years"]],
        claims=[None if k % 7 == 0 else f"€ {n}" for k, n in enumerate(frame["claims"])],
    )
    for k, part in enumerate(in_parts(written)):
        part.to_csv(folder / f"{k}.csv", index=False)
    written.to_csv(folder.parent / "one.csv", index=False)
    return folder.parent / "one.csv", folder


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_parts_of_text_leave_out_what_the_one_table_does(tmp_path):
    one, folder = files_of(with_zeros(), tmp_path / "parts")
    options = ROLES | {"zero_exposure": "drop", "decimal": ","}
    table, parts = cw.read(one, **options), cw.scan(folder, **options)
    notes = [[str(note) for note in read.notes] for read in (table, parts)]
    (left_out,) = (note for note in notes[0] if "of zero" in note)
    assert "'claims' add up to" in left_out
    assert left_out in notes[1]
    assert parts.n_rows == table.n_rows
    assert parts.dropped == table.dropped > 0
    for name in ("age", "region", "years", "claims"):
        np.testing.assert_array_equal(parts.to_table()[name].values, table[name].values)
    # roles set anew start from the rows that are left
    assert cw.read(parts, **ROLES).n_rows == table.n_rows


def test_new_rows_with_zero_exposure():
    frame = with_zeros()
    known = cw.read(frame[frame["years"] > 0], **ROLES)
    model = cw.learner("glm").fit(known)
    # they are predicted: a rate for each, and nothing is expected without exposure
    zero = (frame["years"] == 0).to_numpy()
    with pytest.warns(cw.ClearwoodWarning, match="nowhere"):
        expected = model.expected(frame)
    assert (expected[zero] == 0).all()
    assert (expected[~zero] > 0).all()
    # they are compared with nothing: read with their target, they are refused or left out
    with (
        pytest.warns(cw.ClearwoodWarning, match="nowhere"),
        pytest.raises(cw.InputError, match="zero_exposure='drop'"),
    ):
        read_as(frame, model.schema_)
    with pytest.warns(cw.ClearwoodWarning, match="30 rows with an exposure"):
        rows = read_as(frame, model.schema_, zero_exposure="drop")
    assert (rows.n_rows, rows["region"].levels) == (570, ("north", "south"))


@pytest.mark.parametrize("cut", [False, True])
def test_zero_exposure_has_its_limits(cut):
    frame = with_zeros()
    verb, source = (cw.scan, in_parts(frame)) if cut else (cw.read, frame)
    with pytest.raises(cw.InputError, match="zero_exposure='leave' is not a known value"):
        verb(source, **ROLES, zero_exposure="leave")
    for years, message in ((0.0, "zero in all 600 rows"), (-1.0, "negative in 600 of 600")):
        frame = with_zeros(years=years)
        source = in_parts(frame) if cut else frame
        with pytest.raises(cw.InputError, match=message):
            verb(source, **ROLES, zero_exposure="drop")
