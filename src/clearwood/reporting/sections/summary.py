"""Summary: the page in a few sentences, each made from the findings."""

from clearwood._shared.numbers import count, percent
from clearwood.reporting.collect.findings import LEAST_INTERACTION, Findings, PartsKind, Step
from clearwood.reporting.page.blocks import Block, Caution, Facts, Note, Prose, Section
from clearwood.reporting.sections.words import (
    capital,
    effect_sentence,
    gap_sentence,
    listed,
    named,
    overlap_words,
    performance_sentences,
    remainder_words,
    sentence,
)
from clearwood.table import Task

__all__ = ["section"]

TITLE = "Summary"

_MOST_CAUTIONS = 6
# Shares below these are left out of the sentence on interactions.
_NO_REMAINDER, _ROUNDING = 0.001, 1e-6


def section(findings: Findings) -> Section:
    """Write the summary."""
    lines = [
        ("Performance", " ".join(performance_sentences(findings))),
        ("Test rows", _test_rows(findings)),
        ("Most important columns", _most_important(findings)),
        ("Interactions", _interactions(findings)),
        ("One tree", _tree(findings)),
        ("Cautions", _cautions(findings)),
    ]
    blocks: list[Block] = [Prose((_what(findings),), lead=True)]
    blocks += [_stated(point) for point in findings.cautions if point.severity == "high"]
    blocks.append(Facts(tuple((word, text) for word, text in lines if text)))
    return Section("summary", TITLE, tuple(blocks))


def _stated(point: Caution) -> Note:
    return Note(point.title, f"{point.meaning} {point.advice}", tone="caution", items=point.items)


def _test_rows(findings: Findings) -> str:
    test = findings.test_performance
    if test is None or not findings.is_test_apart:
        return ""
    return " ".join((*performance_sentences(findings, test), gap_sentence(findings))).strip()


def _what(findings: Findings) -> str:
    target = named(findings.outcome or "its target")
    classes = findings.classes
    if findings.task is Task.BINARY and len(classes) == 2 and findings.has_probabilities:
        what = f"the probability of {target} = “{named(classes[1])}”"
    elif classes:
        what = f"which of {len(classes)} classes {target} is"
    elif findings.table.exposure is not None:
        what = f"{target}, a rate,"
    elif findings.task is Task.COUNT:
        what = f"{target}, a count,"
    else:
        what = target if findings.target else "a number"
    used = findings.used
    n = f"{len(used):,} of " if len(used) < len(findings.features) else ""
    all_columns = count(len(findings.features), "column")
    columns = f"{n}{all_columns}: {listed(used, most=6)}" if used else "no column"
    return (
        f"The model {named(findings.name)!r} predicts {what} from {columns}. "
        f"This page explains it on {count(findings.n_all, 'row')}."
    )


def _most_important(findings: Findings) -> str:
    importance = findings.importance
    if importance is None:
        why = findings.failures.get(Step.DECOMPOSITION, "")
        return sentence(f"not known: {why}") if why else ""
    shown = findings.top
    if not shown:
        return "None: the model predicts the same for every row."
    top = [f"{named(name)} ({percent(findings.shares[name])})" for name in shown]
    overlap = "; shares overlap where columns interact" if importance.interaction.any() else ""
    sentences = [f"The variation of the predictions is mostly due to {listed(top)}{overlap}."]
    sentences += filter(None, [overlap_words(importance)])
    effects = [findings.effects[name] for name in shown if name in findings.effects]
    sentences += [effect_sentence(findings, views) for views in effects]
    if effects:
        sentences.append("In each case the other columns keep their values.")
    if findings.unused:
        sentences.append(f"Without effect: {listed(findings.unused)}.")
    return " ".join(sentences)


def _interactions(findings: Findings) -> str:
    importance = findings.importance
    if importance is None or findings.interactions is None:
        return ""
    if not findings.top:
        return "None: the model predicts the same for every row."
    rest = findings.remainder_share
    joint = max(0.0, 1 - findings.share_of_order(1) - rest)
    if not findings.interacting and joint + rest < LEAST_INTERACTION:
        left = (
            f", up to {percent(joint + rest)} of its variation" if joint + rest > _ROUNDING else ""
        )
        unit = importance.unit
        scale = "" if PartsKind.of(unit) is PartsKind.SUM else f"on the scale of the {unit}, "
        return f"None: {scale}the prediction is a sum of one function per column{left}."
    text = f"Interactions of two columns account for {percent(joint)} of the variation"
    if findings.interacting:
        strongest = findings.interacting[0]
        share = findings.component_shares[frozenset(strongest)]
        text += f"; the strongest is between {listed(strongest)} ({percent(share)})"
    elif joint > _ROUNDING:
        text += f"; no single pair accounts for {percent(LEAST_INTERACTION)} or more"
    if rest > _NO_REMAINDER:
        text += f". {capital(remainder_words(findings))} account for {percent(rest)}"
    return f"{text}."


def _tree(findings: Findings) -> str:
    condensed = findings.condensed
    if condensed is None:
        return ""
    what = "the same class" if condensed.equal == "class" else "the same value"
    if condensed.fallback is None:
        return (
            f"One decision tree with {count(condensed.n_leaves, 'rule')} predicts {what} as the "
            "model for every possible row. This is proved."
        )
    certified = condensed.certificate.share_certified
    if certified is None or certified == 0:
        return (
            "The model is too large for one readable tree: none of it could be written as rules "
            "within the limits."
        )
    return (
        f"For {percent(certified)} of the rows, rules were found that provably predict {what} as "
        "the model; for the others the model itself is used."
    )


def _cautions(findings: Findings) -> str:
    points = findings.cautions
    if not points:
        return "The checks found no problem; the section Cautions lists what was checked."
    titles = [point.title[:1].lower() + point.title[1:] for point in points[:_MOST_CAUTIONS]]
    more = len(points) - len(titles)
    titles += [f"{more} more"] if more else []
    return f"{count(len(points), 'point')}: {'; '.join(titles)}."
