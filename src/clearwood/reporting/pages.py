"""The pages of an audit and of an evaluation, and the head that all pages have."""

from datetime import UTC, datetime
from importlib.metadata import version

from altair.utils.schemapi import debug_mode

from clearwood.evaluation import Evaluation
from clearwood.fairness import Audit
from clearwood.reporting.collect.performance import evaluation_findings
from clearwood.reporting.result import Report
from clearwood.reporting.sections.audit import audit_sections
from clearwood.reporting.sections.evaluation import evaluation_sections
from clearwood.reporting.sections.fairness import is_of_one_class
from clearwood.reporting.sections.words import listed, named
from clearwood.table import Task

__all__ = ["audit_page", "evaluation_page", "head"]


def head(
    target: str | None,
    task: Task | None,
    model: str,
    *facts: tuple[str, str],
    class_name: str | None = None,
) -> tuple[tuple[str, str], ...]:
    """Return what stands below the heading of a page: target, model, facts of its own, date."""
    what = target or "not in the table"
    return (
        ("Target", what if task is None else f"{what} ({task})"),
        *((("Class", class_name),) if class_name is not None else ()),
        ("Model", model),
        *facts,
        ("Made", f"{datetime.now(UTC):%Y-%m-%d} with Clearwood {version('clearwood')}"),
    )


def audit_page(audit: Audit, *, title: str | None = None) -> Report:
    """Put an audit on one page that works offline.

    Parameters
    ----------
    audit
        The result of `clearwood.audit`.
    title
        The page's heading; made from target and model by default.

    Returns
    -------
    Report
        ``save("audit.html")`` writes it; a notebook shows it in place.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.insurance(500)
    >>> page = audit_page(cw.audit(cw.learner("glm").fit(data), data))
    >>> [section.title for section in page.sections][:3]
    ['Summary', 'Who was audited', 'Groups']
    """
    # the figures are put together by our own code, so that checking them again only takes time
    with debug_mode(False):  # noqa: FBT003 - its name says what is off
        sections = audit_sections(audit)
    return Report(
        title=title or f"{audit.what}: audit of {audit.learner}",
        sections=sections,
        about=head(
            audit.what,
            audit.task,
            audit.learner,
            ("Protected", listed(audit.protected)),
            ("Rows", f"{audit.n_rows:,}, {audit.source}"),
            class_name=named(audit.outputs[0]) if is_of_one_class(audit) else None,
        ),
    )


def evaluation_page(evaluation: Evaluation, *, title: str | None = None) -> Report:
    """Put an evaluation on one page that works offline.

    Parameters
    ----------
    evaluation
        The result of `clearwood.evaluate` or `Benchmark.evaluation`.
    title
        The page's heading; made from target and model by default.

    Returns
    -------
    Report
        ``save("evaluation.html")`` writes it; a notebook shows it in place.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("wine")
    >>> page = evaluation_page(cw.evaluate(cw.learner("lda").fit(data), data))
    >>> [section.title for section in page.sections][:3]
    ['Summary', 'Lift', 'Calibration']
    """
    # the figures are put together by our own code, so that checking them again only takes time
    with debug_mode(False):  # noqa: FBT003 - its name says what is off
        sections = evaluation_sections(evaluation_findings(evaluation))
    return Report(
        title=title or f"{evaluation.what}: evaluation of {evaluation.learner}",
        sections=sections,
        about=head(
            evaluation.what,
            evaluation.task,
            evaluation.learner,
            ("Rows", f"{evaluation.n_rows:,}, {evaluation.source}"),
        ),
    )
