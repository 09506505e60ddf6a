"""`clearwood explain training`, `gradients`, `attention`: networks from the command line."""

from pathlib import Path

import numpy as np
import pytest

import clearwood as cw
from clearwood.table import read_as

pytest.importorskip("torch")

QUICK = ("--set", "epochs=2", "--set", "width=8", "--set", "layers=1")


def test_a_network_is_fitted_and_looked_into(cli, claims):
    fit = ("fit", claims, "--target", "accidents", "-l", "transformer", "-o", "m.cw")
    assert cli(*fit, *QUICK).code == 0
    answer = cli("explain", "training", "m.cw", "-o", "curve.csv")
    assert answer.code == 0, answer.err
    assert "Training of transformer" in answer.out
    assert Path("curve.csv").read_text().startswith("epoch,training,validation")
    answer = cli("explain", "gradients", "m.cw", claims, "--row", 3, "--json")
    assert answer.code == 0, answer.err
    model = cw.load("m.cw")
    expected = cw.explanation.integrated_gradients(model, read_as(claims, model.schema_), 3)
    np.testing.assert_allclose(answer.json["values"], expected.values)
    answer = cli("explain", "attention", "m.cw", claims)
    assert answer.code == 0, answer.err
    assert "attention is not an explanation" in answer.out


def test_models_that_are_no_networks_are_refused(cli, refused, claims):
    assert cli("fit", claims, "--target", "accidents", "-l", "ols", "-o", "m.cw").code == 0
    assert "has no training curve" in refused("explain", "training", "m.cw")
    assert "has no gradients" in refused("explain", "gradients", "m.cw", claims)
    assert "has no attention" in refused("explain", "attention", "m.cw", claims)


def test_a_grid_is_typed_with_its_numbers(cli, refused, claims):
    fit = ("fit", claims, "--target", "accidents", "-l", "cnn", "-o", "m.cw")
    assert "'region' is not a number" in refused(*fit, "--set", "grid=2x2")
