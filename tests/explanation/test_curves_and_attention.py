"""Training curves and attention: what they hold, how they read, what they refuse."""

import numpy as np
import pytest

import clearwood as cw

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    rows = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": X[:, 0] + rng.normal(size=120)}
    return cw.read(rows, target="y")


@pytest.fixture(scope="module")
def transformer(data):
    settings = {"epochs": 3, "width": 8, "heads": 2, "early_stopping": True}
    return cw.learner("transformer", **settings).fit(data)


def test_a_training_curve_has_a_line_for_every_epoch(transformer):
    curve = cw.explanation.training_curve(transformer)
    table = curve.to_frame("dict")
    assert table["epoch"] == [1, 2, 3]
    assert curve.n_held_out == 18
    assert curve.best == np.argmin(curve.validation) + 1
    text = repr(curve)
    assert f"{curve.best} *" in text
    assert "18 rows held out" in text
    assert max(map(len, text.splitlines())) <= 80
    drawn = curve.plot().to_dict()
    points = [layer for layer in drawn["layer"] if "color" in layer["encoding"]]
    assert len(points[0]["data"]["values"]) == 6


def test_without_rows_held_out_the_curve_says_so(data):
    model = cw.learner("network", epochs=2, units=4).fit(data)
    curve = cw.explanation.training_curve(model)
    assert np.isnan(curve.validation).all()
    assert "does not show overfitting" in curve.notes[0]
    assert "mean score of 4 networks" in curve.notes[1]
    assert "–" in repr(curve)
    assert "held-out rows" not in str(curve.plot().to_dict())
    assert curve.to_json()["validation"] == [None, None]


def test_attention_is_a_share_of_the_columns_with_a_warning(transformer, data):
    result = cw.explanation.attention(transformer, data)
    assert result.columns == ("a", "b", "c")
    np.testing.assert_allclose(result.matrix.sum(axis=1), 1)
    assert "not an explanation" in repr(result)
    assert "not an explanation" in result._repr_html_()
    assert result.to_json()["notes"] == list(result.notes)
    assert set(result.to_frame("dict")) == {"column", "attention", "layer 1", "layer 2"}
    drawn = result.plot().to_dict()
    assert any("not an explanation" in line for line in drawn["title"]["subtitle"])
    assert len(drawn["data"]["values"]) == 4 * 3


def test_attention_of_rows_is_the_mean_of_each_of_them(transformer, data):
    each = [cw.explanation.attention(transformer, data.take([k])).weights for k in range(4)]
    whole = cw.explanation.attention(transformer, data.take(np.arange(4))).weights
    np.testing.assert_allclose(np.mean(each, axis=0), whole, atol=1e-12)


@pytest.mark.parametrize(
    "verb", [cw.explanation.training_curve, lambda model: cw.explanation.attention(model, [[1.0]])]
)
def test_models_without_them_are_refused(verb):
    with pytest.raises(cw.InputError, match=r"'ridge' has no .*'transformer'"):
        verb(cw.learner("ridge").fit(cw.datasets.load("diabetes")))
