"""The report as an object: saved, shown in a notebook."""

from html.parser import HTMLParser

import pytest

import clearwood as cw
from clearwood.reporting import Prose, Report, Section

REPORT = Report("Accidents & <more>", (Section("summary", "Summary", (Prose(("Well.",)),)),))


def test_saved_page_is_the_text_of_the_page(tmp_path):
    REPORT.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == REPORT.to_html()


def test_saving_twice_gives_the_same_bytes(tmp_path):
    REPORT.save(tmp_path / "a.html")
    REPORT.save(tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_file_that_exists_is_kept_unless_forced(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(cw.InputError, match=r"report\.html' exists already.*force=True"):
        REPORT.save(path)
    assert path.read_text() == "mine"
    REPORT.save(path, force=True)
    assert path.read_text(encoding="utf-8") == REPORT.to_html()


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(cw.InputError, match=r"folder .*nowhere' does not exist"):
        REPORT.save(tmp_path / "nowhere" / "report.html")


def test_notebook_shows_the_page_in_a_frame_that_reaches_nothing():
    found = []

    class Frames(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.append((tag, dict(attributes)))

    Frames().feed(REPORT._repr_html_())
    [(tag, attributes)] = found
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert attributes["srcdoc"] == REPORT.to_html()
    assert attributes["title"] == "Accidents & <more>"


def test_repr_counts_what_is_on_the_page(everything):
    assert repr(everything) == "Report 'What predicts accidents?': 4 sections, 17 charts"
