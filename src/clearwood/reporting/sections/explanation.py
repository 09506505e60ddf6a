"""Why, overall: what moves the predictions, column by column and pair by pair."""

from typing import Any

import numpy as np

from clearwood.explanation import Agreement, Effect
from clearwood.reporting.collect.findings import EffectViews, Findings
from clearwood.reporting.page.blocks import Block, Choice, More, Note, Prose, Section, Sheet
from clearwood.reporting.page.charts import chart, of_outputs
from clearwood.reporting.sections.words import (
    beyond_words,
    count,
    effect_sentence,
    is_sampled,
    listed,
    moving,
    named,
    percent,
    sentence,
)

__all__ = ["section"]

#: Classes drawn in one figure; more lines cannot be told apart.
MOST_CLASSES = 5

_VIEWS = {
    "pdp": "Mean (partial dependence)",
    "ice": "Single rows (ICE)",
    "ale": "Local steps (ALE)",
}


def section(findings: Findings) -> Section:
    """Write the chapter about the model as a whole."""
    blocks: list[Block] = []
    if findings.importance is None:
        why = findings.failures.get("decomposition") or findings.failures.get("importance", "")
        blocks.append(Note("The model was not taken apart", sentence(why or "no reason is known")))
    else:
        blocks += _importance(findings)
    blocks += _effects(findings)
    blocks += _pairs(findings)
    blocks += _agreement(findings)
    return Section("why", "Why, overall", tuple(blocks))


def _importance(findings: Findings) -> list[Block]:
    importance, why = findings.importance, findings.decomposition
    assert importance is not None
    assert why is not None
    by_order: dict[int, float] = {}
    for names, part in zip(importance.components, importance.share, strict=True):
        by_order[len(names)] = by_order.get(len(names), 0.0) + float(part)
    main, pairs = by_order.get(1, 0.0), by_order.get(2, 0.0)
    beyond = importance.remainder_share
    told = (
        "The model's prediction is a mean plus parts that depend on one column, on two, and so on. "
        "A column matters as far as its parts vary over the rows. "
        f"Parts of one column make up {percent(main)} of that variation, parts of two columns "
        f"{percent(pairs)}"
    )
    told += f"; {beyond_words(findings)} make up {percent(beyond)}." if beyond > 0 else "."
    scale = (
        f"The parts add up on the scale of the {why.about.unit}; they are "
        f"{'exact' if why.about.background and not is_sampled(findings) else 'estimated'} over "
        f"{why.background}{_of_how_many(findings)} (interventional: a column that is not held "
        "takes the values of those rows, whatever the others are)."
    )
    drawn = {frozenset([name]) for name in findings.effects}
    others = (*findings.more_effects, *findings.interaction_effects)
    drawn |= {frozenset(effect.columns) for effect in others}
    shown = sum(
        float(part)
        for names, part in zip(importance.components, importance.share, strict=True)
        if frozenset(names) in drawn
    )
    covered = f"The parts drawn on this page make up {percent(shown)} of the variation."
    paragraphs = (told, f"{scale} {covered}", *(sentence(note) for note in why.notes))
    columns = importance.to_frame("dict")
    components = importance.to_frame("dict", by="component")
    return [
        Prose(paragraphs, lead=True),
        chart("importance", importance.plot(most=15)),
        More(
            "All columns and all parts",
            (
                Sheet(
                    "importance",
                    "Share of the variation by column: alone, in interactions, in total",
                    ("column", "alone", "in interactions", "in total"),
                    tuple(
                        zip(
                            columns["column"],
                            columns["main"],
                            columns["interaction"],
                            columns["total"],
                            strict=True,
                        )
                    ),
                    bars=("in total",),
                ),
                Sheet(
                    "components",
                    "Share of the variation by part; the 500 largest",
                    ("columns", "order", "variance", "share"),
                    tuple(
                        zip(
                            components["component"][:500],
                            components["order"][:500],
                            components["variance"][:500],
                            components["share"][:500],
                            strict=True,
                        )
                    ),
                    bars=("share",),
                ),
            ),
        ),
    ]


def _of_how_many(findings: Findings) -> str:
    why, n_rows = findings.decomposition, findings.table.n_rows
    if why is None or why.background.n_rows >= n_rows:
        return ""
    return f" drawn from {n_rows:,} with seed {findings.options.seed}"


def _effects(findings: Findings) -> list[Block]:
    if not findings.effects:
        why = findings.failures.get("effects")
        return [Note("Effects of single columns are not known", sentence(why))] if why else []
    some = next(view for views in findings.effects.values() for view in _views(views).values())
    told = [
        (
            f"One column at a time, the most important first, on the scale of the {some.unit}. "
            "Grey below each curve: where the rows lie. Dotted or crossed: the method asks about "
            "rows that hardly occur. The band is a 90 % interval for other rows and "
            "this same model."
        ),
        (
            "Three ways to look: the mean prediction when every row gets the value and keeps its "
            "other columns (partial dependence); the same for single rows, whose curves differ in "
            "shape where columns act together (ICE); and steps between neighbouring values "
            "averaged over the rows that lie there (ALE), which does not ask about "
            "combinations that do not occur."
        ),
        f"Averaged over {count(some.n_rows, 'row')} of {findings.table.n_rows:,}"
        f" drawn with seed {findings.options.seed}."
        if some.n_rows < findings.table.n_rows
        else f"Averaged over all {count(some.n_rows, 'row')}.",
    ]
    outputs = _classes_shown(findings)
    if outputs and len(outputs) < len(findings.classes):
        told.append(
            f"Drawn for the {len(outputs)} most frequent of {len(findings.classes)} classes; "
            "cw.effect gives the others."
        )
    blocks: list[Block] = [Prose(tuple(told))]
    for k, views in enumerate(findings.effects.values()):
        blocks.append(Prose((effect_sentence(findings, views),)))
        blocks.append(_effect(views, k, outputs))
    return blocks + _others(findings, outputs)


def _others(findings: Findings, outputs: tuple[str, ...]) -> list[Block]:
    """Give the effects of further columns one click away, and name those without a figure."""
    blocks: list[Block] = []
    if findings.more_effects:
        unit = findings.more_effects[0].about.unit
        shown = {"output": outputs[0]} if outputs else {}
        options = tuple(
            (
                named(effect.columns[0]),
                (chart(f"more-effect-{k}", _on(effect, shown), title=named(effect.columns[0])),),
            )
            for k, effect in enumerate(findings.more_effects)
        )
        told = (
            f"What each of these columns adds to the mean prediction, on the scale of the {unit}; "
            "exact over the background."
        )
        title = f"The next {count(len(options), 'column')} by importance"
        blocks.append(More(title, (Prose((told,)), Choice("more-effects", "Column", options))))
    drawn = {*findings.effects, *(effect.columns[0] for effect in findings.more_effects)}
    idle = [name for name in findings.features if name not in moving(findings, findings.features)]
    rest = [name for name in findings.features if name not in drawn and name not in idle]
    if idle and findings.effects:
        blocks.append(
            Note(
                f"{count(len(idle), 'column')} without effect",
                "Their share in the variation of the prediction is zero, so there is nothing to "
                "draw.",
                items=tuple(idle),
            )
        )
    if rest:
        why = findings.failures.get("effects", "")
        said = "Figures are drawn for the most important columns."
        blocks.append(
            Note(
                f"{count(len(rest), 'column')} without a figure",
                f"{said} {sentence(why)}" if why else said,
                items=tuple(rest),
            )
        )
    return blocks


def _on(effect: Effect, shown: dict[str, str]) -> Any:
    known = shown and shown["output"] in effect.about.outputs
    return effect.plot(**(shown if known else {}))


def _views(views: EffectViews) -> dict[str, Effect]:
    found = {"pdp": views.pdp, "ice": views.ice, "ale": views.ale}
    return {kind: view for kind, view in found.items() if view is not None}


def _effect(views: EffectViews, k: int, outputs: tuple[str, ...]) -> Block:
    options = []
    for kind, view in _views(views).items():
        of = outputs[:1] if kind == "ice" else outputs
        picked = of_outputs(view, of) if of else view
        name = f"effect-{k}-{kind}"
        title = f"{named(views.column)}: {_VIEWS[kind]}"
        if kind == "ice" and len(outputs) > 1:
            title += f", class {named(outputs[0])}"
        options.append((_VIEWS[kind], (chart(name, picked.plot(), title=title),)))
    return Choice(f"effect-{k}", f"Effect of {named(views.column)}", tuple(options))


def _classes_shown(findings: Findings) -> tuple[str, ...]:
    """Give the classes that figures show, the most frequent first; none where there is one."""
    if len(findings.classes) <= 2:
        return ()
    predicted = findings.predictions
    counts = np.zeros(len(findings.classes))
    if predicted is not None and predicted.ndim == 2:
        counts = predicted.mean(axis=0)
    order = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    return tuple(findings.classes[k] for k in order)


def _pairs(findings: Findings) -> list[Block]:
    why, pairs = findings.decomposition, findings.interactions
    if why is None or pairs is None:
        return []
    if not findings.interaction_effects:
        failed = findings.failures.get("interactions")
        if failed:
            return [Note("Interactions are not drawn", sentence(failed))]
        return [
            Note(
                "No interactions to speak of",
                "No pair of columns acts together: what one column does does not depend on the "
                "value of another.",
                tone="good",
            )
        ]
    share = {
        frozenset(names): float(part)
        for names, part in zip(pairs.components, pairs.share, strict=True)
    }
    options: list[tuple[str, tuple[Block, ...]]] = []
    several = len(why.outputs) > 1
    output = _classes_shown(findings)[0] if several and len(findings.classes) > 2 else None
    if output is not None and output not in why.outputs:
        output = None
    for k, effect in enumerate(findings.interaction_effects):
        names = listed(effect.columns)
        part = share.get(frozenset(effect.columns), 0.0)
        figure = effect.plot(**({"output": output} if output is not None else {}))
        options.append(
            (
                f"{names} ({percent(part)})",
                (chart(f"interaction-{k}", figure, title=f"{names} together"),),
            )
        )
    told = (
        "What two columns do together, beyond what each does alone: orange cells are predicted "
        f"higher than the two single effects add up to, blue ones lower, on the scale of the "
        f"{why.about.unit}. Pale cells: no rows near. "
        f"The {len(options)} strongest of {count(len(pairs), 'pair')}."
    )
    if output is not None:
        told += f" Drawn for the class {named(output)}."
    return [Prose((told,)), Choice("interactions", "Pair", tuple(options))]


def _agreement(findings: Findings) -> list[Block]:
    found = findings.agreement
    if found is None:
        why = findings.failures.get("agreement")
        return [Note("Methods were not compared", sentence(why))] if why else []
    return [*_shapes(found), *_stand_ins(found), _compared(found)]


def _shapes(found: Agreement) -> list[Block]:
    """Say for which columns the curves themselves depend on the method."""
    differing = [e for e in found.columns if "pdp against ale" in e.stories]
    if not differing:
        return [
            Note(
                "Partial dependence and ALE tell the same story",
                f"Of the {count(len(found.columns), 'column')} compared, none has curves that "
                "differ by more than a tenth of the spread of the predictions.",
                tone="good",
            )
        ]
    return [
        Note(
            f"Partial dependence and ALE differ for {count(len(differing), 'column')}",
            "Two sound methods that disagree answer different questions. The usual reasons are "
            "columns that belong together and columns that act together; a statement about such "
            "a column should name the method.",
            tone="caution",
            items=tuple(f"{entry.words}." for entry in differing),
        )
    ]


def _stand_ins(found: Agreement) -> list[Block]:
    """Say which columns stand in for others in the data."""
    apart = [e for e in found.columns if "interventional against observational" in e.stories]
    if not apart:
        return []
    return [
        Note(
            f"{count(len(apart), 'column')} telling about others",
            "Rows with a value of such a column are predicted differently from what the value "
            "itself does to the prediction, since they differ in other columns too. The curves "
            "above show the latter; a table of mean predictions by value would show both mixed.",
            items=tuple(
                f"{named(e.column)}: by {e.interventional_observational:.2f} standard deviations "
                f"of the prediction"
                + (f"; goes with {listed([n for n, _ in e.goes_with])}" if e.goes_with else "")
                for e in apart
            ),
        )
    ]


def _compared(found: Agreement) -> Block:
    said = tuple(sentence(note) for note in found.notes)
    how = f"Compared on {count(found.n_rows, 'row')}."
    return More(
        "How far the methods differ", (Prose((how, *said)), chart("agreement", found.plot()))
    )
