"""A real browser for the report's tests: network off, every complaint an error."""

import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import altair as alt
import pytest

from clearwood.reporting import (
    Block,
    Chart,
    Choice,
    Facts,
    More,
    Note,
    Prose,
    Report,
    Section,
    Sheet,
    Widget,
)

_spec = importlib.util.spec_from_file_location(
    "_browser", Path(__file__).parents[2] / "tools" / "browser.py"
)
_browser = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_browser)


# One browser a module: its event loop, which others' tests must not find running, ends with it.
@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = _browser.browser()
    if program is None:
        pytest.skip("no browser: `make test` installs Chromium where BROWSER=no is not set")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=program,
            timeout=120_000,  # a busy machine takes long to start it
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def written() -> Callable[[Report], str]:
    """Give the HTML of a report, which several tests of a module may open, and write it once."""
    pages: dict[int, tuple[Report, str]] = {}

    def html(report: Report) -> str:
        if id(report) not in pages:
            pages[id(report)] = (report, report.to_html())
        return pages[id(report)][1]

    return html


@pytest.fixture
def open_page(browser, tmp_path, written) -> Iterator[Callable]:
    """Open a report as a reader does, with no network.

    The test fails if the page asks for anything but itself, or if the browser complains: a script's
    error, a warning, a breach of the page's policy. A test that provokes some clears
    ``open_page.complaints``.
    """
    contexts, requests, complaints = [], [], []

    def open_(report: Report | str, *, width=1280, height=900, theme="light", **options):
        path = tmp_path / f"report-{len(contexts)}.html"
        path.write_text(report if isinstance(report, str) else written(report), encoding="utf-8")
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

    open_.complaints = complaints
    yield open_
    for context in contexts:
        context.close()
    assert requests == []
    assert complaints == []


@pytest.fixture
def keep() -> Callable:
    """Keep a screenshot of a page in the folder that CLEARWOOD_SCREENSHOTS names, if it is set."""
    folder = os.environ.get("CLEARWOOD_SCREENSHOTS")

    def keep_(page, name: str) -> None:
        if not folder:
            return
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return keep_


def line_chart(name: str = "line", *, title: str = "Effect of age", **fields: str) -> Chart:
    """A chart of one plot, made as the library makes its own."""
    x, y = fields.get("x", "age"), fields.get("y", "effect")
    values = [{x: i, y: (i - 5) ** 2 / 10} for i in range(11)]
    spec = alt.Chart(alt.Data(values=values)).mark_line(color="#0072B2")
    spec = spec.encode(x=alt.X(f"{x}:Q"), y=alt.Y(f"{y}:Q")).properties(
        width=420, height=200, title=alt.TitleParams(title, subtitle=["500 rows"])
    )
    return Chart(name, title, f"{title}: falls, then rises", spec.to_dict())


def compound_chart(name: str = "compound") -> Chart:
    """A chart of three plots, one above two."""
    values = [{"level": level, "count": 3 + i} for i, level in enumerate(("a", "b", "c"))]
    bars = alt.Chart(alt.Data(values=values)).mark_bar().encode(x="count:Q", y="level:N")
    wide = alt.Chart(alt.Data(values=values)).mark_bar().encode(x="level:N", y="count:Q")
    beside = alt.hconcat(bars.properties(width=300), bars.properties(width=80))
    spec = alt.vconcat(wide.properties(width=420, height=120), beside)
    return Chart(name, "Counts", "Counts of three levels", spec.to_dict())


@pytest.fixture(scope="module")
def everything() -> Report:
    """A page with every kind of block."""
    rows = tuple((f"column {i}", i % 3, (i - 5) / 7, i % 2 == 0) for i in range(30))
    sheet = Sheet(
        "columns", "The columns", ("name", "missing", "share", "used"), rows, bars=("share",)
    )
    options = ("partial dependence", "ICE", "ALE")
    many = tuple((f"column {i}", (line_chart(f"of-{i}"),)) for i in range(12))
    return Report(
        "What predicts accidents?",
        (
            Section(
                "summary",
                "Summary",
                (
                    Prose(("It predicts well.", "Be careful."), lead=True),
                    Facts((("predicted", "accidents"), ("rows", "10,000"))),
                    Note("Two go together", "power and weight.", "caution", ("power", "weight")),
                    Note("Nothing is missing", "Every cell has a value.", "good"),
                    Note("Levels", "Many.", items=tuple(f"level {i}" for i in range(9))),
                ),
            ),
            Section("data", "Data", (sheet, compound_chart())),
            Section(
                "why",
                "Importance",
                (
                    Choice("kind", "Kind", tuple((o, (line_chart(o),)) for o in options)),
                    Choice("column", "Column", many),
                ),
            ),
            Section(
                "tree",
                "One tree",
                (
                    More("More about it", (Prose(("Told on demand.",)), line_chart("late"))),
                    Widget("one", "tree", "The tree has three leaves.", {}),
                ),
            ),
        ),
        about=(("data", "claims.csv"), ("model", "forest")),
    )


HOSTILE = [
    "</script><script>window.broken = 1</script>",
    '"><img src=x onerror="window.broken = 1">',
    "' onfocus='window.broken = 1' autofocus='",
    "${window.broken = 1}`",
    "{{ 7 * 7 }}{% raise %}",
    "<!-- <![CDATA[ ]]> -->",
    "</style></title></textarea>",
    "a\u2028b\u2029c\u0000",
    "عمر السائق",
    "weighed down " * 16,
    "x" * 200,
    "driver's 🚗 “age”",
]


def blocks_of(text: str) -> tuple[Block, ...]:
    """Every kind of block, with a text in every place where one can stand."""
    spec = {
        "data": {"values": [{text: i, "level": text} for i in range(3)]},
        "mark": "point",
        "encoding": {"x": {"field": "level", "type": "nominal", "title": text}},
        "title": {"text": text, "subtitle": [text]},
    }
    return (
        Prose((text, text), lead=True),
        Facts(((text, text),)),
        Note(text, text, "caution", (text,) * 8),
        Sheet(text, text, (text, "number"), ((text, 1), (text, 2.5)), bars=("number",)),
        Chart(text, text, text, spec),
        Chart(text, text, text, spec, data={text: [text, 1.5]}),
        Choice(text, text, ((text, (Prose((text,)),)), (text, (Prose((text,)),)))),
        More(text, (Prose((text,)),)),
        Widget(text, "tree", text, {text: text}),
    )


@pytest.fixture(params=HOSTILE)
def hostile_text(request) -> str:
    """A name or a cell that a careless page would break on."""
    return request.param


@pytest.fixture(scope="module")
def report_of() -> Callable[..., Report]:
    """A page with these texts in every place where one can stand."""

    def made(*texts: str) -> Report:
        sections = tuple(Section(text, text, blocks_of(text)) for text in texts)
        return Report(texts[0], sections, about=tuple((text, text) for text in texts))

    return made


@pytest.fixture(scope="module")
def hostile_report(report_of) -> Report:
    """A page with all the names and cells that a careless page would break on."""
    return report_of(*HOSTILE)
