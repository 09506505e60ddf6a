"""`clearwood predict`: from a model file and a table to predictions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood._shared.errors import InputError
from clearwood.cli.support.console import emit, say
from clearwood.cli.support.options import Decimal, Delimiter, Encoding, Force, Json, ModelFile

if TYPE_CHECKING:
    from clearwood.models import Learner
    from clearwood.table import Table

__all__ = ["predict", "prediction_columns"]


def predict(
    *,
    model: ModelFile,
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="New rows, with the columns the model was fitted to."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A CSV or .parquet file; without it, CSV to standard output.",
            show_default=False,
        ),
    ] = None,
    probabilities: Annotated[
        bool | None,
        typer.Option(
            "--probabilities/--no-probabilities",
            help="Whether each class gets a column with its probability; where the model has "
            "them, they are written unless you say no.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """Predict new rows with a saved model, one line per row, in order."""
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.cli.support.output import check_output, write_columns, write_csv
    from clearwood.table import as_table

    if output is not None:
        check_output(output, force=force, inputs=[model, data])
    fitted = cw.load(model)
    if not isinstance(fitted, cw.Learner):
        raise InputError(
            f"'{model}' holds a {type(fitted).__name__} without the columns it was fitted to",
            hint="predict with it in Python, after cw.load.",
        )
    with progress(f"reading {data.name}"):
        table = as_table(
            data, schema=fitted.schema_, delimiter=delimiter, decimal=decimal, encoding=encoding
        )
    with progress(f"predicting {table.n_rows:,} rows"):
        columns = prediction_columns(fitted, table, probabilities=probabilities)
    if output is not None:
        write_columns(output, columns, force=force)
    if json:
        inline = {} if output is not None else {"predictions": columns}
        emit({"model": model, "output": output, "rows": table.n_rows, **inline})
    elif output is None:
        write_csv(sys.stdout, columns)
    else:
        rows = "row" if table.n_rows == 1 else "rows"
        say(f"Predicted {table.n_rows:,} {rows} into {output} ({', '.join(columns)})")


def prediction_columns(
    model: "Learner", table: "Table", *, probabilities: bool | None = None
) -> dict[str, list[Any]]:
    """Give the columns to write: the prediction and, for classes, their probabilities.

    Parameters
    ----------
    model
        A fitted learner.
    table
        The rows to predict.
    probabilities
        True insists on them, False leaves them out, None takes them where there are any.

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> list(prediction_columns(cw.learner("lda").fit(wine), wine.head(1)))
    ['prediction', 'probability:class_0', 'probability:class_1', 'probability:class_2']
    """
    columns: dict[str, list[Any]] = {"prediction": model.predict(table).tolist()}
    able = model.task_.is_classification and hasattr(model, "predict_proba")
    if probabilities and not able:
        what = "does not give them" if model.task_.is_classification else "predicts numbers"
        raise InputError(
            f"there are no probabilities: the model ({model.name}, {model.task_}) {what}",
            hint="leave out --probabilities.",
        )
    if able and probabilities is not False:
        for label, column in zip(model.classes_, model.predict_proba(table).T, strict=True):
            columns[f"probability:{label}"] = column.tolist()
    return columns
