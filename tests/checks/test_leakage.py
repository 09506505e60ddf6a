"""Columns that predict the target by themselves."""

import numpy as np
import pytest
from scipy import special
from sklearn import datasets

import clearwood as cw
from clearwood.checks import leakage

N_ROWS = 400


def normal(seed):
    return np.random.default_rng(seed).normal(size=N_ROWS)


@pytest.fixture
def x():
    return normal(0)


@pytest.fixture
def table(x):
    """Make a table with the column x, noise, the target y and further columns."""

    def make(y, **columns):
        return cw.read({"x": x, "noise": normal(1), **columns, "y": y}, target="y")

    return make


def test_a_transformed_copy_of_the_target_is_suspected(x, table):
    assert leakage(table(x, hidden=np.exp(x))).suspects == ("x", "hidden")


def test_a_noisy_signal_is_not_suspected(x, table):
    assert leakage(table(x + normal(2), hidden=np.exp(x))).suspects == ()


def test_the_share_explained_is_that_of_the_signal(x, table):
    result = leakage(table(2 * x + normal(2)))
    assert result["x"] == pytest.approx(0.8, abs=0.12)  # a tree is rougher than the line
    assert result["noise"] < 0.05


def test_levels_that_name_the_class_are_suspected(x, table):
    label = np.where(x > 0, "claim", "none")
    code = np.where(x > 0, "paid", "open")
    assert "code" in leakage(table(label, code=code)).suspects


def test_levels_of_two_rows_each_explain_nothing(table):
    """A key memorises training rows and does not predict held-out ones."""
    keys = [f"k{k // 2}" for k in range(N_ROWS)]
    assert leakage(table(normal(2), keys=keys))["keys"] < 0.1


def test_missing_values_and_dates_are_columns_like_others(x, table):
    day = np.datetime64("2024-01-01", "us") + np.arange(N_ROWS) * np.timedelta64(1, "D")
    gaps = np.where(np.arange(N_ROWS) % 3 == 0, np.nan, x)
    result = leakage(table(np.arange(float(N_ROWS)), day=day, gaps=gaps))
    assert result.suspects == ("day",)
    assert np.isfinite(result["gaps"])


def test_the_seed_fixes_the_result(x, table):
    data = table(x + normal(2))
    first, second = leakage(data, seed=3), leakage(data, seed=3)
    assert np.array_equal(first.explained, second.explained)


def test_json_has_the_suspects_and_the_frame_starts_with_the_best_column(x, table):
    result = leakage(table(x))
    assert result.to_json()["suspects"] == ["x"]
    assert result.to_frame("dict")["column"][0] == "x"


def test_a_table_without_a_target_is_refused(x):
    with pytest.raises(cw.InputError, match="no target") as error:
        leakage({"x": x})
    assert error.value.parameter == "target"


def read(y, **columns):
    return cw.read({**columns, "y": np.where(y, "yes", "no")}, target="y")


@pytest.fixture(scope="module")
def outcome():
    """One outcome in eight, as in applications that are denied."""
    return np.random.default_rng(3).uniform(size=2400) < 0.125


def test_a_column_with_a_very_large_auc_is_suspected(outcome):
    """An injury score that is known only afterwards: AUC 0.98, two thirds of the variance."""
    rng = np.random.default_rng(4)
    score = np.where(outcome, rng.gamma(9, 3, 2400), rng.gamma(2, 2.5, 2400))
    result = leakage(read(outcome, score=score, noise=rng.normal(size=2400)))
    (leak,) = result.leaks
    assert (leak.column, leak.kind) == ("score", "strong")
    assert leak.auc > 0.95
    assert "AUC of 0.9" in leak.text
    assert "AUC" in repr(result)


def test_a_nearly_pure_level_is_suspected_with_its_exact_interval(outcome):
    insurance = np.full(2400, "given", dtype=object)
    insurance[np.flatnonzero(outcome)[:44]] = "refused"
    insurance[np.flatnonzero(~outcome)[:4]] = "refused"
    (leak,) = leakage(read(outcome, insurance=insurance)).leaks
    assert (leak.kind, leak.level, leak.outcome) == ("level", "refused", "yes")
    assert (leak.rows, leak.members) == (48, 44)
    assert leak.low < 0.8 < leak.share < leak.high
    assert leak.base == pytest.approx(outcome.mean())
    assert "44 of 48 rows have y = yes" in leak.text


def test_missingness_that_predicts_the_target_is_suspected(outcome):
    rng = np.random.default_rng(5)
    known = np.where(outcome, rng.uniform(size=2400) < 0.8, rng.uniform(size=2400) < 0.05)
    date = np.where(known, rng.normal(size=2400), np.nan)
    leaks = leakage(read(outcome, date=date)).leaks
    assert "missing" in {leak.kind for leak in leaks}
    assert {leak.column for leak in leaks} == {"date"}


def test_a_number_that_stands_for_the_outcome_is_a_level(outcome):
    rng = np.random.default_rng(6)
    paid = np.where(outcome & (rng.uniform(size=2400) < 0.5), 0.0, rng.gamma(2, 100, 2400))
    (leak,) = leakage(read(outcome, paid=paid)).leaks
    assert (leak.kind, leak.level, leak.outcome) == ("level", "0", "yes")


def planted(where, seed=0, n=2000):
    """Rows in one part of a column nearly all have the outcome; the others follow honest columns.

    Every part is where a leak was overlooked: above a cut, between two, in several levels, in
    several codes, and in a flag that 30 rows have.
    """
    rng = np.random.default_rng([8, seed])
    x = rng.normal(size=n)
    y = rng.uniform(size=n) < special.expit(x - 1.6)
    code = rng.integers(0, 200, n)
    marked = np.zeros(n, bool)
    if where == "above":
        marked = rng.uniform(size=n) < 0.34
        column = np.where(marked, 30 + rng.gamma(2, 5, n), rng.uniform(0, 30, n))
    elif where == "between":
        marked = rng.uniform(size=n) < 0.1
        outside = np.where(
            rng.uniform(size=n) < 0.5, rng.uniform(0, 40, n), rng.uniform(45, 100, n)
        )
        column = np.where(marked, rng.uniform(40, 45, n), outside)
    elif where in ("levels", "codes"):
        marked = (rng.uniform(size=200) < 0.2)[code]
        column = code if where == "codes" else np.array([f"agency {k}" for k in code])
    else:
        marked[rng.choice(n, 30, replace=False)] = True
        column = marked.astype(int)
    y = np.where(marked, rng.uniform(size=n) < 0.97, y)
    return read(y, x=x, leak=column)


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("above", "range"),
        ("between", "range"),
        ("levels", "levels"),
        ("codes", "levels"),
        ("flag", "level"),
    ],
)
def test_rows_of_a_part_of_a_column_that_have_one_outcome_are_suspected(where, kind):
    (leak,) = leakage(planted(where, seed=1)).leaks
    assert (leak.column, leak.kind, leak.outcome) == ("leak", kind, "yes")
    assert leak.low < leak.share == pytest.approx(0.97, abs=0.05)
    assert leak.others < 0.5
    assert f"{leak.members:,} of {leak.rows:,} rows have y = yes" in leak.text
    assert "of the others" in leak.text


def test_the_range_of_a_leak_is_named():
    (above,) = leakage(planted("above")).leaks
    (between,) = leakage(planted("between")).leaks
    assert above.above == pytest.approx(30, abs=0.5)
    assert above.up_to is None
    assert "leak above 3" in above.text
    assert (between.above, between.up_to) == pytest.approx((40, 45), abs=0.5)


def test_the_end_of_a_long_slope_is_no_range():
    """The largest 20 % of the column are nearly pure as well, and no row just below is unlike."""
    x = np.random.default_rng(0).normal(size=4000)
    y = np.random.default_rng(1).uniform(size=4000) < special.expit(2.5 * x)
    assert y[x > 0.85].mean() > 0.95
    assert leakage(read(y, x=x, rounded=np.round(x, 1), whole=np.round(5 * x))).leaks == ()


def test_the_exposure_as_a_feature_is_suspected():
    rng = np.random.default_rng(0)
    years = rng.uniform(0.05, 1, 800)
    data = {
        "log_years": np.log(years),
        "days": np.round(-365 * years),
        "age": rng.integers(18, 80, 800) + years,
        "years": years,
        "claims": rng.poisson(0.3 * years),
    }
    exposed = leakage(cw.read(data, target="claims", exposure="years")).leaks
    assert {(leak.column, leak.kind) for leak in exposed} == {
        ("log_years", "exposure"),
        ("days", "exposure"),
    }
    assert leakage(cw.read(data, target="claims")).leaks == ()


def clean(seed):
    """Draw an honest table: categories, gaps, and one column with R² 0.5 or AUC 0.85."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([150, 400, 1200]))
    columns, score = {}, np.zeros(n)
    for j in range(8):
        if j % 2:
            levels = rng.integers(2, 8)
            codes = rng.choice(levels, n, p=rng.dirichlet(np.full(levels, 2.0)))
            columns[f"x{j}"] = np.array([f"level {code}" for code in codes], dtype=object)
            own = rng.normal(size=levels)[codes]
        else:
            columns[f"x{j}"] = own = rng.normal(size=n)
        score += (1.5 if j == seed % 4 else 0.3) * (own - own.mean()) / max(own.std(), 1e-9)
    gaps = rng.uniform(size=n) < special.expit(score - 2)  # missing more often where it is high
    columns["x4"] = np.where(gaps, np.nan, columns["x4"])
    if seed % 3 == 0:
        y = score + rng.normal(0, 1.5, n)
    else:
        p = special.expit(score - (2.5 if seed % 3 == 1 else 0.0))
        y = np.where(rng.uniform(size=n) < p, "yes", "no")
    return cw.read({**columns, "y": y}, target="y")


def test_clean_tables_raise_few_alarms():
    alarms = sum(bool(leakage(clean(seed)).leaks) for seed in range(25))
    assert alarms <= 1


def test_what_the_model_explains_is_compared_in_the_same_loss(outcome):
    rng = np.random.default_rng(7)
    score = np.where(outcome, rng.normal(3.2, 1, 2400), rng.normal(0, 1, 2400))
    result = leakage(read(outcome, score=score, noise=rng.normal(size=2400)))
    skill = result.skill[0]
    assert result.most_of(skill) == ("score",)
    assert result.most_of(min(2 * skill, 1.0)) == ()
    assert result.skill[1] < 0.05


def latent(seed):
    """Draw a table in which several columns measure the one thing that decides."""
    rng = np.random.default_rng([2, seed])
    n = int(rng.choice([150, 400]))
    z = rng.normal(size=n)
    columns = {f"x{j}": z + rng.normal(0, rng.uniform(0.15, 0.5), n) for j in range(3)}
    columns |= {f"n{j}": rng.normal(size=n) for j in range(2)}
    score = 2 * z + 0.5 * columns["n0"]
    y = score + rng.normal(0, 0.7, n)
    if seed % 2:
        y = np.where(rng.random(n) < special.expit(3 * score), "yes", "no")
    return cw.read({**columns, "y": y}, target="y")


def households(seed):
    """Draw a table with a level that nearly decides; its rows are unlike in other columns too."""
    rng = np.random.default_rng([3, seed])
    n = int(rng.choice([400, 1500]))
    age = np.round(rng.gamma(9, 4.5, n)).clip(17, 90)
    child = rng.random(n) < special.expit((26 - age) / 2)
    hours = np.round(np.where(child, rng.normal(25, 8, n), rng.normal(41, 8, n)))
    school = np.where(child, rng.normal(9, 1.5, n), rng.normal(11, 2.5, n))
    score = -3.2 + 0.36 * (school - 10) + 0.06 * (hours - 40) + 0.05 * (age - 40)
    y = np.where(rng.random(n) < special.expit(score - 0.0025 * (age - 45) ** 2), "high", "low")
    family = np.where(child, "own child", np.where(rng.random(n) < 0.5, "single", "married"))
    frame = {"age": age, "family": family, "hours": hours, "school": school, "y": y}
    return cw.read(frame, target="y")


def clusters(seed):
    """Draw classes that differ in all of many columns, as species do."""
    rng = np.random.default_rng([1, seed])
    n_classes, n = int(rng.integers(2, 5)), int(rng.choice([150, 300]))
    y = rng.integers(0, n_classes, n)
    centres = rng.normal(0, 1.3, (n_classes, 9))
    X = centres[y] + rng.normal(size=(n, 1)) * 0.7 + rng.normal(size=(n, 9)) * 0.7
    columns = {f"x{j}": np.round(X[:, j], 1) for j in range(9)}
    return cw.read({**columns, "y": np.array(list("abcd"))[y]}, target="y")


@pytest.mark.parametrize("tables", [5, pytest.param(20, marks=pytest.mark.long)])
@pytest.mark.parametrize("draw", [latent, households, clusters])
def test_strong_columns_that_others_stand_in_for_raise_few_alarms(draw, tables):
    """Before columns were compared with the others, 27 to 38 of 40 such tables were suspected."""
    assert sum(bool(leakage(draw(seed)).leaks) for seed in range(tables)) <= 1


def test_strong_columns_of_flowers_are_no_leaks():
    bunch = datasets.load_iris()
    data = {name: bunch.data[:, j] for j, name in enumerate(bunch.feature_names)}
    table = cw.read({**data, "kind": bunch.target_names[bunch.target]}, target="kind")
    result = leakage(table)
    assert result.leaks == ()
    assert set(result.replaced) == {"petal length (cm)", "petal width (cm)"}
    assert result.most_of(result.skill.max()) == ()


def test_leaks_do_not_hide_each_other(outcome):
    """Both are paid after the outcome; what each tells, the other tells as well."""
    rng = np.random.default_rng(9)
    paid = np.where(outcome & (rng.uniform(size=2400) < 0.6), rng.gamma(2, 100, 2400) + 1, 0.0)
    fee = np.where(paid > 0, rng.gamma(2, 10, 2400) + 1, 0.0)
    part = np.where(rng.uniform(size=2400) < 0.7, fee, 0.0)
    x = outcome + rng.normal(size=2400)
    for columns in ({"paid": paid, "fee": fee}, {"paid": paid, "part": part}):
        assert set(leakage(read(outcome, x=x, **columns)).suspects) == set(columns)
    alone = leakage(read(outcome, x=x, paid=paid)).suspects
    assert alone == ("paid",)


@pytest.mark.parametrize("form", [lambda y: 3 * y, np.exp, lambda y: -y, lambda y: y**3])
def test_the_target_in_another_form_is_a_copy_however_few_the_rows_and_strong_the_others(form):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 120))
    y = 2 * x + 0.5 * rng.normal(size=120)
    found = leakage(cw.read({"x": x, "z": z, "form": form(y), "y": y}, target="y"))
    assert {leak.column: leak.kind for leak in found.leaks}["form"] == "copy"
