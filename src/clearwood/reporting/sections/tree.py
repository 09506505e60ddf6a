"""One tree: the condensed model, its rules and its certificate."""

from typing import Any

from clearwood._shared.numbers import count, percent
from clearwood.condensing import Certificate, Condensed
from clearwood.reporting.collect.findings import Findings, PageTree, Places, Step
from clearwood.reporting.page.blocks import Block, Facts, More, Note, Prose, Section, Sheet, Widget
from clearwood.reporting.sections.words import number, sentence

__all__ = ["section"]

TITLE = "One tree"

_RULES_KEPT = 300


def section(findings: Findings) -> Section:
    """Write the section about the one tree that predicts what the model predicts."""
    condensed = findings.condensed
    if condensed is None:
        blocks: list[Block] = [_no_tree(findings)]
    elif condensed.certificate.share_certified == 0 or not condensed.diagram.certified.any():
        blocks = [_nothing_certified(condensed)]
    else:
        blocks = [Prose(_opening(findings, condensed), lead=True)]
        if condensed.fallback is not None:
            blocks.append(_partly(condensed))
        laid_out = findings.page_tree
        if laid_out is None or laid_out.places is None:
            why = findings.failures.get(Step.PAGE_TREE, "")
            blocks.append(Note("The tree is not drawn", sentence(why)))
        else:
            blocks.append(_widget(findings, condensed, laid_out.places))
            blocks.append(_rules(findings, condensed, laid_out))
        blocks += _surrogates(condensed)
        title = "The certificate: what is proved, and how to check it"
        blocks.append(More(title, _certificate(condensed)))
    return Section("tree", TITLE, tuple(blocks))


def _no_tree(findings: Findings) -> Note:
    why = findings.failures.get(Step.CONDENSE, "")
    if not findings.options.has_rows:
        return Note(
            "The tree is left out",
            "This page contains no rows of the data, and the splits and leaves of a tree could "
            "reveal some. In Python: cw.condense(model).",
        )
    return Note(
        "There is no single tree for this model",
        (f"{sentence(why)} " if why else "")
        + "Trees, forests and boosted trees can be condensed into one tree with the same "
        "predictions; other models cannot.",
    )


def _opening(findings: Findings, condensed: Condensed) -> tuple[str, ...]:
    leaves = count(condensed.n_leaves, "leaf", "leaves")
    what = "the same class as the model" if condensed.equal == "class" else "the model's value"
    if condensed.tolerance is not None:
        what = f"a value within {number(condensed.tolerance)} of the model's"
    if condensed.fallback is None:
        first = (
            f"One tree with {leaves} predicts {what} for every possible row, including missing "
            "values and levels never seen. This is proved, not tested."
        )
    else:
        first = (
            f"One tree with {leaves} predicts {what} at its certified leaves; at the others the "
            "model itself is used."
        )
    second = (
        f"A row passes at most {count(condensed.depth, 'question')}. Counts are over the "
        f"{count(findings.table.n_rows, 'row')} of the table. Choose a row under Individual "
        "predictions, and its path is marked here."
    )
    return first, second


def _stopped(condensed: Condensed) -> str:
    return condensed.certificate.ended or "the tree would be too large"


def _nothing_certified(condensed: Condensed) -> Note:
    return Note(
        "One tree for this model is out of reach",
        f"A tree with the same predictions exists, but {_stopped(condensed)} before any row of the "
        "table reached a certified leaf. A smaller model (fewer or shallower trees), a tolerance, "
        "or higher limits bring it within reach: "
        "cw.condense(model, data, tolerance=..., nodes=...).",
    )


def _partly(condensed: Condensed) -> Note:
    certificate = condensed.certificate
    share = certificate.share_certified
    rows = count(certificate.n_rows, "row") if certificate.n_rows else "rows"
    title = "Only a part of the tree is certified"
    if share == 1:
        title = f"All {rows} of the table reach a certified leaf, but not every possible row does"
    elif share is not None:
        title = f"{percent(share)} of the {rows} reach a certified leaf"
    return Note(
        title,
        f"Condensing stopped early: {_stopped(condensed)}. A leaf marked “ensemble predicts” "
        "covers a region in which the model's predictions still differ; there the model itself is "
        "used. At all other leaves the prediction is proved. Higher limits certify more: "
        "cw.condense(model, data, nodes=...).",
        tone="caution",
    )


def _widget(findings: Findings, condensed: Condensed, places: Places) -> Widget:
    classes = list(map(str, condensed.classes)) if condensed.classes is not None else []
    outcome = "mean outcome"
    if len(classes) == 2:
        outcome = f"share of {classes[1]}"
    elif findings.target is not None:
        outcome = f"mean {findings.outcome}"
    text = (
        f"The tree has {count(condensed.n_leaves, 'leaf', 'leaves')} and "
        f"{count(condensed.depth, 'level')}; the rules below are the same tree in words."
    )
    data = {
        **places.data,
        "classes": classes,
        "outcome": outcome,
        "target": findings.target,
        "n_leaves": min(condensed.n_leaves, 2**53),
        "n_closed": places.n_closed,
        "rows_closed": places.rows_closed,
    }
    return Widget("condensed-tree", "tree", text, data)


def _rules(findings: Findings, condensed: Condensed, laid_out: PageTree) -> Block:
    rules = laid_out.rules
    if rules is None:
        return Note("The rules are not listed here", sentence(laid_out.no_rules))
    kept = rules.items[:_RULES_KEPT]
    has_accuracy = any(rule.accuracy is not None for rule in kept)
    has_error = any(rule.mean_error is not None for rule in kept)
    share = f"share of {findings.table.counted_by} (%)"
    columns: tuple[str, ...] = ("rule", "prediction", "rows", share)
    columns += ("correct (%)",) if has_accuracy else ()
    columns += ("mean absolute error",) if has_error else ()
    columns += ("certified",) if condensed.fallback is not None else ()
    rows = []
    for rule in kept:
        row: list[Any] = [
            " and ".join(rule.conditions) or "always",
            rule.answer,
            rule.n_rows,
            _in_percent(rule.support),
        ]
        row += [_in_percent(rule.accuracy)] if has_accuracy else []
        row += [rule.mean_error] if has_error else []
        row += ["yes" if rule.certified else "no"] if condensed.fallback is not None else []
        rows.append(tuple(row))
    which = f"all {len(rules):,}"
    if len(kept) < len(rules):
        which = f"the {len(kept):,} with the most rows, of {len(rules):,}"
    caption = f"Rules: exactly one applies to each row; {which}, those with the most rows first"
    return Sheet("rules", caption, columns, tuple(rows), shown=10, bars=(share,))


def _surrogates(condensed: Condensed) -> list[Block]:
    """List the splits that stand in for others where a value is missing."""
    if not condensed.surrogates:
        return []
    rows = [
        (
            " and ".join(item.where) or "all rows",
            item.split,
            item.surrogate,
            _in_percent(item.agreement),
            _in_percent(item.gain),
        )
        for item in condensed.surrogates
    ]
    columns = ("where", "split", "surrogate", "rows that agree (%)", "above the majority (%)")
    caption = "Surrogates: the split that takes the place of another where its value is missing"
    return [Sheet("surrogates", caption, columns, tuple(rows), shown=10)]


def _in_percent(share: float | None) -> float | None:
    return None if share is None else float(f"{100 * share:.3g}")


def _certificate(condensed: Condensed) -> tuple[Block, ...]:
    certificate: Certificate = condensed.certificate
    size = (
        f"{certificate.n_leaves:,} leaves, depth {certificate.depth}; "
        f"{certificate.n_nodes:,} nodes where equal branches are kept once"
    )
    items = [
        ("What is equal", certificate.statement),
        ("Where", _where(condensed)),
        ("How it was proved", certificate.proof),
        ("What equality means", certificate.semantics),
        ("Size", size),
        (
            "Smallest possible",
            f"proved: fewest {certificate.objective}" if certificate.optimal else "not proved",
        ),
        ("Model (SHA-256)", certificate.forest),
        ("Tree (SHA-256)", certificate.diagram),
        ("To check it", "cw.certify(cw.condense(model), model)"),
    ]
    return (Facts(tuple(items)),)


def _where(condensed: Condensed) -> str:
    if condensed.certificate.is_everywhere:
        return "everywhere: every possible row, including missing values and unseen levels"
    certificate = condensed.certificate
    share = certificate.share_certified
    rows = "" if share is None else f": {percent(share, 4)} of {certificate.n_rows:,} rows"
    return f"at certified leaves{rows}"
