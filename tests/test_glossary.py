"""One word has one meaning: options of functions and of the command line against the glossary."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import clearwood

GLOSSARY = Path(__file__).parents[1] / "docs/reference/glossary.md"
PACKAGES = sorted(
    f"clearwood.{path.name}"
    for path in Path(clearwood.__file__).parent.iterdir()
    if (path / "__init__.py").exists() and path.name not in ("_shared", "kernels", "files", "cli")
)
#: Descriptions that refer to another function.
REFERENCES = ("As for", "As in", "See above", "Of the figure")


@dataclass(frozen=True)
class Word:
    """A row of the glossary."""

    kinds: tuple[str, ...]
    described_by: tuple[str, ...]


@dataclass(frozen=True)
class Use:
    """An option of one function or verb."""

    word: str
    where: str
    kind: str
    text: str


@cache
def glossary() -> dict[str, Word]:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \| (.*) \|$", GLOSSARY.read_text("utf-8"), re.M)
    return {
        word: Word(tuple(kinds.split(", ")), tuple(described.split(", ")))
        for word, kinds, described in rows
    }


def descriptions(doc: str | None) -> dict[str, str]:
    """The text of each parameter in a numpydoc docstring."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}\n|\Z)", inspect.cleandoc(doc or ""), re.S | re.M
    )
    found: dict[str, str] = {}
    names: list[str] = []
    for line in (section[1] if section else "").splitlines():
        if line and not line.startswith(" "):
            names = [name.strip().lstrip("*") for name in line.split(" : ")[0].split(",")]
        for name in names:
            found[name] = f"{found.get(name, '')} {line.strip() if line.startswith(' ') else ''}"
    return found


def kind_of(annotation: Any) -> str:
    """What values an option takes, from its annotation."""
    text = re.sub(
        r"\s*\|\s*None", "", annotation if isinstance(annotation, str) else str(annotation)
    )
    text = re.sub(r"<class '([\w.]*)'>", r"\1", text).replace("typing.", "")
    if text in ("int", "Jobs", "Seed"):
        return "whole number"
    if text in ("float", "int | float", "float | int"):
        return "number"
    if "Literal" in text:
        return "choice"
    if "Path" in text:
        return "file"
    return {"bool": "yes or no", "str": "text"}.get(text, "any")


def uses_in(function: Callable[..., Any], where: str) -> Iterator[Use]:
    texts = descriptions(function.__doc__)
    for name, parameter in inspect.signature(function).parameters.items():
        if name in texts:
            yield Use(name, where, kind_of(parameter.annotation), texts[name].strip())


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions, and public methods of public classes."""
    for package in ("clearwood", *PACKAGES):
        module = import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value):
                members = vars(value).items()
                yield from (
                    (f"{package}.{name}.{method}", getattr(member, "__func__", member))
                    for method, member in members
                    if not method.startswith("_")
                    and inspect.isfunction(getattr(member, "__func__", member))
                )
            elif inspect.isfunction(value):
                yield f"{package}.{name}", value


def options_of_verbs() -> Iterator[Use]:
    """Options of the command line, in the words of its help."""
    from clearwood.cli.app import app

    def below(command: Any, path: str) -> Iterator[Use]:
        for name, one in getattr(command, "commands", {}).items():
            yield from below(one, f"{path} {name}")
        options = (one for one in command.params if hasattr(one, "type_descriptor"))
        for option in options:
            text = str(getattr(option, "help", None) or "")
            kind = kind_of(option.type_descriptor.annotation)
            yield Use(str(option.name), path, kind, text)

    yield from below(typer.main.get_command(app), "clearwood")


@cache
def uses() -> tuple[Use, ...]:
    seen: dict[int, tuple[str, Callable[..., Any]]] = {}
    for where, function in functions():
        seen.setdefault(id(inspect.unwrap(function)), (where, function))
    of_python = [use for where, function in seen.values() for use in uses_in(function, where)]
    return (*of_python, *options_of_verbs())


def second_meanings(word: str, meaning: Word, found: tuple[Use, ...]) -> list[str]:
    """Uses of a word whose values or description are not those of its meaning."""
    wrong = []
    for use in found:
        if use.word != word or use.text.startswith(REFERENCES) or "as for `" in use.text.lower():
            continue
        # what the command line takes as text may stand for anything
        typed = use.where.startswith("clearwood ") and use.kind in ("text", "choice", "file")
        if use.kind not in meaning.kinds and not typed:
            wrong.append(f"{use.where}: {word} is a {use.kind}")
        if not any(one.lower() in use.text.lower() for one in meaning.described_by):
            wrong.append(f"{use.where}: {word} is described as {use.text!r}")
    return wrong


@pytest.mark.parametrize("word", sorted(glossary()))
def test_a_word_has_one_meaning(word):
    assert any(use.word == word for use in uses()), "it is not an option any more"
    assert second_meanings(word, glossary()[word], uses()) == []


def test_a_second_meaning_is_found():
    meaning = glossary()["sample"]
    right = Use("sample", "one", "whole number", "How many rows are used.")
    words = Use("sample", "two", "choice", "Which rows are used.")
    other = Use("sample", "three", "whole number", "How many configurations are tried.")
    assert second_meanings("sample", meaning, (right,)) == []
    assert len(second_meanings("sample", meaning, (right, words, other))) == 2


#: Options that six or more functions share and that are not in the glossary yet. The list may only
#: get shorter.
UNLISTED = {
    *(
        "X",
        "columns",
        "graph",
        "groups",
        "kind",
        "learner",
        "loss",
        "model",
        "most",
        "n",
        "options",
    ),
    *(
        "path",
        "points",
        "result",
        "row",
        "rows",
        "scale",
        "source",
        "table",
        "target",
        "weights",
        "y",
    ),
}


def test_options_that_many_functions_share_are_in_the_glossary():
    shared: dict[str, set[str]] = {}
    for use in uses():
        if not use.where.startswith("clearwood "):
            shared.setdefault(use.word, set()).add(use.where)
    common = {word for word, where in shared.items() if len(where) >= 6}
    assert common - set(glossary()) == UNLISTED
