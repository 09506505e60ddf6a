"""`clearwood evaluate`: from a model file and new rows to how well it predicts them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood._shared.errors import InputError
from clearwood.cli.support.console import print_json, print_text, prose, text_without, width
from clearwood.cli.support.options import Force, Jobs, Json, ModelFile, Reading, Seed, read_table
from clearwood.cli.support.parts import Workers
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Confidence

if TYPE_CHECKING:
    from clearwood.evaluation import Evaluation, Other
    from clearwood.table import Parts, Table

__all__ = ["evaluate"]


@verb
def evaluate(
    model: ModelFile,
    data: Path,
    *,
    training: Path | None = None,
    against: str | None = None,
    rescale: bool = False,
    by: list[str] | None = None,
    threshold: float = 0.5,
    confidence: Confidence = 0.9,
    sample: Annotated[int, typer.Option(min=5)] = 200_000,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    files: list[Path] | None = None,
    title: str | None = None,
    force: Force = False,
    json: Json = False,
    workers: Workers,
    reading: Reading,
) -> None:
    """Evaluate a saved model on new rows: measures with intervals, lift, calibration, by column.

    Parameters
    ----------
    data
        New rows, with the features and the target of the model: a file, or a folder, pattern or
        address (s3://...) of many.
    training : FILE
        The rows that the model was fitted to, to state how far the new ones differ from them.
    against : COLUMN|MODEL
        Another prediction of the same quantity for a double lift: a column, such as the current
        premium (per unit of exposure, where there is one), or another model file.
    rescale
        Give both predictions of the double lift the observed mean: numbers by a factor,
        probabilities by a constant on their log-odds.
    by : COLUMN
        Print observed against expected by this column, or by a pair of columns: A,B. Repeatable.
    threshold : P
        For two classes: the probability above which the second is predicted.
    sample : N
        Of rows in parts, how many to draw for rankings, calibration, lift and columns; losses and
        what follows from means are exact over all rows.
    files : FILE
        A file for the result, whose ending gives the format: .html for a page, .json for all parts,
        .csv or .parquet for the measures, .svg or .png for the lift. Repeatable.
    title : TEXT
        The page's title.
    """
    import clearwood as cw
    from clearwood.cli.support.files import RESULTS, check_output

    outputs = files or []
    inputs = [one for one in (model, data, training) if one is not None]
    for path in outputs:
        check_output(path, *RESULTS, force=force, inputs=inputs, needs_ending=True)
    fitted = cw.load(model)
    if not isinstance(fitted, cw.models.TableModel):
        raise InputError(
            f"'{model}' holds a {type(fitted).__name__} without the names of its features",
            hint="evaluate it in Python, after cw.load.",
        )
    if not reading.scan:
        workers.refuse()
    rows = _rows(data, fitted, against, reading)
    trained = None if training is None else reading.table_for(fitted, training)
    other: Any = against
    if against is not None and against not in rows.names and Path(against).is_file():
        other = _other(Path(against), fitted, data, rows, reading)
    with workers.ready():
        result = cw.evaluate(
            fitted,
            rows,
            training=trained,
            against=other,
            rescale=rescale,
            threshold=threshold,
            confidence=confidence,
            sample=sample,
            seed=seed,
            ledger=workers.ledger,
            n_jobs=n_jobs,
        )
    bands = [result.by(*text.split(",")) for text in by or ()]
    for path in outputs:
        _write(path, result, title=title, force=force)
    if json:
        document = {**result.to_json(), "by": [one.to_json() for one in bands]}
        print_json({**document, "files": [str(path) for path in outputs]})
        return
    _show(result, bands)
    print_text(*(f"Wrote {path}" for path in outputs))


def _rows(data: Path, fitted: Any, against: str | None, reading: Reading) -> "Table | Parts":
    """Read the new rows, with the column that predictions are compared with, if it is one."""
    keep = () if against is None else (against,)
    return read_table(data, schema=fitted.schema_, keep=keep, constant=True, **vars(reading))


def _other(
    path: Path, fitted: Any, data: Path, rows: "Table | Parts", reading: Reading
) -> "Other | Any":
    """Return another model, or its predictions: it may use columns of the file that `rows` lack."""
    import clearwood as cw
    from clearwood.evaluation import Other, other_of
    from clearwood.table import Parts

    other = cw.load(path)
    if isinstance(rows, Parts) or not isinstance(other, cw.models.TableModel):
        return path
    theirs = read_table(data, schema=other.schema_, constant=True, **vars(reading))
    classes = getattr(fitted, "classes_", None)
    labels = [] if classes is None else [str(label) for label in classes]
    named = other_of(other, rows, labels, own=fitted.name, source=theirs)
    return Other(path.name, named.predicted)


def _write(path: Path, result: "Evaluation", *, title: str | None, force: bool) -> None:
    """Write a page, or the result as what the ending of the file's name stands for."""
    from clearwood.cli.support.console import written
    from clearwood.cli.support.files import write_result
    from clearwood.reporting import evaluation_page

    if path.suffix.lower() != ".html":
        write_result(path, result, force=force)
        return
    evaluation_page(result, title=title).save(path, force=force)
    written.append(path)


def _show(result: "Evaluation", bands: list[Any]) -> None:
    from clearwood.cli.support.files import terminal_table

    print_text(prose(text_without(result, "notes")))
    print_text(*(prose(f"note: {note}") for note in result.notes))
    parts = [result.lift()] if result.has_numbers else []
    if result.against is not None:
        parts.append(result.lift(against=result.against))
    for part in (*parts, *bands):
        columns = part.to_frame("dict")
        if part in bands:
            ends = f"{part.compared}_"
            columns = {name.removeprefix(ends): values for name, values in columns.items()}
        table = terminal_table(columns, width(), spare=("loss", "weight", "misses"))
        print_text("", prose(repr(part)), table)
