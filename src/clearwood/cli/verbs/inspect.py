"""`clearwood inspect`: the contents of a model file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clearwood._shared.numbers import count, duration, size
from clearwood.cli.support.console import facts, print_json, print_text
from clearwood.cli.support.options import Json, ModelFile
from clearwood.cli.support.verb import verb

if TYPE_CHECKING:
    from clearwood import models

__all__ = ["inspect"]

#: The most columns that are listed.
SHOWN = 30


@verb
def inspect(model: ModelFile, *, json: Json = False) -> None:
    """Show the contents of a model file without running any of them."""
    import clearwood as cw

    file = cw.inspect(model)
    if json:
        print_json(file.to_json())
        return
    from rich.text import Text

    print_text(Text(file.path, style="bold cyan"), "", facts(_contents(file)))


def _contents(file: "models.ModelFile") -> Iterator[tuple[str, str]]:
    yield "learner", f"{file.learner}: {file.title}" if file.title else file.learner
    if file.task is not None:
        yield "predicts", f"{file.outcome or 'a separate target'} ({file.task})"
    for place, column in enumerate(file.columns[:SHOWN]):
        levels = f", {len(column.levels)} levels" if column.levels else ""
        role = ", protected" if column.role.value == "protected" else ""
        yield "" if place else "from", f"{column.name} ({column.kind.value}{levels}{role})"
    if len(file.columns) > SHOWN:
        yield "", f"and {count(len(file.columns) - SHOWN, 'more column')}; --json lists all"
    if file.settings:
        yield "settings", ", ".join(f"{name}={value}" for name, value in file.settings.items())
    if file.monotone:
        yield "monotone", ", ".join(f"{name} {way}" for name, way in file.monotone.items())
    if file.select is not None:
        yield "selected", f"{', '.join(file.selected) or 'none'} (by {file.select})"
    if file.seed is not None:
        yield "seed", str(file.seed)
    if file.training:
        yield "fitted to", _training(file)
        for name, why in file.training.get("left_out", {}).items():
            yield "left out", f"{name}: {why}"
    versions = {"clearwood": file.clearwood, **file.libraries}
    yield "made with", ", ".join(f"{name} {number}" for name, number in versions.items())
    refused = [name for name, trusted in file.types.items() if not trusted]
    if refused:
        yield "safety", f"NOT trusted, and not loaded: {', '.join(refused)}"
    else:
        yield "safety", f"all {len(file.types)} types in it are trusted; no code was run"
    yield "file", f"{size(file.size)} in {count(len(file.members), 'part')}"
    yield "sha256", file.sha256


def _training(file: "models.ModelFile") -> str:
    training = file.training
    words = count(training["rows"], "row") if "rows" in training else "an unknown number of rows"
    if training.get("source"):
        words += f" of {training['source']}"
    if training.get("dropped"):
        words += f" ({training['dropped']:,} more without the target)"
    if "seconds" in training:
        words += f", in {duration(training['seconds'])}"
    return words
