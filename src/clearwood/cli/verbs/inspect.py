"""`clearwood inspect`: what a model file holds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clearwood.cli.support.console import bytes_in_words, emit, facts, say
from clearwood.cli.support.options import Json, ModelFile

if TYPE_CHECKING:
    from clearwood import models

__all__ = ["inspect"]

#: Of more columns than this the first are named.
SHOWN = 30


def inspect(*, model: ModelFile, json: Json = False) -> None:
    """Show what is in a model file; nothing in it is run."""
    import clearwood as cw

    found = cw.inspect(model)
    if json:
        emit(found.to_json())
        return
    from rich.text import Text

    say(Text(found.path, style="bold cyan"), "", facts(_told(found)))


def _told(found: "models.ModelFile") -> Iterator[tuple[str, str]]:
    yield "learner", f"{found.learner}: {found.title}" if found.title else found.learner
    if found.task is not None:
        yield "predicts", f"{found.target or 'a target given apart'} ({found.task})"
    for place, column in enumerate(found.columns[:SHOWN]):
        levels = f", {len(column.levels)} levels" if column.levels else ""
        role = ", protected" if column.role.value == "protected" else ""
        yield "" if place else "from", f"{column.name} ({column.kind.value}{levels}{role})"
    if len(found.columns) > SHOWN:
        yield "", f"and {len(found.columns) - SHOWN} more; --json lists all"
    if found.settings:
        yield "settings", ", ".join(f"{name}={value}" for name, value in found.settings.items())
    if found.seed is not None:
        yield "seed", str(found.seed)
    if found.training:
        yield "fitted to", _training(found)
    versions = {"clearwood": found.clearwood, **found.libraries}
    yield "made with", ", ".join(f"{name} {number}" for name, number in versions.items())
    refused = [name for name, trusted in found.types.items() if not trusted]
    if refused:
        yield "safety", f"NOT trusted, will not be loaded: {', '.join(refused)}"
    else:
        yield "safety", f"all {len(found.types)} types in it are trusted; nothing was run"
    yield "file", f"{bytes_in_words(found.size)} in {len(found.members)} parts"
    yield "sha256", found.sha256


def _training(found: "models.ModelFile") -> str:
    training = found.training
    words = f"{training['rows']:,} rows" if "rows" in training else "rows not counted"
    if training.get("source"):
        words += f" of {training['source']}"
    if training.get("dropped"):
        words += f" ({training['dropped']:,} more had no target)"
    if "seconds" in training:
        words += f", in {training['seconds']:.1f} s"
    return words
