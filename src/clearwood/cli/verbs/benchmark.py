"""`clearwood benchmark`: learners compared on one table, with honest risks and intervals."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood._shared.errors import InputError
from clearwood.cli.support import complete as _complete
from clearwood.cli.support.console import commands, emit, facts, quoted, say
from clearwood.cli.support.errors import STOPPED
from clearwood.cli.support.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Group,
    Ignore,
    Jobs,
    Json,
    Kinds,
    Seed,
    TaskName,
    Time,
    Weight,
    learner_names,
    pairs,
)

if TYPE_CHECKING:
    from clearwood.benchmarking import Benchmark

__all__ = ["benchmark"]

_DESIGN = "How risks are estimated"


def benchmark(
    *,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="A table: CSV, TSV, Parquet, Feather or JSON lines. Left out with --resume.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict."),
    ] = None,
    learners: Annotated[
        list[str] | None,
        typer.Option(
            "--learners",
            "-l",
            metavar="A,B,...",
            help="Which learners; `clearwood models` lists them. A few usual ones when left out.",
            autocompletion=_complete.several_learners,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the result goes (JSON).")
    ] = Path("benchmark.json"),
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep every finished fit here, also after the run; without it they are kept "
            "beside the output until the run is done.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was stopped.")
    ] = False,
    loss: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="squared, absolute, log, brier, ...; the task's own."),
    ] = None,
    outer: Annotated[
        int, typer.Option(metavar="K", help="Folds for the estimate.", rich_help_panel=_DESIGN)
    ] = 5,
    inner: Annotated[
        int, typer.Option(metavar="L", help="Folds for tuning.", rich_help_panel=_DESIGN)
    ] = 5,
    tune: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Configurations tried for each learner; 0 takes the defaults.",
            rich_help_panel=_DESIGN,
        ),
    ] = 30,
    search: Annotated[
        str,
        typer.Option(
            metavar="WAY",
            help="random, grid, halving, hyperband, tpe or gp.",
            rich_help_panel=_DESIGN,
        ),
    ] = "random",
    interval: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="nested; naive is cheaper and too short; holdout judges on one part.",
            rich_help_panel=_DESIGN,
        ),
    ] = "nested",
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How often the folds are drawn anew; by the number of rows when left out.",
            rich_help_panel=_DESIGN,
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(metavar="P", help="Level of the intervals.", rich_help_panel=_DESIGN),
    ] = 0.9,
    simultaneous: Annotated[
        bool,
        typer.Option(
            "--simultaneous",
            help="Widen the intervals of differences until all hold together.",
            rich_help_panel=_DESIGN,
        ),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Begin no fit after.", rich_help_panel=_DESIGN),
    ] = None,
    task: TaskName = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    weight: Weight = None,
    group: Group = None,
    time: Time = None,
    ignore: Ignore = None,
    kind: Kinds = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> int | None:
    """Compare learners on a table: honest risks with intervals, tuned inside each fold."""
    kept = store if store is not None else output.with_suffix(".db")
    read = {
        "target": target,
        "weight": weight,
        "group": group,
        "time": time,
        "ignore": ignore or [],
        "kinds": pairs("--kind", kind or (), example="zip=category"),
        "task": task,
        "delimiter": delimiter,
        "decimal": decimal,
        "encoding": encoding,
    }
    how = {
        "loss": loss,
        "outer": outer,
        "inner": inner,
        "tune": tune,
        "search": search,
        "interval": interval,
        "repeats": repeats,
        "confidence": confidence,
        "budget": budget,
        "seed": seed,
    }
    if learners is not None and not learner_names(learners):
        raise InputError("--learners names none", hint="--learners ridge,gbm, say.")
    command = {
        "data": None if data is None else str(data.absolute()),
        "learners": learner_names(learners),
        "read": read,
        "how": how,
        "simultaneous": simultaneous,
        "output": str(output.absolute()),
        "keep": store is not None,
    }
    if resume:
        command = _resumed(command, kept)
    elif kept.exists() and store is None and not force:
        raise InputError(
            f"'{kept}' is there: a run that was stopped",
            hint="go on with it: --resume; or begin anew: --force.",
        )
    elif kept.exists() and force:
        _remove(kept)
    return _run(command, kept, jobs=jobs, force=force, json=json)


def _resumed(given: Mapping[str, Any], store: Path) -> dict[str, Any]:
    """The command that began the run in a store, unless it is given again."""
    from clearwood.benchmarking import Store

    if not store.is_file():
        raise InputError(
            f"there is no '{store}' to go on from",
            hint="name the --store or the --output of the run that was stopped.",
        )
    if given["data"] is not None:
        return dict(given)
    known = Store(store)
    command = known.noted("command")
    known.close()
    if command is None:
        raise InputError(
            f"'{store}' does not tell which command began it",
            hint="give DATA and the options again, with --resume.",
        )
    return dict(command)


def _run(
    command: Mapping[str, Any], store: Path, *, jobs: int, force: bool, json: bool
) -> int | None:
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.benchmarking import Store
    from clearwood.cli.support.output import check_output, write_json
    from clearwood.cli.support.watch import shown
    from clearwood.models import catalogue

    if command["data"] is None or command["read"]["target"] is None:
        missing = "DATA" if command["data"] is None else "--target"
        raise InputError(f"{missing} is missing", hint="clearwood benchmark DATA --target COLUMN")
    data, output = Path(command["data"]), Path(command["output"])
    check_output(output, force=force, inputs=[data])
    with progress(f"reading {data.name}"):
        table = cw.read(data, **command["read"])
    names = command["learners"] or list(catalogue.usual(str(table.task)))
    if not store.exists():
        noted = Store(store)
        noted.note("command", dict(command))
        noted.close()
    try:
        with shown(names) as watch:
            bench = cw.benchmark(
                table, names, store=store, n_jobs=jobs, watch=watch, **command["how"]
            )
    except (Exception, KeyboardInterrupt) as error:
        if not _has_fits(store):
            _remove(store)
        elif isinstance(error, KeyboardInterrupt):
            # stopped in the first fits: nothing to show yet, but what their tuning tried is kept
            return _stopped(store, command)
        raise
    # a store of an earlier version has not noted it
    if command.get("simultaneous"):
        bench = bench.simultaneous()
    if not bench.complete:
        if not json:
            _report(bench)
        return _stopped(store, command)
    write_json(output, bench.to_json(), force=force)
    if not command["keep"]:
        _remove(store)
    if json:
        emit(bench.to_json())
    else:
        _report(bench)
        _next(bench, output, data, command)
    return None


def _stopped(store: Path, command: Mapping[str, Any]) -> int:
    say("", f"Kept in {_near(store)}; go on with: {_go_on(store, command)}")
    return STOPPED


def _has_fits(store: Path) -> bool:
    from clearwood.benchmarking import Store

    known = Store(store)
    found = known.count()
    known.close()
    return found > 0


def _remove(store: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        store.with_name(store.name + ending).unlink(missing_ok=True)


def _near(path: Path) -> Path:
    """A path as the user would write it from here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _go_on(store: Path, command: Mapping[str, Any]) -> str:
    if command["keep"]:
        return f"clearwood benchmark --resume --store {quoted(_near(store))}"
    if Path(command["output"]).name == "benchmark.json":
        return "clearwood benchmark --resume"
    return f"clearwood benchmark --resume -o {quoted(_near(Path(command['output'])))}"


def _report(bench: "Benchmark") -> None:
    # warnings have been told already, on stderr
    say(repr(bench).partition("\nwarning: ")[0])


def _next(bench: "Benchmark", output: Path, data: Path, command: Mapping[str, Any]) -> None:
    say("", facts([("written", str(_near(output)))]), "")
    if not any(math.isfinite(one.risk) for one in bench.standings):
        raise InputError(
            "every learner failed",
            hint=f"the warnings say why, and {quoted(_near(output))} for each fit.",
        )
    best = bench.best()
    fit = f"clearwood fit {quoted(_near(data))}{_read_again(command['read'])}"
    fit += f" --learner {best.name}"
    fit += "".join(
        f" --set {quoted(f'{key}={value}')}" for key, value in best.standing.settings.items()
    )
    commands("Next", [(fit, "")])


def _read_again(options: Mapping[str, Any]) -> str:
    """The options that read the table as it was read, for another command."""
    words = []
    for name, value in options.items():
        if name == "kinds":
            words += [f" --kind {quoted(f'{column}={kind}')}" for column, kind in value.items()]
        elif isinstance(value, list):
            words += [f" --{name} {quoted(one)}" for one in value]
        elif value is not None and (name, value) != ("decimal", "."):
            words.append(f" --{name} {quoted(value)}")
    return "".join(words)
