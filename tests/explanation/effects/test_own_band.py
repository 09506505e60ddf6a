"""Bands of models that know how far their own score varies."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import expit

import clearwood as cw
from clearwood import InputError
from clearwood.explanation.games.spread import half_widths
from clearwood.models import ProductTerm, ScoreParts, Spread, SumOfProducts

COUNT = 4


@pytest.fixture(scope="module")
def data(hand_made):
    return hand_made.matrix(60)


def with_spread(hand_made, n_outputs=1, *, link="identity", freedom=7.0, source="folds"):
    """Deviations that are scores of the same form, with other coefficients, made small."""
    deviations = hand_made.parts(COUNT * n_outputs)
    small = ScoreParts(
        SumOfProducts(
            0.1 * deviations.products.constant,
            tuple(
                ProductTerm(term.columns, term.bases, 0.1 * term.coefficients)
                for term in deviations.products.terms
            ),
        ),
        deviations.trees,
    )
    return hand_made.parts(n_outputs, link=link, spread=Spread(small, COUNT, freedom, source))


@pytest.fixture(scope="module")
def model(hand_made):
    return hand_made.Score(with_spread(hand_made))


def test_the_standard_error_of_a_component_is_that_of_its_deviations_by_brute_force(
    brute, model, data
):
    oracle = brute(model.parts_.spread.parts, data)
    why = cw.explain(model, data, max_order=3)
    values = why.values(data[:3], standard_errors=True)
    assert values.errors_from == "folds"
    for k, names in enumerate(why.components):
        players = [why.columns.index(name) for name in names]
        truth = [
            np.sqrt(((oracle.component(x, players) + oracle.value(x, ())) ** 2).sum())
            for x in data[:3]
        ]
        assert_allclose(values.standard_errors[:, k], truth, rtol=1e-9)


def test_without_a_request_rows_have_no_standard_errors(model, data):
    values = cw.explain(model, data).values(data[:3])
    assert (values.standard_errors, values.errors_from) == (None, None)
    frame = cw.explain(model, data).values(data[:3], standard_errors=True).to_frame("dict")
    assert "standard error of x0 × x2" in frame


@pytest.mark.parametrize("columns", [("x0",), ("x2", "x0"), ("x3",)])
def test_the_band_of_a_component_is_its_standard_error_times_the_quantile(model, data, columns):
    shown = cw.effect(model, data, *columns, kind="component", confidence=0.95, points=8)
    assert (shown.band, shown.is_simultaneous, shown.confidence) == ("folds", False, 0.95)
    half = stats.t.ppf(0.975, 7) * shown.standard_errors
    assert_allclose(shown.high - shown.values, half)
    assert_allclose(shown.values - shown.low, half)
    assert (shown.standard_errors > 0).all()


def test_main_effects_one_by_one_and_together_have_the_same_band(model, data):
    why = cw.explain(model, data)
    for together in why.effects(confidence=0.8):
        alone = why.effect(together.columns[0], kind="component", confidence=0.8)
        assert_allclose(together.low, alone.low, rtol=1e-9)
        assert_allclose(together.standard_errors, alone.standard_errors, rtol=1e-9)


def test_a_partial_dependence_has_the_band_of_its_deviations(brute, model, data):
    shown = cw.effect(model, data, "x2", points=6, extrapolation=False)
    oracle = brute(model.parts_.spread.parts, data)
    rows = [np.array([0.0, 0.0, value, 0.0]) for value in shown.grid[0]]
    truth = [np.sqrt((oracle.value(x, (2,)) ** 2).sum()) for x in rows]
    assert_allclose(shown.standard_errors, truth, rtol=1e-9)
    assert (shown.band, shown.exact) == ("folds", True)
    assert "curves and a jackknife over folds (7 degrees of freedom)" in shown.summary


def test_independent_deviations_add_their_variances(hand_made, brute, model, data):
    """Bands then use Satterthwaite's degrees of freedom, between those of both."""
    first = with_spread(hand_made).spread
    second = with_spread(hand_made, freedom=np.inf, source="covariance").spread
    both = hand_made.Score(hand_made.parts(1, spread=replace(first, further=second)))
    alone = cw.effect(model, data, "x2", points=6, extrapolation=False)
    shown = cw.effect(both, data, "x2", points=6, extrapolation=False)
    assert_allclose(shown.standard_errors, np.sqrt(2) * alone.standard_errors, rtol=1e-9)
    half = stats.t.ppf(0.95, 4 * 7) * shown.standard_errors
    assert_allclose(shown.high - shown.values, half)
    assert shown.band_freedom == pytest.approx(28)
    whole = cw.effect(both, data, "x2", points=6, extrapolation=False, band="simultaneous")
    assert (whole.high - whole.low > shown.high - shown.low).all()
    values = cw.explain(both, data).values(data[:3], standard_errors=True)
    less = cw.explain(model, data).values(data[:3], standard_errors=True)
    assert_allclose(values.standard_errors, np.sqrt(2) * less.standard_errors, rtol=1e-9)


def test_values_that_the_user_names_have_the_same_band(model, data):
    usual = cw.effect(model, data, "x2", points=6, extrapolation=False)
    named = cw.effect(model, data, "x2", grid=list(usual.grid[0][1:4]), extrapolation=False)
    assert named.evaluations > 0
    assert_allclose(named.low, usual.low[1:4], rtol=1e-9)
    assert_allclose(named.high, usual.high[1:4], rtol=1e-9)


def test_a_simultaneous_band_covers_whole_curves(hand_made, data):
    """Curves drawn from the deviations lie within the band everywhere as often as it claims."""
    normal = hand_made.Score(with_spread(hand_made, freedom=np.inf, source="covariance"))
    why = cw.explain(normal, data)
    shown = why.effect("x0", kind="component", band="simultaneous", confidence=0.8, points=20)
    again = why.effect("x0", kind="component", band="simultaneous", confidence=0.8, points=20)
    pointwise = why.effect("x0", kind="component", confidence=0.8, points=20)
    assert_allclose(shown.low, again.low, rtol=0)
    assert (shown.is_simultaneous, shown.band) == (True, "covariance")
    assert (shown.high - shown.low > pointwise.high - pointwise.low).all()
    codes = why.rows().with_codes(
        np.column_stack([shown.grid[0], np.zeros((len(shown.grid[0]), 3))])
    )
    deviations = why.bound_spread().components(codes, [(0,)])[:, 0, 0]
    draws = np.random.default_rng(5).standard_normal((4000, COUNT)) @ deviations.T
    inside = (np.abs(draws) <= (shown.high - shown.values) + 1e-12).all(axis=1)
    assert abs(inside.mean() - 0.8) < 0.03


def test_few_degrees_of_freedom_widen_a_simultaneous_band():
    deviations = np.random.default_rng(0).normal(size=(30, 1, 5))
    wide, narrow = (
        half_widths(deviations, 0.9, freedom, simultaneous=True) for freedom in (3.0, np.inf)
    )
    assert (wide > 1.2 * narrow).all()


def test_one_deviation_makes_a_simultaneous_band_pointwise():
    """All points then move together."""
    deviations = np.linspace(-1, 2, 7).reshape(7, 1, 1)
    both = [half_widths(deviations, 0.9, np.inf, simultaneous=s) for s in (True, False)]
    assert_allclose(*both, rtol=0.02)


def test_on_the_scale_of_probabilities_the_band_goes_through_the_link(hand_made, data):
    model = hand_made.Classes(with_spread(hand_made, link="logistic"))
    margin = cw.effect(model, data, "x2", scale="margin", points=5, extrapolation=False)
    shown = cw.effect(model, data, "x2", points=5, extrapolation=False)
    assert (shown.unit, shown.band, shown.standard_errors) == ("probability", "folds", None)
    half = margin.high - margin.values
    for k, value in enumerate(shown.grid[0]):
        rows = data.copy()
        rows[:, 2] = value
        score = model.parts_(rows)[:, 0]
        assert_allclose(shown.low[k], expit(score - half[k]).mean(), rtol=1e-6)
        assert_allclose(shown.high[k], expit(score + half[k]).mean(), rtol=1e-6)
    assert ((shown.low >= 0) & (shown.high <= 1)).all()


def test_counts_have_a_band_on_their_own_scale(hand_made, data):
    model = hand_made.Score(with_spread(hand_made, link="log"))
    margin = cw.effect(model, data, "x2", scale="margin", points=5, extrapolation=False)
    shown = cw.effect(model, data, "x2", points=5, extrapolation=False)
    factor = np.exp(margin.high - margin.values)
    assert_allclose(shown.high, shown.values * factor, rtol=1e-9)
    assert_allclose(shown.low, shown.values / factor, rtol=1e-9)


def test_several_classes_have_their_own_band_before_the_link_only(hand_made, data):
    own = with_spread(hand_made, 3, link="softmax")
    model = hand_made.Classes(own, labels=("a", "b", "c"))
    margin = cw.effect(model, data, "x2", kind="component", points=5)
    assert margin.low.shape == margin.values.shape == (5, 3)
    shown = cw.effect(model, data, "x2", points=5, n_bootstrap=20, extrapolation=False)
    assert shown.band == "rows"
    with pytest.raises(InputError, match="own band is for its score before softmax"):
        cw.effect(model, data, "x2", band="model")


def test_a_centred_curve_keeps_the_width_of_its_band(model, data):
    plain = cw.effect(model, data, "x2", points=6, extrapolation=False)
    centred = cw.effect(model, data, "x2", points=6, centred=True, extrapolation=False)
    assert_allclose(centred.high - centred.low, plain.high - plain.low)
    assert_allclose(centred.values @ centred.shares, 0, atol=1e-9)


def test_bands_over_rows_and_no_bands_can_be_chosen(model, data):
    rows = cw.effect(model, data, "x2", points=6, band="rows", n_bootstrap=50, extrapolation=False)
    assert (rows.band, rows.standard_errors) == ("rows", None)
    for kind in ("pdp", "component"):
        none = cw.effect(model, data, "x2", kind=kind, n_bootstrap=0, extrapolation=False)
        assert (none.low, none.band) == (None, None)


def test_what_has_no_band_of_its_own_is_refused(hand_made, model, data):
    plain = hand_made.Score(hand_made.parts())
    for kind in ("pdp", "component"):
        with pytest.raises(InputError, match="is not known"):
            cw.effect(plain, data, "x2", kind=kind, band="model")
    with pytest.raises(InputError, match="partial dependence and for components"):
        cw.effect(model, data, "x2", kind="ale", band="simultaneous")
    with pytest.raises(InputError, match="'curve'"):
        cw.effect(model, data, "x2", band="curve")
    with pytest.raises(InputError, match="no band over rows"):
        cw.effect(model, data, "x2", kind="component", band="rows")


def test_the_band_is_part_of_frame_json_and_text(model, data):
    why = cw.explain(model, data)
    shown = why.effect("x0", kind="component", band="simultaneous")
    document = shown.to_json()
    assert (document["band"], document["simultaneous"]) == ("folds", True)
    assert {"low", "high", "standard error"} <= set(shown.to_frame("dict"))
    assert "90 % simultaneous band" in repr(shown)
    assert "bands           from the covariance of curves and a jackknife over folds" in repr(why)
    assert document["band_freedom"] == pytest.approx(7.0)
    assert why.to_json()["bands"] == {"source": "folds", "freedom": 7.0}
    spec = shown.plot().to_dict()
    assert "area" in str(spec)


def test_groups_of_columns_keep_the_spread(model, data):
    from clearwood.explanation.games.from_model import game_of
    from clearwood.explanation.games.groups import grouped

    game = grouped(game_of(model), {"pair": ["x0", "x3"]})
    assert game.spread.game.columns == game.columns == ("pair", "x1", "x2")
