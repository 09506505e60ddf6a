"""What holds for examples in docstrings and pages as well as for tests."""

import os
import re
import sys
import tempfile

import pytest

# A fault of a step of a report ends the test, instead of becoming a note on the page.
os.environ["CLEARWOOD_FAULTS"] = "raise"


@pytest.fixture(autouse=True)
def _examples_leave_nothing(request):
    """Make temporary folders of an example where pytest removes them."""
    if isinstance(request.node, pytest.DoctestItem):
        folder = str(request.getfixturevalue("tmp_path"))
        request.getfixturevalue("monkeypatch").setattr(tempfile, "tempdir", folder)


@pytest.fixture(autouse=True)
def _modules_of_a_page(request):
    """Write the modules that a page shows, so that the examples below them can import them.

    A module is a block whose first line is a comment with its name: ``# one_rule.py``.
    """
    page = request.node.path
    if isinstance(request.node, pytest.DoctestItem) and page.suffix == ".md":
        modules = re.findall(r"```python\n# (\w+)\.py\n(.*?)```", page.read_text("utf-8"), re.S)
        if modules:
            folder = request.getfixturevalue("tmp_path")
            request.getfixturevalue("monkeypatch").syspath_prepend(folder)
        for name, code in modules:
            (folder / f"{name}.py").write_text(code, encoding="utf-8")
            sys.modules.pop(name, None)
