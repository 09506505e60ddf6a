"""The page's recipe makes the same page again, by whichever route the page was made."""

import csv
import json
import re
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import clearwood as cw
from clearwood.cli.app import run
from clearwood.reporting import Facts, Report
from clearwood.resampling import KFold

#: Headings whose cells are times.
TIMES = {"seconds"}


@pytest.fixture
def columns():
    rng = np.random.default_rng(3)
    n = 150
    x, g = rng.normal(size=n), rng.integers(0, 2, n)
    y = 2 * x + g + rng.normal(size=n)
    return {
        "x": x.round(4).tolist(),
        "z": rng.normal(size=n).round(4).tolist(),
        "sex": np.where(g, "f", "m").tolist(),
        "person": (np.arange(n) // 3).tolist(),
        "year": (2000 + np.arange(n) // 10).tolist(),
        "weight": rng.integers(1, 4, n).tolist(),
        "y": y.round(4).tolist(),
    }


@pytest.fixture
def saved(monkeypatch, tmp_path, columns):
    """The pages that were saved, in a folder that holds the table."""
    pages = []

    def save(self, path, *, force=False):
        pages.append(self)

    monkeypatch.setattr(Report, "save", save)
    monkeypatch.setattr("clearwood.cli.verbs.report._show", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "table.csv", columns)
    write(tmp_path / "test.csv", {name: values[:40] for name, values in columns.items()})
    return pages


def write(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def plain(value):
    """Give a page's blocks as plain values, without times."""
    if isinstance(value, Facts):
        return [plain(item) for item in value.items if item[0] != "On the command line"]
    if is_dataclass(value):
        own = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        if "columns" in own and "rows" in own:
            kept = [k for k, name in enumerate(own["columns"]) if name not in TIMES]
            own["rows"] = [[row[k] for k in kept] for row in own["rows"]]
            if own["name"] == "stages":
                own["rows"] = [row for row in own["rows"] if row[0] not in BEFORE]
        return own
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, str):
        return re.sub(r"(\d[\d.,]* (ms|s|min|h)\b ?)+", "some time", value)
    return value


#: What is counted differently by the command line and by Python.
BEFORE = {"start and reading", "tuning and fitting", "fitting", "benchmark"}


def recipe_of(page):
    section = next(section for section in page.sections if section.name == "reproduction")
    facts = [block for block in section.blocks if isinstance(block, Facts)]
    return next(text for block in facts for name, text in block.items if name == "In Python")


def check_recipe(saved, **given):
    [page] = saved
    code = recipe_of(page)
    for name in given:
        code = re.sub(rf"^{name} = \.\.\..*$", f"{name} = given[{name!r}]", code, flags=re.M)
    assert " = ..." not in code, code
    exec(code, {"given": given})
    again = saved[1]
    assert again.title == page.title
    first, second = (json.dumps(plain(one.sections), default=str) for one in (page, again))
    assert first == second
    assert recipe_of(again) == code or given


@pytest.mark.parametrize(
    "words",
    [
        ("--weight", "weight", "--protected", "sex", "--quick", "--title", "Mine"),
        ("--group", "person", "--tune", "2", "--seed", "3", "--ignore", "weight"),
        ("--time", "year", "--quick", "--sections", "summary,performance,reproduction"),
        ("--kind", "person=category", "--task", "regression", "--quick", "--test", "test.csv"),
        ("--quick", "--rows", "0", "--sample", "50"),
    ],
)
def test_pages_of_the_command_line(saved, words):
    base = ("report", "table.csv", "-t", "y", "-l", "baseline,ridge,tree", "-j", "1")
    assert run([*base, *words]) == 0
    check_recipe(saved)


def test_pages_of_a_model_file_and_a_table(saved):
    fit = ("fit", "table.csv", "-t", "y", "--weight", "weight", "-l", "tree", "-o", "tree.cw")
    assert run([*fit, "--set", "max_depth=2"]) == 0
    assert run(["report", "tree.cw", "table.csv", "--quick", "--test", "test.csv", "-j", "1"]) == 0
    check_recipe(saved)


def test_pages_of_data_in_memory(saved, columns):
    data = cw.read(columns, target="y", group="person", ignore=["year", "weight"])
    model = cw.learner("gbm", max_iter=3, seed=5).fit(data)
    cw.report(model, data, quick=True, sample=40, seed=2).save("page.html")
    check_recipe(saved, data=columns)


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_pages_with_a_benchmark_of_unusual_options(saved):
    data = cw.read("table.csv", target="y", weight="weight")
    learners = {"short": cw.learner("tree", max_depth=1), "ridge": cw.learner("ridge")}
    bench = cw.benchmark(data, learners, plan=KFold(3), tune=2, inner=2, confidence=0.8)
    model = bench.best().fit(data)
    cw.report(model, data, benchmark=bench, quick=True).save("page.html")
    check_recipe(saved)


def test_a_model_that_python_cannot_write_is_left_to_the_reader(saved, columns):
    data = cw.read(columns, target="y")

    def model(rows):
        return np.asarray(rows["x"], float)

    cw.report(model, data, quick=True).save("page.html")
    check_recipe(saved, data=columns, model=model)


def test_the_fingerprint_is_that_of_the_data_and_the_file_has_its_own(saved):
    for words in (("-t", "y"), ("-t", "x", "--ignore", "y"), ("-t", "sex", "--weight", "weight")):
        base = ("report", "table.csv", "-l", "baseline,tree", "--quick", "-j", "1")
        assert run([*base, "--sections", "reproduction", *words]) == 0
    facts = [
        dict(next(b for b in p.sections[0].blocks if isinstance(b, Facts)).items) for p in saved
    ]
    assert len({one["Fingerprint of the data"] for one in facts}) == 1
    assert len({one["Data from"] for one in facts}) == 1
    assert "the file's own SHA-256" in facts[0]["Data from"]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (("--quick",), {"quick": True}),
        (("--tune", "2", "--seed", "3"), {"tune": 2, "seed": 3}),
        (("--quick", "--no-rows", "--threshold", "0.4"), {"quick": True, "rows": 0}),
    ],
)
def test_the_command_line_and_the_library_make_the_same_page_of_a_table(saved, words, options):
    target = "sex" if "--threshold" in words else "y"
    learners = ["baseline", "logistic", "tree"] if target == "sex" else ["baseline", "ridge"]
    if target == "sex":
        options = {**options, "threshold": 0.4}
    assert (
        run(["report", "table.csv", "-t", target, "-l", ",".join(learners), "-j", "1", *words]) == 0
    )
    cw.report(cw.read("table.csv", target=target), learners=learners, **options).save("page.html")
    typed, called = saved
    assert typed.about == called.about
    first, second = (json.dumps(plain(one.sections), default=str) for one in saved)
    assert first == second


def test_a_page_of_one_command_is_one_call(saved):
    words = ("-l", "baseline,ridge", "--quick", "--sections", "reproduction", "-j", "1")
    assert run(["report", "table.csv", "-t", "y", *words]) == 0
    assert recipe_of(saved[0]).removesuffix('.save("report.html")').splitlines() == [
        "import clearwood as cw",
        "data = cw.read('table.csv', target='y')",
        "cw.report(data, learners=['baseline', 'ridge'], sections=['reproduction'], quick=True)",
    ]
