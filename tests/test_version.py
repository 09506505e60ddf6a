"""The version stands in one place; what repeats it is held to it."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest

import clearwood

CITATION = Path(__file__).parents[1] / "CITATION.cff"


def test_the_installed_distribution_has_the_version_of_the_code():
    assert version("clearwood") == clearwood.__version__


@pytest.mark.skipif(not CITATION.exists(), reason="the tests run outside the repository")
def test_the_citation_names_the_version_of_the_code():
    (cited,) = re.findall(r"^version: (.+)$", CITATION.read_text(encoding="utf-8"), re.MULTILINE)
    assert cited == clearwood.__version__, "write the new version into CITATION.cff"
