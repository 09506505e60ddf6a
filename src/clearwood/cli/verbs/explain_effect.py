"""`clearwood explain effect`: what one column, or two, do to the prediction."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import typer

from clearwood.cli.support.explain_shared import (
    ClassName,
    DataFile,
    Outputs,
    Scale,
    TimeLimit,
    check_outputs,
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

__all__ = ["effect"]

_BAND = "Band"
_ROWS = "Rows and values"


class Kind(StrEnum):
    """The kinds of effects."""

    PDP = "pdp"
    ICE = "ice"
    MARGINAL = "marginal"
    ALE = "ale"
    SUPPORTED_PDP = "supported_pdp"
    COMPONENT = "component"


class Extrapolation(StrEnum):
    """How rows outside the data are found."""

    DISTANCE = "distance"
    ISOLATION = "isolation"
    NONE = "none"


_WAYS: dict[Extrapolation, Literal["distance", "isolation", False]] = {
    Extrapolation.DISTANCE: "distance",
    Extrapolation.ISOLATION: "isolation",
    Extrapolation.NONE: False,
}


def effect(
    *,
    model: ModelFile,
    data: DataFile,
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="What is held at each value.")],
    other: Annotated[
        str | None,
        typer.Argument(metavar="OTHER", help="A second column.", show_default=False),
    ] = None,
    kind: Annotated[
        Kind,
        typer.Option(
            "--kind",
            help="pdp: everyone has the value. ice: row by row. marginal: those who have it. ale: "
            "small steps, added up. supported_pdp: pdp where data lie. component: a part of "
            "the decomposition.",
        ),
    ] = Kind.PDP,
    output: Outputs = None,
    class_name: ClassName = None,
    scale: Scale = None,
    centred: Annotated[
        bool | None,
        typer.Option(
            "--centred/--uncentred",
            help="Measured from the mean; curves from their start. Only ale is by default.",
            show_default=False,
        ),
    ] = None,
    derivative: Annotated[
        bool, typer.Option("--derivative", help="For ice: slopes instead of curves.")
    ] = False,
    points: Annotated[
        int | None,
        typer.Option(
            "--points",
            metavar="N",
            help="The most values of a column of numbers or dates; 40, of two columns 20 each.",
            show_default=False,
            rich_help_panel=_ROWS,
        ),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="VALUE,VALUE",
            help="The values to show instead. Once for each column.",
            show_default=False,
            rich_help_panel=_ROWS,
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            metavar="N",
            help="How many rows are averaged over; all without it.",
            show_default=False,
            rich_help_panel=_ROWS,
        ),
    ] = None,
    extrapolation: Annotated[
        Extrapolation,
        typer.Option(
            "--extrapolation", help="How rows outside the data are found.", rich_help_panel=_ROWS
        ),
    ] = Extrapolation.DISTANCE,
    bands: Annotated[
        int,
        typer.Option(
            "--bands", metavar="N", help="Draws of the rows; 0: no band.", rich_help_panel=_BAND
        ),
    ] = 200,
    refit: Annotated[
        int,
        typer.Option(
            "--refit",
            metavar="N",
            help="Models fitted anew to resampled rows, for a band that allows for training.",
            rich_help_panel=_BAND,
        ),
    ] = 0,
    confidence: Annotated[
        float,
        typer.Option("--confidence", metavar="SHARE", help="Its coverage.", rich_help_panel=_BAND),
    ] = 0.9,
    time_limit: TimeLimit = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """What one column, or two together, do to the prediction.

    With its band, the density of the data, and where it extrapolates.
    """
    import clearwood as cw

    check_outputs(output, force=force, inputs=[model, data])
    fitted, table = model_and_table(
        model, data, delimiter=delimiter, decimal=decimal, encoding=encoding
    )
    columns = (column,) if other is None else (column, other)
    found = cw.effect(
        fitted,
        table,
        columns,
        kind=kind.value,
        points=points,
        grid=_grid(grid, len(columns)),
        output=class_name,
        scale=scale,
        centred=centred,
        derivative=derivative,
        bands=bands,
        confidence=confidence,
        refit=refit,
        sample=sample,
        extrapolation=_WAYS[extrapolation],
        time_limit=time_limit,
        seed=seed,
        n_jobs=jobs,
    )
    show(found, output, force=force, as_json=json)


def _grid(texts: list[str] | None, n_columns: int) -> Any:
    """Read values: those of the only column, or one list for each of two.

    Examples
    --------
    >>> _grid(["20,40"], 1), _grid(["20,40", "a,b"], 2)
    (['20', '40'], (['20', '40'], ['a', 'b']))
    """
    from clearwood._shared.errors import InputError

    if not texts:
        return None
    if len(texts) > n_columns:
        raise InputError(f"--grid is given {len(texts)} times for {n_columns} columns")
    lists = [[value.strip() for value in text.split(",")] for text in texts]
    return lists[0] if n_columns == 1 else (*lists, *[None] * (2 - len(lists)))
