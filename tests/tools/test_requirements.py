"""What `make test` installs beside Clearwood is what Clearwood's extras ask for."""

import runpy
from importlib.metadata import requires
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "requirements.py"


@pytest.fixture
def listed():
    return runpy.run_path(str(SCRIPT))["requirements"]


def names(requirements):
    return {one.split(";")[0].replace(" ", "") for one in requirements}


def test_without_extras_it_is_what_everybody_gets(listed):
    everybody = [one for one in requires("clearwood") if "extra ==" not in one]
    assert len(listed([])) == len(everybody)
    assert {one.split(">")[0] for one in listed([])} == {
        one.split("<")[0].split(">")[0] for one in names(everybody)
    }


def test_extras_of_extras_are_listed_once_and_clearwood_is_not(listed):
    found = listed(["boosting", "lightgbm"])
    assert sorted(one.split(">")[0] for one in set(found) - set(listed([]))) == [
        "catboost",
        "lightgbm",
        "xgboost-cpu",
    ]
    assert len(found) == len(set(found))


def test_an_unknown_extra_is_an_error(listed):
    with pytest.raises(KeyError, match="nonsense"):
        listed(["nonsense"])
