"""`clearwood report`: from a table, or a model and a table, to one page for the browser."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood import cli
from clearwood._shared.clock import Clock
from clearwood._shared.errors import InputError
from clearwood._shared.invocation import invocation, invoked
from clearwood._shared.numbers import interval, number, percent, size
from clearwood._shared.progress import shown_by
from clearwood.cli.support.console import (
    benchmark_progress,
    facts,
    print_json,
    print_text,
    prose,
    quoted,
    text_without,
    written,
)
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
    limited_cores,
    read_table,
)
from clearwood.cli.support.parts import Workers, naming_kept
from clearwood.cli.support.verb import verb

if TYPE_CHECKING:
    from clearwood.reporting import Performance, Report

__all__ = ["report"]

_MODEL_FILE = ".cw"


@verb
def report(
    source: Path,
    data: Path | None = None,
    *,
    target: str | None = None,
    path: Path = Path("report.html"),
    learners: LearnerNames = None,
    quick: bool = False,
    tune: int | None = None,
    monotone: Monotone = None,
    select: Select = None,
    rebalance: Rebalance = False,
    threshold: float | None = None,
    store: Path | None = None,
    test: Path | None = None,
    title: str | None = None,
    sections: list[str] | None = None,
    scheduler: str | None = None,
    sample: Annotated[int, typer.Option(min=1)] = 500,
    rows: Annotated[int | None, typer.Option(min=0)] = None,
    no_rows: bool = False,
    keep: Path | None = None,
    seed: Seed = 0,
    n_jobs: Jobs = -1,
    force: Force = False,
    json: Json = False,
    columns: Columns,
    reading: Reading,
) -> None:
    """Report on a model in one page that works offline.

    From a table: learners are compared, the best is fitted and explained. From a model file and
    a table: that model is explained.

    Parameters
    ----------
    source
        A table (CSV, TSV, Parquet, Feather or JSON lines), a folder, a pattern in quotes or an
        address of CSV or Parquet files, or a model file.
    data
        With a model file: the table, usually its training rows.
    target : COLUMN
        The column to predict.
    path : FILE
        The page's file (HTML).
    quick
        A first look: learners with default settings, compared on one held-out part, and shorter
        explanations.
    tune : N
        Configurations tried per learner; by default 10, and 0 with --quick.
    threshold : P
        For two classes: the probability above which the second is predicted; by default 0.5.
    store : FILE
        Keep every finished fit in this file; the same command continues from there after a stop.
    test : FILE
        A table of held-out rows: they are checked for drift, and scored where they have the target.
    title : TEXT
        The page's title.
    sections : A,B,...
        The sections to write: summary, data, performance, terms, table, importance, individual,
        network, tree, fairness, cautions, reproduction; by default all that apply.
    scheduler : ADDRESS
        With --scan: the address of a Dask scheduler, such as tcp://10.0.0.1:8786.
    sample : N
        Rows that individual predictions are drawn from and compared with.
    rows : N
        The most rows of the data that the page carries; by default those of --sample. 0 leaves out
        rows and everything from which one could be read back.
    no_rows
        The same as --rows 0.
    keep : FILE
        Also save the fitted model in this file.
    """
    import clearwood as cw
    from clearwood.cli.support.files import check_output

    started = Clock(started=cli.STARTED)
    is_model = data is not None or source.suffix.lower() == _MODEL_FILE
    of_tables = {
        "--learners": learners,
        "--tune": tune,
        "--monotone": monotone,
        "--select": select,
        "--rebalance": rebalance or None,
        "--model": keep,
    }
    _check(source, data, of_tables, is_model=is_model, target=target)
    if keep is not None and keep.absolute() == path.absolute():
        raise InputError(
            f"'{path}' cannot be both the page and the model",
            hint="name different files with -o and --model.",
        )
    inputs = [one for one in (source, data, test, store) if one is not None]
    check_output(path, ".html", ".htm", force=force, inputs=inputs)
    if keep is not None:
        check_output(keep, _MODEL_FILE, force=force, inputs=inputs)
    options: dict[str, Any] = {
        "title": title,
        "sections": [name for text in sections or () for name in text.split(",")] or None,
        "quick": quick,
        "sample": sample,
        "rows": 0 if no_rows else rows,
        "threshold": threshold,
        "seed": seed,
        "n_jobs": n_jobs,
    }
    with (
        limited_cores(n_jobs),
        nullcontext() if is_model else naming_kept(store, "--store", "finished fits"),
        Workers(scheduler=scheduler).ready(),
    ):
        model: Any = None
        if data is not None:
            model = cw.load(source)
            table = reading.table_for(model, data, columns, target)
        else:
            table = read_table(source, target=target, **columns.roles(), **vars(reading))
            several = compared(
                learner_names(learners), directions(monotone), select, table, rebalance=rebalance
            )
            options |= {"learners": several, "tune": tune, "store": store}
        if test is not None:
            whole = {**vars(reading), "scan": False}
            options["test"] = read_table(test, schema=table.schema, constant=True, **whole)
        running = replace(
            invocation(),
            seconds=started.passed,
            model_file=str(source) if is_model else None,
        )
        with invoked(running), shown_by(benchmark_progress):
            page = cw.report(model, table, **options)
    page.save(path, force=force)
    written.append(path)
    if keep is not None:
        cw.save(page.model, keep, force=force)
        written.append(keep)
    if json:
        print_json(_document(page, path, keep))
    else:
        _show(page, path, keep)


def _check(
    source: Path,
    data: Path | None,
    of_tables: Mapping[str, Any],
    *,
    is_model: bool,
    target: str | None,
) -> None:
    """Reject contradicting arguments before anything is read; some are for tables only."""
    if not is_model:
        if target is None:
            raise InputError(
                f"--target is missing: the column of '{source.name}' to predict",
                hint=f"clearwood report {quoted(source)} --target COLUMN -o report.html",
            )
        return
    if data is None:
        raise InputError(
            f"'{source.name}' is a model; DATA is missing: the table to explain it with",
            hint=f"clearwood report {quoted(source)} DATA.csv -o report.html",
        )
    for option, value in of_tables.items():
        if value is not None:
            raise InputError(
                f"{option} is for a report on a table; '{source.name}' is a fitted model",
                hint=f"leave {option} out, or give the table only.",
            )


def _show(page: "Report", path: Path, keep: Path | None) -> None:
    if page.benchmark is not None:
        print_text(text_without(page.benchmark, "warnings"), "")
    lines = [("page", f"{path} ({size(path.stat().st_size)})")]
    lines += [("model", str(keep))] if keep is not None else []
    if page.test is not None:
        lines.append(("test rows", _score(page.test)))
    # The address is on a line of its own, so that it is not broken.
    print_text(f"Report: {page.title}", facts(lines))
    for point in page.cautions:
        if point.severity == "high":
            print_text(prose(f"Caution: {point.title}. {point.meaning} {point.advice}"))
    print_text(f"Open it: {path.absolute().as_uri()}")


def _score(performance: "Performance") -> str:
    """Write how well a model predicts rows in a line."""
    risk, explained = performance.risk, performance.explained
    span = f"{percent(risk.confidence)} interval {interval(risk.low, risk.high, 3)}"
    text = f"{performance.risk_title} {number(risk.estimate)} ({span})"
    if explained is None:
        return text
    side = "below" if explained > 0 else "above"
    return f"{text}, {percent(abs(explained))} {side} that of a constant prediction"


def _document(page: "Report", path: Path, keep: Path | None) -> dict[str, Any]:
    return {
        "report": path,
        "bytes": path.stat().st_size,
        **page.to_json(),
        "model": keep,
        "benchmark": None if page.benchmark is None else page.benchmark.to_json(),
    }
