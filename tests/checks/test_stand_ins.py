"""Columns that hold a protected one in another form are found, associated ones are not."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.checks import stand_ins
from clearwood.reporting import audit_page


def people(n: int = 1500, seed: int = 0) -> dict[str, np.ndarray]:
    """Return people of three groups, and columns that depend on the group but do not tell it."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["black", "hispanic", "white"], n, p=[0.25, 0.2, 0.55])
    return {
        "race": race,
        "income": rng.normal(size=n) + 1.5 * (race == "white"),
        "area": np.where(rng.random(n) < 0.7, race, rng.choice(["a", "b"], n)),
        "noise": rng.normal(size=n),
        "y": rng.normal(size=n),
    }


def found(columns, protected, **roles) -> list[tuple]:
    """Return what stands for what."""
    table = cw.checks.stand_ins
    return [(one.columns, one.protected, one.group) for one in table(columns, protected=protected)]


def flags(rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the rows with a yes/no column for each group in place of the group."""
    race = rows.pop("race")
    return {**rows, **{group: np.where(race == group, 1, 0) for group in np.unique(race)}}


def test_the_flag_of_the_group_that_is_left_over_stands_for_the_others():
    rows = flags(people())
    assert found(rows, ["black", "hispanic"]) == [(("white",), ("black", "hispanic"), "0 / 0")]


def test_flags_that_determine_a_protected_one_together_are_found_together():
    (one,) = stand_ins(flags(people()), protected="black")
    assert set(one.columns) == {"hispanic", "white"}
    assert (one.share, one.right, one.group) == (1, 1, None)


def test_one_flag_tells_its_group_of_several():
    rows = people()
    rows["is_white"] = np.where(rows["race"] == "white", "yes", "no")
    assert found(rows, "race") == [(("is_white",), ("race",), "white")]


def test_first_names_that_determine_the_group_are_found_however_many_there_are():
    rows = people(3000)
    rng = np.random.default_rng(5)
    by_group = {group: [f"{group[:2]}{k}" for k in range(120)] for group in set(rows["race"])}
    rows["first_name"] = np.array([rng.choice(by_group[group]) for group in rows["race"]])
    (one,) = stand_ins(rows, protected="race")
    assert one.columns == ("first_name",)
    assert one.right > 0.99
    assert one.base == pytest.approx((rows["race"] == "white").mean())


@pytest.mark.parametrize("kind", ["birth year", "two years", "date of birth"])
def test_a_protected_age_in_another_form(kind):
    rng = np.random.default_rng(1)
    n = 1200
    age, year = rng.integers(18, 80, n), rng.integers(2001, 2021, n)
    rows = {"age": age, "noise": rng.normal(size=n), "y": rng.normal(size=n)}
    if kind == "birth year":
        rows["born"] = 2020 - age
    elif kind == "two years":
        rows |= {"seen": year, "born": 2 * (year - age) + rng.normal(0, 40, n)}
        rows["half"] = 3 * year - 3 * age - rows["born"]
    else:
        days = rng.integers(0, 365, n).astype("timedelta64[D]")
        rows["born"] = np.datetime64("2020-01-01") - 365 * age.astype("timedelta64[D]") - days
    (one,) = stand_ins(rows, protected="age")
    assert set(one.columns) == ({"seen", "born", "half"} if kind == "two years" else {"born"})
    assert one.share > 0.99


def test_a_column_that_the_protected_one_determines_is_another_form_of_it():
    rng = np.random.default_rng(2)
    age = rng.integers(18, 90, 1000)
    rows = {"age": age, "pensioner": age >= 65, "noise": rng.normal(size=1000)}
    (one,) = stand_ins(rows, protected="age")
    assert (one.columns, one.protected, one.is_function) == (("pensioner",), ("age",), True)


def test_a_title_that_gives_most_away_is_found_and_gaps_are_no_obstacle():
    rng = np.random.default_rng(3)
    sex = rng.choice(["f", "m"], 2000)
    title = np.where(sex == "m", "Mr", rng.choice(["Mrs", "Ms"], 2000)).astype(object)
    title[rng.random(2000) < 0.02] = None
    shown = sex.astype(object)
    shown[:50] = None
    rows = pd.DataFrame({"sex": shown, "title": title, "noise": rng.normal(size=2000)})
    (one,) = stand_ins(rows, protected="sex")
    assert one.columns == ("title",)
    assert 0.97 < one.right < 1


def test_rows_without_weight_and_copies_of_a_person_prove_nothing():
    rng = np.random.default_rng(4)
    sex = rng.choice(["f", "m"], 800)
    rows = {"sex": sex, "told": sex, "w": np.ones(800), "y": rng.normal(size=800)}
    rows["told"] = np.where(np.arange(800) < 400, sex, "u")
    rows["w"] = np.where(np.arange(800) < 400, 0.0, 1.0)
    table = cw.read(rows, target="y", weight="w", protected="sex")
    assert stand_ins(table) == ()
    # a number of the person tells the sex of the same person's other rows, and of nobody else
    person = np.repeat(np.arange(200), 4)
    once = {"sex": sex[person], "number": person.astype(str), "person": person}
    assert len(stand_ins(once, protected="sex", columns=["number"])) == 1
    grouped = cw.read(once, group="person", protected="sex")
    assert stand_ins(grouped, columns=["number"]) == ()


def test_associated_columns_are_no_stand_ins():
    """Under strong confounding and with many columns, no table of 12 has a false one."""
    false = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = people(300, seed)
        rows |= {f"x{k}": rng.normal(size=300) + 0.5 * (rows["race"] == "black") for k in range(6)}
        rows["sex"] = rng.choice(["f", "m"], 300)
        rows["height"] = 165 + 13 * (rows["sex"] == "m") + 7 * rng.normal(size=300)
        false += len(stand_ins(rows, protected=["race", "sex"]))
    assert false == 0


def test_reading_notes_it_in_one_piece_and_in_parts(tmp_path):
    rows = pd.DataFrame(flags(people()))
    for k in range(2):
        rows[k::2].to_csv(tmp_path / f"{k}.csv", index=False)
    for verb, source in ((cw.read, rows), (cw.scan, str(tmp_path)), (cw.read, str(tmp_path))):
        with pytest.warns(cw.ClearwoodWarning, match="'white' tells whether the protected"):
            table = verb(source, target="y", protected=["black", "hispanic"])
        assert sum("ignore=['white']" in str(note) for note in table.notes) == 1


def test_audit_and_fair_model_name_it_where_the_model_uses_it():
    rows = flags(people())
    rows["y"] = rows["y"] + 2 * rows["white"]
    with pytest.warns(cw.ClearwoodWarning, match="in place of what is protected"):
        table = cw.read(rows, target="y", protected=["black", "hispanic"])
    model = cw.learner("ols").fit(table)
    audit = cw.audit(model, table)
    assert [one.columns for one in audit.stand_ins] == [("white",)]
    assert any("'white'" in note and "stays" in note for note in audit.notes)
    assert audit.to_json()["stand_ins"][0]["columns"] == ["white"]
    with pytest.warns(cw.ClearwoodWarning, match="'white'.*protect it too, protected="):
        free = cw.fair(model, table)
    gap = np.subtract(*(free.predict(table)[rows["white"] == k].mean() for k in (1, 0)))
    assert gap > 1  # the warning is right: what is protected keeps its influence
    page = audit_page(audit).to_html()
    assert "so that it has no direct or proxy influence" not in page
    assert "which leaves its influence through white" in page
    # protected as well, it is averaged over: what is left goes through other columns
    told = cw.fair(model, table, protected=["black", "hispanic", "white"])
    assert not set(told.schema_.features) & {"black", "hispanic", "white"}


def test_a_model_that_does_not_use_it_is_not_accused():
    rows = people()
    rows["is_white"] = rows["race"] == "white"
    rows["y"] = 3 * rows["noise"] + 0.01 * rows["y"]
    with pytest.warns(cw.ClearwoodWarning, match="is_white"):
        table = cw.read(rows, target="y", protected="race")
    audit = cw.audit(cw.learner("tree", max_depth=1).fit(table), table, causes=False)
    assert audit.stand_ins == ()
    assert not any("is_white" in note for note in audit.notes)


def test_the_report_has_a_caution():
    rows = people(400)
    rows["is_white"] = rows["race"] == "white"
    rows["y"] = rows["y"] + 2.0 * rows["is_white"]
    with pytest.warns(cw.ClearwoodWarning, match="is_white"):
        table = cw.read(rows, target="y", protected="race")
    report = cw.report(
        cw.learner("ols").fit(table), table, quick=True, sections=["cautions", "fairness"]
    )
    assert "The model uses protected columns in another form" in report.to_html()
