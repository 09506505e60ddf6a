import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from clearwood import InputError
from clearwood.datasets import load
from clearwood.table import Kind, Task


@pytest.mark.parametrize(
    ("name", "bunch", "task"),
    [
        ("diabetes", load_diabetes(scaled=False), Task.REGRESSION),
        ("breast_cancer", load_breast_cancer(), Task.BINARY),
        ("wine", load_wine(), Task.MULTICLASS),
    ],
)
def test_a_table_has_the_sources_features_in_order(name, bunch, task):
    table = load(name)
    assert table.features == tuple(bunch.feature_names)
    assert table.task is task
    for position, feature in enumerate(table.features):
        if not table[feature].is_coded:
            np.testing.assert_array_equal(table[feature].values, bunch.data[:, position])


def test_classes_are_called_by_their_names():
    bunch = load_breast_cancer()
    assert list(load("breast_cancer").y) == list(bunch.target_names[bunch.target])


def test_diabetes_is_in_units_a_reader_knows():
    table = load("diabetes")
    assert table["age"].values.min() == 19
    assert table["sex"].kind is Kind.CATEGORY
    np.testing.assert_array_equal(table.y, load_diabetes().target)


def test_an_unknown_table_error_offers_the_nearest():
    with pytest.raises(InputError, match=r"no table 'wines'.*'wine'"):
        load("wines")
