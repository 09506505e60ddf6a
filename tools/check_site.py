"""Check the documentation as a reader's browser sees it, opened from disk without a network.

Links lead to files and headings that exist, pictures are there, those of the report and the audit
are of this version, search finds pages, no page asks for anything from the network, and no page is
wider than a phone.

usage: python tools/check_site.py SITE
"""

import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

from browser import browser

PHONE = {"width": 400, "height": 800}
#: What a reader searches for, and what one of the first pages found must include.
SEARCHES = {
    "which learner is better": "really better",
    "why was this person refused": "why was this person refused",
    "price without gender": "price without gender",
    "model as sql": "model as sql",
    "monotone": "monotone",
    "shapley": "shapley",
    "exposure": "exposure",
}
FIRST_RESULTS = 3
#: Pictures that `docs/_screens.py` takes.
SCREENS = ("assets/report.png", "assets/audit.png")


class Page(HTMLParser):
    """The links and the names of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what the tag links to and is called."""
        for name, value in attrs:
            if value and name in {"id", "name"}:
                self.names.add(value)
            if value and ((tag == "a" and name == "href") or name == "src"):
                self.links.append(value)


def pages_of(site: Path) -> list[Path]:
    """Return the pages; the one for a missing page is for servers only."""
    return sorted(file for file in site.rglob("*.html") if file != site / "404.html")


def broken_links(site: Path) -> list[str]:
    """Return links that lead nowhere, each with its page."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in pages_of(site)}
    problems = []
    for file, page in pages.items():
        for link in page.links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            path, anchor = urldefrag(link)
            target = (file.parent / unquote(path)).resolve() if path else file
            if not target.exists():
                problems.append(f"{file.relative_to(site)}: {link} does not exist")
            # the theme reads "only-light" and "only-dark" behind a picture
            elif anchor and target in pages and unquote(anchor) not in pages[target].names:
                problems.append(f"{file.relative_to(site)}: {link} has no such heading")
    return problems


def old_screens(site: Path) -> list[str]:
    """Return pictures of pages that another version of Clearwood wrote."""
    from clearwood import __version__

    mark = b"tEXtClearwood\0" + __version__.encode("latin-1")
    return [
        f"{name}: not made by version {__version__}; run python docs/_screens.py"
        for name in SCREENS
        if not (site / name).exists() or mark not in (site / name).read_bytes()
    ]


def in_a_browser(site: Path, program: str) -> list[str]:
    """Return what is wrong with the pages when they are opened."""
    from playwright.sync_api import sync_playwright

    problems = []
    with sync_playwright() as play:
        opened = play.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = opened.new_page(viewport=PHONE)
        asked: dict[str, set[str]] = defaultdict(set)
        page.on("request", lambda request: asked[page.url].add(request.url))
        for file in pages_of(site):
            name = str(file.relative_to(site))
            page.goto(file.as_uri())
            wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            if wide > 0:
                problems.append(f"{name}: {wide} pixels wider than a phone")
            missing = page.evaluate(
                "[...document.images].filter(i => i.complete && !i.naturalWidth && i.offsetWidth)"
                ".map(i => i.src)"
            )
            problems += [f"{name}: no picture {source}" for source in missing]
        problems += [
            f"{where}: asks for {url}"
            for where, urls in asked.items()
            for url in urls
            if urlsplit(url).scheme not in {"file", "data", "about", "blob"}
        ]
        problems += _searches(opened, site)
        opened.close()
    return problems


def _searches(opened: object, site: Path) -> list[str]:
    problems = []
    page = opened.new_page(viewport={"width": 1300, "height": 900})  # type: ignore[attr-defined]
    for words, found in SEARCHES.items():
        page.goto((site / "index.html").as_uri())
        page.wait_for_selector(".md-search__input", state="visible")
        page.click(".md-search__input")
        page.keyboard.type(words)
        results = page.locator(".md-search-result__item")
        results.first.wait_for()
        first = results.all_inner_texts()[:FIRST_RESULTS]
        if not any(found in text.lower() for text in first):
            problems.append(f"search for {words!r}: the first pages have nothing about {found!r}")
    return problems


def main() -> int:
    """Print every problem; return 1 where there is one."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    site = Path(sys.argv[1]).resolve()
    problems = [*broken_links(site), *old_screens(site)]
    program = browser()
    if program is None:
        print("no browser: the pages were not opened in one")
    else:
        problems += in_a_browser(site, program)
    print("\n".join(problems) or f"{len(pages_of(site))} pages are in order")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
