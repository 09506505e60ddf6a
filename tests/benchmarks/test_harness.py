import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def harness():
    # the benchmarks are run from the project's root and not installed
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)
        from benchmarks import _harness

        yield _harness


def run(*arguments):
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )


def comparison(harness, *cases, **options):
    return harness.Comparison(title="sums", data=lambda: np.arange(5.0), cases=cases, **options)


def case(harness, name, answer, **options):
    return harness.Case(name, lambda data, threads: lambda: answer(data), **options)


def test_differences_are_against_our_answer(harness, capsys):
    ours = case(harness, "ours", lambda data: data.cumsum())
    off = case(harness, "peer", lambda data: data.cumsum() + 0.25)
    first, second = harness.compare(
        "demo", comparison(harness, ours, off), quick=True, memory=False
    )
    assert (first.ratio, first.difference) == (1.0, 0.0)
    assert second.difference == 0.25
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[-1].split()[0] == "peer"


def test_peer_that_is_not_installed_is_named_with_its_command(harness, capsys):
    def prepare(data, threads):
        raise ModuleNotFoundError

    ours = case(harness, "ours", sum)
    peer = harness.Case("peer", prepare, package="woodelf-explainer")
    harness.compare("demo", comparison(harness, ours, peer), quick=True, memory=False)
    assert "not installed: pip install 'woodelf-explainer<" in capsys.readouterr().out


def test_broken_import_of_our_own_is_not_taken_for_a_missing_peer(harness):
    def prepare(data, threads):
        raise ModuleNotFoundError("no clearwood")

    ours = harness.Case("ours", prepare)
    with pytest.raises(ModuleNotFoundError, match="no clearwood"):
        harness.compare("demo", comparison(harness, ours), quick=True, memory=False)


def test_promise_is_kept_only_by_ratios_that_reach_it(harness):
    values = {"case": "x", "cpu": 1.0, "wall": 1.0, "memory_mb": None, "difference": 0.0}
    assert harness.Measurement(**values, ratio=6.0, promised=5.0).kept
    assert not harness.Measurement(**values, ratio=4.0, promised=5.0).kept
    assert "promised 5x" in harness.Measurement(**values, ratio=4.0, promised=5.0).row()


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ([1.0, np.nan], [1.0, np.nan], 0.0),
        ([1.0, np.nan], [1.0, 2.0], np.inf),
        ([np.inf, 1.0], [np.inf, 3.0], 2.0),
        ([], [], 0.0),
    ],
)
def test_largest_difference_treats_missing_and_infinite_as_values(
    harness, answer, reference, expected
):
    assert harness.largest_difference(answer, reference) == expected


def test_answers_of_different_shape_are_an_error(harness):
    with pytest.raises(ValueError, match="different shapes"):
        harness.largest_difference([1.0], [1.0, 2.0])


def test_unknown_section_is_answered_with_the_known_ones():
    done = run("rnk")
    assert done.returncode == 2
    assert "no section 'rnk'; did you mean 'rank'" in done.stderr


@pytest.mark.long
def test_run_of_a_section_writes_what_it_printed(tmp_path):
    done = run("rank", "--quick", "--no-memory", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "bench-rank.json").read_text())
    versions = record["machine"]["versions"]
    assert f"clearwood {versions['clearwood']}, numpy {versions['numpy']}" in done.stdout
    assert f"Python {record['machine']['python']} ({sys.executable})" in done.stdout
    for found in record["comparisons"]:
        assert found["title"] in done.stdout
        assert found["cases"][0]["case"] == "clearwood"
        assert all(measured["difference"] == 0 for measured in found["cases"])


def test_memory_of_a_call_is_measured_in_a_process_of_its_own(harness):
    titled = harness.load("rank", quick=True)[0]
    found = harness._memory("rank", titled, titled.cases[1], quick=True)
    if found is None:
        pytest.skip("this system does not tell the peak")
    # searchsorted returns 50,000 indices of 8 bytes
    assert 0.3 < found < 30
