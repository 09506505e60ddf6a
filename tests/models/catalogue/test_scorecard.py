"""Scorecards: bands against brute force, laws, exact decomposition, bad input, files."""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.utils.estimator_checks import parametrize_with_checks

import clearwood as cw
from clearwood import InputError
from clearwood.models.catalogue.scorecard.bands import BandRules, bands_of, best_cuts, information
from clearwood.models.catalogue.scorecard.estimators import (
    ScorecardClassifier,
    nonnegative_logistic,
)


def applications(n=600, seed=0):
    """A rate that rises with arrears, falls with income and is high where income is missing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.gamma(4.0, 800.0, n),
            "arrears": rng.poisson(0.8, n),
            "region": rng.choice(["North", "South", "East's <b>", "West"], n),
            "noise": rng.normal(size=n),
        }
    )
    score = -1.0 - frame["income"] / 4_000 + 0.8 * frame["arrears"]
    score = score + 0.7 * (frame["region"] == "South")
    gap = rng.random(n) < 0.1
    frame.loc[gap, "income"] = np.nan
    score = np.where(gap, 0.3, score)
    frame["default"] = np.where(rng.random(n) < expit(score), "yes", "no")
    return frame


def table(**options):
    return cw.read(applications(**options), target="default")


# Bands


def every_division(events, others, totals, most, least, trend):
    """Try all cuts; return the greatest information value that the rules allow."""
    n, best = len(events), -np.inf
    for size in range(min(most, n)):
        for cuts in combinations(range(1, n), size):
            e = np.add.reduceat(events, [0, *cuts])
            o = np.add.reduceat(others, [0, *cuts])
            if (e + o < least).any() or (e == 0).any() or (o == 0).any():
                continue
            steps = np.diff(e / (e + o))
            fits = {
                "up": (steps >= -1e-12).all(),
                "down": (steps <= 1e-12).all(),
                "free": True,
                "auto": (steps >= -1e-12).all() or (steps <= 1e-12).all(),
            }
            if fits[trend]:
                best = max(best, information(e, o, totals).sum())
    return best


counts = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=9)


@settings(max_examples=150, deadline=None)
@given(
    counts, st.integers(1, 5), st.integers(0, 12), st.sampled_from(["up", "down", "free", "auto"])
)
def test_bands_are_as_good_as_the_best_of_all_divisions(groups, most, least, trend):
    events, others = np.array(groups, float).T
    totals = max(events.sum(), 1.0), max(others.sum(), 1.0)
    rules = {"most": most, "least": float(least), "trend": trend}
    cuts = best_cuts(events, others, totals=totals, **rules)
    best = every_division(events, others, totals, **rules)
    if np.isfinite(best):
        starts = [0, *cuts.tolist()]
        e, o = np.add.reduceat(events, starts), np.add.reduceat(others, starts)
        assert information(e, o, totals).sum() == pytest.approx(best, abs=1e-12)
        assert len(starts) <= most
        assert ((e + o) >= least).all()
        steps = np.diff(e / (e + o))
        assert trend not in ("up",) or (steps >= 0).all()
        assert trend not in ("down",) or (steps <= 0).all()
    else:
        assert not len(cuts)


def test_a_band_that_adds_less_than_its_price_is_joined():
    events, others = np.array([10.0, 11, 30]), np.array([30.0, 29, 10])
    options = {"totals": (51.0, 69.0), "most": 3, "least": 1.0}
    np.testing.assert_array_equal(best_cuts(events, others, **options), [1, 2])
    np.testing.assert_array_equal(best_cuts(events, others, **options, price=0.01), [2])
    assert not len(best_cuts(events, others, **options, price=5.0))


def test_levels_are_joined_as_in_the_best_of_all_partitions():
    rng = np.random.default_rng(3)
    level = rng.integers(0, 5, 300)
    is_event = rng.random(300) < np.array([0.1, 0.5, 0.3, 0.55, 0.15])[level]
    rules = BandRules(most=3, least=0.0, price=0.0, candidates=200)
    bands = bands_of(
        0, level.astype(float), is_event, np.ones(300), is_category=True, trend="free", rules=rules
    )
    totals = is_event.sum(), (~is_event).sum()
    best = 0.0
    for code in range(3**5):  # every way to put five levels into three bands
        band = np.array([code // 3**k % 3 for k in range(5)])[level]
        e, o = np.bincount(band, is_event, 3), np.bincount(band, ~is_event, 3)
        if (e > 0).all() and (o > 0).all():
            best = max(best, information(e, o, totals).sum())
    assert bands.information.sum() == pytest.approx(best, abs=1e-12)


def test_cuts_have_few_digits_and_divide_the_same_rows():
    data = applications()
    values = data["income"].to_numpy()
    rules = BandRules(most=5, least=0.05, price=0.0, candidates=200)
    bands = bands_of(
        0, values, (data["default"] == "yes").to_numpy(), np.ones(len(data)),
        is_category=False, trend="auto", rules=rules,
    )  # fmt: skip
    assert all(len(f"{cut:g}") <= 6 for cut in bands.cuts)
    counted = np.bincount(bands.places(values), minlength=bands.n_bands + 1)
    np.testing.assert_array_equal(counted, bands.events + bands.others)


# The regression


def test_coefficients_satisfy_the_conditions_of_the_optimum():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (rng.random(300) < expit(X @ [1.0, 0.5, 0.0, -0.5, -1.0])).astype(float)
    weight = rng.integers(1, 4, 300).astype(float)
    intercept, beta = nonnegative_logistic(X, y, weight, l2=2.0)
    wrong = weight * (expit(intercept + X @ beta) - y)
    slope = X.T @ wrong + 2.0 * beta
    assert (beta >= 0).all()
    assert beta[3] == beta[4] == 0
    assert abs(wrong.sum()) < 1e-8
    np.testing.assert_allclose(slope[beta > 0], 0, atol=1e-7)
    assert (slope[beta == 0] > 0).all()


# The learner


def test_points_never_run_against_the_rates_of_bands():
    model = cw.learner("scorecard", trend="free", max_bands=8).fit(table()).estimator_
    assert (model.coef_ >= 0).all()
    for bands in model.bands_:
        filled = bands.events + bands.others > 0
        rate = bands.events[filled] / (bands.events + bands.others)[filled]
        order = np.argsort(rate, kind="stable")
        assert (np.diff(bands.evidence[filled][order]) >= -1e-12).all()


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_constraint_is_kept_even_against_the_data(way):
    data = table()
    model = cw.learner("scorecard", trend="free", monotone={"income": way}).fit(data)
    rows = applications().drop(columns="default").head(30)
    sign = 1 if way == "up" else -1
    for start in np.linspace(0, 9_000, 40):
        low = model.predict_proba(rows.assign(income=start))[:, 1]
        high = model.predict_proba(rows.assign(income=start + 500.0))[:, 1]
        assert (sign * (high - low) >= 0).all()


def test_missing_values_are_a_band_and_unseen_levels_add_nothing():
    data = table()
    model = cw.learner("scorecard").fit(data)
    bands = model.estimator_.bands_
    assert bands[0].events[-1] + bands[0].others[-1] == data["income"].n_missing
    row = applications().drop(columns="default").head(1)
    known = model.decision_function(row.assign(region="South"))
    with pytest.warns(cw.ClearwoodWarning, match="'Moon'"):
        unseen = model.decision_function(row.assign(region="Moon"))
    code = data["region"].levels.index("South")
    added = model.estimator_.coef_[2] * bands[2].evidence[bands[2].groups[code]]
    assert added > 0
    assert (known - unseen)[0] == pytest.approx(added, abs=1e-12)


def test_a_row_of_weight_two_is_two_rows():
    frame = applications()
    weight = np.random.default_rng(1).integers(0, 3, len(frame))
    twice = frame.loc[np.repeat(frame.index, weight)]
    once = cw.learner("scorecard").fit(
        frame.drop(columns="default"), frame["default"], sample_weight=weight
    )
    same = cw.learner("scorecard").fit(twice.drop(columns="default"), twice["default"])
    rows = frame.drop(columns="default")
    np.testing.assert_allclose(
        once.decision_function(rows), same.decision_function(rows), atol=1e-7
    )


def test_the_decomposition_and_the_table_of_factors_are_exact():
    data = table()
    model = cw.learner("scorecard").fit(data)
    parts = cw.explain(model, data)
    assert parts.is_complete
    np.testing.assert_allclose(parts.predict(), model.decision_function(data), atol=1e-12)
    assert cw.factors(model, data).is_exact


def test_a_saved_card_predicts_the_same(tmp_path):
    data = table()
    model = cw.learner("scorecard", trend={"noise": "free"}, monotone={"arrears": "up"}).fit(data)
    cw.save(model, tmp_path / "card.cw")
    again = cw.load(tmp_path / "card.cw")
    np.testing.assert_array_equal(again.predict_proba(data), model.predict_proba(data))


def test_columns_without_information_have_no_part():
    frame = applications()
    model = cw.learner("scorecard", min_gain=6.0).fit(cw.read(frame, target="default"))
    used = {model.schema_.features[k] for k in np.flatnonzero(model.estimator_.coef_)}
    assert "noise" not in used
    assert "arrears" in used


def test_a_card_without_any_column_predicts_the_share():
    frame = pd.DataFrame({"x": np.tile([0.0, 1.0], 20), "y": ["no"] * 30 + ["yes"] * 10})
    model = cw.learner("scorecard", max_bands=1).fit(cw.read(frame, target="y"))
    np.testing.assert_allclose(model.predict_proba(frame[["x"]])[:, 1], 0.25)


def test_extreme_numbers_have_bands_too():
    values = np.array([-1.7e308, -1e300, 5e-324, 1e-300, 1e300, 1.7e308, np.nan])
    X = np.repeat(values, 12)[:, None]
    y = np.random.default_rng(0).random(len(X)) < np.repeat(np.linspace(0.2, 0.8, 7), 12)
    score = ScorecardClassifier(min_share=0.0).fit(X, y).decision_function(values[:, None])
    assert np.isfinite(score).all()
    assert score[5] > score[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_bands": 0}, "max_bands=0: it must be a whole number from 1"),
        ({"min_share": 0.9}, "min_share=0.9: it must be a number"),
        ({"trend": "upward"}, "trend='upward' is not a known value"),
        ({"trend": {"incom": "up"}}, "did you mean 'income'"),
        ({"l2": -1.0}, "l2=-1.0"),
        ({"min_gain": "much"}, "min_gain='much'"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        cw.learner("scorecard", **settings).fit(table(n=100))


def test_three_classes_are_refused():
    frame = applications(n=90).assign(default=["a", "b", "c"] * 30)
    with pytest.raises(InputError, match="'scorecard' does not support multiclass"):
        cw.learner("scorecard").fit(cw.read(frame, target="default"))


@parametrize_with_checks([ScorecardClassifier()])
def test_a_learner_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)


# Columns left out, and bands of one class


def with_column(values, n=600):
    return cw.read(applications(n).assign(own=values), target="default")


def is_event(n=600):
    return (applications(n)["default"] == "yes").to_numpy()


RARE = np.where(np.arange(600) < 20, 1.0, 0.0)
NOISE = np.random.default_rng(5).normal(size=600)


@pytest.mark.parametrize(
    ("values", "dropped", "kept", "reason"),
    [
        (RARE, {}, {"min_share": 0.01}, "no two bands can have 5 % of the rows each"),
        (NOISE, {"min_gain": 50.0}, {}, "less information than min_gain asks for"),
        (NOISE, {"max_bands": 1}, {}, "max_bands allows one band"),
        (
            is_event() + 0.5 * np.abs(NOISE),
            {"trend": {"own": "down"}},
            {"trend": {"own": "up"}},
            "do not go the way of the constraint or trend",
        ),
    ],
)
def test_the_reason_of_a_column_left_out_is_the_rule_that_keeps_it_out(
    values, dropped, kept, reason
):
    """Without the rule the column is in the card."""
    data = with_column(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.ClearwoodWarning)
        without = cw.learner("scorecard", **dropped).fit(data)
    assert reason in without.training_["left_out"]["own"]
    assert "own" not in cw.learner("scorecard", **kept).fit(data).training_["left_out"]


def test_columns_without_information_or_weight_say_so():
    n = 600
    events = is_event()
    data = with_column(np.where(events, np.cumsum(events), np.cumsum(~events)) % 2.0, n)
    even = data.take(np.flatnonzero(balanced(events)))
    why = cw.learner("scorecard").fit(even).training_["left_out"]["own"]
    assert "no information value" in why
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2_000, 2))
    # the second column goes with the first, and against the target given it
    x[:, 1] = x[:, 0] + 0.5 * x[:, 1]
    y = rng.random(2_000) < expit(3 * x[:, 0] - 1.5 * x[:, 1])
    model = ScorecardClassifier().fit(x, y)
    assert model.left_out_ == {1: "no positive weight given the other columns"}


def balanced(events):
    """Leave out the last row of a class that has an odd number of rows."""
    keep = np.ones(len(events), bool)
    for own in (events, ~events):
        if own.sum() % 2:
            keep[np.flatnonzero(own)[-1]] = False
    return keep


@pytest.mark.parametrize("seed", range(6))
def test_columns_named_as_left_out_are_those_that_predictions_do_not_use(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, 8)).round(1)
    x[:, 4:6] = x[:, :2] + 0.3 * x[:, 4:6]
    x[rng.random(300) < 0.1, 2] = np.nan
    y = rng.random(300) < expit(x[:, 0] + x[:, 1])
    weight = rng.integers(0, 3, 300)
    model = ScorecardClassifier(min_gain=3.0).fit(x, y, sample_weight=weight)
    usual = model.decision_function(x)
    for column in range(8):
        other = x.copy()
        other[:, column] = rng.permutation(other[:, column])
        is_used = not np.array_equal(model.decision_function(other), usual)
        assert is_used == (column not in model.left_out_)


def test_a_column_that_the_user_has_named_is_not_dropped_without_a_warning():
    values = is_event() + 0.5 * np.abs(NOISE)
    data = with_column(values)
    with pytest.warns(cw.ClearwoodWarning, match="'own', which has a constraint or a setting"):
        cw.learner("scorecard", monotone={"own": "down"}).fit(data)
    typed = cw.read(applications().assign(own=values), target="default", monotone={"own": "down"})
    with pytest.warns(cw.ClearwoodWarning, match="'own', which has a constraint or a setting"):
        cw.learner("scorecard").fit(typed)
    # columns that nobody named are in the notes only, and warnings are errors here
    model = cw.learner("scorecard", monotone={"arrears": "up"}).fit(with_column(RARE))
    assert "'own'" in model.notes_[0]


def test_a_band_of_one_class_is_said_with_its_rows():
    """Rows of weight 0 are not counted, and rows of weight 2 count once."""
    frame = applications().assign(own=NOISE, weight=1.0)
    events = np.flatnonzero(is_event())
    frame.loc[events[:9], "own"] = np.nan
    frame.loc[events[:2], "weight"] = 0.0
    frame.loc[events[2:4], "weight"] = 2.0
    data = cw.read(frame, target="default", weight="weight")
    model = cw.learner("scorecard").fit(data)
    (note,) = [note for note in model.notes_ if "missing values" in note]
    assert "'own': 7 training rows, all with default = yes" in note
    table = cw.factors(model, data, points=(600, 50, 20))
    for where in (table.notes, table.points.notes, [repr(table)], [repr(table.points)]):
        assert any(note in text for text in where)
    assert note in table.points.to_json()["notes"]


def test_notes_survive_saving(tmp_path):
    model = cw.learner("scorecard").fit(with_column(RARE))
    cw.save(model, tmp_path / "card.cw")
    assert cw.load(tmp_path / "card.cw").notes_ == model.notes_
    assert "own" in cw.inspect(tmp_path / "card.cw").training["left_out"]
