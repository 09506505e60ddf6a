"""Parts of the gap between groups: they add up, and agree with brute force and with the truth."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import clearwood as cw
from clearwood.fairness import alternatives, gap, proxies
from clearwood.fairness.gaps.discrimination import dependence_of, proxy_discrimination
from clearwood.fairness.gaps.pieces import pieces_of
from clearwood.fairness.groups.grouping import groups_of
from clearwood.table import Table


@pytest.fixture(scope="module")
def policies() -> Table:
    return cw.datasets.insurance(3000, seed=2)


def others(table):
    """Return the parts of each group but the total."""
    groups = {part.group for part in table.parts}
    return {group: (table[group][0], table[group][1:]) for group in groups}


@pytest.mark.parametrize("scale", ["response", "margin"])
@pytest.mark.parametrize(
    "learner", [cw.learner("glm"), cw.learner("gbm", max_iter=20), cw.learner("tree")], ids=repr
)
def test_parts_add_up_and_multiply_to_the_whole(policies, learner, scale):
    model = clone(learner).fit(policies)
    result = gap(model, policies, protected=["gender", "region"], scale=scale)
    assert len(others(result)) == 7
    for total, rest in others(result).values():
        assert sum(part.difference for part in rest) == pytest.approx(total.difference, abs=1e-12)
        assert math.prod(part.ratio for part in rest) == pytest.approx(total.ratio, rel=1e-12)


def test_the_total_is_the_difference_of_weighted_means(policies):
    model = cw.learner("gbm", max_iter=10).fit(policies)
    result = gap(model, policies, reference="female")
    predicted, men = model.predict(policies), policies["gender"].values == 1
    means = [np.average(predicted[rows], weights=policies.weights[rows]) for rows in (~men, men)]
    total = result.part("male", "total")
    assert total.difference == pytest.approx(means[1] - means[0], abs=1e-12)
    assert total.ratio == pytest.approx(means[1] / means[0])
    np.testing.assert_allclose(result.means, means, rtol=1e-12)


def brute_force(model, table, protected):
    """Shapley values of the fair predictor by all subsets and all rows, as group means."""
    names = [name for name in table.features if name != protected]
    n = table.n_rows
    codes = table[protected].values
    weights = np.full(n, 1 / n) if table.weights is None else table.weights / table.weights.sum()
    shares = np.bincount(codes, weights)

    def fair(rows):
        columns = {c.name: c for c in rows.columns}
        total = 0.0
        for group, share in enumerate(shares):
            filled = replace(columns[protected], values=np.full(rows.n_rows, group, np.int32))
            changed = tuple(filled if c.name == protected else c for c in rows.columns)
            total = total + share * model.predict(replace(rows, columns=changed))
        return total

    first, second = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)

    def value(held):
        columns = tuple(c.take(first) if c.name in held else c.take(second) for c in table.columns)
        predicted = fair(replace(table, columns=columns)).reshape(n, n) @ weights
        return np.bincount(codes, weights * predicted) / shares

    values = {
        frozenset(held): value(held)
        for size in range(len(names) + 1)
        for held in itertools.combinations(names, size)
    }
    result = {}
    for name in names:
        total = 0.0
        rest = [other for other in names if other != name]
        for size in range(len(names)):
            factor = 1 / (len(names) * math.comb(len(names) - 1, size))
            for held in itertools.combinations(rest, size):
                with_name = values[frozenset({*held, name})]
                total = total + factor * (with_name - values[frozenset(held)])
        result[name] = total[1] - total[0]
    return result


def test_sampled_shares_of_columns_agree_with_all_subsets_and_rows():
    few = cw.datasets.insurance(40, seed=5).select(
        ["gender", "age", "height", "mileage", "years", "accidents"]
    )
    model = cw.learner("glm").fit(cw.datasets.insurance(2000, seed=6).select(few.names))
    result = gap(model, few, reference="female")
    assert not result.is_exact
    expected = brute_force(model, few, "gender")
    for name, difference in expected.items():
        part = result.part("male", "column", name)
        assert part.standard_error > 0
        assert abs(part.difference - difference) < 6 * part.standard_error + 1e-6


def test_shares_of_a_line_are_its_coefficients_times_differences_of_means():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 400)
    x, z = rng.normal(group, 1), rng.normal(0, 1, 400)
    y = 2 * group + 3 * x - z
    rows = {"group": np.where(group, "b", "a"), "x": x, "z": z, "y": y}
    data = cw.read(rows, target="y", protected="group")
    result = gap(cw.learner("ols").fit(data), data, reference="a")
    assert result.is_exact
    assert result.part("b", "direct").difference == pytest.approx(2)
    moved = {"x": 3 * (x[group == 1].mean() - x[group == 0].mean())}
    moved["z"] = -(z[group == 1].mean() - z[group == 0].mean())
    for name, expected in moved.items():
        assert result.part("b", "column", name).difference == pytest.approx(expected)
    assert result.part("b", "interaction").difference == pytest.approx(0, abs=1e-9)
    # the zero of a target with negative values is arbitrary
    assert not result.has_ratios


def test_the_true_gap_is_gender_times_mileage():
    # the truth: 1.35 by gender itself, 1.19 through mileage, nothing through height
    data = cw.datasets.insurance(20_000, seed=7)
    truth = cw.datasets.insurance_truth()

    class Truth:
        feature_names_in_ = np.array(data.features, dtype=object)

        def predict(self, frame):
            return truth.mean(cw.read(frame))

    result = gap(Truth(), data, reference="female")
    assert result.part("male", "direct").ratio == pytest.approx(np.exp(0.3), rel=1e-6)
    assert result.part("male", "interaction").ratio == pytest.approx(1, rel=1e-6)
    assert result.part("male", "column", "mileage").ratio == pytest.approx(
        np.exp(0.7 * 0.25), rel=0.03
    )
    assert result.part("male", "column", "height").ratio == pytest.approx(1, abs=1e-6)


def test_a_model_without_the_protected_column_has_no_direct_part(policies):
    blind = cw.fair(cw.learner("glm"), policies, kind="unaware")
    result = gap(blind, policies, reference="female")
    assert result.part("male", "direct").difference == 0
    assert result.part("male", "interaction").difference == pytest.approx(0, abs=1e-15)
    assert result.part("male", "column", "height").ratio > 1


def test_refits_give_intervals_around_the_estimates(policies):
    model = cw.learner("glm").fit(policies)
    result = gap(model, policies, reference="female", n_refits=5)
    assert result.n_refits == 5
    for part in result.parts:
        assert part.low <= part.difference <= part.high
        assert part.ratio_low <= part.ratio <= part.ratio_high
    assert "intervals from 5 refits" in repr(result)
    again = gap(model, policies, reference="female", n_refits=5)
    assert again.to_json() == result.to_json()


def test_classes_are_compared_by_the_probability_of_one(policies):
    flags = policies["accidents"].values
    rows = policies.X.to_frame("pandas").assign(
        claim=np.where(flags > 0, "yes", "no"),
        size=np.select([flags == 0, flags == 1], ["none", "one"], "more"),
    )
    two = cw.read(rows.drop(columns="size"), target="claim", protected="gender")
    model = cw.learner("logistic").fit(two)
    result = gap(model, two, reference="female")
    assert result.output == "yes"
    assert gap(model, two, reference="female", output="no").part(
        "male", "total"
    ).difference == pytest.approx(-result.part("male", "total").difference)
    assert gap(model, two, scale="margin").is_exact
    three = cw.read(rows.drop(columns="claim"), target="size", protected="gender")
    model = cw.learner("logistic").fit(three)
    with pytest.raises(cw.InputError, match="there are 3 classes"):
        gap(model, three)
    assert gap(model, three, output="more").output == "more"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "men"}, "reference='men' is not a known value"),
        ({"scale": "log"}, "scale='log' is not a known value"),
        ({"n_refits": 1}, "intervals need at least 2 refits"),
        ({"n_refits": -1}, "whole number of at least 0"),
        ({"confidence": 1.5}, "between 0 and 1"),
        ({"protected": ["age"]}, "'age' holds numbers, which make no groups"),
        ({"protected": ["agee"]}, r"no column 'agee' to protect\. Hint: did you mean 'age'"),
    ],
)
def test_options_that_cannot_be_used_are_named(policies, options, message):
    model = cw.learner("glm").fit(policies)
    with pytest.raises(cw.InputError, match=message):
        gap(model, policies, **options)


def test_a_gap_is_shown_as_text_table_and_figure(policies):
    result = gap(cw.learner("glm").fit(policies), policies, reference="female", n_refits=2)
    assert "male against female ('gender'): × 1." in repr(result)
    assert len(result.to_frame("dict")["group"]) == len(result.parts)
    assert result.to_json()["parts"][0]["source"] == "total"
    assert "<table" in result._repr_html_()
    assert result.plot().to_dict()["layer"]


# Shares of variance


def test_a_fair_price_has_no_proxy_discrimination(policies):
    model = cw.learner("gbm", max_iter=20).fit(policies)
    pieces = pieces_of(model, policies, groups_of(policies, ["gender"]))
    members = pieces.as_members(pieces.table)
    fair = cw.fair(model, policies, calibrate=None).predict(policies)
    unaware = cw.fair(model, policies, kind="unaware", calibrate=None).predict(policies)
    parity = cw.fair(model, policies, kind="parity", calibrate=None).predict(policies)
    assert dependence_of(fair, members, pieces).proxy_discrimination == pytest.approx(0, abs=1e-9)
    assert dependence_of(unaware, members, pieces).proxy_discrimination > 1e-3
    assert dependence_of(parity, members, pieces).unfairness < 0.01
    assert 0 < dependence_of(model.predict(policies), members, pieces).unfairness < 1


def test_proxy_discrimination_is_the_minimum_over_a_fine_grid():
    rng = np.random.default_rng(0)
    members = rng.normal(size=(50, 2)) ** 2
    weights = rng.uniform(0.5, 2, 50)
    predicted = members @ [0.9, 0.4] + rng.normal(size=50)

    def variance(values):
        return np.cov(values, aweights=weights, ddof=0)

    grid = [(a, b) for a in np.linspace(0, 1, 201) for b in np.linspace(0, 1, 201) if a + b <= 1]
    least = min(variance(predicted - members @ v) for v in grid) / variance(predicted)
    assert proxy_discrimination(predicted, members, weights) == pytest.approx(
        float(least), abs=1e-4
    )


def test_constant_predictions_depend_on_nothing(policies):
    model = cw.learner("baseline").fit(policies)
    pieces = pieces_of(model, policies, groups_of(policies, ["gender"]))
    constant = dependence_of(np.full(policies.n_rows, 0.1), pieces.as_members(pieces.table), pieces)
    assert (constant.proxy_discrimination, constant.unfairness) == (0, 0)


def test_a_frame_may_have_protected_columns_that_the_model_never_saw():
    rng = np.random.default_rng(4)
    sex = rng.choice(["f", "m"], 200)
    rows = {"sex": sex, "x": rng.normal(size=200) + (sex == "m"), "z": rng.normal(size=200)}
    rows["y"] = rows["x"] + rows["z"] + rng.normal(size=200)
    frame = pd.DataFrame(rows).sample(frac=1, random_state=0)
    model = cw.learner("ols").fit(cw.read(frame.drop(columns="sex"), target="y"))
    result = gap(model, frame, protected="sex")
    predicted = model.predict(frame.drop(columns="sex"))
    is_m = (frame["sex"] == "m").to_numpy()
    total = predicted[is_m].mean() - predicted[~is_m].mean()
    group, sign = ("m", 1) if result.reference == "f" else ("f", -1)
    assert result.part(group, "total").difference == pytest.approx(sign * total)
    assert result.part(group, "direct").difference == 0
    assert {row.column for row in proxies(model, frame, protected="sex", risks=False).rows} == {
        "x",
        "z",
    }
    with pytest.raises(cw.InputError, match="was fitted without 'sex'"):
        alternatives(model, frame, protected="sex")
    with pytest.raises(cw.InputError, match="was fitted without 'sex', so averaging"):
        cw.fair(model, frame, protected="sex")


def test_a_model_without_interactions_has_an_interaction_of_zero_and_not_of_rounding():
    rng = np.random.default_rng(3)
    sex = rng.choice(["f", "m"], 300)
    x, z = rng.normal(size=(2, 300))
    y = 1 + x + 0.5 * (sex == "m") + z
    data = cw.read({"sex": sex, "x": x, "z": z, "y": y}, target="y", protected=["sex"])
    result = gap(cw.learner("ols").fit(data), data)
    group = next(one for one in result.groups if one != result.reference)
    assert result.part(group, "interaction").difference == 0
    total, *parts = result[group]
    assert sum(part.difference for part in parts) == pytest.approx(total.difference, abs=1e-12)
