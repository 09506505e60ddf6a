"""The page as text: escaped, locked by its policy, whole."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import clearwood.plot
from clearwood.reporting import Report, Section
from clearwood.reporting.page import page as page_module


class Scan(HTMLParser):
    """Elements, attributes and text of a page, as a parser sees them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside = ""
        self.contents: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = tag
        if tag in self.contents:
            self.contents[tag].append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside in self.contents:
            self.contents[self.inside][-1] += data
        else:
            self.texts.append(data)

    def ids(self):
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]


def test_no_text_becomes_markup(hostile_text, report_of):
    harmless, tried = Scan(report_of("text").to_html()), Scan(report_of(hostile_text).to_html())
    shape = [(tag, sorted(attributes)) for tag, attributes in tried.tags]
    assert shape == [(tag, sorted(attributes)) for tag, attributes in harmless.tags]
    assert tried.contents["style"] == harmless.contents["style"]


def test_templates_are_not_read_from_the_data(report_of):
    assert "49" not in "".join(Scan(report_of("{{ 7 * 7 }}").to_html()).texts)


def test_policy_allows_the_scripts_and_styles_of_the_page_and_nothing_else(everything):
    scan = Scan(everything.to_html())
    # the first thing in the head, so that it holds for all that follows
    assert [tag for tag, _ in scan.tags[:3]] == ["html", "head", "meta"]
    assert scan.tags[2][1]["http-equiv"] == "Content-Security-Policy"
    policy = dict(
        part.strip().split(" ", 1) for part in scan.tags[2][1]["content"].split(";") if part
    )
    types = [attributes.get("type") for tag, attributes in scan.tags if tag == "script"]
    scripts = [
        text
        for text, kind in zip(scan.contents["script"], types, strict=True)
        if kind != "application/json"
    ]

    def hashes(texts):
        digests = (hashlib.sha256(text.encode()).digest() for text in texts)
        return {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}

    assert policy == {
        "default-src": "'none'",
        "script-src": policy["script-src"],
        "style-src": policy["style-src"],
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert set(policy["script-src"].split()) == hashes(scripts)
    assert set(policy["style-src"].split()) == hashes(scan.contents["style"])


def test_the_encoding_is_said_where_browsers_look_for_it(everything):
    assert "charset" in everything.to_html().encode()[:1024].decode()


def test_nothing_on_the_page_has_an_address_elsewhere_or_style_or_script_of_its_own(everything):
    tags = Scan(everything.to_html()).tags
    assert {tag for tag, _ in tags} >= {"a", "script", "style", "table"}
    for tag, attributes in tags:
        assert not {"style", "src", "srcset", "action"} & attributes.keys(), tag
        assert not [name for name in attributes if name.startswith("on")], tag
        assert attributes.get("href", "#").startswith(("#", "data:,")), tag


def test_identifiers_occur_once_even_where_names_repeat(report_of):
    ids = Scan(report_of("age").to_html()).ids()
    assert len(ids) == len(set(ids))
    assert "age" in ids


def test_headings_are_in_order(everything):
    levels = [
        int(tag[1]) for tag, _ in Scan(everything.to_html()).tags if tag in {"h1", "h2", "h3"}
    ]
    assert levels == [1, 2, 2, 2, 2]


def test_language_is_said(everything):
    assert Scan(everything.to_html()).tags[0] == ("html", {"lang": "en"})


def test_all_rows_of_a_sheet_are_in_the_page_for_readers_without_script(everything):
    texts = Scan(everything.to_html()).texts
    assert {f"column {i}" for i in range(30)} <= set(texts)


def test_every_chart_says_what_it_shows(everything):
    drawings = [
        attributes
        for _, attributes in Scan(everything.to_html()).tags
        if attributes.get("class") == "drawing"
    ]
    assert len(drawings) == 17
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in drawings)


def test_the_script_of_vega_is_in_the_page_once(everything):
    html = everything.to_html()
    assert html.count("window.vegaEmbed=") == 1
    assert len(html) < 1_500_000


def test_no_name_is_used_by_two_files_of_the_script():
    declared = [
        name
        for file in page_module._SCRIPTS
        for name in re.findall(
            r"^(?:async )?(?:function\*?|const|let|class) (\w+)", page_module._static(file), re.M
        )
    ]
    assert declared
    assert sorted(declared) == sorted(set(declared))


def test_every_colour_of_the_librarys_figures_has_one_in_either_theme():
    figures = Path(clearwood.plot.__file__).parent.glob("*.py")
    named = {
        colour.lower()
        for file in figures
        for colour in re.findall(r"#[0-9A-Fa-f]{6}", file.read_text(encoding="utf-8"))
    }
    themed = dict(
        re.findall(r'^  "?(#?\w+)"?: "(--[\w-]+)",$', page_module._static("charts.js"), re.M)
    )
    assert len(named) > 5
    assert named <= themed.keys()
    style = page_module._static("page.css")
    for name in themed.values():
        assert len(re.findall(rf"^\s+{name}: #", style, re.M)) == 2, name


def test_scripts_cannot_end_their_element():
    text = page_module._inline('const end = "</script>", open = "<!--", Other = "</SCRIPT>";')
    assert text == 'const end = "\\x3c/script>", open = "\\x3c!--", Other = "\\x3c/SCRIPT>";'


def test_what_is_no_block_is_refused():
    with pytest.raises(TypeError, match="holds 'str', which is not a kind of block"):
        Report("r", (Section("x", "X", ("words",)),)).to_html()


def test_a_page_without_sections_is_a_page():
    assert "<h1" in Report("Nothing", ()).to_html()
