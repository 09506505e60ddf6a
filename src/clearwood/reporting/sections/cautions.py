"""Cautions: what could be wrong, what that means, and what to do about it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from clearwood._shared.dispersion import OVERDISPERSED
from clearwood._shared.numbers import count, percent
from clearwood.reporting.collect.findings import HANDFUL, Findings, Step
from clearwood.reporting.page.blocks import Block, Caution, More, Note, Prose, Section, Sheet
from clearwood.reporting.sections.performance import contradiction
from clearwood.reporting.sections.words import (
    capital,
    conflict_words,
    interval,
    listed,
    named,
    number,
    remainder_words,
    sentence,
)
from clearwood.table import Kind, Role, Task

__all__ = ["cautions", "section"]

TITLE = "Cautions"

#: Classes with fewer rows than this are small.
SMALL_CLASS = 30
#: Fewer rows for each column than this are few.
ROWS_PER_COLUMN = 10
#: A column that lacks more values than this share is pointed out.
MANY_MISSING = 0.2
#: A model that removes more of the baseline's error than this is too good to be true.
SUSPICIOUS = 0.99
#: A calibration slope farther from 1 than this is pointed out.
UNCALIBRATED = 0.2
#: Components beyond pairs with a larger share of the variation than this are pointed out.
MUCH_HIDDEN = 0.1
#: Columns are pointed out if more than this share of their curve relies on rows outside the data:
#: both ends of a column that goes with another often do a little.
FEW_VALUES_OUTSIDE = 0.1
#: Targets with shorter names than this are not looked for in the names of columns.
_SHORTEST_NAME = 4


def section(findings: Findings) -> Section:
    """Write the section about what to be careful about."""
    points = findings.cautions
    head = (
        f"{count(len(points), 'point')} to be careful about, each with its meaning and advice."
        if points
        else "The checks found no problem. That does not prove that there is none."
    )
    blocks: list[Block] = [Prose((head,), lead=True)]
    blocks += [
        Note(point.title, f"{point.meaning} {point.advice}", tone="caution", items=point.items)
        for point in points
    ]
    blocks.append(
        Note(
            "This page describes the model, not causes",
            "Effects show how the model's prediction changes with a column. What would happen if "
            "somebody changed the column in reality is a different question, which a model fitted "
            "to observed rows cannot answer by itself.",
        )
    )
    blocks += _drift_sheet(findings)
    blocks.append(More("What was checked", (Prose((_checked(findings),)),)))
    return Section("cautions", TITLE, tuple(blocks))


def cautions(findings: Findings) -> tuple[Caution, ...]:
    """Return everything to be careful about, the most serious first."""
    return tuple(caution for check in _CHECKS for caution in check(findings))


def _tested(findings: Findings) -> Iterator[Caution]:
    contradicting = contradiction(findings)
    if contradicting is not None:
        yield Caution(*contradicting, severity="high")


def _leaks(findings: Findings) -> Iterator[Caution]:
    leakage = findings.leakage
    if leakage is None:
        return
    target = named(str(findings.target))
    why = (
        "Such a column is often filled in after the outcome is known, or is another form of the "
        "target. The model is then useless where the outcome is not known yet."
    )
    what = (
        "Find out how and when the column is recorded. If it is not known when predictions are "
        "made, remove it and refit."
    )
    both = findings.without
    without = "" if both is None or not findings.suspects else f" {capital(both.text)}."
    if leakage.suspects:
        yield Caution(
            f"{count(len(leakage.suspects), 'column')} may leak the target",
            f"By itself, such a column predicts {target} better than those known beforehand "
            f"usually do. {why}{without}",
            what,
            tuple(leak.text for leak in leakage.leaks),
        )
    alone = [name for name in findings.suspects if name not in leakage.suspects]
    if alone:
        yield Caution(
            "One column explains most of what the model explains",
            f"By itself, {listed([named(name) for name in alone])} predicts {target} nearly as "
            f"well as the model does. {why}{'' if leakage.suspects else without}",
            what,
        )


def _identical(findings: Findings) -> Iterator[Caution]:
    twins, compared = findings.twins, findings.identical_rows
    tied = findings.table.group is not None
    if twins is not None and twins.overlaps_test:
        yield Caution(
            f"{percent((twins.n_test_twins or 0) / (twins.n_test or 1))} of the test rows are "
            "already in the table",
            f"{twins.n_test_twins or 0:,} of {count(twins.n_test or 0, 'test row')} have the same "
            "features as a row of the table. If the model was fitted to the table, it has seen "
            "them, and its performance on them is too optimistic.",
            "Test it on rows that are not in the table.",
        )
    if compared is not None:
        yield Caution(
            f"The gain over the baseline falls from {percent(compared.gain)} to "
            f"{percent(compared.gain_together)} if identical rows are kept together",
            f"{compared.twins.n_twins:,} of {count(compared.twins.n_rows, 'row')} have the same "
            "features as another row, and their targets are alike. Cross-validation that spreads "
            f"them tests a model on rows whose twins it was fitted to. Both numbers are for "
            f"{named(compared.learner)}, with the same settings in all folds; the smaller one is "
            "what to expect for people or things that are not in the table.",
            'Read the table with group="identical rows", or better with a group column that names '
            "the person or thing, and repeat the benchmark.",
        )
    elif twins is not None and twins.agree and findings.benchmark is None and not tied:
        yield Caution(
            "Rows with the same features may make the model look better than it is",
            f"{twins.n_twins:,} of {count(twins.n_rows, 'row')} have the same features as another "
            "row, and their targets agree more than the features explain. If some were used to fit "
            "the model and others to test it, its performance for new people or things is "
            "overestimated.",
            'A benchmark of the table, read with group="identical rows", keeps them together.',
        )


def _related(findings: Findings) -> Iterator[Caution]:
    for both in findings.two_ways:
        if both.kind == "units":
            kept = f"rows with the same {listed([named(name) for name in both.columns])}"
            yield Caution(
                f"The gain over the baseline falls from {percent(both.gain)} to "
                f"{percent(both.gain_other)} if {kept} are kept together",
                "They seem to be of the same person or thing, as their targets are alike. "
                "Cross-validation that spreads them tests a model on people or things that it was "
                f"fitted to. Both numbers are for {named(both.learner)}, with the same settings in "
                "all folds; the smaller one is what to expect for new people or things.",
                "Read the table with group=COLUMN, the column that tells them apart, and repeat "
                "the benchmark.",
            )
        else:
            yield Caution(
                "The performance on later rows is worse",
                f"{capital(both.text)}.",
                "Read the table with time=COLUMN, and repeat the benchmark.",
            )
    if findings.benchmark is not None:
        return
    units, along = findings.units, findings.trend
    is_named = findings.twins is not None and findings.twins.agree
    if units is not None and units.agree and not is_named:
        yield Caution(
            f"Rows with the same {listed([named(name) for name in units.columns])} may be of the "
            "same person or thing",
            f"There are {count(units.n_units, 'different value')} in {count(units.n_rows, 'row')}, "
            "and the targets of rows with the same one agree more than the other columns explain "
            f"(correlation {number(units.agreement)}). If some were used to fit the model and "
            "others to test it, its performance for new people or things is overestimated.",
            "A benchmark shows the performance both ways; read with group=COLUMN, the table keeps "
            "them together.",
        )
    if along is not None and along.is_clear:
        where = "the order of the rows" if along.column is None else named(along.column)
        yield Caution(
            f"The target changes along {where}",
            f"It accounts for {percent(along.share)} of what the other columns leave. A model that "
            "is tested on rows from between those it was fitted to looks better than it will be "
            "for later rows.",
            "A benchmark shows the performance both ways; read with time=COLUMN, the table is "
            "split by time.",
        )


def _names(findings: Findings) -> Iterator[Caution]:
    target = (findings.target or "").casefold()
    if len(target) < _SHORTEST_NAME:
        return
    alike = [name for name in findings.features if target in name.casefold()]
    if alike:
        yield Caution(
            f"{count(len(alike), 'column')} named like the target",
            f"The name contains “{named(str(findings.target))}”, so the values may be derived from "
            "it.",
            "Make sure that they are known before the target is.",
            tuple(alike),
        )


def _too_good(findings: Findings) -> Iterator[Caution]:
    explained = findings.explained_unseen
    if explained is None or explained <= SUSPICIOUS:
        return
    if findings.leakage is not None and findings.leakage.suspects:
        return  # the reason is named already
    yield Caution(
        "It predicts almost perfectly",
        f"It removes {percent(explained)} of the baseline's error. In practice that usually means "
        "that several columns together contain the target, such as the terms of a sum.",
        "Check whether the most important columns are known before the target is.",
    )


def _unknown_performance(findings: Findings) -> Iterator[Caution]:
    performance, why = findings.performance, findings.failures.get(Step.PERFORMANCE)
    if performance is None and why is not None:
        yield Caution(
            "The performance is not known",
            sentence(why),
            "Pass rows with the target, preferably together with a benchmark.",
        )
    elif performance is not None and performance.rows == "training":
        has_curve = findings.learning_curve is not None
        yield Caution(
            f"The performance on new rows is {'known only roughly' if has_curve else 'not known'}",
            "The model was evaluated on rows that it may have been fitted to, which is too "
            "optimistic."
            + (" The learning curve evaluates other fits with its settings." if has_curve else ""),
            "Pass a benchmark (cw.benchmark) or rows it has not seen (test=...).",
        )


def _outside(findings: Findings) -> Iterator[Caution]:
    for what, outside in (("rows", findings.outside), ("test rows", findings.test_outside)):
        notes = () if outside is None else tuple(outside.notes())
        if outside is None or not notes:
            continue
        # fits of lines leave the range of the target a little for a few of their own rows
        if outside is findings.outside and not outside.n_outside and not outside.n_negative:
            continue
        strange = outside.n_below + outside.n_above
        title = (
            f"{count(outside.n_outside, what.removesuffix('s'))} outside the training range"
            if outside.n_outside
            else f"{count(strange, 'prediction')} unlike any target of the training rows"
        )
        yield Caution(
            title,
            "No training row shows what happens there, so that predictions follow from how the "
            "model goes on beyond its data.",
            "Check these predictions by hand, or fit the model to rows like them.",
            tuple(capital(sentence(note)) for note in notes),
        )


def _no_gain(findings: Findings) -> Iterator[Caution]:
    performance = findings.performance
    if performance is None or performance.rows == "training" or performance.explained is None:
        return
    risk, title = performance.risk, performance.risk_title
    if performance.explained <= 0:
        yield Caution(
            "The model is no better than the baseline",
            f"Its {title} of {number(risk.estimate)} is not below the "
            f"{number(performance.baseline)} of a constant prediction. What it has learned about "
            "the columns may be noise.",
            "Do not base any argument on its explanations.",
        )
    elif performance.may_be_chance and findings.chosen != "baseline":
        yield Caution(
            "It is uncertain whether the model beats the baseline",
            f"Its {title} is {number(risk.estimate)} "
            f"({interval(risk.low, risk.high, risk.confidence)}), that of the baseline "
            f"{number(performance.baseline)}: chance could explain the difference.",
            "More rows, or more repeats of the resampling, would settle it.",
        )


def _better(findings: Findings) -> Iterator[Caution]:
    bench, gap = findings.benchmark, findings.better
    if bench is not None and gap is not None:
        chosen, best = gap.first, gap.second
        yield Caution(
            f"Another learner predicts better: {named(best)}",
            f"Its {bench.context.loss.risk_title} is {number(bench[best].risk)}, that of "
            f"{named(chosen)} {number(bench[chosen].risk)} (difference {number(gap.difference)}, "
            f"{interval(gap.low, gap.high, gap.confidence)}).",
            "Use the better one, unless there is a reason for this one.",
        )


def _dispersed(findings: Findings) -> Iterator[Caution]:
    performance = findings.performance
    curve = None if performance is None else performance.calibration
    # a weight that is not an exposure counts rows as repeated, which looks like clusters
    if curve is None or findings.task is not Task.COUNT or findings.table.row_weights is not None:
        return
    if curve.dispersion > OVERDISPERSED:
        size = number(curve.dispersion)
        yield Caution(
            f"Counts vary {size} times as much as a Poisson distribution allows",
            f"Around the predictions, their variance is {size} times their mean (the dispersion; 1 "
            "for a Poisson distribution). Standard errors, bands and p-values of counts on this "
            "page are adjusted for it; single counts lie farther from their mean than a Poisson "
            "distribution implies.",
            "Look for a column that is missing, and for rows that depend on each other: name what "
            "they share as a group. The negative binomial distribution allows for such counts: "
            "'glm' has it as a setting.",
        )


def _calibration(findings: Findings) -> Iterator[Caution]:
    performance = findings.performance
    if performance is None or performance.rows == "training" or performance.calibration is None:
        return
    curve = performance.calibration
    slope, line = curve.slope, curve.line
    advice = "Use predictions to rank rows rather than at face value, or calibrate the model."
    is_clear = not line.slope_low <= 1 <= line.slope_high
    if np.isfinite(slope) and abs(slope - 1) > UNCALIBRATED and is_clear:
        extent = "too extreme" if slope < 1 else "not extreme enough"
        yield Caution(
            f"Predictions are {extent}",
            f"Where the prediction{' (its log odds)' if curve.kind == 'probability' else ''} "
            f"changes by 1, the outcome changes by {number(slope)} on average "
            f"({interval(line.slope_low, line.slope_high, curve.confidence)}); a calibrated model "
            "has a slope of 1.",
            advice,
        )
    if curve.top_misses:
        side = "high" if curve.predicted[-1] > curve.observed[-1] else "low"
        yield Caution(
            f"The largest predictions are too {side}",
            f"In the {curve.rows[-1]:,} rows with the largest predictions, their mean is "
            f"{number(curve.predicted[-1])}, but that of the outcome is "
            f"{number(curve.observed[-1])} "
            f"({interval(curve.low[-1], curve.high[-1], curve.confidence)} of all bins together).",
            advice,
        )


def _extrapolation(findings: Findings) -> Iterator[Caution]:
    items, leaving = [], []
    for name, views in findings.effects.items():
        if views.pdp is not None and views.pdp.extrapolates.any():
            n, total = int(views.pdp.extrapolates.sum()), views.pdp.extrapolates.size
            if n > FEW_VALUES_OUTSIDE * total:
                items.append(f"{named(name)}: {n} of {total} values")
            if views.ale is not None and views.ale.extrapolates.any():
                leaving.append(name)
    ale = "compare with ALE, which uses only the rows near each value"
    if leaving:
        ale += f" (but leaves the data, too, where it is dotted: {listed(leaving)})"
    if items:
        yield Caution(
            f"Effects of {count(len(items), 'column')} rely on combinations that rarely occur",
            "Where a partial dependence curve is dotted, more than a fifth of the rows it averages "
            "over resemble no row of the data once the column is changed. The model was never "
            "tested there, and the curve may be meaningless.",
            f"Rely on the solid parts of the curve, and {ale}.",
            tuple(items),
        )


def _associated(findings: Findings) -> Iterator[Caution]:
    result = findings.association
    if result is None or not result.groups:
        return
    items = []
    for group in result.groups:
        pairs = [(result.between(a, b), a, b) for i, a in enumerate(group) for b in group[i + 1 :]]
        strength, a, b = max(pairs)
        strongest = f"strongest: {named(a)} and {named(b)}, {number(strength)}"
        items.append(f"{listed(group, most=8)} ({strongest})")
    yield Caution(
        f"{count(len(result.groups), 'group')} of associated columns",
        "Within a group, columns carry similar information. How the model divides the effect among "
        "them is partly chance: another sample could divide it differently.",
        "Interpret the columns of a group together; do not conclude that one of them is "
        "unimportant.",
        tuple(items),
    )


def _conflicts(findings: Findings) -> Iterator[Caution]:
    agreement, differing = findings.agreement, findings.shape_conflicts
    if agreement is not None and differing:
        yield Caution(
            f"Explanations of {count(len(differing), 'column')} depend on the method",
            "Partial dependence and ALE of the same column differ, usually because of associated "
            "columns or interactions.",
            "Name the method in any statement about these columns.",
            tuple(conflict_words(findings, name) for name in differing),
        )


def _hidden(findings: Findings) -> Iterator[Caution]:
    rest = findings.remainder_share
    if rest > MUCH_HIDDEN:
        yield Caution(
            f"{percent(rest)} of the model's variation is in no figure",
            f"It is due to {remainder_words(findings)}, which curves and heat maps do not show.",
            "Look at individual predictions, which account for all of it; a model of depth 2 has "
            "none.",
        )


def _sampled(findings: Findings) -> Iterator[Caution]:
    if findings.is_sampled and findings.decomposition is not None:
        yield Caution(
            "Explanations are estimates",
            "This model has no exact decomposition, or is too large for it, so importance and "
            "effects are estimated from sampled predictions and have sampling errors.",
            "Do not read small differences between columns as real.",
            tuple(map(sentence, findings.decomposition.notes)),
        )


def _classes(findings: Findings) -> Iterator[Caution]:
    quotes = findings.options.has_rows
    small = [
        f"{named(label) if quotes or n >= HANDFUL else 'a class'}: {count(n, 'row')}"
        for label, n in findings.class_rows.items()
        if n < SMALL_CLASS
    ]
    if small:
        yield Caution(
            f"{count(len(small), 'class', 'classes')} with few rows",
            f"Little can be learned about classes with fewer than {SMALL_CLASS} rows, and how well "
            "they are predicted is hardly known.",
            "Collect more of them, or merge classes with nearly the same meaning.",
            tuple(small),
        )


def _few_events(findings: Findings) -> Iterator[Caution]:
    found = findings.events
    if found is not None and found.are_few:
        if findings.classes and found.n_events < HANDFUL and not findings.options.has_rows:
            found = replace(found, rarest=None)
        yield Caution(
            "There are few events",
            f"{capital(found.text)}. With fewer than 10 for each, predictions are too extreme and "
            "effects unstable unless the model shrinks them; with fewer than 100 in all, "
            "calibration and ranking are hardly known.",
            "Prefer models with few columns or strong shrinkage, look at intervals, and collect "
            "more events.",
        )


def _few_rows(findings: Findings) -> Iterator[Caution]:
    n_rows, n_columns = findings.table.n_rows, max(1, len(findings.features))
    if n_rows < ROWS_PER_COLUMN * n_columns or n_rows < 100:
        yield Caution(
            "There are few rows",
            f"{count(n_rows, 'row')} for {count(n_columns, 'column')}: much of what the model "
            "has learned may be chance.",
            "Prefer simple models, and look at intervals rather than at single numbers.",
        )


def _missing(findings: Findings) -> Iterator[Caution]:
    n_rows = max(1, findings.table.n_rows)
    incomplete = [
        f"{named(name)}: {percent(n / n_rows)} missing"
        for name, n in findings.table.missing.items()
        if name in findings.used and n / n_rows > MANY_MISSING
    ]
    if incomplete:
        yield Caution(
            f"{count(len(incomplete), 'column')} with many missing values",
            "If values are missing for a reason related to the target, the model learns that "
            "reason, and it may not hold elsewhere. Where they are missing the model has a "
            "stand-in, so the effects of other columns are not adjusted for them there.",
            "Find out why they are missing. cw.coefficients and cw.direct_effect can use complete "
            "rows, or fill gaps by draws (gaps=).",
            tuple(incomplete),
        )


def _drifting(findings: Findings) -> Iterator[Caution]:
    drift = findings.drift
    if drift is None or not drift.differing:
        return
    are = "is" if len(drift.differing) == 1 else "are"
    yield Caution(
        f"{capital(drift.second)} differ from {drift.first}",
        f"{len(drift.differing)} of {count(len(drift.columns), 'column')} {are} distributed "
        f"differently, by more than chance. The performance on {drift.first} says less about "
        f"{drift.second}.",
        "Evaluate the model on the newer rows, and refit it to them if possible.",
        tuple(
            f"{named(e.column)}: distance {number(e.distance)}; typically {named(e.first)} before, "
            f"{named(e.second)} after"
            + (f"; new levels {listed(e.new_levels)}" if e.new_levels else "")
            for e in drift.differing
        ),
    )


def _protected(findings: Findings) -> Iterator[Caution]:
    used = findings.protected_used
    if not used:
        return
    shares = findings.shares
    yield Caution(
        f"The model uses protected columns: {listed(used)}",
        "Treating people differently by these columns may be unlawful. Removing them is not enough "
        "by itself: other columns can act as proxies.",
        "Have the model audited before it is used on people.",
        tuple(
            f"{named(name)}: {percent(shares.get(name, 0.0))} of the model's variation"
            for name in (used if shares else ())
        ),
    )


def _stand_ins(findings: Findings) -> Iterator[Caution]:
    if findings.stand_ins:
        yield Caution(
            "The model uses protected columns in another form",
            "These columns determine protected ones, or are determined by them. A model without "
            "the protected columns, or averaged over them, still treats people by them.",
            "Leave these columns out, or protect them too, and fit the model again.",
            tuple(capital(sentence(one.text)) for one in findings.stand_ins),
        )


def _dates(findings: Findings) -> Iterator[Caution]:
    used = (name for name in findings.features if name not in findings.unused)
    dated = [name for name in used if findings.table.column(name).kind is Kind.DATE]
    if dated:
        yield Caution(
            f"The model uses dates: {listed(dated)}",
            "Future rows will have later dates than any it has seen.",
            "Evaluate it on later rows than it is fitted to; a time column makes the benchmark do "
            "so: cw.read(..., time=...).",
        )


def _groups(findings: Findings) -> Iterator[Caution]:
    tied = [n for n, role in findings.table.roles.items() if role in (Role.GROUP, Role.TIME)]
    tied += ["identical features"] if findings.table.keeps_identical else []
    if tied and findings.benchmark is None:
        yield Caution(
            f"Rows are related through {listed(tied)}",
            "Rows of the same group, or close in time, are alike. Evaluated row by row, a model "
            "looks better than it is for a new group or a later time.",
            "A benchmark of this table keeps groups together and time in order: cw.benchmark.",
        )


def _failed(findings: Findings) -> Iterator[Caution]:
    items = [f"{step}: {why}" for step, why in findings.failures.items() if step not in _EXPECTED]
    if items:
        yield Caution(
            f"{count(len(items), 'step')} left out",
            "What depends on it is missing from this page.",
            "The reasons are below.",
            tuple(items),
        )


#: Steps whose failure has its own place on the page.
_EXPECTED = {Step.PERFORMANCE, Step.LEARNING_CURVE, Step.CONDENSE, Step.FACTORS, Step.WITHOUT}

_CHECKS: tuple[Callable[[Findings], Iterator[Caution]], ...] = (
    _tested,
    _leaks,
    _identical,
    _related,
    _names,
    _too_good,
    _unknown_performance,
    _no_gain,
    _outside,
    _better,
    _drifting,
    _protected,
    _stand_ins,
    _associated,
    _extrapolation,
    _conflicts,
    _hidden,
    _sampled,
    _calibration,
    _dispersed,
    _classes,
    _few_events,
    _few_rows,
    _missing,
    _dates,
    _groups,
    _failed,
)


def _drift_sheet(findings: Findings) -> list[Block]:
    drift = findings.drift
    if drift is None:
        return []
    columns = ["column", "distance", "p-value"]
    caption = (
        f"Difference of each column between {drift.n_first:,} {drift.first} and "
        f"{drift.n_second:,} {drift.second}: distance of the distributions from 0 to 1, and "
        "p-value adjusted for the number of columns (Holm)"
    )
    if findings.options.has_rows:
        columns += [f"typical of {drift.first}", f"typical of {drift.second}"]
        caption += "; and the typical value of each"
    rows = ((e.column, e.distance, e.p_value, e.first, e.second) for e in drift.columns)
    kept = tuple(row[: len(columns)] for row in rows)
    sheet = Sheet("drift", caption, tuple(columns), kept, bars=("distance",))
    return [More(f"{capital(drift.first)} and {drift.second} compared", (sheet,))]


def _checked(findings: Findings) -> str:
    drift = (
        f"drift from {findings.drift.first} to {findings.drift.second}"
        if findings.drift is not None
        else "drift could not be checked without test rows or a time column"
    )
    units, sample = "identical rows, keys of repeated units, ", ""
    if findings.is_of_a_sample:
        units = ""
        sample = (
            f" Columns were checked on {findings.table.n_rows:,} rows drawn from "
            f"{findings.n_all:,}. Identical rows and keys of repeated units were not checked: few "
            "rows of the same person or thing are drawn together."
        )
    return (
        "Columns that predict the target by themselves (a small tree each, cross-validated) or are "
        "named like it; performance against a baseline; calibration; rows and predictions outside "
        "the training range; effects that leave the data; associated columns; methods that "
        "disagree; variation beyond pairs; small classes, few rows, missing values, dates, groups, "
        f"{units}changes with time, protected columns; {drift}.{sample}"
    )
