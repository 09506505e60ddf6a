"""Benchmarks of tables in parts: the numbers of the same hold-out in memory, from any pieces."""

import json
from itertools import pairwise

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import clearwood as cw
from clearwood.benchmarking import row_losses
from clearwood.benchmarking.fitting.work import seed_of
from clearwood.evaluation import holdout_interval
from clearwood.losses import find_loss
from clearwood.resampling import HoldOut, KFold, split_parts
from clearwood.table import Parts


def frame(n=900):
    """Groups that end in the last rows, and a town that is seen there only."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(n, 3))
    town = np.array(["Bern", "Chur", "Genf"])[rng.integers(0, 3, n)]
    town[-4:] = "Basel"
    mean = x[:, 0] + x[:, 1] * x[:, 2] + (town == "Chur")
    return pd.DataFrame(
        {
            "a": x[:, 0],
            "b": x[:, 1],
            "c": np.where(rng.random(n) < 0.05, np.nan, x[:, 2]),
            "town": town,
            "y": mean + 0.5 * rng.normal(size=n),
            "yes": (mean + rng.normal(size=n) > 0).astype(int),
            "claims": rng.poisson(np.exp(mean / 3)),
            "weight": rng.integers(0, 3, n).astype(float),
            "years": rng.uniform(0.2, 1, n),
            "person": rng.integers(0, n // 6, n),
            "day": np.datetime64("2024-01-01") + np.sort(rng.integers(0, 300, n)),
        }
    )


def parts_of(cuts=(400, 400, 650), target="y", **roles):
    """The frame in pieces, one of them empty."""
    data = frame()
    named = data[[target, "a", "b", "c", "town", *roles.values()]]
    pieces = [named[start:stop] for start, stop in pairwise([0, *cuts, len(data)])]
    return cw.scan(pieces, target=target, **roles)


def in_memory(parts, name, share=0.2):
    """Fit to the rows that the benchmark trains on, and read the others into memory."""
    split = split_parts(parts, share)
    seed = seed_of(0, name, "outer/0/0")
    learner = cw.learner(name, seed=seed)
    streams = learner.entry.streams is not None
    return learner.fit(split.train if streams else split.train.to_table()), split.test.to_table()


@pytest.mark.parametrize(
    ("target", "loss", "roles"),
    [
        ("y", "squared", {}),
        ("y", "squared", {"weight": "weight"}),
        ("y", "squared", {"weight": "weight", "group": "person"}),
        ("y", "squared", {"time": "day"}),
        ("y", "squared", {"time": "day", "group": "person"}),
        ("yes", "log", {}),
        ("claims", "poisson", {"exposure": "years"}),
    ],
)
def test_risks_and_differences_are_those_of_the_hold_out_in_memory(target, loss, roles):
    parts = parts_of(target=target, **roles)
    names = {"y": ["ridge", "tree"], "yes": ["logistic", "tree"], "claims": ["glm", "tree"]}[target]
    bench = cw.benchmark(parts, names)
    assert bench.method.interval == "hold-out"
    assert bench.loss == loss
    losses = {}
    for name in names:
        model, test = in_memory(parts, name)
        losses[name] = row_losses(model, test, find_loss(loss))
        whole = holdout_interval(losses[name], test.weights, groups=test.groups)
        one = bench[name]
        assert [one.risk, one.se] == pytest.approx([whole.estimate, whole.se], rel=1e-12)
        assert [one.low, one.high] == pytest.approx([max(whole.low, 0), whole.high], rel=1e-12)
    gap = bench.compare(*names)
    first, second = (losses[name] for name in names)
    paired = holdout_interval(first - second, test.weights, groups=test.groups)
    assert [gap.difference, gap.low, gap.high] == pytest.approx(
        [paired.estimate, paired.low, paired.high], rel=1e-11
    )
    assert bench.compare(*names[::-1]).low == -gap.high
    weights = np.ones(test.n_rows) if test.weights is None else test.weights
    units = np.arange(test.n_rows) if test.groups is None else test.groups
    assert bench.in_parts.n_units == len(np.unique(units[weights > 0]))


def test_no_group_is_on_both_sides_and_the_past_comes_first():
    split = split_parts(parts_of(group="person"), 0.2)
    train, test = split.train.to_table(), split.test.to_table()
    assert train.n_rows + test.n_rows == 900
    assert not set(train.groups) & set(test.groups)
    split = split_parts(parts_of(group="person", time="day"), 0.2)
    train, test = split.train.to_table(), split.test.to_table()
    assert not set(train.groups) & set(test.groups)
    assert train.times.max() < test.times.min()
    assert 100 < test.n_rows < 260


def test_the_fold_of_a_row_depends_on_neither_parts_nor_workers():
    one, other = parts_of(), parts_of(cuts=(10, 20, 500, 501))
    rows = [split_parts(data, 0.2, seed=3).test.to_table()["y"].values for data in (one, other)]
    np.testing.assert_array_equal(*rows)
    again = split_parts(parts_of(), 0.2, seed=4).test.to_table()["y"].values
    assert len(np.intersect1d(rows[0], again)) < len(again)
    one = split_parts(parts_of(group="person"), 0.25).test.to_table()["y"].values
    with joblib.parallel_config(backend="threading", n_jobs=2):
        other = split_parts(parts_of(cuts=(10, 20, 500, 501), group="person"), 0.25)
    np.testing.assert_array_equal(one, other.test.to_table()["y"].values)


def test_workers_do_not_change_the_result():
    learners = {"boosted": cw.learner("lightgbm", n_estimators=5), "tree": cw.learner("tree")}
    parts = parts_of(weight="weight")
    one = cw.benchmark(parts, learners)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        two = cw.benchmark(parts, learners)
    assert two.in_parts.runs["tree"].n_workers == 2
    for name in learners:
        assert two[name].risk == pytest.approx(one[name].risk, rel=1e-12)


def test_learners_that_stream_have_all_training_rows_and_others_a_sample_and_it_is_said():
    parts = parts_of(weight="weight")
    bench = cw.benchmark(parts, ["lightgbm", "tree"], sample=100)
    held = bench.in_parts
    assert bench["lightgbm"].sampled_rows is None
    assert bench["tree"].sampled_rows == 100
    assert held.n_kept == 100 < held.n_test
    text = " ".join(repr(bench).split())
    assert f"Fitted to all {held.n_train} training rows: lightgbm" in text
    assert f"Fitted to a sample of 100 of the {held.n_train} training rows (seed 0)" in text
    assert f"judged on the same {held.n_test} held-out rows" in text
    assert "of a sample of 100 of them" in text
    assert "900 rows in 4 parts" in text
    assert "Fitted to a sample of 100" in bench._repr_html_()
    # measures and predictions are those of the sample of held-out rows
    assert len(bench.predictions("tree")) == 100
    assert bench.measures("tree").values.keys() == bench.measures("lightgbm").values.keys()
    written = json.loads(json.dumps(bench.to_json()))
    assert written["parts"]["sampled"]["tree"] == 100
    assert written["rows"] == 900
    assert written["fingerprint"] == parts.fingerprint()
    assert bench.plot().to_dict()


def test_the_best_is_fitted_to_all_rows_or_to_a_sample_of_all():
    parts = parts_of()
    bench = cw.benchmark(parts, ["lightgbm", "tree"], sample=150)
    assert bench.choose("lightgbm").fit(parts).training_["rows"] == 900
    assert bench.choose("tree").fit(parts).training_["rows"] == 150


def test_settings_are_tuned_on_the_sample():
    bench = cw.benchmark(parts_of(), ["knn", "lightgbm"], tune=2, inner=2, sample=200)
    assert "n_neighbors" in bench["knn"].settings
    # the number of trees is chosen on all training rows
    assert "n_estimators" not in bench["lightgbm"].settings
    assert "settings tuned on a sample of 200 training rows" in " ".join(repr(bench).split())
    assert len(bench.archive("knn").to_frame("dict")["risk"]) >= 2


def test_a_stopped_run_is_resumed_without_another_fit(tmp_path, monkeypatch):
    from clearwood.benchmarking import parts as comparison

    parts, store = parts_of(), tmp_path / "run.db"
    fit = comparison.fit_to_parts
    fitted = []

    def counted(context, name, *rest, **options):
        if name == "tree" and "tree" not in fitted:
            fitted.append(name)
            raise KeyboardInterrupt
        fitted.append(name)
        return fit(context, name, *rest, **options)

    monkeypatch.setattr(comparison, "fit_to_parts", counted)
    with pytest.warns(cw.ClearwoodWarning, match="the same call resumes the run"):
        partial = cw.benchmark(parts, ["baseline", "ridge", "tree"], store=store)
    assert not partial.complete
    assert [one.learner for one in partial.standings if np.isfinite(one.risk)] == [
        "ridge",
        "baseline",
    ]
    whole = cw.benchmark(parts, ["baseline", "ridge", "tree"], store=store)
    assert fitted == ["baseline", "ridge", "tree", "tree"]
    anew = cw.benchmark(parts, ["baseline", "ridge", "tree"])
    for name in whole.learners:
        assert whole[name].risk == anew[name].risk
        np.testing.assert_array_equal(whole.predictions(name), anew.predictions(name))
    assert whole.compare("ridge", "tree") == anew.compare("ridge", "tree")


def test_a_learner_that_fails_is_ranked_last():
    class Half(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            self.n_ = len(y)
            return self

        def predict(self, X):
            return np.where(X[:, 0] > 2.2, np.nan, 0.0)

    with pytest.warns(cw.ClearwoodWarning, match="Half failed"):
        bench = cw.benchmark(parts_of(), {"Half": Half(), "ridge": cw.learner("ridge")}, sample=300)
    assert bench.learners == ("ridge", "Half")
    assert np.isnan(bench["Half"].risk)
    assert "NaN or infinity" in bench.failures["Half"][0]
    with pytest.raises(cw.InputError, match="learner 'Half' failed"):
        cw.benchmark(parts_of(), {"Half": Half()}, sample=300, on_error="raise")


def test_rows_that_cannot_be_read_end_the_run():
    def rows(start, stop):
        if opened and start >= 500:
            raise OSError("no such tape")
        i = np.arange(start, stop)
        return {"x": i % 17 / 3, "y": i % 5 / 7}

    opened = []
    parts = Parts.of(rows, 1000, target="y", part_rows=500)
    opened.append(True)
    with pytest.raises((cw.InputError, OSError), match="no such tape"):
        cw.benchmark(parts, "ridge")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"interval": "nested"}, "interval='nested' needs many fits.*interval='hold-out'"),
        ({"interval": "bad"}, "bad"),
        ({"plan": KFold(5)}, r"one hold-out, not by 5-fold.*HoldOut\(0.2\)"),
        ({"repeats": 3}, "repeats=3 is not for tables in parts"),
        ({"sample": 1}, "sample=1: it must be a whole number of at least 2"),
        ({"tune": -1}, "tune=-1"),
        ({"learners": "rigde"}, "did you mean 'ridge'"),
        ({"time_limit": 1e-9}, "not enough for a single fit"),
    ],
)
def test_options_that_do_not_go_with_parts_are_refused_with_a_hint(options, match):
    options = {"learners": "ridge", **options}
    with pytest.raises(cw.InputError, match=match):
        cw.benchmark(parts_of(), **options)


def test_a_plan_of_one_hold_out_says_how_much():
    bench = cw.benchmark(parts_of(), "ridge", plan=HoldOut(0.4))
    assert 300 < bench.in_parts.n_test < 420
    assert "hold-out of 40 %" in bench.method.plan


def test_a_sample_without_a_class_is_refused_with_the_learners_that_need_it():
    data = frame()
    data["class"] = np.where(np.arange(900) % 300 == 7, "rare", "common")
    parts = cw.scan([data[["a", "b", "class"]]], target="class")
    with pytest.raises(
        cw.InputError, match="a sample of 20 training rows has no row of class 'rare'"
    ):
        cw.benchmark(parts, "tree", sample=20)


def test_a_sample_is_for_parts_and_missing_groups_are_named():
    table = parts_of().to_table()
    with pytest.raises(cw.InputError, match="sample is for tables in parts"):
        cw.benchmark(table, "ridge", sample=100)
    data = frame()[["a", "y", "person"]].astype(float)
    data.loc[3, "person"] = np.nan
    parts = cw.scan([data], target="y", group="person", kinds={"person": "number"})
    with pytest.raises(cw.InputError, match="1 rows have no group"):
        cw.benchmark(parts, "ridge")
