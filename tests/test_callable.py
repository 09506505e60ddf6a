"""Packages that are also the function they are named after."""

import inspect
import subprocess
import sys

import clearwood as cw


def test_the_package_is_called_like_its_function_and_stays_a_package():
    from clearwood.benchmark import KFold
    from clearwood.benchmark._benchmark import benchmark

    assert cw.benchmark.KFold is KFold
    assert inspect.signature(cw.benchmark) == inspect.signature(benchmark)


def test_importing_a_part_of_the_package_first_changes_nothing():
    code = (
        "from clearwood.benchmark import KFold\n"
        "import clearwood as cw\n"
        "assert callable(cw.benchmark) and cw.benchmark.KFold is KFold\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
