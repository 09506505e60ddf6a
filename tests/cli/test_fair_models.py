"""Verbs take a file of a fair model, and rows without the protected column."""

import json

import numpy as np
import pytest

import clearwood as cw


@pytest.fixture(scope="module")
def policies():
    return cw.datasets.insurance(400, seed=1)


@pytest.fixture
def fair(policies, tmp_path):
    made = cw.fair(cw.learner("glm").fit(policies), policies)
    cw.save(made, tmp_path / "fair.cw")
    policies.to_frame("pandas").drop(columns="gender").to_csv(tmp_path / "rows.csv", index=False)
    return made


def test_predictions_need_no_protected_column(cli, fair, policies, tmp_path):
    result = cli("predict", tmp_path / "fair.cw", tmp_path / "rows.csv", "--json")
    assert result.code == 0, result
    predicted = json.loads(result.out)["predictions"]
    values = next(iter(predicted.values()))
    np.testing.assert_allclose(values, fair.predict(policies), rtol=1e-12)


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "fair.cw"),
        ("evaluate", "fair.cw", "rows.csv"),
        ("explain", "effect", "fair.cw", "rows.csv", "mileage"),
        ("explain", "importance", "fair.cw", "rows.csv"),
    ],
    ids=" ".join,
)
def test_other_verbs_take_the_file(cli, fair, tmp_path, words):
    result = cli(*(tmp_path / word if "." in word else word for word in words))
    assert result.code == 0, result
    assert "gender" not in result.out or words[0] == "inspect"
