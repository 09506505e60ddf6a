"""The page in a real browser: with the network off, as a reader uses it."""

import csv
import io
import re
from pathlib import Path

import altair as alt
import pytest

from clearwood._shared.numbers import IN_TABLES, count, number, percent
from clearwood.reporting import Chart, Choice, Prose, Report, Section, Sheet

SERIOUS = {"serious", "critical"}
#: Every rule runs; what passes is not written down element by element.
ONLY_VIOLATIONS = {"resultTypes": ["violations"]}


def drawn(page) -> int:
    return page.locator(".drawing svg").count()


def texts(page, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


def saved(page, button) -> list[list[str]]:
    """Press a button that saves a CSV file and read the file."""
    with page.expect_download() as download:
        button.click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    return list(csv.reader(io.StringIO(text, newline="")))


def test_every_kind_of_block_is_shown(open_page, everything, keep):
    page = open_page(everything)
    assert texts(page, "h1, h2") == [
        "What predicts accidents?",
        "Summary",
        "Data",
        "Importance",
        "One tree",
    ]
    for shown in (
        ".lead",
        ".facts",
        ".note.caution",
        ".note.good",
        ".note.plain",
        ".sheet table",
        ".chart",
        "[role=tablist]",
        ".picker select",
        ".more summary",
    ):
        assert page.locator(shown).first.is_visible(), shown
    keep(page, "everything")


def test_charts_are_drawn_when_they_come_near(open_page, everything):
    page = open_page(everything, height=400)
    assert drawn(page) == 0
    page.locator("#compound").scroll_into_view_if_needed()
    page.wait_for_selector("#compound svg")
    assert page.locator("#late svg").count() == 0
    page.locator(".more > summary").click()
    page.locator("#late").scroll_into_view_if_needed()
    page.wait_for_selector("#late svg")


def open_all(page) -> None:
    """Draw every chart and open everything that can be opened."""
    page.evaluate("clearwood.drawAll()")
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    page.wait_for_function("() => document.querySelectorAll('.data table').length > 3")


@pytest.mark.parametrize("width", [360, 1600])
def test_nothing_is_wider_than_its_place(open_page, hostile_report, everything, keep, width):
    for name, report in (("hostile", hostile_report), ("everything", everything)):
        page = open_page(report, width=width)
        open_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
        assert page.locator(".drawing").evaluate_all(wide) == 0, "a chart"
        keep(page, f"{name}-{width}-light")


@pytest.mark.parametrize(("theme", "width"), [("light", 360), ("dark", 1600)])
def test_axe_finds_nothing_serious(open_page, everything, keep, theme, width):
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()
    page = open_page(everything, theme=theme, width=width)
    open_all(page)
    found = [
        (problem["id"], node["html"][:200])
        for problem in axe.run(page, options=ONLY_VIOLATIONS)["violations"]
        if problem["impact"] in SERIOUS
        for node in problem["nodes"]
    ]
    assert found == []
    keep(page, f"everything-{width}-{theme}")


def test_hostile_names_and_cells_are_shown_as_they_are(open_page, hostile_report):
    page = open_page(hostile_report)
    page.evaluate("clearwood.drawAll()")
    page.locator(".data summary").evaluate_all("all => all.forEach((one) => one.click())")
    assert page.evaluate("window.broken") is None
    cell = "</script><script>window.broken = 1</script>"
    assert page.locator("main p").first.inner_text() == cell
    assert cell in texts(page, ".data td")
    assert cell in texts(page, "[role=tab]")
    table = saved(page, page.locator(".sheet-tools button", has_text="Save CSV").first)
    assert table == [[cell, "number"], [cell, "1"], [cell, "2.5"]]


def test_names_from_right_to_left_are_set_so(open_page, report_of):
    page = open_page(report_of("عمر السائق"))
    direction = "one => getComputedStyle(one).direction"
    assert page.locator("h1").evaluate(direction) == "rtl"
    assert page.locator("td").first.evaluate(direction) == "rtl"
    assert page.locator("main").evaluate(direction) == "ltr"


def test_tabs_switch_by_mouse_and_by_keyboard(open_page, everything):
    page = open_page(everything)
    tabs = page.get_by_role("tab")
    panels = page.locator("#kind > .option")

    def only(chosen):
        panels.nth(chosen).wait_for()  # a busy browser answers late
        return [panels.nth(i).is_visible() for i in range(3)] == [i == chosen for i in range(3)]

    assert only(0)
    tabs.nth(1).click()
    assert only(1)
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    page.wait_for_selector("#ice svg")
    page.keyboard.press("ArrowRight")
    assert only(2)
    page.keyboard.press("ArrowRight")
    assert only(0)
    page.keyboard.press("End")
    assert only(2)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    assert only(0)
    assert tabs.nth(0).evaluate("one => one === document.activeElement")
    # one stop for the tabulator, whichever is chosen
    assert tabs.evaluate_all("all => all.filter((one) => one.tabIndex === 0).length") == 1


def test_many_options_are_a_list_with_steps(open_page, everything):
    page = open_page(everything)
    picker = page.get_by_label("Column", exact=True)
    picker.select_option(label="column 3")
    page.locator("#of-3").scroll_into_view_if_needed()
    page.wait_for_selector("#of-3 svg")
    assert page.locator("#of-0").is_hidden()
    page.get_by_role("button", name="Next").click()
    assert page.locator("#of-4").is_visible()
    assert "5 of 12" in texts(page, ".picker")[0]
    page.get_by_role("button", name="Previous").click()
    assert picker.input_value() == "3"


def test_sheets_are_sorted_by_their_heads(open_page, everything):
    page = open_page(everything)
    sheet = page.locator("#columns")

    def first(column):
        return texts(page, f"#columns tbody tr:not([hidden]) td:nth-child({column})")[0]

    sheet.get_by_role("button", name="share").click()
    assert sheet.locator("th").nth(2).get_attribute("aria-sort") == "descending"
    assert first(1) == "column 29"
    sheet.get_by_role("button", name="share").press("Enter")
    assert sheet.locator("th").nth(2).get_attribute("aria-sort") == "ascending"
    assert first(1) == "column 0"
    sheet.get_by_role("button", name="name").click()
    assert first(1) == "column 0"
    assert sheet.locator("th").nth(2).get_attribute("aria-sort") is None
    sheet.get_by_role("button", name="name").click()
    assert first(1) == "column 29"  # as numbers within names count: 9 is before 10


def test_empty_cells_come_last_whichever_way(open_page):
    rows = (("a", None), ("b", 2.0), ("c", float("inf")), ("d", -10_000.5), ("e", float("-inf")))
    sheet = Sheet("s", "Sheet", ("name", "value"), rows)
    page = open_page(Report("r", (Section("x", "X", (sheet,)),)))
    button = page.get_by_role("button", name="value")
    button.click()
    assert texts(page, "td:first-child") == ["c", "b", "d", "e", "a"]
    button.click()
    assert texts(page, "td:first-child") == ["e", "d", "b", "c", "a"]


def test_rows_past_the_first_are_one_click_away(open_page, everything):
    page = open_page(everything)
    rows = page.locator("#columns tbody tr:visible")
    assert rows.count() == 20
    page.get_by_role("button", name="Show all 30 rows").click()
    assert rows.count() == 30
    page.get_by_role("button", name="Show 20 rows").click()
    assert rows.count() == 20


def test_search_finds_rows_that_are_not_shown(open_page, everything):
    page = open_page(everything)
    page.locator("#columns").get_by_role("searchbox").fill("COLUMN 29")
    assert texts(page, "#columns tbody tr:not([hidden]) td:first-child") == ["column 29"]
    assert texts(page, "#columns [role=status]") == ["1 of 30 rows"]
    page.locator("#columns").get_by_role("searchbox").fill("nothing like it")
    assert page.locator("#columns tbody tr:visible").count() == 0


def test_saved_table_has_every_row_at_full_precision_in_its_first_order(open_page, everything):
    page = open_page(everything)
    page.locator("#columns").get_by_role("button", name="share").click()
    table = saved(page, page.locator("#columns").get_by_role("button", name="Save CSV"))
    assert table[0] == ["name", "missing", "share", "used"]
    assert len(table) == 31
    for i, (name, missing, share, used) in enumerate(table[1:]):
        assert (name, missing, used) == (f"column {i}", str(i % 3), "no" if i % 2 else "yes")
        assert float(share) == (i - 5) / 7


def test_cells_with_commas_quotes_and_lines_survive_the_file(open_page):
    cells = ('say "no", twice', "two\nlines", "=1+1", "")
    sheet = Sheet("s", "Sheet", ("a", "b, c"), tuple((cell, 1) for cell in cells))
    page = open_page(Report("r", (Section("x", "X", (sheet,)),)))
    table = saved(page, page.get_by_role("button", name="Save CSV"))
    assert table == [["a", "b, c"], *([cell, "1"] for cell in cells)]


def test_data_behind_a_chart_are_a_table_and_a_file(open_page, everything):
    page = open_page(everything)
    figure = page.locator("#partial-dependence")
    figure.locator("summary").click()
    figure.locator("th").first.wait_for()  # the table is made when it is first shown
    assert texts(page, "#partial-dependence th") == ["age", "effect"]
    table = saved(page, figure.get_by_role("button", name="Save CSV"))
    assert [[float(cell) for cell in row] for row in table[1:]] == [
        [i, (i - 5) ** 2 / 10] for i in range(11)
    ]


def test_tables_of_charts_that_share_data_are_shown_once(open_page, everything):
    page = open_page(everything)
    page.locator("#compound summary").click()
    page.locator("#compound table").first.wait_for()
    assert page.locator("#compound table").count() == 1


def test_theme_follows_the_reader_and_the_button(open_page, everything, keep):
    page = open_page(everything, theme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    line = page.locator("#partial-dependence .mark-line path")
    page.locator("#partial-dependence").scroll_into_view_if_needed()
    line.wait_for()
    dark, stroke = page.evaluate(background), line.get_attribute("stroke")
    keep(page, "dark")
    page.get_by_role("button", name="Dark").click()
    page.wait_for_function(
        "before => document.querySelector('#partial-dependence .mark-line path')"
        "?.getAttribute('stroke').toLowerCase() === '#0072b2'",
        arg=stroke,
    )
    assert page.evaluate(background) != dark
    assert stroke.lower() != "#0072b2"
    page.reload()
    assert page.evaluate(background) != dark, "the choice is kept"


def test_theme_follows_the_system_while_the_page_is_open(open_page, everything):
    page = open_page(everything)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    assert page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"


def test_a_chart_that_cannot_be_drawn_is_its_words(open_page):
    charts = (
        Chart("bad", "Bad", "It would rise.", {"mark": "nonsense"}),
        Chart("empty", "Empty", "Nothing.", {"data": {"values": []}, "mark": "point"}),
    )
    page = open_page(Report("r", (Section("x", "X", charts),)))
    shown = page.get_by_text("This chart could not be drawn. It would rise.")
    shown.wait_for()
    assert open_page.complaints
    open_page.complaints.clear()
    page.wait_for_selector("#empty svg", state="attached")
    page.locator("#empty summary").click()
    page.get_by_text("This chart has no data.").wait_for()


def test_a_choice_of_one_has_nothing_to_choose(open_page):
    for options in ((), (("only", (Prose(("words",)),)),)):
        page = open_page(Report("r", (Section("x", "X", (Choice("c", "Kind", options),)),)))
        assert page.get_by_role("tablist").count() == 0
    assert page.get_by_text("words").is_visible()


def test_charts_follow_the_width_of_the_window(open_page, everything):
    page = open_page(everything, width=1200)
    page.locator("#compound").scroll_into_view_if_needed()
    page.wait_for_selector("#compound svg")
    for width in (420, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            "() => { const box = document.querySelector('#compound .drawing');"
            "const svg = box.querySelector('svg');"
            "return svg && Math.abs(svg.clientWidth - box.clientWidth) < 12 }"
        )


def test_paper_has_every_chart_and_is_light(open_page, everything):
    page = open_page(everything, theme="dark", height=400)
    assert drawn(page) == 0
    unseen = page.pdf(format="A4")
    page.evaluate("clearwood.drawAll()")
    visible = page.locator(".drawing:visible").count()
    assert drawn(page) == visible == 3
    bright = open_page(everything, theme="light", height=400)
    bright.evaluate("clearwood.drawAll()")
    assert unseen[:5] == b"%PDF-"
    # the same to the byte, but for the dates within
    assert abs(len(bright.pdf(format="A4")) - len(unseen)) < 40
    assert len(unseen) > 20_000
    assert page.evaluate("document.documentElement.dataset.theme") == "dark", "put back"


def test_everything_can_be_reached_by_keyboard(open_page, everything):
    page = open_page(everything)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    unreachable = page.evaluate(
        "[...document.querySelectorAll('button, select, input, summary, a')].filter((one) =>"
        "one.tabIndex < 0 && one.getAttribute('role') !== 'tab').length"
    )
    assert unreachable == 0


def test_a_table_is_a_stop_where_it_must_be_scrolled(open_page, everything):
    page = open_page(everything, width=1600)
    box = page.locator("#columns .scroll")
    page.wait_for_function("() => document.querySelector('#columns .scroll').role === 'group'")
    assert box.get_attribute("tabindex") is None
    page.set_viewport_size({"width": 300, "height": 900})
    page.wait_for_function("() => document.querySelector('#columns .scroll').tabIndex === 0")
    assert box.get_attribute("role") == "region"
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('#columns .scroll').scrollLeft > 0")


def test_a_chart_with_cells_of_a_size_is_scrolled_where_it_must_be(open_page):
    cells = [{"a": f"column {i}", "b": f"column {j}"} for i in range(30) for j in range(4)]
    chart = alt.Chart(alt.Data(values=cells)).mark_rect().encode(x="a:N", y="b:N")
    spec = chart.properties(width=alt.Step(20)).to_dict()
    page = open_page(
        Report("r", (Section("x", "X", (Chart("c", "C", "Cells", spec),)),)), width=360
    )
    page.wait_for_selector("#c svg")
    page.locator("#c .drawing").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('#c .drawing').scrollLeft > 0")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.set_viewport_size({"width": 1600, "height": 900})
    page.wait_for_function("() => document.querySelector('#c .drawing').tabIndex === -1")


def test_contents_say_where_the_reader_is(open_page, everything):
    page = open_page(everything, width=1600)
    current = page.locator(".contents [aria-current]")
    assert current.inner_text() == "Summary"
    page.get_by_role("link", name="One tree").click()
    page.wait_for_function(
        "() => document.querySelector('.contents [aria-current]').textContent !== 'Summary'"
    )
    assert page.locator(".contents").bounding_box()["y"] >= 0, "stays in view"


def test_text_and_tables_are_there_without_script(open_page, everything):
    page = open_page(everything, java_script_enabled=False)
    assert page.locator("tbody tr").count() == 30
    assert page.locator("tbody tr").last.is_visible()
    assert page.locator("noscript p").is_visible()
    assert page.locator(".alternative").first.is_visible()
    assert page.get_by_text("The tree has three leaves.").is_visible()
    assert texts(page, ".option-title")[:3] == ["partial dependence", "ICE", "ALE"]


def test_page_works_in_a_notebooks_frame(open_page, everything):
    page = open_page(f"<!DOCTYPE html><title>notebook</title>{everything._repr_html_()}")
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == "What predicts accidents?"
    frame.get_by_role("button", name="Dark").click()
    frame.locator("html[data-theme=dark]").wait_for(state="attached")
    assert frame.get_by_role("button", name="Print").count() == 0
    frame.locator("#compound").scroll_into_view_if_needed()
    frame.locator("#compound svg").wait_for()
    with page.expect_download():
        frame.locator("#columns").get_by_role("button", name="Save CSV").click()


def test_numbers_are_written_as_the_library_writes_them(open_page):
    page = open_page(Report("r", (Section("x", "X", (Prose(("words",)),)),)))
    values = [
        0,
        1,
        -1,
        0.5,
        1234.5678,
        -0.00012345,
        1e-7,
        99.995,
        999.96,
        123456789,
        1 / 3,
        12345e-9,
    ]
    written = page.evaluate("values => values.map((value) => clearwood.number(value))", values)
    for value, text in zip(values, written, strict=True):
        expected = re.sub(r"e([+-])0*", r"e\1", number(value, IN_TABLES)).replace("e+", "e")
        assert text.replace("−", "-") == expected


def test_names_of_many_letters_wrap(open_page, report_of):
    page = open_page(report_of("x" * 200), width=360)
    assert page.locator("h1").bounding_box()["width"] < 360
    assert page.locator("td").first.bounding_box()["width"] < 360


def test_counts_and_shares_are_written_as_the_library_writes_them(open_page):
    page = open_page(Report("r", (Section("x", "X", (Prose(("words",)),)),)))
    counts = page.evaluate("[1, 2, 20640].map((n) => clearwood.count(n, 'other column'))")
    assert counts == [count(n, "other column") for n in (1, 2, 20640)]
    shares = [0.0, 0.00003, 0.478, 0.9, 0.99999, 1.0]
    written = page.evaluate("shares => shares.map((share) => clearwood.percent(share))", shares)
    assert [text.replace("\u00a0", " ") for text in written] == list(map(percent, shares))


def test_a_number_and_its_per_cent_sign_stay_on_one_line(open_page):
    page = open_page(Report("r", (Section("x", "X", (Prose(("a 90 % interval",)),)),)))
    assert page.locator("main p").inner_text() == "a 90\u00a0% interval"
