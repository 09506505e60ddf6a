"""Events for each parameter of a model."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.checks import events


def columns():
    rng = np.random.default_rng(0)
    return {
        **{f"x{j}": rng.normal(size=600) for j in range(5)},
        "years": rng.uniform(0.1, 1, 600),
        "town": np.array(list("abcd"))[np.arange(600) % 4],
    }


def test_rows_of_the_rarest_class_are_events_and_levels_but_one_parameters():
    y = np.where(np.arange(600) < 44, "yes", "no")
    found = events(cw.read({**columns(), "y": y}, target="y"))
    assert (found.n_events, found.n_rows, found.n_parameters) == (44, 600, 6 + 3)
    assert (found.target, found.task, found.rarest) == ("y", cw.table.Task.BINARY, "yes")
    assert found.per_parameter == 44 / 9
    assert found.are_few
    assert "44 events (y = yes)" in found.text
    assert "4.89 for each of 9 parameters" in found.text


def test_what_is_counted_is_events_with_an_exposure_too():
    claims = np.arange(600) % 7 == 0
    data = {**columns(), "claims": 2 * claims}
    for exposure in (None, "years"):
        found = events(cw.read(data, target="claims", task="count", exposure=exposure))
        assert found.n_events == 2 * claims.sum()
        assert found.what == "claims"


def test_rows_with_an_amount_are_events():
    paid = np.where(np.arange(600) < 150, 10.0 + np.arange(600), 0.0)
    found = events(cw.read({**columns(), "paid": paid}, target="paid", task="amount"))
    assert found.n_events == 150
    assert not found.are_few


def test_numbers_have_no_events():
    assert events(cw.read({**columns(), "y": columns()["x0"] ** 2}, target="y")) is None


def test_rows_of_weight_zero_do_not_count():
    y = np.where(np.arange(600) < 300, "yes", "no")
    weight = np.where(np.arange(600) < 100, 0, 1)
    found = events(cw.read({**columns(), "w": weight, "y": y}, target="y", weight="w"))
    assert (found.n_rows, found.n_events) == (500, 200)


def test_a_table_without_a_target_is_refused():
    with pytest.raises(cw.InputError, match="no target"):
        events(cw.read(columns()))
