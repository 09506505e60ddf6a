"""Tuning: searches, racing, paths, rules and the archive."""

import numpy as np
import pytest

import clearwood as cw
from clearwood import MissingExtraError
from clearwood.benchmarking.fitting.work import Trial
from clearwood.benchmarking.tuning import searches as _searches
from clearwood.benchmarking.tuning.paths import NotGrown, path_of
from clearwood.benchmarking.tuning.searches import drawn, gridded, position, search
from clearwood.benchmarking.tuning.tune import simplicity
from clearwood.models import Choice, Real, Whole

SPACE = {"size": Whole(1, 100, log=True), "rate": Real(0.01, 1.0, log=True)}
DEFAULTS = {"size": 10, "rate": 0.1}


def judge_by(risk):
    """Judge configurations by a formula; keep the calls."""
    calls = []

    def evaluate(several, share):
        calls.append((len(several), share))
        return [Trial(one, risk(one), 0.0, 5, share) for one in several]

    return evaluate, calls


def distance(settings):
    return abs(np.log(settings["size"] / 40)) + abs(np.log(settings["rate"] / 0.3))


SEARCHES = ["random", "grid", "halving", "hyperband", "tpe", "gp"]


def require(search):
    """Skip a search whose packages are not installed."""
    if search in ("tpe", "gp"):
        pytest.importorskip("optuna")
    if search == "gp":
        pytest.importorskip("torch")


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_tries_the_defaults_and_improves_on_them(name):
    require(name)
    evaluate, _ = judge_by(distance)
    trials = search(name, SPACE, DEFAULTS, trials=27, seed=0, evaluate=evaluate, least_share=0.01)
    assert DEFAULTS in [dict(trial.settings) for trial in trials]
    best = min((t for t in trials if t.share == 1.0), key=lambda trial: trial.risk)
    assert best.risk < distance(DEFAULTS)
    for trial in trials:
        assert 1 <= trial.settings["size"] <= 100
        assert 0.01 <= trial.settings["rate"] <= 1.0


@pytest.mark.parametrize("name", SEARCHES)
def test_the_seed_decides_what_is_tried(name):
    require(name)
    runs = []
    for seed in (1, 1, 2):
        evaluate, _ = judge_by(distance)
        options = {"trials": 9, "seed": seed, "evaluate": evaluate}
        runs.append([dict(t.settings) for t in search(name, SPACE, DEFAULTS, **options)])
    assert runs[0] == runs[1]
    if name != "grid":
        assert runs[0] != runs[2]


def test_halving_gives_thrice_the_rows_to_the_better_third():
    evaluate, calls = judge_by(distance)
    search("halving", SPACE, DEFAULTS, trials=27, seed=0, evaluate=evaluate)
    assert [count for count, _ in calls] == [27, 9, 3, 1]
    assert [share for _, share in calls] == pytest.approx([1 / 27, 1 / 9, 1 / 3, 1])


def test_halving_never_fits_fewer_rows_than_make_sense():
    evaluate, calls = judge_by(distance)
    search("halving", SPACE, DEFAULTS, trials=27, seed=0, evaluate=evaluate, least_share=0.2)
    assert min(share for _, share in calls) >= 0.2


def test_hyperband_starts_some_configurations_on_all_rows():
    evaluate, calls = judge_by(distance)
    search("hyperband", SPACE, DEFAULTS, trials=27, seed=0, evaluate=evaluate)
    starts = {share for _, share in calls}
    assert min(starts) < 0.2
    assert calls[-1][1] == 1.0
    assert sum(share == 1.0 for _, share in calls) > 1


def test_a_grid_has_at_most_as_many_points_as_trials():
    assert len(gridded(SPACE, 20, 0)) == 16
    many = {f"s{i}": Real(0, 1) for i in range(6)}
    assert len(gridded(many, 30, 0)) == 30


def test_bayesian_search_without_its_package_names_the_extra(monkeypatch, numbers):
    monkeypatch.setattr(_searches, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"clearwood\[tune\]"):
        cw.benchmark(numbers, ["ridge"], search="tpe")


def test_a_gaussian_process_search_without_pytorch_says_so(monkeypatch, numbers):
    pytest.importorskip("optuna")
    monkeypatch.setattr(_searches, "find_spec", lambda name: None if name == "torch" else name)
    with pytest.raises(cw.InputError, match=r"PyTorch.*search='tpe'"):
        cw.benchmark(numbers, ["ridge"], search="gp")


@pytest.mark.parametrize("search", ["tpe", "gp"])
def test_bayesian_searches_learn_from_what_they_tried(search, caplog, request):
    require(search)
    import optuna

    optuna.logging.enable_propagation()
    request.addfinalizer(optuna.logging.disable_propagation)
    run = _searches.search
    space = {**SPACE, "kind": Choice("good", "bad")}
    evaluate, _ = judge_by(lambda one: distance(one) + 3 * (one["kind"] == "bad"))
    defaults = {**DEFAULTS, "kind": "bad"}
    result = run(search, space, defaults, trials=30, seed=0, evaluate=evaluate)
    late = [trial.settings["kind"] for trial in result[-8:]]
    assert late.count("good") >= 6
    risks = [trial.risk for trial in result]
    assert np.mean(risks[-8:]) < np.mean(risks[:8])
    # every setting was modelled together with the others, none drawn on its own
    assert "independently" not in caplog.text


@pytest.mark.parametrize("search", ["halving", "hyperband", "tpe", "gp"])
def test_searches_work_inside_a_benchmark(numbers, search):
    require(search)
    bench = cw.benchmark(numbers, ["knn"], tune=6, search=search, interval="naive", outer=3)
    assert bench["knn"].failures == 0
    assert {trial.settings["n_neighbors"] for _, _, trial in bench.archive("knn").trials} >= {15}


def test_position_is_on_the_scale_of_the_range():
    assert position(Whole(1, 100, log=True), 10) == pytest.approx(0.5)
    assert position(Choice("a", "b"), "b") == 1.0
    assert position(Choice("a", "b"), "c") is None
    assert position(Real(0, 1), 2) is None


def test_racing_finds_what_all_folds_would_have_found_with_fewer_fits(numbers):
    space = {"knn": {"n_neighbors": [1, 2, 3, 5, 8, 12, 20, 30, 60]}}
    options = {"tune": 10, "search": "grid", "space": space, "interval": "naive"}
    raced = cw.benchmark(numbers, ["knn"], racing=True, **options)
    full = cw.benchmark(numbers, ["knn"], racing=False, **options)
    judged = [sum(t.folds for _, _, t in b.archive("knn").trials) for b in (raced, full)]
    assert judged[0] < judged[1] == 5 * 5 * 10
    for key, outcome in raced.outcomes.items():
        assert outcome.settings == full.outcomes[key].settings


def test_one_se_inside_tuning_prefers_the_simpler_configuration(numbers):
    options = {"tune": 20, "interval": "naive"}
    best = cw.benchmark(numbers, ["ridge"], **options)
    simple = cw.benchmark(numbers, ["ridge"], rule="one_se", **options)
    tuned = {key: one for key, one in simple.outcomes.items() if key.startswith("ridge")}
    for key, outcome in tuned.items():
        assert outcome.settings["alpha"] >= best.outcomes[key].settings["alpha"]
    assert simple["ridge"].settings["alpha"] > best["ridge"].settings["alpha"]


def test_simplicity_knows_directions():
    space = {"max_depth": Whole(2, 12), "min_samples_leaf": Whole(1, 50)}
    shallow = {"max_depth": 2, "min_samples_leaf": 50}
    deep = {"max_depth": None, "min_samples_leaf": 1}
    assert simplicity(shallow, space) > simplicity(deep, space)


@pytest.mark.parametrize("name", ["ridge", "lasso", "elastic-net"])
def test_a_path_predicts_what_single_fits_predict(numbers, name):
    from clearwood.benchmarking.fitting.contenders import contenders
    from clearwood.benchmarking.fitting.target import target_codes
    from clearwood.benchmarking.fitting.work import Context
    from clearwood.losses import find_loss

    loss = find_loss("squared")
    (contender,) = contenders([name], numbers, loss, seed=0)
    context = Context(numbers, *target_codes(numbers), loss, {name: contender}, None, 0)
    path = path_of(contender, context)
    train, test = numbers.take(slice(0, 90)), numbers.take(slice(90, None))
    several = path.configurations(contender, 6, 0)[::20]
    predictions = path.fit(contender, several, train, test, seed=0)
    for settings, model in zip(several, predictions, strict=True):
        single = contender.build(settings, seed=0).fit(train)
        np.testing.assert_allclose(model.predict(test), single.predict(test), atol=5e-3)


BOOSTERS = {
    "gbm": "max_iter",
    "lightgbm": "n_estimators",
    "xgboost": "n_estimators",
    "catboost": "iterations",
}


def booster(name):
    if name != "gbm":
        pytest.importorskip(name)
    return name, BOOSTERS[name]


def context_of(data, name, loss=None):
    from clearwood.benchmarking.fitting.contenders import contenders
    from clearwood.benchmarking.fitting.target import target_codes
    from clearwood.benchmarking.fitting.work import Context
    from clearwood.losses import default_loss, find_loss

    chosen = default_loss(data.task) if loss is None else find_loss(loss, task=data.task)
    (contender,) = contenders([name], data, chosen, seed=0)
    return Context(data, *target_codes(data), chosen, {"one": contender}, None, 0), contender


@pytest.fixture(scope="module")
def mixed():
    """Numbers, categories and missing values, with three targets."""
    rng = np.random.default_rng(3)
    size = rng.normal(size=200)
    colour = rng.choice(["red", "green", "blue"], size=200)
    mean = size + (colour == "red")
    columns = {"size": np.where(rng.random(200) < 0.1, np.nan, size), "colour": colour}
    return {
        "regression": {**columns, "y": mean + rng.normal(size=200)},
        "count": {**columns, "y": rng.poisson(np.exp(mean / 2))},
        "multiclass": {
            **columns,
            "y": np.array(["a", "b", "c"])[np.digitize(mean + rng.normal(size=200), [-0.5, 1])],
        },
    }


@pytest.mark.parametrize("name", BOOSTERS)
@pytest.mark.parametrize("task", ["regression", "count", "multiclass"])
def test_the_stages_of_one_fit_are_the_fits_with_fewer_trees(mixed, name, task):
    name, trees = booster(name)
    data = cw.read(mixed[task], target="y", task=task)
    context, contender = context_of(data, name)
    path = path_of(contender, context)
    train, test = data.take(slice(0, 150)), data.take(slice(150, None))
    several = [{**contender.defaults, "learning_rate": 0.05, trees: n} for n in (20, 3, 11)]
    predictions = path.fit(contender, several, train, test, seed=5)
    for settings, model in zip(several, predictions, strict=True):
        single = contender.build(settings, seed=5).fit(train)
        assert (model.predict(test) == single.predict(test)).all()
        if task == "multiclass":
            np.testing.assert_array_equal(model.predict_proba(test), single.predict_proba(test))


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_fit_that_no_longer_gains_stops_and_more_trees_are_out_of_the_race(name):
    name, trees = booster(name)
    rng = np.random.default_rng(0)
    data = cw.read({"x": rng.normal(size=120), "y": rng.normal(size=120)}, target="y")
    context, contender = context_of(data, name)
    path = path_of(contender, context)
    several = [{**contender.defaults, "learning_rate": 0.3, trees: n} for n in (5, 40, 600)]
    train, test = data.take(slice(0, 80)), data.take(slice(80, None))
    few, some, most = path.fit(contender, several, train, test, seed=0)
    single = contender.build(several[1], seed=0).fit(train)
    np.testing.assert_array_equal(some.predict(test), single.predict(test))
    assert (few.predict(test) != some.predict(test)).any()
    assert isinstance(most, NotGrown)
    assert 40 <= most.trees < 600


@pytest.mark.parametrize("name", BOOSTERS)
def test_the_smallest_number_of_trees_asked_for_is_always_reached(name):
    """Growing would end long before on noise; a range that begins later is still searched."""
    name, trees = booster(name)
    rng = np.random.default_rng(0)
    data = cw.read({"x": rng.normal(size=120), "y": rng.normal(size=120)}, target="y")
    context, contender = context_of(data, name)
    several = [{**contender.defaults, "learning_rate": 0.3, trees: n} for n in (90, 600)]
    train, test = data.take(slice(0, 80)), data.take(slice(80, None))
    few, many = path_of(contender, context).fit(contender, several, train, test, seed=0)
    single = contender.build(several[0], seed=0).fit(train)
    np.testing.assert_array_equal(few.predict(test), single.predict(test))
    assert isinstance(many, NotGrown)


@pytest.mark.filterwarnings("ignore:the best .* is at:clearwood.ClearwoodWarning")
@pytest.mark.parametrize("name", BOOSTERS)
def test_trees_that_cannot_be_added_change_nothing(name):
    """A dozen rows are too few for LightGBM to split: it stops, and all numbers are alike."""
    name, trees = booster(name)
    rng = np.random.default_rng(0)
    data = cw.read({"x": rng.normal(size=18), "y": rng.normal(size=18)}, target="y")
    context, contender = context_of(data, name)
    several = [{**contender.defaults, trees: n} for n in (50, 80)]
    train, test = data.take(slice(0, 12)), data.take(slice(12, None))
    for settings, model in zip(
        several,
        path_of(contender, context).fit(contender, several, train, test, seed=0),
        strict=True,
    ):
        if not isinstance(model, NotGrown):
            single = contender.build(settings, seed=0).fit(train)
            np.testing.assert_array_equal(model.predict(test), single.predict(test))
    bench = cw.benchmark(data, [name], tune=2, outer=3, inner=2, interval="naive")
    assert bench[name].failures == 0


def test_a_number_of_trees_is_tuned_along_fits_and_hopeless_ones_are_given_up(numbers):
    space = {"gbm": {"max_iter": Whole(1, 60, log=True), "learning_rate": Real(0.02, 0.2)}}
    options = {"tune": 6, "space": space, "interval": "naive", "outer": 3, "inner": 4}
    raced = cw.benchmark(numbers, ["gbm"], **options)
    trials = [trial for _, _, trial in raced.archive("gbm").trials]
    # the defaults and one draw, each at many numbers of trees
    assert len({trial.settings["learning_rate"] for trial in trials}) == 2
    assert len({trial.settings["max_iter"] for trial in trials}) > 8
    assert {trial.folds for trial in trials} > {4}
    full = cw.benchmark(numbers, ["gbm"], racing=False, **options)
    for key, outcome in raced.outcomes.items():
        assert outcome.settings == full.outcomes[key].settings


def test_trees_are_not_tuned_along_fits_where_that_would_judge_something_else(numbers):
    context, contender = context_of(numbers, "gbm")
    assert path_of(contender, context) is not None
    two = cw.read({"x": np.arange(40.0), "y": ["a", "b"] * 20}, target="y")
    context, contender = context_of(two, "gbm", "hinge")
    assert path_of(contender, context) is None


def test_a_path_tries_a_hundred_values_for_the_price_of_one(numbers):
    bench = cw.benchmark(numbers, ["lasso"], tune=5, interval="naive")
    curve = bench.curve("lasso")
    assert len(curve.risk) == 101
    assert set(curve.folds) == {5}
    assert curve.to_frame("dict")["alpha"][0] == 0.01


def test_forests_are_compared_with_fewer_trees_and_fitted_with_all():
    from clearwood.benchmarking.fitting.contenders import Contender

    forest = Contender("forest", cw.learner("forest"), dict(cw.learner("forest").entry.space))
    assert forest.with_trees({"max_features": 0.5}, 30)["n_estimators"] == 30
    small = Contender("forest", cw.learner("forest", n_estimators=10), {})
    assert "n_estimators" not in small.with_trees({}, 30)
    ridge = Contender("ridge", cw.learner("ridge"), {})
    assert ridge.with_trees({"alpha": 1.0}, 30) == {"alpha": 1.0}


@pytest.mark.parametrize("name", ["isle", "stacking"])
def test_ensembles_that_are_not_bagged_keep_their_settings_while_tuning(name):
    from clearwood.benchmarking.fitting.contenders import Contender

    ensemble = Contender(name, cw.learner(name), dict(cw.learner(name).entry.space))
    assert ensemble.with_trees({"folds": 3}, 30) == {"folds": 3}


@pytest.mark.parametrize("name", ["forest", "extra-trees", "bagging"])
def test_the_first_trees_of_an_ensemble_are_a_smaller_ensemble(name, numbers, classes):
    from clearwood.benchmarking.fitting.contenders import Contender

    for table in (numbers, classes):
        contender = Contender(name, cw.learner(name, n_estimators=12), {})
        many = contender.build({}, seed=3).fit(table)
        few = contender.build({"n_estimators": 5}, seed=3).fit(table)
        first = contender.first_trees(many, 5)
        np.testing.assert_array_equal(first.predict(table), few.predict(table))
        assert len(many.estimator_.estimators_) == 12


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:the best max_iter of gbm is at the upper end")
def test_trees_are_tuned_on_some_of_many_rows_and_their_number_on_all(monkeypatch):
    from clearwood.benchmarking.tuning import tune as module

    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, size=(6_000, 2))
    y = np.sin(2 * x[:, 0]) * x[:, 1] + 0.1 * rng.normal(size=6_000)
    data = cw.read({"a": x[:, 0], "b": x[:, 1], "y": y}, target="y")
    rows, original = [], module.try_settings

    def recorded(context, unit, fold, *others):
        rows.append(len(fold.train))
        return original(context, unit, fold, *others)

    monkeypatch.setattr(module, "try_settings", recorded)
    bench = cw.benchmark(data, ["gbm"], tune=2, inner=4, outer=2, interval="naive")
    # of 3,000 training rows: three in four of 2,000 drawn ones, and nine in ten of all once a fold
    assert set(rows) == {1_500, 2_700}
    assert rows.count(2_700) == 2
    assert bench.standings[0].settings["max_iter"] > 100


def many_rows(**roles):
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, size=(4_000, 2))
    y = np.sin(2 * x[:, 0]) * x[:, 1] + 0.1 * rng.normal(size=4_000)
    return cw.read({"a": x[:, 0], "b": x[:, 1], "t": np.arange(4_000), "y": y}, target="y", **roles)


OF_MANY_ROWS = {"inner": 3, "outer": 3, "interval": "naive", "on_error": "raise"}


@pytest.mark.parametrize("search", ["random", "hyperband"])
def test_settings_that_a_search_tries_twice_can_win_on_some_of_the_rows(search):
    from clearwood.models import Choice

    space = {"tree": {"max_depth": Choice(3, 6, 6)}}
    bench = cw.benchmark(
        many_rows(ignore="t"), ["tree"], tune=9, search=search, space=space, **OF_MANY_ROWS
    )
    assert bench["tree"].settings["max_depth"] in (3, 6, None)


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_one_se_keeps_the_simplest_on_some_of_the_rows_too():
    from clearwood.models import Whole

    rng = np.random.default_rng(0)
    x = rng.uniform(size=4_000)
    step = cw.read({"x": x, "y": (x > 0.5) + rng.normal(size=4_000)}, target="y")
    options = {"tune": 9, "space": {"tree": {"max_depth": Whole(2, 8)}}, **OF_MANY_ROWS}
    assert cw.benchmark(step, ["tree"], **options)["tree"].settings["max_depth"] is None
    simple = cw.benchmark(step, ["tree"], rule="one_se", **options)
    assert simple["tree"].settings["max_depth"] <= 4


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_the_number_of_trees_is_chosen_after_most_of_the_time(monkeypatch):
    from clearwood.benchmarking.tuning import tune as module

    rows, original = [], module.try_settings

    def recorded(context, unit, fold, *others):
        rows.append((len(fold.train) / len(unit.train), fold.number))
        return original(context, unit, fold, *others)

    monkeypatch.setattr(module, "try_settings", recorded)
    cw.benchmark(many_rows(time="t"), ["gbm"], tune=3, inner=3, outer=2, on_error="raise")
    last = [share for share, number in rows if number == 3]
    # the first span has fewer rows than would be drawn, so that only the second chooses anew
    assert last
    assert min(last) > 0.85


@pytest.mark.long
def test_tuned_numbers_of_trees_are_those_of_pairs_too(numbers):
    options = {"tune": 2, "outer": 3, "inner": 2, "repeats": 1, "pair_tuning": "reuse"}
    plain = cw.benchmark(numbers, [cw.learner("forest", n_estimators=25)], **options)
    space = {"forest": {"n_estimators": [25, 30]}}
    tuned = cw.benchmark(numbers, ["forest"], space=space, **options)
    for bench, is_compared in ((plain, True), (tuned, False)):
        of_forest = {key: one for key, one in bench.outcomes.items() if key.startswith("forest")}
        outer = [one for key, one in of_forest.items() if "/outer/" in key]
        assert all((one.reference is not None) == is_compared for one in outer)


def test_rows_for_tuning_keep_groups_whole_and_rare_classes(numbers):
    from clearwood.benchmarking.fitting.work import Unit
    from clearwood.benchmarking.tuning.tune import _enough_rows

    rng = np.random.default_rng(1)
    n = 30_000
    group = rng.integers(0, 900, n)
    rare = np.where(rng.random(n) < 0.02, "yes", "no")
    every = np.arange(n)
    grouped = cw.read({"x": rng.normal(size=n), "g": group, "y": rare}, target="y", group="g")
    context, _ = context_of(grouped, "gbm", None)
    unit = Unit("gbm", "outer", 0, 0, every, every[:1])
    rows = _enough_rows(context, unit)
    taken = np.unique(group[rows])
    assert np.isin(group, taken).sum() == len(rows)
    assert (rare[rows] == "yes").sum() >= 150
    assert len(rows) < n
    few = Unit("gbm", "outer", 0, 0, every[:1_500], every[:1])
    np.testing.assert_array_equal(_enough_rows(context, few), few.train)


def test_a_configuration_that_fails_loses_and_is_kept_in_the_archive(numbers):
    from sklearn.linear_model import Ridge

    bench = cw.benchmark(
        numbers,
        {"mine": Ridge()},
        tune=3,
        space={"mine": {"alpha": [-1.0, 2.0]}},
        search="grid",
        interval="naive",
    )
    assert bench["mine"].failures == 0
    failed = [trial for _, _, trial in bench.archive("mine").trials if trial.failure]
    assert {trial.settings["alpha"] for trial in failed} == {-1.0}


def test_a_time_limit_cuts_tuning_short(numbers):
    bench = cw.benchmark(numbers, ["knn"], tune=500, time_limit=2.0, interval="naive", outer=3)
    assert len(bench.archive("knn")) < 3 * 500
    assert all(one.archive for key, one in bench.outcomes.items() if key.startswith("knn"))


def test_draws_follow_the_scale_of_the_range():
    values = [one["rate"] for one in drawn({"rate": Real(1e-4, 1.0, log=True)}, 400, 0)]
    assert 0.15 < np.mean(np.array(values) < 1e-3) < 0.35


def test_settings_of_the_user_are_not_tuned_unless_a_space_says_so(numbers):
    learner = cw.learner("tree", max_depth=2)
    options = {"tune": 3, "outer": 2, "inner": 2, "interval": "naive"}
    bench = cw.benchmark(numbers, [learner], **options)
    assert "max_depth" not in bench.context.contenders["tree"].space
    assert bench.best().fit(numbers).get_params()["max_depth"] == 2
    space = {"tree": {"max_depth": Choice(2)}}
    searched = cw.benchmark(numbers, [learner], space=space, **options)
    assert "max_depth" in searched.context.contenders["tree"].space
