"""The report: a page as an object that can be saved and shown."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from clearwood._shared.numbers import count
from clearwood.benchmarking import Benchmark
from clearwood.evaluation import Interval
from clearwood.files import atomic_write
from clearwood.reporting.collect.findings import Performance
from clearwood.reporting.page.blocks import Block, Caution, Chart, Choice, More, Section
from clearwood.reporting.page.page import render

__all__ = ["Report"]


@dataclass(frozen=True, repr=False)
class Report:
    """A page about a model: sections of text, tables and charts, in one file that works offline.

    Made by :func:`clearwood.report`.

    Parameters
    ----------
    title
        The page's heading.
    sections
        Its sections, in order.
    about
        Pairs of a name and a value, shown below the heading.
    performance, test, test_gap
        How well the model predicts: as the page states it first, and test rows whose outcome is
        known; and the risk of test rows less that of other held-out rows, with its interval. None
        where it is not known.
    test_contradicts
        Whether test rows are predicted better or worse than held-out rows, beyond chance.
    cautions
        What to be careful about, the most serious first, each with its `severity`.
    model, benchmark
        The model that the page is about, and the comparison that it comes from; None for pages
        about something else.

    Examples
    --------
    >>> from clearwood.reporting import Prose
    >>> words = Section("summary", "Summary", (Prose(("It predicts well.",)),))
    >>> page = Report("Accidents", (words,))
    >>> page
    Report 'Accidents': 1 section, 0 charts
    >>> "<h1" in page.to_html()
    True
    """

    title: str
    sections: tuple[Section, ...] = field(repr=False)
    about: tuple[tuple[str, str], ...] = ()
    performance: Performance | None = field(default=None, repr=False)
    test: Performance | None = field(default=None, repr=False)
    test_gap: Interval | None = field(default=None, repr=False)
    test_contradicts: bool = False
    cautions: tuple[Caution, ...] = field(default=(), repr=False)
    model: Any = field(default=None, repr=False)
    benchmark: Benchmark | None = field(default=None, repr=False)

    def to_html(self) -> str:
        """Return the page as text: a whole HTML document that loads nothing else."""
        return render(self.title, self.sections, self.about)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path
            The file to write, for example ``report.html``.
        force
            Replace an existing file.

        Raises
        ------
        InputError
            If the file exists and ``force`` is not set, or it cannot be written.
        """
        with atomic_write(path, force=force, text=True) as file:
            file.write(self.to_html())

    def to_json(self) -> dict[str, Any]:
        """Return what the page is about and its main numbers, ready for JSON."""
        numbers = {
            name: None if part is None else part.to_json()
            for name, part in (
                ("performance", self.performance),
                ("test", self.test),
                ("test_gap", self.test_gap),
            )
        }
        return {
            "title": self.title,
            "sections": [section.name for section in self.sections],
            **numbers,
            "test_contradicts": self.test_contradicts,
            "cautions": [vars(caution) for caution in self.cautions],
        }

    def __repr__(self) -> str:
        charts = sum(1 for section in self.sections for _ in _charts(section.blocks))
        return (
            f"Report {self.title!r}: {count(len(self.sections), 'section')}, "
            f"{count(charts, 'chart')}"
        )

    def _repr_html_(self) -> str:
        """Show the page in place in a notebook, in a frame of its own that reaches nothing."""
        return (
            f'<iframe title="{escape(self.title)}" width="100%" height="720" '
            'sandbox="allow-scripts allow-downloads" '
            'style="border: 1px solid #8884; border-radius: 4px" '
            f'srcdoc="{escape(self.to_html())}"></iframe>'
        )


def _charts(blocks: Sequence[Block]) -> Iterator[Chart]:
    for block in blocks:
        if isinstance(block, Chart):
            yield block
        elif isinstance(block, Choice):
            for _, inner in block.options:
                yield from _charts(inner)
        elif isinstance(block, More):
            yield from _charts(block.blocks)
