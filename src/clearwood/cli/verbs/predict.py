"""`clearwood predict`: from a model file and a table to predictions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count
from clearwood.cli.support.console import print_json, print_text, prose
from clearwood.cli.support.options import Force, Jobs, Json, ModelFile, Reading
from clearwood.cli.support.parts import Workers, scan_table
from clearwood.cli.support.verb import verb

if TYPE_CHECKING:
    from clearwood.models import Extrapolation, TableModel
    from clearwood.table import Parts, Table

__all__ = ["predict"]


@verb
def predict(
    model: ModelFile,
    data: Path,
    *,
    path: Path | None = None,
    probabilities: bool | None = None,
    interval: float | None = None,
    interval_of: str | None = None,
    n_jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    workers: Workers,
    reading: Reading,
) -> None:
    """Predict new rows with a saved model: one line per row, in the order of the rows.

    MODEL may also be a table of factors, as `clearwood export --to factors` writes it (.csv): the
    predictions are then recomputed from that file and nothing else.

    Rows with values outside the training range are counted by column, and so are predictions below
    or above every target of the training rows: a warning on standard error names them.

    A model that was fitted with an exposure predicts the rate per unit of it. Where the new rows
    have the exposure, a second column, expected, is the rate times the exposure: zero where the
    exposure is zero. With --scan, all rows must have exposures above zero, or set --zero-exposure
    drop.

    Parameters
    ----------
    data
        New rows, with the features of the model: a file, or a folder, pattern or address
        (s3://...) of many.
    path : FILE
        A .csv or .parquet file; by default, CSV to standard output. With --scan, a folder:
        one Parquet file is written for each part.
    probabilities
        Write one column of probabilities per class; by default if the model predicts them.
    interval : SHARE
        Write two more columns, low and high: a new target lies between them with this probability,
        such as 0.9. For learners with a posterior, such as bayes.
    interval_of : row|mean
        What the interval is of: the target of a new row, or its mean. For two classes it is the
        probability of the second.
    """
    import clearwood as cw
    from clearwood._shared.frames import plain
    from clearwood._shared.progress import progress
    from clearwood.cli.support.files import check_output, write_columns, write_csv
    from clearwood.models import prediction_columns
    from clearwood.table import as_table

    in_parts = reading.scan
    _check_all_rows(reading, in_parts=in_parts)
    if not in_parts:
        workers.refuse()
    if path is not None and not in_parts:
        check_output(path, ".csv", ".parquet", ".pq", force=force, inputs=[model, data])
    if model.suffix.lower() == ".csv":
        _predict_factors(model, data, path, reading, force=force, as_json=json)
        return
    if interval_of is not None and interval is None:
        raise InputError("--interval-of needs --interval", hint="set --interval 0.9.")
    fitted = cw.load(model)
    if not isinstance(fitted, cw.models.TableModel):
        raise InputError(
            f"'{model}' holds a {type(fitted).__name__} without the names of its features",
            hint="predict with it in Python, after cw.load.",
        )
    if in_parts:
        if interval is not None:
            raise InputError(
                "intervals are not written for rows in parts",
                parameter="interval",
                value=interval,
                hint="leave out --interval, or predict one file.",
            )
        options = {name: value for name, value in vars(reading).items() if name != "scan"}
        parts: Any = scan_table(data, fitted.schema_, **options)
        options = {"probabilities": probabilities, "force": force, "n_jobs": n_jobs}
        _predict_parts(fitted, parts, path, workers, options, as_json=json)
        return
    with progress(f"reading {data.name}"):
        table = as_table(data, schema=fitted.schema_, exposure=True, **reading.in_memory)
    with progress(f"predicting {count(table.n_rows, 'row')}"):
        arrays = prediction_columns(fitted, table, probabilities=probabilities)
        if interval is not None:
            arrays |= _interval_columns(fitted, table, interval, interval_of)
    outside = _outside(fitted, table, arrays["prediction"])
    columns = {name: plain(values) for name, values in arrays.items()}
    if path is not None:
        write_columns(path, columns, force=force)
    outcome = fitted.schema_.outcome if fitted.schema_.exposure is not None else None
    if json:
        predicts = {} if outcome is None else {"predicts": outcome}
        inline = {} if path is not None else {"predictions": columns}
        head = {"model": model, "output": path, "rows": table.n_rows}
        print_json({**head, "outside": outside.to_json(), **predicts, **inline})
    elif path is None:
        write_csv(sys.stdout, columns)
    else:
        what = "of" if outcome is None else f"of {outcome} for"
        rows = count(table.n_rows, "row")
        print_text(prose(f"Wrote predictions {what} {rows} to {path} ({', '.join(columns)})"))


def _outside(model: "TableModel", table: "Table", predicted: Any) -> "Extrapolation":
    """Warn of rows and predictions outside the training range, and return how many there are."""
    from clearwood._shared.messages import tell
    from clearwood.models import outside_training

    outside = outside_training(model, table, predicted)
    for note in outside.notes():
        tell(note)
    return outside


def _check_all_rows(reading: Reading, *, in_parts: bool) -> None:
    if reading.zero_exposure != "error" and not in_parts:
        raise InputError(
            "predictions are written for all rows; where the exposure is zero, expected is zero",
            parameter="zero_exposure",
            value=reading.zero_exposure,
            hint="leave out --zero-exposure.",
        )
    if reading.draw_rows is not None:
        raise InputError(
            "predictions are written for all rows, in their order",
            parameter="draw_rows",
            value=reading.draw_rows,
            hint="leave out --draw-rows.",
        )


def _interval_columns(
    model: Any, table: "Table", interval: float, interval_of: str | None
) -> dict[str, Any]:
    """Return the ends of the intervals."""
    if not hasattr(model, "predict_interval"):
        raise InputError(
            f"there are no intervals: the model ({model.described}) has no posterior",
            hint="leave out --interval, or fit learner 'bayes'.",
        )
    if not 0 < interval < 1:
        raise InputError(
            f"--interval {interval:g}: it must lie between 0 and 1", hint="set --interval 0.9."
        )
    known = ("mean",) if model.task_.is_classification else ("row", "mean")
    if interval_of is not None and interval_of not in known:
        raise InputError(
            f"--interval-of {interval_of}: for the task {model.task_.value!r} it must be "
            f"{' or '.join(known)}"
        )
    found = model.predict_interval(table, confidence=interval, of=interval_of)
    return {"low": found.low, "high": found.high}


def _predict_parts(
    fitted: "TableModel",
    parts: "Parts",
    path: Path | None,
    workers: Workers,
    options: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Predict rows in parts, into a folder."""
    from clearwood.models import written_predictions

    if path is None:
        raise InputError(
            "predictions of rows in parts go to files",
            parameter="path",
            hint="name a folder for them: -o predictions/",
        )
    with workers.ready(path):
        result = written_predictions(fitted, parts, path, ledger=workers.ledger, **options)
    if as_json:
        print_json({"output": path, **result.to_json()})
    else:
        print_text(repr(result))


def _predict_factors(
    file: Path, data: Path, path: Path | None, reading: Reading, *, force: bool, as_json: bool
) -> None:
    """Predict from a table of factors."""
    import clearwood as cw
    from clearwood.cli.support.files import write_columns, write_csv
    from clearwood.table import as_table

    factors = cw.explanation.read_factors(file)
    table = as_table(data, schema=factors.schema, **reading.in_memory)
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
