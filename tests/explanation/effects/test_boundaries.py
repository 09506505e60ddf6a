"""Decision boundaries and discriminant coordinates: what the model predicts, laws, bad input."""

import numpy as np
import pytest

import clearwood as cw


def table(n=120, seed=0, *, weighted=False):
    """Two classes by x and place, with gaps and a name in need of escaping."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    place = rng.choice(["north", "south"], n, p=[0.7, 0.3])
    frame = {
        "x": x,
        "<z>": np.where(rng.random(n) < 0.1, np.nan, z),
        "place": place,
        "when": np.datetime64("2024-01-01") + rng.integers(0, 300, n),
        "class": np.where(x + 2 * (place == "south") + 0.3 * rng.normal(size=n) > 0, "b", "a"),
    }
    if not weighted:
        return cw.read(frame, target="class")
    frame["w"] = np.where(place == "south", 10.0, 0.1)
    return cw.read(frame, target="class", weight="w")


def test_classes_of_the_grid_are_those_of_the_model():
    data = table()
    model = cw.learner("logistic").fit(data)
    found = cw.explanation.boundaries(model, data, ["x", "<z>"], points=7)
    assert found.held["place"] == "north"
    frame = {name: np.repeat(column[:1], 49) for name, column in data.to_frame("dict").items()}
    first, second = np.meshgrid(found.x, found.y)
    when = np.sort(data.column("when").values)
    values, counts = np.unique(when, return_counts=True)
    frame |= {"x": first.ravel(), "<z>": second.ravel(), "place": np.full(49, "north")}
    frame["when"] = np.full(49, values[np.argmax(counts)])
    del frame["class"]
    expected = model.predict(frame)
    labels = np.array(found.classes)[found.predicted.ravel()]
    assert labels.tolist() == expected.tolist()
    assert found.certainty.min() >= 0.5
    assert found.shares().sum() == pytest.approx(1)


def test_columns_are_held_where_the_user_wants_and_by_weight():
    data = table()
    model = cw.learner("logistic").fit(data)
    north = cw.explanation.boundaries(model, data, ["x", "<z>"], points=5)
    south = cw.explanation.boundaries(model, data, ["x", "<z>"], points=5, at={"place": "south"})
    assert south.shares()[1] > north.shares()[1]
    heavy = table(weighted=True)
    weighted = cw.explanation.boundaries(
        cw.learner("logistic").fit(heavy), heavy, ["x", "<z>"], points=5
    )
    assert weighted.held["place"] == "south"


def test_models_without_probabilities_and_rows_without_classes_are_drawn():
    data = table()
    model = cw.learner("perceptron").fit(data)
    frame = {k: v for k, v in data.to_frame("dict").items() if k != "class"}
    found = cw.explanation.boundaries(model, frame, ["x", "<z>"], points=4)
    assert np.isnan(found.certainty).all()
    assert (found.rows[:, 2] == -1).all()
    assert found.plot().to_dict()["title"]["text"].startswith("Decision boundaries")
    drawn = cw.explanation.boundaries(model, data, ["x", "<z>"], points=4).plot().to_dict()
    assert len(drawn["layer"]) == 2
    assert len(found.to_frame("dict")["class"]) == 16
    assert "held: place north" in repr(found)


@pytest.mark.parametrize(
    ("columns", "options", "named"),
    [
        (["x", "place"], {}, "holds no numbers"),
        (["x", "zz"], {}, "no column 'zz'"),
        (["x", "x"], {}, "two different columns"),
        ("x", {}, "two different columns"),
        (["x", "<z>"], {"at": {"x": 1}}, "varies"),
        (["x", "<z>"], {"at": {"place": "soth"}}, "south"),
        (["x", "<z>"], {"at": {"plce": "south"}}, "place"),
        (["x", "<z>"], {"points": 1}, "points"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(columns, options, named):
    data = table()
    model = cw.learner("logistic").fit(data)
    with pytest.raises(cw.InputError, match=named):
        cw.explanation.boundaries(model, data, columns, **options)


def test_numbers_have_no_boundaries():
    data = cw.datasets.load("diabetes")
    with pytest.raises(cw.InputError, match="predicts classes"):
        cw.explanation.boundaries(cw.learner("ridge").fit(data), data, ["bmi", "bp"])


@pytest.mark.parametrize("name", ["lda", "rda"])
def test_discriminant_coordinates_are_white_within_classes(name):
    wine = cw.datasets.load("wine")
    settings = {"shrinkage": 0.0} | ({"pooling": 1} if name == "rda" else {})
    found = cw.explanation.discriminants(cw.learner(name, **settings).fit(wine), wine)
    assert found.directions.shape == (13, 2)
    inside = found.scores - found.means[found.truth]
    covariance = inside.T @ inside / len(inside)
    np.testing.assert_allclose(covariance, np.eye(2), atol=1e-6)
    between = (found.scores - found.scores.mean(axis=0)).var(axis=0) - 1
    np.testing.assert_allclose(between / between.sum(), found.shares, atol=1e-6)
    np.testing.assert_array_equal(found.truth, found.predicted)  # wine is separable


def test_rows_without_classes_and_two_classes_have_pictures():
    data = table()
    model = cw.learner("lda").fit(data)
    frame = {k: v for k, v in data.to_frame("dict").items() if k != "class"}
    found = cw.explanation.discriminants(model, frame)
    assert (found.truth == -1).all()
    assert found.directions.shape[1] == 1
    assert found.plot().to_dict()["height"] == 320
    assert "&lt;z&gt;" in found._repr_html_()
    with pytest.raises(cw.InputError, match="no common covariance"):
        cw.explanation.discriminants(cw.learner("rda").fit(data), data)
    with pytest.raises(cw.InputError, match="'tree'"):
        cw.explanation.discriminants(cw.learner("tree").fit(data), data)


def test_years_that_are_held_keep_their_digits():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 60))
    data = cw.read(
        {"a": a, "b": b, "year": np.repeat([2007, 2008, 2008], 20), "y": a > b}, target="y"
    )
    found = cw.explanation.boundaries(cw.learner("lda").fit(data), data, columns=("a", "b"))
    assert found.held["year"] == "2008"
