"""The result of a benchmark: its text, frames, figures and questions it answers."""

import json
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import clearwood as cw
from clearwood.benchmarking import Difference


@pytest.fixture(scope="module")
def bench(numbers):
    return cw.benchmark(numbers, ["baseline", "ols", "lasso"], tune=4, repeats=1)


def test_the_text_fits_into_80_columns_and_names_everything(bench):
    lines = repr(bench).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "Benchmark: regression of 'y', 120 rows, squared loss"
    heading = "learner risk 90 % interval to best 90 % interval time"
    assert " ".join(lines[2].split()) == heading
    assert [line.split()[0] for line in lines[3:6]] == list(bench.learners)
    assert "Nested cross-validation intervals" in repr(bench)
    assert "alpha=" in repr(bench)


def test_long_names_do_not_break_the_table(numbers):
    name = "a learner whose name is far too long for the table it is in"
    bench = cw.benchmark(numbers, {name: "ols"}, tune=0, interval="naive")
    assert max(map(len, repr(bench).splitlines())) <= 80


def test_tiny_risks_lose_figures_rather_than_the_last_column(numbers):
    y = 1e-4 * numbers.y
    tiny = cw.read({**numbers.X.to_dict(), "y": y}, target="y")
    bench = cw.benchmark(tiny, ["baseline", "ols", "ridge"], tune=0, interval="naive")
    table = repr(bench).split("\n\n")[1].splitlines()
    assert "e-" in table[1]
    assert all(line.endswith((" s", "time")) for line in table)
    assert max(map(len, table)) <= 80


def test_html_escapes_what_users_wrote(numbers):
    bench = cw.benchmark(numbers, {"<b>mine</b>": "ols"}, tune=0, interval="naive")
    html = bench._repr_html_()
    assert "<b>mine" not in html
    assert "&lt;b&gt;mine" in html
    assert html.count("<tr>") == 3  # headings, the learner and the baseline for reference


COLUMNS = [
    "learner",
    "loss",
    "risk",
    "se",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "fit_seconds",
    "failures",
    "settings",
]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_have_one_row_a_learner(bench, library):
    pytest.importorskip(library)
    outcome = bench.to_frame(library)
    columns = outcome.column_names if library == "pyarrow" else list(outcome.columns)
    assert columns == COLUMNS
    assert len(outcome) == 3


def test_the_best_comes_first_and_differences_are_to_it(bench):
    frame = bench.to_frame("dict")
    assert frame["risk"] == sorted(frame["risk"])
    assert frame["difference"][0] == 0
    assert frame["difference_low"][2] < frame["difference"][2] < frame["difference_high"][2]


def test_comparing_is_antisymmetric_and_agrees_with_the_standings(bench):
    worst, best = bench.learners[-1], bench.learners[0]
    outcome, back = bench.compare(worst, best), bench.compare(best, worst)
    assert outcome.difference == pytest.approx(-back.difference)
    assert (outcome.low, outcome.high) == pytest.approx((-back.high, -back.low))
    assert outcome.difference == bench[worst].difference
    assert outcome.clear
    assert f"{best} is clearly better" in repr(outcome)
    assert outcome.to_frame("dict")["clear"] == [True]


def test_a_difference_that_is_not_clear_says_so():
    outcome = Difference("a", "b", 0.1, 0.2, -0.2, 0.4, 0.9, "nested", "squared")
    assert "no clear difference" in repr(outcome)


def test_the_difference_of_a_learner_with_itself_is_zero(bench):
    outcome = bench.compare("ols", "ols")
    assert (outcome.difference, outcome.se) == (0.0, 0.0)
    assert not outcome.clear


def test_choosing_judges_each_fold_by_the_learner_the_others_chose(numbers):
    # the choice among two learners that hardly differ, written out as in Hiabu (2024), section 2.3
    learners = ["ridge", "lasso", "knn"]
    bench = cw.benchmark(numbers, learners, tune=0, repeats=2, outer=4, seed=3)
    losses = {name: bench.losses(name) for name in learners}
    judged, counts = [], dict.fromkeys(learners, 0)
    for repeat in range(2):
        for fold in range(4):
            others = [other for other in range(4) if other != fold]
            inner = {
                name: np.concatenate([one.pairs[repeat, other, fold] for other in others]).mean()
                for name, one in losses.items()
            }
            name = min(inner, key=inner.get)
            counts[name] += 1
            judged.append(losses[name].outer[repeat, fold])
    winner = bench.learners[0]
    of_winner = np.concatenate(list(losses[winner].outer.values()))
    outcome = bench.choosing()
    assert outcome.optimism == pytest.approx(np.concatenate(judged).mean() - of_winner.mean())
    assert outcome.risk == pytest.approx(bench[winner].risk + outcome.optimism)
    assert dict(outcome.chosen) == {name: count for name, count in counts.items() if count}
    assert outcome.winner == winner
    json.dumps(outcome.to_json(), allow_nan=False)
    assert bench.to_json()["choosing"] == outcome.to_json()
    assert outcome.to_frame("dict")["learner"] == list(outcome.chosen)


def test_the_best_of_many_guesses_looks_better_than_choosing_among_them_is():
    from sklearn.dummy import DummyRegressor

    rng = np.random.default_rng(0)
    noise = cw.read({"x": rng.normal(size=60), "y": rng.normal(size=60)}, target="y")
    guesses = {
        f"{guess:+.2f}": DummyRegressor(strategy="constant", constant=guess)
        for guess in np.linspace(-0.5, 0.5, 11)
    }
    outcome = cw.benchmark(noise, guesses, tune=0, repeats=3).choosing()
    assert outcome.optimism > 0
    assert len(outcome.chosen) > 1


def test_a_choice_that_did_better_than_the_winner_is_said_to_be_below_it():
    from clearwood.benchmarking import Choosing

    result = Choosing("tree", 0.37, 0.1, 0.6, -0.066, {"ols": 3}, 0.9, "log")
    assert "0.066 below that of 'tree'" in repr(result)


def test_choosing_without_the_fits_that_judge_it_is_refused(numbers):
    bench = cw.benchmark(numbers, ["ols", "baseline"], tune=0, interval="naive")
    with pytest.raises(cw.InputError, match="interval='nested'"):
        bench.choosing()
    assert bench.to_json()["choosing"] is None


def test_any_learner_can_be_chosen_and_fitted(bench, numbers):
    model = bench.choose("baseline").fit(numbers)
    assert len(set(model.predict(numbers))) == 1
    with pytest.raises(cw.InputError, match=r"'olz' is not one of the learners.*'ols'"):
        bench.choose("olz")


def test_the_nested_interval_is_no_shorter_than_the_naive_one(bench):
    for one in bench.standings:
        assert one.interval == "nested"
        assert one.inflation >= 1.0


def test_losses_cover_every_row_once_in_every_repeat(bench):
    losses = bench.losses("ols")
    rows = np.concatenate(list(losses.rows.values()))
    np.testing.assert_array_equal(np.sort(rows), np.arange(120))


def test_the_archive_and_the_curve_tell_what_was_tried(bench):
    archive = bench.archive("lasso")
    assert len(archive) == 5 * 101
    assert "505 trials in 5 outer folds" in repr(archive)
    json.dumps(archive.to_json())
    curve = bench.curve("lasso")
    assert curve.along() == "alpha"
    with pytest.raises(cw.InputError, match=r"'alhpa' of 'lasso' was not tuned.*'alpha'"):
        curve.along("alhpa")


def test_figures_hold_the_numbers_and_say_them_in_words(bench):
    chart = bench.plot().to_dict()
    assert chart["description"].startswith(bench.learners[0])
    assert "https://" not in json.dumps({k: v for k, v in chart.items() if k != "$schema"})
    curve = bench.curve("lasso").plot().to_dict()
    assert "smallest inner risk" in curve["description"]


@pytest.mark.parametrize("loss", [None, "huber:2", "quantile:0.7"])
def test_results_travel_to_other_processes(numbers, loss):
    learners = {"ridge": "ridge", "mine": LinearRegression()}
    bench = cw.benchmark(numbers, learners, tune=2, outer=3, inner=2, repeats=1, loss=loss)
    again = pickle.loads(pickle.dumps(bench))
    assert again.to_json() == bench.to_json()
    assert again.best().fit(numbers).predict(numbers).shape == (120,)
    for result in (bench.archive("ridge"), bench.curve("ridge"), bench.choosing(), bench.best()):
        assert repr(pickle.loads(pickle.dumps(result))) == repr(result)


def test_the_result_cannot_be_changed(bench):
    with pytest.raises(AttributeError):
        bench.seconds = 0.0


def test_simultaneous_intervals_share_what_may_be_missed_among_all_pairs(bench, numbers):
    together = bench.simultaneous()
    again = cw.benchmark(
        numbers, ["baseline", "ols", "lasso"], tune=4, repeats=1, confidence=1 - 0.1 / 3
    )
    for one, other in zip(together.standings, again.standings, strict=True):
        assert one.difference_low == pytest.approx(other.difference_low)
        assert one.difference_high == pytest.approx(other.difference_high)
    assert [(one.risk, one.low, one.high) for one in together.standings] == [
        (one.risk, one.low, one.high) for one in bench.standings
    ]
    best, second, _ = bench.learners
    assert together.compare(second, best).low == together[second].difference_low
    assert "90 % simultaneous nested interval" in repr(together.compare(second, best))
    assert together.compare(second, best).is_simultaneous
    assert not bench.method.is_simultaneous


def test_simultaneous_intervals_of_two_learners_are_the_usual_ones(numbers):
    pair = cw.benchmark(numbers, ["baseline", "ols"], tune=0, repeats=1)
    assert pair.simultaneous().standings == pair.standings


def test_simultaneous_passes_over_learners_that_have_failed(numbers):
    class Refuses(LinearRegression):
        def fit(self, X, y):
            raise ValueError("not today")

    with pytest.warns(cw.ClearwoodWarning, match="not today"):
        bench = cw.benchmark(
            numbers, {"ols": "ols", "baseline": "baseline", "bad": Refuses()}, tune=0, repeats=1
        )
    together = bench.simultaneous()
    assert np.isnan(together["bad"].difference_low)
    assert together["baseline"] == bench["baseline"]
