import numpy as np
import pytest

from clearwood import InputError
from clearwood.datasets import credit, credit_probability, credit_truth
from clearwood.table import read


def test_the_same_seed_gives_the_same_loans_and_another_different_ones():
    first, again, other = credit(300, 3), credit(300, 3), credit(300, 4)
    assert all(np.array_equal(first[n].values, again[n].values) for n in first.names)
    assert not np.array_equal(first["income"].values, other["income"].values)


def test_reading_the_values_finds_the_same_kinds_and_task():
    loans = credit(2000)
    labels = {column.name: list(column.labels()) for column in loans}
    again = read(labels, target="default", protected="gender")
    assert [c.kind for c in again] == [c.kind for c in loans]
    assert (again.task, again.features) == (loans.task, loans.features)


def test_the_true_probability_matches_the_defaults_in_every_part_of_the_book():
    loans = credit(100_000, seed=1)
    error = (loans.y == "yes") - credit_probability(loans)
    parts = [
        np.ones(len(error), bool),
        loans["gender"].values == 1,
        *(loans["employment"].values == code for code in range(3)),
        (loans["arrears"].values > 0) & (loans["debt_ratio"].values > 0.5),
        loans["age"].values < 25,
        loans["term"].values == 60,
    ]
    for part in parts:
        assert abs(error[part].mean()) < 4 * error[part].std() / np.sqrt(part.sum())


def test_gender_acts_through_income_alone():
    truth = credit_truth()
    assert "gender" not in truth.parents("default")
    assert truth.graph.d_separated("gender", "default", given=["income", "age", "employment"])


def test_gaps_leave_the_other_cells_and_the_target_as_they_are():
    whole, gappy = credit(1000, 2), credit(1000, 2, missing=0.1)
    assert gappy.missing["default"] == 0
    assert 60 < gappy.missing["income"] < 140
    there = ~np.isnan(gappy["income"].values)
    assert np.array_equal(gappy["income"].values[there], whole["income"].values[there])
    with pytest.raises(InputError, match="missing"):
        credit(10, missing=1.0)
