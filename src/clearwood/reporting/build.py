"""`clearwood.report`: from a model and its data to a page."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from altair.utils.schemapi import debug_mode

from clearwood._shared.clock import Clock
from clearwood._shared.errors import bad_value, unknown_choice
from clearwood._shared.numbers import count
from clearwood.reporting.collect.collector import SECTIONS, collect
from clearwood.reporting.collect.findings import Findings, Options
from clearwood.reporting.collect.subject import subject_of
from clearwood.reporting.page.blocks import Note, Section
from clearwood.reporting.result import Report
from clearwood.reporting.sections import (
    cautions,
    data,
    importance,
    individual,
    performance,
    reproduction,
    summary,
    tree,
)
from clearwood.reporting.sections.words import sentence

__all__ = ["report"]

_WRITERS: dict[str, tuple[str, Callable[[Findings], Section | None]]] = {
    "summary": ("Summary", summary.section),
    "data": ("Data", data.section),
    "performance": ("Performance", performance.section),
    "importance": ("Feature importance and effects", importance.section),
    "individual": ("Individual predictions", individual.section),
    "tree": ("One tree", tree.section),
    "cautions": ("Cautions", cautions.section),
    "reproduction": ("Reproduction", reproduction.section),
}


def report(
    model: Any,
    data: Any,
    *,
    benchmark: Any = None,
    test: Any = None,
    title: str | None = None,
    sections: Sequence[str] | None = None,
    quick: bool = False,
    sample: int = 500,
    time_limit: float | None = None,
    command: str | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> Report:
    """Put everything about a model on one page that works offline.

    The page shows what is predicted and how well, which columns matter and how, individual
    predictions with what-if, one equivalent tree if there is one, and what to be careful about.
    Every number comes from a call of the library; if a part cannot be computed, the page says why.

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows. A `Learner` gives
        the fullest page.
    data
        The rows that the model is explained on, usually those it was fitted to: a table, a data
        frame, an array or a path. With a target, predictions are compared with it.
    benchmark
        The comparison that the model comes from. Without it, the performance on new rows is not
        known, unless ``test`` gives some.
    test
        Held-out rows: they are predicted, and checked for drift.
    title
        The page's heading; made from target and model by default.
    sections
        Which sections to write: "summary", "data", "performance", "importance", "individual",
        "tree", "cautions", "reproduction"; all of them by default.
    quick
        Use fewer rows and less time for every explanation.
    sample
        The most rows the page carries, for individual predictions.
    time_limit
        Seconds that the explanations may take in all; each step gets its share. About 65 by
        default, and 17 with ``quick``; most models take less.
    command
        The command line to show under Reproduction.
    seed
        Fixes every draw.
    n_jobs
        Threads; -1 for all.

    Returns
    -------
    Report
        ``save("report.html")`` writes it; a notebook shows it in place.

    Raises
    ------
    InputError
        If the model is not fitted, or the data lacks a column that it needs.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("wine")
    >>> model = cw.learner("tree", max_depth=2).fit(data)
    >>> page = cw.report(model, data, quick=True, sections=["summary", "performance"])
    >>> [section.title for section in page.sections]
    ['Summary', 'Performance']
    """
    options = Options(
        seed=seed,
        n_jobs=n_jobs,
        quick=quick,
        sample=sample,
        time_limit=Clock.started_now(time_limit).time_limit,
        sections=_checked(sections),
        command=command,
    )
    if sample < 1:
        raise bad_value("sample", sample, "the page carries at least one row")
    subject = subject_of(model, data, benchmark, test, n_jobs=n_jobs)
    findings = collect(subject, title=title or subject.title, options=options)
    # the figures are put together by our own code; checking each against Vega's schema again
    # takes longer than drawing them
    with debug_mode(False):  # noqa: FBT003 - its name says what is off
        written = _written(findings, options)
    return Report(title=findings.title, sections=tuple(written), about=_about(findings))


def _checked(sections: Sequence[str] | None) -> tuple[str, ...] | None:
    if sections is None:
        return None
    names = [sections] if isinstance(sections, str) else list(sections)
    for name in names:
        if name not in SECTIONS:
            raise unknown_choice("sections", name, SECTIONS)
    return tuple(name for name in SECTIONS if name in names)


def _written(findings: Findings, options: Options) -> list[Section]:
    """Write the sections; one that fails is a note, not the end of the page."""
    written = []
    for name, (title, write) in _WRITERS.items():
        if options.sections is not None and name not in options.sections:
            continue
        try:
            section = write(findings)
        except Exception as error:
            reason = sentence(f"{type(error).__name__}: {error}")
            section = Section(name, title, (Note("This section could not be written", reason),))
        if section is not None:
            written.append(section)
    return written


def _about(findings: Findings) -> tuple[tuple[str, str], ...]:
    target = findings.target or "not in the table"
    if findings.task is not None:
        target += f" ({findings.task})"
    rows, columns = findings.table.n_rows, len(findings.features)
    return (
        ("Target", target),
        ("Model", findings.name),
        ("Data", f"{count(rows, 'row')}, {count(columns, 'column')} used"),
        ("Made", f"{datetime.now(UTC):%Y-%m-%d} with Clearwood {version('clearwood')}"),
    )
