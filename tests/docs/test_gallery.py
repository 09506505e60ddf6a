"""The programs of the gallery run, and each shows something."""

import ast
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("*.py"))
BY_NAME = pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)


def title(script):
    """Return the first line of an example's words, which is its title in the gallery."""
    words = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    return (words or "").splitlines()[0]


@BY_NAME
@pytest.mark.filterwarnings("default::clearwood.ClearwoodWarning")
def test_an_example_runs_and_shows_something(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    values = runpy.run_path(str(script), run_name="__main__")
    last = ast.parse(script.read_text(encoding="utf-8")).body[-1]
    # the value of the last line is what the gallery draws or prints
    assert capsys.readouterr().out or isinstance(last, ast.Expr)
    assert "cw" in values


@BY_NAME
def test_an_example_is_short_and_has_a_title_and_a_sentence(script):
    text = script.read_text(encoding="utf-8")
    assert 15 <= len(text.splitlines()) <= 60
    words = ast.get_docstring(ast.parse(text))
    assert title(script).startswith("# ")
    assert len(words.splitlines()) >= 3


@BY_NAME
def test_an_example_has_a_picture_for_the_wall(script):
    """The gallery draws charts that are the value of a block's last line."""
    text = script.read_text(encoding="utf-8")
    values = [line.value for line in ast.parse(text).body if isinstance(line, ast.Expr)]
    calls = [
        value.func.attr
        for value in values
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
    ]
    assert "plot" in calls or "mkdocs_gallery_thumbnail_path" in text


def test_titles_differ():
    titles = [title(script) for script in SCRIPTS]
    assert len(set(titles)) == len(titles)


def test_every_topic_has_a_heading():
    for folder in {script.parent for script in SCRIPTS}:
        assert (folder / "README.md").read_text(encoding="utf-8").startswith("## ")
