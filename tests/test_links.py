"""Links and paths in the pages lead somewhere; MkDocs checks the links within docs/."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# pages of the gallery are made by the build
DOCS = [p for p in (ROOT / "docs").rglob("*.md") if ROOT / "docs" / "gallery" not in p.parents]
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "src").rglob("*.md"),
    *(ROOT / ".github").rglob("*.md"),
    *(ROOT / "changelog.d").glob("*.md"),
]
PATH = re.compile(r"`((?:src|tests|docs|tools|benchmarks|changelog\.d)/[\w./*-]+)`")
#: Paths of a kernel that is explained but does not exist, by the folder of the page.
EXAMPLES = {"kernels": {"src/walk/", "benchmarks/bench_walk.py", "tests/kernels/test_walk.py"}}
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(#[^)\s]+)?\)")


def anchors(page):
    """Names that the headings of a page can be linked by."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        "#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings_that_exist(page):
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{path} does not exist"
        assert not anchor or anchor in anchors(target), f"{target.name} has no heading {anchor}"


@pytest.mark.parametrize("page", [*PAGES, *DOCS], ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_that_are_named_exist(page):
    named = set(PATH.findall(page.read_text(encoding="utf-8")))
    homes = (ROOT, page.parent)
    there = {path for path in named for home in homes if list(home.glob(path.rstrip("/")))}
    assert named - there == EXAMPLES.get(page.parent.name, set())
