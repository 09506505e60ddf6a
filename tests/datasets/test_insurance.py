import numpy as np
import pytest

from clearwood import InputError
from clearwood.datasets import InsuranceModel, insurance, insurance_truth
from clearwood.table import Kind, Role, Task, read

N = 100_000
truth = insurance_truth()


@pytest.fixture(scope="module")
def portfolio():
    return insurance(N, seed=1)


def same(a, b):
    return np.array_equal(a.values, b.values)


def test_the_same_seed_gives_the_same_portfolio_and_another_a_different_one():
    first, again, other = insurance(500, 3), insurance(500, 3), insurance(500, 4)
    assert all(same(first[name], again[name]) for name in first.names)
    assert not any(same(first[name], other[name]) for name in first.names)


def test_roles_and_task_follow_the_target():
    accidents = insurance(100)
    assert (accidents.target, accidents.task) == ("accidents", Task.COUNT)
    assert accidents.role("claim_amount") is Role.IGNORED
    amounts = insurance(100, target="claim_amount")
    assert (amounts.target, amounts.task) == ("claim_amount", Task.AMOUNT)
    assert amounts.role("accidents") is Role.IGNORED
    assert amounts.protected == ("gender",)
    assert same(accidents["claim_amount"], amounts["claim_amount"])


def test_kinds_are_those_that_reading_the_values_would_find():
    table = insurance(2000)
    labels = {column.name: list(column.labels()) for column in table}
    roles = {"target": "accidents", "exposure": "years", "protected": "gender"}
    again = read(labels, ignore="claim_amount", **roles)
    assert [c.kind for c in again] == [c.kind for c in table]
    assert again.task is table.task
    assert again.features == table.features


@pytest.mark.parametrize("target", ["accidents", "claim_amount"])
def test_the_true_mean_matches_the_outcomes_in_every_part_of_the_portfolio(target):
    table = insurance(N, seed=1, target=target)
    error = table.y - insurance_truth(target=target).mean(table)
    age, power = table["age"].values, table["power"].values
    parts = [
        np.ones(N, bool),
        *(table["region"].values == code for code in range(4)),
        *(table["gender"].values == code for code in range(2)),
        age < 25,
        (age < 25) & (power > 100),
        age > 72,
        table["years"].values < 0.5,
        table["mileage"].values > 20,
        table["height"].values > 185,
    ]
    for part in parts:
        score = error[part].mean() / (error[part].std() / np.sqrt(part.sum()))
        assert abs(score) < 4


def test_accidents_vary_as_a_poisson_count_does(portfolio):
    mean = truth.mean(portfolio)
    squares = (portfolio.y - mean) ** 2 * portfolio.exposures / mean
    assert squares.mean() == pytest.approx(1.0, abs=0.05)


def test_claims_are_paid_for_accidents_only_and_cost_what_the_equations_state(portfolio):
    accidents, amount = portfolio["accidents"].values, portfolio["claim_amount"].values
    assert ((amount > 0) == (accidents > 0)).all()
    one = accidents == 1
    power, town = portfolio["power"].values, portfolio["region"].values == 2
    expected = 1800 * np.exp(0.004 * (power[one & town] - 85) + 0.1)
    ratio = amount[one & town] / expected
    assert ratio.mean() == pytest.approx(1.0, abs=0.04)
    assert ratio.var() == pytest.approx(1 / 2, abs=0.06)


def test_height_follows_gender_as_in_the_lecture_notes(portfolio):
    height, male = portfolio["height"].values, portfolio["gender"].labels() == "male"
    assert height[male].mean() == pytest.approx(180, abs=0.2)
    assert height[~male].mean() == pytest.approx(160, abs=0.2)
    assert height[male].std() == pytest.approx(10, abs=0.2)
    assert male.mean() == pytest.approx(0.5, abs=0.01)


def test_age_and_power_interact(portfolio):
    def log_mean(age, power):
        row = truth.do(2, age=age, power=power, gender="male", mileage=12, region="town", years=1)
        return np.log(truth.mean(row)[0])

    young = log_mean(18, 150) - log_mean(18, 80)
    old = log_mean(50, 150) - log_mean(50, 80)
    assert young == pytest.approx(70 * (0.002 + 0.015))
    assert old < young / 5


def test_the_graph_has_no_arrow_into_the_target_from_height():
    assert ("gender", "height") in truth.graph
    assert ("gender", "accidents") in truth.graph
    assert not [child for parent, child in truth.graph if parent == "height"]
    assert truth.descendants("gender") == ("height", "mileage", "accidents", "claim_amount")


@pytest.mark.parametrize(
    ("column", "value"), [("gender", "male"), ("age", 30), ("power", 150), ("height", 200)]
)
def test_setting_a_column_changes_its_descendants_and_nothing_else(column, value):
    before, after = truth.sample(5000, seed=2), truth.do(5000, seed=2, **{column: value})
    assert set(after[column].labels()) == {value}
    changed = {name for name in before.names if not same(before[name], after[name])}
    assert changed == {column, *truth.descendants(column)}


def test_each_policy_can_be_set_to_a_value_of_its_own():
    ages = np.arange(18, 78)
    np.testing.assert_array_equal(truth.do(60, age=ages)["age"].values, ages)


def test_height_has_no_direct_effect():
    result = truth.direct_effect("height", draws=2000)
    assert (result.effect == 0).all()
    assert (result.standard_error == 0).all()


@pytest.mark.parametrize("target", ["accidents", "claim_amount"])
@pytest.mark.parametrize("column", ["gender", "age", "mileage", "power", "region"])
def test_direct_effects_are_partial_dependence_up_to_a_constant(column, target):
    """Hiabu (2024), Theorem 8.2.2: no column here is both a cause and an effect of the others."""
    model = insurance_truth(target=target)
    result = model.direct_effect(column, draws=40_000)
    rows = model.sample(40_000, seed=9)
    dependence = []
    for value in result.at[column]:
        held = {name: rows[name].labels() for name in rows.features} | {column: value}
        dependence.append(model.mean(model.do(40_000, **held)).mean())
    between = np.diff(result.effect)
    scale = np.abs(between).max()
    np.testing.assert_allclose(between, np.diff(dependence), atol=0.05 * scale)


def test_the_direct_effect_of_gender_is_that_of_its_formula():
    result = truth.direct_effect("gender", draws=50_000)
    women, men = (
        truth.mean(truth.do(200_000, seed=5, gender=g)).mean() for g in ("female", "male")
    )
    # half of the draws are women, whose mean would be exp(0.3) times as high were they men
    expected = [(men * np.exp(-0.3) - men) / 2, (women * np.exp(0.3) - women) / 2]
    np.testing.assert_allclose(result.effect, expected, atol=4 * result.standard_error.max() + 3e-4)


def test_the_standard_error_is_that_of_repeated_draws():
    repeated = [truth.direct_effect("region", draws=500, seed=s) for s in range(60)]
    spread = np.std([result.effect for result in repeated], axis=0, ddof=1)
    stated = np.mean([result.standard_error for result in repeated], axis=0)
    np.testing.assert_allclose(stated, spread, rtol=0.35)


def test_the_direct_effect_of_several_columns_is_taken_at_rows_of_a_table():
    rows = insurance(3, seed=8)
    permitted = [name for name in rows.features if name != "gender"]
    result = truth.direct_effect(permitted, at=rows, draws=5000)
    women, men = (
        truth.mean(truth.do(3, **{n: rows[n].labels() for n in permitted}, gender=g))
        for g in ("female", "male")
    )
    np.testing.assert_allclose(np.diff(result.effect), np.diff((women + men) / 2), rtol=0.05)


def test_gaps_are_added_only_on_request_and_leave_the_rest_as_it_was():
    whole, gaps = insurance(20_000), insurance(20_000, missing=0.05)
    assert all(column.n_missing == 0 for column in whole)
    for name in whole.features:
        assert gaps[name].n_missing / 20_000 == pytest.approx(0.05, abs=0.01)
        known = ~gaps[name].missing
        np.testing.assert_array_equal(gaps[name].values[known], whole[name].values[known])
    assert same(gaps["accidents"], whole["accidents"])


def test_dates_are_added_only_on_request():
    assert "start" not in insurance(10).names
    start = insurance(2000, dates=True)["start"]
    assert start.kind is Kind.DATE
    assert start.values.min() >= np.datetime64("2023-01-01")
    assert start.values.max() < np.datetime64("2024-01-01")


def test_the_mean_of_incomplete_rows_is_refused_unless_the_gap_does_not_matter():
    table = insurance(500, missing=0.2)
    with pytest.raises(InputError, match=r"'gender' has \d+ missing values"):
        truth.mean(table)
    complete = np.ones(500, bool)
    for name in truth.parents("accidents"):
        complete &= ~table[name].missing
    assert np.isfinite(truth.mean(table[complete])).all()
    assert table[complete]["height"].n_missing > 0


def test_levels_are_known_by_name_not_by_code():
    rows = insurance(50)
    labels = {name: list(rows[name].labels()) for name in rows.features}
    again = read(labels)
    np.testing.assert_array_equal(truth.mean(again), truth.mean(rows))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: insurance(0), "n=0: it must be at least 1"),
        (lambda: insurance(10, missing=1.5), "missing=1.5: it must be a share"),
        (lambda: insurance(10, target="acidents"), r"target='acidents' .*'accidents'"),
        (lambda: truth.do(10, gendr="male"), r"no column 'gendr'.*'gender'"),
        (lambda: truth.do(10, gender="mal"), r"gender='mal' .*'male'"),
        (lambda: truth.do(10, age="old"), "age='old': it must be a number"),
        (lambda: truth.do(10, age=[20, 30]), "age has 2 values for 10 rows"),
        (lambda: truth.direct_effect("accidents"), "columns='accidents' is not a known column"),
        (
            lambda: truth.direct_effect(["age", "power"]),
            "the values at which the columns are set are missing",
        ),
        (lambda: truth.direct_effect("age", at={"power": [80]}), r"values for \['power'\]"),
        (
            lambda: truth.direct_effect(["age", "power"], at={"age": [20], "power": [80, 90]}),
            "different numbers of values",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_a_clear_message(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_effects_are_shown_and_written_as_json():
    result = InsuranceModel().direct_effect("gender", draws=1000)
    assert "direct effect of gender (1,000 draws)" in repr(result)
    assert result.to_json()["at"] == {"gender": ["female", "male"]}
