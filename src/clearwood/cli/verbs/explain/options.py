"""Options that the verbs of `clearwood explain` share."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood._shared.choices import Scale
from clearwood._shared.errors import InputError
from clearwood.cli.support.files import RESULTS, show
from clearwood.cli.support.options import Force, Jobs, Json, ModelFile, Reading, Seed

if TYPE_CHECKING:
    from clearwood.table import Table

__all__ = ["Confidence", "Explaining", "Groups", "View", "Work", "groups_of"]

Confidence = Annotated[
    float,
    typer.Option("--confidence", metavar="P", help="Confidence level of the intervals."),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        metavar="NAME=COLUMN,COLUMN",
        help="Columns that count as one feature. Repeatable.",
    ),
]


@dataclass(frozen=True)
class Explaining:
    """The model, the rows that it is explained with, and where the result goes.

    Parameters
    ----------
    data
        Rows with the features of the model, usually the training rows.
    files : FILE
        A file for the result, whose ending gives the format: .json, .csv, .parquet, .svg, .png or
        .html. Repeatable.
    """

    model: ModelFile
    data: Path
    _: KW_ONLY
    files: list[Path] | None = None
    force: Force = False
    json: Json = False

    def read(
        self, reading: Reading, *more: Path | None, needs_target: bool = False
    ) -> tuple[Any, "Table"]:
        """Load the model and read its rows, once it is clear that the result can be written.

        The result must not replace ``more`` inputs either. Rows without a target are left out
        where the target is needed.
        """
        import clearwood as cw
        from clearwood.cli.support.files import check_output

        inputs = [self.model, self.data, *(path for path in more if path is not None)]
        for path in self.files or ():
            check_output(path, *RESULTS, force=self.force, inputs=inputs, needs_ending=True)
        model = cw.load(self.model)
        return model, reading.table_for(model, self.data, all_rows=not needs_target)

    def show(self, result: Any, *, table: bool = True) -> None:
        """Write the result to its files, then print it, with a table below its text or not."""
        show(result, self.files or (), force=self.force, as_json=self.json, table=table)


@dataclass(frozen=True, kw_only=True)
class View:
    """What of the prediction is explained.

    Parameters
    ----------
    output : NAME
        The class or output to explain; by default all, and the second of two classes.
    scale
        The scale of the prediction.
    """

    output: str | None = None
    scale: Scale | None = None


@dataclass(frozen=True, kw_only=True)
class Work:
    """How long the work may take, and with what.

    Parameters
    ----------
    time_limit : SECONDS
        Stop after this time and give the estimates so far, with their errors.
    """

    time_limit: float | None = None
    seed: Seed = 0
    n_jobs: Jobs = 1


def groups_of(texts: Iterable[str] | None) -> dict[str, list[str]] | None:
    """Read groups of columns: ``place=lat,lon``.

    Examples
    --------
    >>> groups_of(["place=lat,lon", "money=income"])
    {'place': ['lat', 'lon'], 'money': ['income']}
    """
    groups: dict[str, list[str]] = {}
    for text in texts or ():
        name, equals, columns = text.partition("=")
        listed = [column.strip() for column in columns.split(",") if column.strip()]
        if not equals or not name.strip() or not listed:
            raise InputError(
                f"--groups {text!r} is not of the form NAME=COLUMN,COLUMN",
                hint="write it like --groups place=lat,lon",
            )
        if name.strip() in groups:
            raise InputError(f"there are two groups {name.strip()!r}")
        groups[name.strip()] = listed
    return groups or None
