"""PRIM: boxes that were planted, honest means, overlaps, categories, gaps, weights, bad input."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.models import equation
from clearwood.models.catalogue.prim.estimators import PrimClassifier, PrimPoisson, PrimRegressor
from clearwood.models.catalogue.prim.search import Hunt
from clearwood.models.shared.conditions import Rule


def planted(n=1500, seed=0, noise=0.3):
    """A box of a fifth of the rows in which the mean is 2, and 0 elsewhere."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    inside = (X[:, 0] > 0.6) & (X[:, 2] <= 0.5)
    return X, 2.0 * inside + noise * rng.normal(size=n), inside


def test_a_planted_box_is_found_with_its_mean():
    X, y, inside = planted()
    model = PrimRegressor(boxes=2).fit(X, y)
    assert len(model.rules_) == 1  # nothing is left outside
    rule = model.rules_[0]
    assert {0, 2} <= set(rule.conditions)
    assert np.mean(rule(X) == inside) > 0.95
    fact = model.facts_[0]
    assert 1.5 < fact["mean"] < 2.1  # the box may be a little too large
    assert model.outside_ < 0.2
    low = PrimRegressor(boxes=1, direction="low").fit(X, -y)
    assert np.mean(low.rules_[0](X) == inside) > 0.95


def test_means_of_noise_are_honest():
    """Where nothing is to be found, the search claims more than held-out rows show."""
    found, honest = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 5)), rng.normal(size=200)
        model = PrimRegressor(boxes=1, min_support=0.1, random_state=seed)
        finds, chooses, judges = model._parts(200)
        del chooses
        hunt = Hunt(X[finds], y[finds], np.ones(finds.sum()), np.zeros(5, np.int32), 0.05, 12.0)
        box = hunt.peel(Rule({}))[-1]
        found.append(y[finds & box(X)].mean())
        honest.append(y[judges & box(X)].mean())
        assert len(model.fit(X, y).rules_) <= 1
    assert np.mean(found) > 0.4
    assert np.nanmean(honest) == pytest.approx(0, abs=0.15)


def test_boxes_in_noise_are_rarely_kept():
    kept = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 5)), rng.normal(size=200)
        kept += len(PrimRegressor(boxes=1, random_state=seed).fit(X, y).rules_)
    assert kept <= 5  # 2 are expected, at the level 5 %


def test_each_peel_leaves_out_a_little_and_raises_the_mean_most():
    X, y, _ = planted(n=400)
    hunt = Hunt(X, y, np.ones(400), np.zeros(4, np.int32), 0.1, 40.0)
    boxes = hunt.peel(Rule({}))
    sizes = np.array([box(X).sum() for box in boxes])
    assert np.all(np.diff(sizes) < 0)
    assert np.all(sizes[1:] >= 0.88 * sizes[:-1])
    assert sizes[-1] >= 40
    means = [y[box(X)].mean() for box in boxes]
    # by brute force: the first peel is the best of eight
    tails = []
    for column in range(4):
        order = np.argsort(X[:, column])
        tails += [y[order[40:]].mean(), y[order[:-40]].mean()]
    assert means[1] == pytest.approx(max(tails))


def test_pasting_enlarges_a_box_only_where_its_mean_rises():
    X, y, _ = planted(n=600)
    hunt = Hunt(X, y, np.ones(600), np.zeros(4, np.int32), 0.05, 30.0)
    for box in hunt.peel(Rule({}))[5::5]:
        larger = hunt.paste(box)
        assert larger(X).sum() >= box(X).sum()
        assert y[larger(X)].mean() >= y[box(X)].mean()
        assert not np.any(box(X) & ~larger(X))


def test_predictions_are_the_mean_of_the_first_box_that_holds_a_row():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(3000, 2))
    y = 3.0 * (X[:, 0] > 0.7) + 2.0 * (X[:, 1] > 0.6) + 0.3 * rng.normal(size=3000)
    model = PrimRegressor(boxes=3).fit(X, y)
    assert len(model.rules_) == 3
    expected = np.full(3000, model.outside_)
    left = np.ones(3000, bool)
    for rule, fact in zip(model.rules_, model.facts_, strict=True):
        expected[rule(X) & left] = fact["mean"]
        left &= ~rule(X)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-9)
    assert model.outside_ == pytest.approx(y[left].mean())


def test_levels_and_gaps_are_sides_of_a_box():
    rng = np.random.default_rng(0)
    n = 1500
    code, x = rng.integers(0, 4, n).astype(float), rng.normal(size=n)
    gap = rng.random(n) < 0.3
    y = 2.0 * ((code == 2) | (code == 3)) * ~gap + 0.3 * rng.normal(size=n)
    X = np.column_stack([code, np.where(gap, np.nan, x)])
    model = PrimRegressor(boxes=1, categorical=(0,)).fit(X, y)
    inside = model.rules_[0](X)
    assert np.mean(inside == ((code >= 2) & ~gap)) > 0.9
    assert not model.rules_[0](np.array([[2.0, np.nan]]))[0]
    text = str(model.equation(["town", "x"], [["a", "b", "c", "d"], []]))
    assert "town is c or d" in text


def test_counts_and_classes_have_means_on_their_own_scale():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 3))
    counts = rng.poisson(np.where(X[:, 0] > 0.7, 4.0, 0.5))
    model = PrimPoisson(boxes=1).fit(X, counts)
    assert set(model.predict(X).round(6)) == {
        round(model.facts_[0]["mean"], 6),
        round(model.outside_, 6),
    }
    classes = np.where(rng.random(2000) < np.where(X[:, 0] > 0.7, 0.97, 0.05), "yes", "no")
    model = PrimClassifier(boxes=1).fit(X, classes)
    assert model.predict_proba(X)[:, 1].max() == pytest.approx(model.facts_[0]["mean"])
    sure = np.where(X[:, 0] > 0.7, "yes", "no")
    certain = PrimClassifier(boxes=1).fit(X, sure).predict_proba(X)
    assert np.isfinite(np.log(certain)).all()


@pytest.mark.parametrize("direction", ["high", "low"])
def test_a_box_that_holds_one_class_only_is_kept(direction):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    model = PrimClassifier(boxes=2, direction=direction).fit(x, np.where(x[:, 0] > 0, "b", "a"))
    assert len(model.rules_) == 1
    assert list(model.rules_[0].conditions) == [0]
    fact = model.facts_[0]
    assert fact["mean"] == pytest.approx(1 if direction == "high" else 0, abs=0.1)
    assert 0 < fact["error"] < 0.3  # a few rows that are all alike are no certainty
    ends = "to 1;" if direction == "high" else "90 % interval 0 to"
    assert ends in " ".join(str(model.equation()).split())


def test_whole_weights_count_rows_in_the_search():
    X, y, _ = planted(n=300)
    times = np.random.default_rng(1).integers(1, 4, 300)
    levels = np.zeros(4, np.int32)
    weighted = Hunt(X, y, times.astype(float), levels, 0.1, 50.0).peel(Rule({}))
    many = np.repeat(X, times, axis=0)
    repeated = Hunt(many, np.repeat(y, times), np.ones(len(many)), levels, 0.1, 50.0)
    ours = [(box(X) * times).sum() for box in weighted]
    assert ours == [box(many).sum() for box in repeated.peel(Rule({}))]


@pytest.mark.parametrize(
    "settings",
    [
        {"direction": "up"},
        {"boxes": 0},
        {"boxes": 99},
        {"alpha": 0.9},
        {"min_support": 0},
        {"held_out": 1.0},
    ],
)
def test_settings_that_mean_nothing_are_refused(settings):
    X, y, _ = planted(n=50)
    with pytest.raises(cw.InputError, match=next(iter(settings))):
        PrimRegressor(**settings).fit(X, y)


def test_few_rows_three_classes_and_a_constant_column():
    X, y, _ = planted(n=50)
    with pytest.raises(cw.InputError, match="10 are needed"):
        PrimRegressor().fit(X[:9], y[:9])
    with pytest.raises(cw.InputError, match="there are 3"):
        PrimClassifier().fit(X, np.arange(50) % 3)
    constant = PrimRegressor().fit(np.ones((50, 2)), y)
    assert constant.rules_ == []
    assert constant.predict([[1.0, 1.0]]).tolist() == [pytest.approx(y.mean())]
    assert str(constant.equation()).startswith("0 boxes")


def test_a_table_goes_through_fit_file_explanation_and_picture(tmp_path):
    data = cw.datasets.insurance(3000)
    model = cw.learner("prim").fit(data)
    cw.save(model, tmp_path / "model.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "model.cw").predict(data), model.predict(data))
    boxes = equation(model)
    assert len(boxes) >= 1
    assert boxes.plot().to_dict()["title"]["text"] == "Boxes of high mean"
    assert boxes.to_frame("dict")["support"][0] >= 0.02
    values = cw.explain(model, data.head(200)).shapley()
    assert not values.about.is_sampled
    raw = values.baseline + values.values.sum(axis=1)
    np.testing.assert_allclose(np.exp(raw), model.predict(data.head(200)), rtol=1e-9)


def test_the_text_fits_a_terminal_with_every_word_of_a_long_rule():
    X, y, *_ = planted()
    names = [f"a rather long name of the column with number {k}" for k in range(X.shape[1])]
    boxes = PrimRegressor(boxes=2).fit(X, y).equation(names)
    text = str(boxes)
    assert max(map(len, text.splitlines())) < 80
    assert boxes.rows[0].rule in " ".join(text.split())


def test_a_column_of_two_values_does_not_end_the_patience():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(size=600), rng.integers(0, 2, 600)])
    y = 4.0 * X[:, 0] + 1.0 * X[:, 1] + 0.1 * rng.normal(size=600)
    for levels in ([0, 0], [0, 2]):
        hunt = Hunt(X, y, np.ones(600), np.array(levels, np.int32), 0.05, 30.0)
        first = hunt.peel(Rule({}))[1]
        # half of the rows would raise the mean by 0.5, a twentieth by 0.1
        assert list(first.conditions) == [0]
        assert first(X).sum() > 0.9 * 600
