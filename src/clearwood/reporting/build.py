"""`clearwood.report`: from a model and its data to a page."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from altair.utils.schemapi import debug_mode

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.reporting.collect.findings import Findings, Options
from clearwood.reporting.collect.gather import SECTIONS, gather
from clearwood.reporting.collect.inputs import Given, check
from clearwood.reporting.page.blocks import Note, Section
from clearwood.reporting.result import Report
from clearwood.reporting.sections import (
    cautions,
    data,
    explanation,
    individual,
    performance,
    reproduction,
    summary,
    tree,
)
from clearwood.reporting.sections.words import count, sentence

__all__ = ["report"]

_WRITERS: dict[str, tuple[str, Callable[[Findings], Section | None]]] = {
    "summary": ("Summary", summary.section),
    "data": ("Data", data.section),
    "how-well": ("How well", performance.section),
    "why": ("Why, overall", explanation.section),
    "one-by-one": ("Why, one by one", individual.section),
    "one-tree": ("One tree", tree.section),
    "cautions": ("Cautions", cautions.section),
    "made": ("How this was made", reproduction.section),
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
    condense_seconds: float = 10.0,
    command: str | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> Report:
    """Put everything about a model on one page that works offline.

    What is predicted and how well, what the model does with its columns, single rows with what-if,
    one tree in its place where it can be had, and what to be careful about: in words first. Every
    number comes from a call of the library; a part that cannot be had says why.

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows; a `Learner` tells
        most.
    data
        The rows that explanations are about, usually those the model was fitted to: a table, a
        data frame, an array or a path. With a target, predictions are compared with it.
    benchmark
        The comparison that the model comes from; without it, nothing is known about rows that the
        model has not seen, unless ``test`` gives some.
    test
        Held-out rows: they are predicted, and looked at for drift.
    title
        The page's heading; made from target and model when left out.
    sections
        Which sections to make: "summary", "data", "how-well", "why", "one-by-one", "one-tree",
        "cautions", "made"; all of them when left out.
    quick
        Take fewer rows and less time for every explanation.
    sample
        The most rows the page carries, to look at one by one.
    condense_seconds
        How long to try to make one tree of the model.
    command
        The command line to show under "How this was made".
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
        Where the model is not fitted, or the data lacks a column that it needs.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("wine")
    >>> model = cw.learner("tree", max_depth=2).fit(data)
    >>> page = cw.report(model, data, quick=True, sections=["summary", "how-well"])
    >>> [section.title for section in page.sections]
    ['Summary', 'How well']
    """
    options = Options(
        seed=seed,
        n_jobs=n_jobs,
        quick=quick,
        sample=sample,
        condense_seconds=condense_seconds,
        sections=_checked(sections),
        command=command,
    )
    if sample < 1:
        raise InputError(f"sample is {sample}; the page carries at least one row")
    given = check(model, data, benchmark, test)
    found = gather(given, title=title or _title(given), options=options)
    # the figures are put together by our own code; checking each against Vega's schema again
    # takes longer than drawing them
    with debug_mode(False):  # noqa: FBT003 - its name says what is off
        written = _written(found, options)
    return Report(title=found.title, sections=tuple(written), about=_about(found))


def _checked(sections: Sequence[str] | None) -> tuple[str, ...] | None:
    if sections is None:
        return None
    names = [sections] if isinstance(sections, str) else list(sections)
    for name in names:
        if name not in SECTIONS:
            raise InputError(
                f"there is no section {name!r}", hint=did_you_mean(str(name), SECTIONS)
            )
    return tuple(name for name in SECTIONS if name in names)


def _written(found: Findings, options: Options) -> list[Section]:
    """Write the sections; one that fails is a note, not the end of the page."""
    made = []
    for name, (title, write) in _WRITERS.items():
        if options.sections is not None and name not in options.sections:
            continue
        try:
            section = write(found)
        except Exception as error:
            reason = sentence(f"{type(error).__name__}: {error}")
            section = Section(name, title, (Note("This part could not be made", reason),))
        if section is not None:
            made.append(section)
    return made


def _title(given: Given) -> str:
    target = given.table.target or (
        given.model.schema_.target if hasattr(given.model, "schema_") else None
    )
    return f"{target}: {given.name}" if target else f"Report on {given.name}"


def _about(found: Findings) -> tuple[tuple[str, str], ...]:
    predicted = found.target or "not in the table"
    if found.task is not None:
        predicted += f" ({found.task})"
    return (
        ("Predicted", predicted),
        ("Model", found.name),
        (
            "Data",
            f"{count(found.table.n_rows, 'row')}, {count(len(found.features), 'column')} used",
        ),
        ("Made", f"{datetime.now(UTC):%Y-%m-%d} with Clearwood {version('clearwood')}"),
    )
