"""One tree: the condensed model, its rules and its certificate."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.condensing import Certificate, Condensed, Limit
from clearwood.explanation import Explained
from clearwood.explanation.games.trees import TreeGame
from clearwood.reporting.collect.findings import Findings
from clearwood.reporting.model.model import carried_model
from clearwood.reporting.model.tree_places import Places, tree_in_page
from clearwood.reporting.page.blocks import Block, Facts, More, Note, Prose, Section, Sheet, Widget

__all__ = ["section", "tree_of"]

#: With more leaves than this the rules are left to the library.
_MOST_RULES = 3_000
_RULES_KEPT = 300

_STAGE = "condensed"


def section(findings: Findings) -> Section:
    """Write the chapter about the one tree that predicts what the model predicts."""
    title = "One tree"
    condensed = findings.condensed
    if condensed is None:
        return Section("one-tree", title, (_no_tree(findings),))
    if condensed.certificate.share_certified == 0 or not condensed.diagram.certified.any():
        return Section("one-tree", title, (_nothing_certified(condensed),))
    places = tree_of(findings)
    blocks: list[Block] = [Prose(_opening(findings, condensed), lead=True)]
    if condensed.fallback is not None:
        blocks.append(_partly(condensed))
    blocks.append(_widget(findings, condensed, places))
    blocks += _rules(findings, condensed)
    blocks.append(
        More("The certificate: what is proved, and how to check it", _certificate(condensed))
    )
    return Section("one-tree", title, tuple(blocks))


def _no_tree(findings: Findings) -> Note:
    why = findings.failures.get(_STAGE) or findings.failures.get("condense") or ""
    return Note(
        "There is no single tree for this model",
        (f"{_sentence(why)} " if why else "")
        + "Trees, forests and boosted trees can be condensed into one tree that predicts the same; "
        "other models cannot.",
    )


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def tree_of(findings: Findings) -> Places:
    """Lay the condensed tree out for the page."""
    condensed = findings.condensed
    assert condensed is not None
    matrix = condensed.matrix(findings.table)
    return tree_in_page(condensed, matrix, _target(findings), used=_used_columns(findings))


def _used_columns(findings: Findings) -> NDArray[np.intp] | None:
    """Give the model's columns that the page makes, where they are the condensed tree's too."""
    condensed, carried = findings.condensed, carried_model(findings)
    if condensed is None or carried.data is None or carried.data["kind"] != "forest":
        return None
    game = Explained(findings.model, findings.sample).exact_game
    if not isinstance(game, TreeGame):
        return None
    codes = game.rows(findings.sample).codes
    own = condensed.matrix(findings.sample)
    if codes.shape != own.shape or not np.array_equal(codes, own, equal_nan=True):
        return None
    return game.forest.features_used.astype(np.intp)


def _target(findings: Findings) -> NDArray[np.float64] | None:
    """Give what happened as a number: the target itself, or of two classes the second as one."""
    table = findings.table
    if table.target is None:
        return None
    if not findings.classes:
        column = table.column(table.target)
        return None if column.is_coded else np.asarray(table.y, np.float64)
    if len(findings.classes) == 2:
        second: NDArray[np.bool_] = np.asarray(table.y).astype(str) == findings.classes[1]
        return second.astype(np.float64)
    return None


def _opening(findings: Findings, condensed: Condensed) -> tuple[str, ...]:
    leaves = f"{condensed.n_leaves:,} {'leaf' if condensed.n_leaves == 1 else 'leaves'}"
    what = "the same class" if condensed.equal == "class" else "the same value"
    if condensed.tolerance is not None:
        what = f"a value within {condensed.tolerance:g} of the model's"
    if condensed.fallback is None:
        first = (
            f"One tree of {leaves} predicts {what} as the model for every row there can be, "
            "missing values and levels never seen included. That is proved, not tested."
        )
    else:
        first = (
            f"One tree of {leaves} predicts {what} as the model at the leaves that are certified; "
            "the others ask the model itself."
        )
    asked = (
        f"A row is asked at most {condensed.depth} questions. Counts are of the "
        f"{findings.table.n_rows:,} rows of the table. Choose a row in the chapter before, and its "
        "way is marked here."
    )
    return first, asked


def _stopped(condensed: Condensed) -> str:
    stopped = condensed.certificate.stopped
    if stopped is None:
        return "the tree would be too big"
    return {
        Limit.LEAVES: "the tree reached the number of leaves it may have",
        Limit.TIME: "the time it may take was used up",
        Limit.MEMORY: "the memory it may take was used up",
    }[stopped]


def _nothing_certified(condensed: Condensed) -> Note:
    return Note(
        "One tree for this model is out of reach",
        f"A tree that predicts what the model predicts exists, but {_stopped(condensed)} before "
        "any row of the table came to a leaf of it that is certified. A smaller model (fewer or "
        "shallower trees), a tolerance, or more time and leaves bring it within reach: "
        "cw.condense(model, tolerance=..., leaves=..., time_limit=...).",
    )


def _partly(condensed: Condensed) -> Note:
    certificate = condensed.certificate
    share = certificate.share_certified
    why = _stopped(condensed)
    rows = f" of the {certificate.n_rows:,} rows" if certificate.n_rows else " of the rows"
    head = "Only a part of the tree is certified"
    if share == 1:
        head = f"Every one{rows} reaches a certified leaf, but not every row there can be"
    elif share is not None:
        head = f"{min(100 * share, 99.9):.3g} %{rows} reach a certified leaf"
    return Note(
        head,
        f"Condensing ended early: {why}. A leaf marked “ensemble predicts” stands for a region in "
        "which the model still predicts different things; there the model itself has to be asked. "
        "At all other leaves the prediction is proved. More leaves or more time certify more: "
        "cw.condense(model, leaves=..., time_limit=...).",
        tone="caution",
    )


def _widget(findings: Findings, condensed: Condensed, places: Places) -> Widget:
    classes = list(map(str, condensed.classes)) if condensed.classes is not None else []
    outcome = "mean of what happened"
    if len(classes) == 2:
        outcome = f"share of {classes[1]}"
    elif findings.target is not None:
        outcome = f"mean {findings.target}"
    text = (
        f"The tree has {condensed.n_leaves:,} leaves and {condensed.depth} levels; "
        "the rules below say what it says."
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
    return Widget("tree", "tree", text, data)


def _rules(findings: Findings, condensed: Condensed) -> list[Block]:
    if condensed.n_leaves > _MOST_RULES:
        return [
            Note(
                "The rules are not listed here",
                f"There is one rule for each of the {condensed.n_leaves:,} leaves. The library "
                "lists them, by the rows they hold for: cw.condense(model).rules(data).",
            )
        ]
    try:
        rules = condensed.rules(findings.table)
    except InputError as error:
        return [Note("The rules are not listed here", _sentence(str(error.message)))]
    kept = rules.items[:_RULES_KEPT]
    has_accuracy = any(rule.accuracy is not None for rule in kept)
    has_error = any(rule.mean_error is not None for rule in kept)
    columns: tuple[str, ...] = ("rule", "prediction", "rows", "share of rows (%)")
    columns += ("right (%)",) if has_accuracy else ()
    columns += ("mean distance",) if has_error else ()
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
    held = (
        f"the {len(kept):,} that most rows meet, of {len(rules):,}"
        if len(kept) < len(rules)
        else (f"all {len(rules):,}")
    )
    caption = f"Rules: exactly one holds for any row; {held}, by the rows they hold for"
    return [Sheet("rules", caption, columns, tuple(rows), shown=10, bars=("share of rows (%)",))]


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
        ("Where", _where(certificate)),
        ("How it was proved", certificate.proof),
        ("What equality means", certificate.semantics),
        ("Size", size),
        (
            "As small as can be",
            f"proved: fewest {certificate.objective}" if certificate.optimal else "not proved",
        ),
        ("Model (SHA-256)", certificate.forest),
        ("Tree (SHA-256)", certificate.diagram),
        ("To check it", "cw.certify(cw.condense(model), model)"),
    ]
    return (Facts(tuple(items)),)


def _where(certificate: Certificate) -> str:
    if certificate.is_everywhere:
        return "everywhere: every row there can be, missing values and unseen levels included"
    share = certificate.share_certified
    told = "" if share is None else f": {100 * share:.4g} % of {certificate.n_rows:,} rows"
    return f"{certificate.region}{told}"
