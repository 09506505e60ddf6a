"""The user guide: pages in the order of work, each method with a picture and when it misleads."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NAV = re.findall(r"- guide/([\w-]+)\.md", (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"))
PAGES = [name for name in NAV if name != "index"]


def text_of(name):
    return (DOCS / "guide" / f"{name}.md").read_text(encoding="utf-8")


def test_pages_are_numbered_and_listed_in_the_order_of_work():
    titles = [text_of(name).splitlines()[0] for name in PAGES]
    assert [title.split(". ")[0] for title in titles] == [f"# {k}" for k in range(1, 12)]
    steps = re.findall(r"^\| \d+ \|.*?\]\(([\w-]+)\.md\)", text_of("index"), re.MULTILINE)
    assert steps == PAGES


@pytest.mark.parametrize("page", sorted((DOCS / "tutorials").glob("*.md")), ids=lambda p: p.stem)
def test_every_tutorial_has_pictures(page):
    assert re.findall(r"^!\[.+\]\(", page.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_pictures_and_says_when_they_mislead(name):
    text = text_of(name)
    pictures = re.findall(r"^!\[.+\]\(", text, re.MULTILINE)
    boxes = text.count('!!! warning "When it misleads"')
    assert pictures
    assert boxes


def test_every_figure_of_the_guide_is_shown_and_every_one_shown_is_there():
    pages = [*(DOCS / "guide").glob("*.md"), *(DOCS / "tutorials").glob("*.md")]
    shown = {
        path
        for page in pages
        for path in re.findall(r"assets/(guide-[\w-]+\.svg)", page.read_text(encoding="utf-8"))
    }
    assert shown == {path.name for path in (DOCS / "assets").glob("guide-*.svg")}
