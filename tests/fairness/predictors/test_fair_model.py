"""Laws of fair predictors, the worked example of Hiabu (2024), and input that cannot be used."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import clearwood as cw
from clearwood.fitted import FittedModel
from clearwood.table import Role, Table


@pytest.fixture(scope="module")
def policies() -> Table:
    return cw.datasets.insurance(4000, seed=1)


@pytest.fixture(scope="module")
def aware(policies):
    return cw.learner("glm").fit(policies)


def with_column(table, **columns):
    """Replace columns of a table by those of another one."""
    return replace(table, columns=tuple(columns.get(c.name, c) for c in table.columns))


def brute_force(model, table, names):
    """Average over every row's protected values, one row at a time, weighed as the table says."""
    means = []
    for row in range(table.n_rows):
        repeated = table.take(np.full(table.n_rows, row))
        filled = with_column(repeated, **{name: table.column(name) for name in names})
        means.append(
            np.average(
                FittedModel(model).predict(filled, scale="response"), axis=0, weights=table.weights
            )
        )
    return np.array(means)


@pytest.mark.filterwarnings("ignore:no prediction of the model changes")  # some trees do not split
@pytest.mark.parametrize("name", ["glm", "gbm", "tree"])
@pytest.mark.parametrize("protected", [["gender"], ["gender", "region"], ["age"], ["height"]])
def test_the_average_over_cells_is_the_average_over_all_rows(name, protected):
    few = cw.datasets.insurance(60, seed=3, missing=0.1)
    model = cw.learner(name).fit(cw.datasets.insurance(600, seed=4, missing=0.1))
    fair = cw.fair(model, few, protected=protected, calibrate=None)
    assert fair.distribution_.is_exact
    expected = brute_force(model, few, protected)[:, 0]
    np.testing.assert_allclose(fair.predict(few), expected, rtol=1e-12)


def test_the_worked_example_has_its_prices():
    # Hiabu (2024), example 27: gender acts on accidents, height only reveals it
    class Truth:
        classes_ = None

        def __init__(self, unaware):
            self.unaware = unaware

        def predict(self, frame):
            if self.unaware:
                return 0.05 + 0.1 * expit(0.2 * (frame["height"].to_numpy() - 170))
            return 0.05 + 0.1 * (frame["gender"].to_numpy() == "male")

    rng = np.random.default_rng(0)
    gender = np.array(["female", "male"] * 500)
    height = 160 + 20 * (gender == "male") + rng.normal(0, 10, 1000)
    data = cw.read({"gender": gender, "height": height}, protected=["gender"])
    people = {"height": [150.0, 170.0, 190.0]}
    fair = cw.fair(Truth(unaware=False), data)
    np.testing.assert_allclose(fair.predict(people), 0.10, atol=1e-12)
    rows = cw.read({"gender": ["male", "female", "male"], **people})
    unaware = Truth(unaware=True).predict(rows.to_frame("pandas"))
    np.testing.assert_allclose(unaware, [0.0518, 0.1, 0.1482], atol=5e-5)


def test_the_true_fair_price_is_recovered_from_the_true_model(policies):
    truth = cw.datasets.insurance_truth()

    class Truth:
        feature_names_in_ = np.array(policies.features, dtype=object)

        def predict(self, frame):
            return truth.mean(cw.read(frame))

    fair = cw.fair(Truth(), policies, calibrate=None)
    men = np.average(policies["gender"].values, weights=policies.weights)
    women = with_column(
        policies, gender=replace(policies["gender"], values=np.zeros(policies.n_rows, np.int32))
    )
    expected = truth.mean(women) * (1 - men + men * np.exp(0.3))
    np.testing.assert_allclose(fair.predict(policies), expected, rtol=1e-12)


def test_a_glm_comes_closer_to_the_true_fair_price_than_one_that_is_unaware():
    data = cw.datasets.insurance(20_000, seed=5)
    model = cw.learner("glm", alpha=0).fit(data)
    short, tall = (
        with_column(data, height=replace(data["height"], values=np.full(data.n_rows, cm)))
        for cm in (150.0, 190.0)
    )
    fair, unaware = (cw.fair(model, data, kind=kind) for kind in ("free", "unaware"))
    by_height = [one.predict(tall).mean() / one.predict(short).mean() for one in (fair, unaware)]
    # the truth is 1: height has no effect; unaware, it stands for gender
    assert abs(by_height[0] - 1) < 0.12
    assert by_height[1] > 1.2


def test_protected_columns_are_ignored_where_they_are_present(policies, aware):
    fair = cw.fair(aware, policies)
    swapped = with_column(
        policies, gender=replace(policies["gender"], values=1 - policies["gender"].values)
    )
    without = policies.select(fair.schema_.features)
    np.testing.assert_array_equal(fair.predict(policies), fair.predict(swapped))
    np.testing.assert_array_equal(fair.predict(policies), fair.predict(without))


def test_without_dependence_the_fair_and_the_unaware_model_agree():
    rng = np.random.default_rng(0)
    gender, age = rng.integers(0, 2, 20_000), rng.uniform(20, 80, 20_000)
    y = 3 * gender + 0.1 * age + rng.normal(0, 1, 20_000)
    rows = {"gender": np.where(gender, "m", "f"), "age": age, "y": y}
    data = cw.read(rows, target="y", protected=["gender"])
    model = cw.learner("ols").fit(data)
    fair, unaware = (cw.fair(model, data, kind=kind) for kind in ("free", "unaware"))
    np.testing.assert_allclose(fair.predict(data), unaware.predict(data), atol=0.05)


@pytest.mark.parametrize("calibrate", ["scale", "level", "linear"])
@pytest.mark.parametrize("kind", ["free", "unaware", "parity"])
def test_calibrated_predictions_have_the_mean_of_the_target(policies, aware, kind, calibrate):
    fair = cw.fair(aware, policies, kind=kind, calibrate=calibrate)
    predicted = fair.predict(policies)
    weights = policies.weights
    assert np.average(predicted, weights=weights) == pytest.approx(
        np.average(policies.y, weights=weights), rel=1e-10
    )
    assert predicted.min() >= 0


def test_the_level_of_counts_is_lowered_without_negative_predictions():
    rng = np.random.default_rng(2)
    group = np.where(rng.random(500) < 0.5, "a", "b")
    x = rng.exponential(1.0, 500)
    y = rng.poisson(0.05 + 0.2 * x)
    data = cw.read({"group": group, "x": x, "y": y}, target="y", task="count", protected=["group"])

    class TooHigh:
        feature_names_in_ = np.array(["group", "x"], dtype=object)

        def predict(self, frame):
            return 5 * frame["x"].to_numpy()

    with pytest.warns(cw.ClearwoodWarning, match="no prediction of the model changes"):
        fair = cw.fair(TooHigh(), data, calibrate="level")
    assert fair.predict(data).min() == 0
    assert fair.predict(data).mean() == pytest.approx(y.mean())


def test_a_target_with_negative_values_is_shifted():
    rng = np.random.default_rng(3)
    group, x = rng.integers(0, 2, 300), rng.normal(size=300)
    data = cw.read(
        {"group": np.where(group, "a", "b"), "x": x, "y": x + group - 0.7},
        target="y",
        protected=["group"],
    )
    fair = cw.fair(cw.learner("ols").fit(data), data)
    assert fair.calibration_.kind == "level"
    assert fair.calibration_.factor == 1
    assert fair.predict(data).mean() == pytest.approx(data.y.mean())


@pytest.fixture(scope="module")
def loans() -> Table:
    rng = np.random.default_rng(4)
    n = 1500
    gender, income = rng.integers(0, 2, n), rng.normal(0, 1, n)
    score = 0.8 * gender + income + rng.logistic(size=n)
    rows = {
        "gender": np.where(gender, "m", "f"),
        "income": income + 0.5 * gender,
        "default": np.where(score > 1, "yes", "no"),
        "grade": np.select([score < -1, score < 1], ["C", "B"], "A"),
    }
    return cw.read(rows, target="default", protected=["gender"], ignore=["grade"])


@pytest.mark.parametrize("calibrate", ["scale", "level", "linear", None])
@pytest.mark.parametrize("target", ["default", "grade"])
def test_probabilities_stay_probabilities_and_balance(loans, calibrate, target):
    other = {"default": "grade", "grade": "default"}[target]
    data = cw.read(loans.to_frame(), target=target, protected=["gender"], ignore=[other])
    fair = cw.fair(cw.learner("logistic").fit(data), data, calibrate=calibrate)
    p = fair.predict_proba(data.select(["income"]))
    assert p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    if calibrate is not None:
        shares = [np.mean(data.y == label) for label in fair.classes_]
        np.testing.assert_allclose(p.mean(axis=0), shares, atol=1e-9)
    assert set(fair.predict(data)) <= set(fair.classes_)
    assert fair.score(data) > 0.5


def test_parity_gives_every_group_one_distribution(policies, aware):
    parity = cw.fair(aware, policies, kind="parity", calibrate=None)
    predicted = parity.predict(policies)
    men = policies["gender"].values == 1
    points = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(
        np.quantile(predicted[men], points), np.quantile(predicted[~men], points), rtol=0.01
    )
    assert "gender" in parity.schema_.features


def test_models_by_group_are_averaged(policies):
    fair = cw.fair(cw.learner("glm"), policies, by_group=True, calibrate=None)
    blind = replace(policies, roles={**policies.roles, "gender": Role.IGNORED})
    men = policies["gender"].values == 1
    each = [cw.learner("glm").fit(blind.take(rows)).predict(blind) for rows in (~men, men)]
    share = np.average(men, weights=policies.weights)
    np.testing.assert_allclose(
        fair.predict(policies), (1 - share) * each[0] + share * each[1], rtol=1e-12
    )


def test_a_law_may_be_given_by_level_or_by_row(policies, aware):
    men = cw.fair(aware, policies, distribution={"male": 2.0}, calibrate=None)
    every = replace(policies["gender"], values=np.ones(policies.n_rows, np.int32))
    expected = aware.predict(with_column(policies, gender=every))
    np.testing.assert_allclose(men.predict(policies), expected, rtol=1e-12)
    by_row = cw.fair(aware, policies, distribution=policies["gender"].values == 1, calibrate=None)
    np.testing.assert_allclose(by_row.predict(policies), expected, rtol=1e-12)
    joint = cw.fair(
        aware,
        policies,
        protected=["gender", "region"],
        distribution={("male", "city"): 1},
        calibrate=None,
    )
    assert joint.schema_.features == ("age", "height", "mileage", "power")


def test_missing_values_of_a_protected_column_are_a_level():
    data = cw.datasets.insurance(800, missing=0.2)
    fair = cw.fair(cw.learner("gbm").fit(data), data)
    assert fair.distribution_.labels == (("female",), ("male",), (None,))
    missing = data["gender"].missing
    assert fair.distribution_.shares[2] == pytest.approx(np.average(missing, weights=data.weights))


def test_estimators_of_scikit_learn_can_be_made_fair(policies):
    frame = policies.select(["age", "mileage", "height"]).to_frame("pandas")
    for estimator in (LinearRegression(), RandomForestRegressor(5, random_state=0)):
        model = estimator.fit(frame, policies.y)
        fair = cw.fair(model, policies, protected=["height"], calibrate=None)
        values = frame["height"].to_numpy()
        one = frame.iloc[[0] * len(frame)].assign(height=values)
        expected = np.average(model.predict(one), weights=policies.weights)
        assert fair.predict(frame.iloc[:1].drop(columns="height"))[0] == pytest.approx(expected)


def test_a_clone_is_unfitted_and_fits_features_and_target(policies, aware):
    fair = cw.fair(aware, policies)
    fresh = clone(fair)
    with pytest.raises(Exception, match="not fitted"):
        fresh.predict(policies)
    frame = policies.select(["gender", "age", "mileage"]).to_frame("pandas")
    fitted = clone(cw.fairness.FairModel(cw.learner("glm", task="count"), protected="gender")).fit(
        frame, policies["accidents"].values, policies.exposures
    )
    assert fitted.schema_.features == ("age", "mileage")
    assert fitted.score(frame, policies["accidents"].values) < 1


def test_expected_totals_are_rates_times_exposure(policies, aware):
    fair = cw.fair(aware, policies)
    np.testing.assert_allclose(
        fair.expected(policies), fair.predict(policies) * policies.exposures, rtol=1e-14
    )


def test_a_benchmark_resamples_the_fair_model_with_its_learner(policies):
    learner = cw.learner("glm")
    contenders = {"aware": learner, "free": cw.fairness.FairModel(learner)}
    result = cw.benchmark(policies.head(600), contenders, interval="naive", tune=0)
    assert {"aware", "free"} <= set(result.learners)
    assert not result.failures
    # protected columns of test rows have no influence, and the fold's own rows balance
    fitted = result.choose("free").fit(policies)
    np.testing.assert_allclose(
        fitted.predict(policies), cw.fair(learner, policies).predict(policies), rtol=1e-12
    )


def test_conditions_name_the_arrow_that_breaks_them(policies, aware):
    class Graph:
        def __init__(self, causes):
            self.causes = causes
            self.nodes = ("gender", "age", "region", "height", "mileage", "power", "country")

        def parents(self, node):
            return self.causes.get(node, ())

    usual = {"height": ("gender",), "mileage": ("gender", "age"), "power": ("age",)}
    (holds,) = cw.fair(aware, policies, graph=Graph(usual)).conditions
    assert holds.holds is True
    reverse = {"gender": ("height", "country"), "height": ("country",)}
    (fails,) = cw.fair(aware, policies, graph=Graph(reverse)).conditions
    assert fails.holds is False
    assert fails.reason.endswith("which distribution= takes")
    (assumed,) = cw.fair(aware, policies).conditions
    assert assumed.holds is None


# Input that cannot be used


def test_a_model_without_the_protected_column_is_refused(policies):
    blind = cw.fair(cw.learner("glm"), policies, kind="unaware").models_[0]
    with pytest.raises(cw.InputError, match=r"fitted without 'gender'.*Hint: fit the model with"):
        cw.fair(blind, policies)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protected": ["sex"]}, "there is no column 'sex' to protect"),
        ({"protected": ["accidents"]}, "it is the target"),
        ({"kind": "fre"}, r"kind='fre' is not a known value. Hint: did you mean 'free'"),
        ({"calibrate": "both"}, "calibrate='both' is not a known value"),
        ({"distribution": "uniform"}, "distribution='uniform' is not a known value"),
        ({"distribution": {"men": 1}}, "distribution='men' is not a known value"),
        ({"distribution": {"male": -1}}, "shares must be numbers of 0 or more"),
        ({"distribution": {}}, "shares must be numbers of 0 or more"),
        ({"distribution": [1.0, 2.0]}, "4000 weights of 0 or more"),
        ({"by_group": True, "kind": "parity"}, "models by group are averaged"),
        ({"by_group": True, "protected": ["age"]}, "'age' holds numbers, which make no groups"),
        ({"kind": "parity", "protected": ["height"]}, "Hint: make bands of it"),
    ],
)
def test_options_that_cannot_be_used_are_named(policies, aware, options, message):
    with pytest.raises(cw.InputError, match=message):
        cw.fair(aware, policies, **options)


def test_a_model_of_the_protected_column_alone_is_refused(policies):
    data = policies.select(["gender", "years", "accidents"])
    with pytest.raises(cw.InputError, match="the model has no column but 'gender'"):
        cw.fair(cw.learner("glm").fit(data), data)


def test_one_group_only_is_refused(policies, aware):
    women = policies.take(policies["gender"].values == 0)
    with pytest.raises(cw.InputError, match="every row has the same value of the protected column"):
        cw.fair(aware, women)


def test_too_many_groups_are_refused_where_groups_are_needed():
    rng = np.random.default_rng(0)
    rows = {"place": [f"p{k % 500}" for k in range(2000)], "x": rng.normal(size=2000)}
    data = cw.read({**rows, "y": rows["x"] + rng.normal(size=2000)}, target="y")
    model = cw.learner("gbm", max_iter=5).fit(data)
    with pytest.raises(cw.InputError, match="make 500 groups; at most 50 can be compared"):
        cw.fair(model, data, protected=["place"], kind="parity")
    assert np.isfinite(cw.fair(model, data, protected=["place"]).predict(data)).all()


def test_no_protected_column_is_refused():
    data = cw.datasets.load("diabetes")
    with pytest.raises(cw.InputError, match=r"no column is protected\. Hint: name some"):
        cw.fair(cw.learner("ols").fit(data), data)


def test_parity_refuses_a_level_it_has_no_distribution_for(policies, aware):
    parity = cw.fair(aware, policies, kind="parity")
    row = policies.head(1).to_frame("pandas").assign(gender="other")
    with (
        pytest.warns(cw.ClearwoodWarning, match="levels that the model was not fitted with"),
        pytest.raises(cw.InputError, match="'gender': 'other'"),
    ):
        parity.predict(row)


def test_explaining_needs_no_library_of_data_frames(monkeypatch):
    policies = cw.datasets.insurance(300, seed=1)
    fair = cw.fair(cw.learner("glm", alpha=0).fit(policies), policies)
    effects = [cw.effect(fair, policies, name).values for name in ("height", "region")]
    shapley = cw.shapley(fair, policies, policies.head(2), seed=1).values
    adapter = "clearwood.fitted.model"
    monkeypatch.setattr(f"{adapter}.model_input", None)  # would make a frame
    for name, values in zip(("height", "region"), effects, strict=True):
        np.testing.assert_allclose(cw.effect(fair, policies, name).values, values)
    found = cw.shapley(fair, policies, policies.head(2), seed=1).values
    np.testing.assert_allclose(found, shapley)
