"""The section on a neural network: training, gradients that add up, attention with its warning."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.reporting import Chart, Choice, Note, Prose

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x, kind = rng.normal(size=120), rng.choice(["a", "b"], 120)
    x[::9] = np.nan
    y = np.nan_to_num(x) + (kind == "b") + 0.1 * rng.normal(size=120)
    rows = {"x": x, "kind": kind, "w": rng.integers(0, 3, 120), "y": y}
    return cw.read(rows, target="y", weight="w")


def section_of(model, data, **options):
    page = cw.report(model, data, quick=True, sections=["network"], **options)
    return page.sections[0] if page.sections else None


def texts(section):
    return " ".join(t for b in section.blocks if isinstance(b, Prose) for t in b.paragraphs)


def test_a_transformer_has_its_training_gradients_and_attention_with_a_warning(data):
    settings = {"epochs": 3, "width": 8, "heads": 2, "early_stopping": True}
    model = cw.learner("transformer", **settings).fit(data)
    section = section_of(model, data)
    assert section.title == "Inside the network"
    curve = cw.explanation.training_curve(model)
    assert f"{curve.n_held_out} rows of the training rows were held out" in texts(section)
    assert "The values add to the prediction." in texts(section)
    notes = [block for block in section.blocks if isinstance(block, Note)]
    assert [(note.title, note.tone) for note in notes] == [
        ("Attention is not an explanation", "caution")
    ]
    charts = [block.name for block in section.blocks if isinstance(block, Chart)]
    assert charts == ["training", "attention"]
    (choice,) = (block for block in section.blocks if isinstance(block, Choice))
    predictions = model.predict(data)
    rows = [int(label.split()[1].rstrip(",")) for label, _ in choice.options]
    assert predictions[rows[0]] == predictions.min()
    assert predictions[rows[2]] == predictions.max()
    _, (figure, check) = choice.options[2]
    added = sum(row["adds"] for row in figure.spec["data"]["values"])
    gap = predictions[rows[2]] - cw.explanation.integrated_gradients(model, data, rows[2]).baseline
    assert added == pytest.approx(gap, rel=1e-4)
    assert check.paragraphs[0].startswith("Completeness: the values sum to")


def test_a_page_without_rows_has_the_training_alone(data):
    model = cw.learner("network", epochs=2, units=4).fit(data)
    section = section_of(model, data, rows=0)
    assert [block.name for block in section.blocks if isinstance(block, Chart)] == ["training"]
    assert not any(isinstance(block, Choice) for block in section.blocks)
    assert "does not show overfitting" in texts(section)
    assert "the mean score of 4 networks" in texts(section)


def test_other_models_have_no_such_section(data):
    assert section_of(cw.learner("ols").fit(data), data) is None


def test_the_cells_of_a_grid_are_drawn_in_their_places():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    model = cw.learner("cnn", grid=(2, 3), epochs=2, units=4).fit(X, X[:, 0])
    result = cw.explanation.integrated_gradients(model, X, 0)
    cells = result.plot().to_dict()["data"]["values"]
    assert [(cell["row"], cell["column"]) for cell in cells] == [
        (row, column) for row in (1, 2) for column in (1, 2, 3)
    ]
    np.testing.assert_allclose([cell["adds"] for cell in cells], result.values)
    section = section_of(model, X)
    assert any(isinstance(block, Choice) for block in section.blocks)
