"""`clearwood explain importance` and `agreement`: which columns matter, by whom asked."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clearwood.cli.support.explain_shared import (
    ClassName,
    DataFile,
    Groups,
    Outputs,
    Scale,
    TimeLimit,
    check_outputs,
    groups_of,
    show,
)
from clearwood.cli.support.inputs import model_and_table
from clearwood.cli.support.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Jobs,
    Json,
    ModelFile,
    Seed,
)

__all__ = ["agreement", "importance"]


class Kind(StrEnum):
    """The kinds of importance."""

    COMPONENTS = "components"
    PERMUTATION = "permutation"
    LOCO = "loco"
    SHAPLEY = "shapley"
    VARIANCE = "variance"
    IMPURITY = "impurity"
    COEFFICIENTS = "coefficients"


Sample = Annotated[
    int | None,
    typer.Option("--sample", metavar="N", help="How many rows are used.", show_default=False),
]


def importance(
    *,
    model: ModelFile,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="Rows with the model's columns and the target: for permutation rows that it has "
            "not seen.",
        ),
    ],
    kind: Annotated[
        Kind,
        typer.Option(
            "--kind",
            help="components: share of the variation of predictions. permutation: worse when "
            "shuffled. loco: worse when fitted without. shapley: how far it moves predictions. "
            "variance: of its main effect. impurity: gain of splits. coefficients: of linear "
            "models.",
        ),
    ] = Kind.COMPONENTS,
    output: Outputs = None,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", help="How often each column is shuffled.")
    ] = 5,
    conditional: Annotated[
        bool,
        typer.Option(
            "--conditional", help="Shuffle among rows alike in the columns that go with it."
        ),
    ] = False,
    groups: Groups = None,
    loss: Annotated[
        str | None,
        typer.Option(
            "--loss",
            metavar="LOSS",
            help="squared, absolute, log or zero-one.",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[
        int, typer.Option("--folds", metavar="N", help="Parts of the cross-validation of loco.")
    ] = 5,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="SHARE", help="The coverage of the intervals.")
    ] = 0.9,
    class_name: ClassName = None,
    scale: Scale = None,
    sample: Sample = None,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """How much each column matters, with intervals."""
    import clearwood as cw

    check_outputs(output, force=force, inputs=[model, data])
    together = groups_of(groups)
    fitted, table = model_and_table(
        model, data, delimiter=delimiter, decimal=decimal, encoding=encoding
    )
    found = cw.importance(
        fitted,
        table,
        kind=kind.value,
        repeats=repeats,
        conditional=conditional,
        groups=together,
        loss=loss,
        folds=folds,
        confidence=confidence,
        output=class_name,
        scale=scale,
        sample=sample,
        time_limit=time_limit,
        seed=seed,
        n_jobs=jobs,
    )
    show(found, output, force=force, as_json=json)


def agreement(
    *,
    model: ModelFile,
    data: DataFile,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="COLUMN",
            help="The columns to look at; all that vary without it. Repeatable.",
            show_default=False,
        ),
    ] = None,
    output: Outputs = None,
    class_name: ClassName = None,
    scale: Scale = None,
    sample: Sample = None,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """Whether explanations agree, column by column, with likely reasons."""
    import clearwood as cw

    check_outputs(output, force=force, inputs=[model, data])
    fitted, table = model_and_table(
        model, data, delimiter=delimiter, decimal=decimal, encoding=encoding
    )
    found = cw.agreement(
        fitted,
        table,
        columns=column or None,
        output=class_name,
        scale=scale,
        sample=sample,
        time_limit=time_limit,
        seed=seed,
        n_jobs=jobs,
    )
    show(found, output, force=force, as_json=json)
