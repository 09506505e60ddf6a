"""Which rows an audit fits and measures, which groups it judges, and what its numbers are of.

Every number is computed again from predictions, with numpy alone.
"""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.fairness import Standing, alternatives, gap, proxies


def applicants(n: int, seed: int, *, shift: float = 0.0) -> pd.DataFrame:
    """Return applicants with weights, a rare level and missing values of the protected column."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(np.array(["f", "m", "x", None], dtype=object), n, p=[0.5, 0.48, 0.01, 0.01])
    is_m = (sex == "m").astype(float)
    # the missing and the rare are far away: they would have the largest gap
    far = 4.0 * pd.isna(sex) - 4.0 * (sex == "x")
    income = rng.normal(size=n) + is_m + far + shift * is_m
    debt = rng.normal(size=n) - 0.5 * far
    score = 1.2 * is_m + income - debt + rng.logistic(size=n)
    return pd.DataFrame(
        {
            "sex": sex,
            "income": income,
            "debt": debt,
            "w": rng.choice([0.0, 0.5, 1.0, 2.0], n),
            "paid": np.where(score > 0.5, "yes", "no"),
        }
    )


ROLES = {"target": "paid", "protected": "sex", "weight": "w"}


@pytest.fixture(scope="module")
def training() -> pd.DataFrame:
    return applicants(1500, 0)


@pytest.fixture(scope="module")
def held_out() -> pd.DataFrame:
    return applicants(2500, 1, shift=0.7)


@pytest.fixture(scope="module")
def model(training):
    return cw.learner("logistic").fit(cw.read(training, **ROLES))


@pytest.fixture(scope="module")
def result(model, training, held_out):
    return cw.audit(
        model, training, test=held_out, n_refits=2, decision="yes >= 0.5", favourable="yes"
    )


def mean_by_group(predicted, frame, group):
    own = (frame["sex"] == group).to_numpy()
    return np.average(predicted[own], weights=frame["w"].to_numpy()[own])


def test_unaware_is_fitted_to_the_training_rows_and_measured_on_the_test_rows(
    result, training, held_out
):
    columns = ["income", "debt", "w", "paid"]
    own = cw.learner("logistic").fit(cw.read(training[columns], target="paid", weight="w"))
    predicted = own.predict_proba(held_out[["income", "debt"]])[:, 1]
    ratio = mean_by_group(predicted, held_out, "m") / mean_by_group(predicted, held_out, "f")
    row = result.alternatives[0]["unaware"]
    assert (row.ratio, row.group) == (pytest.approx(ratio, rel=1e-9), "m")
    # fitted to the test rows it would be another number
    other = cw.learner("logistic").fit(cw.read(held_out[columns], target="paid", weight="w"))
    again = other.predict_proba(held_out[["income", "debt"]])[:, 1]
    wrong = mean_by_group(again, held_out, "m") / mean_by_group(again, held_out, "f")
    assert abs(wrong - ratio) > 0.01


def test_free_is_averaged_by_the_shares_of_the_training_rows(result, model, training, held_out):
    shares = training.groupby("sex", dropna=False)["w"].sum() / training["w"].sum()
    frame = held_out[["sex", "income", "debt"]]
    free = sum(
        share * model.predict_proba(frame.assign(sex=[level] * len(frame)))[:, 1]
        for level, share in shares.items()
        if isinstance(level, str)
    )
    missing = 1 - sum(share for level, share in shares.items() if isinstance(level, str))
    blank = frame.assign(sex=np.array([None] * len(frame), dtype=object))
    free = free + missing * model.predict_proba(blank)[:, 1]
    ratio = mean_by_group(free, held_out, "m") / mean_by_group(free, held_out, "f")
    assert result.alternatives[0]["free"].ratio == pytest.approx(ratio, rel=1e-9)


def test_every_fit_of_an_audit_is_to_training_rows(model, training, held_out, monkeypatch):
    fitted = []
    before = cw.Learner.fit

    def counted(self, X, *args, **options):
        fitted.append(X)
        return before(self, X, *args, **options)

    monkeypatch.setattr(cw.Learner, "fit", counted)
    cw.audit(model, training, test=held_out, n_refits=3)
    known = set(training["income"])
    assert all(set(table["income"].values) <= known for table in fitted)
    # the bootstrap fits of the gap are those of the proxies: three, and no second three
    resampled = [table for table in fitted if table.n_rows == len(training)]
    assert len([t for t in resampled if len(np.unique(t["income"].values)) < t.n_rows]) == 3


def test_an_audit_fits_as_many_models_as_it_is_told_for_all_columns_and_classes(monkeypatch):
    rng = np.random.default_rng(4)
    n = 400
    x, sex, town = rng.normal(size=n), rng.choice(["f", "m"], n), rng.choice(["a", "b"], n)
    score = x + 0.5 * (sex == "m") + 0.3 * (town == "a") + rng.normal(0, 0.5, n)
    y = np.array(["low", "mid", "top"])[np.digitize(score, [0, 1])]
    rows = {"x": x, "sex": sex, "town": town, "y": y}
    data = cw.read(rows, target="y", protected=["sex", "town"])
    model = cw.learner("tree", max_depth=2).fit(data)
    fitted = []
    before = cw.Learner.fit

    def counted(self, X, *args, **options):
        fitted.append(X)
        return before(self, X, *args, **options)

    monkeypatch.setattr(cw.Learner, "fit", counted)
    result = cw.audit(model, data, n_refits=2)
    assert len(result.gaps) == 6  # of two columns and three classes
    assert {one.n_refits for one in result.gaps} == {2}
    assert len(fitted) == 2


def test_groups_that_are_not_judged_have_no_say(result):
    measured = result.of("sex")
    assert dict(zip(measured.names, measured.standing, strict=True)) == {
        "f": Standing.JUDGED,
        "m": Standing.JUDGED,
        "x": Standing.FEW_ROWS,
        "missing": Standing.MISSING,
    }
    rivals = result.alternatives[0]
    assert rivals.standing == measured.standing
    assert {row.group for row in rivals.rows} == {"m"}
    assert all(rivals.pays_more(row.name) in ("f", "m") for row in rivals.rows)
    means = np.array(rivals["aware"].means)
    far = np.argmax(np.abs(means - means[rivals.groups.index("f")]))
    assert rivals.groups[far] in ("x", "missing")  # the largest gap of all groups is another
    assert {row.told for row in result.proxies[0].rows} == {"m"}
    assert {row.group for row in result.proxies[0].rows} == {"m"}
    assert result.gaps[0].judged == ("f", "m")


def test_means_and_rates_are_those_of_the_predictions(result, model, held_out):
    predicted = model.predict_proba(held_out[["sex", "income", "debt"]])[:, 1]
    weights = held_out["w"].to_numpy()
    paid = (held_out["paid"] == "yes").to_numpy()
    measured = result.of("sex")
    rates = {}
    for k, name in enumerate(measured.names):
        own = (
            pd.isna(held_out["sex"]) if name == "missing" else held_out["sex"] == name
        ).to_numpy()
        counts = own & (weights > 0)
        assert measured.rows[k] == counts.sum()
        assert measured.weight[k] == pytest.approx(weights[own].sum())
        mean = np.average(predicted[own], weights=weights[own])
        assert measured.values["mean_prediction"][k] == pytest.approx(mean, rel=1e-9)
        rates[name] = np.average(predicted[own] >= 0.5, weights=weights[own])
        assert measured.values["selection_rate"][k] == pytest.approx(rates[name], rel=1e-9)
        if measured.standing[k] is not Standing.JUDGED:
            assert np.isnan(measured.values["impact_ratio"][k])
            continue
        for measure, rows in (
            ("favourable_of_class", own & paid),
            ("favourable_of_others", own & ~paid),
        ):
            share = np.average(predicted[rows] >= 0.5, weights=weights[rows])
            assert measured.values[measure][k] == pytest.approx(share, rel=1e-9)
    best = max(rates["f"], rates["m"])
    for name in ("f", "m"):
        impact = measured.values["impact_ratio"][measured.names.index(name)]
        assert impact == pytest.approx(rates[name] / best, rel=1e-9)


def test_the_class_is_named_and_what_its_rates_mean_for_people(model, training):
    refused = cw.audit(model, training, decision="no >= 0.5", favourable="no", causes=False)
    groups = refused.of("sex")
    assert "probability of 'no'" in repr(refused)
    assert str(refused.decision) == "probability of 'no' < 0.5"
    told = groups.meanings
    assert told["true_positive_rate"] == (
        "of the rows with paid = no, the share predicted to be so, who do not have the favourable "
        "decision"
    )
    assert told["favourable_of_others"] == (
        "of the rows with paid = yes, the share with the favourable decision"
    )
    # of the good, those who get what they want; of the bad, those who are refused
    for favoured, rate in (
        ("favourable_of_class", "true_positive_rate"),
        ("favourable_of_others", "false_positive_rate"),
    ):
        both = groups.values[favoured] + groups.values[rate]
        np.testing.assert_allclose(both[groups.judged], 1, rtol=1e-12)
    wanted = cw.audit(model, training, decision=">= 0.5", favourable="yes", causes=False)
    assert str(wanted.decision) == "probability of 'yes' >= 0.5"
    assert (
        wanted.of("sex").meanings["true_positive_rate"].endswith("who have the favourable decision")
    )


def test_without_training_rows_no_model_is_fitted(model, held_out):
    result = cw.audit(model, None, test=held_out, n_refits=2)
    assert result.n_refits == 0
    assert result.gaps
    assert not result.alternatives
    assert any("training rows" in note for note in result.notes)
    with pytest.raises(cw.InputError, match="there are only test rows"):
        alternatives(model, None, test=cw.read(held_out, **ROLES), protected="sex")


def test_test_rows_are_measured_by_each_function_alone(model, training, held_out):
    predicted = model.predict_proba(held_out[["sex", "income", "debt"]])[:, 1]
    means = {name: mean_by_group(predicted, held_out, name) for name in ("f", "m")}
    parts = gap(model, training, test=held_out, n_refits=2)
    assert parts.part("m", "total").ratio == pytest.approx(means["m"] / means["f"], rel=1e-9)
    told = proxies(model, training, test=held_out, n_refits=0)
    assert told["income"].auc > told["debt"].auc


def test_a_group_that_is_drawn_in_few_refits_does_not_stop_them(training):
    # one row of its own level, which two of three bootstrap draws have
    frame = training.head(400).copy()
    frame["sex"] = frame["sex"].where(frame["sex"].isin(["f", "m"]), "f")
    frame.loc[frame.index[0], ["sex", "w"]] = ["alone", 1.0]
    data = cw.read(frame, **ROLES)
    parts = gap(cw.learner("logistic").fit(data), data, n_refits=6)
    assert parts.n_refits == 6
    assert all(part.low is not None for part in parts.parts if part.group != "alone")
    assert parts.judged == ("f", "m")


def test_the_largest_group_is_one_that_is_judged(training):
    frame = training.assign(sex=training["sex"].where(training.index % 3 == 0, None))
    data = cw.read(frame, **ROLES)
    assert data["sex"].n_missing > len(frame) / 2
    parts = gap(cw.learner("logistic").fit(data), data)
    assert parts.reference in ("f", "m")


# A benchmark's folds and the model


@pytest.fixture(scope="module")
def benched():
    data = cw.read(applicants(400, 3), **ROLES)
    return cw.benchmark(data, ["logistic"], tune=4, outer=3, interval="naive", seed=1)


def own_ratio(model, data) -> float:
    predicted = model.predict_proba(data)[:, 1]
    sex = data["sex"].labels()
    means = [
        np.average(predicted[sex == one], weights=data.weights[sex == one]) for one in ("m", "f")
    ]
    return means[0] / means[1]


def test_the_folds_and_the_model_are_measured_next_to_each_other(benched):
    data = benched.context.table
    model = benched.choose("logistic").fit(data)
    result = cw.audit(benched, fitted=model, causes=False)
    groups, own = result.of("sex"), result.own[0]
    k = groups.names.index("m")
    held_out = benched.predictions("logistic")[:, 1]
    sex = data["sex"].labels()
    means = [
        np.average(held_out[sex == one], weights=data.weights[sex == one]) for one in ("m", "f")
    ]
    base = groups.names[groups.reference]
    power = 1 if base == "f" else -1
    k = groups.names.index("m" if base == "f" else "f")
    assert groups.values["ratio"][k] == pytest.approx((means[0] / means[1]) ** power, rel=1e-9)
    assert own.values["ratio"][k] == pytest.approx(own_ratio(model, data) ** power, rel=1e-9)
    assert f"That of the model itself is {own.values['ratio'][k]:.3g} times" in repr(result)
    assert not result.tuning.is_unstable
    assert result.to_json()["own"][0]["groups"]


def test_a_model_with_far_other_settings_than_the_folds_is_pointed_out(benched):
    data = benched.context.table
    chosen = [one["C"] for one in benched.fold_settings("logistic")]
    other = cw.learner("logistic", C=min(chosen) / 1000).fit(data)
    result = cw.audit(benched, fitted=other, causes=False)
    assert result.tuning.differing == ("C",)
    assert result.tuning.is_unstable
    assert result.tuning.spread < 0.5
    assert str(result.tuning) in result.notes
    outside = [note for note in result.notes if "outside the interval of the folds' fits" in note]
    assert outside
    k = next(n for n in range(2) if n != result.of("sex").reference)
    low, high = (getattr(result.of("sex"), end)["ratio"][k] for end in ("low", "high"))
    assert not low <= result.own[0].values["ratio"][k] <= high


def test_without_its_model_an_audit_of_folds_says_so(benched):
    result = cw.audit(benched, causes=False)
    assert result.own == ()
    assert any("may differ" in note for note in result.notes)
    data = benched.context.table
    with pytest.raises(cw.InputError, match="fitted"):
        cw.audit(cw.learner("logistic").fit(data), data, fitted=cw.learner("logistic"))


def test_a_proxy_of_many_levels_is_not_weakened_by_merging_them():
    """Three hundred first names, each of one group, tell the groups of other rows."""
    rng = np.random.default_rng(0)
    race = rng.choice(["b", "h", "w"], 2400, p=[0.3, 0.2, 0.5])
    first = [f"{group}{rng.integers(0, 100)}" for group in race]
    rows = {"race": race, "first": first, "y": (race == "w") + rng.normal(size=2400)}
    with pytest.warns(cw.ClearwoodWarning, match="the column 'first' tells the protected 'race'"):
        table = cw.read(rows, target="y", protected="race")
    found = proxies(cw.learner("tree", max_depth=3).fit(table), table, n_refits=0, risks=False)
    assert found["first"].auc > 0.99
