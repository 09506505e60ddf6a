"""Feature importance and effects: what changes the predictions, by column and by pair."""

from typing import Any

from clearwood._shared.numbers import count, percent
from clearwood.evaluation import ByColumn
from clearwood.explanation import Effect
from clearwood.plot import LAYER
from clearwood.reporting.collect.findings import LEAST_INTERACTION, EffectViews, Findings, Step
from clearwood.reporting.page.blocks import (
    Block,
    Choice,
    More,
    Note,
    Prose,
    Section,
    Sheet,
    Toggle,
)
from clearwood.reporting.page.figures import chart, of_outputs
from clearwood.reporting.sections.words import (
    conflict_words,
    effect_sentence,
    listed,
    named,
    number,
    overlap_words,
    remainder_words,
    sentence,
)

__all__ = ["section"]

TITLE = "Feature importance and effects"

_MOST_COMPONENTS = 500

_VIEWS = {
    "pdp": "Average (partial dependence)",
    "ice": "Single rows (ICE)",
    "ale": "Local (ALE)",
}


#: The tab that compares the outcome with predictions, value by value.
_OBSERVED = "Observed and expected"
#: The box that shows both as lines beside an effect.
_MEANS = Toggle("Observed and predicted means", LAYER)


def section(findings: Findings) -> Section:
    """Write the section about the model as a whole."""
    blocks: list[Block] = []
    if findings.importance is None:
        failures = findings.failures
        why = failures.get(Step.DECOMPOSITION) or failures.get(
            Step.IMPORTANCE, "no reason is known"
        )
        blocks.append(Note("The importance of the columns is not known", sentence(why)))
    else:
        blocks += _importance(findings)
    blocks += _effects(findings)
    blocks += _pairs(findings)
    blocks += _agreement(findings)
    return Section("importance", TITLE, tuple(blocks))


def _importance(findings: Findings) -> list[Block]:
    importance, decomposition = findings.importance, findings.decomposition
    assert importance is not None
    assert decomposition is not None
    rest = findings.remainder_share
    meaning = (
        "The model's prediction is its mean plus functions of one column, of two columns, and so "
        "on. The importance of a column is the share of the variation over the rows that its "
        f"functions account for. Functions of one column account for "
        f"{percent(findings.share_of_order(1))} of the variation, functions of two columns for "
        f"{percent(findings.share_of_order(2))}"
    )
    meaning += f", {remainder_words(findings)} for {percent(rest)}." if rest > 0 else "."
    background = decomposition.background
    how = "estimated" if findings.is_sampled else "exact"
    drawn = (
        f" drawn from {findings.n_all:,} with seed {findings.options.seed}"
        if background.n_rows < findings.n_all
        else ""
    )
    scale = (
        f"The functions add up on the scale of the {importance.unit}. They are {how} over "
        f"{background}{drawn} (interventional: a column that is not held fixed takes the values of "
        "those rows, independently of the others)."
    )
    effects = (*findings.more_effects, *findings.interaction_effects)
    figures = {frozenset([name]) for name in findings.effects}
    figures |= {frozenset(effect.columns) for effect in effects}
    shown = sum(share for names, share in findings.component_shares.items() if names in figures)
    varying = overlap_words(importance)
    covered = f"The functions drawn on this page account for {percent(shown)} of the variation."
    meaning += f" {varying}" if varying else ""
    paragraphs = (meaning, f"{scale} {covered}", *map(sentence, decomposition.notes))
    return [
        Prose(paragraphs, lead=True),
        chart("importance-chart", importance.plot(most=15), title="Feature importance"),
        More("All columns and all functions", _importance_sheets(importance)),
    ]


def _importance_sheets(importance: Any) -> tuple[Sheet, Sheet]:
    columns = importance.to_frame("dict")
    components = importance.to_frame("dict", by="component")
    of_columns = ("column", "main", "interaction", "importance")
    whole = float(importance.variances.prediction.sum()) or 1.0
    components["of prediction"] = [one / whole for one in components["variance"]]
    of_components = ("component", "order", "variance", "share", "of prediction")
    by_column = zip(*(columns[name] for name in of_columns), strict=True)
    by_component = zip(
        *(components[name][:_MOST_COMPONENTS] for name in of_components), strict=True
    )
    return (
        Sheet(
            "importance-by-column",
            "Share of the variation by column: main effect, interactions, total",
            ("column", "main effect", "interactions", "total"),
            tuple(by_column),
            bars=("total",),
        ),
        Sheet(
            "importance-by-function",
            f"Share of the variation by function; the {_MOST_COMPONENTS} largest",
            ("columns", "order", "variance", "share", "variance / that of the prediction"),
            tuple(by_component),
            bars=("share",),
        ),
    )


def _effects(findings: Findings) -> list[Block]:
    if not findings.effects:
        why = findings.failures.get(Step.EFFECTS)
        return [Note("The effects of single columns are not known", sentence(why))] if why else []
    some = next(view for views in findings.effects.values() for view in _views(views).values())
    paragraphs = [
        (
            "Effects of single columns, the most important first, on the scale of the "
            f"{some.unit}. The grey area below a curve is the distribution of the column. A curve "
            "is dotted, or marked with crosses, where it relies on combinations of values that "
            "rarely occur. Bands are 90 % intervals for other rows and this same model."
        ),
        (
            "Three methods: the average prediction if every row were given the value and kept its "
            "other columns (partial dependence); the same for single rows, whose curves differ in "
            "shape where columns interact (ICE); and the accumulated average change between "
            "neighbouring values, using only the rows near them (ALE), which relies least on "
            "combinations that do not occur."
        ),
        (
            "Observed and predicted are the means of the outcome and of the predictions of rows "
            "with these values, whatever their other columns are. The two should agree with each "
            "other; they differ from the effect of the column itself where other columns change "
            "with it."
        ),
        _averaged_over(some, findings.options.seed),
    ]
    if some.gap_note:
        paragraphs.append(sentence(some.gap_note))
    outputs = findings.classes_shown
    if outputs and len(outputs) < len(findings.classes):
        paragraphs.append(
            f"Drawn for the {len(outputs)} most frequent of {len(findings.classes)} classes; "
            "cw.effect computes the others."
        )
    blocks: list[Block] = [Prose(tuple(paragraphs))]
    for k, views in enumerate(findings.effects.values()):
        blocks.append(Prose((effect_sentence(findings, views),)))
        blocks.append(_effect(views, k, outputs, findings.observed.get(views.column)))
    return blocks + _others(findings, outputs)


def _averaged_over(effect: Effect, seed: int) -> str:
    """Return which rows the effects are averaged over."""
    weights = ""
    if effect.n_zero_weight:
        weights = f"; {count(effect.n_zero_weight, 'row')} of weight 0 left out"
    if effect.n_data is None:
        return f"Averaged over all {count(effect.n_rows, 'row')}{weights}."
    rows = f"{effect.n_rows:,} of the {count(effect.n_data, 'row')}"
    return f"Averaged over {rows}, drawn with seed {seed}{weights}."


def _others(findings: Findings, outputs: tuple[str, ...]) -> list[Block]:
    """Put the effects of further columns one click away, and name those without a figure."""
    blocks: list[Block] = []
    if findings.more_effects:
        unit = findings.more_effects[0].about.unit
        shown = outputs[0] if outputs else None
        options = tuple(
            (
                named(effect.columns[0]),
                (chart(f"more-effect-{k}", _plot(effect, shown), title=named(effect.columns[0])),),
            )
            for k, effect in enumerate(findings.more_effects)
        )
        text = (
            f"The change of the mean prediction by each of these columns, on the scale of the "
            f"{unit}; exact over the background."
        )
        title = f"The next {count(len(options), 'column')} by importance"
        blocks.append(More(title, (Prose((text,)), Choice("more-effects", "Column", options))))
    drawn = {*findings.effects, *(effect.columns[0] for effect in findings.more_effects)}
    if findings.unused:
        blocks.append(
            Note(
                f"{count(len(findings.unused), 'column')} without effect",
                "They account for none of the variation of the prediction, so there is nothing to "
                "draw.",
                items=findings.unused,
            )
        )
    rest = [n for n in findings.features if n not in drawn and n not in findings.unused]
    if rest:
        text = "Figures are drawn for the most important columns."
        why = findings.failures.get(Step.EFFECTS)
        blocks.append(
            Note(
                f"{count(len(rest), 'column')} without a figure",
                f"{text} {sentence(why)}" if why else text,
                items=tuple(rest),
            )
        )
    return blocks


def _plot(effect: Effect, output: str | None) -> Any:
    known = output is not None and output in effect.about.outputs
    return effect.plot(output=output) if known else effect.plot()


def _views(views: EffectViews) -> dict[str, Effect]:
    by_kind = {"pdp": views.pdp, "ice": views.ice, "ale": views.ale}
    return {kind: view for kind, view in by_kind.items() if view is not None}


def _effect(
    views: EffectViews, k: int, outputs: tuple[str, ...], observed: ByColumn | None
) -> Block:
    options = []
    for kind, view in _views(views).items():
        of = outputs[:1] if kind == "ice" else outputs
        picked = of_outputs(view, of) if of else view
        title = f"{named(views.column)}: {_VIEWS[kind]}"
        if kind == "ice" and len(outputs) > 1:
            title += f", class {named(outputs[0])}"
        drawn = picked.plot(observed=observed)
        figure = chart(f"effect-{k}-{kind}", drawn, title=title, toggle=_MEANS)
        options.append((_VIEWS[kind], (figure,)))
    if observed is not None:
        title = f"{named(views.column)}: {_OBSERVED}"
        options.append((_OBSERVED, (chart(f"effect-{k}-observed", observed.plot(), title=title),)))
    return Choice(f"effect-{k}", f"Effect of {named(views.column)}", tuple(options))


def _pairs(findings: Findings) -> list[Block]:
    decomposition, pairs = findings.decomposition, findings.interactions
    if decomposition is None or pairs is None:
        return []
    joint = findings.share_of_order(2)
    if not findings.interaction_effects:
        why = findings.failures.get(Step.INTERACTIONS)
        if not findings.interacting and not why:
            return [_no_interaction(findings, joint)]
        return [
            Note(
                "Interactions are not drawn",
                sentence(why) if why else f"They account for {percent(joint)} of the variation.",
            )
        ]
    classes = findings.classes_shown
    output = classes[0] if classes and classes[0] in decomposition.outputs else None
    options: list[tuple[str, tuple[Block, ...]]] = []
    for k, effect in enumerate(findings.interaction_effects):
        names = listed(effect.columns)
        share = findings.component_shares.get(frozenset(effect.columns), 0.0)
        drawing = chart(f"interaction-{k}", _plot(effect, output), title=f"Interaction of {names}")
        options.append((f"{names} ({percent(share)})", (drawing,)))
    text = (
        "Interactions of two columns, beyond their single effects: orange cells are predicted "
        "higher than the sum of the two single effects, blue cells lower, on the scale of the "
        f"{decomposition.about.unit}. Pale cells have no rows nearby. "
        f"The {len(options)} strongest of {count(len(pairs), 'pair')}."
    )
    if output is not None:
        text += f" Drawn for the class {named(output)}."
    return [Prose((text,)), Choice("interactions", "Pair", tuple(options))]


def _no_interaction(findings: Findings, joint: float) -> Note:
    which = "pair" if findings.all_pairs_examined else "pair that was examined"
    return Note(
        "No interactions of two columns",
        f"No {which} accounts for {percent(LEAST_INTERACTION)} of the variation of the "
        f"{findings.importance.unit if findings.importance else 'prediction'} or more; all "
        f"together account for {percent(joint)}.",
        tone="good" if findings.all_pairs_examined else "plain",
    )


def _agreement(findings: Findings) -> list[Block]:
    if findings.agreement is None:
        why = findings.failures.get(Step.AGREEMENT)
        return [Note("Methods were not compared", sentence(why))] if why else []
    return [*_shape_conflicts(findings), *_proxies(findings), _comparison(findings)]


def _shape_conflicts(findings: Findings) -> list[Block]:
    """Say for which columns the curves themselves depend on the method."""
    agreement, differing = findings.agreement, findings.shape_conflicts
    assert agreement is not None
    compared = f"{len(agreement.columns)} of {count(len(findings.features), 'column')}"
    if not differing:
        return [
            Note(
                "Partial dependence and ALE agree",
                f"{compared} were compared: their curves differ by at most a tenth of the spread "
                f"of the predictions. {_uncompared(findings)}".strip(),
                tone="plain" if findings.uncompared else "good",
            )
        ]
    return [
        Note(
            f"Partial dependence and ALE differ for {count(len(differing), 'column')}",
            f"{compared} were compared. Methods that disagree answer different questions. The "
            "usual reasons are associated columns and interactions. Name the method in any "
            "statement about such a column.",
            tone="caution",
            items=tuple(conflict_words(findings, name) for name in differing),
        )
    ]


def _uncompared(findings: Findings) -> str:
    if not findings.uncompared:
        return ""
    if len(findings.uncompared) == 1:
        return "The other column that changes the prediction was not compared."
    left = count(len(findings.uncompared), "other column")
    return f"The {left} that change the prediction were not compared."


def _proxies(findings: Findings) -> list[Block]:
    """Name columns that stand in for others in the data."""
    if findings.agreement is None or not findings.proxies:
        return []
    items = []
    for name in findings.proxies:
        entry = findings.agreement[name]
        item = f"{named(name)}: differs by {number(entry.interventional_observational)} standard "
        item += "deviations of the prediction"
        if entry.associated_with:
            item += f"; associated with {listed([other for other, _ in entry.associated_with])}"
        items.append(item)
    return [
        Note(
            f"{count(len(items), 'proxy', 'proxies')} for other columns",
            "Rows with different values of such a column also differ in other columns, so their "
            "mean predictions differ from the effect of the column itself. The curves above show "
            "the effect itself; a table of mean predictions by value would mix both.",
            items=tuple(items),
        )
    ]


def _comparison(findings: Findings) -> Block:
    agreement = findings.agreement
    assert agreement is not None
    how = f"Compared on {count(agreement.n_rows, 'row')}."
    prose = Prose((how, *map(sentence, agreement.notes)))
    return More("How much the methods differ", (prose, chart("agreement", agreement.plot())))
