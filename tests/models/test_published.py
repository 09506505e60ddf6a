"""Linear learners and discriminants beside published tables and beside R, on the same rows."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import clearwood as cw
from clearwood.models.catalogue.discriminant.estimators import RegularisedDiscriminant
from clearwood.models.catalogue.neighbours.local import LocalRegressor

HITTERS = Path(__file__).parents[3] / "shared" / "data" / "hitters.csv"
BASE = {"League": "A", "Division": "E", "NewLeague": "A"}


@pytest.fixture(scope="module")
def hitters():
    if not HITTERS.exists():
        pytest.skip("the Hitters table is not part of the project")
    return cw.read(HITTERS, target="Salary")


def table_of(model, data):
    """Return the coefficients that are not zero, with a letter for the level as R writes them."""
    found = cw.coefficients(model, data, base=BASE)
    pairs = zip(found.names(), found.values.tolist(), strict=True)
    return {name.replace(" = ", ""): value for name, value in pairs if value}


def test_best_subsets_of_hitters_are_those_of_the_book(hitters):
    """James, Witten, Hastie and Tibshirani (2013), section 6.5.1: regsubsets(Salary ~ .)."""
    model = cw.learner("subset").fit(hitters)
    path = cw.explanation.path(model, hitters)
    members = [path.members(size) for size in range(1, 9)]
    assert [tuple(name.partition("=")[0] for name in one) for one in members] == [
        ("CRBI",),
        ("Hits", "CRBI"),
        ("Hits", "CRBI", "PutOuts"),
        ("Hits", "CRBI", "Division", "PutOuts"),
        ("AtBat", "Hits", "CRBI", "Division", "PutOuts"),
        ("AtBat", "Hits", "Walks", "CRBI", "Division", "PutOuts"),
        ("Hits", "Walks", "CAtBat", "CHits", "CHmRun", "Division", "PutOuts"),
        ("AtBat", "Hits", "Walks", "CHmRun", "CRuns", "CWalks", "Division", "PutOuts"),
    ]
    r2 = [0.3214501, 0.4252237, 0.4514294, 0.4754067, 0.4908036, 0.5087146, 0.5141227, 0.5285569]
    np.testing.assert_allclose(path.r2[1:9], r2, atol=5e-8)
    assert path.r2[19] == pytest.approx(0.5461159, abs=5e-8)
    cp = [104.28, 50.72, 38.69, 27.86, 21.61, 14.02, 13.13, 7.40, 6.16, 5.01]
    assert path.cp[1:11].round(2).tolist() == cp
    chosen = np.argmin(path.bic), np.argmin(path.cp), np.argmax(path.adjusted_r2)
    assert chosen == (6, 10, 11)
    assert model.estimator_.chosen_ == 6


@pytest.mark.parametrize(
    ("search", "size", "expected"),
    [
        (
            "best",
            6,
            {
                "constant": 91.5117981,
                "AtBat": -1.8685892,
                "Hits": 7.6043976,
                "Walks": 3.6976468,
                "CRBI": 0.6430169,
                "DivisionW": -122.9515338,
                "PutOuts": 0.2643076,
            },
        ),
        (
            "best",
            7,
            {
                "constant": 79.4509472,
                "Hits": 1.2833513,
                "Walks": 3.2274264,
                "CAtBat": -0.3752350,
                "CHits": 1.4957073,
                "CHmRun": 1.4420538,
                "DivisionW": -129.9866432,
                "PutOuts": 0.2366813,
            },
        ),
        (
            "forward",
            7,
            {
                "constant": 109.7873062,
                "AtBat": -1.9588851,
                "Hits": 7.4498772,
                "Walks": 4.9131401,
                "CWalks": -0.3053070,
                "CRBI": 0.8537622,
                "DivisionW": -127.1223928,
                "PutOuts": 0.2533404,
            },
        ),
        (
            "backward",
            7,
            {
                "constant": 105.6487488,
                "AtBat": -1.9762838,
                "Hits": 6.7574914,
                "Walks": 6.0558691,
                "CRuns": 1.1293095,
                "CWalks": -0.7163346,
                "DivisionW": -116.1692169,
                "PutOuts": 0.3028847,
            },
        ),
    ],
)
def test_coefficients_of_hitters_are_those_of_the_book(hitters, search, size, expected):
    """The same section: coef(regfit, 6), coef(regfit.fwd, 7), coef(regfit.bwd, 7)."""
    model = cw.learner("subset", search=search, size=size).fit(hitters)
    assert table_of(model, hitters) == pytest.approx(expected, abs=5e-8, rel=2e-7)


@pytest.mark.parametrize(
    ("name", "columns", "target"),
    [
        ("pcr", [38.31, 60.16, 70.84, 79.03, 84.29, 88.63], [40.63, 41.58, 42.17, 43.22, 44.90]),
        ("pls", [38.08, 51.03], [43.05, 46.40]),
    ],
)
def test_components_of_hitters_explain_what_the_book_says(hitters, name, columns, target):
    """Section 6.7: the shares of variance in summary(pcr.fit) and summary(pls.fit).

    R scales indicators like numbers, so levels are read as the numbers 0 and 1 here.
    """
    frame = hitters.to_frame()
    for column, level in BASE.items():
        frame[column] = (frame[column] != level).astype(float)
    scaled = cw.read(frame, target="Salary", kinds=dict.fromkeys(BASE, "number"))
    found = cw.explanation.path(cw.learner(name).fit(scaled), scaled, folds=0)
    assert (100 * found.held_variance).round(2)[: len(columns)].tolist() == columns
    assert (100 * found.r2).round(2)[: len(target)].tolist() == target


@pytest.fixture(scope="module")
def diabetes():
    """The diabetes table of scikit-learn with sex as a number, as R scales it."""
    frame = cw.datasets.load("diabetes").to_frame()
    frame["sex"] = (frame["sex"].astype(str) == "2").astype(float)
    return cw.read(frame, target="target", kinds={"sex": "number"})


def test_subsets_of_diabetes_are_those_of_leaps(diabetes):
    """R 4.2.2, leaps 3.1: summary(regsubsets(target ~ ., d, nvmax=10, method=...))."""
    members = {
        "best": "sex bmi bp s3 s5",
        "forward": "sex bmi bp s1 s5",
        "backward": "sex bmi bp s1 s5",
    }
    rss = [1719581.81077, 1416694.01396, 1362708.69371, 1331431.40356, 0.0, 1271493.99729]
    rss += [1267807.81206, 1264714.57987, 1264068.09639, 1263985.78563]
    fifth = {"best": 1287881.15540, "forward": 1310870.85483, "backward": 1310870.85483}
    for search, expected in members.items():
        path = cw.explanation.path(cw.learner("subset", search=search).fit(diabetes), diabetes)
        assert " ".join(path.members(5)) == expected
        rss[4] = fifth[search]
        np.testing.assert_allclose(path.rss[1:], rss, rtol=1e-11)
    path = cw.explanation.path(cw.learner("subset").fit(diabetes), diabetes)
    cp = [148.35134102571, 47.07119190374, 30.66301572600, 21.99793372577, 9.14795900752]
    np.testing.assert_allclose(path.cp[1:6], cp, rtol=1e-10)
    # leaps measures BIC from the constant alone, and counts the constant as no parameter there
    bic = [-174.110778945, -253.659236497, -264.740330514, -268.912171674, -277.520126065]
    steps = np.diff(bic)
    np.testing.assert_allclose(np.diff(path.bic[1:6]), steps, rtol=1e-9)
    assert path.adjusted_r2[8] == pytest.approx(0.508555266370, rel=1e-11)


@pytest.mark.parametrize(
    ("name", "r2"),
    [
        ("pcr", [0.308422309261, 0.345955082853, 0.372070730463, 0.500307440651, 0.500377753184]),
        ("pls", [0.406360055699, 0.508324480630, 0.513412773636, 0.514098758138, 0.514250754811]),
    ],
)
def test_components_of_diabetes_are_those_of_pls(diabetes, name, r2):
    """R package pls 2.8: R2(pcr(target ~ ., data=d, scale=TRUE), estimate="train"); plsr alike."""
    found = cw.explanation.path(cw.learner(name).fit(diabetes), diabetes, folds=0)
    np.testing.assert_allclose(found.r2[:5], r2, rtol=1e-9)
    assert found.r2[9] == pytest.approx(0.517748422220, rel=1e-11)


def test_ridge_of_diabetes_is_that_of_mass(diabetes):
    """R package MASS 7.3: coef(lm.ridge(target ~ ., d, lambda=50))."""
    found = cw.coefficients(cw.learner("ridge", alpha=50.0).fit(diabetes), diabetes)
    theirs = [-242.312264444, 0.00817440730704, -19.42072171112, 5.22903665705, 1.030613761401]
    theirs += [-0.1047788843849, -0.1158882467388, -0.698434561618, 4.29477099729]
    np.testing.assert_allclose(found.values, [*theirs, 39.8020360020, 0.366330735489], rtol=1e-9)


def test_the_lasso_of_diabetes_is_that_of_glmnet(diabetes):
    """R package glmnet 4.1: coef(glmnet(x, y, lambda=5, thresh=1e-16)); the target has sd 77.0."""
    model = cw.learner("lasso", alpha=5 / 77.0057458695).fit(diabetes)
    found = cw.coefficients(model, diabetes)
    theirs = [-223.104419989, 0.0, -4.31949009, 5.487192753, 0.7478122229, 0.0, 0.0]
    theirs += [-0.5439189595, 0.0, 40.68471401, 0.0]
    np.testing.assert_allclose(found.values, theirs, rtol=2e-3)
    assert (found.values != 0).tolist() == [value != 0 for value in theirs]


@pytest.mark.parametrize(
    ("settings", "rows", "posterior"),
    [
        # predict(lda(y ~ ., iris, method="mle"))$posterior
        (
            {"pooling": 1},
            [70, 77, 133],
            [
                [0.2490773339527, 0.750922666047],
                [0.6926839366862, 0.307316063314],
                [0.7333635677090, 0.266636432291],
            ],
        ),
        # predict(lda(...), dimen=1)$posterior
        (
            {"pooling": 1, "rank": 1},
            [70, 83, 133],
            [
                [0.5878244550626, 0.412175544937],
                [0.0570412502432, 0.942958749757],
                [0.4885335795745, 0.511466420426],
            ],
        ),
        # predict(qda(y ~ ., iris, method="mle"))$posterior
        (
            {"pooling": 0},
            [70, 77, 133],
            [
                [0.32845133430092, 0.671548665699],
                [0.86306163945357, 0.136938360546],
                [0.60228798163611, 0.397712018364],
            ],
        ),
    ],
)
def test_posteriors_of_iris_are_those_of_mass(settings, rows, posterior):
    """R package MASS 7.3, for the second and third species; the first has none of these rows."""
    X, y = load_iris(return_X_y=True)
    model = RegularisedDiscriminant(shrinkage=0, **settings).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[rows][:, 1:], posterior, rtol=1e-9)


def test_local_fits_of_diabetes_are_those_of_locfit(diabetes):
    """R package locfit 1.5-9.7, whose normal kernel of h has the standard deviation h / 2.5.

    fitted(locfit(target ~ lp(bmi, deg=1, h=5), data=d, kern="gauss", ev=dat())), its trace
    (what="infl") and gcv(...).
    """
    x = diabetes.column("bmi").values[:, None].astype(float)
    theirs = {
        0: [198.586158616, 109.891370865, 189.198642577, 137.989966324, 118.727519937],
        1: [204.656330374, 103.457945650, 192.307264465, 139.620727058, 114.485275537],
    }
    for degree, fitted in theirs.items():
        model = LocalRegressor(degree=degree, bandwidth=2 / x.std()).fit(x, diabetes.y)
        np.testing.assert_allclose(model.predict(x[:5]), fitted, rtol=1e-7)
    assert model.freedom_ == pytest.approx(6.54678518156, rel=1e-7)
    assert model.loo_ == pytest.approx(3950.6432708, rel=1e-7)
    settings = {"bandwidth": 2 / x.std(), "criterion": "gcv"}
    assert LocalRegressor(**settings).fit(x, diabetes.y).loo_ == pytest.approx(3947.30699713)
