"""What the command line answers when something goes wrong, and its exit codes."""

import errno
import os
import signal
import sys
import traceback as tracebacks
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, TextIO

import typer

from clearwood._shared.errors import ClearwoodWarning, InputError, Spelling, spelled
from clearwood.cli import interrupts_handled_by
from clearwood.cli.support.console import print_message, written
from clearwood.cli.support.spelling import CommandLine, typed_name
from clearwood.cli.support.verb import choices_of

__all__ = ["BAD_INPUT", "OK", "STOPPED", "UNEXPECTED", "run_to_exit_code", "warnings_in_words"]

OK, UNEXPECTED, BAD_INPUT, STOPPED = 0, 1, 2, 130

# scikit-learn's error about a setting. It is named rather than imported, because the class would
# load the library.
_ABOUT_SETTING = "sklearn.utils._param_validation.InvalidParameterError"


def run_to_exit_code(
    run: Callable[[CommandLine], Any], words: Sequence[str], *, traceback: bool = False
) -> int:
    """Run a command; turn every outcome into messages on stderr and an exit code.

    Parameters
    ----------
    run
        Runs the command without letting Typer exit. It receives the spelling of messages, which
        learns from it which verb runs.
    words
        The command as typed.
    traceback
        Whether to show where an error happened.
    """
    written.clear()
    spelling = CommandLine()
    traceback = traceback or os.environ.get("CLEARWOOD_TRACEBACK", "0") not in ("", "0")
    interrupts: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        # noted, as a compiled module that is being imported makes another error of it
        interrupts.append(number)
        signal.default_int_handler(number, frame)

    try:
        with interrupts_handled_by(note), warnings_in_words(spelling):
            code = run(spelling)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return _stopped()
    except BrokenPipeError:
        # The reader (`| head`) has closed the pipe: nobody is left to read a message.
        _abandon_stdout()
        return UNEXPECTED
    except Exception as error:
        if interrupts:
            return _stopped()
        if traceback:
            tracebacks.print_exc()
        return _explain(error, words, spelling, traceback=traceback)
    if code == STOPPED:
        return _stopped()
    return code if isinstance(code, int) else OK


@contextmanager
def warnings_in_words(spelling: Spelling) -> Iterator[None]:
    """Show each warning once, without file names and line numbers."""
    shown: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del filename, lineno, file, line
        if isinstance(message, ClearwoodWarning):
            text = spelled(message.text, spelling)
        elif issubclass(category, UserWarning | RuntimeWarning):
            text = _first_line(message)
        else:
            return  # warnings for developers, such as deprecations
        if text and text not in shown:
            shown.add(text)
            print_message("warning", text, style="bold yellow")

    with warnings.catch_warnings():
        # One filter that lets everything through: scikit-learn rejects an empty list.
        warnings.resetwarnings()
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


def _stopped() -> int:
    names = ", ".join(str(path) for path in written)
    done = f"already written: {names}" if names else "nothing was written"
    sys.stderr.write(f"stopped; {done}\n")
    return STOPPED


def _explain(error: Exception, words: Sequence[str], spelling: Spelling, *, traceback: bool) -> int:
    if isinstance(error, InputError):
        hint = None if error.hint is None else spelled(error.hint, spelling)
        _complain(spelled(error.message, spelling), hint)
        return BAD_INPUT
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        return _usage(error)
    if isinstance(error, OSError) and error.errno is not None:
        return _system(error)
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    if isinstance(error, MemoryError):
        _complain("there is not enough memory", "try fewer rows, or a simpler learner.")
        return UNEXPECTED
    # errors of Python itself are no library's, and the catalogue may be what failed
    is_python = type(error).__module__ == "builtins"
    if name == _ABOUT_SETTING or (not is_python and name in _setting_errors()):
        library = name.partition(".")[0].strip("_").replace("sklearn", "scikit-learn")
        _complain(f"{library} rejected a setting: {_first_line(error)}", _settings_hint(words))
        return BAD_INPUT
    hint = "this is a bug in Clearwood; please report it with the output of --traceback."
    _complain(
        f"unexpected {type(error).__name__}: {_first_line(error)}", None if traceback else hint
    )
    return UNEXPECTED


def _setting_errors() -> set[str]:
    """Name the errors of the libraries of all learners about a setting."""
    from clearwood.models import catalogue

    return {name for entry in catalogue.entries() for name in entry.setting_errors}


def _usage(error: Any) -> int:
    """Show what is wrong with the words typed, from the fields of Typer's errors."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return BAD_INPUT
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    command = "clearwood" if context is None else context.command_path
    hint = f"{command} --help lists its arguments and options."
    if hasattr(error, "possibilities"):
        message = f"{command} has no option {error.option_name}"
        if error.possibilities:
            hint = f"did you mean {' or '.join(error.possibilities)}?"
    elif type(error).__name__ == "MissingParameter" and parameter is not None:
        message = f"{typed_name(parameter)} is missing"
        if parameter.help:
            message += f": {parameter.help[:1].lower()}{parameter.help[1:].rstrip('.')}"
    elif parameter is not None and (choices := choices_of(context, parameter.name)):
        message = f"{typed_name(parameter)} takes one of {', '.join(choices)}"
    else:
        name = "" if parameter is None else f"{typed_name(parameter)}: "
        text = error.message.rstrip(".")
        message = f"{name}{text[:1].lower()}{text[1:]}"
    _complain(message, hint)
    return int(error.exit_code)


def _system(error: OSError) -> int:
    """Show what the operating system refused, and for which file."""
    reason = (error.strerror or str(error)).lower()
    place = error.filename if error.filename is not None else "the output"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        _abandon_stdout()
        _complain(f"cannot write {place}: {reason}", "make room, or write elsewhere with -o.")
    elif error.errno == errno.EIO:
        _complain(f"cannot use {place}: {reason}", "the disk or the network share has a fault.")
    else:
        _complain(f"cannot use {place}: {reason}", None)
    return BAD_INPUT


def _settings_hint(words: Sequence[str]) -> str | None:
    verb = next((word for word in words if not word.startswith("-")), "")
    return "clearwood models NAME shows a learner's settings." if verb == "fit" else None


def _complain(message: str, hint: str | None) -> None:
    try:
        print_message("error", message, style="bold red")
        if hint:
            print_message("hint", hint, style="bold cyan")
    except BrokenPipeError:
        pass


def _first_line(error: BaseException | str) -> str:
    return str(error).strip().partition("\n")[0] or "no message"


def _abandon_stdout() -> None:
    """Keep the interpreter from failing to flush stdout at exit."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, descriptor)
    os.close(devnull)
