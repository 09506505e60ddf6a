"""The pages on lecture notes list everything that the notes number, and nothing else."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "seeds"
TEXTS = ROOT.parent / "shared" / "seeds"


def numbered(text):
    """Write out lists and ranges of numbers: "3.2.2–3.2.4, 7" is 3.2.2, 3.2.3, 3.2.4 and 7."""
    for part in re.split(r", | and ", text):
        first, _, last = part.partition("–")
        if not last:
            yield first
            continue
        stem, _, start = first.rpartition(".")
        for k in range(int(start), int(last.rpartition(".")[2]) + 1):
            yield f"{stem}.{k}" if stem else str(k)


NUMBERED = {
    "interpretable-learning": {
        "example": "1–27",
        "figure": "1.1, 4.1, 5.1–5.4, 6.1, 7.1–7.3, 8.1, 8.2",
        "statement": (
            "1.2.6, 3.0.1–3.0.4, 3.1.1, 3.1.2, 3.2.2–3.2.4, 3.3.4–3.3.6, 3.3.8, 4.1.3, 4.3.4, "
            "4.3.5, 5.0.1, 5.1.3, 5.2.6, 7.1.2, 7.1.4, 7.4.2–7.4.5, 7.4.7, 8.0.6, "
            "8.1.2–8.1.4, 8.2.2, A.0.1"
        ),
        "definition": (
            "1.1.1–1.1.4, 1.2.1–1.2.5, 3.2.1, 3.3.1–3.3.3, 3.3.7, 3.4.1, 4.1.1, 4.1.2, 4.1.4, "
            "4.3.1–4.3.3, 5.1.1, 5.1.2, 5.2.1–5.2.5, 5.4.1, 6.1.1, 7.1.1, 7.1.3, 7.2.1, "
            "7.2.2, 7.3.1–7.3.3, 7.4.1, 7.4.6, 8.0.1–8.0.5, 8.1.1, 8.2.1, 8.3.1"
        ),
        "formula": "7.1–7.5, 8.1",
    },
    "elements-of-statistical-learning": {
        "figure": "8.1, 8.2, 10.1",
        "formula": "1–166",
    },
    "learning-theory": {
        "statement": "1",
        "example": "1",
        "figure": "1",
        "formula": "1.1–1.8, 2.1, 2.2, 3.1, 3.2",
    },
    "applied-course": {
        "section": (
            "1–39, 1.1–1.4, 2.1–2.4, 3.1, 5.1, 6.1–6.3, 7.1, 11.1, 13.1–13.5, 15.1, 16.1, "
            "18.1, 18.2, 19.1–19.4, 20.1, 21.1, 22.1–22.3, 25.1, 27.1, 27.2, 28.1–28.3, 29.1, "
            "30.1–30.4, 31.1, 31.2, 34.1–34.4, 35.1–35.5, 36.1–36.5, 37.1, 37.2, 38.1–38.3"
        ),
    },
    "ensembles-as-trees": {
        "figure": "1–7",
        "table": "1",
        "algorithm": "1–3",
        "numbered section": (
            "1–6, 2.1–2.8, 2.2.1, 2.2.2, 2.7.1–2.7.5, 2.8.1, 2.8.2, 3.1–3.3, 5.1–5.3"
        ),
    },
}
EACH = [(page, kind) for page, kinds in NUMBERED.items() for kind in kinds]

#: How the texts number what they have: one group for the number.
PATTERNS = {
    "example": r"^Example (\d+)",
    "figure": r"^Figure ([\d.]*\d)|in Figure (\d)b",
    "statement": r"^(?:Theorem|Lemma|Corollary|Proposition) (A?[\d.]*\d)",
    "definition": r"Definition (\d\.\d\.\d)[. }(]",
    "formula": r"\\tag ?{(\d+(?:\.\d)?)}|\((\d{1,3}(?:\.\d)?)\)(?:\$\$)?$",
    "section": r"^(\d+(?:\.\d)?) (?:[a-d]\) )?(?:[A-Z]|1-NN)",
    "numbered section": r"^(\d(?:\.\d)*)\. [A-Z]",
    "table": r"^Table (\d)",
    "algorithm": r"^Algorithm (\d)",
}
TEXT_OF = {page: f"{number:03}" for number, page in enumerate(NUMBERED)}


def listed(page, kind):
    """Return the numbers of a kind that the tables of a page list."""
    found = set()
    heading = ""
    previous = ""
    for line in (PAGES / f"{page}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("|---"):
            heading = previous.split("|")[1].strip()
        elif line.startswith("| ") and heading != "where":
            found |= set(_numbers_in_row(line, kind, heading))
        previous = line
    return found


def _numbers_in_row(line, kind, heading):
    first, second = (cell.strip() for cell in line.split("|")[1:3])
    words = f"{first}, {second}"
    if kind == "formula":
        one = r"\((\d+(?:\.\d)?)\)"
        for start, end in re.findall(rf"{one}(?:–{one})?", words):
            yield from numbered(f"{start}–{end}" if end else start)
    in_heading = kind == heading or (kind == "statement" and heading.startswith("theorem"))
    if in_heading and re.fullmatch(r"[A\d., –]+", first):
        yield from numbered(first)
    word = {"statement": "proposition", "numbered section": "section"}.get(kind, kind)
    for numbers in re.findall(rf"\b{word}s? ([\d.]*\d(?:(?:, |–)[\d.]*\d)*)", words):
        yield from numbered(numbers)


@pytest.mark.parametrize(("page", "kind"), EACH)
def test_a_page_lists_everything_that_the_notes_number(page, kind):
    expected = set(numbered(NUMBERED[page][kind]))
    assert listed(page, kind) == expected


@pytest.mark.skipif(not TEXTS.exists(), reason="the texts are not here")
@pytest.mark.parametrize(("page", "kind"), EACH)
def test_the_notes_number_what_is_listed_here(page, kind):
    (text,) = TEXTS.glob(f"{TEXT_OF[page]}_*.txt")
    found = re.findall(PATTERNS[kind], text.read_text(encoding="utf-8"), re.MULTILINE)
    numbers = {one for groups in found for one in ([groups] if isinstance(groups, str) else groups)}
    assert numbers - {""} == set(numbered(NUMBERED[page][kind]))


@pytest.mark.parametrize("page", NUMBERED)
def test_every_line_of_a_table_has_a_result_or_a_reason(page):
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    table = re.search(r"^\|.*\|\n\|[-|]+\|\n((?:\|.*\|\n)+)", text, re.MULTILINE)
    for line in table[1].splitlines():
        assert line.rsplit("|", 2)[1].strip(), line
