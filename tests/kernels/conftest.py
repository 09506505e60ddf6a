"""What every kernel's tests share."""

import os
import subprocess
import sys

import pytest

from clearwood.kernels import _core


@pytest.fixture(params=_core.supported_levels())
def each_level(request):
    """Run the test once for every instruction set that this machine has."""
    before = _core.level()
    _core.use_level(request.param)
    yield request.param
    _core.use_level(before)


@pytest.fixture
def run_python():
    """Run a program in a fresh interpreter, with environment variables of its own."""

    def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
