"""The page of learners says what the entries say."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "_catalogue.py"


@pytest.mark.skipif(not SCRIPT.exists(), reason="the documentation is not installed with the tests")
def test_the_committed_page_is_up_to_date():
    script = runpy.run_path(str(SCRIPT))
    written = script["PAGE"].read_text(encoding="utf-8")
    assert written == script["page"](), "run `python docs/_catalogue.py`"
