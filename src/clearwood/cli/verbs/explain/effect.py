"""`clearwood explain effect`: the effect of one feature, or of two, on the prediction."""

from typing import Annotated, Any, Literal

import typer

from clearwood._shared.choices import EffectKind
from clearwood._shared.errors import InputError
from clearwood.cli.support.options import Reading
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Confidence, Explaining, View, Work

__all__ = ["effect"]

_BAND = "Band"
_ROWS = "Rows and values"


@verb
def effect(
    *,
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="The feature.")],
    other: Annotated[
        str | None,
        typer.Argument(metavar="OTHER", help="A second feature.", show_default=False),
    ] = None,
    kind: Annotated[
        EffectKind,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="pdp: partial dependence, the average prediction if every row had the value. ice: "
            "one curve per row. marginal: the average over rows with the value. ale: accumulated "
            "local effects. supported_pdp: pdp where there are data. component: a part of the "
            "decomposition.",
        ),
    ] = "pdp",
    centred: Annotated[
        bool | None,
        typer.Option(
            "--centred/--uncentred",
            help="Whether effects are relative to the mean, and ice curves to their start; by "
            "default only ale.",
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
            help="The most values of a numeric or date column; by default 40, and 20 each of two.",
            show_default=False,
            rich_help_panel=_ROWS,
        ),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="VALUE,VALUE",
            help="The values to show. Once for each column.",
            show_default=False,
            rich_help_panel=_ROWS,
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            metavar="N",
            help="The number of rows to average over; by default all.",
            show_default=False,
            rich_help_panel=_ROWS,
        ),
    ] = None,
    extrapolation: Annotated[
        Literal["distance", "isolation", "none"],
        typer.Option(
            "--extrapolation",
            help="How rows outside the data are detected.",
            rich_help_panel=_ROWS,
        ),
    ] = "distance",
    bands: Annotated[
        int,
        typer.Option(
            "--bands",
            metavar="N",
            help="Bootstrap samples of the rows; 0 for no band.",
            rich_help_panel=_BAND,
        ),
    ] = 200,
    refit: Annotated[
        int,
        typer.Option(
            "--refit",
            metavar="N",
            help="Models refitted to bootstrap samples, for a band that includes the uncertainty "
            "of training.",
            rich_help_panel=_BAND,
        ),
    ] = 0,
    confidence: Confidence = 0.9,
    view: View,
    work: Work,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """The effect of one feature, or of two jointly, on the prediction.

    With a band, the distribution of the data, and the values where the model extrapolates.
    """
    import clearwood as cw

    columns = (column,) if other is None else (column, other)
    model, data = explaining.read(reading)
    result = cw.effect(
        model,
        data,
        columns,
        kind=kind,
        points=points,
        grid=_grid(grid, len(columns)),
        centred=centred,
        derivative=derivative,
        bands=bands,
        confidence=confidence,
        refit=refit,
        sample=sample,
        extrapolation=False if extrapolation == "none" else extrapolation,
        **vars(view),
        **vars(work),
    )
    explaining.show(result)


def _grid(texts: list[str] | None, n_columns: int) -> Any:
    """Read values: those of the only column, or one list for each of two.

    Examples
    --------
    >>> _grid(["20,40"], 1), _grid(["20,40", "a,b"], 2)
    (['20', '40'], (['20', '40'], ['a', 'b']))
    """
    if not texts:
        return None
    if len(texts) > n_columns:
        raise InputError(f"--grid is repeated {len(texts)} times for {n_columns} columns")
    lists = [[value.strip() for value in text.split(",")] for text in texts]
    return lists[0] if n_columns == 1 else (*lists, *[None] * (2 - len(lists)))
