"""The reading level of the first pages: the formula, what counts as a sentence, and the limit."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "check_reading.py"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize(
    ("word", "syllables"),
    [("cat", 1), ("table", 2), ("compare", 2), ("based", 1), ("predicted", 3), ("rates", 1)],
)
def test_silent_endings_are_no_syllables(script, word, syllables):
    assert script["syllables"](word) == syllables


def test_the_grade_is_that_of_the_formula(script):
    # two sentences of six and two words, with seven and four syllables
    page = "The cat sat on the table.\n\nModels predict.\n"
    expected = 0.39 * 8 / 2 + 11.8 * (7 + 4) / 8 - 15.59
    assert script["grade"](page) == pytest.approx(expected)


def test_code_tables_headings_and_pictures_do_not_count(script):
    page = "The cat sat on the mat."
    around = (
        "# Interpretability\n\n![An interpretable illustration](a.png)\n\n"
        f"| interpretability |\n|---|\n\n{page}\n\n```python\ninterpretability()\n```\n"
    )
    assert script["grade"](around) == pytest.approx(script["grade"](page))


def test_a_name_in_code_is_one_word_of_ordinary_length(script):
    longer = script["grade"]("The cat sat on the `interpretability`.")
    assert longer == pytest.approx(script["grade"]("The cat sat on the mat."))


def test_items_of_a_list_are_sentences_of_their_own(script):
    assert script["grade"]("- one cat\n- one dog") == script["grade"]("One cat. One dog.")


def test_a_page_above_the_limit_fails(script, monkeypatch, tmp_path, capsys):
    hard = "Interpretability considerations necessitate methodological sophistication."
    (tmp_path / "hard.md").write_text(hard, encoding="utf-8")
    names = script["main"].__globals__
    monkeypatch.setitem(names, "ROOT", tmp_path)
    monkeypatch.setitem(names, "FIRST_PAGES", ("hard.md",))
    assert script["main"]() == 1
    assert "hard.md  is above 8" in capsys.readouterr().out
