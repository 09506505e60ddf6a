"""`clearwood explain MODEL DATA`: all that a decomposition says, as tables in a folder."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood._shared.errors import InputError
from clearwood._shared.numbers import IN_TABLES, number
from clearwood.cli.support.console import emit, facts, prose, say
from clearwood.cli.support.inputs import model_and_table
from clearwood.cli.support.options import Decimal, Delimiter, Encoding, Force, Jobs, Json, ModelFile

if TYPE_CHECKING:
    from clearwood.explanation import Decomposition, Shapley

__all__ = ["decomposition"]


class Format(StrEnum):
    """What tables are written as."""

    CSV = "csv"
    PARQUET = "parquet"


class Value(StrEnum):
    """The value functions of Shapley values."""

    INTERVENTIONAL = "interventional"
    PATH_DEPENDENT = "path_dependent"


def decomposition(
    *,
    model: ModelFile,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="The background, usually the training rows: all of them are used, of models that "
            "have to be asked a sample. The same rows are explained.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the tables go.")
    ],
    max_order: Annotated[
        int,
        typer.Option(
            "--max-order",
            metavar="N",
            min=1,
            help="The most columns a component has; what lies beyond is measured as a remainder.",
        ),
    ] = 2,
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows",
            metavar="N",
            min=0,
            help="How many rows get Shapley values, the first ones; all without it.",
            show_default=False,
        ),
    ] = None,
    value: Annotated[
        Value, typer.Option("--value", help="The value function of the Shapley values.")
    ] = Value.INTERVENTIONAL,
    interactions: Annotated[
        bool, typer.Option("--interactions", help="Write pairwise Shapley interactions too.")
    ] = False,
    table_format: Annotated[
        Format, typer.Option("--format", help="What the tables are written as.")
    ] = Format.CSV,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """Effects, interactions, importance and Shapley values, as tables in a folder.

    Exact over all rows of DATA for trees and sums, sampled with standard errors for other models.
    The folder gets importance, components, effects, interactions and shapley as tables, and
    decomposition.json.
    """
    import clearwood as cw
    from clearwood.cli.support.files import write_columns, write_json

    names = ["importance", "components", "effects", "interactions", "shapley"]
    names += ["shapley-interactions"] if interactions else []
    files = {name: output / f"{name}.{table_format.value}" for name in names}
    _check_folder(output, [*files.values(), output / "decomposition.json"], force=force)
    fitted, table = model_and_table(
        model, data, delimiter=delimiter, decimal=decimal, encoding=encoding
    )
    why = cw.explain(fitted, table, max_order=max_order, n_jobs=jobs)
    chosen = table if rows is None else table.head(rows)
    if value is Value.INTERVENTIONAL:
        values = why.shapley(chosen, interactions=interactions)
    else:
        values = why.shapley(chosen, value="path_dependent", interactions=interactions)
    output.mkdir(exist_ok=True)
    tables = {
        "importance": why.importance().to_frame("dict"),
        "components": why.to_frame("dict"),
        "effects": _effects(why.decomposition),
        "interactions": why.interactions().to_frame("dict"),
        "shapley": values.to_frame("dict"),
    }
    if interactions:
        tables["shapley-interactions"] = _pairs(values)
    for name, columns in tables.items():
        write_columns(files[name], columns, force=force)
    write_json(output / "decomposition.json", why.to_json(), force=force)
    if json:
        listed = {name: str(path) for name, path in files.items()}
        emit(
            {
                "model": model,
                "value": why.value,
                "shapley_value": values.value,
                "background_rows": why.background.n_rows,
                "explained_rows": len(values),
                "order": why.order,
                "baseline": why.baseline,
                "unit": why.about.unit,
                "remainder_share": why.importance().remainder_share,
                "files": {**listed, "decomposition": str(output / "decomposition.json")},
            }
        )
        return
    _summary(why.decomposition, values, output, files)


def _check_folder(folder: Path, files: list[Path], *, force: bool) -> None:
    """Raise, before any work, where the tables could not be written afterwards."""
    from clearwood.cli.support.files import (
        check_output,
        is_parquet,
        require_folder,
        require_parquet,
    )

    if folder.exists() and not folder.is_dir():
        raise InputError(f"'{folder}' is a file", hint="choose a folder with -o.")
    if any(is_parquet(file) for file in files):
        require_parquet()
    if folder.is_dir():
        for file in files:
            check_output(file, force=force)
    else:
        require_folder(folder.parent)


def _effects(why: "Decomposition") -> dict[str, list[Any]]:
    """Give all main effects in one table, values as text since columns differ in kind."""
    found: dict[str, list[Any]] = {
        "column": [],
        "value": [],
        "output": [],
        "effect": [],
        "share": [],
    }
    for effect in why.effects():
        values = effect.values.reshape(len(effect.shares), -1)
        for value, line, share in zip(effect.grid[0], values, effect.shares, strict=True):
            for name, moved in zip(why.outputs, line, strict=True):
                found["column"].append(effect.columns[0])
                found["value"].append(_text(value))
                found["output"].append(name)
                found["effect"].append(float(moved))
                found["share"].append(float(share))
    return found


def _text(value: Any) -> str:
    """Write a value of any kind; nothing where it is missing."""
    return (
        "" if value is None or value != value else str(value)
    )  # NaN and NaT differ from themselves


def _pairs(values: "Shapley") -> dict[str, list[Any]]:
    """Give the interaction of each pair once: the sum of its two halves."""
    import numpy as np

    assert values.interactions is not None
    n_rows, n_columns = len(values), len(values.columns)
    matrix = values.interactions.reshape(n_rows, n_columns, n_columns, len(values.outputs))
    first, second = np.triu_indices(n_columns, 1)
    picked = 2 * matrix[:, first, second]
    row, pair, output = np.indices(picked.shape).reshape(3, -1)
    return {
        "row": values.rows[row].tolist(),
        "column": [values.columns[first[k]] for k in pair],
        "other": [values.columns[second[k]] for k in pair],
        "output": [values.outputs[k] for k in output],
        "interaction": picked.ravel().tolist(),
    }


def _summary(why: "Decomposition", values: "Shapley", folder: Path, files: dict[str, Path]) -> None:
    import numpy as np

    importance = why.importance()
    order = np.argsort(-importance.total, kind="stable")[:8]
    baseline = ", ".join(number(float(b), IN_TABLES) for b in np.reshape(why.baseline, -1))
    say(prose(repr(why).splitlines()[0]))
    say(
        facts(
            [
                ("value function", f"{why.value}, {why.background}"),
                ("baseline", f"{baseline} ({why.about.unit})"),
                ("Shapley values", f"{len(values):,} rows, {values.value}"),
                ("files", f"{', '.join(path.name for path in files.values())} in {folder}"),
            ]
        )
    )
    say("")
    say("Share of the components' variance: main effect, and with interactions")
    say(
        facts(
            (why.columns[k], f"{importance.main[k]:6.1%}  {importance.total[k]:6.1%}")
            for k in order
        )
    )
    if importance.remainder_share:
        say(f"  beyond order {why.order}: {importance.remainder_share:.1%}")
    for note in why.notes:
        say(prose(f"note: {note}"))
