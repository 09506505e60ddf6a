"""What holds for examples in docstrings and pages as well as for tests."""

import tempfile

import pytest


@pytest.fixture(autouse=True)
def _examples_leave_nothing(request):
    """Make temporary folders of an example where pytest removes them."""
    if isinstance(request.node, pytest.DoctestItem):
        folder = str(request.getfixturevalue("tmp_path"))
        request.getfixturevalue("monkeypatch").setattr(tempfile, "tempdir", folder)
