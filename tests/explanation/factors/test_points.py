"""Points of a scorecard: what they add up to, what bands count, what rounding costs, bad input."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

import clearwood as cw
from clearwood import InputError


def loans(n=500, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.gamma(4.0, 800.0, n),
            "arrears": rng.poisson(0.8, n),
            "town, or <b>": rng.choice(["a, b", 'c "d"', "e"], n),
        }
    )
    score = -0.5 - frame["income"] / 3_000 + 0.9 * frame["arrears"]
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame["default"] = np.where(rng.random(n) < expit(score), "yes", "no")
    return frame


@pytest.fixture(scope="module")
def card():
    data = cw.read(loans(), target="default")
    model = cw.learner("scorecard").fit(data)
    return data, model, cw.factors(model, data, points=(600, 50, 20), cutoff=540).points


def test_points_add_up_to_the_odds_but_for_rounding(card):
    data, model, points = card
    log_odds = -model.decision_function(data)  # of the first class
    exact = 600 + 20 / np.log(2) * (log_odds - np.log(50))
    assert np.abs(points.of(data) - exact).max() <= 0.5 * (len(points.terms) + 1)
    at = points.probability(np.array([600.0, 620.0]))
    np.testing.assert_allclose((1 - at) / at, [50.0, 100.0])


def test_all_points_are_whole_and_the_worst_band_has_none(card):
    _, _, points = card
    for term in points.terms:
        own = [cell.points for cell in term.cells]
        assert min(own) == 0
        assert all(isinstance(one, int) for one in own)


def test_the_file_is_enough_to_score_rows(card, tmp_path):
    data, _, points = card
    points.to_frame("pandas").to_csv(tmp_path / "card.csv", index=False)
    lines = pd.read_csv(tmp_path / "card.csv")
    frame = loans()
    total = np.full(len(frame), float(lines["points"][0]))
    for line in lines.iloc[1:].to_dict("records"):
        values = frame[line["column"]]
        if line["other"] in (True, "True"):
            continue
        if line["missing"] in (True, "True"):
            lies = values.isna()
        elif isinstance(line["levels"], str):
            lies = values.isin(json.loads(line["levels"]))
        else:
            low = -np.inf if pd.isna(line["low"]) else line["low"]
            lies = (values > low) & (values <= (np.inf if pd.isna(line["high"]) else line["high"]))
        total[lies] += line["points"]
    np.testing.assert_array_equal(total, points.of(data))


def test_bands_count_rows_events_and_information(card):
    _, _, points = card
    frame = loans()
    is_bad = frame["default"] == "yes"
    term = next(term for term in points.terms if term.columns == ("arrears",))
    cell = term.cells[0]
    low = -np.inf if cell.low[0] is None else cell.low[0]
    inside = (frame["arrears"] > low) & (frame["arrears"] <= cell.high[0])
    assert cell.rows == inside.sum()
    assert cell.events == (inside & is_bad).sum()
    p, q = (inside & is_bad).sum() / is_bad.sum(), (inside & ~is_bad).sum() / (~is_bad).sum()
    assert cell.evidence == pytest.approx(np.log(p / q))
    assert cell.information == pytest.approx((p - q) * np.log(p / q))
    assert sum(one.rows for one in term.cells) == len(frame)


def test_the_cost_of_rounding_is_that_of_the_rows(card):
    data, model, points = card
    exact = 600 + 20 / np.log(2) * (-model.decision_function(data) - np.log(50))
    whole = points.of(data)
    rounding = points.rounding
    assert rounding.crossing == np.mean((exact >= 540) != (whole >= 540))
    every = range(int(whole.min()) - 5, int(whole.max()) + 6)
    shares = [np.mean((exact >= c) != (whole >= c)) for c in every]
    assert rounding.worst_crossing == pytest.approx(max(shares))
    is_bad = np.asarray(data.y) == "yes"
    assert rounding.gini_normalised == pytest.approx(2 * roc_auc_score(is_bad, -whole) - 1)
    assert rounding.gini_normalised_exact == pytest.approx(2 * roc_auc_score(is_bad, -exact) - 1)


def test_boosting_of_pairs_has_points_too():
    data = cw.read(loans(), target="default")
    model = cw.learner("gbm", max_depth=2, max_iter=15).fit(data)
    points = cw.factors(model, data, points=(600, 50, 20)).points
    assert any(len(term.axes) == 2 for term in points.terms)
    exact = 600 + 20 / np.log(2) * (-model.decision_function(data) - np.log(50))
    assert np.abs(points.of(data) - exact).max() <= 0.5 * (len(points.terms) + 1)


def test_rows_without_a_target_are_counted_only(card):
    _, model, _ = card
    points = cw.factors(model, loans().drop(columns="default"), points=(0, 1, 1)).points
    assert points.rounding.gini_normalised is None
    assert points.terms[0].cells[0].rate is None


@pytest.mark.parametrize(
    "points",
    [
        *((600, 50), (600, 0, 20), (600, 50, -20), "600", (600, np.nan, 20), (600, "a", 1)),
        *((600, 50, 1e300), (-1e308, 50, 20), (10**400, 50, 20), (600, 50, np.inf)),
    ],
)
def test_points_that_cannot_be_meant_are_refused(card, points):
    data, model, _ = card
    with pytest.raises(InputError, match="points that double the odds"):
        cw.factors(model, data, points=points)


def test_points_that_are_far_apart_are_rounded_as_well(card):
    data, model, _ = card
    points = cw.factors(model, data, points=(0, 1, 1e9)).points
    exact = 1e9 / np.log(2) * -model.decision_function(data)
    assert points.of(data) == pytest.approx(exact, abs=0.5 * (len(points.terms) + 1) + 1e-3)
    assert 0 < points.rounding.worst_crossing < 1


def test_a_curve_and_a_rate_have_no_points():
    data = cw.read(loans(), target="default")
    model = cw.learner("logistic").fit(data)
    with pytest.raises(InputError, match=r"has a curve, which has no bands.*max_cells=6"):
        cw.factors(model, data, points=(600, 50, 20))
    # what the hint says works: lines get bands too
    table = cw.factors(model, data, max_cells=6, points=(600, 50, 20))
    [income] = [term for term in table.points.terms if term.columns == ("income",)]
    assert len(income.axes[0].cuts) == 5
    odds = 1 / table.points.probability(table.points.of(data)) - 1
    exact = -model.decision_function(data)
    assert np.corrcoef(np.log(odds), exact)[0, 1] > 0.98
    claims = cw.read(loans().drop(columns="default"), target="arrears", task="count")
    model = cw.learner("gbm", max_depth=1, max_iter=5).fit(claims)
    with pytest.raises(InputError, match="points are for two classes"):
        cw.factors(model, claims, points=(600, 50, 20))


def test_a_table_says_each_thing_once():
    data = cw.read(loans(), target="default")
    notes = cw.factors(cw.learner("logistic").fit(data), data).notes
    texts = [str(note) for note in notes]
    assert len(set(texts)) == len(texts)
    assert sum("levels that no training row has" in text for text in texts) == 1
