"""Evaluations: laws of weights and totals, other forms of a result, and bad input."""

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

import clearwood as cw
from clearwood import InputError
from clearwood.evaluation import Evaluation


def policies(n=600, seed=0):
    """Policies with a premium, an area with a level that is rare, and gaps."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(18, 80, n)
    area = rng.choice(["north", "south", "west"], n)
    years = rng.uniform(0.2, 1.0, n)
    rate = np.exp(-1.0 + 0.02 * (50 - age) + 0.5 * (area == "south"))
    frame = {
        "age": np.where(rng.random(n) < 0.05, np.nan, age).tolist(),
        "area": area.tolist(),
        "years": years.tolist(),
        "claims": rng.poisson(years * rate).tolist(),
    }
    return frame, rate


@pytest.fixture(scope="module")
def fitted():
    frame, _ = policies(1500)
    data = cw.read(frame, target="claims", exposure="years", task="count")
    return cw.learner("glm").fit(data), data


@pytest.fixture(scope="module")
def evaluated(fitted):
    model, data = fitted
    frame, rate = policies(seed=1)
    frame["premium"] = (1.7 * rate).tolist()
    return cw.evaluate(model, frame, training=data, against="premium")


@pytest.fixture(scope="module")
def cancer():
    data = cw.datasets.load("breast_cancer")
    train, test = data.take(slice(0, 300)), data.take(slice(300, None))
    return cw.learner("lda").fit(train), train, test


def test_measures_are_of_rates_weighted_by_exposure(fitted, evaluated):
    frame, _ = policies(seed=1)
    claims, years = np.array(frame["claims"]), np.array(frame["years"])
    expected = float((years * fitted[0].predict(frame)).sum())
    measured = evaluated.measures()
    assert measured["observed_expected"] == pytest.approx(claims.sum() / expected)
    assert measured.is_weighted
    assert measured["calibration_in_the_large"] == pytest.approx(np.log(claims.sum() / expected))


def test_bins_and_bands_have_the_total_of_the_target(evaluated):
    frame, _ = policies(seed=1)
    total, exposure = sum(frame["claims"]), sum(frame["years"])
    for part in (evaluated.lift(), evaluated.by("age"), evaluated.by("area", "age")):
        assert (part.weight @ part.observed) == pytest.approx(total)
        assert part.weight.sum() == pytest.approx(exposure)
        assert part.rows.sum() == 600
    assert evaluated.lift().weight == pytest.approx(np.full(10, exposure / 10), rel=0.05)


def test_a_double_lift_is_of_the_predictions_as_they_are(fitted, evaluated):
    frame, rate = policies(seed=1)
    years = np.array(frame["years"])
    lift = evaluated.lift(against="premium", bins=5)
    assert lift.weight @ lift.predicted == pytest.approx(years @ fitted[0].predict(frame))
    assert lift.weight @ lift.other == pytest.approx(1.7 * years @ rate)
    assert (np.diff(lift.predicted / lift.other) > 0).all()
    assert lift.start[0] == pytest.approx((fitted[0].predict(frame) / (1.7 * rate)).min())
    assert not lift.advantage.is_rescaled


def test_both_predictions_have_the_observed_total_where_it_is_asked_for(evaluated):
    lift = evaluated.lift(against="premium", bins=5, rescale=True)
    total = lift.weight @ lift.observed
    assert lift.weight @ lift.predicted == pytest.approx(total)
    assert lift.weight @ lift.other == pytest.approx(total)
    assert lift.advantage.is_rescaled
    assert "both rescaled to the observed mean" in repr(lift)


def test_a_model_has_no_advantage_over_itself(fitted):
    frame, _ = policies(seed=1)
    frame["same"] = fitted[0].predict(frame).tolist()
    result = cw.evaluate(fitted[0], frame, against="same")
    gain = result.lift(against="same").advantage
    assert (gain.difference, gain.low, gain.high) == pytest.approx((0, 0, 0), abs=1e-12)


def test_whole_weights_are_repeated_rows_of_one_group():
    rng = np.random.default_rng(0)
    n = 200
    score = np.round(rng.normal(size=n), 1)
    base = {
        "score": score.tolist(),
        "kind": rng.choice(list("ab"), n).tolist(),
        "y": np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no").tolist(),
        "row": np.arange(n).tolist(),
        "weight": rng.integers(1, 4, n).tolist(),
    }
    rows = np.repeat(np.arange(n), base["weight"])
    repeated = {k: [v[i] for i in rows] for k, v in base.items() if k != "weight"}
    ignored = {"target": "y", "group": "row"}
    one = cw.read(base, weight="weight", **ignored)
    two = cw.read(repeated, **ignored)
    model = cw.learner("logistic").fit(one.select(["score", "kind", "y"]))
    first, second = cw.evaluate(model, one), cw.evaluate(model, two)
    pairs = [
        (getattr(first, name)(), getattr(second, name)())
        for name in ("roc", "precision_recall", "lorenz", "lift", "smooth_calibration")
    ]
    pairs += [(first.by(*names), second.by(*names)) for names in (["kind"], ["kind", "score"])]
    for weighted, again in pairs:
        left, right = weighted.to_frame("dict"), again.to_frame("dict")
        for name in set(left) - {"rows", "kind", "score"}:
            np.testing.assert_allclose(left[name], right[name], rtol=1e-6, err_msg=name)
    assert first.confusion().weight.tolist() == second.confusion().weight.tolist()


def test_two_classes_agree_with_scikit_learn(cancer):
    model, _, test = cancer
    result = cw.evaluate(model, test)
    p, y = model.predict_proba(test)[:, 1], test.y == model.classes_[1]
    assert result.roc().auc == pytest.approx(roc_auc_score(y, p))
    precision = result.precision_recall()
    assert precision.average_precision == pytest.approx(average_precision_score(y, p))
    assert result.roc().ks == pytest.approx(stats.ks_2samp(p[~y], p[y]).statistic)
    table = result.confusion(threshold=0.3)
    assert table.weight.tolist() == confusion_matrix(y, p > 0.3).tolist()
    assert table["sensitivity"] == pytest.approx((p[y] > 0.3).mean())
    gini = result.lorenz()
    assert gini.normalised == pytest.approx(2 * result.roc().auc - 1)


def test_a_perfect_model_and_a_constant_one():
    data = cw.read(
        {"x": np.arange(120.0).tolist(), "y": (np.arange(120) % 7).tolist()},
        target="y",
        task="regression",
    )
    perfect = cw.evaluate(lambda frame: np.arange(120) % 7.0, data, name="perfect").measures()
    assert perfect["r2"] == 1.0
    assert perfect["calibration_slope"] == pytest.approx(1.0)
    assert perfect["observed_expected"] == pytest.approx(1.0)
    assert perfect["gini_normalised"] == pytest.approx(1.0)
    assert perfect["ici"] == pytest.approx(0.0, abs=1e-9)
    constant = cw.evaluate(lambda frame: np.full(120, np.mean(data.y)), data)
    flat = constant.measures()
    assert flat["r2"] == pytest.approx(0.0)
    assert flat["gini"] == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(flat["calibration_slope"])
    assert any("all predictions are equal" in str(note) for note in constant.notes)
    json.dumps(constant.to_json(), allow_nan=False)


def test_out_of_fold_rows_count_once_however_often_they_are_repeated():
    data = cw.datasets.load("breast_cancer")
    bench = cw.benchmark(data, ["lda"], tune=0, repeats=2)
    result = bench.evaluation("lda")
    assert result.source == "out of fold"
    assert result.n_rows == data.n_rows
    assert result.by("mean radius").rows.sum() == data.n_rows
    assert result.confusion().weight.sum() == pytest.approx(data.n_rows)
    assert dict(result.measures().values) == pytest.approx(dict(bench.measures("lda").values))
    assert result.risk().estimate == bench["lda"].risk
    assert result.inflation >= 1


def test_every_part_has_a_frame_json_text_and_a_figure(evaluated, cancer):
    model, train, test = cancer
    for result in (evaluated, cw.evaluate(model, test, training=train)):
        for name, part in result.parts().items():
            assert part.to_frame("dict"), name
            json.dumps(part.to_json(), allow_nan=False)
            assert repr(part)
            if name != "measures":
                json.dumps(part.plot().to_dict(), allow_nan=False)
        json.dumps(result.to_json(), allow_nan=False)
        assert "auc" in repr(result) or "gini" in repr(result)
        assert "<table>" in result._repr_html_()
        assert list(result.to_frame("dict"))[:2] == ["measure", "value"]
    json.dumps(evaluated.by("age", "area").plot().to_dict(), allow_nan=False)


def test_three_classes_are_ranked_one_against_the_rest():
    wine = cw.datasets.load("wine")
    result = cw.evaluate(cw.learner("lda").fit(wine), wine)
    assert result.roc(label="class_1").what == "P(target = class_1)"
    assert result.confusion().weight.shape == (3, 3)
    with pytest.raises(InputError, match="has no class 'class_9'"):
        result.lift(label="class_9")


# Bad input


def test_rows_without_the_target_are_refused(fitted):
    frame, _ = policies(50)
    del frame["claims"]
    with pytest.raises(InputError, match="lack the target 'claims'"):
        cw.evaluate(fitted[0], frame)


def test_new_levels_and_another_population_are_stated(fitted):
    frame, _ = policies(300, seed=3)
    frame["area"] = ["east"] * 20 + frame["area"][20:]
    frame["age"] = (np.array(frame["age"]) + 30).tolist()
    with pytest.warns(cw.ClearwoodWarning, match="'east'"):
        result = cw.evaluate(fitted[0], frame, training=fitted[1])
    assert result.new_levels == {"area": ("east",)}
    assert result.drift.differing[0].column == "age"
    text = " ".join(map(str, result.notes))
    assert "20 rows have levels of 'area'" in text
    assert "'age'" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: [-1.0, *p[1:]], "'premium' is not positive in 1 row of 60"),
        (lambda p: [np.nan, np.nan, *p[2:]], "'premium' is missing in 2 rows of 60"),
    ],
    ids=["negative", "missing"],
)
def test_another_prediction_that_cannot_be_compared_is_refused(fitted, change, message):
    frame, rate = policies(60)
    frame["premium"] = change(rate.tolist())
    with pytest.raises(InputError, match=message):
        cw.evaluate(fitted[0], frame, against="premium")


def test_a_column_that_is_not_there_is_answered_with_the_nearest(fitted, evaluated):
    frame, _ = policies(60)
    with pytest.raises(InputError, match="there is no column 'premum'"):
        cw.evaluate(fitted[0], frame, against="premum")
    with pytest.raises(InputError, match=r"there is no column 'ag'.*'age'"):
        evaluated.by("ag")
    with pytest.raises(InputError, match="name one column, or two"):
        evaluated.by("age", "area", "years")


def test_too_few_rows_are_refused(fitted):
    with pytest.raises(InputError, match="4 rows with a known 'claims' are too few"):
        cw.evaluate(fitted[0], fitted[1].head(4))
    with pytest.raises(InputError, match="4 rows"):
        cw.evaluate(fitted[0], policies(4)[0])


def test_one_class_only_has_no_ranking(cancer):
    model, _, test = cancer
    same = test.take(np.flatnonzero(test.y == test.y[0]))
    result = cw.evaluate(model, same)
    read_again = cw.evaluate(model, same.to_frame("dict"))
    assert read_again.risk().estimate == pytest.approx(result.risk().estimate)
    assert np.isnan(result.measures()["auc"])
    assert any("all rows have the class" in str(note) for note in result.notes)
    with pytest.raises(InputError, match="one class only"):
        result.roc()
    json.dumps(result.to_json(), allow_nan=False)


@pytest.mark.parametrize(
    "option", [{"confidence": 1.5}, {"confidence": "high"}, {"threshold": 0.0}]
)
def test_levels_outside_their_range_are_refused(fitted, option):
    with pytest.raises(InputError, match=next(iter(option))):
        cw.evaluate(fitted[0], policies(60)[0], **option)


def test_numbers_have_no_curve_of_thresholds(evaluated):
    with pytest.raises(InputError, match="needs classes"):
        evaluated.roc()
    assert isinstance(evaluated, Evaluation)
    with pytest.raises(InputError, match="lifts"):
        evaluated.plot("lifts")


def test_rows_of_weight_zero_do_not_count_in_a_double_lift():
    frame, rate = policies(300)
    frame["premium"] = rate.tolist()
    frame["weight"] = [float(k % 3) for k in range(300)]
    kept = [k for k in range(300) if k % 3]
    options = {"target": "claims", "exposure": "years", "weight": "weight", "ignore": "premium"}
    model = cw.learner("glm").fit(cw.read(frame, **options))
    double = cw.evaluate(model, frame, against="premium").lift(against="premium")
    alone = {name: [values[k] for k in kept] for name, values in frame.items()}
    same = cw.evaluate(model, alone, against="premium").lift(against="premium")
    assert double.rows.sum() == len(kept)
    np.testing.assert_allclose(double.observed, same.observed)
    np.testing.assert_allclose(double.other, same.other)
    assert double.advantage.difference == pytest.approx(same.advantage.difference)


@pytest.mark.parametrize("bins", [2.5, "ten", [0.5, 0.2], [[1.0, 2.0]], [np.nan]])
def test_bins_that_are_neither_a_number_nor_increasing_values_are_refused(evaluated, bins):
    with pytest.raises(InputError, match="a number of bins, or increasing values"):
        evaluated.lift(bins=bins)


def test_a_number_of_bins_may_be_of_numpy(evaluated):
    assert len(evaluated.lift(bins=np.int64(4)).rows) == 4


def test_a_table_has_the_target_and_the_exposure_of_the_model(fitted):
    model, _ = fitted
    frame, _ = policies(300)
    with pytest.raises(InputError, match=r"have no exposure, and .* with the exposure 'years'"):
        cw.evaluate(model, cw.read(frame, target="claims", ignore="years"))
    frame["other"] = frame["claims"][::-1]
    with pytest.raises(InputError, match=r"the target 'other', and .* with the target 'claims'"):
        cw.evaluate(model, cw.read(frame, target="other", exposure="years", ignore="claims"))
    totals = cw.learner("glm").fit(cw.read(frame, target="claims", ignore=["years", "other"]))
    with pytest.raises(InputError, match=r"the exposure 'years', and .* with no exposure"):
        cw.evaluate(totals, cw.read(frame, target="claims", exposure="years", ignore="other"))
    del frame["other"]
    without_roles = cw.evaluate(model, cw.read(frame))
    assert without_roles.what == "claims per year"
    stated = cw.evaluate(model, frame)
    assert without_roles.risk().estimate == pytest.approx(stated.risk().estimate)


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_bands_without_amounts_have_wide_intervals_in_every_currency(unit):
    """With one claim in ten rows, six rows without any are no sign of a wrong prediction."""
    rng = np.random.default_rng(0)
    n = 500
    claimed = (rng.random(n) < 0.1) & (np.arange(n) >= 6)
    frame = {
        "area": ["small"] * 6 + ["large"] * (n - 6),
        "paid": (unit * np.where(claimed, rng.gamma(2.0, 1.0, n), 0.0)).tolist(),
    }
    data = cw.read(frame, target="paid", task="amount")
    result = cw.evaluate(cw.learner("baseline").fit(data), data).by("area")
    place = [band[0] for band in result.bands].index("small")
    assert result.observed[place] == 0.0
    assert result.low[place] == 0.0
    assert result.high[place] > 1.0
    assert not result.misses[place]


def test_bands_without_events_do_not_depend_on_the_unit_of_exposure():
    rng = np.random.default_rng(0)
    n = 800
    years = rng.uniform(0.5, 1.5, n)
    claims = rng.poisson(0.5 * years)
    claims[:40] = 0
    ends = []
    for unit in (1.0, 365.0):
        frame = {"area": ["a"] * 40 + ["b"] * (n - 40), "time": unit * years, "claims": claims}
        data = cw.read(frame, target="claims", exposure="time")
        result = cw.evaluate(cw.learner("baseline").fit(data), data).by("area")
        place = [band[0] for band in result.bands].index("a")
        assert result.misses[place]
        ends.append(result.high[place])
    assert ends[0] == pytest.approx(ends[1])


def test_bands_of_a_column_named_as_a_part_of_the_table_are_in_its_frame():
    rng = np.random.default_rng(0)
    names = ("loss", "ratio", "misses", "low", "weight")
    frame = {name: rng.choice(["a", "b"], 60).tolist() for name in names}
    data = cw.read({**frame, "y": rng.poisson(2.0, 60).tolist()}, target="y", task="count")
    result = cw.evaluate(cw.learner("baseline").fit(data), data)
    for name in names:
        columns = result.by(name).to_frame("dict")
        assert next(iter(columns.values())) in (["a", "b"], ["b", "a"])
        assert columns["loss"] == pytest.approx(result.by(name).loss.tolist())


def test_rows_without_any_claim_are_evaluated(fitted):
    model, _ = fitted
    frame, _ = policies(300)
    frame["claims"] = [0] * 300
    result = cw.evaluate(model, frame)
    expected = float((np.array(frame["years"]) * model.predict(frame)).sum())
    area = result.by("area")
    np.testing.assert_array_equal(area.value, 0.0)
    assert area.misses.all()  # about ten claims and more are expected in every area
    assert (area.weight * area.predicted).sum() == pytest.approx(expected)
    assert np.isfinite(result.risk().estimate)
    assert "gini" not in result.measures().values
    json.dumps(result.to_json(), allow_nan=False)


def test_bins_without_events_have_intervals_with_a_width():
    """Two claims are expected where none was observed, which is not a miss."""
    n = 400
    rates = np.where(np.arange(n) < 20, 0.1, 0.5)
    claims = np.random.default_rng(0).poisson(rates)
    claims[:20] = 0
    data = cw.read({"rate": rates, "claims": claims}, target="claims", task="count")
    result = cw.evaluate(lambda frame: np.asarray(frame["rate"], dtype=float), data)
    for part in (result.calibration(bins=20), result.lift(bins=20)):
        assert part.observed[0] == part.low[0] == 0.0
        assert 0.1 < part.high[0] < 0.3  # three events of twenty rows are 0.15
    assert not result.calibration(bins=20).misses[0]


def test_intervals_of_rare_counts_lie_above_zero(fitted):
    rng = np.random.default_rng(3)
    frame, _ = policies(300, seed=3)
    frame["claims"] = rng.poisson(0.02, 300).tolist()
    result = cw.evaluate(fitted[0], frame)
    for part in (result.lift(), result.calibration()):
        assert (part.low >= 0).all()
        assert (part.low <= part.observed).all()
        assert (part.high > part.observed).all()
        several = part.observed > 0
        assert (part.low[several] > 0).all()


@pytest.fixture(scope="module")
def two_models():
    frame, rate = policies(1500)
    del frame["years"]
    frame["power"] = (100 * rate).tolist()
    data = cw.read(frame, target="claims", task="count")
    narrow = data.select(["age", "area", "claims"])
    return cw.learner("glm").fit(data), cw.learner("glm").fit(narrow), frame


@pytest.mark.filterwarnings("ignore:the new data has columns")
def test_a_model_is_compared_with_another_model_or_its_file(two_models, tmp_path):
    model, other, _ = two_models
    new, rate = policies(400, seed=5)
    new = {**new, "power": (100 * rate).tolist()}
    del new["years"]
    double = cw.evaluate(other, new, against=model).lift(against="the other glm")
    assert double.against == "the other glm"
    named = cw.evaluate(other, {**new, "theirs": model.predict(new).tolist()}, against="theirs")
    expected = named.lift(against="theirs")
    assert double.other == pytest.approx(expected.other)
    assert double.advantage.difference == pytest.approx(expected.advantage.difference)
    cw.save(model, tmp_path / "new.cw")
    for path in (tmp_path / "new.cw", str(tmp_path / "new.cw")):
        result = cw.evaluate(other, new, against=path)
        assert result.against == "new.cw"
        assert result.parts()["double_lift"].other == pytest.approx(expected.other)
    table = cw.read(new, target="claims", task="count")
    assert cw.evaluate(other, table).lift(against=model).other == pytest.approx(expected.other)


@pytest.mark.filterwarnings("ignore:the new data has columns")
def test_another_model_predicts_the_same_quantity(two_models, cancer):
    model, _, frame = two_models
    with pytest.raises(InputError, match="its target is 'target'"):
        cw.evaluate(model, frame, against=cancer[0])
    scarce = cw.learner("glm").fit(cw.read(frame, target="power", task="amount"))
    with pytest.raises(InputError, match="its target is 'power'"):
        cw.evaluate(model, frame, against=scarce)
    rates, _ = policies(300)
    rated = cw.learner("glm").fit(cw.read(rates, target="claims", exposure="years", task="count"))
    with pytest.raises(InputError, match="it was fitted with the exposure 'years'"):
        cw.evaluate(model, {**rates, "power": rates["age"]}, against=rated)
    with pytest.raises(InputError, match="premiun"):
        cw.evaluate(model, frame, against="premiun")


def test_classes_are_compared_in_the_order_of_the_model(cancer):
    model, train, test = cancer
    other = cw.learner("logistic").fit(train)
    result = cw.evaluate(model, test, against=other)
    place = list(map(str, other.classes_)).index("malignant")
    label = result.lift(against="logistic", label="malignant", bins=3)
    p = np.asarray(other.predict_proba(test))[:, place]
    assert label.weight @ label.other == pytest.approx(p.sum())
    assert label.weight @ label.observed == pytest.approx(np.sum(result.truth == place))
    assert label.against == "logistic"


def test_learners_of_a_benchmark_are_compared_out_of_fold(two_models, tmp_path):
    _, other, frame = two_models
    data = cw.read({name: values[:300] for name, values in frame.items()}, target="claims")
    bench = cw.benchmark(data, ["glm", "baseline"], tune=0, repeats=2)
    result = bench.evaluation("glm", against="baseline")
    double = result.lift(against="baseline")
    assert result.parts()["double_lift"].against == "baseline"
    assert (double.weight @ double.other) == pytest.approx(double.weight @ double.observed)
    # rebalanced, the two learners judge the same rows in the same order
    turned = bench.evaluation("baseline", against="glm").lift(against="glm")
    assert turned.advantage.difference == pytest.approx(-double.advantage.difference)
    assert bench.evaluation("glm", against=other).against == "the other glm"
    assert bench.evaluation("glm", against="power").lift(against="power").against == "power"
    with pytest.raises(InputError, match="glmm"):
        bench.evaluation("glm", against="glmm")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # squared losses are infinite
def test_ratios_of_huge_numbers_have_intervals():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100).tolist()
    small = cw.read({"x": x, "y": rng.gamma(2, 1, 100).tolist()}, target="y")
    large = cw.read({"x": x, "y": (1e300 * small.y).tolist()}, target="y")
    results = [cw.evaluate(cw.learner("baseline").fit(one), one) for one in (small, large)]
    first, second = (result.by("x") for result in results)
    for name in ("value", "low", "high"):
        assert getattr(second, name) == pytest.approx(getattr(first, name), rel=1e-9)


def two_classes(seed, *, n=600, shift=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = rng.uniform(size=n) < 1 / (1 + np.exp(1.5 - x - shift))
    return cw.read({"x": x, "y": np.where(y, "yes", "no")}, target="y")


def test_miscalibration_is_in_the_summary():
    """The new rows have far more of one class than the training rows."""
    model = cw.learner("logistic").fit(two_classes(0, n=3000))
    fine, later = (cw.evaluate(model, two_classes(2, n=3000, shift=s)) for s in (0.0, 1.5))
    assert fine.miscalibrated == ()
    (said, *_) = later.miscalibrated
    assert said.startswith("the predictions are too low: observed / expected")
    assert said in repr(later)
    assert later.to_json()["miscalibrated"][0] == said


def test_events_are_rows_of_the_rarer_class_or_what_is_counted():
    rows = two_classes(1)
    result = cw.evaluate(cw.learner("logistic").fit(two_classes(0)), rows)
    assert result.n_events == sum(label == "yes" for label in rows.y)
    assert f"600 rows with {result.n_events} events" in repr(result)
    policies = cw.datasets.insurance(400, seed=2)
    counted = cw.evaluate(cw.learner("glm").fit(policies), policies)
    assert counted.n_events == policies["accidents"].values.sum()
