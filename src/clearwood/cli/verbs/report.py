"""`clearwood report`: from a table, or a model and a table, to one page for the browser."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood._shared.errors import InputError
from clearwood.cli.support import complete as _complete
from clearwood.cli.support.console import bytes_in_words, emit, facts, quoted, say, written
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
    Protected,
    Seed,
    TaskName,
    Time,
    Weight,
    learner_names,
    pairs,
)

if TYPE_CHECKING:
    from clearwood.benchmarking import Benchmark
    from clearwood.reporting import Report
    from clearwood.table import Table

__all__ = ["report"]

_MODEL_FILE = ".cw"

#: How learners are compared: well, and within minutes; or at once.
_THOROUGH: dict[str, Any] = {"tune": 10, "inner": 3, "repeats": 1}
_QUICK: dict[str, Any] = {"tune": 0, "interval": "holdout"}


def report(
    *,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="A table (CSV, TSV, Parquet, Feather or JSON lines), or a model file.",
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="With a model file: the table, usually its training rows.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the page goes (HTML).")
    ] = Path("report.html"),
    learners: Annotated[
        list[str] | None,
        typer.Option(
            "--learners",
            "-l",
            metavar="A,B,...",
            help="Which learners to compare; a few usual ones when left out.",
            autocompletion=_complete.several_learners,
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="A first look: learners as they come, judged on one held-out part, and shorter "
            "explanations.",
        ),
    ] = False,
    tune: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"Configurations tried for each learner; {_THOROUGH['tune']} when left out, "
            f"{_QUICK['tune']} with --quick.",
            show_default=False,
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep every finished fit here: the same command goes on where it was stopped.",
        ),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A table of held-out rows, to look for drift."),
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The page's title.", show_default=False)
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option("--model", metavar="FILE", help="Save the fitted model here too."),
    ] = None,
    task: TaskName = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
    json: Json = False,
    weight: Weight = None,
    group: Group = None,
    time: Time = None,
    protected: Protected = None,
    ignore: Ignore = None,
    kind: Kinds = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """Put everything about a model on one page that works offline.

    From a table: learners are compared, the best is fitted and explained. From a model file and
    a table: that model is explained.
    """
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.cli.support.cores import at_most
    from clearwood.cli.support.inputs import model_and_table
    from clearwood.cli.support.output import check_output
    from clearwood.table import read_as

    is_model = data is not None or source.suffix.lower() == _MODEL_FILE
    _check(source, data, is_model=is_model, target=target, learners=learners, tune=tune, keep=keep)
    if keep is not None and keep.absolute() == output.absolute():
        raise InputError(
            f"'{output}' cannot be both the page and the model",
            hint="name different files with -o and --model.",
        )
    inputs = [path for path in (source, data, test, store) if path is not None]
    for path in (output, keep):
        if path is not None:
            check_output(path, force=force, inputs=inputs)
    read: dict[str, Any] = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    roles: dict[str, Any] = {
        "target": target,
        "weight": weight,
        "group": group,
        "time": time,
        "protected": protected or (),
        "ignore": ignore or (),
        "kinds": pairs("--kind", kind or (), example="zip=category"),
        "task": task,
    }
    bench: Benchmark | None = None
    with at_most(jobs):
        model: Any = None
        if is_model:
            assert data is not None
            model, table = model_and_table(source, data, roles=roles, **read)
        else:
            with progress(f"reading {source.name}"):
                table = cw.read(source, **roles, **read)
        held_out = None
        if test is not None:  # read before the comparison, which may take long
            with progress(f"reading {test.name}"):
                held_out = read_as(test, table.schema, **read)
        if not is_model:
            how = dict(_QUICK if quick else _THOROUGH)
            if tune is not None:
                how["tune"] = tune
            bench = _compare(table, learners, how, store=store, seed=seed, jobs=jobs)
            model = bench.best().fit(table, n_jobs=jobs)
        page = cw.report(
            model,
            table,
            benchmark=bench,
            test=held_out,
            title=title,
            seed=seed,
            n_jobs=jobs,
            quick=quick,
            command=shlex.join(["clearwood", *sys.argv[1:]]) if sys.argv[1:] else None,
        )
    page.save(output, force=force)
    written.append(output)
    if keep is not None:
        cw.save(model, keep, force=force)
        written.append(keep)
    if json:
        emit(_document(page, output, bench, keep))
    else:
        _tell(page, output, bench, keep)


def _check(
    source: Path,
    data: Path | None,
    *,
    is_model: bool,
    target: str | None,
    learners: list[str] | None,
    tune: int | None,
    keep: Path | None,
) -> None:
    """Refuse what contradicts itself before anything is read."""
    if not is_model:
        if target is None:
            raise InputError(
                f"--target is missing: which column of '{source.name}' is to be predicted?",
                hint=f"clearwood report {quoted(source)} --target COLUMN -o report.html",
            )
        return
    if data is None:
        raise InputError(
            f"'{source.name}' is a model; DATA is missing: the table to explain it with",
            hint=f"clearwood report {quoted(source)} DATA.csv -o report.html",
        )
    for option, value in (("--learners", learners), ("--tune", tune), ("--model", keep)):
        if value is not None:
            raise InputError(
                f"{option} goes with a table alone; '{source.name}' is taken as a model that "
                "exists",
                hint=f"leave {option} out, or give one file.",
            )


def _compare(
    table: "Table",
    learners: list[str] | None,
    how: dict[str, Any],
    *,
    store: Path | None,
    seed: int,
    jobs: int,
) -> "Benchmark":
    import clearwood as cw
    from clearwood.cli.support.watch import shown
    from clearwood.models import catalogue

    names = learner_names(learners) or list(catalogue.usual(str(table.task)))
    with shown(names) as watch:
        bench = cw.benchmark(table, names, store=store, seed=seed, n_jobs=jobs, watch=watch, **how)
    if not bench.complete:
        # What was finished is in the store, if there is one; half a comparison is no report.
        raise KeyboardInterrupt
    return bench


def _tell(page: "Report", output: Path, bench: "Benchmark | None", keep: Path | None) -> None:
    if bench is not None:
        say(repr(bench).partition("\nwarning: ")[0], "")
    lines = [("page", f"{output} ({bytes_in_words(output.stat().st_size)})")]
    lines += [("model", str(keep))] if keep is not None else []
    # an address is no use in two pieces, so it has a line of its own
    say(f"Report: {page.title}", facts(lines), f"Open it: {output.absolute().as_uri()}")


def _document(
    page: "Report", output: Path, bench: "Benchmark | None", keep: Path | None
) -> dict[str, Any]:
    return {
        "report": output,
        "bytes": output.stat().st_size,
        "title": page.title,
        "sections": [section.name for section in page.sections],
        "model": keep,
        "benchmark": None if bench is None else bench.to_json(),
    }
