import pytest

import clearwood as cw


@pytest.fixture(scope="session")
def diabetes():
    return cw.datasets.load("diabetes")


@pytest.fixture(scope="session")
def wine():
    return cw.datasets.load("wine")
