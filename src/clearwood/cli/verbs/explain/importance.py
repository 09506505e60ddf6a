"""`clearwood explain importance` and `agreement`: which features matter, and by which method."""

from dataclasses import dataclass

from clearwood._shared.choices import ImportanceKind
from clearwood.cli.support.options import Reading
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import (
    Confidence,
    Explaining,
    Groups,
    View,
    Work,
    groups_of,
)

__all__ = ["agreement", "importance"]


@dataclass(frozen=True)
class Measuring(Explaining):
    """The model, and rows that it is measured on.

    Parameters
    ----------
    data
        Rows with the features of the model and the target; for permutation, held-out rows.
    """


@verb
def importance(
    *,
    kind: ImportanceKind = "components",
    repeats: int = 5,
    conditional: bool = False,
    groups: Groups = None,
    loss: str | None = None,
    folds: int = 5,
    confidence: Confidence = 0.9,
    sample: int | None = None,
    view: View,
    work: Work,
    measuring: Measuring,
    reading: Reading,
) -> None:
    """The importance of each feature, with intervals.

    Parameters
    ----------
    kind : KIND
        components: share of the variance of predictions. permutation: increase in loss when
        shuffled. loco: increase in loss when fitted without. shapley: mean absolute Shapley value.
        variance: of the main effect. impurity: gain of the splits. coefficients: of linear models.
    repeats : N
        How often each column is shuffled.
    conditional
        Shuffle only among rows with similar values of the associated columns.
    loss : LOSS
        squared, absolute, log or zero-one; by default the task's own.
    folds : N
        Folds of the cross-validation of loco.
    sample : N
        The number of rows; by default all.
    """
    import clearwood as cw

    together = groups_of(groups)
    model, data = measuring.read(reading, needs_target=kind in ("permutation", "loco"))
    result = cw.importance(
        model,
        data,
        kind=kind,
        repeats=repeats,
        conditional=conditional,
        groups=together,
        loss=loss,
        folds=folds,
        confidence=confidence,
        sample=sample,
        **vars(view),
        **vars(work),
    )
    measuring.show(result)


@verb
def agreement(
    *,
    columns: list[str] | None = None,
    sample: int | None = None,
    view: View,
    work: Work,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """Where explanation methods disagree, and the likely reason.

    Parameters
    ----------
    columns : COLUMN
        A feature to look at; by default all that vary. Repeatable.
    sample : N
        The number of rows; by default all.
    """
    import clearwood as cw

    model, data = explaining.read(reading)
    result = cw.agreement(
        model,
        data,
        columns=columns or None,
        sample=sample,
        **vars(view),
        **vars(work),
    )
    explaining.show(result)
