"""What the command line answers when something goes wrong, and its exit codes."""

import errno
import os
import re
import sys
import traceback as tracebacks
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import typer

from clearwood._shared.errors import ClearwoodWarning, InputError, did_you_mean
from clearwood.cli.support.console import tell, written
from clearwood.cli.support.spelling import in_options

__all__ = ["answer", "spoken_warnings"]

OK, UNEXPECTED, BAD_INPUT, STOPPED = 0, 1, 2, 130

# Errors of other libraries that speak of a setting or value the user gave. Named rather than
# imported: asking for the classes would load the libraries.
_ABOUT_INPUT = {
    "sklearn.utils._param_validation.InvalidParameterError",
    "lightgbm.basic.LightGBMError",
    "xgboost.core.XGBoostError",
    "_catboost.CatBoostError",
}


def answer(run: Callable[[], Any], words: Sequence[str], *, traceback: bool = False) -> int:
    """Run a command; turn whatever happens into messages on stderr and an exit code.

    Parameters
    ----------
    run
        Runs the command without letting Typer exit.
    words
        The command as typed, to point at its help.
    traceback
        Whether to show where an error happened.
    """
    written.clear()
    traceback = traceback or os.environ.get("CLEARWOOD_TRACEBACK", "0") not in ("", "0")
    try:
        with spoken_warnings():
            code = run()
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return _stopped()
    except BrokenPipeError:
        # The reader (`| head`) has had enough: nothing to say, and nobody to say it to.
        _abandon_stdout()
        return UNEXPECTED
    except Exception as error:
        if traceback:
            tracebacks.print_exc()
        return _explain(error, words, traceback=traceback)
    if code == STOPPED:
        return _stopped()
    return code if isinstance(code, int) else OK


@contextmanager
def spoken_warnings() -> Iterator[None]:
    """Show each warning once, in words, without file names and line numbers."""
    said: set[str] = set()

    def speak(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del filename, lineno, file, line
        text = str(message).strip()
        if not issubclass(category, ClearwoodWarning):
            # Developers' warnings (deprecations) are not for users; of the rest one line will do.
            if not issubclass(category, UserWarning | RuntimeWarning):
                return
            text = text.partition("\n")[0]
        if text and text not in said:
            said.add(text)
            tell("warning", in_options(text), style="bold yellow")

    with warnings.catch_warnings():
        # One filter that lets all through: scikit-learn takes an empty list for a mistake.
        warnings.resetwarnings()
        warnings.simplefilter("always")
        warnings.showwarning = speak
        yield


def _stopped() -> int:
    names = ", ".join(str(path) for path in written)
    done = f"already written: {names}" if names else "nothing was written"
    sys.stderr.write(f"stopped; {done}\n")
    return STOPPED


def _explain(error: Exception, words: Sequence[str], *, traceback: bool) -> int:
    if isinstance(error, InputError):
        hint = None if error.hint is None else in_options(str(error.hint))
        _complain(in_options(str(error.message)), hint)
        return BAD_INPUT
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        return _usage(error)
    if isinstance(error, OSError) and error.errno is not None:
        return _system(error)
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    if name in _ABOUT_INPUT:
        library = name.partition(".")[0].strip("_").replace("sklearn", "scikit-learn")
        _complain(f"{library} refused a setting: {_first_line(error)}", _settings_hint(words))
        return BAD_INPUT
    if isinstance(error, MemoryError):
        _complain("there is not enough memory", "try fewer rows, or a simpler learner.")
        return UNEXPECTED
    hint = "this is not your fault; the report of it needs what --traceback shows."
    _complain(
        f"unexpected {type(error).__name__}: {_first_line(error)}", None if traceback else hint
    )
    return UNEXPECTED


def _usage(error: Any) -> int:
    """Say what was wrong with the words typed."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return BAD_INPUT
    message = " ".join(error.format_message().split())
    message = re.sub(r"\.? ?(Did you mean.*|\(Possible options:.*)?$", "", message)
    context = getattr(error, "ctx", None)
    command = "clearwood" if context is None else context.command_path
    hint = f"{command} --help lists what it understands."
    if near := getattr(error, "possibilities", None):
        hint = f"did you mean {' or '.join(near)}?"
    elif context is not None and getattr(error, "param", None) is None:
        typed = re.search(r"No such command '(.*?)'", error.format_message())
        if typed:
            hint = did_you_mean(typed[1], context.command.list_commands(context))
    _complain(message[:1].lower() + message[1:], hint)
    return int(error.exit_code)


def _system(error: OSError) -> int:
    """Say what the operating system refused, about which file."""
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
        tell("error", message, style="bold red")
        if hint:
            tell("hint", hint, style="bold cyan")
    except BrokenPipeError:
        pass


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or "no message"


def _abandon_stdout() -> None:
    """Keep the interpreter from flushing what nobody can take, with a complaint, at exit."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, descriptor)
    os.close(devnull)
