"""Options and calls of the library, written as they are typed."""

import ast
import re
from pathlib import Path

import pytest
import typer

import clearwood
from clearwood import InputError
from clearwood._shared.errors import Call, Option, spelled, words
from clearwood._shared.messages import tell
from clearwood.cli.app import app
from clearwood.cli.support.spelling import CommandLine


@pytest.fixture(scope="module")
def spelling_in():
    """Give the spelling while a verb runs."""
    root = typer.main.get_command(app)

    def spelling(*path):
        command, context = root, root.context_class(root)
        for name in path:
            command = command.commands[name]
            context = command.context_class(command, parent=context)
        spelling = CommandLine()
        spelling.use(context)
        return spelling

    return spelling


@pytest.mark.parametrize(
    ("option", "typed"),
    [
        (Option("task", "count"), "--task count"),
        (Option("kinds", {"zip": "category"}), "--kind zip=category"),
        (Option("kinds", {"a b": "category", "c": "date"}), "--kind 'a b=category' --kind c=date"),
        (Option("kinds"), "--kind"),
        (Option("n_jobs", 2), "--jobs 2"),
        (Option("seed", -1), "--seed -1"),
        (Option("ignore", ["id", "my key"]), "--ignore id --ignore 'my key'"),
        (Option("decimal", ","), "--decimal ,"),
        (Option("delimiter", "\t"), "--delimiter $'\\t'"),
        (Option("force", True), "--force"),
        (Option("encoding"), "--encoding"),
        (Option("data"), "DATA"),
    ],
)
def test_options_are_written_as_flags(spelling_in, option, typed):
    assert spelling_in("fit").option(option) == typed


@pytest.mark.parametrize(
    ("option", "typed"),
    [
        (Option("time_limit", 60.0), "--time-limit 60"),
        (Option("time_limit", 1e-06), "--time-limit 1e-06"),
        (Option("confidence", 1.5), "--confidence 1.5"),
        (Option("learners", ["ridge", "gbm"]), "--learners ridge --learners gbm"),
        (Option("interval", "hold-out"), "--interval hold-out"),
    ],
)
def test_numbers_and_lists_are_written_as_they_are_typed(spelling_in, option, typed):
    assert spelling_in("benchmark").option(option) == typed


@pytest.mark.parametrize(
    "option", [Option("space", {"knn": {"p": 1}}), Option("repeats", None), Option("force", False)]
)
def test_what_cannot_be_typed_is_written_in_python(spelling_in, option):
    python = f"{option.name}={option.value!r} (in Python)"
    assert spelling_in("benchmark").option(option) == python


def test_the_verb_that_runs_comes_first_and_then_the_others(spelling_in):
    assert spelling_in("condense").option(Option("data", "new.csv")) == "--data new.csv"
    assert spelling_in("predict").option(Option("kinds", {"a": "text"})) == "--kind a=text"


@pytest.mark.parametrize(
    ("call", "typed"),
    [
        (Call("fit"), "clearwood fit"),
        (
            Call("explain", ("model", "data"), {"max_order": 3}),
            "clearwood explain MODEL DATA --max-order 3",
        ),
        (Call("what_if", ("model", "data")), "clearwood explain what-if MODEL DATA"),
        (
            Call("effect", ("model", "data", "'my age'")),
            "clearwood explain effect MODEL DATA 'my age'",
        ),
        (
            Call("explain", ("model", "data"), {"max_order": None}),
            "cw.explain(model, data, max_order=None) (in Python)",
        ),
        (Call("save", ("model", "path")), "cw.save(model, path) (in Python)"),
    ],
)
def test_calls_are_written_as_commands(spelling_in, call, typed):
    assert spelling_in("fit").call(call) == typed


#: Calls that make messages.
MESSAGES = {"InputError", "MissingExtraError", "bad_value", "unknown_choice", "tell", "words"}
PROSE_OPTION = re.compile(r"(?<![\w<\"'`-])[a-z_]{2,}=(?!=)|(?<!\w)--[a-z]")
#: Rooms that name settings of other libraries, which have no other spelling.
FOREIGN = {"forest", "kernels"}


def test_messages_of_the_library_name_options_apart_from_prose():
    root = Path(clearwood.__file__).parent
    places = [
        f"{file.relative_to(root)}:{text.lineno}: {text.value!r}"
        for file in root.rglob("*.py")
        if file.relative_to(root).parts[0] not in {*FOREIGN, "cli"}
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and getattr(call.func, "id", getattr(call.func, "attr", "")) in MESSAGES
        for text in ast.walk(call)
        if isinstance(text, ast.Constant)
        and isinstance(text.value, str)
        and PROSE_OPTION.search(text.value)
    ]
    assert not places, "use Option or Call:\n" + "\n".join(places)


def test_prose_is_left_alone(spelling_in):
    text = words("column 'a=b' is odd: task='x', set ", Option("task", "count"), ".")
    assert spelled(text, spelling_in("fit")) == "column 'a=b' is odd: task='x', set --task count."


def test_errors_and_warnings_of_the_library_are_written_so(cli, monkeypatch):
    def entries():
        tell(words("raise ", Option("n_jobs", 4)))
        raise InputError(words(Option("seed", -1), " is odd"), hint=words("try ", Call("fit")))

    monkeypatch.setattr("clearwood.models.catalogue.entries", entries)
    answer = cli("models")
    assert answer.code == 2
    assert answer.err.splitlines() == [
        "warning: raise --jobs 4",
        "error: --seed -1 is odd",
        "hint: try clearwood fit",
    ]
