"""A real browser for the report's tests: network off, every complaint an error."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clearwood.report import Report

ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "report"


# One browser a module: its event loop, which others' tests must not find running, ends with it.
@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if program is None:
        pytest.skip("Chromium is not installed; `make test` installs it")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser, tmp_path) -> Iterator[Callable]:
    """Open a report as a reader does, with no network.

    The test fails if the page asks for anything but itself, or if the browser complains: a script's
    error, a warning, a breach of the page's policy.
    """
    contexts, requests, complaints = [], [], []

    def open_(report: Report | str, *, width=1280, height=900, theme="light", **options):
        path = tmp_path / f"report-{len(contexts)}.html"
        path.write_text(report if isinstance(report, str) else report.to_html(), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, **options
        )
        contexts.append(context)
        context.set_offline(True)
        context.set_default_timeout(20_000)
        page = context.new_page()
        page.on(
            "request",
            lambda request: (
                requests.append(request.url)
                if not request.url.startswith((path.as_uri(), "blob:", "data:"))
                else None
            ),
        )
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on(
            "console",
            lambda message: (
                complaints.append(f"{message.type}: {message.text}")
                if message.type in {"error", "warning"}
                else None
            ),
        )
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert requests == []
    assert complaints == []


@pytest.fixture
def keep() -> Callable:
    """Keep a screenshot of a page among the artefacts of the run."""

    def keep_(page, name: str) -> None:
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)

    return keep_
