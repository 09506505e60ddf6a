"""The table of a model's terms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import clearwood as cw
from clearwood import InputError
from clearwood.explanation import Explanation, readable_order
from clearwood.models import ProductTerm, ScoreParts, SumOfProducts


@pytest.fixture(scope="module")
def data(hand_made):
    return hand_made.matrix(60)


def test_shares_are_those_of_the_variance_of_brute_force_components(brute, hand_made, data):
    model = hand_made.Score(hand_made.parts())
    table = cw.explain(model, data, max_order=None).terms(least=0.0)
    oracle = brute(model.parts_, data)
    variance = {
        term.columns: np.var(
            [oracle.component(x, [int(name[1]) for name in term.columns]) for x in data]
        )
        for term in table.terms
    }
    total = sum(variance.values())
    assert_allclose(
        [t.share for t in table.terms], [variance[t.columns] / total for t in table.terms]
    )
    assert (table.n_rest, table.rest_share, table.remainder_share) == (0, 0.0, 0.0)
    shares = [term.share for term in table.terms]
    assert shares == sorted(shares, reverse=True)


def test_small_terms_are_folded_into_the_rest(hand_made, data):
    why = cw.explain(hand_made.Score(hand_made.parts()), data, max_order=None)
    whole, folded = why.terms(least=0.0), why.terms(least=0.05)
    small = [term.share for term in whole.terms if term.share < 0.05]
    assert folded.n_rest == len(small) > 0
    assert_allclose(folded.rest_share, sum(small))
    assert len(folded) + folded.n_rest == len(whole)
    assert folded.to_frame("dict")["term"][-1] == "the rest"
    assert "below 5 % each" in repr(folded)
    with pytest.raises(InputError, match="least"):
        why.terms(least=2)


def test_degrees_of_freedom_and_tests_come_from_the_estimator(hand_made, data):
    model = hand_made.Score(hand_made.parts())
    model.term_table_ = [
        {"columns": (0,), "edf": 2.5, "p_value": 0.01},
        {"columns": (2, 0), "edf": 3.0, "p_value": None},
        {"columns": (3,), "edf": 1.0, "p_value": 0.5},
        {"columns": (3,), "edf": 0.5, "p_value": 0.2},
    ]
    rows = {t.columns: t for t in cw.explain(model, data, max_order=None).terms(least=0.0).terms}
    assert (rows["x0",].edf, rows["x0",].p_value) == (2.5, 0.01)
    assert (rows["x0", "x2"].edf, rows["x0", "x2"].p_value) == (3.0, None)
    # two tests of parts are no test of the whole
    assert (rows["x3",].edf, rows["x3",].p_value) == (1.5, None)
    assert rows["x1",].edf is None


def test_training_ranges_and_rows_outside_them():
    data = cw.datasets.load("diabetes")
    model = cw.learner("gam").fit(data.head(300))
    table = cw.explain(model, data).terms()
    rows = {term.columns[0]: term for term in table.terms}
    first, everyone = data.head(300).column("bmi").values, data.column("bmi").values
    assert (rows["bmi"].low, rows["bmi"].high) == (first.min(), first.max())
    beyond = (everyone < first.min()) | (everyone > first.max())
    assert table.outside.get("bmi", 0) == beyond.sum()
    assert 0 < table.n_outside <= sum(table.outside.values())
    assert "outside the training range" in repr(table)


def test_a_model_is_read_term_by_term_up_to_three_columns(hand_made, data):
    assert readable_order(Explanation(hand_made.Score(hand_made.parts()), data)) == 3
    line = hand_made.Powers(1)
    four = ProductTerm((0, 1, 2, 3), (line,) * 4, np.ones((2, 2, 2, 2, 1)))
    wide = hand_made.Score(ScoreParts(SumOfProducts(np.zeros(1), (four,))))
    assert readable_order(Explanation(wide, data)) is None
    forest = cw.learner("gbm").fit(cw.datasets.load("diabetes"))
    assert readable_order(Explanation(forest, cw.datasets.load("diabetes"))) is None


def test_contributions_of_an_additive_model_are_its_terms():
    data = cw.datasets.load("diabetes")
    model = cw.learner("gam").fit(data)
    parts = cw.contributions(model, data.head(5))
    assert_allclose(parts.constant + parts.values.sum(axis=1), model.predict(data.head(5)))
    with pytest.raises(InputError, match="not a sum over its columns"):
        cw.contributions(cw.learner("gbm").fit(data), data.head(5))


def test_a_single_row_without_a_value_is_explained():
    data = cw.datasets.insurance(300, missing=0.1)
    model = cw.learner("gam").fit(data)
    gap = int(np.flatnonzero(data.column("age").missing)[0])
    row = data.take(np.array([gap]))
    why = cw.explain(model, data)
    assert_allclose(np.exp(why.predict(row)), model.predict(row))


def test_directions_that_were_set_are_listed():
    data = cw.datasets.load("diabetes")
    model = cw.learner("gam", monotone={"bmi": "up"}).fit(data)
    listed = {term.name: term.monotone for term in cw.explain(model, data).terms().terms}
    assert (listed["bmi"], listed["s5"]) == ("up", None)
