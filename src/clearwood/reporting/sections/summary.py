"""Summary: the page in a few sentences, each made from results."""

import numpy as np

from clearwood.reporting.collect.findings import Findings
from clearwood.reporting.page.blocks import Block, Facts, Prose, Section
from clearwood.reporting.sections.cautions import cautions
from clearwood.reporting.sections.loss_words import how_well
from clearwood.reporting.sections.words import (
    beyond_words,
    capital,
    count,
    effect_sentence,
    listed,
    named,
    percent,
    sentence,
)
from clearwood.table import Task

__all__ = ["section"]

_TOP = 3
# Columns with a smaller share of the variation are not among what matters most.
_LEAST = 0.01


def section(findings: Findings) -> Section:
    """Write the summary."""
    lines = [
        ("How well", " ".join(how_well(findings))),
        ("What matters most", _matters(findings)),
        ("Acting together", _together(findings)),
        ("As one tree", _tree(findings)),
        ("Be careful", _careful(findings)),
    ]
    blocks: list[Block] = [Prose((_what(findings),), lead=True)]
    blocks.append(Facts(tuple((word, text) for word, text in lines if text)))
    return Section("summary", "Summary", tuple(blocks))


def _what(findings: Findings) -> str:
    target = named(findings.target or "its target")
    classes = findings.classes
    if findings.task is Task.BINARY and len(classes) == 2:
        what = (
            f"the probability that {target} is {named(classes[1])} rather than {named(classes[0])}"
        )
    elif classes:
        what = f"which of {len(classes)} classes {target} is"
    elif findings.task is Task.COUNT:
        what = f"{target}, a count"
    else:
        what = target if findings.target else "a number"
    used = listed(findings.features, most=6)
    return sentence(
        f"the model {named(findings.name)!r} predicts {what}, from "
        f"{count(len(findings.features), 'column')}: {used}. This page explains it on "
        f"{count(findings.table.n_rows, 'row')}"
    )


def _matters(findings: Findings) -> str:
    importance = findings.importance
    if importance is None:
        why = findings.failures.get("decomposition", "")
        return sentence(f"not known: {why}") if why else ""
    total = importance.total
    order = [int(k) for k in np.argsort(-total, kind="stable") if total[k] > 0]
    if not order:
        return "Nothing: the model predicts the same for every row."
    shown = [k for k in order[:_TOP] if total[k] >= _LEAST] or order[:1]
    top = [f"{named(importance.columns[k])} ({percent(float(total[k]))})" for k in shown]
    overlap = " (shares overlap where columns act together)" if importance.interaction.any() else ""
    told = [f"Of the variation of the predictions, most goes back to {listed(top)}{overlap}."]
    for k in shown:
        views = findings.effects.get(importance.columns[k])
        if views is not None:
            told.append(effect_sentence(findings, views))
    if len(told) > 1:
        told.append("Each time, the other columns stay as they are in the data.")
    rest = len(importance.columns) - len(order)
    if rest:
        told.append(sentence(f"{count(rest, 'column')} {'has' if rest == 1 else 'have'} no effect"))
    return " ".join(told)


def _together(findings: Findings) -> str:
    importance, pairs = findings.importance, findings.interactions
    if importance is None or pairs is None:
        return ""
    main = sum(
        float(share)
        for names, share in zip(importance.components, importance.share, strict=True)
        if len(names) == 1
    )
    beyond = importance.remainder_share
    joint = max(0.0, 1 - main - beyond)
    if joint + beyond < 0.005:
        left = (
            f", up to {percent(joint + beyond)} of its variation" if joint + beyond > 1e-6 else ""
        )
        unit = importance.unit
        scale = "" if unit == "prediction" else f"on the scale of the {unit}, "
        return (
            f"Columns act one by one: {scale}the prediction is a sum of one curve a column{left}."
        )
    told = f"Pairs of columns acting together make up {percent(joint)} of the variation"
    if len(pairs) and pairs.share[0] > 0:
        told += f"; the strongest pair is {listed(pairs.components[0])} ({percent(pairs.share[0])})"
    if beyond > 0.001:
        told += f". {capital(beyond_words(findings))} make up {percent(beyond)}"
    return sentence(told)


def _tree(findings: Findings) -> str:
    found = findings.condensed
    if found is None:
        return ""
    what = "the same class" if found.equal == "class" else "the same value"
    if found.fallback is None:
        return sentence(
            f"one decision tree with {count(found.n_leaves, 'rule')} predicts {what} as the model "
            "for every possible row; this is proved"
        )
    certified = found.certificate.share_certified
    if certified is None or certified == 0:
        return (
            "The model is too large to be one readable tree: in the time given, none of it could "
            "be written as rules."
        )
    return sentence(
        f"rules that provably predict {what} as the model were found for {percent(certified)} of "
        "the rows in the time given; for the others the model itself answers"
    )


def _careful(findings: Findings) -> str:
    found = cautions(findings)
    if not found:
        return "The checks made found nothing to warn of; see Cautions for what was checked."
    titles = [caution.title[:1].lower() + caution.title[1:] for caution in found]
    return sentence(f"{count(len(found), 'caution')}: {'; '.join(titles[:6])}. See Cautions")
