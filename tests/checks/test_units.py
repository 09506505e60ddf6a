"""Keys of repeated units, and columns that identify them together."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.checks import repeated_units


def visits(seed=0, *, correlation=0.4, key="number", target="number"):
    """Two or four rows of each of 300 patients, in no order; no feature is theirs but the key."""
    rng = np.random.default_rng([5, seed])
    patient = np.repeat(np.arange(300), rng.choice([2, 4], 300))
    n = len(patient)
    x = rng.normal(size=(n, 3))
    own = rng.normal(size=300)[patient]
    y = 0.3 * x[:, 0] + np.sqrt(correlation) * own + rng.normal(size=n) * np.sqrt(1 - correlation)
    columns = {f"x{j}": x[:, j] for j in range(3)}
    if key == "number":
        columns["patient"] = rng.permutation(300)[patient] + 1000
    elif key == "text":
        columns["patient"] = np.array([f"patient {k}" for k in patient], dtype=object)
    elif key == "together":
        columns["born"] = rng.integers(1940, 2000, 300)[patient]
        columns["sex"] = np.array(["f", "m"])[rng.integers(0, 2, 300)][patient]
        columns["town"] = np.array([f"town {k}" for k in rng.integers(0, 40, 300)])[patient]
    if target == "class":
        y = np.where(y > 0.5, "yes", "no")
    order = rng.permutation(n)
    rows = {name: values[order] for name, values in columns.items()}
    return cw.read({**rows, "y": y[order]}, target="y")


@pytest.mark.parametrize("key", ["number", "text"])
@pytest.mark.parametrize("target", ["number", "class"])
@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_a_key_is_found(key, target):
    found = repeated_units(visits(key=key, target=target))
    assert found.agree
    assert found.columns == ("patient",)
    assert (found.n_units, found.largest) == (300, 4)
    if target == "number":
        assert found.agreement == pytest.approx(0.4, abs=0.12)


def test_columns_that_identify_patients_together_are_found():
    found = repeated_units(visits(key="together"))
    assert found.agree
    assert set(found.columns) == {"born", "sex", "town"}


def test_a_key_without_anything_in_common_raises_no_alarm():
    found = repeated_units(visits(correlation=0.0))
    assert not found.agree
    assert found.columns == ()


def test_rounded_numbers_with_a_smooth_effect_are_no_key():
    """Rows with the same income are alike, and just as much like those with the next income."""
    rng = np.random.default_rng(1)
    income = np.round(rng.gamma(4, 10, 1500), 1)
    data = {"income": income, "x": rng.normal(size=1500)}
    y = np.log(income + 1) * 2 + rng.normal(size=1500)
    assert not repeated_units(cw.read({**data, "y": y}, target="y")).agree


def test_levels_of_a_category_are_no_units():
    rng = np.random.default_rng(2)
    region = rng.integers(0, 25, 1500)
    y = rng.normal(size=25)[region] + rng.normal(size=1500)
    names = np.array([f"region {k}" for k in region], dtype=object)
    assert not repeated_units(cw.read({"region": names, "y": y}, target="y")).agree


def test_independent_tables_raise_few_alarms():
    alarms = 0
    for seed in range(30):
        rng = np.random.default_rng([6, seed])
        x = rng.normal(size=(400, 4))
        data = {f"x{j}": np.round(x[:, j], 1) for j in range(4)}
        code = np.array([f"c{k}" for k in rng.integers(0, 120, 400)], dtype=object)
        y = x[:, 0] + 0.5 * x[:, 1] + rng.normal(size=400)
        alarms += repeated_units(cw.read({**data, "code": code, "y": y}, target="y")).agree
    assert alarms <= 1
