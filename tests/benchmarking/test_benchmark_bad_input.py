"""What `cw.benchmark` answers to input it cannot use, and to learners that fail."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LogisticRegression

import clearwood as cw
from clearwood._shared import progress
from clearwood.models import Real, Whole

QUICK = {"tune": 0, "interval": "naive"}


class Fragile(RegressorMixin, BaseEstimator):
    """Fails, or predicts what it is told, where the training rows have a mark."""

    def __init__(self, answer="fail", mark=0.5):
        self.answer = answer
        self.mark = mark

    def fit(self, X, y):
        self.bad_ = not np.isclose(X[:, 0], self.mark).any()
        if self.bad_ and self.answer == "fail":
            raise ValueError("cannot do without row 7")
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        values = {"nan": np.nan, "negative": -1.0}
        return np.full(len(X), values[self.answer] if self.bad_ else self.mean_)


@pytest.fixture
def marked(numbers):
    columns = numbers.to_dict()
    columns["a"][7] = 0.5
    columns["y"] = [abs(value) + 0.1 for value in columns["y"]]
    return cw.read(columns, target="y", task="regression")


def test_a_learner_that_fails_in_one_fold_is_last_and_the_others_go_on(marked):
    with pytest.warns(cw.ClearwoodWarning, match=r"fragile failed in 1 of 5 fits.*without row 7"):
        bench = cw.benchmark(marked, {"fragile": Fragile(), "baseline": "baseline"}, **QUICK)
    assert bench.learners == ("baseline", "fragile")
    one = bench["fragile"]
    assert one.failures == 1
    assert one.folds == 4
    assert np.isfinite(one.risk)
    assert "cannot do without row 7" in bench.failures["fragile"][0]
    assert "1 failed" in repr(bench)
    assert bench.to_frame("dict")["failures"] == [0, 1]


def test_errors_can_be_raised_instead(marked):
    with pytest.raises(cw.InputError, match=r"'fragile' failed in outer/0/.*on_error='rank'"):
        cw.benchmark(marked, {"fragile": Fragile()}, on_error="raise", **QUICK)


def test_predictions_that_are_no_numbers_are_a_failure(marked):
    with pytest.warns(cw.ClearwoodWarning, match="NaN or infinity for 24 of 24 rows"):
        bench = cw.benchmark(marked, {"fragile": Fragile("nan"), "ols": "ols"}, **QUICK)
    assert bench["fragile"].failures == 1


def test_a_negative_prediction_under_a_loss_for_positive_ones_is_a_failure(marked):
    with pytest.warns(cw.ClearwoodWarning, match="poisson loss needs every prediction"):
        bench = cw.benchmark(
            marked,
            {"fragile": Fragile("negative"), "baseline": "baseline"},
            loss="poisson",
            **QUICK,
        )
    assert bench["fragile"].failures == 1


def test_a_failure_leaves_the_nested_interval_of_others_alone(marked):
    with pytest.warns(cw.ClearwoodWarning, match="fragile failed"):
        bench = cw.benchmark(marked, {"fragile": Fragile(), "ols": "ols"}, tune=0, repeats=1)
    assert bench["ols"].interval == "nested"
    assert bench["fragile"].interval == "naive"


def test_all_learners_failing_leaves_no_winner(numbers):
    with pytest.warns(cw.ClearwoodWarning):
        bench = cw.benchmark(numbers, {"fragile": Fragile(mark=1e9)}, **QUICK)
    assert "failed" in repr(bench)
    with pytest.raises(cw.InputError, match=r"every learner failed; 'fragile' in .*: "):
        bench.best()


def test_the_text_of_a_run_in_which_all_failed_has_no_empty_sentence(numbers):
    with pytest.warns(cw.ClearwoodWarning):
        bench = cw.benchmark(numbers, {"fragile": Fragile(mark=1e9)}, **QUICK)
    assert "\n.\n" not in repr(bench)


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_a_target_that_the_loss_has_no_value_for_is_refused_before_any_fit(numbers, loss):
    with pytest.raises(cw.InputError, match=f"column 'y': the {loss} loss needs every target"):
        cw.benchmark(numbers, ["ols"], loss=loss)


def test_fewer_rows_than_folds(numbers):
    with pytest.raises(cw.InputError, match="5 rows or more; the table has 4"):
        cw.benchmark(numbers.take(slice(0, 4)), ["ols"], **QUICK)


def test_a_class_with_fewer_members_than_folds(classes):
    few = classes.take(np.r_[0:30, 30:60, 60:63])
    with pytest.raises(cw.InputError, match=r"class 'tulip' has 3"):
        cw.benchmark(few, ["lda"], **QUICK)


def test_groups_fewer_than_folds(numbers):
    columns = numbers.to_dict()
    columns["firm"] = ["a", "b", "c"] * 40
    table = cw.read(columns, target="y", group="firm", task="regression")
    with pytest.raises(cw.InputError, match=r"5 groups or more.*has 3"):
        cw.benchmark(table, ["ols"], **QUICK)


def test_a_rare_class_still_allows_tuning_inside(classes):
    few = classes.take(np.r_[0:30, 30:60, 60:65])
    bench = cw.benchmark(few, ["knn"], tune=3, interval="naive")
    assert bench["knn"].failures == 0


def test_a_space_with_an_unknown_setting_offers_the_nearest(numbers):
    with pytest.raises(cw.InputError, match=r"'ridge' has 'alhpa'.*did you mean 'alpha'"):
        cw.benchmark(numbers, ["ridge"], space={"ridge": {"alhpa": Real(0.1, 1)}})


@pytest.mark.parametrize("space", ["ridge", {"ridge": [1]}, {"ridge": Real(0.1, 1)}])
def test_a_space_that_is_not_by_learner_and_setting(numbers, space):
    with pytest.raises(cw.InputError, match=r"is not a tuning space.*by learner"):
        cw.benchmark(numbers, ["ridge"], space=space)


def test_a_space_of_values_that_the_learner_does_not_take_is_told(numbers):
    """The defaults, which are always tried, would win in silence."""
    space = {"knn": {"weights": ["unifrom", "dstance"]}}
    with pytest.warns(cw.ClearwoodWarning, match="6 of 9 configurations of knn could not.*unifrom"):
        bench = cw.benchmark(
            numbers, ["knn"], space=space, tune=3, search="grid", outer=3, interval="naive"
        )
    assert bench["knn"].settings == {"weights": "uniform"}


def test_a_space_of_a_learner_that_is_not_there(numbers):
    with pytest.raises(cw.InputError, match=r"'rigde', which is not compared.*'ridge'"):
        cw.benchmark(numbers, ["ridge"], space={"rigde": {"alpha": Real(0.1, 1)}})


@pytest.mark.parametrize("ranges", [Real(1, 0.1), Real(0, 1, log=True), "many", []])
def test_a_range_that_is_none(numbers, ranges):
    with pytest.raises(cw.InputError, match="range of 'alpha'"):
        cw.benchmark(numbers, ["ridge"], space={"ridge": {"alpha": ranges}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outer": 1}, "outer=1"),
        ({"inner": 0}, "inner=0"),
        ({"tune": -1}, "tune=-1"),
        ({"tune": 2.5}, "tune=2.5"),
        ({"seed": -1}, "seed=-1"),
        ({"repeats": 0}, "repeats"),
        ({"confidence": 90}, "confidence=90"),
        ({"interval": "exact"}, "interval='exact'"),
        ({"on_error": "ignore"}, "on_error='ignore'"),
        ({"rule": "two_se"}, "rule='two_se'"),
        ({"time_limit": -1}, "time_limit=-1"),
        ({"search": "bayes"}, "search='bayes' is not a known"),
        ({"loss": "sqared"}, "did you mean 'squared'"),
        ({"loss": "log"}, "cannot be used for regression"),
        ({"plan": 5}, "plan=5: it is not a resampling plan"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"outer": 2, "interval": "nested"}, "3 folds or more"),
    ],
)
def test_options_that_make_no_sense(numbers, options, message):
    with pytest.raises(cw.InputError, match=message):
        cw.benchmark(numbers, ["ridge"], **options)


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        ([], "no learner to compare"),
        (["rigde"], "did you mean 'ridge'"),
        (["logistic"], "cannot be used for regression"),
        ([LogisticRegression()], "is a classifier"),
        ([LogisticRegression], "is not a learner"),
        ([3], "is not a learner"),
        (3, "learners=3: it is not a list"),
        ([("a", "ols"), ("a", "ridge")], "two learners are called 'a'"),
    ],
)
def test_learners_that_cannot_take_part(numbers, learners, message):
    with pytest.raises(cw.InputError, match=message):
        cw.benchmark(numbers, learners)


def test_a_learner_without_probabilities_is_refused_before_any_fit(classes):
    from sklearn.svm import LinearSVC

    with pytest.raises(cw.InputError, match="has no probabilities, which the log loss needs"):
        cw.benchmark(classes, [LinearSVC()])
    assert cw.benchmark(classes, [LinearSVC()], loss="zero-one", **QUICK).best().name == "LinearSVC"


def test_a_table_without_target(numbers):
    with pytest.raises(cw.InputError, match="no target"):
        cw.benchmark(numbers.X, ["ols"])
    with pytest.raises(cw.InputError, match=r"not dict.*cw\.read"):
        cw.benchmark(numbers.to_dict(), ["ols"])


def test_a_time_limit_too_small_for_one_fit(numbers):
    with pytest.raises(cw.InputError, match=r"time_limit=1e-09: .* not enough for a single fit"):
        cw.benchmark(numbers, ["ols"], time_limit=1e-9, **QUICK)


def test_a_time_limit_reached_leaves_a_partial_result(numbers):
    def stop_the_clock(snapshot):
        if snapshot.by_learner["ols"][0] == 3:
            clock.setattr("time.monotonic", lambda: 1e12)

    with (
        pytest.MonkeyPatch.context() as clock,
        pytest.warns(cw.ClearwoodWarning, match="time limit .* is reached: 8 of 10 fits"),
        progress.shown_by(lambda: nullcontext(stop_the_clock)),
    ):
        bench = cw.benchmark(numbers, ["ols"], time_limit=1e6, **QUICK)
    assert not bench.complete
    assert bench["ols"].folds == 3


def test_stopping_shows_and_keeps_what_is_done(numbers, tmp_path):
    def stop(snapshot):
        if snapshot.done == 4:
            raise KeyboardInterrupt

    store = tmp_path / "runs.db"
    with (
        pytest.warns(cw.ClearwoodWarning, match=r"stopped: 4 of 10 fits.*the same call resumes"),
        progress.shown_by(lambda: nullcontext(stop)),
    ):
        bench = cw.benchmark(numbers, ["ols", "baseline"], store=store, **QUICK)
    assert not bench.complete
    assert "stopped after 4 of 10 fits" in " ".join(repr(bench).split())
    assert "not begun" in repr(bench)
    assert max(map(len, repr(bench).splitlines())) <= 80
    whole = cw.benchmark(numbers, ["ols", "baseline"], store=store, **QUICK)
    assert whole.complete


def test_stopping_before_anything_is_done_stops():
    data = cw.datasets.load("diabetes")

    class Impatient(Fragile):
        def fit(self, X, y):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cw.benchmark(data, {"impatient": Impatient()}, **QUICK)


def test_a_best_value_on_the_edge_of_its_range_is_warned_of(numbers):
    with pytest.warns(cw.ClearwoodWarning, match="best alpha of ridge is at the lower end"):
        cw.benchmark(
            numbers,
            ["ridge"],
            tune=5,
            interval="naive",
            space={"ridge": {"alpha": Real(1e3, 1e6, log=True)}},
        )


def test_a_tree_of_two_leaves_is_the_smallest_there_is(numbers):
    from sklearn.tree import DecisionTreeRegressor

    noise = cw.read({**numbers.to_dict(), "y": np.sin(1e4 * np.arange(120))}, target="y")
    space = {"tree": {"max_leaf_nodes": Whole(2, 60)}}
    options = {"tune": 6, "search": "grid", "space": space, "interval": "naive"}
    bench = cw.benchmark(noise, {"tree": DecisionTreeRegressor()}, **options)
    assert bench["tree"].settings["max_leaf_nodes"] == 2
    assert bench.warnings == ()


def test_an_edge_that_the_inside_of_the_range_does_as_well_as_is_not_warned_of():
    """Where nothing can be learned, the strongest penalty is best, but a stronger would not be."""
    rng = np.random.default_rng(0)
    noise = {"a": rng.normal(size=80), "y": rng.normal(size=80)}
    bench = cw.benchmark(cw.read(noise, target="y"), ["ridge"], tune=5, interval="naive")
    assert bench["ridge"].settings["alpha"] > 1e3
    assert bench.warnings == ()


def test_a_default_that_switches_something_off_is_no_edge(numbers):
    space = {"ols": {"alpha": Real(1e5, 1e6, log=True)}}
    learner = {"ols": cw.learner("ridge", alpha=0.0)}
    plain = numbers.select(("a", "b", "y"))
    bench = cw.benchmark(plain, learner, tune=3, interval="naive", space=space)
    assert bench["ols"].settings == {"alpha": 0.0}
    assert bench.warnings == ()


def test_unknown_names_in_questions_to_the_result(numbers):
    bench = cw.benchmark(numbers, ["ols", "baseline"], **QUICK)
    with pytest.raises(cw.InputError, match=r"'osl' is not one of the learners.*'ols'"):
        bench.compare("osl", "baseline")
    with pytest.raises(cw.InputError, match="rule='two_se'"):
        bench.best(rule="two_se")
    with pytest.raises(cw.InputError, match="'ols' was not tuned"):
        bench.curve("ols")
