"""`clearwood benchmark`: learners compared on one table, with unbiased risks and intervals."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from clearwood._shared.calls import changed_options
from clearwood._shared.choices import Interval, Search
from clearwood._shared.errors import InputError, Option
from clearwood._shared.progress import shown_by
from clearwood.cli.support.console import (
    commands,
    facts,
    print_json,
    print_text,
    prose,
    quoted,
    text_without,
)
from clearwood.cli.support.errors import STOPPED
from clearwood.cli.support.files import RESULTS, write_result
from clearwood.cli.support.options import (
    Columns,
    Force,
    Jobs,
    Json,
    LearnerNames,
    Monotone,
    Reading,
    Rebalance,
    Seed,
    Select,
    compared,
    directions,
    learner_names,
    read_table,
)
from clearwood.cli.support.parts import Workers
from clearwood.cli.support.spelling import CommandLine
from clearwood.cli.support.verb import verb

if TYPE_CHECKING:
    from clearwood.benchmarking import Benchmark

__all__ = ["benchmark"]

_OUTPUT = Path("benchmark.json")


@verb
def benchmark(
    data: Path | None = None,
    *,
    context: typer.Context,
    target: str | None = None,
    learners: LearnerNames = None,
    path: Path = _OUTPUT,
    store: Path | None = None,
    resume: bool = False,
    loss: str | None = None,
    threshold: float = 0.5,
    outer: int = 5,
    inner: int = 5,
    tune: int | None = None,
    search: Search = "random",
    monotone: Monotone = None,
    select: Select = None,
    rebalance: Rebalance = False,
    interval: Interval | None = None,
    repeats: int | None = None,
    confidence: float = 0.9,
    simultaneous: bool = False,
    time_limit: float | None = None,
    sample: int | None = None,
    scheduler: str | None = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    columns: Columns,
    reading: Reading,
) -> int | None:
    """Compare learners on a table: unbiased risks with intervals, tuned inside each fold.

    Parameters
    ----------
    data
        A table: CSV, TSV, Parquet, Feather or JSON lines; or a folder, a pattern in quotes or an
        address of CSV or Parquet files. Left out with --resume.
    target : COLUMN
        The column to predict.
    path : FILE
        The result's file, whose ending gives the format: .json, .csv, .parquet, .svg, .png or
        .html.
    store : FILE
        Keep every finished fit in this file, also after the run; by default they are kept next to
        the output until the run is complete.
    resume
        Continue a run that was stopped.
    loss : NAME
        squared, absolute, log, brier, ...; by default the task's own.
    threshold : P
        For two classes: the probability above which the second is predicted.

    How risks are estimated
    -----------------------
    outer : K
        Folds for estimating risks.
    inner : L
        Folds for tuning.
    tune : N
        Configurations tried per learner; 0 uses the defaults. By default 30, and 15 from 1,000
        rows on.
    search
        How configurations are chosen.
    interval : KIND
        nested: nested cross-validation, the default. naive: cheaper, and too narrow. hold-out: one
        held-out part, the only one for a table in parts.
    repeats : N
        How often the folds are redrawn; by default it depends on the number of rows.
    confidence : P
        Confidence level of the intervals.
    simultaneous
        Widen the intervals of differences so that they hold jointly.
    time_limit : SECONDS
        Start no fit after this time.

    Tables in parts
    ---------------
    sample : N
        Rows that are drawn for tuning, for learners that need them in memory, and for measures.
    scheduler : ADDRESS
        The address of a Dask scheduler, such as tcp://10.0.0.1:8786: its workers judge the parts.
    """
    kept = store if store is not None else path.with_suffix(".db")
    if learners is not None and not learner_names(learners):
        raise InputError("--learners names no learner", hint="for example --learners ridge,gbm.")
    command = {
        "data": None if data is None else _full(data),
        "learners": learner_names(learners),
        "monotone": directions(monotone),
        "select": select,
        "rebalance": rebalance,
        "read": {
            "target": target,
            **columns.roles(),
            **vars(reading),
        },
        "how": {
            "loss": loss,
            "threshold": threshold,
            "outer": outer,
            "inner": inner,
            "tune": tune,
            "search": search,
            "interval": interval,
            "repeats": repeats,
            "confidence": confidence,
            "time_limit": time_limit,
            "sample": sample,
            "seed": seed,
        },
        "simultaneous": simultaneous,
        "output": str(path.absolute()),
        "keep": store is not None,
    }
    if resume:
        command = _resumed(command, kept)
    elif kept.exists() and store is None and not force:
        raise InputError(
            f"'{kept}' exists: it holds a run that was stopped",
            hint="continue it with --resume, or start again with --force.",
        )
    elif kept.exists() and force:
        _remove(kept)
    with Workers(scheduler=scheduler).ready():
        return _run(command, kept, context.obj, n_jobs=n_jobs, force=force, json=json)


def _full(data: Path) -> str:
    """A path from the root, or an address as it was typed."""
    from clearwood.table import as_address

    source = as_address(str(data))
    return source if "://" in source else str(data.absolute())


def _resumed(typed: Mapping[str, Any], store: Path) -> dict[str, Any]:
    """The command that started the run in a store, unless it is typed again."""
    from clearwood.benchmarking import Store

    if not store.is_file():
        raise InputError(
            f"there is no '{store}' to continue",
            hint="name the --store or the --output of the run that was stopped.",
        )
    if typed["data"] is not None:
        return dict(typed)
    fits = Store(store)
    command = fits.noted("command")
    fits.close()
    if command is None:
        raise InputError(
            f"'{store}' does not record the command that started it",
            hint="repeat DATA and the options, with --resume.",
        )
    return dict(command)


def _run(
    command: Mapping[str, Any],
    store: Path,
    spelling: CommandLine,
    *,
    n_jobs: int,
    force: bool,
    json: bool,
) -> int | None:
    import clearwood as cw
    from clearwood.benchmarking import Store
    from clearwood.cli.support.console import benchmark_progress
    from clearwood.cli.support.files import check_output
    from clearwood.parallel import Ledger
    from clearwood.table import Parts

    if command["data"] is None or command["read"]["target"] is None:
        missing = "DATA" if command["data"] is None else "--target"
        raise InputError(f"{missing} is missing", hint="clearwood benchmark DATA --target COLUMN")
    data, output = Path(command["data"]), Path(command["output"])
    check_output(output, *RESULTS, force=force, inputs=[data])
    table: Any = read_table(data, **command["read"])
    learners = compared(
        command["learners"],
        command["monotone"],
        command.get("select"),
        table,
        rebalance=command.get("rebalance", False),
    )
    if not store.exists():
        if isinstance(table, Parts):
            made = Ledger(store)
            made.page({"work": "command"})
            made.close()
        fits = Store(store)
        fits.note("command", dict(command))
        fits.close()
    try:
        with shown_by(benchmark_progress):
            bench = cw.benchmark(table, learners, store=store, n_jobs=n_jobs, **command["how"])
    except (Exception, KeyboardInterrupt) as error:
        if not _has_fits(store):
            _remove(store)
        elif isinstance(error, KeyboardInterrupt):
            # stopped during the first fits: no result yet, but the store has their tuning trials
            return _stopped(store, command)
        raise
    if command["simultaneous"]:
        bench = bench.simultaneous()
    if not bench.complete:
        if not json:
            print_text(text_without(bench, "warnings"))
        return _stopped(store, command)
    write_result(output, bench, force=force)
    if not command["keep"]:
        _remove(store)
    if json:
        print_json(bench.to_json())
    else:
        print_text(text_without(bench, "warnings"))
        print_text(*(prose(f"note: {note}") for note in _leaks(bench, n_jobs)))
        _show_next(bench, output, data, command, spelling)
    return None


def _leaks(bench: "Benchmark", n_jobs: int) -> list[str]:
    """Say which columns may leak the target, and what the best learner gains without them."""
    from clearwood.checks import leakage

    table = bench.context.table
    if bench.in_parts is not None or not any(math.isfinite(one.risk) for one in bench.standings):
        return []
    found = leakage(table, seed=bench.method.seed)
    notes = [f"{leak}, so that it may leak the target" for leak in found.leaks]
    suspects, best = found.suspects, bench.best()
    is_baseline = bench.context.contenders[best.name].is_baseline
    if suspects and len(suspects) < len(table.features) and not is_baseline:
        notes.append(str(bench.without(*suspects, learner=best.name, n_jobs=n_jobs)))
    return notes


def _stopped(store: Path, command: Mapping[str, Any]) -> int:
    print_text(
        "", f"Finished fits are in {_nearby(store)}. Continue with: {_resume(store, command)}"
    )
    return STOPPED


def _has_fits(store: Path) -> bool:
    from clearwood.benchmarking import Store

    fits = Store(store)
    n_fits = fits.count()
    fits.close()
    return n_fits > 0


def _remove(store: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        store.with_name(store.name + ending).unlink(missing_ok=True)


def _nearby(path: Path) -> Path:
    """A path as the user would write it from the present folder."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _resume(store: Path, command: Mapping[str, Any]) -> str:
    if command["keep"]:
        return f"clearwood benchmark --resume --store {quoted(_nearby(store))}"
    if Path(command["output"]).name == _OUTPUT.name:
        return "clearwood benchmark --resume"
    return f"clearwood benchmark --resume -o {quoted(_nearby(Path(command['output'])))}"


def _show_next(
    bench: "Benchmark", output: Path, data: Path, command: Mapping[str, Any], spelling: CommandLine
) -> None:
    import clearwood as cw

    print_text("", facts([("written", str(_nearby(output)))]), "")
    if not any(math.isfinite(one.risk) for one in bench.standings):
        raise InputError(
            "every learner failed",
            hint=f"the warnings give the reasons, and {quoted(_nearby(output))} those of each fit.",
        )
    best = bench.best()
    options = dict(command["read"])
    scan = options.pop("scan")
    words = [
        f"clearwood fit {quoted(_nearby(data))}",
        *(
            spelling.option(Option(name, value))
            for name, value in {
                **changed_options(cw.read, options),
                "scan": scan,
                "monotone": command["monotone"],
                "select": best.standing.settings.get("select", command.get("select")),
            }.items()
            if value
        ),
        f"--learner {best.name}",
        *(
            f"--set {quoted(f'{key}={value}')}"
            for key, value in best.standing.settings.items()
            if key != "select"
        ),
    ]
    commands("Next", [(" ".join(words), "")])
