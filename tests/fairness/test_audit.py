"""Audits: what they measure, what they refuse, and what they leave unjudged."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import clearwood as cw
from clearwood.fairness import GroupMeasures, Standing, Verdict

HOSTILE = ["<b>x</b>", "a'b\"c", "two\nlines", "日本", "שלום", "=1+1", "plain"]


@pytest.fixture(scope="module")
def policies():
    data = cw.datasets.insurance(3000, seed=4)
    return cw.learner("glm").fit(data), data


@pytest.fixture(scope="module")
def credit():
    """Two protected columns with hostile names, weights, missing values and a group of few rows."""
    rng = np.random.default_rng(0)
    n = 2400
    origin = rng.choice(
        np.array(HOSTILE, dtype=object), n, p=[0.3, 0.2, 0.15, 0.15, 0.1, 0.09, 0.01]
    )
    origin[rng.random(n) < 0.03] = None
    sex = rng.choice(["f", "m"], n)
    income = rng.normal(size=n) + 0.7 * (sex == "m")
    outcome = np.where(rng.random(n) < 1 / (1 + np.exp(-income)), "paid", "failed")
    columns = {"or<i>gin": origin, "sex": sex, "income": income, "weight": rng.integers(1, 4, n)}
    data = cw.read(
        {**columns, "outcome": outcome},
        target="outcome",
        weight="weight",
        protected=["or<i>gin", "sex"],
    )
    model = cw.learner("logistic").fit(data)
    return model, data


def test_the_ratio_of_mean_predictions_is_near_the_truth(policies):
    model, data = policies
    groups = cw.audit(model, data, reference="female", causes=False).of("gender")
    female, male = (groups.names.index(name) for name in ("female", "male"))
    value, low, high = (of["ratio"][male] for of in (groups.values, groups.low, groups.high))
    assert groups.reference == female
    assert low < value < high
    assert 1.45 < value < 1.8  # 1.61 in truth


def test_means_are_those_of_the_predictions_by_exposure(policies):
    model, data = policies
    groups = cw.audit(model, data, causes=False).of("gender")
    predicted, gender = model.predict(data), data["gender"].labels()
    for k, name in enumerate(groups.names):
        own = gender == name
        mean = np.average(predicted[own], weights=data.weights[own])
        assert groups.values["mean_prediction"][k] == pytest.approx(mean)
    assert groups.share.sum() == pytest.approx(1)
    assert groups.rows.sum() == data.n_rows


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(3)
    n, times = 300, rng.integers(1, 4, 300)
    rows = {"sex": rng.choice(["f", "m"], n), "x": rng.normal(size=n)}
    rows["y"] = rows["x"] + rng.normal(size=n)
    repeated = {name: np.repeat(values, times) for name, values in rows.items()}
    weighted = cw.read({**rows, "w": times}, target="y", weight="w")
    plain = cw.read(repeated, target="y")
    model = cw.learner("ols").fit(plain.select(["x", "y"]))
    first, second = (cw.audit(model, one, protected="sex").of("sex") for one in (weighted, plain))
    for name in ("mean_prediction", "difference", "smd", "loss"):
        np.testing.assert_allclose(first.values[name], second.values[name])


def test_groups_do_not_depend_on_the_order_of_rows(credit):
    model, data = credit
    shuffled = data.take(np.random.default_rng(1).permutation(data.n_rows))
    options = {"decision": ">= 0.6", "favourable": "yes"}
    first, second = (cw.audit(model, one, **options).of("sex") for one in (data, shuffled))
    for name in first.values:
        np.testing.assert_allclose(first.values[name], second.values[name])


def test_small_groups_and_missing_values_are_listed_and_not_judged(credit):
    model, data = credit
    result = cw.audit(model, data, decision="top 40 %", favourable=True, causes=False)
    groups = result.of("or<i>gin")
    by_name = dict(zip(groups.names, groups.standing, strict=True))
    assert by_name["plain"] is Standing.FEW_ROWS
    assert by_name["missing"] is Standing.MISSING
    few = groups.names.index("plain")
    assert groups.rows[few] > 0
    assert np.isnan(groups.values["impact_ratio"][few])
    assert groups.verdicts[few] is Verdict.UNKNOWN
    assert str(groups.verdicts[few]) == "too few rows to tell"
    share = cw.audit(model, data, min_rows=2, min_share=0.02, causes=False).of("or<i>gin")
    assert share.standing[few] is Standing.SMALL_SHARE


def test_crossed_groups_have_all_combinations(credit):
    model, data = credit
    result = cw.audit(model, data, causes=False)
    crossed = result.of("or<i>gin", "sex")
    assert len(crossed.names) == 16
    assert crossed.rows.sum() == data.n_rows
    assert all(
        len(one.columns) == 1 for one in cw.audit(model, data, crossed=False, causes=False).groups
    )


def test_impact_ratios_are_to_the_highest_rate_and_hold_together(credit):
    model, data = credit
    groups = cw.audit(model, data, decision=">= 0.6", favourable="yes", causes=False).of("sex")
    f, m = (groups.names.index(name) for name in "fm")
    rates = groups.values["selection_rate"]
    assert rates[m] > rates[f]
    assert groups.values["impact_ratio"][m] == 1
    assert groups.values["impact_ratio"][f] == pytest.approx(rates[f] / rates[m])
    assert groups.verdicts[f] is Verdict.BELOW
    unwanted = cw.audit(model, data, decision=">= 0.6", favourable="no", causes=False).of("sex")
    np.testing.assert_allclose(unwanted.values["selection_rate"], 1 - rates)


def test_rates_of_errors_are_those_of_the_counts(credit):
    model, data = credit
    groups = cw.audit(model, data, decision="< 0.5", favourable="no", causes=False).of("sex")
    truth, sex = data.y == "paid", data["sex"].labels()
    is_predicted = model.predict_proba(data)[:, 1] >= 0.5
    own = (sex == "f") & truth
    k = groups.names.index("f")
    expected = np.average(is_predicted[own], weights=data.weights[own])
    assert groups.values["true_positive_rate"][k] == pytest.approx(expected)
    own = (sex == "f") & is_predicted
    expected = np.average(truth[own], weights=data.weights[own])
    assert groups.values["precision"][k] == pytest.approx(expected)


def test_ratios_to_the_best_group_hold_together():
    """Four equal groups of 100: all ratios to the best hold the truth in at least 87 of 100."""
    rng = np.random.default_rng(8)
    held, draws = 0, 150
    group = np.repeat(list("abcd"), 100)
    for _ in range(draws):
        scores = rng.random(400)
        data = cw.read({"group": group, "score": scores})
        result = cw.audit(
            lambda frame: np.asarray(frame["score"]),
            data,
            protected="group",
            decision=">= 0.7",
            favourable=True,
            causes=False,
        ).of("group")
        held += bool(
            (result.low["impact_ratio"] <= 1).all() and (result.high["impact_ratio"] >= 1).all()
        )
    assert held / draws >= 0.87


def test_several_classes_are_audited_one_by_one():
    rng = np.random.default_rng(5)
    n = 600
    sex, x = rng.choice(["f", "m"], n), rng.normal(size=n)
    kind = np.select([x + rng.normal(size=n) < -0.5, x > 0.7], ["low", "high"], "middle")
    data = cw.read({"sex": sex, "x": x, "kind": kind}, target="kind", protected="sex")
    result = cw.audit(cw.learner("lda").fit(data), data)
    assert {one.output for one in result.groups} == {"high", "low", "middle"}
    rates = sum(
        result.of("sex", output=k).values["selection_rate"] for k in ("high", "low", "middle")
    )
    np.testing.assert_allclose(rates, 1)
    decided = cw.audit(cw.learner("lda").fit(data), data, decision="high >= 0.4", favourable="yes")
    assert set(decided.selection()) == {"f", "m"}


def test_predictions_out_of_fold_are_audited():
    data = cw.datasets.insurance(400, seed=2)
    bench = cw.benchmark(data, ["glm"], tune=0, repeats=1)
    result = cw.audit(bench)
    assert result.source == "out of fold"
    assert not result.of("gender").are_errors_too_good
    assert result.of("gender").rows.sum() == 400


def test_a_model_that_never_saw_the_protected_column_is_audited(tmp_path):
    data = cw.datasets.insurance(600, seed=3)
    names = [name for name in data.names if name != "gender"]
    model = cw.learner("glm").fit(data.select(names))
    result = cw.audit(model, data, protected="gender")
    assert result.of("gender").judged.all()
    path = tmp_path / "policies.csv"
    data.to_frame("pandas").to_csv(path, index=False)
    again = cw.audit(model, path, protected="gender")
    np.testing.assert_allclose(
        again.of("gender").values["ratio"], result.of("gender").values["ratio"]
    )


def test_fair_models_are_audited(policies):
    model, data = policies
    fair = cw.fair(model, data, protected=["gender"])
    groups = cw.audit(fair, data, protected="gender").of("gender")
    aware = cw.audit(model, data, causes=False).of("gender")
    spread = [abs(np.log(one.values["ratio"])).max() for one in (groups, aware)]
    assert spread[0] < spread[1]


def test_rows_without_a_target_are_audited(policies):
    model, data = policies
    names = [name for name in data.names if name not in ("accidents", "claim_amount", "years")]
    result = cw.audit(model, data.select(names), protected="gender")
    assert "observed_expected" not in result.of("gender").values
    assert "ratio" in result.of("gender").values


def test_frames_of_every_library_give_the_same(policies):
    model, data = policies
    expected = cw.audit(model, data, causes=False).of("gender").values["ratio"]
    for library in ("pandas", "polars"):
        frame = data.to_frame(library)
        if library == "pandas":
            frame = frame.sample(frac=1.0, random_state=1)
        found = (
            cw.audit(model, frame, protected="gender", causes=False).of("gender").values["ratio"]
        )
        np.testing.assert_allclose(np.sort(found), np.sort(expected))


def test_numbers_are_in_bands(policies):
    model, data = policies
    groups = cw.audit(model, data, protected="age", cut_points=[25, 65], causes=False).of("age")
    assert groups.names == ("below 25", "25 to below 65", "65 and more")
    assert (
        len(cw.audit(model, data, protected="age", cut_points=4, causes=False).of("age").names) == 4
    )
    both = cw.audit(
        model,
        data,
        protected=["age", "power"],
        cut_points={"age": [40], "power": [80, 90]},
        causes=False,
    )
    assert len(both.of("age", "power").names) == 6


def test_references_can_be_chosen(policies, credit):
    model, data = policies
    for level in ("female", "male"):
        groups = cw.audit(model, data, reference=level, causes=False).of("gender")
        assert groups.names[groups.reference] == level
    model, data = credit
    crossed = cw.audit(model, data, causes=False, reference={"sex": "f", "or<i>gin": "日本"}).of(
        "sex", "or<i>gin"
    )
    assert crossed.names[crossed.reference] == "日本 / f"


def test_conventions_can_be_switched_off(credit):
    model, data = credit
    options = {"decision": ">= 0.6", "favourable": "yes"}
    assert cw.audit(model, data, conventions=[], **options, causes=False).of("sex").verdicts == ()
    assert cw.audit(model, data, **options, causes=False).of("sex").verdicts


def test_conditions_are_checked_on_the_graph(policies):
    model, data = policies
    assert cw.audit(model, data).conditions[0].holds is None
    graph = cw.Graph(
        "gender -> {height mileage accidents}; age -> {mileage power accidents}; "
        "mileage -> accidents; region -> accidents; power -> accidents"
    )
    assert cw.audit(model, data, graph=graph).conditions[0].holds is True
    with pytest.raises(cw.InputError, match="'region' is not in the graph"):
        cw.audit(model, data, graph=cw.Graph("gender -> {height mileage accidents age power}"))


def test_texts_frames_and_json_have_every_group(credit):
    model, data = credit
    result = cw.audit(model, data, decision="median", favourable="yes")
    document = json.loads(json.dumps(result.to_json()))
    assert len(document["groups"][0]["groups"]) == 8
    assert document["decision"]["text"] == "median"
    for library in ("pandas", "polars", "dict"):
        frame = result.to_frame(library)
        assert len(frame["group"]) == 8 + 2 + 16
    assert "fair" not in repr(result).replace("unfair", "").split()
    assert "&lt;b&gt;" in result._repr_html_()
    assert isinstance(result.of("sex"), GroupMeasures)
    assert result.plot("sex").to_dict()


def bad(match, credit, **options):
    model, data = credit
    with pytest.raises(cw.InputError, match=match):
        cw.audit(model, data, **options)


@pytest.mark.parametrize(
    ("match", "options"),
    [
        ("needs a decision", {"favourable": "yes"}),
        ("decision needs favourable", {"decision": "<= 0.2"}),
        ("yes or no", {"decision": "<= 0.2", "favourable": "paid"}),
        ("threshold, a share or a median", {"decision": "maybe", "favourable": "yes"}),
        ("is not a number", {"decision": "<= much", "favourable": "yes"}),
        ("between 0 and 100 %", {"decision": "top 120 %", "favourable": "yes"}),
        ("no row is selected", {"decision": "> 2", "favourable": "yes"}),
        ("every row is selected", {"decision": "<= 1", "favourable": "yes"}),
        ("no class 'repaid'", {"decision": "repaid > 0.5", "favourable": "yes"}),
        ("no column 'gender' to protect", {"protected": "gender"}),
        ("is the target", {"protected": "outcome"}),
        ("at least one column", {"protected": []}),
        ("holds numbers", {"protected": "income"}),
        ("rising numbers", {"protected": "income", "cut_points": [2, 1]}),
        ("has levels", {"protected": "sex", "cut_points": {"sex": [1]}}),
        ("no protected column holds numbers", {"protected": "sex", "cut_points": [1]}),
        ("is not a group", {"reference": "x"}),
        ("there is no decision", {"reference": "best"}),
        ("has 2", {"reference": "plain"}),
        ("min_rows=1", {"min_rows": 1}),
        ("min_share=2", {"min_share": 2}),
        ("n_refits=-1", {"n_refits": -1}),
        ("n_refits=1: intervals need at least 2", {"n_refits": 1}),
        ("confidence=2", {"confidence": 2}),
        ("conventions='fifths'", {"conventions": "fifths"}),
        ("protected and permitted", {"permitted": ["sex"]}),
        ("no column 'incom' to permit", {"permitted": ["incom"]}),
        ("chosen from a benchmark", {"learner": "glm"}),
    ],
)
def test_mistakes_are_named(credit, match, options):
    bad(match, credit, **options)


def _table(**columns):
    rng = np.random.default_rng(0)
    n = len(next(iter(columns.values())))
    return cw.read({**columns, "x": rng.normal(size=n), "y": rng.normal(size=n)}, target="y")


def test_columns_without_groups_are_refused():
    many = _table(code=[f"level {k}" for k in range(500)] * 2)
    model = cw.learner("ols").fit(many.select(["x", "y"]))
    with pytest.raises(cw.InputError, match="has 500 levels"):
        cw.audit(model, many, protected="code")
    with pytest.warns(cw.ClearwoodWarning, match="constant"):
        one = _table(sex=["f"] * 50, other=["a", "b"] * 25)
    with pytest.raises(cw.InputError, match="has the value 'f' only"):
        cw.audit(model, one, protected="sex")
    with pytest.raises(cw.InputError, match="no column is protected"):
        cw.audit(model, one)


def test_groups_of_three_rows_are_listed():
    data = _table(sex=["f"] * 3 + ["m"] * 3)
    model = cw.learner("ols").fit(_table(sex=["f", "m"] * 20).select(["x", "y"]))
    result = cw.audit(model, data, protected="sex")
    assert result.of("sex").reference is None
    assert result.of("sex").rows.tolist() == [3, 3]
    assert "too few rows to tell" in repr(result)
    assert not result.of("sex").judged.any()


def test_rates_need_a_decision(policies):
    model, data = policies
    with pytest.raises(cw.InputError, match="selection rates need a decision"):
        cw.audit(model, data).selection()


@pytest.mark.parametrize("scale", [1e-300, 1e290])
def test_extreme_predictions_have_measures(scale):
    rng = np.random.default_rng(2)
    data = cw.read({"sex": rng.choice(["f", "m"], 200), "x": rng.random(200) + 0.5})
    groups = cw.audit(lambda frame: np.asarray(frame["x"]) * scale, data, protected="sex").of("sex")
    assert np.isfinite(groups.values["ratio"]).all()
    assert np.isfinite(groups.low["ratio"]).all()


def test_constant_predictions_have_measures():
    data = _table(sex=["f", "m"] * 50)
    groups = cw.audit(lambda frame: np.full(len(frame), 3.0), data, protected="sex").of("sex")
    np.testing.assert_allclose(groups.values["ratio"], 1)


def test_the_gap_is_shared_out_and_the_model_has_rivals(policies):
    model, data = policies
    result = cw.audit(model, data, reference="female")
    (gap,) = result.gaps
    total, *parts = gap["male"]
    groups = result.of("gender")
    assert total.ratio == pytest.approx(groups.values["ratio"][groups.names.index("male")])
    assert np.prod([part.ratio for part in parts]) == pytest.approx(total.ratio)
    assert "gender itself" in result.sentences[0]
    assert result.proxies[0].rows[0].column == "height"
    assert [row.name for row in result.alternatives[0].rows][:2] == ["aware", "unaware"]


def test_what_cannot_be_shared_out_has_a_remark(policies):
    model, data = policies
    result = cw.audit(model, data, protected="age", cut_points=[40])
    assert not result.gaps
    assert any("bands" in note for note in result.notes)


def test_a_graph_may_be_text(credit):
    model, data = credit
    graph = cw.Graph({"sex": ["income"], "or<i>gin": ["income"], "income": ["outcome"]})
    from_text = cw.audit(model, data, graph=graph.to_text(), causes=False)
    assert from_text.conditions == cw.audit(model, data, graph=graph, causes=False).conditions
    # columns have gaps, so that what the graph implies is not known to hold
    fair = cw.fair(model, data, protected="sex", graph=graph.to_text())
    for condition in (from_text.conditions[0], fair.conditions[0]):
        assert condition.holds is None
        assert "without the gaps the graph implies it" in condition.reason


def test_names_of_several_lines_are_written_in_one():
    rng = np.random.default_rng(2)
    sex = rng.choice(["wo\nman", "man"], 200)
    rows = {"s\nex": sex, "x\n1": rng.normal(size=200) + (sex == "man")}
    rows["y"] = np.exp(0.3 * rows["x\n1"] + rng.normal(size=200))
    data = cw.read(rows, target="y", protected=["s\nex"])
    model = cw.learner("ols").fit(data)
    result = cw.audit(model, data)
    assert all("\n" not in one for one in (*result.sentences, *map(str, result.notes)))
    assert len(str(result).splitlines()) == 1 + len(result.sentences) + len(result.notes)
    (gap,), (proxies,), (rivals,) = result.gaps, result.proxies, result.alternatives
    assert str(gap).startswith("wo man against man")
    assert len(str(proxies).splitlines()) == 2 + len(proxies.rows)
    assert len(str(rivals).splitlines()) == 2 + len(rivals.rows) + len(rivals.notes)


@pytest.mark.parametrize("reference", ["largest", "best"])
def test_of_several_classes_only_the_one_that_decides_has_rates_of_the_decision(reference):
    rng = np.random.default_rng(6)
    sex, x = rng.choice(["f", "m"], 300), rng.normal(size=300)
    label = np.where(x > 0.5, "r", rng.choice(["r", "s", "t"], 300))
    label = np.where((sex == "f") & (rng.random(300) < 0.4), "s", label)
    data = cw.read({"sex": sex, "x": x, "y": label}, target="y", protected=["sex"])
    model = cw.learner("logistic").fit(data)
    decision = {"decision": "s >= 0.3", "favourable": False, "reference": reference}
    result = cw.audit(model, data, causes=False, **decision)
    rates = model.predict_proba(data)[:, 1] < 0.3
    assert result.selection("sex")["f"] == pytest.approx(rates[sex == "f"].mean())
    for other in ("r", "t"):
        groups = result.of("sex", output=other)
        assert not {"selection_rate", "impact_ratio"} & groups.values.keys()
        assert not groups.verdicts
        assert "true_positive_rate" in groups.values
    assert sum("favourable decision" in one for one in result.sentences) == 1


def test_a_level_called_missing_is_not_a_missing_value():
    rng = np.random.default_rng(0)
    level = rng.choice(np.array(["missing", "b", None], dtype=object), 300)
    y = rng.normal(size=300) + (level == "b")
    data = cw.read({"q": level, "x": rng.normal(size=300), "y": y}, target="y", protected=["q"])
    result = cw.audit(cw.learner("ols").fit(data), data)
    groups = result.of("q")
    assert groups.names == ("b", "missing", "no value")
    assert groups.standing[2] is Standing.MISSING
    (gap,) = result.gaps
    assert gap.groups == groups.names
    np.testing.assert_allclose(gap.means, groups.values["mean_prediction"])
    assert len({part.group for part in gap.parts}) == 2


def test_an_estimator_of_scikit_learn_need_not_know_the_protected_column():
    rng = np.random.default_rng(9)
    sex = rng.choice(["f", "m"], 200)
    rows = {"sex": sex, "x": rng.normal(size=200) + (sex == "m"), "z": rng.normal(size=200)}
    frame = pd.DataFrame({**rows, "y": rows["x"] + rng.normal(size=200)})
    model = LinearRegression().fit(frame[["z", "x"]], frame["y"])
    predicted = model.predict(frame[["z", "x"]])
    means = [predicted[sex == level].mean() for level in ("f", "m")]
    with_target = cw.read(frame, target="y")
    for rows_of in (with_target, frame):
        groups = cw.audit(model, rows_of, protected="sex", causes=False).of("sex")
        np.testing.assert_allclose(groups.values["mean_prediction"], means)


def test_a_model_that_is_not_fitted_is_refused(policies):
    with pytest.raises(cw.InputError, match="is not fitted"):
        cw.audit(cw.learner("glm"), policies[1])


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    """A file whose classes are the numbers 1 and 2, and a model fitted to it."""
    rng = np.random.default_rng(3)
    n = 600
    sex = rng.choice(["f", "m"], n)
    income = rng.normal(size=n) + 0.8 * (sex == "m")
    risk = np.where(rng.random(n) < 1 / (1 + np.exp(-1 - income)), 1, 2)
    path = tmp_path_factory.mktemp("loans") / "loans.csv"
    pd.DataFrame({"sex": sex, "income": income, "risk": risk}).to_csv(path, index=False)
    return cw.learner("logistic").fit(cw.read(path, target="risk")), path


def test_a_decision_may_be_about_the_first_of_two_classes(loans):
    model, path = loans
    first = cw.audit(
        model, path, protected="sex", decision="1 >= 0.7", favourable="yes", causes=False
    )
    second = cw.audit(
        model, path, protected="sex", decision="2 <= 0.3", favourable="yes", causes=False
    )
    assert first.selection("sex") == pytest.approx(second.selection("sex"))
    assert first.outputs == ("1",)
    one, two = first.of("sex"), second.of("sex")
    assert one.verdicts == two.verdicts != ()
    for name in ("mean_prediction", "observed"):
        np.testing.assert_allclose(one.values[name], 1 - two.values[name])
    np.testing.assert_allclose(one.values["auc"], two.values["auc"])


def test_files_whose_classes_are_numbers_have_alternatives_and_fair_models(loans):
    model, path = loans
    result = cw.audit(model, path, protected="sex")
    assert [len(one.rows) for one in result.alternatives] == [5]
    fair = cw.fair(model, path, protected="sex")
    incomes = {"income": cw.read(path)["income"].values}
    assert fair.predict(incomes).dtype.kind == "i"
    share = np.mean(cw.read(path, target="risk").y == 2)
    assert fair.predict_proba(incomes)[:, 1].mean() == pytest.approx(share)


def test_a_rate_that_is_too_low_is_never_cut_from_the_main_sentences():
    rng = np.random.default_rng(0)
    n = 3000
    region, sex = rng.choice([f"region {k}" for k in range(9)], n), rng.choice(["f", "m"], n)
    score = rng.random(n) + 0.5 * (sex == "m")
    table = cw.read({"region": region, "sex": sex, "score": score, "y": score}, target="y")
    model = cw.learner("ols").fit(table)
    result = cw.audit(
        model, table, protected=["region", "sex"], decision="> 1", favourable=True, causes=False
    )
    below = [one for one in result.sentences if one.startswith("For sex = f, the rate")]
    assert len(below) == 1
    assert below[0] not in result.sentences[:4]
    assert set(below) < set(result.main_sentences(4)) < set(result.sentences)
    assert result.main_sentences(4)[0] == result.sentences[0]
    assert result.main_sentences(100) == result.sentences


def test_a_graph_that_lacks_a_column_is_refused_before_anything_is_computed(policies, monkeypatch):
    monkeypatch.setattr("clearwood.fairness.auditing.group_measures", None)
    with pytest.raises(cw.InputError, match=r"columns '.*' are not in the graph"):
        cw.audit(*policies, graph="gender -> accidents")


def test_names_that_turn_the_direction_of_writing_leave_the_numbers_of_a_sentence_as_they_are():
    rng = np.random.default_rng(1)
    turned, long = "sex\u202eof", "x" * 300
    columns = {turned: rng.choice(["m", long], 400), "שם": rng.choice(["א", "b"], 400)}
    table = cw.read({**columns, "y": rng.random(400)}, target="y")
    model = cw.learner("ols").fit(table)
    result = cw.audit(model, table, protected=[turned, "שם"], causes=False)
    text = str(result)
    assert "\u202e" not in text
    assert long not in text
    assert "For sexof = " in text
    assert "\u2068שם\u2069 = " in text  # isolated, so that what follows keeps its order
    assert turned in result.to_frame("dict")["columns"]
