"""The `clearwood` command and its verbs.

Verbs import the library when they run, not when they are listed: that keeps `clearwood --help`
and completion quick.
"""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from clearwood.cli.support.errors import answer
from clearwood.cli.verbs import (
    benchmark,
    condense,
    demo,
    explain,
    fit,
    inspect,
    models,
    predict,
    report,
)

__all__ = ["app", "main", "verbs"]


class _InOrder(TyperGroup):
    """Lists `explain`, which has verbs of its own, before the verb that usually follows it."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = [name for name in super().list_commands(ctx) if name != "explain"]
        names.insert(names.index("condense"), "explain")
        return names


app = typer.Typer(
    name="clearwood",
    cls=_InOrder,
    help="Interpretable supervised learning on tables.",
    epilog="Start with: clearwood demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("models")(models.models)
app.command("benchmark")(benchmark.benchmark)
app.command("fit")(fit.fit)
app.command("predict")(predict.predict)
app.add_typer(explain.app, name="explain")
app.command("condense")(condense.condense)
app.command("certify")(condense.certify)
app.command("export")(condense.export)
app.command("report")(report.report)
app.command("inspect")(inspect.inspect)
app.command("demo")(demo.demo)


def verbs() -> tuple[str, ...]:
    """Give the names of the verbs, so that hints mention only what is there."""
    commands = [command.name or "" for command in app.registered_commands]
    return (*commands, *(group.name or "" for group in app.registered_groups))


def _version(*, asked: bool) -> None:
    if asked:
        import clearwood

        typer.echo(f"clearwood {clearwood.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda asked: _version(asked=asked),
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
    _traceback: Annotated[
        bool,
        typer.Option(
            "--traceback", help="Show where an error happened; goes with any command, anywhere."
        ),
    ] = False,
) -> None:
    """Options that come before the verb."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    The exit code is 0 when all went well, 2 when something given cannot be used, 130 when stopped
    with Ctrl-C, and 1 for anything unexpected.

    Parameters
    ----------
    arguments
        The words after `clearwood`; those of the process when None.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Accepted after the verb too: that is where people add it when a command has just failed.
    wanted = "--traceback" in words
    words = [word for word in words if word != "--traceback"]
    run = lambda: app(words, prog_name="clearwood", standalone_mode=False)  # noqa: E731
    sys.exit(answer(run, words, traceback=wanted))
