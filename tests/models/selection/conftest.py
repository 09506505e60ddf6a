"""Candidates for methods of selection, from plain arrays."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.models.selection.candidates import candidates
from clearwood.table import Task


@pytest.fixture
def candidates_of():
    """Make candidates of columns by name."""

    def make(columns, target, *, weight=None, task=Task.REGRESSION, seed=0):
        return candidates(cw.read(columns), np.asarray(target), weight, task, seed)

    return make
