"""`--jobs` is a promise about compiled threads too."""

import pytest
from threadpoolctl import threadpool_info

from clearwood import InputError
from clearwood.cli.support.options import limited_cores


def threads():
    import sklearn.ensemble  # noqa: F401 - brings the pools that fitting uses

    return [pool["num_threads"] for pool in threadpool_info()]


def test_thread_pools_are_limited_to_the_number_of_jobs():
    before = threads()
    with limited_cores(1):
        assert set(threads()) == {1}
    assert threads() == before


def test_all_cores_means_no_limit():
    before = threads()
    with limited_cores(-1):
        assert threads() == before


@pytest.mark.parametrize("jobs", [0, -2])
def test_a_number_of_cores_that_is_none(jobs):
    with pytest.raises(InputError, match="is not a number of cores"), limited_cores(jobs):
        pass
