"""The network and the transformer as learners: categories, gaps, monotone columns, files."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood.models.catalogue.network import estimators
from clearwood.models.catalogue.network.estimators import NetworkRegressor, TransformerRegressor

pytest.importorskip("torch")

QUICK = {"epochs": 8, "units": 8}


def people(n=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(18, 80, n),
            "bmi": rng.normal(25, 4, n),
            "region": rng.choice(["north", "south", "east", "west"], n),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    frame["cost"] = frame["age"] / 10 + 3 * (frame["region"] == "north") + rng.normal(size=n)
    return frame


@pytest.fixture(scope="module")
def network():
    return cw.learner("network", **QUICK).fit(cw.read(people(), target="cost"))


def test_a_level_never_seen_has_the_mean_vector_of_the_others(network):
    vectors = network.estimator_.arrays_["embeddings.0.weight"]
    shares = people()["region"].value_counts(normalize=True).sort_index().to_numpy()
    np.testing.assert_allclose(vectors[-1], shares @ vectors[:-1], rtol=1e-5)


def test_missing_categories_learn_a_vector_of_their_own():
    frame = people()
    frame.loc[::2, "region"] = None
    frame["cost"] = np.where(frame["region"].isna(), 10.0, 0.0)
    data = cw.read(frame, target="cost", task="regression")
    model = cw.learner("network", epochs=60, units=8, learning_rate=0.03).fit(data)
    predicted = model.predict(frame)
    assert predicted[::2].mean() - predicted[1::2].mean() > 8


def test_gaps_in_numbers_are_filled_and_marked():
    frame = people()
    frame.loc[::2, "bmi"] = np.nan
    frame["cost"] = np.where(frame["bmi"].isna(), 10.0, 0.0)
    data = cw.read(frame, target="cost", task="regression")
    model = cw.learner("network", epochs=60, units=8, learning_rate=0.03).fit(data)
    assert "bmi:missing" in list(model.encoder_.get_feature_names_out())
    predicted = model.predict(frame)
    assert predicted[::2].mean() - predicted[1::2].mean() > 8


@given(st.integers(0, 2**31), st.sampled_from([0.1, 1.0, 30.0]))
@settings(max_examples=25, deadline=None)
def test_no_weights_whatever_break_a_constraint(seed, size):
    """The direction is a property of the architecture: training cannot lose it."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(20, 3)), rng.integers(0, 2, 20)])
    model = NetworkRegressor(epochs=1, units=8, monotone=[1, 0, -1, 0], categorical=[3], members=2)
    model.fit(X, rng.normal(size=20))
    model.arrays_ = {
        name: (size * rng.normal(size=array.shape)).astype(np.float32)
        for name, array in model.arrays_.items()
    }
    line = np.concatenate([[-1e9, -100.0], np.linspace(-4, 4, 60), [100.0, 1e9]])
    for column, direction in ((0, 1), (2, -1)):
        moved = np.repeat(X[:5], len(line), axis=0)
        moved[:, column] = np.tile(line, 5)
        steps = direction * np.diff(model.predict(moved).reshape(5, -1), axis=1)
        assert steps.min() >= -1e-12 * np.abs(model.predict(moved)).max()


def test_constrained_networks_bend_both_ways():
    """Convex units alone could not: the target rises fast, then slowly, then fast."""
    x = np.linspace(-2, 2, 300)
    y = x**3
    settings = {"epochs": 80, "learning_rate": 0.02, "batch_size": 32, "members": 1}
    model = NetworkRegressor(monotone=[1], **settings).fit(x[:, None], y)
    assert np.mean((model.predict(x[:, None]) - y) ** 2) < 0.02 * np.var(y)


def test_learners_that_cannot_keep_a_constraint_are_refused_by_name():
    with pytest.raises(cw.InputError, match=r"'transformer' cannot keep.*'network'"):
        cw.learner("transformer", monotone={"age": "up"})


def test_the_parts_of_a_column_make_one_token():
    frame = people()
    frame.loc[::5, "bmi"] = np.nan
    data = cw.read(frame, target="cost")
    model = cw.learner("transformer", epochs=1, width=8).fit(data)
    matrix = model.encoder_.transform(data)
    weights = model.estimator_.attention(matrix)
    assert matrix.shape[1] > 4
    assert weights.shape == (2, 4, 5, 5)  # age, bmi, region, day and the one for the prediction
    np.testing.assert_allclose(weights.sum(axis=-1), 1)


def test_predictions_do_not_depend_on_the_rows_beside_them(network):
    frame = people(40, seed=3)
    whole = network.predict(frame)
    alone = [network.predict(frame.iloc[[k]])[0] for k in range(5)]
    np.testing.assert_allclose(whole[:5], alone, rtol=1e-12)


def test_rows_are_predicted_in_blocks(monkeypatch, network):
    whole = network.predict(people())
    monkeypatch.setattr(estimators, "_CELLS_AT_ONCE", 7_000)
    np.testing.assert_allclose(network.predict(people()), whole, rtol=1e-12)


def test_a_constant_column_and_a_far_value_do_no_harm():
    X = np.column_stack([np.ones(50), np.arange(50.0)])
    X[0, 1] = 1e12
    model = NetworkRegressor(epochs=2).fit(X, np.arange(50.0))
    assert np.isfinite(model.predict([[1.0, 1e300], [7.0, 3.0]])).all()


def test_files_hold_plain_arrays_and_are_checked(tmp_path, network):
    path = tmp_path / "m.cw"
    cw.save(network, path)
    held = path.read_bytes()
    assert b"torch" not in held
    loaded = cw.load(path)
    assert loaded.estimator_.curve_["training"].shape == (8,)
    loaded.estimator_.arrays_["head.bias"] = np.zeros(7, np.float32)
    with pytest.raises(cw.InputError, match="do not fit together"):
        loaded.predict(people())


def test_a_width_that_heads_do_not_divide_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(cw.InputError, match=r"width=10 is not a multiple of heads=4.*width=8"):
        TransformerRegressor(width=10).fit(X, X[:, 0])
    with pytest.raises(cw.InputError, match="owners="):
        TransformerRegressor(owners=[0]).fit(X, X[:, 0])


def test_without_pytorch_the_error_has_the_install_command(monkeypatch, network):
    from clearwood.models.catalogue.network import torch_extra
    from clearwood.models.entries import entry

    for module in (entry, torch_extra):
        monkeypatch.setattr(module, "find_spec", lambda _: None)
    command = r"pip install 'clearwood\[networks\]'"
    X = np.zeros((20, 2))
    for name in ("network", "transformer", "cnn"):
        assert not hasattr(cw.learner(name, task="regression"), "predict_proba")
        assert hasattr(cw.learner(name, task="binary"), "predict_proba")
        with pytest.raises(cw.MissingExtraError, match=command):
            cw.learner(name).fit(X, np.arange(20.0))
    with pytest.raises(cw.MissingExtraError, match=command):
        network.predict(people())


def test_importing_clearwood_and_making_a_learner_imports_no_pytorch():
    code = """
import sys, clearwood as cw
cw.learner("network", task="binary"), hasattr(cw.learner("cnn", task="binary"), "predict_proba")
print("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
