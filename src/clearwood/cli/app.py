"""The `clearwood` command and its verbs.

Verbs import the library when they run, not when they are listed: that keeps `clearwood --help`
and completion fast.
"""

import shlex
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer

from clearwood._shared.invocation import Invocation, invoked
from clearwood.cli.support.errors import run_to_exit_code
from clearwood.cli.support.verb import VerbGroup
from clearwood.cli.verbs import (
    audit,
    benchmark,
    condense,
    demo,
    evaluate,
    fit,
    graph,
    inspect,
    models,
    predict,
    report,
)
from clearwood.cli.verbs.explain.group import app as explanations

__all__ = ["app", "run"]


class _Verbs(VerbGroup):
    """The verbs in the order in which they are used."""

    order = (
        "models",
        "benchmark",
        "fit",
        "predict",
        "evaluate",
        "audit",
        "explain",
        "graph",
        "condense",
        "certify",
        "export",
        "report",
        "inspect",
        "demo",
    )


app = typer.Typer(
    name="clearwood",
    cls=_Verbs,
    help="Interpretable supervised learning on tables.",
    epilog="Start with: clearwood demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(models.models)
app.command()(benchmark.benchmark)
app.command()(fit.fit)
app.command()(predict.predict)
app.command()(evaluate.evaluate)
app.command()(audit.audit)
app.add_typer(explanations, name="explain")
app.command()(graph.graph)
app.command()(condense.condense)
app.command()(condense.certify)
app.command()(condense.export)
app.command()(report.report)
app.command()(inspect.inspect)
app.command()(demo.demo)


def _show_version(*, is_wanted: bool) -> None:
    if is_wanted:
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
            callback=lambda is_wanted: _show_version(is_wanted=is_wanted),
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
    _traceback: Annotated[
        bool,
        typer.Option(
            "--traceback", help="Show where an error happened; can follow any verb as well."
        ),
    ] = False,
) -> None:
    """Options that come before the verb."""


@cache
def _command() -> Any:
    """Return the command with all verbs, whose options are read once for all runs of a process."""
    return typer.main.get_command(app)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code; `clearwood.cli.main` documents the codes."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Accepted after the verb too: that is where people add it when a command has just failed.
    traceback = "--traceback" in words
    words = [word for word in words if word != "--traceback"]
    with invoked(Invocation(shlex.join(["clearwood", *words]))):
        return run_to_exit_code(
            lambda spelling: _command()(
                words, prog_name="clearwood", standalone_mode=False, obj=spelling
            ),
            words,
            traceback=traceback,
        )
