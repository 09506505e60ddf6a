"""Check that the first pages are easy to read: their grade by the formula of Flesch and Kincaid.

The grade is 0.39 × words per sentence + 11.8 × syllables per word − 15.59 (Kincaid et al. 1975),
about the years at school that a reader needs. Blocks of code, tables, pictures and headings do not
count; a name in `code` makes its sentence longer by a word of ordinary length.

usage: python tools/check_reading.py
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What a newcomer reads first, and the highest grade that these pages may have.
FIRST_PAGES = (
    "README.md",
    "docs/index.md",
    "docs/install.md",
    "docs/faq.md",
    "docs/guide/index.md",
    "docs/tutorials/first-model.md",
)
LIMIT = 8.0

BLOCK = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
TABLE_OR_HEADING = re.compile(r"^[|#].*$", re.MULTILINE)
PICTURE = re.compile(r"!\[[^]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
NAME = re.compile(r"`[^`]*`")
#: A sentence ends at its mark, at an empty line and where an item of a list begins.
END = re.compile(r"[.!?](?=\s|$)|\n\s*\n|\n(?=- )")
WORD = re.compile(r"`|[A-Za-z]+(?:['’-][A-Za-z]+)*")
VOWELS = re.compile(r"[aeiouy]+")
#: Endings that are not spoken, as in "use", "based" and "rates", but not in "table" and "boosted".
SILENT = re.compile(r"(?<![aeiouyl])e$|(?<![aeiouydt])ed$|(?<![aeiouycgsxz])es$")


def prose_of(page: str) -> str:
    """Return the sentences of a page; a name in code is written as one mark."""
    for without in (BLOCK, TABLE_OR_HEADING, PICTURE):
        page = without.sub("", page)
    return NAME.sub("`", LINK.sub(r"\1", page))


def syllables(word: str) -> int:
    """Return about how many syllables a word has.

    Examples
    --------
    >>> [syllables(word) for word in ("table", "compare", "prediction", "based", "boosted")]
    [2, 2, 3, 1, 2]
    """
    return max(1, len(VOWELS.findall(SILENT.sub("", word.lower()))))


def grade(page: str) -> float:
    """Return the grade of a page by the formula of Flesch and Kincaid."""
    sentences = [words for part in END.split(prose_of(page)) if (words := WORD.findall(part))]
    words = [word for sentence in sentences for word in sentence]
    spoken = [syllables(word) for word in words if word != "`"]
    return 0.39 * len(words) / len(sentences) + 11.8 * sum(spoken) / len(spoken) - 15.59


def main() -> int:
    """Print the grade of every page; return 1 where one is above the limit."""
    grades = {name: grade((ROOT / name).read_text(encoding="utf-8")) for name in FIRST_PAGES}
    for name, value in grades.items():
        print(f"{value:5.1f}  {name}" + (f"  is above {LIMIT:g}" if value > LIMIT else ""))
    return int(max(grades.values()) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
