"""`clearwood explain importance` and `agreement`: which features matter, and by which method."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

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

Sample = Annotated[
    int | None,
    typer.Option(
        "--sample", metavar="N", help="The number of rows; by default all.", show_default=False
    ),
]


@dataclass(frozen=True, kw_only=True)
class Measuring(Explaining):
    """The model, and rows that it is measured on."""

    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Rows with the features of the model and the target; for permutation, held-out "
            "rows.",
        ),
    ]


@verb
def importance(
    *,
    kind: Annotated[
        ImportanceKind,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="components: share of the variance of predictions. "
            "permutation: increase in loss when shuffled. loco: increase in loss when fitted "
            "without. shapley: mean absolute Shapley value. variance: of the main effect. "
            "impurity: gain of the splits. coefficients: of linear models.",
        ),
    ] = "components",
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", help="How often each column is shuffled.")
    ] = 5,
    conditional: Annotated[
        bool,
        typer.Option(
            "--conditional",
            help="Shuffle only among rows with similar values of the associated columns.",
        ),
    ] = False,
    groups: Groups = None,
    loss: Annotated[
        str | None,
        typer.Option(
            "--loss",
            metavar="LOSS",
            help="squared, absolute, log or zero-one; by default the task's own.",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[
        int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation of loco.")
    ] = 5,
    confidence: Confidence = 0.9,
    sample: Sample = None,
    view: View,
    work: Work,
    measuring: Measuring,
    reading: Reading,
) -> None:
    """The importance of each feature, with intervals."""
    import clearwood as cw

    together = groups_of(groups)
    model, data = measuring.read(reading)
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
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="COLUMN",
            help="A feature to look at; by default all that vary. Repeatable.",
            show_default=False,
        ),
    ] = None,
    sample: Sample = None,
    view: View,
    work: Work,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """Where explanation methods disagree, and the likely reason."""
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
