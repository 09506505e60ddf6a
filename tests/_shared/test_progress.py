"""Progress is for people at a terminal and silent for everyone else."""

import io
import subprocess
import sys
from contextlib import redirect_stderr

import pytest

from clearwood._shared import progress as _progress
from clearwood._shared.progress import progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.delenv("CLEARWOOD_PROGRESS", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal()


def test_nothing_is_written_when_stderr_is_not_a_terminal(capsys, monkeypatch):
    monkeypatch.delenv("CLEARWOOD_PROGRESS", raising=False)
    with progress("fitting", total=2) as step:
        step(1, note="first")
        step(1)
    assert capsys.readouterr() == ("", "")


def test_nothing_is_written_when_switched_off_at_a_terminal(terminal, monkeypatch):
    monkeypatch.setenv("CLEARWOOD_PROGRESS", "0")
    with redirect_stderr(terminal), progress("fitting", total=2) as step:
        step(2)
    assert terminal.getvalue() == ""


def test_a_log_gets_plain_lines_when_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("CLEARWOOD_PROGRESS", "1")
    with progress("fitting", total=2) as step:
        step(1, note="ridge")
        step(1, note="forest")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "fitting …\nfitting: 2 of 2, forest\n"


def test_a_terminal_sees_title_count_and_note(terminal):
    with redirect_stderr(terminal), progress("comparing", total=3) as step:
        step(1, note="forest")
        _progress._display.refresh()
    shown = terminal.getvalue()
    assert "comparing" in shown
    assert "1 of 3" in shown
    assert "forest" in shown


def test_work_inside_other_work_shares_the_display(terminal):
    with redirect_stderr(terminal), progress("outer", total=1) as outer:
        display = _progress._display
        with progress("inner") as inner:
            inner(1, note="part")
            assert _progress._display is display
            assert len(display.tasks) == 2
        assert len(display.tasks) == 1
        outer(1)
    assert _progress._display is None


def test_an_error_inside_leaves_the_terminal_as_it_was(terminal):
    with redirect_stderr(terminal), pytest.raises(KeyboardInterrupt), progress("fitting"):
        raise KeyboardInterrupt
    assert _progress._display is None
    hide, show = "\x1b[?25l", "\x1b[?25h"
    assert terminal.getvalue().rindex(show) > terminal.getvalue().rindex(hide)


def test_rich_is_imported_only_when_something_is_shown():
    code = (
        "import sys; from clearwood._shared.progress import progress\n"
        "with progress('x', total=1) as step: step(1)\n"
        "sys.exit('rich' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.PIPE)
