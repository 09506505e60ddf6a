"""`cw.benchmark`: what it estimates, that nothing leaks, that the seed decides everything."""

import json
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clearwood as cw
from clearwood._shared import progress
from clearwood.models import Choice, Real, Whole
from clearwood.resampling import HoldOut, KFold, LeaveOneOut, MonteCarlo, TimeOrdered, splits_of

QUICK = {"tune": 0, "interval": "naive"}


def same_numbers(first, second):
    assert first.learners == second.learners
    assert first.outcomes.keys() == second.outcomes.keys()
    for key, outcome in first.outcomes.items():
        other = second.outcomes[key]
        np.testing.assert_array_equal(outcome.losses, other.losses)
        assert outcome.settings == other.settings
        assert [t.settings for t in outcome.archive] == [t.settings for t in other.archive]
        assert [t.risk for t in outcome.archive] == [t.risk for t in other.archive]
    for mine, its in zip(first.standings, second.standings, strict=True):
        assert (mine.risk, mine.low, mine.high) == (its.risk, its.low, its.high)


def fits_of(bench, learner):
    return [(bench.units[key], o) for key, o in bench.outcomes.items() if key.startswith(learner)]


def test_the_risk_is_that_of_cross_validation_by_hand(numbers):
    bench = cw.benchmark(numbers, ["ols"], outer=4, seed=3, **QUICK)
    losses = np.full(numbers.n_rows, np.nan)
    for split in splits_of(numbers, KFold(4), seed=3):
        model = cw.learner("ols", task="regression").fit(numbers.take(split.train))
        rows = numbers.take(split.test)
        losses[split.test] = (rows.y - model.predict(rows)) ** 2
    one = bench["ols"]
    assert one.risk == pytest.approx(losses.mean(), rel=1e-12)
    assert one.se == pytest.approx(losses.std(ddof=1) / np.sqrt(len(losses)), rel=1e-12)
    np.testing.assert_allclose((numbers.y - bench.predictions("ols")) ** 2, losses)


def test_every_learner_gets_the_same_splits(numbers):
    bench = cw.benchmark(numbers, ["baseline", "ols"], repeats=2, tune=0)
    units = list(bench.units.values())
    for unit in units:
        twin = next(u for u in units if u.split == unit.split and u.learner != unit.learner)
        np.testing.assert_array_equal(unit.train, twin.train)
        np.testing.assert_array_equal(unit.test, twin.test)


def test_tuning_and_fitting_never_see_the_rows_they_are_judged_on(numbers):
    bench = cw.benchmark(numbers, ["ridge"], repeats=1, tune=5)
    assert bench.units
    for unit in bench.units.values():
        assert not set(unit.train) & set(unit.test)


def test_a_leak_outside_the_benchmark_is_seen_and_one_inside_the_learner_is_not(numbers):
    """Select columns by their correlation with pure noise: on all rows it pays, inside not."""
    from sklearn.feature_selection import SelectKBest, f_regression

    rng = np.random.default_rng(5)
    n, p = 60, 800
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    everything = {f"x{j}": X[:, j] for j in range(p)}
    with pytest.warns(cw.ClearwoodWarning, match="more features"):
        table = cw.read({**everything, "y": y}, target="y", task="regression")
    inside = make_pipeline(SelectKBest(f_regression, k=10), LinearRegression())
    honest = cw.benchmark(table, {"baseline": "baseline", "selected": inside}, **QUICK)
    chosen = np.argsort(-np.abs((X - X.mean(0)).T @ (y - y.mean())))[:10]
    leaky_table = cw.read({**{f"x{j}": X[:, j] for j in chosen}, "y": y}, target="y")
    leaky = cw.benchmark(leaky_table, ["ols"], **QUICK)
    noise = honest["baseline"].risk
    assert honest["selected"].risk > noise
    assert leaky["ols"].risk < 0.7 * noise


def test_tuning_on_pure_noise_reports_chance_level():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(100, 5)), np.where(rng.uniform(size=100) < 0.5, "no", "yes")
    table = cw.read({**{f"x{j}": X[:, j] for j in range(5)}, "y": y}, target="y")
    bench = cw.benchmark(table, ["knn"], tune=20, loss="zero-one", interval="naive", inner=3)
    tuned = np.mean([min(t.risk for t in o.archive) for _, o in fits_of(bench, "knn")])
    # the smallest inner risk looks like skill; the outer folds know better
    assert tuned < 0.45
    assert abs(bench["knn"].risk - 0.5) < 0.12


def test_the_estimate_belongs_to_tune_then_fit(numbers):
    """The K-L procedure by hand (Hiabu 2024, section 2.3) chooses the same settings."""
    space = {"ridge": {"alpha": [0.1, 10.0, 1000.0]}}
    bench = cw.benchmark(
        numbers, ["ridge"], tune=4, search="grid", space=space, interval="naive", racing=False
    )
    assert len(fits_of(bench, "ridge")) == 5
    for unit, outcome in fits_of(bench, "ridge"):
        best = min(outcome.archive, key=lambda trial: trial.risk)
        assert outcome.settings == dict(best.settings)
        train = numbers.take(unit.train)
        model = cw.learner("ridge", task="regression", **outcome.settings).fit(train)
        rows = numbers.take(unit.test)
        np.testing.assert_allclose(outcome.losses, (rows.y - model.predict(rows)) ** 2)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(numbers):
    options = {"tune": 3, "interval": "naive", "outer": 3, "inner": 3}
    first = cw.benchmark(numbers, ["ridge", "knn"], seed=1, **options)
    same_numbers(first, cw.benchmark(numbers, ["knn", "ridge"], seed=1, **options))
    other = cw.benchmark(numbers, ["ridge", "knn"], seed=2, **options)
    assert other["ridge"].risk != first["ridge"].risk


def test_a_learner_does_as_well_alone_as_among_others(numbers):
    alone = cw.benchmark(numbers, ["knn"], tune=3, interval="naive")
    among = cw.benchmark(numbers, ["ols", "knn"], tune=3, interval="naive")
    assert alone["knn"].risk == among["knn"].risk


def test_learners_come_as_names_learners_estimators_and_pairs(numbers):
    bench = cw.benchmark(
        numbers,
        [
            "ols",
            cw.learner("ridge", alpha=3.0),
            Ridge(2.0),
            ("mine", make_pipeline(StandardScaler(), Ridge())),
        ],
        **QUICK,
    )
    assert set(bench.learners) == {"ols", "ridge", "Ridge", "mine"}


def test_a_pipeline_that_prepares_columns_gets_them_as_they_are(numbers):
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    prepare = make_column_transformer((OneHotEncoder(), ["town"]), ("passthrough", ["a", "b"]))
    bench = cw.benchmark(numbers, {"mine": make_pipeline(prepare, LinearRegression())}, **QUICK)
    assert bench["mine"].failures == 0
    winner = bench.best().fit(numbers)
    assert winner.predict(numbers.head(3)).shape == (3,)


def test_two_of_a_kind_get_names_of_their_own(numbers):
    bench = cw.benchmark(numbers, [Ridge(1.0), Ridge(100.0)], **QUICK)
    assert set(bench.learners) == {"Ridge", "Ridge 2"}


def test_a_scikit_learn_estimator_is_tuned_over_a_space_of_the_user(numbers):
    bench = cw.benchmark(
        numbers,
        {"mine": Ridge()},
        tune=5,
        space={"mine": {"alpha": Real(0.1, 100, log=True), "fit_intercept": Choice(True, False)}},
        interval="naive",
    )
    assert set(bench["mine"].settings) == {"alpha", "fit_intercept"}
    assert len(bench.archive("mine")) == 5 * 5


def test_the_winner_is_tuned_on_all_rows_with_the_same_plan(numbers):
    bench = cw.benchmark(numbers, ["baseline", "ridge"], tune=3, interval="naive")
    model = bench.best().fit(numbers)
    assert isinstance(model, cw.Learner)
    assert model.training_["rows"] == numbers.n_rows
    tried = {trial.settings["alpha"] for _, _, trial in bench.archive("ridge").trials}
    assert model.settings["alpha"] in tried
    again = bench.best().fit(numbers)
    np.testing.assert_array_equal(model.predict(numbers), again.predict(numbers))


def test_one_se_takes_the_simplest_learner_near_the_best(numbers):
    bench = cw.benchmark(numbers, ["baseline", "ols", "gbm"], **QUICK)
    simple = bench.best(rule="one_se")
    assert simple.name == "ols"
    assert bench["ols"].risk <= bench.standings[0].risk + bench.standings[0].se


def test_classes_are_judged_by_probabilities(classes):
    bench = cw.benchmark(classes, ["lda", "baseline"], **QUICK)
    assert bench.loss == "log"
    assert bench.predictions("lda").shape == (90, 3)
    np.testing.assert_allclose(bench.predictions("lda").sum(axis=1), 1.0)


@pytest.mark.parametrize("loss", ["brier", "zero-one"])
def test_other_losses_for_classes(classes, loss):
    bench = cw.benchmark(classes, ["lda", "baseline"], loss=loss, **QUICK)
    assert bench.best().name == "lda"


@pytest.mark.parametrize("loss", ["hinge", "exponential"])
def test_margins_come_from_scores_or_probabilities(loss):
    data = cw.datasets.load("breast_cancer").take(slice(0, 120))
    bench = cw.benchmark(data, ["lda", "knn"], loss=loss, **QUICK)
    assert np.isfinite([one.risk for one in bench.standings]).all()


def test_weights_count_in_the_risk(numbers):
    columns = numbers.to_dict()
    columns["w"] = [1.0] * 60 + [0.0] * 60
    table = cw.read(columns, target="y", weight="w", task="regression")
    bench = cw.benchmark(table, ["baseline"], **QUICK)
    losses = bench.losses("baseline")
    rows = np.concatenate(list(losses.rows.values()))
    values = np.concatenate(list(losses.outer.values()))
    assert bench["baseline"].risk == pytest.approx(values[rows < 60].mean())


def test_groups_stay_together(numbers):
    columns = numbers.to_dict()
    columns["person"] = [f"p{i % 24}" for i in range(120)]
    table = cw.read(columns, target="y", group="person", task="regression")
    bench = cw.benchmark(table, ["ols"], tune=0, repeats=1)
    for unit in bench.units.values():
        assert not set(table.groups[unit.train]) & set(table.groups[unit.test])
    assert bench["ols"].interval == "nested"


def test_time_is_respected_and_the_interval_says_what_it_is(numbers):
    columns = numbers.to_dict()
    columns["day"] = np.arange(120.0)
    table = cw.read(columns, target="y", time="day", task="regression")
    bench = cw.benchmark(table, ["ridge"], tune=3)
    for unit in bench.units.values():
        assert unit.train.max() < unit.test.min()
    assert bench["ridge"].interval == "per-origin"
    assert "spans of time" in repr(bench)


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        (MonteCarlo(4, 0.2), "corrected"),
        (HoldOut(0.3), "hold-out"),
        (KFold(3), "nested"),
    ],
)
def test_a_plan_of_ones_own_brings_its_interval(numbers, plan, kind):
    bench = cw.benchmark(numbers, ["ols"], tune=0, plan=plan)
    assert bench["ols"].interval == kind


def test_leave_one_out_agrees_with_its_closed_form(numbers):
    bench = cw.benchmark(numbers.take(slice(0, 40)), ["baseline"], tune=0, plan=LeaveOneOut())
    y = numbers.y[:40]
    assert bench["baseline"].risk == pytest.approx(np.mean(((y - y.mean()) * 40 / 39) ** 2))


def test_pairs_reuse_settings_only_where_they_were_tuned_without_the_fold(numbers):
    options = {"tune": 4, "repeats": 1, "outer": 3}
    inside = cw.benchmark(numbers, ["knn"], pair_tuning="inside", **options)
    reuse = cw.benchmark(numbers, ["knn"], pair_tuning="reuse", **options)
    assert (inside.method.pairs, reuse.method.pairs) == ("tuned", "reused")
    for unit, outcome in fits_of(reuse, "knn"):
        if unit.purpose == "outer":
            np.testing.assert_array_equal(outcome.losses, inside.outcomes[unit.key].losses)
        else:
            assert not outcome.archive
            assert outcome.settings == reuse.outcomes[f"knn/outer/0/{unit.fold}"].settings
    assert "reuse settings" in " ".join(repr(reuse).split())


def test_progress_can_be_watched(numbers):
    seen = []
    with progress.shown_by(lambda: nullcontext(seen.append)):
        cw.benchmark(numbers, ["ols", "baseline"], **QUICK)
    assert [snapshot.done for snapshot in seen] == list(range(1, 11))
    assert seen[-1].by_learner["ols"][:2] == (5, 5)
    assert seen[-1].left == 0.0


def test_the_time_left_knows_that_fits_with_reused_settings_are_short():
    from clearwood.benchmarking.running.run import _Tally

    tally = _Tally(2.0)
    tally.total.update({"outer": 5, "pair": 10})
    assert tally.left(7.0) == 15 * 7.0
    tally.done["outer"], tally.seconds["outer"], tally.fit_seconds = 4, 400.0, 4.0
    assert tally.left(7.0) == 100.0 + 10 * 2.0
    tally.done.update({"outer": 1, "pair": 5})
    tally.seconds["pair"] = 15.0
    assert tally.left(7.0) == 5 * 3.0


def test_the_same_draws_are_tried_in_every_fold(numbers):
    bench = cw.benchmark(
        numbers,
        ["knn"],
        tune=4,
        interval="naive",
        space={"knn": {"n_neighbors": Whole(1, 40)}},
    )
    tried = [
        tuple(trial.settings["n_neighbors"] for trial in outcome.archive)
        for _, outcome in fits_of(bench, "knn")
    ]
    assert len(set(tried)) == 1
    assert tried[0][0] == 15  # the default comes first


def test_everything_but_single_rows_is_in_the_json(numbers):
    bench = cw.benchmark(numbers, ["ridge", "baseline"], tune=2, interval="naive")
    document = json.loads(json.dumps(bench.to_json(), allow_nan=False))
    assert [one["learner"] for one in document["learners"]] == list(bench.learners)
    assert len(document["learners"][0]["by_fold"]) == 5
    assert document["fingerprint"] == numbers.fingerprint()


def test_time_ordered_plans_need_times(numbers):
    with pytest.raises(cw.InputError, match="need a column that orders"):
        cw.benchmark(numbers, ["ols"], plan=TimeOrdered(3))


def test_four_folds_of_the_lecture_notes():
    """Hiabu (2024), examples 7 and 8: one unlucky split misleads, the average of four does not."""
    from sklearn.dummy import DummyRegressor

    five = {"x": [0.0, 1.0, 2.0, 3.0, 4.0], "y": [1.0, 1.0, 1.0, 0.0, 0.0]}
    table = cw.read(five, target="y", task="regression").take(slice(0, 4))
    zero = DummyRegressor(strategy="constant", constant=0.0)
    bench = cw.benchmark(table, {"zero": zero, "mean": "baseline"}, outer=4, **QUICK)
    assert bench["zero"].risk == pytest.approx(3 / 4)
    assert bench["mean"].risk == pytest.approx(1 / 3)
    assert bench.best().name == "mean"
    unlucky = {
        unit.learner: float(bench.outcomes[key].losses[0])
        for key, unit in bench.units.items()
        if unit.test.tolist() == [3]
    }
    assert unlucky == pytest.approx({"zero": 0.0, "mean": 1.0})


# Hiabu (2024), Examples 7 and 8, through the front door: targets 1, 1, 1, 0; one algorithm always
# says 0, the other the mean of the training rows.
def zero_and_mean(plan, seed=0):
    from sklearn.dummy import DummyRegressor

    columns = {"x": [1.0, 2.0, 1.0, 2.0] * 2, "y": [1.0, 1.0, 1.0, 0.0] * 2}
    # reading refuses tables this small; the example has four rows
    table = cw.read(columns, target="y", task="regression").take(slice(0, 4))
    algorithms = {"zero": DummyRegressor(strategy="constant", constant=0.0), "mean": "baseline"}
    return cw.benchmark(table, algorithms, plan=plan, tune=0, loss="squared", seed=seed)


def test_example_7_the_winner_of_a_single_split_depends_on_the_split():
    expected = {0: (1, 1 / 9), 1: (1, 1 / 9), 2: (1, 1 / 9), 3: (0, 1)}
    winners = {}
    for seed in range(20):
        bench = zero_and_mean(HoldOut(0.25), seed)
        (rows,) = bench.losses("zero").rows.values()
        left_out = int(rows[0])
        assert (bench["zero"].risk, bench["mean"].risk) == pytest.approx(expected[left_out])
        winners[left_out] = bench.best().name
    assert winners == {0: "mean", 1: "mean", 2: "mean", 3: "zero"}


def test_example_8_cross_validation_finds_the_better_algorithm():
    bench = zero_and_mean(LeaveOneOut())
    assert bench["zero"].risk == pytest.approx(3 / 4)
    assert bench["mean"].risk == pytest.approx(1 / 3)
    assert bench.learners == ("mean", "zero")


def test_the_baseline_is_computed_for_reference_where_it_is_not_a_learner(numbers):
    bench = cw.benchmark(numbers, ["ols", "knn"], **QUICK)
    among = cw.benchmark(numbers, ["ols", "knn", "baseline"], **QUICK)
    assert set(bench.learners) == {"ols", "knn"}
    assert bench.reference.is_reference
    assert bench.baseline.risk == bench["baseline"].risk == among.baseline.risk
    assert among.reference is None
    assert bench.compare("ols", "baseline").difference < 0
    assert bench.to_json()["reference"]["learner"] == "baseline"
    assert "for reference" in repr(bench)


def test_the_reference_is_never_the_best():
    """Not even where no learner is better than a constant."""
    rng = np.random.default_rng(0)
    table = cw.read({"x": rng.normal(size=60), "y": rng.normal(size=60)}, target="y")
    bench = cw.benchmark(table, ["knn"], **QUICK)
    assert bench.reference.risk < bench["knn"].risk
    assert bench.best().name == "knn"
    assert bench.reference.difference < 0


def test_a_learner_called_baseline_is_the_baseline(numbers):
    bench = cw.benchmark(numbers, {"baseline": "ols", "other": "knn"}, **QUICK)
    assert bench.reference is None
    assert bench.baseline.learner == "baseline"


def test_a_threshold_decides_which_class_is_predicted(classes):
    two = cw.read(classes.head(60).to_dict(), target="kind")
    low, high = (cw.benchmark(two, ["logistic"], threshold=t, **QUICK) for t in (0.05, 0.95))
    p = low.predictions("logistic")[:, 1]
    truth = low.context.codes
    for bench, threshold in ((low, 0.05), (high, 0.95)):
        measured = bench.measures("logistic")
        assert measured["accuracy"] == pytest.approx(np.mean((p > threshold) == truth))
        assert measured["majority"] == pytest.approx(max(truth.mean(), 1 - truth.mean()))
        assert measured.threshold == threshold
        assert f"p > {threshold:g}" in measured.meanings["accuracy"]
    assert low["logistic"].risk == high["logistic"].risk  # the log loss needs no class


def test_the_zero_one_loss_predicts_by_the_threshold(classes):
    two = cw.read(classes.head(60).to_dict(), target="kind")
    p = cw.benchmark(two, ["logistic"], **QUICK).predictions("logistic")[:, 1]
    chosen = cw.benchmark(two, ["logistic"], loss="zero-one", threshold=0.2, **QUICK)
    named = cw.benchmark(two, ["logistic"], loss="zero-one:0.2", **QUICK)
    wrong = np.mean((p > 0.2) != chosen.context.codes)
    assert chosen["logistic"].risk == pytest.approx(wrong)
    assert named["logistic"].risk == chosen["logistic"].risk
    assert named.method.threshold == 0.2


@pytest.mark.parametrize("threshold", [0, 1, -0.1, "half"])
def test_a_threshold_is_a_probability(classes, threshold):
    with pytest.raises(cw.InputError, match="between 0 and 1") as error:
        cw.benchmark(classes, ["logistic"], threshold=threshold)
    assert error.value.parameter == "threshold"


def test_a_threshold_is_for_two_classes(numbers):
    with pytest.raises(cw.InputError, match="for two classes"):
        cw.benchmark(numbers, ["ols"], threshold=0.3)
