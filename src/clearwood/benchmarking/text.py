"""A benchmark in words: for the terminal and for a notebook."""

import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clearwood._shared.numbers import IN_TABLES, count, duration, interval, number, percent
from clearwood._shared.results import html_table
from clearwood.checks import events

if TYPE_CHECKING:
    from clearwood.benchmarking.result import Benchmark, Difference
    from clearwood.benchmarking.standings import Standing

__all__ = ["as_html", "as_text", "comparison_text", "fitted_to", "levels_text", "settings_text"]

WIDTH = 80
_NAME_WIDTH = 16
#: Selected columns that are listed.
_COLUMNS = 15

#: Significant digits in the table, and the power of ten from which on an exponent is written: the
#: first that fits the width.
_FORMS = ((IN_TABLES, 12), (IN_TABLES, 5), (3, 5), (2, 5))


def as_text(bench: "Benchmark") -> str:
    """Write a benchmark at 80 columns: standings, settings, method and warnings."""
    for digits, longest in _FORMS:
        rows = [
            _headings(bench),
            *(_cells(one, i, digits, longest) for i, one in enumerate(_shown(bench))),
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
        _cut(f"  {_cut(one.learner, _NAME_WIDTH):<{widths[0]}}  {one.settings_text}", WIDTH)
        for one in bench.standings
        if one.settings
    ]
    if chosen:
        lines += ["", "Settings, typical of the folds", *chosen]
    lines += _selections(bench)
    lines += ["", *(line for sentence in _method(bench) for line in _folded(sentence))]
    for finding in bench.warnings:
        first, *more = _folded(str(finding), indent=9)
        lines += [f"warning: {first.strip()}", *more]
    return "\n".join(lines)


def _selections(bench: "Benchmark") -> list[str]:
    """Write which columns the folds selected, and how often."""
    lines: list[str] = []
    for name in bench.selecting:
        frequency = bench.selection(name)
        often = ", ".join(f"{column} {times}" for column, times in frequency.chosen[:_COLUMNS])
        more = len(frequency.chosen) - _COLUMNS
        rest = f" and {count(more, 'more column')}" if more > 0 else ""
        listed = f": {often}{rest}" if often else ""
        lines += ["", *_folded(f"{frequency.headline}{listed}")]
    return lines


def as_html(bench: "Benchmark") -> str:
    """Write a benchmark for a notebook; every name and value is escaped."""
    rows = [
        [one.learner, *_cells(one, place, IN_TABLES, 12)[1:], one.settings_text]
        for place, one in enumerate(_shown(bench))
    ]
    chosen = [repr(bench.selection(name)) for name in bench.selecting]
    notes = [*_method(bench), *chosen, *(f"Warning: {finding}" for finding in bench.warnings)]
    return html_table(_headline(bench), [*_headings(bench), "settings"], rows, notes)


def comparison_text(result: "Difference") -> str:
    """Write in a sentence which of two learners is better, if that is clear."""
    if not result.clear:
        verdict = "no clear difference"
    else:
        better = result.first if result.high < 0 else result.second
        verdict = f"{better} is clearly better"
    kind = f"simultaneous {result.interval}" if result.is_simultaneous else result.interval
    return (
        f"{result.first} − {result.second}: {number(result.difference)} in {result.loss} risk, "
        f"{percent(result.confidence)} {kind} interval {interval(result.low, result.high)}: "
        f"{verdict}"
    )


def _shown(bench: "Benchmark") -> "list[Standing]":
    return [*bench.standings, *([] if bench.reference is None else [bench.reference])]


def _headline(bench: "Benchmark") -> str:
    table = bench.context.table
    in_parts = bench.in_parts
    where = "" if in_parts is None else f" in {count(in_parts.n_parts, 'part')}"
    parts = [
        f"Benchmark: {table.task} of {table.outcome!r}",
        f"{count(bench.n_rows, 'row')}{where}",
        f"{'weighted ' if bench.method.is_weighted else ''}{bench.loss} loss",
    ]
    if bench.method.n_zero_weight:
        parts.append(f"{bench.method.n_zero_weight:,} of them with weight 0")
    if not bench.complete:
        parts.append(f"stopped after {len(bench.outcomes)} of {len(bench.units)} fits")
    return ", ".join(parts)


def _headings(bench: "Benchmark") -> list[str]:
    level = f"{percent(bench.method.confidence)} interval"
    return ["learner", "risk", level, "to best", level, "time"]


def _cells(one: "Standing", place: int, digits: int, longest: int) -> list[str]:
    def written(value: float) -> str:
        return number(value, digits, longest=longest) if math.isfinite(value) else "–"

    name = _cut(one.learner, _NAME_WIDTH)
    time = duration(one.fit_seconds) if math.isfinite(one.fit_seconds) else "–"
    if not math.isfinite(one.risk):
        return [name, "failed" if one.failures else "not begun", "", "", "", time]
    is_best = place == 0
    failed = f"{one.failures} failed" if one.failures else ""
    has_gap = not is_best and math.isfinite(one.difference_low)
    return [
        name,
        written(one.risk),
        f"{written(one.low)} to {written(one.high)}",
        failed or ("best" if is_best else written(one.difference)),
        f"{written(one.difference_low)} to {written(one.difference_high)}" if has_gap else "",
        time,
    ]


def _method(bench: "Benchmark") -> list[str]:
    method = bench.method
    work = "fit" if bench.context.tuning is None else "tuning and fit"
    sentences = [f"Risk by {method.plan}; {method.tuning}. Time is that of one {work}."]
    kinds = dict.fromkeys(one.interval for one in bench.standings if math.isfinite(one.risk))
    if kinds:
        described = "; ".join(_INTERVALS[kind] for kind in kinds)
        if method.pairs == "reused":
            described += (
                "; fits that leave two folds out reuse settings tuned without the test fold"
            )
        sentences.append(f"{described[0].upper()}{described[1:]}.")
    sentences += _rows_in_parts(bench)
    sentences += levels_text(bench)
    if bench.identical_rows is not None and not bench.identical_rows.matters:
        sentences.append(f"{bench.identical_rows}.")
    for both in bench.two_ways:
        if not both.matters:
            sentences.append(f"{both.text[0].upper()}{both.text[1:]}.")
    found = None if bench.in_parts is not None else events(bench.context.table)
    if found is not None and found.are_few:
        sentences.append(f"There are few events: {found.text}.")
    if bench.reference is not None:
        sentences.append(
            f"The {bench.reference.learner} is shown for reference; it is not one of the learners."
        )
    if method.is_simultaneous:
        sentences.append("The intervals of differences are simultaneous: all hold together.")
    return sentences


def levels_text(bench: "Benchmark") -> list[str]:
    """State observed / expected of each learner, for counts and amounts."""
    if not bench.levels:
        return []
    each = ", ".join(
        f"{name} {number(one.ratio)} ({interval(one.low, one.high)})"
        for name, one in bench.levels.items()
    )
    return [f"Observed / expected of the held-out rows: {each}."]


def _rows_in_parts(bench: "Benchmark") -> list[str]:
    """Say which rows of a table in parts each learner was fitted to and judged on."""
    held = bench.in_parts
    if held is None:
        return []
    units = f" in {count(held.n_units, 'group')}" if held.is_grouped else ""
    sentences = [
        f"All learners are judged on the same {count(held.n_test, 'held-out row')}{units}."
    ]
    sentences += fitted_to(bench)
    if held.n_kept < held.n_test:
        sentences.append(
            f"Measures, calibration and predictions are of a sample of {held.n_kept:,} of them."
        )
    return sentences


def fitted_to(bench: "Benchmark") -> list[str]:
    """Say which learners of a table in parts were fitted to all training rows, and which not."""
    held = bench.in_parts
    if held is None:
        return []
    names = [one.learner for one in _shown(bench)]
    whole = [name for name in names if name not in held.sampled]
    sampled = [name for name in names if name in held.sampled]
    sentences = []
    if whole:
        sentences.append(
            f"Fitted to all {count(held.n_train, 'training row')}: {', '.join(whole)}."
        )
    if sampled:
        drawn = max(held.sampled.values())
        sentences.append(
            f"Fitted to a sample of {drawn:,} of the {count(held.n_train, 'training row')} (seed "
            f"{bench.method.seed}), as they need the rows in memory: {', '.join(sampled)}."
        )
    return sentences


#: What each kind of interval is; the width of "nested" is Clearwood's own rule.
_INTERVALS = {
    "nested": "nested cross-validation intervals (fits of Bates, Hastie and Tibshirani 2024, width "
    "by Clearwood's rule)",
    "naive": "naive intervals, which are too short: they ignore that folds share training rows",
    "hold-out": "hold-out intervals, for the one fit to the training rows",
    "corrected": "intervals over random hold-outs, corrected for the rows they share",
    "per-origin": "intervals over spans of time, each span one observation",
}


def settings_text(settings: Mapping[str, Any]) -> str:
    """Write settings as one would type them.

    Examples
    --------
    >>> settings_text({"alpha": 0.0123456, "weights": "distance"})
    'alpha=0.01235, weights=distance'
    """
    # as Python reads them: thousands are not set apart
    return ", ".join(
        f"{key}={value:.{IN_TABLES}g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in settings.items()
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _folded(text: str, *, indent: int = 0) -> list[str]:
    margin = " " * indent
    return textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=margin) or [""]
