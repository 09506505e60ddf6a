"""A benchmark in words: for the terminal and for a notebook."""

import math
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearwood.benchmarking.result import Benchmark, Difference, Standing

__all__ = ["as_html", "as_text", "comparison_text", "duration", "number", "settings_in_words"]

WIDTH = 80
_NAME_WIDTH = 16


def as_text(bench: "Benchmark") -> str:
    """Write a benchmark at 80 columns: standings, settings, method, warnings."""
    # fewer figures where small numbers with powers of ten would not fit
    for figures in (4, 3, 2):
        rows = [
            _headings(bench),
            *(_cells(one, i, figures) for i, one in enumerate(bench.standings)),
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        if sum(widths) + 2 * len(widths) - 2 <= WIDTH:
            break
    lines = [*_folded(_headline(bench)), ""]
    for row in rows:
        first = f"{row[0]:<{widths[0]}}"
        rest = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append(_cut("  ".join([first, *rest]).rstrip(), WIDTH))
    chosen = [
        _cut(
            f"  {_cut(one.learner, _NAME_WIDTH):<{widths[0]}}  {settings_in_words(one.settings)}",
            WIDTH,
        )
        for one in bench.standings
        if one.settings
    ]
    if chosen:
        lines += ["", "Settings, typical of the folds", *chosen]
    lines += ["", *(line for text in _method(bench) for line in _folded(text))]
    for text in bench.warnings:
        first, *more = _folded(text, indent=9)
        lines += [f"warning: {first.strip()}", *more]
    return "\n".join(lines)


def as_html(bench: "Benchmark") -> str:
    """Write a benchmark for a notebook; every name and value is escaped."""
    headings = [*_headings(bench), "settings"]
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in headings)
    body = "".join(
        f'<tr><th scope="row">{escape(one.learner)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(one, place)[1:])
        + f"<td>{escape(settings_in_words(one.settings))}</td></tr>"
        for place, one in enumerate(bench.standings)
    )
    said = [*_method(bench), *(f"Warning: {text}" for text in bench.warnings)]
    return (
        f'<div class="clearwood-benchmark"><p>{escape(_headline(bench))}</p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        + "".join(f"<p>{escape(text)}</p>" for text in said)
        + "</div>"
    )


def comparison_text(found: "Difference") -> str:
    """Say in a sentence which of two learners is better, if that can be said."""
    level = f"{100 * found.confidence:g} %"
    between = f"{number(found.low)} to {number(found.high)}"
    if not found.clear:
        verdict = "the data do not tell them apart"
    else:
        better = found.first if found.high < 0 else found.second
        verdict = f"{better} is better"
    return (
        f"{found.first} − {found.second}: {number(found.difference)} in {found.loss} risk, "
        f"{level} {found.interval} interval {between}: {verdict}"
    )


def _headline(bench: "Benchmark") -> str:
    table = bench.context.table
    parts = [
        f"Benchmark: {table.task} of {table.target!r}",
        f"{table.n_rows:,} rows",
        f"{bench.loss} loss",
    ]
    if not bench.complete:
        parts.append(f"stopped after {len(bench.outcomes)} of {len(bench.units)} fits")
    return ", ".join(parts)


def _headings(bench: "Benchmark") -> list[str]:
    level = f"{100 * bench.method.confidence:g} %"
    return ["learner", "risk", f"{level} interval", "to best", f"{level} interval", "time"]


def _cells(one: "Standing", place: int, figures: int = 4) -> list[str]:
    name = _cut(one.learner, _NAME_WIDTH)
    if not math.isfinite(one.risk):
        told = "failed" if one.failures else "not begun"
        return [name, told, "", "", "", duration(one.fit_seconds)]
    best = place == 0
    failed = f"{one.failures} failed" if one.failures else ""
    return [
        name,
        number(one.risk, figures),
        f"{number(one.low, figures)} to {number(one.high, figures)}",
        failed or ("best" if best else number(one.difference, figures)),
        ""
        if best or not math.isfinite(one.difference_low)
        else f"{number(one.difference_low, figures)} to {number(one.difference_high, figures)}",
        duration(one.fit_seconds),
    ]


def _method(bench: "Benchmark") -> list[str]:
    method = bench.method
    work = "fit" if bench.context.tuning is None else "tuning and fit"
    said = [f"Risk by {method.plan}; {method.tuning}. Time is that of one {work}."]
    kinds = dict.fromkeys(one.interval for one in bench.standings if math.isfinite(one.risk))
    if kinds:
        said.append(
            "; ".join(_INTERVALS.get(kind, f"{kind} intervals") for kind in kinds) + _pairs(bench)
        )
    if method.simultaneous:
        said.append("The intervals of differences are simultaneous: all hold together.")
    return [text[:1].upper() + text[1:] + "." if not text.endswith(".") else text for text in said]


_INTERVALS = {
    "nested": "nested cross-validation intervals (Bates, Hastie and Tibshirani 2024)",
    "naive": "naive intervals, which ignore that folds share training rows and are too short",
    "hold-out": "hold-out intervals, about the one fit to the training rows",
    "corrected": "intervals over random hold-outs, corrected for the rows they share",
    "per-origin": "intervals over spans of time, each span one observation",
}


def _pairs(bench: "Benchmark") -> str:
    if bench.method.pairs != "reused" or bench.context.tuning is None:
        return ""
    return "; fits that leave two folds out reuse the settings tuned without the fold judged"


def number(value: float, figures: int = 4) -> str:
    """Write a number with a few figures, as people do.

    Examples
    --------
    >>> number(2993.41), number(0.0123456), number(4.786e9), number(-0.5)
    ('2993', '0.01235', '4.786e9', '-0.5')
    """
    if not math.isfinite(value):
        return "–"
    text = f"{value:.{figures}g}"
    if "e" not in text:
        return text
    if 1e-4 <= abs(value) < 1e6:
        return f"{value:.0f}"
    digits, power = text.split("e")
    return f"{digits}e{int(power)}"


def duration(seconds: float) -> str:
    """Write seconds in a few characters.

    Examples
    --------
    >>> duration(0.0123), duration(4.56), duration(75), duration(7300)
    ('0.01 s', '4.6 s', '1:15 min', '2:01 h')
    """
    if not math.isfinite(seconds):
        return "–"
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"


def settings_in_words(settings: Mapping[str, Any]) -> str:
    """Write settings as one would type them.

    Examples
    --------
    >>> settings_in_words({"alpha": 0.0123456, "weights": "distance"})
    'alpha=0.01235, weights=distance'
    """
    return ", ".join(
        f"{key}={number(value) if isinstance(value, float) else value}"
        for key, value in settings.items()
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _folded(text: str, *, indent: int = 0) -> list[str]:
    import textwrap

    return textwrap.wrap(
        text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent
    ) or [""]
