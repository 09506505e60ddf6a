"""Errors of every sort become a line, a hint and an exit code."""

import errno

import pytest

from clearwood import InputError
from clearwood.cli.verbs import models as _models


@pytest.fixture
def broken(monkeypatch):
    """Make `clearwood models` fail in a chosen way."""

    def fail(error):
        def raise_it(*args, **kwargs):
            raise error

        monkeypatch.setattr("clearwood.models.catalogue.entries", raise_it)

    return fail


def test_an_unexpected_error_is_one_line_that_says_how_to_see_more(cli, broken):
    broken(ZeroDivisionError("division by zero\nsecond line"))
    answer = cli("models")
    assert answer.code == 1
    assert answer.err.splitlines()[0] == "error: unexpected ZeroDivisionError: division by zero"
    assert "--traceback" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("words", [("--traceback", "models"), ("models", "--traceback")])
def test_the_traceback_is_shown_when_asked_for(cli, broken, words):
    broken(ZeroDivisionError("division by zero"))
    answer = cli(*words)
    assert answer.code == 1
    assert "Traceback (most recent call last)" in answer.err


def test_the_traceback_is_shown_by_the_environment(cli, broken, monkeypatch):
    monkeypatch.setenv("CLEARWOOD_TRACEBACK", "1")
    broken(InputError("no"))
    answer = cli("models")
    assert answer.code == 2
    assert "Traceback (most recent call last)" in answer.err


def test_ctrl_c_says_what_was_written(cli, broken):
    broken(KeyboardInterrupt())
    answer = cli("models")
    assert (answer.code, answer.err) == (130, "stopped; nothing was written\n")


def test_the_systems_errors_name_the_file(refused, broken):
    broken(PermissionError(errno.EACCES, "Permission denied", "secret.csv"))
    assert "cannot use secret.csv: permission denied" in refused("models")


def test_lack_of_memory_is_said_plainly(cli, broken):
    broken(MemoryError())
    answer = cli("models")
    assert answer.code == 1
    assert "not enough memory" in answer.err


def test_brackets_in_messages_are_not_taken_for_markup(refused, broken):
    broken(InputError("column '[red]age[/red]' :smile: is odd"))
    assert "'[red]age[/red]' :smile: is odd" in refused("models")


def test_long_messages_are_not_folded(refused, broken):
    broken(InputError("word " * 60, hint="pip install " + "x" * 90))
    err = refused("models")
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fitt",), "did you mean 'fit'"),
        (("models", "--jsno"), "did you mean --json"),
        (("predict", "model.cw"), "DATA is missing"),
        (("predict",), "MODEL is missing"),
        (("models", "gbm", "ridge"), "unexpected extra argument"),
    ],
)
def test_words_that_mean_nothing(refused, words, said):
    assert said in refused(*words)


def test_ranges_are_written_for_people():
    from clearwood.models import Choice, Real, Whole

    assert _models._range(Whole(1, 9)) == "1 to 9"
    assert _models._range(Real(0.001, 10, log=True)) == "0.001 to 10, on a log scale"
    assert _models._range(Choice("a", None)) == "a, None"
