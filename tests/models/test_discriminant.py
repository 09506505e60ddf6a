"""Regularised discriminant analysis and separating hyperplanes: limits, geometry, bad input."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

import clearwood as cw
from clearwood.models.catalogue.discriminant.estimators import (
    RegularisedDiscriminant,
    SeparatingHyperplane,
)
from clearwood.models.shared.folds import Folds


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_full_pooling_is_linear_discriminant_analysis(iris):
    X, y = iris
    ours = RegularisedDiscriminant(pooling=1, shrinkage=0).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    two = y < 2
    pair = RegularisedDiscriminant(pooling=1, shrinkage=0).fit(X[two], y[two])
    other = LinearDiscriminantAnalysis(solver="lsqr").fit(X[two], y[two])
    np.testing.assert_allclose(pair.decision_function(X), other.decision_function(X), rtol=1e-8)


def test_no_pooling_is_quadratic_discriminant_analysis(iris):
    X, y = iris
    ours = RegularisedDiscriminant(pooling=0, shrinkage=0).fit(X, y)
    # scikit-learn divides scatters by n - 1
    theirs = QuadraticDiscriminantAnalysis().fit(X, y)
    n = np.bincount(y)
    scale = (n - 1) / n
    for k in range(3):
        expected = np.cov(X[y == k].T) * scale[k]
        np.testing.assert_allclose(ours.covariances_[k], expected, atol=1e-12)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.98


def test_mixed_covariances_follow_friedman(iris):
    X, y = iris
    pooling, shrinkage = 0.3, 0.2
    model = RegularisedDiscriminant(pooling=pooling, shrinkage=shrinkage).fit(X, y)
    scatters = [np.cov(X[y == k].T) * 49 for k in range(3)]
    for k in range(3):
        mixed = (0.7 * scatters[k] + 0.3 * sum(scatters)) / (0.7 * 50 + 0.3 * 150)
        sphere = np.trace(mixed) / 4 * np.eye(4)
        np.testing.assert_allclose(model.covariances_[k], 0.8 * mixed + 0.2 * sphere, atol=1e-10)


def test_full_rank_changes_nothing_and_a_low_rank_keeps_the_best_plane():
    wine = cw.datasets.load("wine")
    whole = cw.learner("rda", pooling=1, shrinkage=0.0).fit(wine)
    full = cw.learner("rda", pooling=1, shrinkage=0.0, rank=2).fit(wine)
    np.testing.assert_allclose(full.predict_proba(wine), whole.predict_proba(wine), atol=1e-9)
    one = cw.learner("rda", pooling=1, shrinkage=0.0, rank=1).fit(wine)
    found = cw.explanation.discriminants(one, wine)
    # in one coordinate the score is a function of that coordinate alone
    odds = np.log(one.predict_proba(wine)[:, 1] / one.predict_proba(wine)[:, 0])
    line = np.polyfit(found.scores[:, 0], odds, 1)
    np.testing.assert_allclose(np.polyval(line, found.scores[:, 0]), odds, atol=1e-6)


def test_both_weights_are_chosen_by_held_out_rows(iris):
    X, y = iris
    model = RegularisedDiscriminant(pooling=None, shrinkage=None).fit(X, y)
    i, j = np.unravel_index(np.nanargmin(model.tried_["log_loss"]), (7, 6))
    assert model.pooling_ == model.tried_["pooling"][i]
    assert model.shrinkage_ == model.tried_["shrinkage"][j]
    loss = 0.0
    for train, test in Folds(5, stratify=True).split(X, y):
        settings = {"pooling": model.pooling_, "shrinkage": model.shrinkage_}
        one = RegularisedDiscriminant(**settings).fit(X[train], y[train])
        loss -= np.log(one.predict_proba(X[test])[np.arange(len(test)), y[test]]).sum()
    assert np.nanmin(model.tried_["log_loss"]) == pytest.approx(loss / len(y))
    fixed = RegularisedDiscriminant(pooling=model.pooling_, shrinkage=model.shrinkage_).fit(X, y)
    np.testing.assert_array_equal(fixed.predict_proba(X), model.predict_proba(X))
    alone = RegularisedDiscriminant(pooling=1, shrinkage=None).fit(X, y)
    assert alone.pooling_ == 1
    assert alone.tried_["log_loss"].shape == (1, 6)


def test_a_class_of_two_rows_is_pooled_and_a_class_of_one_cannot_be_held_out(iris):
    X, y = iris
    few = np.r_[0:50, 50:52]
    model = RegularisedDiscriminant(pooling=None, shrinkage=None).fit(X[few], y[few])
    assert np.isnan(model.tried_["log_loss"][0, 0])  # no covariance of two rows of their own
    assert np.isfinite(model.predict_proba(X)).all()
    with pytest.raises(cw.InputError, match="the rarest class has a single row"):
        RegularisedDiscriminant(pooling=None).fit(X[:51], y[:51])


@pytest.mark.parametrize("pooling", [0.2, 1])
def test_whole_weights_count_rows_as_repeated(iris, pooling):
    X, y = iris
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = RegularisedDiscriminant(pooling=pooling).fit(X, y, times)
    repeated = RegularisedDiscriminant(pooling=pooling).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_constant_columns_change_nothing_and_poor_classes_are_named(iris):
    X, y = iris
    wide = np.column_stack([X, np.ones(len(y))])
    # a sphere of one dimension more differs, so compare without one
    settings = {"pooling": 0.5, "shrinkage": 0.0}
    plain = RegularisedDiscriminant(**settings).fit(X, y).predict_proba(X)
    same = RegularisedDiscriminant(**settings).fit(wide, y).predict_proba(wide)
    np.testing.assert_allclose(same, plain, atol=1e-8)
    few = np.r_[0:50, 50:53]
    with pytest.raises(cw.InputError, match=r"3 rows .*pooling=0.5"):
        RegularisedDiscriminant(pooling=0, shrinkage=0).fit(X[few], y[few])
    for settings in ({"pooling": 2}, {"shrinkage": -0.1}, {"rank": 0, "pooling": 1}, {"rank": 2}):
        with pytest.raises(cw.InputError, match=next(iter(settings))):
            RegularisedDiscriminant(**settings).fit(X, y)


def test_the_hyperplane_has_the_widest_margin(iris):
    X, y = iris
    pair = y < 2
    model = SeparatingHyperplane().fit(X[pair], y[pair])
    side = np.where(y[pair] == 1, 1.0, -1.0)
    margins = side * model.decision_function(X[pair])
    assert margins.min() == pytest.approx(1, abs=1e-3)
    # the least squared length under the constraints, by a general solver
    solved = minimize(
        lambda b: 0.5 * b[:4] @ b[:4],
        np.append(model.coef_[0] * 1.5, model.intercept_ * 1.5),
        jac=lambda b: np.append(b[:4], 0.0),
        constraints={"type": "ineq", "fun": lambda b: side * (X[pair] @ b[:4] + b[4]) - 1},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert np.linalg.norm(model.coef_) == pytest.approx(np.linalg.norm(solved.x[:4]), rel=1e-3)


def test_classes_that_overlap_or_are_three_have_no_hyperplane(iris):
    X, y = iris
    with pytest.raises(cw.InputError, match="no hyperplane separates"):
        SeparatingHyperplane().fit(X[y > 0], y[y > 0])
    with pytest.raises(cw.InputError, match="two classes"):
        SeparatingHyperplane().fit(X, y)


def table(n=90, seed=0):
    """Two classes apart in x, with a category, a gap and a column of noise."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    frame = {
        "x": kind * 8 + rng.normal(size=n),
        "noise": np.where(np.arange(n) == 5, np.nan, rng.normal(size=n)),
        "place": rng.choice(["north", "south"], n),
        "class": np.where(kind, "b", "a"),
    }
    return cw.read(frame, target="class")


@pytest.mark.parametrize("name", ["rda", "hyperplane"])
def test_a_table_goes_through_fit_file_and_explanation(name, tmp_path):
    data = table()
    settings = {"pooling": 1} if name == "rda" else {}
    model = cw.learner(name, **settings).fit(data)
    cw.save(model, tmp_path / "model.cw")
    assert (cw.load(tmp_path / "model.cw").predict(data) == model.predict(data)).all()
    importance = cw.explain(model, data).importance()
    assert importance.columns[int(np.argmax(importance.values))] == "x"


def test_quadratic_boundaries_are_explained_by_sampling():
    data = table()
    model = cw.learner("rda").fit(data)
    values = cw.explain(model, data).importance()
    assert values.columns[int(np.argmax(values.values))] == "x"


def test_a_hyperplane_for_classes_that_overlap_is_refused_without_a_long_search():
    rng = np.random.default_rng(0)
    X = (rng.uniform(size=(600, 40)) < 0.3).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=600) > 0.6).astype(int)
    with pytest.raises(
        cw.InputError, match=r"no hyperplane separates the classes: .*\d+ rows of 600"
    ):
        SeparatingHyperplane().fit(X, y)
    with pytest.raises(cw.InputError, match=r"the best has [12] rows? of 4"):
        SeparatingHyperplane().fit([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("rda", {"pooling": "half"}),
        ("rda", {"pooling": 1, "rank": "two"}),
        ("stagewise", {"epsilon": "small"}),
        ("local", {"bandwidth": "wide"}),
        ("local", {"across": "all"}),
        ("prim", {"boxes": "two"}),
        ("prim", {"alpha": "little"}),
        ("prim", {"pasting": "no"}),
    ],
)
def test_settings_of_the_wrong_type_are_refused_by_name(name, setting):
    data = cw.datasets.load("wine" if name == "rda" else "diabetes")
    with pytest.raises(cw.InputError, match=f"^{list(setting)[-1]}='"):
        cw.learner(name, **setting).fit(data)


@pytest.mark.parametrize("option", [{"folds": "ten"}, {"folds": 2.5}, {"seed": -1}])
def test_a_path_refuses_folds_and_seeds_that_are_not_whole(option):
    data = cw.datasets.load("diabetes")
    model = cw.learner("ridge").fit(data)
    with pytest.raises(cw.InputError, match=next(iter(option))):
        cw.explanation.path(model, data, **option)


def test_a_class_with_one_row_has_no_covariance_of_its_own_and_counts_in_the_common_one():
    X, y = load_iris(return_X_y=True)
    X, y = X[:101], np.array(["a", "b", "c"])[y[:101]]
    with pytest.raises(cw.InputError, match=r"single row.*take learner 'rda' or 'lda'"):
        cw.learner("qda").fit(X, y)
    # warnings are errors here
    model = cw.learner("lda").fit(X, y)
    assert model.predict(X[100:]) == ["c"]
