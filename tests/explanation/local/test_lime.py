"""LIME: linear truths, the choice of terms, instability said, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

import clearwood as cw
from clearwood.explanation.local.lime import chosen_terms, fit, moments_of
from clearwood.explanation.sampling.representation import representation_of
from clearwood.table import Column, Kind


@pytest.fixture(scope="module", name="X")
def _matrix():
    return np.random.default_rng(0).normal(size=(300, 5)) * [1, 10, 0.1, 1, 1] + 3


@pytest.mark.parametrize("select", ["forward", "lasso"])
def test_a_linear_model_is_found_again(X, select):
    slope = np.array([2.0, -0.5, 30.0, 0.0, 0.0])
    found = cw.lime(lambda X: X @ slope + 7, X, 3, n_features=3, select=select)
    assert set(found.terms) == {"x0", "x1", "x2"}
    for term, coefficient in zip(found.terms, found.coefficients, strict=True):
        assert coefficient == pytest.approx(slope[int(term[1])])
    assert found.r2 == pytest.approx(1.0)
    assert found.local_prediction == pytest.approx(found.prediction)
    assert found.stable.all()
    assert found.notes == ()


def test_weights_are_those_of_the_kernel_and_the_fit_is_least_squares(X):
    """Example 19 of Hiabu (2024), solved again with numpy alone."""

    def curved(X):
        return X[:, 0] ** 2 + X[:, 1]

    with pytest.warns(cw.ClearwoodWarning, match="sign"):
        found = cw.lime(
            curved, X, 0, kernel_width=1.3, n_features=5, n_samples=400, repeats=2, seed=9
        )
    columns = tuple(
        Column(f"x{k}", Kind.NUMBER, np.concatenate([X[:1, k], X[:, k]])) for k in range(5)
    )
    space = representation_of(columns)
    generator = np.random.default_rng(9)
    Z = np.concatenate([space.draw(400, generator).features for _ in range(2)])
    sd = X.std(axis=0)
    weight = np.exp(-(((Z - X[0]) / (1.3 * sd)) ** 2).sum(axis=1))
    design = np.column_stack([np.ones(len(Z)), Z - X[0]])
    root = np.sqrt(weight)[:, None]
    answer = np.linalg.lstsq(design * root, curved(Z) * root[:, 0], rcond=None)[0]
    at = [int(term[1]) for term in found.terms]
    assert_allclose(found.coefficients, answer[1:][at], rtol=1e-6, atol=1e-9)
    assert found.local_prediction == pytest.approx(answer[0])
    residual = curved(Z) - design @ answer
    centred = curved(Z) - np.average(curved(Z), weights=weight)
    r2 = 1 - (weight @ residual**2) / (weight @ centred**2)
    assert found.r2 == pytest.approx(r2)


def test_the_width_is_three_quarters_of_the_root_of_the_columns(X):
    found = cw.lime(lambda X: X[:, 0], X, 0)
    assert found.kernel_width == pytest.approx(0.75 * np.sqrt(5))


def test_forward_selection_takes_the_term_that_helps_most_each_time():
    generator = np.random.default_rng(1)
    Z = generator.normal(size=(500, 6))
    Z[:, 1] = Z[:, 0] + 0.1 * Z[:, 1]
    y = 3 * Z[:, 0] + Z[:, 2] + 0.1 * generator.normal(size=500)
    weights = generator.random(500)
    moments = moments_of(Z, y, weights)
    chosen = chosen_terms(moments, 2, "forward")

    def error(terms):
        design = np.column_stack([np.ones(500), Z[:, terms]]) * np.sqrt(weights)[:, None]
        return np.linalg.lstsq(design, y * np.sqrt(weights), rcond=None)[1][0]

    first = min(range(6), key=lambda k: error([k]))
    second = min((k for k in range(6) if k != first), key=lambda k: error([first, k]))
    assert chosen == [first, second]
    assert fit(moments, chosen).r2 == pytest.approx(
        1 - error(chosen) / (weights @ (y - np.average(y, weights=weights)) ** 2)
    )


def test_a_sign_that_turns_with_the_width_is_warned_of():
    """Far rows say the prediction falls, near ones that it rises."""
    X = np.random.default_rng(2).normal(size=(400, 1))

    def bump(X):
        return np.sin(4 * X[:, 0]) - 1.5 * X[:, 0]

    with pytest.warns(cw.ClearwoodWarning, match="sign of x0 changes with the kernel width"):
        found = cw.lime(bump, X, np.array([0.0]), kernel_width=1.0)
    assert not found.stable[0]
    assert "sign not stable" in repr(found)
    assert found.by_width[0, 0] > 0 > found.by_width[-1, 0]


def test_a_term_without_effect_is_not_stable_over_draws(X):
    with pytest.warns(cw.ClearwoodWarning, match="changes from draw to draw"):
        found = cw.lime(lambda X: np.sin(5 * X[:, 0]) * 3, X, 0, n_features=5)
    assert found.sign_agreement.min() < 0.9
    assert found.draws.shape == (10, 5)


def test_levels_and_gaps_and_dates_have_terms():
    pd = pytest.importorskip("pandas")
    generator = np.random.default_rng(3)
    n = 400
    frame = pd.DataFrame(
        {
            "town": generator.choice(["a", "b", "c"], n),
            "age": np.where(generator.random(n) < 0.2, np.nan, generator.normal(40, 10, n)),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 99, n), "D"),
        }
    )

    def model(rows):
        days = (rows["day"] - pd.Timestamp("2024-01-01")).dt.total_seconds() / 86400
        return (
            5.0 * (rows["town"] == "b") + rows["age"].fillna(10).to_numpy() + 0.5 * days.to_numpy()
        )

    found = cw.lime(
        model, frame, {"town": "a", "age": 41.0, "day": pd.Timestamp("2024-02-01")}, n_features=4
    )
    size = dict(zip(found.terms, found.coefficients, strict=True))
    assert size["town = b"] == pytest.approx(5.0, abs=0.2)
    assert size["age"] == pytest.approx(1.0, abs=0.05)
    assert size["day"] == pytest.approx(0.5, abs=0.05)
    assert size["age is missing"] == pytest.approx(10 - frame["age"].mean(), abs=1.0)


def test_ten_thousand_levels_share_a_term():
    generator = np.random.default_rng(4)
    codes = np.arange(10_000).astype(str)
    data = cw.read({"code": codes, "x": generator.normal(size=10_000)}, kinds={"code": "category"})
    found = cw.lime(lambda rows: np.asarray(rows["x"]) * 2, data, 5, repeats=2)
    assert any("rare levels share one term: code" in note for note in found.notes)
    assert found.coefficients[found.terms.index("x")] == pytest.approx(2.0, rel=1e-3)


def test_constant_columns_are_said_and_get_no_term():
    X = np.column_stack([np.random.default_rng(5).normal(size=100), np.ones(100)])
    found = cw.lime(lambda X: X[:, 0] * X[:, 1], X, 0)
    assert found.terms == ("x0",)
    assert "constant columns have no coefficient: x1" in found.notes


def test_classes_are_explained_by_the_one_predicted(X):
    y = np.where(X[:, 0] > 3, "yes", "no")
    model = LogisticRegression(max_iter=500).fit(X, y)
    high = int(np.argmax(X[:, 0]))
    found = cw.lime(model, X, high, n_features=1)
    assert (found.output, found.unit) == ("yes", "probability")
    other = cw.lime(model, X, high, n_features=1, output="no")
    assert_allclose(other.coefficients, -found.coefficients)
    margin = cw.lime(model, X, high, n_features=5, scale="margin")
    assert margin.r2 == pytest.approx(1.0)


def test_a_learner_is_explained_in_the_columns_of_the_user():
    data = cw.datasets.load("diabetes")
    model = cw.learner("ridge").fit(data)
    found = cw.lime(model, data, data.head(1), n_features=20)
    assert found.r2 == pytest.approx(1.0)
    assert "bmi" in found.terms


def test_it_can_be_kept_and_drawn(X):
    found = cw.lime(lambda X: X[:, 0] - X[:, 1], X, 0, n_features=2)
    frame = found.to_frame("dict")
    assert frame["term"] == list(found.terms)
    assert found.to_json()["r2"] == pytest.approx(1.0)
    assert "<table>" in found._repr_html_()
    for kind in ("draws", "widths"):
        figure = found.plot(kind).to_dict()
        assert "LIME" in figure["description"]
    with pytest.raises(cw.InputError, match="no figure 'bars'"):
        found.plot("bars")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel_width": 0}, "kernel_width=0"),
        ({"kernel_width": 1e-9}, "no drawn row is near"),
        ({"n_features": 0}, "n_features=0"),
        ({"select": "ridge"}, "select='ridge'"),
        ({"n_samples": 3}, "n_samples=3"),
        ({"repeats": 1}, "repeats=1"),
        ({"row": 1000}, "row=1000: the data has 300 rows"),
        ({"row": np.zeros((2, 5))}, "2 rows are given"),
        ({"row": np.zeros(4)}, "columns"),
        ({"output": "z"}, "no output 'z'"),
        ({"data": np.zeros((1, 5))}, "one row"),
    ],
)
def test_what_cannot_be_done_is_said(X, options, message):
    arguments = {"data": X, "row": 0, **options}
    data, row = arguments.pop("data"), arguments.pop("row")
    with pytest.raises(cw.InputError, match=message):
        cw.lime(lambda X: X[:, 0], data, row, **arguments)


def test_an_interrupted_run_gives_the_draws_that_are_done(X):
    calls = []

    def interrupted(X):
        calls.append(len(X))
        if len(X) == 2000 and calls.count(2000) > 4:
            raise KeyboardInterrupt
        return X[:, 0] - X[:, 1]

    with pytest.warns(cw.ClearwoodWarning, match="interrupted after 4 of 10 draws"):
        found = cw.lime(interrupted, X, 0, n_features=2)
    assert len(found.draws) == 4
    assert found.r2 == pytest.approx(1.0)


def test_a_time_limit_ends_the_draws_after_two(X):
    with pytest.warns(cw.ClearwoodWarning, match="was reached after 2 of 50 draws"):
        found = cw.lime(lambda X: X[:, 0], X, 0, repeats=50, time_limit=1e-9)
    assert found.draws.shape[0] == 2
