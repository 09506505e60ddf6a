"""What every unit of a run shares."""

import sys

import clearwood as cw
from clearwood.benchmarking.fitting.work import Context


def test_its_size_is_that_of_its_table():
    # Dask sends objects of more than a kilobyte once; an object that hides its size is sent with
    # every task.
    data = cw.datasets.load("diabetes")
    context = Context(data, data.y, None, None, {}, None, 0)
    assert sys.getsizeof(context) >= sum(column.values.nbytes for column in data.columns)
