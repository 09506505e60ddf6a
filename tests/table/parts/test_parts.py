"""Tables whose rows stay where they are."""

import pickle
import tracemalloc

import numpy as np
import pytest

import clearwood as cw
from clearwood.table import Parts


def made(start, stop):
    i = np.arange(start, stop)
    return {
        "x": np.sin(i * 1.7),
        "town": np.array(["Bern", "Chur", "Lund"])[i % 3],
        "flag": i % 2,
        "rooms": (i * 7) % 11,
        "y": np.cos(i * 0.9) + i % 3,
    }


def same(one, other):
    assert one.schema == other.schema
    for a, b in zip(one.columns, other.columns, strict=True):
        assert (a.name, a.kind, a.levels, a.label_type) == (b.name, b.kind, b.levels, b.label_type)
        np.testing.assert_array_equal(a.values, b.values)


def test_rows_of_a_function_are_those_of_the_one_table():
    parts = Parts.of(made, 5000, part_rows=1300, target="y")
    same(parts.to_table(), cw.read(made(0, 5000), target="y"))


@pytest.mark.parametrize("rows", [1, 7, 1300, 10**6])
def test_batches_hold_all_rows_in_order(rows):
    parts = Parts.of(made, 300, part_rows=130, target="y")
    values = np.concatenate([batch["x"].values for batch in parts.batches(rows)])
    np.testing.assert_array_equal(values, made(0, 300)["x"])


def test_a_sample_depends_on_the_seed_and_not_on_the_parts():
    one, other = (Parts.of(made, 5000, part_rows=n, target="y") for n in (900, 5000))
    same(one.sample(100, seed=3), other.sample(100, seed=3))
    assert one.sample(100, seed=4).fingerprint() != one.sample(100, seed=3).fingerprint()
    assert one.sample(10**6).n_rows == 5000


def test_a_part_can_be_sent_to_another_process():
    parts = Parts.of(made, 5000, part_rows=1300, target="y")
    sent = pickle.loads(pickle.dumps(parts.parts[2]))
    same(sent.table(), parts.parts[2].table())


@pytest.mark.parametrize("name", ["y", "X", "columns", "weights", "take"])
def test_what_needs_all_rows_says_what_to_do(name):
    parts = Parts.of(made, 5000, target="y")
    with pytest.raises(cw.InputError, match=r"data\.sample\(200_000\).*cw\.read"):
        getattr(parts, name)


def test_a_function_that_makes_too_few_rows_is_refused():
    with pytest.raises(cw.InputError, match="made 3 rows where rows 0 to 10"):
        Parts.of(lambda start, stop: {"x": [1, 2, 3]}, 10)


def test_memory_does_not_grow_with_the_rows():
    peaks = []
    for n in (150_000, 600_000):
        tracemalloc.start()
        parts = Parts.of(lambda start, stop: {"x": np.arange(start, stop) % 1009 / 7}, n)
        assert sum(batch.n_rows for batch in parts.batches()) == n
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
