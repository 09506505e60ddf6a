"""`clearwood explain shapley`, `lime`, `what-if`, `contributions`: one row's prediction."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

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
from clearwood.cli.support.inputs import model_and_table, table_for
from clearwood.cli.support.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Jobs,
    Json,
    ModelFile,
    Seed,
    pairs,
    setting,
)

__all__ = ["contributions", "lime", "shapley", "what_if"]

_ESTIMATING = "Models that have to be asked"
_FEW_ROWS = 10


class Value(StrEnum):
    """The value functions."""

    INTERVENTIONAL = "interventional"
    PATH_DEPENDENT = "path_dependent"
    OBSERVATIONAL = "observational"


class Method(StrEnum):
    """How values are found."""

    AUTO = "auto"
    SUBSETS = "subsets"
    KERNEL = "kernel"
    PERMUTATION = "permutation"


class Conditional(StrEnum):
    """What observational values assume."""

    GAUSSIAN = "gaussian"
    COPULA = "copula"
    KERNEL = "kernel"
    FOREST = "forest"


class Select(StrEnum):
    """How the terms of a local model are chosen."""

    FORWARD = "forward"
    LASSO = "lasso"


RowsFile = Annotated[
    Path | None,
    typer.Option(
        "--of",
        metavar="FILE",
        help="The rows to explain, where they are not the first of DATA.",
        show_default=False,
    ),
]
FirstRows = Annotated[
    int,
    typer.Option("--rows", metavar="N", min=1, help="How many rows are explained, the first ones."),
]
OneRow = Annotated[
    int,
    typer.Option("--row", metavar="N", min=0, help="The row of DATA, counted from 0."),
]


def shapley(
    *,
    model: ModelFile,
    data: DataFile,
    value: Annotated[
        Value,
        typer.Option(
            "--value",
            help="interventional: others take the values of DATA. path_dependent: the training "
            "rows at each node of trees. observational: rows like this one.",
        ),
    ] = Value.INTERVENTIONAL,
    rows: FirstRows = _FEW_ROWS,
    of: RowsFile = None,
    output: Outputs = None,
    groups: Groups = None,
    interactions: Annotated[
        bool, typer.Option("--interactions", help="Pairwise interactions too; of exact values.")
    ] = False,
    class_name: ClassName = None,
    scale: Scale = None,
    conditional: Annotated[
        Conditional,
        typer.Option("--conditional", help="What observational values assume."),
    ] = Conditional.GAUSSIAN,
    method: Annotated[
        Method,
        typer.Option(
            "--method",
            help="auto is exact where it can be.",
            rich_help_panel=_ESTIMATING,
        ),
    ] = Method.AUTO,
    precision: Annotated[
        float,
        typer.Option(
            "--precision",
            metavar="SHARE",
            help="Ends at standard errors of this share of the spread of a row's values.",
            rich_help_panel=_ESTIMATING,
        ),
    ] = 0.02,
    max_evaluations: Annotated[
        int | None,
        typer.Option(
            "--max-evaluations",
            metavar="N",
            help="Of the model, for one row.",
            show_default=False,
            rich_help_panel=_ESTIMATING,
        ),
    ] = None,
    n_background: Annotated[
        int | None,
        typer.Option(
            "--n-background",
            metavar="N",
            help="Rows of DATA that stand in for a coalition; 100 without it.",
            show_default=False,
            rich_help_panel=_ESTIMATING,
        ),
    ] = None,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """How each column moved the prediction of rows from the mean: Shapley values."""
    import clearwood as cw

    check_outputs(output, force=force, inputs=[model, data, *([of] if of else [])])
    together = groups_of(groups)
    read: dict[str, Any] = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    fitted, table = model_and_table(model, data, **read)
    asked = table if of is None else table_for(fitted, of, **read)
    found = cw.shapley(
        fitted,
        table,
        asked.head(rows),
        value=value.value,
        method=method.value,
        conditional=conditional.value,
        groups=together,
        interactions=interactions,
        output=class_name,
        scale=scale,
        precision=precision,
        max_evaluations=max_evaluations,
        n_background=n_background,
        time_limit=time_limit,
        seed=seed,
        n_jobs=jobs,
    )
    show(found, output, force=force, as_json=json)


def lime(
    *,
    model: ModelFile,
    data: DataFile,
    row: OneRow = 0,
    kernel_width: Annotated[
        float | None,
        typer.Option(
            "--kernel-width",
            metavar="NUMBER",
            help="How far near is, in standard deviations; 0.75 times the root of the number of "
            "columns without it.",
            show_default=False,
        ),
    ] = None,
    n_features: Annotated[
        int, typer.Option("--n-features", metavar="N", help="The most terms.")
    ] = 6,
    select: Annotated[
        Select, typer.Option("--select", help="How terms are chosen.")
    ] = Select.FORWARD,
    n_samples: Annotated[
        int, typer.Option("--n-samples", metavar="N", help="Rows of one draw.")
    ] = 2000,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", help="Draws, which show how stable it is.")
    ] = 10,
    output: Outputs = None,
    class_name: ClassName = None,
    scale: Scale = None,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """A sparse linear model near one row, its local fit and how stable it is."""
    import clearwood as cw

    check_outputs(output, force=force, inputs=[model, data])
    fitted, table = model_and_table(
        model, data, delimiter=delimiter, decimal=decimal, encoding=encoding
    )
    found = cw.lime(
        fitted,
        table,
        row,
        kernel_width=kernel_width,
        n_features=n_features,
        select=select.value,
        n_samples=n_samples,
        repeats=repeats,
        output=class_name,
        scale=scale,
        time_limit=time_limit,
        seed=seed,
        n_jobs=jobs,
    )
    show(found, output, force=force, as_json=json)


def what_if(
    *,
    model: ModelFile,
    data: DataFile,
    changes: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="COLUMN=VALUE",
            help="A new value; none for missing. Repeatable.",
        ),
    ],
    row: OneRow = 0,
    output: Outputs = None,
    class_name: ClassName = None,
    scale: Scale = None,
    force: Force = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """The prediction of a row with some columns changed, and what each change contributes."""
    import clearwood as cw

    check_outputs(output, force=force, inputs=[model, data])
    wanted = pairs("--set", changes, example="age=45")
    fitted, table = model_and_table(
        model, data, delimiter=delimiter, decimal=decimal, encoding=encoding
    )
    found = cw.what_if(
        fitted,
        table,
        row,
        {name: setting(text) for name, text in wanted.items()},
        output=class_name,
        scale=scale,
    )
    show(found, output, force=force, as_json=json)


def contributions(
    *,
    model: ModelFile,
    data: DataFile,
    rows: FirstRows = _FEW_ROWS,
    output: Outputs = None,
    class_name: ClassName = None,
    force: Force = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """What each column of a linear model adds to rows, before any link."""
    import clearwood as cw

    check_outputs(output, force=force, inputs=[model, data])
    fitted, table = model_and_table(
        model, data, delimiter=delimiter, decimal=decimal, encoding=encoding
    )
    found = cw.contributions(fitted, table.head(rows), output=class_name)
    show(found, output, force=force, as_json=json)
