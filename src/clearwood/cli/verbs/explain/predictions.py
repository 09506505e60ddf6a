"""`clearwood explain shapley`, `lime`, `what-if`, `contributions`: individual predictions."""

from pathlib import Path
from typing import Annotated, Any

import typer

from clearwood._shared.choices import Conditional, LimeSelection, ShapleyMethod, ValueFunction
from clearwood.cli.support.console import print_json, print_text
from clearwood.cli.support.options import Reading, pairs, setting
from clearwood.cli.support.parts import Workers
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Explaining, Groups, View, Work, groups_of

__all__ = ["contributions", "lime", "shapley", "what_if"]

_FEW_ROWS = 10

FirstRows = Annotated[
    int, typer.Option("--rows", metavar="N", min=1, help="Explain the first N rows.")
]
OneRow = Annotated[
    int, typer.Option("--row", metavar="N", min=0, help="The row of DATA, counted from 0.")
]


@verb
def shapley(
    *,
    value: ValueFunction = "interventional",
    rows: FirstRows = _FEW_ROWS,
    of: Path | None = None,
    groups: Groups = None,
    interactions: bool = False,
    conditional: Conditional = "auto",
    method: ShapleyMethod = "auto",
    precision: float = 0.02,
    max_evaluations: int | None = None,
    n_background: int | None = None,
    to: Path | None = None,
    view: View,
    work: Work,
    explaining: Explaining,
    workers: Workers,
    reading: Reading,
) -> None:
    """Shapley values: how each feature moves a prediction away from the average.

    Parameters
    ----------
    value : VALUE
        interventional: other features take the values of DATA. path_dependent: they follow the
        training rows in each node of a tree. observational: they follow rows like the one
        explained.
    of : FILE
        The rows to explain, if not those of DATA.
    interactions
        Pairwise interactions too; exact values only.
    to : FOLDER
        With --scan: write the values of all rows there, one Parquet
        file for each part. Over a drawn background, standard errors too.
    conditional
        The distribution assumed by observational values; auto chooses by the columns.

    Models without exact Shapley values
    -----------------------------------
    method
        auto is exact where possible.
    precision : SHARE
        Stop at standard errors of this share of the spread of a row's values.
    max_evaluations : N
        The most evaluations of the model per row.
    n_background : N
        Rows of DATA that form the background; by default 100. Trees: drawn rows; by default all.
    """
    from clearwood.explanation import Explanation
    from clearwood.parallel import Written

    together = groups_of(groups)
    model, data = explaining.read(reading, of)
    explained = data if of is None else reading.table_for(model, of, all_rows=True)
    if not reading.scan:
        workers.refuse()
    options: dict[str, Any] = {"seed": work.seed, "n_jobs": work.n_jobs, "ledger": workers.ledger}
    with workers.ready(to):
        why = Explanation(model, data, **options)
        result = why.shapley(
            explained.head(rows) if to is None else explained,
            to=to,
            force=explaining.force,
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
    if isinstance(result, Written):
        if explaining.json:
            print_json(result.to_json())
        else:
            print_text(repr(result))
        return
    explaining.show(result)


@verb
def lime(
    *,
    row: OneRow = 0,
    kernel_width: float | None = None,
    n_features: int = 6,
    select: LimeSelection = "forward",
    n_samples: int = 2000,
    repeats: int = 10,
    view: View,
    work: Work,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """A sparse linear model near one row, with its local fit and its stability.

    Parameters
    ----------
    kernel_width : NUMBER
        The size of the neighbourhood, in standard deviations; by default 0.75 times the square root
        of the number of columns.
    n_features : N
        The most terms.
    select
        How terms are selected.
    n_samples : N
        Rows per sample.
    repeats : N
        How often samples are drawn, to measure stability.
    """
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
    changes: list[str],
    row: OneRow = 0,
    view: View,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """The prediction of a row after changes, and the contribution of each change.

    Parameters
    ----------
    changes : COLUMN=VALUE
        A new value; none for a missing one. Repeatable.
    """
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
