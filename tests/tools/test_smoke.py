"""What `make wheel` tries in an empty environment works in this one too."""

import runpy
from pathlib import Path

import pytest

import clearwood as cw

SCRIPT = Path(__file__).parents[2] / "tools" / "smoke.py"


@pytest.fixture
def script():
    return runpy.run_path(str(SCRIPT))


def test_the_library_can_be_tried(script, tmp_path):
    script["try_library"](tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"model.cw", "report.html"}


def test_the_repository_is_not_taken_for_an_installation(script, monkeypatch):
    monkeypatch.setattr(cw, "__file__", str(SCRIPT.parents[1] / "src" / "clearwood" / "x.py"))
    with pytest.raises(SystemExit, match="not an installation"):
        script["main"]()
