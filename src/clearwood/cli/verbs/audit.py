"""`clearwood audit`: from a model file and rows to what the model does to groups of people."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError
from clearwood.cli.support.console import print_json, print_text, prose, text_without, width
from clearwood.cli.support.options import Force, Jobs, Json, ModelFile, Reading, Seed
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Confidence

if TYPE_CHECKING:
    from clearwood.fairness import Audit, GroupMeasures

__all__ = ["audit"]


@verb
def audit(
    model: ModelFile,
    data: Path,
    *,
    protected: list[str] | None = None,
    graph: Path | None = None,
    permitted: list[str] | None = None,
    decision: str | None = None,
    favourable: str | None = None,
    cut_points: list[str] | None = None,
    crossed: bool | None = None,
    reference: str = "largest",
    test: Path | None = None,
    conventions: list[str] | None = None,
    min_rows: int = 30,
    min_share: float = 0.02,
    n_refits: int = 0,
    confidence: Confidence = 0.9,
    fair: Path | None = None,
    files: list[Path] | None = None,
    title: str | None = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    reading: Reading,
) -> None:
    """Measure what a saved model predicts and decides for groups of people.

    Parameters
    ----------
    data
        The rows that the model was fitted to, with the protected columns.
    protected : COLUMN
        A column to audit; by default those protected when the model was fitted. Repeatable.
    graph : FILE
        A causal graph of the columns, as text: gender -> mileage; mileage -> accidents.
    permitted : COLUMN
        A column that may explain a difference; by default all that are not protected. Repeatable.
    decision : TEXT
        Which rows are selected: a threshold of the prediction ("<= 0.2"), a share ("top 20 %"), or
        "median".
    favourable : yes|no
        Whether people want to be selected.
    cut_points : NUMBER,... or COLUMN=NUMBER,...
        For protected columns of numbers, the values between bands: 25,65. Repeatable.
    crossed
        Whether pairs of protected columns are crossed, as they are by default.
    reference : GROUP
        The group that others are compared with: largest, best (the highest rate of the favourable
        decision), or a level.
    test : FILE
        Rows that the model was not fitted to: then all measures are of these.
    conventions : NAME
        A convention to compare with: four fifths, two standard deviations, Local Law 144, or none
        for none. Repeatable; all by default.
    min_rows : N
        Groups with fewer rows are listed and not judged.
    min_share : SHARE
        Groups with a smaller share of the rows are listed and not judged.
    n_refits : N
        Fit the model again to N samples of the rows, for intervals of what goes through columns.
    fair : FILE
        Write the fair model that averages over the protected columns to this file.
    files : FILE
        A file for the result, whose ending gives the format: .html for a page, .json for all parts,
        .csv or .parquet for the measures by group, .svg or .png for a picture. Repeatable.
    title : TEXT
        The page's title.
    """
    import clearwood as cw
    from clearwood.cli.support.files import RESULTS, check_output
    from clearwood.fairness import read_with

    outputs = files or []
    inputs = [one for one in (model, data, test, graph) if one is not None]
    for path in outputs:
        check_output(path, *RESULTS, force=force, inputs=inputs, needs_ending=True)
    if fair is not None:
        check_output(fair, ".cw", force=force, inputs=inputs)
    fitted = cw.load(model)
    schema = getattr(fitted, "schema_", None)
    if schema is None:
        raise InputError(
            f"'{model}' holds a {type(fitted).__name__} without the names of its features",
            hint="audit it in Python, after cw.load.",
        )
    names = protected or ()
    rows = read_with(data, schema, names, **reading.in_memory)
    tested = None if test is None else read_with(test, schema, names, **reading.in_memory)
    result = cw.audit(
        fitted,
        rows,
        protected=protected or None,
        graph=None if graph is None else cw.Graph(graph),
        permitted=permitted or None,
        decision=decision,
        favourable=favourable,
        cut_points=_cut_points(cut_points),
        crossed=crossed is not False,
        reference=reference,
        test=tested,
        conventions=_conventions(conventions),
        min_rows=min_rows,
        min_share=min_share,
        n_refits=n_refits,
        confidence=confidence,
        seed=seed,
        n_jobs=n_jobs,
    )
    if fair is not None:
        free = cw.fair(fitted, rows, protected=list(result.protected))
        cw.save(free, fair, force=force)
    for path in outputs:
        _write(path, result, title=title, force=force)
    made = [*outputs, *([] if fair is None else [fair])]
    if json:
        print_json({**result.to_json(), "files": [str(path) for path in made]})
        return
    _show(result)
    print_text(*(f"Wrote {path}" for path in made))


def _cut_points(texts: list[str] | None) -> Any:
    """Read values between bands, or such values by column.

    Examples
    --------
    >>> _cut_points(["25,65"]), _cut_points(["25", "65"]), _cut_points(["age=25,65", "income=5"])
    ([25.0, 65.0], [25.0, 65.0], {'age': [25.0, 65.0], 'income': [5.0]})
    """
    if not texts:
        return None
    by_column: dict[str, Any] = {}
    for typed in texts:
        name, _, values = typed.rpartition("=")
        try:
            by_column.setdefault(name, []).extend(float(value) for value in values.split(","))
        except ValueError:
            raise InputError(
                f"--cut-points {typed!r} is not a list of numbers",
                parameter="cut_points",
                value=typed,
                hint="write it like --cut-points 25,65 or --cut-points age=25,65",
            ) from None
    return by_column[""] if list(by_column) == [""] else by_column


def _conventions(names: list[str] | None) -> list[str] | None:
    """Return the conventions to compare with; an empty list for the word none."""
    return [] if names == ["none"] else names


def _write(path: Path, result: "Audit", *, title: str | None, force: bool) -> None:
    """Write a page, or the result as what the ending of the file's name stands for."""
    from clearwood.cli.support.console import written
    from clearwood.cli.support.files import write_result
    from clearwood.reporting import audit_page

    if path.suffix.lower() != ".html":
        write_result(path, result, force=force)
        return
    audit_page(result, title=title).save(path, force=force)
    written.append(path)


def _show(result: "Audit") -> None:
    from clearwood.cli.support.files import terminal_table

    print_text(prose(text_without(result, "notes")))
    print_text(*(prose(f"note: {note}") for note in result.notes))
    for groups in result.groups:
        table = terminal_table(_table(groups), width(), spare=("obs / exp", "rate", "rows"))
        output = f", {groups.output}" if len(result.outputs) > 1 else ""
        print_text("", prose(f"By {groups.title}{output}:"), table)


def _table(groups: "GroupMeasures") -> dict[str, list[Any]]:
    """Return the main measures of every group, with the interval of the one that compares them."""
    main = groups.main_measure
    columns: dict[str, Any] = {
        "group": groups.names,
        "rows": groups.rows,
        "mean": groups.values["mean_prediction"],
        "obs / exp": groups.values.get("observed_expected"),
        "rate": groups.values.get("selection_rate"),
        main.replace("_", " "): groups.values[main],
        "low": groups.low[main],
        "high": groups.high[main],
    }
    return {name: list(values) for name, values in columns.items() if values is not None}
