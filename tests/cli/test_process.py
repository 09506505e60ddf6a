"""The command as a process: quick to start, quiet when stopped, calm when things break."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numpy", "scipy", "sklearn", "duckdb", "pandas", "polars", "narwhals", "skops")
PROGRAM = (sys.executable, "-c", "from clearwood.cli import main; main()")

COMPLETING = {
    "_CLEARWOOD_COMPLETE": "complete_bash",
    "COMP_WORDS": "clearwood fit data.csv --learner rid",
    "COMP_CWORD": "4",
}


def start(*words, **options):
    environment = {**os.environ, "COLUMNS": "80", **options.pop("env", {})}
    return subprocess.Popen(
        [*PROGRAM, *map(str, words)],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **options,
    )


def imported_by(*words, **environment):
    """Give the modules that the command has imported when it ends."""
    ending = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    shown = subprocess.run(
        [sys.executable, "-c", ending + PROGRAM[2], *words],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    imported = set(shown.stderr.splitlines()[-1].split())
    assert "clearwood.cli.app" in imported
    return imported


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["fit", "--help"], ["nonsense"]])
def test_help_and_version_import_nothing_heavy(words):
    assert imported_by(*words).isdisjoint(HEAVY)


@pytest.mark.parametrize("words", [[], ["--json"], ["--task", "count"], ["ridge"], ["nonsense"]])
def test_listing_learners_imports_no_learner(words):
    imported = imported_by("models", *words)
    assert "clearwood.models.catalogue" in imported
    assert imported.isdisjoint(set(HEAVY) - {"numpy"})


def test_offering_learners_to_complete_imports_no_learner():
    imported = imported_by(**COMPLETING)
    assert "clearwood.models.catalogue" in imported
    assert imported.isdisjoint(set(HEAVY) - {"numpy"})


def test_version_names_the_package():
    import clearwood

    out, _ = start("--version").communicate()
    assert out == f"clearwood {clearwood.__version__}\n"


def test_ctrl_c_during_a_fit_leaves_nothing(claims, tmp_path):
    before = sorted(tmp_path.iterdir())
    words = ("fit", claims, "-t", "accidents", "-l", "gbm", "--set", "max_iter=1000000")
    with start(*words, cwd=tmp_path, env={"CLEARWOOD_PROGRESS": "1"}) as process:
        for line in process.stderr:
            if line.startswith("fitting"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.endswith("stopped; nothing was written\n")
    assert "Traceback" not in err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("module", "raised"),
    [
        ("typer", "KeyboardInterrupt"),
        ("clearwood.cli.verbs.fit", "KeyboardInterrupt"),
        ("numpy", "KeyboardInterrupt"),
        ("sklearn", "KeyboardInterrupt"),
        ("sklearn", "ImportError"),
    ],
)
def test_ctrl_c_during_the_imports_shows_no_traceback(module, raised, claims):
    """The interrupt arrives as the first file of a module is looked for.

    A compiled module turns it into an error of its own.
    """
    interrupting = f"""
import os, signal, sys

class Interrupting:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(Interrupting)
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                raise {raised}("initialization failed")

sys.meta_path.insert(0, Interrupting)
"""
    result = subprocess.run(
        [sys.executable, "-c", interrupting + PROGRAM[2], "fit", claims, "-t", "accidents"],
        check=False,
        capture_output=True,
        text=True,
        cwd=claims.parent,
    )
    assert result.returncode == 130
    assert (result.stdout, result.stderr) == ("", "stopped; nothing was written\n")


def test_a_reader_that_has_had_enough_is_no_error():
    with start("fit", "--help") as process:
        process.stdout.close()
        assert process.stderr.read() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stdout():
    with Path("/dev/full").open("w") as full, start("--version", stdout=full) as process:
        err = process.stderr.read()
    assert process.returncode == 2
    assert "no space left on device" in err
    assert "Traceback" not in err
    assert "Exception ignored" not in err


def test_stdout_has_no_colours_when_it_is_not_a_terminal(claims):
    out, err = start("fit", "--help", env={"TERM": "xterm-256color"}).communicate()
    assert "\x1b" not in out + err


def test_learner_names_are_completed():
    out, _ = start(env=COMPLETING).communicate(timeout=60)
    assert out.split() == ["ridge"]
