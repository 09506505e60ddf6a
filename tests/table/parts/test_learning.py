"""An encoding learned from a table in parts is that of the one table."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood.table import Encoder, learn_encoder
from clearwood.table.encoding.weighted import median
from clearwood.table.parts import learning

numbers = st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0])
rows = st.lists(st.tuples(numbers, st.integers(1, 3)), min_size=1, max_size=30)


@given(rows, st.integers(1, 4), st.booleans(), st.sampled_from([1, 1 << 20]))
@settings(max_examples=60, deadline=None)
def test_the_median_over_batches_is_the_median_to_the_bit(drawn, n_batches, is_weighted, at_once):
    values = np.array([value for value, _ in drawn])
    weight = np.array([float(w) for _, w in drawn]) if is_weighted else None
    middle = learning._Middle()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "_AT_ONCE", at_once)
        while True:
            for some in np.array_split(np.arange(len(values)), n_batches):
                share = None if weight is None else weight[some]
                middle.add(learning._keys_of_floats(values[some]), share)
            if not middle.end_reading():
                break
    found = learning._floats_of_keys(middle.values)
    assert median(found, None if weight is None else np.ones(2)) == median(values, weight)


def frame(n=400):
    rng = np.random.default_rng(0)
    day = (np.datetime64("2024-01-01") + rng.integers(0, 300, n)).astype("datetime64[us]")
    day[rng.random(n) < 0.1] = np.datetime64("NaT")
    grade = pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], True)
    return pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(size=n)),
            "whole": rng.integers(0, 9, n),
            "huge": rng.normal(size=n) * 1e200,
            "town": rng.choice(["Bern", "Chur", "Lund", None], n, p=[0.2, 0.5, 0.2, 0.1]),
            "flag": rng.choice([True, False, None], n, p=[0.3, 0.6, 0.1]),
            "grade": grade,
            "day": day,
            "w": rng.integers(0, 3, n).astype(float),
            "y": rng.normal(size=n),
        }
    )


@pytest.mark.parametrize("missing", ["impute", "native"])
@pytest.mark.parametrize("categories", ["onehot", "ordinal", "native"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_all_that_is_learned_is_that_of_the_table(missing, categories, weight):
    data = frame()
    roles = {"target": "y", "weight": weight, "kinds": {"grade": ["low", "mid", "high"]}}
    roles["ignore"] = [] if weight else ["w"]
    table = cw.read(data, **roles)
    parts = cw.scan([data[:150], data[150:150], data[150:]], **roles)
    ways = {"categories": categories, "missing": missing, "reference": True}
    one = Encoder(**ways).fit(table.select(list(table.features)), sample_weight=table.weights)
    other = learn_encoder(Encoder(**ways), parts)
    (values, arrays), (same_values, same_arrays) = one.state(), other.state()
    assert same_values == values
    assert all(np.array_equal(arrays[k], same_arrays[k], equal_nan=True) for k in arrays)
    scaled = Encoder(**ways, scale=True)
    matrix = scaled.fit_transform(table, sample_weight=table.weights)
    again = learn_encoder(Encoder(**ways, scale=True), parts).transform(table)
    np.testing.assert_allclose(again, matrix, rtol=1e-11, atol=1e-11)
