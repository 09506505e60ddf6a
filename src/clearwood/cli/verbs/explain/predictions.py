"""`clearwood explain shapley`, `lime`, `what-if`, `contributions`: individual predictions."""

from pathlib import Path
from typing import Annotated

import typer

from clearwood._shared.choices import Conditional, LimeSelection, ShapleyMethod, ValueFunction
from clearwood.cli.support.options import Reading, pairs, setting
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Explaining, Groups, View, Work, groups_of

__all__ = ["contributions", "lime", "shapley", "what_if"]

_ESTIMATING = "Models without exact Shapley values"
_FEW_ROWS = 10

FirstRows = Annotated[
    int,
    typer.Option("--rows", metavar="N", min=1, help="Explain the first N rows."),
]
OneRow = Annotated[
    int,
    typer.Option("--row", metavar="N", min=0, help="The row of DATA, counted from 0."),
]


@verb
def shapley(
    *,
    value: Annotated[
        ValueFunction,
        typer.Option(
            "--value",
            metavar="VALUE",
            help="interventional: other features take the values of DATA. path_dependent: they "
            "follow the training rows in each node of a tree. observational: they follow rows "
            "like the one explained.",
        ),
    ] = "interventional",
    rows: FirstRows = _FEW_ROWS,
    of: Annotated[
        Path | None,
        typer.Option(
            "--of",
            metavar="FILE",
            help="The rows to explain, if not those of DATA.",
            show_default=False,
        ),
    ] = None,
    groups: Groups = None,
    interactions: Annotated[
        bool, typer.Option("--interactions", help="Pairwise interactions too; exact values only.")
    ] = False,
    conditional: Annotated[
        Conditional,
        typer.Option("--conditional", help="The distribution assumed by observational values."),
    ] = "gaussian",
    method: Annotated[
        ShapleyMethod,
        typer.Option("--method", help="auto is exact where possible.", rich_help_panel=_ESTIMATING),
    ] = "auto",
    precision: Annotated[
        float,
        typer.Option(
            "--precision",
            metavar="SHARE",
            help="Stop at standard errors of this share of the spread of a row's values.",
            rich_help_panel=_ESTIMATING,
        ),
    ] = 0.02,
    max_evaluations: Annotated[
        int | None,
        typer.Option(
            "--max-evaluations",
            metavar="N",
            help="The most evaluations of the model per row.",
            show_default=False,
            rich_help_panel=_ESTIMATING,
        ),
    ] = None,
    n_background: Annotated[
        int | None,
        typer.Option(
            "--n-background",
            metavar="N",
            help="Rows of DATA that form the background; by default 100.",
            show_default=False,
            rich_help_panel=_ESTIMATING,
        ),
    ] = None,
    view: View,
    work: Work,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """Shapley values: how each feature moves a prediction away from the average."""
    import clearwood as cw

    together = groups_of(groups)
    model, data = explaining.read(reading, of)
    explained = data if of is None else reading.table_for(model, of)
    result = cw.shapley(
        model,
        data,
        explained.head(rows),
        value=value,
        method=method,
        conditional=conditional,
        groups=together,
        interactions=interactions,
        precision=precision,
        max_evaluations=max_evaluations,
        n_background=n_background,
        **vars(view),
        **vars(work),
    )
    explaining.show(result)


@verb
def lime(
    *,
    row: OneRow = 0,
    kernel_width: Annotated[
        float | None,
        typer.Option(
            "--kernel-width",
            metavar="NUMBER",
            help="The size of the neighbourhood, in standard deviations; by default 0.75 times "
            "the square root of the number of columns.",
            show_default=False,
        ),
    ] = None,
    n_features: Annotated[
        int, typer.Option("--n-features", metavar="N", help="The most terms.")
    ] = 6,
    select: Annotated[
        LimeSelection, typer.Option("--select", help="How terms are selected.")
    ] = "forward",
    n_samples: Annotated[
        int, typer.Option("--n-samples", metavar="N", help="Rows per sample.")
    ] = 2000,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", help="Samples, to measure stability.")
    ] = 10,
    view: View,
    work: Work,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """A sparse linear model near one row, with its local fit and its stability."""
    import clearwood as cw

    model, data = explaining.read(reading)
    result = cw.lime(
        model,
        data,
        row,
        kernel_width=kernel_width,
        n_features=n_features,
        select=select,
        n_samples=n_samples,
        repeats=repeats,
        **vars(view),
        **vars(work),
    )
    explaining.show(result)


@verb
def what_if(
    *,
    changes: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="COLUMN=VALUE",
            help="A new value; none for a missing one. Repeatable.",
        ),
    ],
    row: OneRow = 0,
    view: View,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """The prediction of a row after changes, and the contribution of each change."""
    import clearwood as cw

    texts = pairs("--set", changes, example="age=45")
    model, data = explaining.read(reading)
    values = {name: setting(text) for name, text in texts.items()}
    explaining.show(cw.what_if(model, data, row, values, **vars(view)))


@verb
def contributions(
    *,
    rows: FirstRows = _FEW_ROWS,
    view: View,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """The contribution of each feature to a linear model's predictions, before any link."""
    import clearwood as cw

    model, data = explaining.read(reading)
    explaining.show(cw.contributions(model, data.head(rows), output=view.output))
