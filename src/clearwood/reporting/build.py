"""`clearwood.report`: from a model and its data to a page."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from altair.utils.schemapi import debug_mode

from clearwood._shared.calls import changed_options
from clearwood._shared.checks import check_whole
from clearwood._shared.clock import Clock
from clearwood._shared.errors import Call, InputError, Option, bad_value, unknown_choice, words
from clearwood._shared.invocation import invocation
from clearwood._shared.numbers import count
from clearwood.benchmarking import Benchmark
from clearwood.kernels import limited, threads
from clearwood.models import Learner
from clearwood.reporting.collect.collector import SECTIONS, collect
from clearwood.reporting.collect.findings import Findings, Options, Performance, Stage, Step
from clearwood.reporting.collect.inputs import ReportInput, held_out_rows, report_input
from clearwood.reporting.collect.stages import attempt
from clearwood.reporting.comparison import compare
from clearwood.reporting.page.blocks import Note, Section
from clearwood.reporting.page.page import prepare
from clearwood.reporting.pages import head
from clearwood.reporting.result import Report
from clearwood.reporting.sections.cautions import cautions
from clearwood.reporting.sections.words import sentence
from clearwood.table import Parts, Table

__all__ = ["report"]

#: Options that a recipe for the page repeats.
_REPEATED = (
    "learners",
    "tune",
    "title",
    "sections",
    "quick",
    "sample",
    "rows",
    "time_limit",
    "threshold",
    "seed",
)


def report(
    model: Any = None,
    data: Any = None,
    *,
    learners: Any = None,
    tune: int | None = None,
    store: str | os.PathLike[str] | None = None,
    benchmark: Any = None,
    test: Any = None,
    title: str | None = None,
    sections: Sequence[str] | None = None,
    quick: bool = False,
    sample: int = 500,
    rows: int | None = None,
    time_limit: float | None = None,
    threshold: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> Report:
    """Put everything about a table's best model, or about a model of yours, on one page.

    ``report(table)`` compares learners, fits the best of them to the table and reports on it, as
    ``clearwood report`` does. ``report(model, data)`` reports on a model that is fitted already.

    The page works offline. It shows what is predicted and how well, which columns matter and how,
    individual predictions with what-if, one equivalent tree if there is one, and what to be careful
    about. Every number comes from a call of the library; if a part cannot be computed, the page
    says why.

    Parameters
    ----------
    model
        A fitted model of any library, a function of rows, or the
        path of a model file. A `Learner` gives the fullest page. Without a model, learners are
        compared on the data and the best is fitted to them: ``report(table)`` is
        ``report(data=table)``.
    data
        The rows that the model is explained on, usually those it was fitted to: a table, a data
        frame, an array or a path. With a target, predictions are compared with it. Of a table in
        parts all rows count in the decomposition, the importance and the main effects, and all
        held-out rows in the risks of a benchmark; the rest is computed from a seeded sample of
        200,000 of them, and the page says which is which. To compare learners, a `Table` with a
        target, or one in parts.
    learners
        The learners to compare, as `benchmark` takes them; by default a few usual ones.
    tune
        Configurations tried for each learner; by default 10, and 0 with ``quick``. All are compared
        by five folds, four from 10,000 rows on, tuned by three inside; with ``quick``, and for a
        table in parts, by one held-out part.
    store
        A file that keeps every finished fit of the comparison; the same call continues from there
        after a stop.
    benchmark
        The comparison that the model comes from; its best learner is fitted where there is no
        model. For a model without it, the performance on new rows is known only from ``test``.
    test
        Held-out rows: they are predicted, and checked for drift. Where they have the target, they
        are scored: performance, calibration and groups, and observed against expected by column,
        next to the figures of the benchmark. Where the two differ by more than chance, the page
        says so at its top.
    title
        The page's heading; made from target and model by default.
    sections
        Which sections to write: "summary", "data", "performance", "terms" (for models that are
        read term by term), "table" (for learners in which at most two columns interact),
        "importance", "individual", "network" (for neural networks), "tree", "fairness" (where a
        column is protected), "cautions", "reproduction"; all of them by default.
    quick
        A first look: learners with default settings compared on one held-out part, and fewer rows
        for every explanation.
    sample
        How many rows individual predictions are drawn from and compared with.
    rows
        The most rows of the data that the page carries; those of ``sample`` by default. With 0,
        the page has neither rows nor anything from which one could be read back: no individual
        predictions, no tree, no extreme values, no rare levels.
    time_limit
        Seconds that the explanations may take in all; each step gets its share, and what it cuts
        says of how many rows it is. Without one, budgets of rows and evaluations follow from the
        sizes of table and model, so that the same call gives the same numbers on every machine.
    threshold
        Of two classes, the second is predicted where its probability is above this; by default
        that of the benchmark, else 0.5.
    seed
        Fixes every draw.
    n_jobs
        Threads; -1 for all.

    Returns
    -------
    Report
        ``save("report.html")`` writes it; a notebook shows it in place. It holds the model and the
        comparison.

    Raises
    ------
    InputError
        If the model is not fitted, the data lacks a column that it needs, or there is neither a
        model nor a table with a target.

    Examples
    --------
    From a table to the page of the best of two learners:

    >>> import clearwood as cw
    >>> data = cw.datasets.load("wine")
    >>> page = cw.report(data, learners=["tree", "lda"], quick=True, sections=["summary"])
    >>> page.title, page.model.name, page.benchmark.learners
    ('target: lda', 'lda', ('lda', 'tree'))

    From a fitted model:

    >>> model = cw.learner("tree", max_depth=2).fit(data)
    >>> page = cw.report(model, data, quick=True, sections=["summary", "performance"])
    >>> [section.title for section in page.sections]
    ['Summary', 'Performance']
    """
    arguments = locals()
    given = changed_options(report, {name: arguments[name] for name in _REPEATED})
    Clock.started_now(time_limit)  # a limit that is none is refused before any work
    wanted, n_threads = _checked(sections), threads(n_jobs)
    for name, number, least in (("sample", sample, 1), ("rows", rows, 0)):
        if number is not None:
            check_whole(name, number, least)
    if threshold is not None and not 0 < threshold < 1:
        raise bad_value("threshold", threshold, "it must lie between 0 and 1, such as 0.5")
    _check_benchmark(benchmark)
    if data is None:
        model, data = None, _table_in_place_of(model)
    comparing = {"learners": learners, "tune": tune, "store": store}
    before: dict[str, float] = {}
    running = invocation()
    if running.seconds is not None:
        before["start and reading"] = running.seconds
    is_compared = model is None and benchmark is None
    if not is_compared:
        _refuse(comparing)
    if model is None:
        if test is not None:
            test = held_out_rows(None, test, data)  # before the comparison, which may take long
        if is_compared:
            options: dict[str, Any] = {} if threshold is None else {"threshold": threshold}
            benchmark = compare(data, quick=quick, seed=seed, n_jobs=n_jobs, **comparing, **options)
        fitting = Clock()
        model = benchmark.best().fit(data, n_jobs=n_jobs)
        before |= {"benchmark": benchmark.seconds, "tuning and fitting": fitting.passed}
    clock = Clock.started_now(time_limit)
    model_file = os.fspath(model) if isinstance(model, str | os.PathLike) else running.model_file
    inputs = report_input(model, data, benchmark, test, n_jobs=n_jobs)
    if "benchmark" not in before:
        before |= _before(inputs)
    imported = Stage(Step.IMPORT, clock.passed)
    chosen = Options(
        seed=seed,
        n_jobs=n_jobs,
        quick=quick,
        sample=rows or sample,
        has_rows=rows != 0,
        time_limit=time_limit,
        threshold=threshold,
        sections=wanted,
        command=running.command,
        model_file=model_file,
        is_compared=is_compared,
        given=given,
        before=before,
        clock=clock,
    )
    with limited(n_threads):
        findings = collect(inputs, title=title or inputs.title, options=chosen)
        findings = replace(findings, stages=(imported, *findings.stages))
        # the figures are put together by our own code; checking each against Vega's schema again
        # takes longer than drawing them
        with debug_mode(False):  # noqa: FBT003 - its name says what is off
            points, _ = attempt(lambda: cautions(findings), expected=())
            findings = replace(findings, cautions=points or ())
            written = _written(findings, chosen)
    return Report(
        title=findings.title,
        sections=tuple(written),
        about=_about(findings),
        performance=_numbers_of(findings.performance),
        test=_numbers_of(findings.test_performance),
        test_gap=findings.test_gap,
        test_contradicts=findings.test_contradicts,
        cautions=findings.cautions,
        model=inputs.model,
        benchmark=benchmark,
    )


def _numbers_of(performance: Performance | None) -> Performance | None:
    """Return a performance without the rows that it is of."""
    if performance is None:
        return None
    return replace(performance, calibration=None, residuals=None, evaluation=None)


def _table_in_place_of(given: Any) -> Table | Parts:
    """Return the table that was given alone, in the place of a model."""
    if isinstance(given, Table | Parts):
        return given
    what = "nothing" if given is None else f"{type(given).__name__} alone"
    raise InputError(
        f"a report is of a table with a target, or of a fitted model and its data, not of {what}",
        parameter="data",
        hint=words(
            "read the table with ",
            Call("read", ("source",), {"target": ...}),
            ", or pass the rows of the model too: ",
            Call("report", ("model", "data")),
            ".",
        ),
    )


def _refuse(comparing: Mapping[str, Any]) -> None:
    """Refuse options of a comparison that does not take place."""
    for name, value in comparing.items():
        if value is not None:
            raise InputError(
                words(Option(name), " is for a report that compares learners"),
                parameter=name,
                value=value,
                hint="leave it out, or give the table only.",
            )


def _check_benchmark(benchmark: Any) -> None:
    if benchmark is not None and not isinstance(benchmark, Benchmark):
        raise InputError(
            f"benchmark is a {type(benchmark).__name__}, not the result of a benchmark",
            parameter="benchmark",
            value=benchmark,
            hint=words("pass the result of ", Call("benchmark", ("data",)), "."),
        )


def _before(inputs: ReportInput) -> dict[str, float]:
    """Return what is known of the work before the report, in seconds."""
    seconds = {}
    if inputs.benchmark is not None:
        seconds["benchmark"] = inputs.benchmark.seconds
    if isinstance(inputs.model, Learner):
        seconds["fitting"] = float(inputs.model.training_["seconds"])
    return seconds


def _checked(sections: Sequence[str] | None) -> tuple[str, ...] | None:
    if sections is None:
        return None
    names = [sections] if isinstance(sections, str) else list(sections)
    for name in names:
        if name not in SECTIONS:
            raise unknown_choice("sections", name, SECTIONS)
    return tuple(name for name in SECTIONS if name in names)


def section_module(name: str) -> Any:
    """Return the module of a section, which has its ``TITLE`` and the function ``section``."""
    return import_module(f"clearwood.reporting.sections.{name}")


def _written(findings: Findings, options: Options) -> list[Section]:
    """Write the sections; one that fails is a note, not the end of the page."""
    written = []
    clock = Clock()
    for name in SECTIONS:
        if options.sections is not None and name not in options.sections:
            continue
        module = section_module(name)
        if name == "reproduction":  # the last one says how long all of this took
            prepare()
            writing = Stage(Step.WRITING, clock.passed)
            findings = replace(findings, stages=(*findings.stages, writing))
        section, error = attempt(partial(module.section, findings), expected=())
        if error is not None:
            reason = sentence(f"{type(error).__name__}: {error}")
            section = Section(
                name, module.TITLE, (Note("This section could not be written", reason),)
            )
        if section is not None:
            written.append(section)
    return written


def _about(findings: Findings) -> tuple[tuple[str, str], ...]:
    rows, columns = findings.n_all, len(findings.features)
    return head(
        findings.target,
        findings.task,
        findings.name,
        ("Data", f"{count(rows, 'row')}, {count(columns, 'column')} used"),
        ("Rows on this page", _rows_on_the_page(findings)),
    )


def _rows_on_the_page(findings: Findings) -> str:
    """Say whether the page contains rows of the data, for those who pass it on."""
    if not findings.options.has_rows:
        return "none: no row of the data can be read from this page"
    sections = findings.options.sections
    if sections is not None and "individual" not in sections:
        return "no whole row, but single values of the data"
    return f"{findings.sample.n_rows:,} of {findings.n_all:,}, with all their values"
