"""Test rows whose outcome is known: how well the model predicts them, next to held-out rows."""

from collections.abc import Iterator, Mapping

from clearwood._shared.numbers import count, percent
from clearwood.reporting.collect.findings import Findings, Performance, Step
from clearwood.reporting.page.blocks import Block, Cell, Choice, Note, Prose, Sheet, finite
from clearwood.reporting.sections.by_column import band_blocks
from clearwood.reporting.sections.words import (
    capital,
    gap_sentence,
    interval,
    listed,
    named,
    number,
    performance_sentences,
    sentence,
    where_of,
)

__all__ = ["column_blocks", "contradiction", "score_blocks"]


def contradiction(findings: Findings) -> tuple[str, str, str] | None:
    """Return title, meaning and advice where test rows contradict the held-out ones, or None."""
    held, test = findings.performance, findings.test_performance
    if not findings.test_contradicts or held is None or test is None:
        return None
    gap = findings.test_gap
    if findings.gain_is_lost or (gap is not None and gap.estimate > 0):
        title = "The test rows are predicted worse than rows not used for fitting"
        advice = (
            "Expect the figures of the test rows for rows like them. Look for what differs: the "
            "columns that drift, a later time, columns that are only known afterwards, or people "
            "and things that have several rows in the table and none among the test rows."
        )
    else:
        title = "The test rows are predicted better than rows not used for fitting"
        advice = (
            "Make sure that the model was not fitted to test rows, or to others of the same people "
            "or things, and that the test rows are like those it will be used for."
        )
    return title, " ".join(_figures(findings, held, test)), advice


def _figures(findings: Findings, held: Performance, test: Performance) -> Iterator[str]:
    if findings.test_gap is not None:
        yield gap_sentence(findings)
    yield f"{_gain(test)}; {_gain(held)[:1].lower()}{_gain(held)[1:]}."


def _gain(performance: Performance) -> str:
    """Say how a performance compares with that of a constant prediction."""
    where, explained = capital(where_of(performance)), performance.explained
    if explained is None:
        risk = performance.risk
        span = interval(risk.low, risk.high, risk.confidence)
        return f"{where}, the {performance.risk_title} is {number(risk.estimate)} ({span})"
    if explained <= 0:
        return (
            f"{where}, the model is worse than a constant prediction ({performance.risk_title} "
            f"{number(performance.risk.estimate)} against {number(performance.baseline)})"
        )
    return (
        f"{where}, the model reduces the {performance.risk_title} of a constant prediction, "
        f"{number(performance.baseline)}, by {percent(explained)}"
    )


def score_blocks(findings: Findings) -> list[Block]:
    """Describe the performance on test rows, next to that on the other held-out rows."""
    held, test = findings.performance, findings.test_performance
    why = findings.failures.get(Step.TEST)
    if why is not None:
        return [Note("The test rows could not be scored", sentence(why), tone="caution")]
    if test is None or not findings.is_test_apart or held is None:
        return []
    text = " ".join((*performance_sentences(findings, test), gap_sentence(findings)))
    blocks: list[Block] = [Prose((text.strip(),))]
    if findings.test is not None and findings.test.dropped:
        dropped = count(findings.test.dropped, "test row")
        blocks.append(Prose((f"{dropped} without the outcome left out.",)))
    values, others = _numbers(test), _numbers(held)
    rows = tuple((name, *values[name], *others.get(name, (None, None, None))) for name in values)
    numbers = ("test", "low", "high", "held out", "its low", "its high")
    caption = (
        f"Test rows ({test.n_rows:,}) and rows not used for fitting ({held.n_rows:,}), with "
        f"{percent(test.risk.confidence)} intervals"
    )
    columns = ("measure", *numbers)
    return [*blocks, Sheet("test-measures", caption, columns, rows, mixed=numbers)]


def _numbers(performance: Performance) -> Mapping[str, tuple[Cell, Cell, Cell]]:
    """Return every number of a performance with its interval, by name."""
    risk, gap, measured = performance.risk, performance.against_baseline, performance.measures
    lines: dict[str, tuple[float | None, ...]] = {
        performance.risk_title: (risk.estimate, risk.low, risk.high),
        "of a constant prediction": (performance.baseline, None, None),
    }
    if gap is not None:
        lines["difference from a constant prediction"] = (gap.difference, gap.low, gap.high)
    if measured is not None:
        for name in measured:
            lines[name.replace("_", " ")] = (measured[name], *measured.interval(name))
    return {name: tuple(map(finite, line)) for name, line in lines.items()}  # type: ignore[misc]


def column_blocks(findings: Findings) -> list[Block]:
    """Write observed against expected of the test rows by column, those clearly off first."""
    held, test = findings.performance, findings.test_performance
    parts = findings.test_columns
    if test is None or test.evaluation is None or not parts:
        return []
    off = [part.columns[0] for part in parts if part.misses.any()]
    text = (
        "Observed and expected means of the test rows in bands of each column. Where the interval "
        "excludes the prediction, the model misses an effect of the column, or the rows have "
        "changed. The intervals of all bands of a column hold together. "
        f"{f'Clearly off: {listed(off)}.' if off else 'In no column is a band clearly off.'}"
    )
    beside, views = findings.held_out_columns, []
    for part in parts:
        name = part.columns[0]
        blocks = band_blocks(part, test.evaluation, "test-by")
        if name in beside and held is not None and held.evaluation is not None:
            of_held = band_blocks(beside[name], held.evaluation, "held-out-by")
            blocks = (
                Prose((f"{capital(where_of(test))}:",)),
                *blocks,
                Prose((f"{capital(where_of(held))}:",)),
                *of_held,
            )
        views.append((named(name), blocks))
    return [Prose((text,)), Choice("test-by-column", "Column", tuple(views))]
