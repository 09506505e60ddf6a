"""`clearwood predict`: from a model file and a table to predictions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count
from clearwood.cli.support.console import print_json, print_text
from clearwood.cli.support.options import Force, Json, ModelFile, Reading
from clearwood.cli.support.verb import verb

if TYPE_CHECKING:
    from clearwood.models import Learner
    from clearwood.table import Table

__all__ = ["predict", "prediction_columns"]


@verb
def predict(
    model: ModelFile,
    data: Path,
    *,
    path: Path | None = None,
    probabilities: bool | None = None,
    force: Force = False,
    json: Json = False,
    reading: Reading,
) -> None:
    """Predict new rows with a saved model: one line per row, in the order of the rows.

    MODEL may also be a table of factors, as `clearwood export --to factors` writes it (.csv): the
    predictions are then recomputed from that file and nothing else.

    A model that was fitted with an exposure predicts the rate per unit of it. Where the new rows
    have the exposure, a second column, expected, is the rate times the exposure.

    Parameters
    ----------
    data
        New rows, with the features of the model.
    path : FILE
        A .csv or .parquet file; by default, CSV to standard output.
    probabilities
        Write one column of probabilities per class; by default if the model predicts them.
    """
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.cli.support.files import check_output, write_columns, write_csv
    from clearwood.table import as_table

    if path is not None:
        check_output(path, ".csv", ".parquet", ".pq", force=force, inputs=[model, data])
    if model.suffix.lower() == ".csv":
        _predict_factors(model, data, path, reading, force=force, as_json=json)
        return
    fitted = cw.load(model)
    if not isinstance(fitted, cw.models.TableModel):
        raise InputError(
            f"'{model}' holds a {type(fitted).__name__} without the names of its features",
            hint="predict with it in Python, after cw.load.",
        )
    with progress(f"reading {data.name}"):
        table = as_table(data, schema=fitted.schema_, exposure=True, **vars(reading))
    with progress(f"predicting {count(table.n_rows, 'row')}"):
        columns = prediction_columns(fitted, table, probabilities=probabilities)
    if path is not None:
        write_columns(path, columns, force=force)
    outcome = fitted.schema_.outcome if fitted.schema_.exposure is not None else None
    if json:
        predicts = {} if outcome is None else {"predicts": outcome}
        inline = {} if path is not None else {"predictions": columns}
        print_json({"model": model, "output": path, "rows": table.n_rows, **predicts, **inline})
    elif path is None:
        write_csv(sys.stdout, columns)
    else:
        what = "of" if outcome is None else f"of {outcome} for"
        rows = count(table.n_rows, "row")
        print_text(f"Wrote predictions {what} {rows} to {path} ({', '.join(columns)})")


def _predict_factors(
    file: Path, data: Path, path: Path | None, reading: Reading, *, force: bool, as_json: bool
) -> None:
    """Predict from a table of factors."""
    import clearwood as cw
    from clearwood.cli.support.files import write_columns, write_csv
    from clearwood.table import as_table

    factors = cw.read_factors(file)
    table = as_table(data, schema=factors.schema, **vars(reading))
    columns = {"prediction": factors.predict(table).tolist()}
    if path is not None:
        write_columns(path, columns, force=force)
    if as_json:
        inline = {} if path is not None else {"predictions": columns}
        head = {"factors": file, "sha256": factors.sha256, "predicts": factors.outcome}
        print_json({**head, "output": path, "rows": table.n_rows, **inline})
    elif path is None:
        write_csv(sys.stdout, columns)
    else:
        rows = count(table.n_rows, "row")
        print_text(f"Wrote predictions of {factors.outcome} for {rows} to {path}")


def prediction_columns(
    model: "Learner", table: "Table", *, probabilities: bool | None = None
) -> dict[str, list[Any]]:
    """Return the columns to write: the prediction and, for classes, their probabilities.

    With an exposure in the table, the number that is expected is a further column.

    Parameters
    ----------
    model
        A fitted learner.
    table
        The rows to predict.
    probabilities
        True requires them, False leaves them out, None writes them if the model predicts them.

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> list(prediction_columns(cw.learner("lda").fit(wine), wine.head(1)))
    ['prediction', 'probability:class_0', 'probability:class_1', 'probability:class_2']
    """
    from clearwood._shared.frames import plain

    columns: dict[str, list[Any]] = {"prediction": model.predict(table).tolist()}
    if table.exposures is not None:
        expected = table.exposures * columns["prediction"]
        columns["expected"] = plain(expected)
    has_probabilities = model.task_.is_classification and hasattr(model, "predict_proba")
    if probabilities and not has_probabilities:
        what = "classes only" if model.task_.is_classification else "numbers"
        raise InputError(
            f"there are no probabilities: the model ({model.name}, {model.task_}) predicts {what}",
            hint="leave out --probabilities.",
        )
    if has_probabilities and probabilities is not False:
        for label, column in zip(model.classes_, model.predict_proba(table).T, strict=True):
            columns[f"probability:{label}"] = column.tolist()
    return columns
