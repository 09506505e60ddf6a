"""`clearwood condense`, `certify` and `export`: one tree for an ensemble, proved and written.

`export` also writes a model as a table of factors.
"""

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from clearwood._shared.choices import Effort, Equal, Objective
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import size
from clearwood.cli.support.console import (
    commands,
    facts,
    print_json,
    print_text,
    prose,
    quoted,
    written,
)
from clearwood.cli.support.files import PICTURES
from clearwood.cli.support.options import Force, Jobs, Json, ModelFile, Reading, pairs
from clearwood.cli.support.verb import verb

if TYPE_CHECKING:
    from clearwood.condensing import Certification, Condensed
    from clearwood.explanation import Factors
    from clearwood.table import Table

__all__ = ["certify", "condense", "export", "export_points", "read_points"]


#: What a tree, or for "sql" and the last three a model, is written as.
Format = Literal[
    "sql",
    "python",
    "c",
    "dot",
    "svg",
    "onnx",
    "text",
    "rules",
    "factors",
    "scorecard",
    "nomogram",
]


_ENDINGS: dict[Format, tuple[str, ...]] = {
    "sql": (".sql", ".txt"),
    "python": (".py", ".txt"),
    "c": (".c", ".h", ".txt"),
    "dot": (".dot", ".gv", ".txt"),
    "svg": (".svg",),
    "onnx": (".onnx",),
    "text": (".txt",),
    "rules": (".txt",),
    "factors": (".csv", ".json", ".parquet", *PICTURES),
    "scorecard": (".csv", ".json", ".parquet"),
    "nomogram": PICTURES,
}


TreeFile = Annotated[
    Path, typer.Argument(metavar="TREE", help="A tree's file, as `clearwood condense` writes it.")
]


@verb
def condense(
    model: ModelFile,
    *,
    path: Path = Path("tree.json"),
    effort: Effort = "good",
    objective: Objective = "leaves",
    equal: Equal | None = None,
    tolerance: float | None = None,
    data: Path | None = None,
    leaves: Annotated[int | None, typer.Option(min=1)] = None,
    nodes: Annotated[int | None, typer.Option(min=1)] = None,
    time_limit: float | None = None,
    memory: float | None = None,
    n_jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    reading: Reading,
) -> None:
    """Build one tree that predicts exactly what an ensemble of trees predicts.

    Parameters
    ----------
    path : FILE
        The tree's file (JSON).
    effort
        fast composes the tree; good also reduces its size; optimal proves that it is the smallest.
    objective
        What is minimised.
    equal
        What must be equal: the predicted class, or the value it is derived from; by default the
        class of classifiers. Exports of a tree with equal values have the probability of each
        class as well as the label.

    If the exact tree is too large
    ------------------------------
    tolerance : NUMBER
        The largest difference allowed between values; it makes the tree smaller.
    data : DATA
        Rows to prioritise: under a limit, the regions with most of them come first.
    leaves : N
        Stop at this number of leaves.
    nodes : N
        Stop after composing this many nodes, which takes the same way on every machine.
    time_limit : SECONDS
        Stop after this time.
    memory : BYTES
        Use at most this memory.
    """
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.cli.support.files import check_output

    check_output(path, ".json", force=force, inputs=[model] if data is None else [model, data])
    fitted = cw.load(model)
    rows = None if data is None else reading.table_for(fitted, data)
    with progress(f"condensing {model.name}"):
        one = cw.condense(
            fitted,
            equal=equal,
            effort=effort,
            objective=objective,
            tolerance=tolerance,
            data=rows,
            leaves=leaves,
            nodes=nodes,
            time_limit=time_limit,
            memory=memory,
            n_jobs=n_jobs,
        )
    one.save(path, force=force)
    written.append(path)
    if json:
        print_json({"model": model, "output": path, "certificate": one.certificate.to_json()})
        return
    print_text(f"One tree for {one.shell.source}", "", facts(_summary(one, path)), "")
    tree, source = quoted(path), quoted(model)
    following = [(f"clearwood certify {tree} {source}", "prove it independently")]
    if one.fallback is None:
        following.append((f"clearwood export {tree} --to sql", "write it for a database"))
    commands("Next", following)


def _summary(one: "Condensed", path: Path) -> list[tuple[str, str]]:
    certificate = one.certificate
    summary = [
        ("leaves", f"{one.n_leaves:,}, at a depth of at most {one.depth}"),
        ("nodes", f"{one.n_nodes:,}, with equal branches stored once"),
        ("equal", certificate.statement),
        ("proof", certificate.proof),
    ]
    if certificate.stopped is not None:
        summary.append(("stopped", certificate.ended))
    file = f"{path} ({size(path.stat().st_size)})"
    if one.fallback is not None:
        file += ", with the ensemble, which predicts the rows that are not proved"
    return [*summary, ("file", file)]


@verb
def certify(
    tree: TreeFile,
    model: ModelFile,
    *,
    time_limit: float | None = None,
    memory: float | None = None,
    json: Json = False,
) -> None:
    """Prove independently that a tree equals a model; the exit code is 1 if it does not.

    Parameters
    ----------
    time_limit : SECONDS
        Give up after this time.
    memory : BYTES
        Give up above this memory.
    """
    import clearwood as cw
    from clearwood._shared.progress import progress

    with progress(f"checking {tree.name}"):
        certification = cw.certify(tree, model, time_limit=time_limit, memory=memory)
    if json:
        print_json({"tree": tree, "model": model, **certification.to_json()})
    else:
        _show(certification)
    if not certification:
        raise typer.Exit(1)


def _show(certification: "Certification") -> None:
    print_text(f"{'Proved' if certification else 'Not proved'}: {certification.reason}")
    if certification.counterexample is not None:
        print_text(
            "They differ at this row:",
            facts([(name, str(value)) for name, value in certification.counterexample.items()]),
            f"The tree predicts {certification.of_tree}, the ensemble {certification.of_ensemble}.",
        )
    if not certification.same_tree:
        print_text("The tree was changed after its certificate was written.")


@verb
def export(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="TREE | MODEL... DATA",
            help="A tree's file, as `clearwood condense` writes it; or model files and then rows, "
            "which say how much weight cells have. Models with a log link are multiplied.",
        ),
    ],
    *,
    to: Format,
    path: Path | None = None,
    table: str = "data",
    base: list[str] | None = None,
    max_cells: int | None = None,
    errors: str = "auto",
    points: str | None = None,
    cutoff: float | None = None,
    rebalance: bool = False,
    force: Force = False,
    json: Json = False,
    reading: Reading,
) -> None:
    """Write a tree as SQL, Python, C, a picture, ONNX or rules, or a model as a table of factors.

    Parameters
    ----------
    to
        The format to write; for models, factors, scorecard, sql or nomogram.
    path : FILE
        The file to write; by default, standard output.
    table : NAME
        For SQL: the name of the table to predict.

    Factors of a model
    ------------------
    base : COLUMN=VALUE
        The level, or a number, that the others of a column are compared with; by default the one of
        most weight. Repeatable.
    max_cells : N
        The most cells of a column of numbers.
    errors : KIND|N
        Standard errors: model, robust, cluster or none, or a number of refits to resampled rows,
        such as 200.
    points : SCORE,ODDS,DOUBLE
        For scorecard and SQL: the score at some odds to 1, and the points that double them. SQL
        then has the total of points next to the prediction. By default 600,50,20 for scorecard, and
        for SQL of a model that is a scorecard.
    cutoff : POINTS
        For a scorecard: the score from which rows are accepted.
    rebalance
        For several models: multiply the base value so that the product adds up to the observed
        total of DATA.
    """
    if to == "scorecard":
        unused = {"--base": bool(base), "--errors": errors != "auto", "--rebalance": rebalance}
    else:
        unused = {"--cutoff": cutoff is not None}
        unused["--points"] = points is not None and to != "sql"
    _refuse_unused(unused, to)
    if to == "scorecard":
        export_points(files, path, points, cutoff, max_cells, reading, force=force, as_json=json)
        return
    if len(files) > 1 or to in ("factors", "nomogram"):
        options = {
            "base": pairs("--base", base or (), example="region=town"),
            "max_cells": max_cells,
            "errors": int(errors) if errors.isdecimal() else errors,
            "points": read_points(points),
            "rebalance": rebalance,
        }
        _export_factors(files, to, path, table, options, reading, force=force, as_json=json)
        return
    if base or max_cells is not None or errors != "auto" or points is not None or rebalance:
        raise InputError("a tree has no factors", hint="name a model, and DATA after it.")
    tree = files[0]
    from clearwood.cli.support.files import check_output
    from clearwood.condensing import load
    from clearwood.files import atomic_write

    if path is not None:
        check_output(path, *_ENDINGS[to], force=force, inputs=[tree])
    if to == "onnx" and path is None:
        raise InputError("ONNX files are binary", hint="name a file: -o tree.onnx")
    content = _exported(load(tree), to, table)
    if path is not None:
        with atomic_write(path, force=force) as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        written.append(path)
    if json:
        inline = {} if path is not None else {"text": content}
        print_json({"tree": tree, "to": to, "output": path, **inline})
    elif path is None:
        sys.stdout.write(str(content) + "\n")
    else:
        print_text(f"Wrote {to} to {path}")


def _refuse_unused(given: Mapping[str, bool], to: Format) -> None:
    """Raise where an option was given that a format has no use for."""
    for option, is_given in given.items():
        if is_given:
            raise InputError(
                f"{option} has no meaning with --to {to}",
                parameter=option.removeprefix("--"),
                hint="leave it out."
                if to == "scorecard"
                else "leave it out, or write points: --to scorecard.",
            )


def _exported(one: "Condensed", to: Format, table: str) -> str | bytes:
    if to == "sql":
        return one.to_sql(table=table)
    if to == "onnx":
        return bytes(one.to_onnx().SerializeToString())
    if to == "rules":
        return "\n".join(str(rule) for rule in one.rules())
    text: str = getattr(one, f"to_{to}")()
    return text


def _export_factors(
    files: Sequence[Path],
    to: Format,
    path: Path | None,
    table: str,
    options: Mapping[str, Any],
    reading: Reading,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Write models as a table of factors, or the table as SQL."""
    import clearwood as cw
    from clearwood.cli.support.files import check_output, show, write_picture
    from clearwood.files import atomic_write

    *models, data = files
    if not models:
        raise InputError(
            "factors need rows, which say how much weight each cell has",
            hint=f"name them after the model: clearwood export {quoted(data)} DATA --to factors",
        )
    if to not in ("factors", "sql", "nomogram"):
        raise InputError(
            f"a model with DATA is written as factors, scorecard, sql or nomogram, not as {to}",
            parameter="to",
            value=to,
            hint="leave out DATA to write a tree.",
        )
    if to == "nomogram" and path is None:
        raise InputError("a nomogram is a picture", hint="name a file: -o nomogram.svg")
    if path is not None:
        check_output(path, *_ENDINGS[to], force=force, inputs=files)
    fitted = [cw.load(model) for model in models]
    result = _factors_of(fitted, data, to, options, reading)
    result = replace(result, sha256=" ".join(cw.inspect(model).sha256 for model in models))
    if to == "nomogram" and path is not None:
        write_picture(path, result.plot("nomogram"), force=force)
        show(result, [], force=force, as_json=as_json, table=False)
        if not as_json:
            print_text(f"Wrote {path}")
        return
    if to == "factors" and (path is None or path.suffix.lower() != ".csv"):
        show(result, [] if path is None else [path], force=force, as_json=as_json)
        return
    content = result.to_sql(table=table) if to == "sql" else result.to_csv()
    if path is not None:
        with atomic_write(path, force=force) as file:
            file.write(content.encode("utf-8"))
        written.append(path)
    if as_json:
        inline = {} if path is not None else {"text": content}
        named = {"model": models[0] if len(models) == 1 else models}
        print_json({**result.to_json(), **named, "to": to, "output": path, **inline})
    elif path is None:
        sys.stdout.write(content + "\n")
    else:
        print_text(prose(repr(result)), f"Wrote {to} to {path}")


def _factors_of(
    fitted: Sequence[Any], data: Path, to: Format, options: Mapping[str, Any], reading: Reading
) -> "Factors":
    """Make the table of factors; SQL of a scorecard has its points."""
    import clearwood as cw
    from clearwood.explanation import usual_points

    first = reading.table_for(fitted[0], data)
    if len(fitted) > 1:
        more = [_features(one, data, reading) for one in fitted[1:]]
        return cw.factors(fitted, [first, *more], **options)
    if to == "sql" and options["points"] is None:
        options = {**options, "points": usual_points(fitted[0])}
    return cw.factors(fitted[0], first, **options)


def _features(model: Any, data: Path, reading: Reading) -> "Table":
    """Read the features of a model, whatever the roles of other columns."""
    from clearwood._shared.errors import ClearwoodWarning
    from clearwood.table import as_table

    with warnings.catch_warnings():  # that a model does not have the columns of another
        warnings.simplefilter("ignore", ClearwoodWarning)
        return as_table(data, schema=model.schema_, **reading.in_memory)


def export_points(
    files: Sequence[Path],
    path: Path | None,
    points: str | None,
    cutoff: float | None,
    max_cells: int | None,
    reading: Reading,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Write a model as a table of points."""
    import clearwood as cw
    from clearwood.cli.support.files import check_output, show
    from clearwood.explanation import USUAL_POINTS

    if len(files) != 2:
        raise InputError(
            "points are of one model, and need rows, which are counted in each band",
            hint=f"write clearwood export {quoted(files[0])} DATA --to scorecard",
        )
    if path is not None:
        check_output(path, ".csv", ".json", ".parquet", force=force, inputs=files)
    model, data = files
    fitted = cw.load(model)
    table = reading.table_for(fitted, data)
    chosen = read_points(points) or USUAL_POINTS
    result = cw.factors(fitted, table, max_cells=max_cells, points=chosen, cutoff=cutoff).points
    show(result, [] if path is None else [path], force=force, as_json=as_json, table=False)


def read_points(text: str | None) -> tuple[float, float, float] | None:
    """Read score, odds and points that double the odds.

    Examples
    --------
    >>> read_points("600,50,20")
    (600.0, 50.0, 20.0)
    """
    if text is None:
        return None
    try:
        score, odds, double = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"--points {text!r} is not of the form SCORE,ODDS,DOUBLE",
            parameter="points",
            value=text,
            hint="write it like --points 600,50,20",
        ) from None
    return score, odds, double
