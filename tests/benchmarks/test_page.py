import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MACHINE = {
    "processor": "a processor",
    "cores": 2,
    "simd_level": "avx2",
    "python": "3.13",
    "versions": {"clearwood": "0.1", "shap": "0.51"},
}
CASES = [
    {"case": "clearwood", "cpu": 0.01, "memory_mb": 3.0, "ratio": 1.0, "difference": 0.0},
    {"case": "peer", "cpu": 2.0, "memory_mb": None, "ratio": 200.0, "difference": 1e-15},
    {"case": "other", "not_installed": "other>=1"},
]


@pytest.fixture(scope="module")
def page_module():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        from benchmarks import _page

        yield _page


SUMS = {"comparisons": [{"title": "sums", "threads": 1, "cases": CASES}]}


def record(folder, name, *, quick=False, machine=MACHINE, content=SUMS):
    values = {"section": name, "quick": quick, "when": "2026-01-02T00:00:00Z", "machine": machine}
    path = folder / f"bench-{name}.json"
    path.write_text(json.dumps(values | content), encoding="utf-8")
    return path


def written(page_module, folder, records):
    page = folder / "page.md"
    page.write_text(f"{page_module.BEGIN}\n{page_module.END}\n")
    page_module.update(page, records)
    return page.read_text()


def test_tables_stand_between_the_marks_and_the_rest_stays(page_module, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{page_module.BEGIN}\nold\n{page_module.END}\nafter\n")
    records = [record(tmp_path, "rank"), record(tmp_path, "read", quick=True)]
    assert page_module.update(page, records) == 1
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| peer | 2 s | 200 | | 1e-15 |" in text
    assert "| other | not installed: other>=1 | | | |" in text
    assert "SECTIONS=rank`" in text
    assert "SECTIONS=read`" not in text
    assert "\nold\n" not in text
    assert page_module.update(page, records) == 1
    assert page.read_text() == text


def test_a_section_may_have_tables_of_its_own(page_module, tmp_path):
    table = {"title": "errors", "columns": ["method", "error"], "rows": [["ours", 0.012345]]}
    text = written(page_module, tmp_path, [record(tmp_path, "rank", content={"tables": [table]})])
    assert "errors:\n\n| method | error |\n|---|---|\n| ours | 0.0123 |\n" in text


def test_sections_of_two_machines_and_versions_are_told_apart(page_module, tmp_path):
    newer = MACHINE | {"processor": "another", "versions": {"clearwood": "0.1", "shap": "0.54"}}
    records = [record(tmp_path, "rank"), record(tmp_path, "read", machine=newer)]
    text = written(page_module, tmp_path, records)
    assert "- rank: a processor, 2 cores" in text
    assert "- read: another, 2 cores" in text
    assert "shap 0.51 and 0.54" in text


def test_records_of_studies_are_for_other_pages(page_module, tmp_path):
    assert "coverage" not in page_module.TITLES
    text = written(page_module, tmp_path, [record(tmp_path, "coverage")])
    assert "No section was run in full." in text


def test_every_section_of_the_page_exists(page_module):
    sections = {
        path.stem.removeprefix("bench_") for path in (ROOT / "benchmarks").glob("bench_*.py")
    }
    assert set(page_module.TITLES) <= sections


def test_the_page_on_performance_has_the_marks(page_module):
    text = (ROOT / "docs/background/performance.md").read_text(encoding="utf-8")
    assert text.index(page_module.BEGIN) < text.index(page_module.END)


def test_a_page_without_marks_is_refused(page_module, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("no marks")
    with pytest.raises(ValueError, match="no marks"):
        page_module.update(page, [])
