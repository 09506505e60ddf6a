"""Subset selection and stagewise regression: brute force, statsmodels, laws and bad input."""

import itertools

import numpy as np
import pytest
import statsmodels.api as sm

import clearwood as cw
from clearwood.models.catalogue.linear.stepwise import StagewiseRegressor
from clearwood.models.catalogue.linear.subset import SubsetRegressor


def problem(n=60, p=8, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    y = mixed @ np.where(np.arange(p) % 3 == 0, rng.normal(size=p), 0.0)
    return mixed, y + noise * rng.normal(size=n), rng


def rss_of(X, y, columns, weight=None):
    root = np.sqrt(np.ones(len(y)) if weight is None else weight)
    design = np.column_stack([np.ones(len(y)), X[:, list(columns)]]) * root[:, None]
    beta, *_ = np.linalg.lstsq(design, y * root, rcond=None)
    return float(((y * root - design @ beta) ** 2).sum())


@pytest.mark.parametrize("seed", range(6))
def test_best_subsets_are_those_of_an_exhaustive_search(seed):
    X, y, rng = problem(seed=seed)
    weight = rng.uniform(0.2, 3, len(y))
    weight /= weight.mean()
    path = SubsetRegressor().fit(X, y, weight).path_
    for size in range(9):
        sums = {c: rss_of(X, y, c, weight) for c in itertools.combinations(range(8), size)}
        least = min(sums, key=sums.get)
        assert tuple(np.flatnonzero(path["members"][size])) == least
        assert path["rss"][size] == pytest.approx(sums[least], rel=1e-10)


def test_best_subsets_of_groups_are_those_of_an_exhaustive_search():
    X, y, _ = problem(p=12, seed=3)
    groups = (0, 1, 1, 1, 2, 3, 3, 4, 5, 5, 6, 6)
    path = SubsetRegressor(groups=groups).fit(X, y).path_
    for size in range(8):
        least = min(
            itertools.combinations(range(7), size),
            key=lambda c: rss_of(X, y, np.flatnonzero(np.isin(groups, c))),
        )
        assert tuple(np.flatnonzero(path["members"][size])) == least


def test_groups_need_not_stand_side_by_side():
    X, y, _ = problem(p=6)
    order = [3, 0, 5, 1, 4, 2]
    groups = np.array([0, 0, 1, 1, 2, 3])
    plain = SubsetRegressor(groups=tuple(groups), size=2).fit(X, y)
    mixed = SubsetRegressor(groups=tuple(groups[order]), size=2).fit(X[:, order], y)
    np.testing.assert_allclose(mixed.coef_, plain.coef_[order], atol=1e-12)


def test_forward_adds_the_best_and_backward_drops_the_least():
    X, y, _ = problem(seed=2)
    ahead = SubsetRegressor(search="forward").fit(X, y).path_["members"]
    back = SubsetRegressor(search="backward").fit(X, y).path_["members"]
    for size in range(8):
        held = np.flatnonzero(ahead[size])
        added = min(set(range(8)) - set(held), key=lambda j: rss_of(X, y, [*held, j]))
        assert set(np.flatnonzero(ahead[size + 1])) == {*held, added}
        full = np.flatnonzero(back[size + 1])
        dropped = min(full, key=lambda j: rss_of(X, y, [k for k in full if k != j]))
        assert set(np.flatnonzero(back[size])) == set(full) - {dropped}


def test_criteria_differ_as_those_of_statsmodels():
    X, y, _ = problem(seed=1)
    path = SubsetRegressor().fit(X, y).path_
    fits = [sm.OLS(y, sm.add_constant(X[:, held])).fit() for held in path["members"][1:]]
    for ours, name in (("aic", "aic"), ("bic", "bic")):
        theirs = np.array([getattr(fit, name) for fit in fits])
        np.testing.assert_allclose(np.diff(path[ours][1:]), np.diff(theirs), atol=1e-9)
    np.testing.assert_allclose(path["adjusted_r2"][1:], [fit.rsquared_adj for fit in fits])
    # the largest model has a Cp of its number of parameters
    assert path["cp"][-1] == pytest.approx(9)


def test_the_diabetes_table_has_its_known_subsets():
    data = cw.datasets.load("diabetes")
    five = cw.learner("subset").fit(data)
    chosen = [
        one.source
        for one, b in zip(five.encoder_.columns_, five.estimator_.coef_, strict=True)
        if b
    ]
    assert chosen == ["sex", "bmi", "bp", "s3", "s5"]  # the least BIC of all 1,024


def test_the_choice_follows_the_criterion():
    X, y, _ = problem(n=200, p=10, seed=4)
    sizes = {}
    for criterion in ("bic", "aic", "cp", "cv", "cv-1se"):
        model = SubsetRegressor(criterion=criterion).fit(X, y)
        name = "cv" if criterion == "cv-1se" else criterion
        if criterion != "cv-1se":
            assert model.chosen_ == int(np.argmin(model.path_[name]))
        sizes[criterion] = model.chosen_
    assert sizes["bic"] <= sizes["aic"]
    assert sizes["cv-1se"] <= sizes["cv"]
    assert SubsetRegressor(size=3).fit(X, y).chosen_ == 3
    assert SubsetRegressor(size=0).fit(X, y).coef_.tolist() == [0.0] * 10


@pytest.mark.parametrize("search", ["best", "forward", "backward"])
def test_whole_weights_count_rows_as_repeated(search):
    X, y, rng = problem(n=40)
    times = rng.integers(0, 4, 40)
    weighted = SubsetRegressor(search=search).fit(X, y, times.astype(float))
    repeated = SubsetRegressor(search=search).fit(np.repeat(X, times, 0), np.repeat(y, times))
    assert weighted.chosen_ == repeated.chosen_
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)


def test_the_unit_of_weights_does_not_matter():
    X, y, rng = problem(n=60)
    weight = rng.uniform(0.5, 2, 60)
    one, other = (SubsetRegressor().fit(X, y, scale * weight) for scale in (1.0, 1e-4))
    assert one.chosen_ == other.chosen_
    np.testing.assert_allclose(one.path_["bic"], other.path_["bic"])


def test_constant_and_dependent_columns_are_left_out():
    X, y, _ = problem(p=4)
    wide = np.column_stack([X, X[:, 0], np.ones(len(y)), X[:, 1] + X[:, 2]])
    model = SubsetRegressor(size=4).fit(wide, y)
    assert model.predict(wide) == pytest.approx(SubsetRegressor(size=4).fit(X, y).predict(X))
    only = SubsetRegressor().fit(np.ones((5, 2)), np.arange(5.0))
    assert only.predict(np.ones((1, 2))).tolist() == [2.0]


def test_a_search_that_ends_early_says_so():
    X, y, _ = problem(n=200, p=30)
    with pytest.warns(cw.ClearwoodWarning, match="better ones may exist"):
        model = SubsetRegressor(max_nodes=5).fit(X, y)
    assert not model.is_complete_
    assert SubsetRegressor().fit(X, y).is_complete_


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"search": "bets"}, "best"),
        ({"criterion": "BIC"}, "bic"),
        ({"size": -1}, "size"),
        ({"size": 2.5}, "size"),
        ({"max_nodes": 0}, "max_nodes"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, named):
    X, y, _ = problem()
    with pytest.raises(cw.InputError, match=named):
        SubsetRegressor(**settings).fit(X, y)


def test_more_columns_than_rows_need_a_forward_search():
    X, y, _ = problem(n=20, p=30)
    with pytest.raises(cw.InputError, match="search='forward'"):
        SubsetRegressor().fit(X, y)
    with pytest.raises(cw.InputError, match="criterion='cv'"):
        SubsetRegressor(search="forward", criterion="cp").fit(X, y)
    model = SubsetRegressor(search="forward", criterion="cv").fit(X, y)
    assert model.chosen_ < 19
    many = np.random.default_rng(0).normal(size=(300, 70))
    with pytest.raises(cw.InputError, match="64 columns at most"):
        SubsetRegressor().fit(many, many[:, 0])


def table(n=300, seed=0):
    """Rows with a category, gaps and weights."""
    rng = np.random.default_rng(seed)
    place = rng.choice(["north", "south", "west"], n)
    x = rng.normal(size=n)
    y = 2.0 * (place == "south") + x + 0.5 * rng.normal(size=n)
    frame = {
        "place": place,
        "x": np.where(rng.random(n) < 0.1, np.nan, x),
        "noise": rng.normal(size=n),
        "w": rng.uniform(0.5, 2, n),
        "y": y,
    }
    return cw.read(frame, target="y", weight="w")


@pytest.mark.parametrize("name", ["subset", "stagewise"])
def test_a_table_goes_through_fit_file_and_explanation(name, tmp_path):
    data = table()
    model = cw.learner(name).fit(data)
    cw.save(model, tmp_path / "model.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "model.cw").predict(data), model.predict(data))
    why = cw.explain(model, data)
    values = why.shapley()
    assert values.baseline + values.values.sum(axis=1) == pytest.approx(model.predict(data))
    importance = why.importance()
    assert importance.columns[int(np.argmin(importance.values))] == "noise"


def test_a_category_enters_with_all_its_levels():
    model = cw.learner("subset").fit(table())
    places = [one.source == "place" for one in model.encoder_.columns_]
    assert sum(places) == 2
    assert np.all(model.estimator_.coef_[places] != 0)
    assert model.estimator_.chosen_ == 2


def test_small_steps_end_near_least_squares_and_start_like_the_lasso():
    X, y, _ = problem(n=200, p=6)
    ends = StagewiseRegressor(epsilon=1e-3, steps=50_000, max_steps=50_000).fit(X, y)
    full = np.linalg.lstsq(np.column_stack([np.ones(200), X]), y, rcond=None)[0][1:]
    np.testing.assert_allclose(ends.coef_, full, atol=0.02 * np.abs(full).max() + 0.02)
    assert np.all(np.diff(ends.path_["rss"]) < 0)
    first = StagewiseRegressor(epsilon=0.01, steps=1).fit(X, y)
    assert np.count_nonzero(first.coef_) == 1
    centred = X - X.mean(axis=0)
    strongest = np.argmax(np.abs(centred.T @ (y - y.mean())) / centred.std(axis=0))
    assert first.coef_[strongest] != 0
    assert np.abs(first.coef_[strongest]) * X[:, strongest].std() == pytest.approx(0.01 * y.std())


def test_stagewise_chooses_its_number_of_steps_and_refuses_odd_settings():
    X, y, rng = problem(n=80, p=6, noise=4.0)
    model = StagewiseRegressor().fit(X, y, rng.uniform(0.5, 2, 80))
    assert model.chosen_ == int(np.argmin(model.path_["cv"]))
    assert model.steps_ == model.path_["steps"][model.chosen_]
    constant = StagewiseRegressor().fit(np.ones((10, 2)), np.arange(10.0))
    assert constant.predict(np.ones((1, 2))) == pytest.approx(4.5)
    for settings in ({"epsilon": 0}, {"steps": 0}, {"max_steps": 1.5}):
        with pytest.raises(cw.InputError, match=next(iter(settings))):
            StagewiseRegressor(**settings).fit(X, y)


@pytest.mark.parametrize("name", ["subset", "stagewise", "local"])
def test_a_target_whose_squares_are_infinite_is_refused(name):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    data = cw.read({"x": x, "y": (x + rng.normal(size=40)) * 1e300}, target="y")
    with pytest.raises(cw.InputError, match="the target is too large: its squares are infinite"):
        cw.learner(name).fit(data)
