"""Cautions: what could be wrong, what that means, and what to do about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from clearwood.reporting.collect.findings import Findings, Performance
from clearwood.reporting.page.blocks import Block, More, Note, Prose, Section, Sheet
from clearwood.reporting.sections.loss_words import interval_words, loss_name
from clearwood.reporting.sections.words import (
    beyond_words,
    capital,
    count,
    is_sampled,
    listed,
    named,
    number,
    percent,
    sentence,
)
from clearwood.table import Kind, Role

__all__ = ["Caution", "cautions", "section"]

#: Classes with fewer rows than this are small.
SMALL_CLASS = 30
#: Fewer rows for each column than this are few.
ROWS_PER_COLUMN = 10
#: A column that lacks more values than this share is worth a word.
MANY_MISSING = 0.2
#: A model that takes away more of the baseline's error than this is too good to be true.
SUSPICIOUS = 0.99
#: A calibration slope farther from 1 than this is worth a word.
UNCALIBRATED = 0.2


@dataclass(frozen=True)
class Caution:
    """One thing to be careful about.

    Parameters
    ----------
    title
        What was found.
    means
        What it means for the reader.
    do
        What to do about it.
    items
        What it is about, one a line.
    """

    title: str
    means: str
    do: str
    items: tuple[str, ...] = ()


def section(findings: Findings) -> Section:
    """Write the chapter about what to be careful about."""
    found = cautions(findings)
    head = (
        f"{count(len(found), 'point')} to be careful about, each with what it means and what to do."
        if found
        else "None of the checks found anything to warn of. That is no proof that nothing is wrong."
    )
    blocks: list[Block] = [Prose((head,), lead=True)]
    blocks += [
        Note(caution.title, f"{caution.means} {caution.do}", tone="caution", items=caution.items)
        for caution in found
    ]
    blocks.append(
        Note(
            "This page is about the model, not about causes",
            "Effects say how the model's prediction changes with a column. What would happen in "
            "the world if somebody changed the column is another question, which no model that "
            "was fitted to observed rows answers by itself.",
        )
    )
    blocks += _drift_sheet(findings)
    blocks.append(More("What was checked", (Prose((_checked(findings),)),)))
    return Section("cautions", "Cautions", tuple(blocks))


def cautions(findings: Findings) -> tuple[Caution, ...]:
    """Give everything to be careful about, the gravest first."""
    return tuple(caution for check in _CHECKS for caution in check(findings))


def _leaks(findings: Findings) -> Iterator[Caution]:
    found = findings.alone
    if found is None or not found.suspects:
        return
    one = len(found.suspects) == 1
    yield Caution(
        f"{count(len(found.suspects), 'column')} may give the answer away",
        f"{'It predicts' if one else 'Each predicts'} {named(str(findings.target))} almost "
        "perfectly all alone. Such a column is often filled in after the fact, or is the target in "
        "other words; the model is then worthless where the answer is not known yet.",
        "Ask how the column comes about and when; if in doubt, leave it out and fit anew.",
        tuple(f"{name}: explains {percent(found[name])} alone" for name in found.suspects),
    )


def _names(findings: Findings) -> Iterator[Caution]:
    target = (findings.target or "").casefold()
    if len(target) < 4:
        return
    alike = [name for name in findings.features if target in name.casefold()]
    if alike:
        yield Caution(
            f"{count(len(alike), 'column')} named like the target",
            f"The name contains “{named(str(findings.target))}”, so the values may be made from "
            "it.",
            "Make sure that they are known before the target is.",
            tuple(alike),
        )


def _too_good(findings: Findings) -> Iterator[Caution]:
    explained = _explained_unseen(findings)
    if explained is None or explained <= SUSPICIOUS:
        return
    if findings.alone is not None and findings.alone.suspects:
        return  # the reason is named already
    yield Caution(
        "It predicts almost perfectly",
        f"It takes away {percent(explained)} of the baseline's error. In practice that "
        "mostly means that some columns together hold the answer, such as parts of a sum.",
        "Ask of the most important columns whether they are known before the target is.",
    )


def _explained_unseen(findings: Findings) -> float | None:
    """Give the share of the baseline's risk taken away on rows not fitted to, where it is known."""
    found, curve = findings.performance, findings.learning
    if found is None or found.rows != "training":
        return None if found is None else found.explained
    if curve is None or curve.loss != found.loss or not found.baseline:
        return None
    return 1 - float(curve.risk[-1]) / found.baseline


def _honesty(findings: Findings) -> Iterator[Caution]:
    found = findings.performance
    if found is None:
        if "performance" in findings.failures:
            yield Caution(
                "How well it predicts is not known",
                sentence(findings.failures["performance"]),
                "Give rows with the target, best together with a benchmark.",
            )
        return
    if found.rows == "training":
        roughly = findings.learning is not None
        yield Caution(
            f"How well it predicts new rows is {'known only roughly' if roughly else 'not known'}",
            "It was judged on rows that it may have been fitted to, which flatters it."
            + (" The learning curve judges other fits with the same settings." if roughly else ""),
            "Give a benchmark (cw.benchmark) or rows it has not seen (test=...).",
        )
        return
    explained = found.explained
    if explained is not None and explained <= 0:
        yield Caution(
            "The model is no better than the baseline",
            f"Its {loss_name(found.loss)} of {number(found.risk.estimate)} is not below the "
            f"{number(found.baseline)} of a prediction that is the same for every row. What it "
            "says about columns may be noise.",
            "Do not use its explanations to argue anything.",
        )
    elif explained is not None and _could_be_chance(findings, found):
        yield Caution(
            "Whether it beats the baseline is uncertain",
            f"Its {loss_name(found.loss)} is {number(found.risk.estimate)} "
            f"({interval_words(found)}), that of the baseline {number(found.baseline)}: chance "
            "could explain the difference.",
            "More rows, or more repeats of the resampling, would tell.",
        )


def _could_be_chance(findings: Findings, found: Performance) -> bool:
    """Whether chance explains the gain over the baseline: row by row where both were judged."""
    bench, chosen = findings.benchmark, findings.chosen
    if bench is not None and chosen is not None and found.rows == "out-of-fold":
        return chosen != "baseline" and not bench.compare(chosen, "baseline").clear
    return found.baseline is not None and found.risk.high > found.baseline


def _better(findings: Findings) -> Iterator[Caution]:
    bench, chosen = findings.benchmark, findings.chosen
    if bench is None or chosen is None or bench.learners[0] == chosen:
        return
    best = bench.learners[0]
    gap = bench.compare(chosen, best)
    if gap.clear and gap.difference > 0:
        yield Caution(
            f"Another learner predicts better: {named(best)}",
            f"Its {loss_name(bench.loss)} is {number(bench[best].risk)}, that of {named(chosen)} "
            f"{number(bench[chosen].risk)} (difference {number(gap.difference)}, "
            f"{100 * gap.confidence:g} % interval {number(gap.low)} to {number(gap.high)}).",
            "Use the better one, unless there is a reason for this one.",
        )


def _calibration(findings: Findings) -> Iterator[Caution]:
    found = findings.performance
    if found is None or found.rows == "training" or found.calibration is None:
        return
    slope = found.calibration.slope
    if not np.isfinite(slope) or abs(slope - 1) <= UNCALIBRATED:
        return
    how = "too extreme" if slope < 1 else "too timid"
    yield Caution(
        f"Predictions are {how}",
        f"The truth moves by {number(slope)} where the prediction"
        f"{' (its log-odds)' if found.calibration.kind == 'probability' else ''} moves by 1; of a "
        "calibrated model both move alike.",
        "Use predictions to rank rows rather than at face value, or calibrate the model.",
    )


def _extrapolation(findings: Findings) -> Iterator[Caution]:
    items = []
    for name, views in findings.effects.items():
        if views.pdp is not None and views.pdp.extrapolates.any():
            n, total = int(views.pdp.extrapolates.sum()), views.pdp.extrapolates.size
            items.append(f"{named(name)}: {n} of {total} values")
    if items:
        yield Caution(
            f"Effects of {count(len(items), 'column')} ask about rows that hardly occur",
            "Where a curve is dotted, more than a fifth of the rows it averages over do not look "
            "like any row of the data once the column is changed alone. There the model was never "
            "tested, and the curve may show anything.",
            "Trust solid stretches; compare with ALE, which does not leave the data.",
            tuple(items),
        )


def _correlated(findings: Findings) -> Iterator[Caution]:
    found = findings.dependence
    if found is None or not found.groups:
        return
    items = []
    for group in found.groups:
        inside = [(found.between(a, b), a, b) for i, a in enumerate(group) for b in group[i + 1 :]]
        strength, a, b = max(inside)
        items.append(
            f"{listed(group, most=8)} (strongest: {named(a)} and {named(b)}, {strength:.2f})"
        )
    yield Caution(
        f"{count(len(found.groups), 'group')} of columns that belong together",
        "Within a group, one column tells much about another. How the model shares the effect "
        "among them is partly chance: another sample could share it otherwise.",
        "Read the columns of a group together; do not conclude that one of them is unimportant.",
        tuple(items),
    )


def _stories(findings: Findings) -> Iterator[Caution]:
    if findings.agreement is None:
        return
    differing = [e for e in findings.agreement.columns if "pdp against ale" in e.stories]
    if differing:
        yield Caution(
            f"Explanations of {count(len(differing), 'column')} depend on the method",
            "Two sound methods tell different stories of the same column, mostly because columns "
            "belong together or act together.",
            "Name the method with any statement about these columns.",
            tuple(f"{entry.words}." for entry in differing),
        )


def _hidden(findings: Findings) -> Iterator[Caution]:
    if findings.importance is None:
        return
    beyond = findings.importance.remainder_share
    if beyond > 0.1:
        yield Caution(
            f"{percent(beyond)} of the model's variation is in no figure",
            f"It comes from {beyond_words(findings)}, which curves and heat maps do not show.",
            "Look at single rows, where all of it is accounted for; a model of depth 2 has none.",
        )


def _sampled(findings: Findings) -> Iterator[Caution]:
    why = findings.decomposition
    if why is not None and is_sampled(findings):
        yield Caution(
            "Explanations are estimated",
            "This model can only be asked, not taken apart (or is too large for it), so that "
            "importance and effects come from some rows and have errors of chance.",
            "Do not read small differences between columns as real.",
            why.notes[:1],
        )


def _classes(findings: Findings) -> Iterator[Caution]:
    if not findings.classes or findings.target not in findings.table.names:
        return
    column = findings.table.column(str(findings.target))
    labels, counts = np.unique(
        [str(label) for label in column.labels() if label is not None], return_counts=True
    )
    small = [
        f"{named(str(label))}: {count(int(n), 'row')}"
        for label, n in zip(labels, counts, strict=True)
        if n < SMALL_CLASS
    ]
    if small:
        yield Caution(
            f"{count(len(small), 'class', 'classes')} with few rows",
            f"Of classes with fewer than {SMALL_CLASS} rows little can be learned, and how well "
            "they are predicted is hardly known.",
            "Collect more of them, or join classes that mean nearly the same.",
            tuple(small),
        )


def _few_rows(findings: Findings) -> Iterator[Caution]:
    n_rows, n_columns = findings.table.n_rows, max(1, len(findings.features))
    if n_rows < ROWS_PER_COLUMN * n_columns or n_rows < 100:
        yield Caution(
            "There are few rows",
            f"{count(n_rows, 'row')} for {count(n_columns, 'column')}: much of what the model "
            "shows may be chance.",
            "Prefer simple models, and look at intervals rather than at single numbers.",
        )


def _missing(findings: Findings) -> Iterator[Caution]:
    n_rows = max(1, findings.table.n_rows)
    lacking = [
        f"{named(name)}: {percent(n / n_rows)} missing"
        for name, n in findings.table.missing.items()
        if name in findings.features and n / n_rows > MANY_MISSING
    ]
    if lacking:
        yield Caution(
            f"{count(len(lacking), 'column')} with many missing values",
            "If values are missing for a reason that has to do with the target, the model learns "
            "that reason, and it may not hold elsewhere.",
            "Find out why they are missing.",
            tuple(lacking),
        )


def _drifting(findings: Findings) -> Iterator[Caution]:
    found = findings.drift
    if found is None or not found.differing:
        return
    yield Caution(
        f"{capital(found.second)} differ from {found.first}",
        f"{count(len(found.differing), 'column')} of {len(found.columns)} "
        f"{'is' if len(found.differing) == 1 else 'are'} distributed differently, by more than "
        "chance. How well the model does on rows like the first says less about the second.",
        "Judge it on the newer rows, and fit it to them where that can be.",
        tuple(
            f"{named(e.column)}: distance {e.distance:.2f}; typical {named(e.first)} before, "
            f"{named(e.second)} after"
            + (f"; new levels {listed(e.new_levels)}" if e.new_levels else "")
            for e in found.differing
        ),
    )


def _protected(findings: Findings) -> Iterator[Caution]:
    used = [name for name in findings.table.protected if name in findings.features]
    if not used:
        return
    items: list[str] = []
    if findings.importance is not None:
        total = dict(zip(findings.importance.columns, findings.importance.total, strict=True))
        items = [
            f"{named(name)}: {percent(float(total.get(name, 0.0)))} of the model's variation"
            for name in used
        ]
    yield Caution(
        f"The model uses protected columns: {listed(used)}",
        "Treating people differently by these columns may be unlawful. Leaving them out is no "
        "remedy by itself: other columns can stand in for them.",
        "Have it audited before it is used on people.",
        tuple(items),
    )


def _dates(findings: Findings) -> Iterator[Caution]:
    dated = [n for n in findings.features if findings.table.column(n).kind is Kind.DATE]
    if dated:
        yield Caution(
            f"The model uses dates: {listed(dated)}",
            "Rows to come will have later dates than any it has seen.",
            "Judge it on later rows than it is fitted to (a time column: cw.read(..., time=...)).",
        )


def _groups(findings: Findings) -> Iterator[Caution]:
    bench = findings.benchmark
    tied = [n for n, role in findings.table.roles.items() if role in (Role.GROUP, Role.TIME)]
    if tied and bench is None:
        yield Caution(
            f"Rows are tied by {listed(tied)}",
            "Rows of one group, or near in time, are alike; judged row by row a model looks better "
            "than it is for a new group or a later time.",
            "A benchmark of this table keeps groups together and time in order: cw.benchmark.",
        )


def _failed(findings: Findings) -> Iterator[Caution]:
    lost = {stage: why for stage, why in findings.failures.items() if stage not in _EXPECTED}
    items = [f"{stage}: {why}" for stage, why in lost.items()]
    if items:
        yield Caution(
            f"{count(len(items), 'part')} of the work failed",
            "What depends on it is missing from this page.",
            "The reasons are below.",
            tuple(items),
        )


#: Stages whose failure has its own place on the page.
_EXPECTED = {"performance", "learning curve", "condense"}

_CHECKS: tuple[Callable[[Findings], Iterator[Caution]], ...] = (
    _leaks,
    _names,
    _too_good,
    _honesty,
    _better,
    _drifting,
    _protected,
    _correlated,
    _extrapolation,
    _stories,
    _hidden,
    _sampled,
    _calibration,
    _classes,
    _few_rows,
    _missing,
    _dates,
    _groups,
    _failed,
)


def _drift_sheet(findings: Findings) -> list[Block]:
    found = findings.drift
    if found is None:
        return []
    rows = tuple((e.column, e.distance, e.p_value, e.first, e.second) for e in found.columns)
    sheet = Sheet(
        "drift",
        f"How far each column differs between {found.n_first:,} {found.first} and "
        f"{found.n_second:,} {found.second}: distance of the distributions from 0 to 1, p-value "
        "adjusted for the number of columns (Holm), the typical value of each",
        (
            "column",
            "distance",
            "p-value",
            f"typical of {found.first}",
            f"typical of {found.second}",
        ),
        rows,
        bars=("distance",),
    )
    return [More(f"{capital(found.first)} and {found.second} compared", (sheet,))]


def _checked(findings: Findings) -> str:
    drift = (
        f"drift from {findings.drift.first} to {findings.drift.second}"
        if findings.drift is not None
        else "drift was not looked for: there are no test rows and no time column"
    )
    return sentence(
        "columns that predict the target alone (a small tree each, cross-validated) or are named "
        "like it; how well the model was judged, against a baseline; calibration; effects that "
        "leave the data; columns that belong together; methods that disagree; variation beyond "
        "pairs; small classes, few rows, missing values, dates, groups, protected columns; " + drift
    )
