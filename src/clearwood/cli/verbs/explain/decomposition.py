"""`clearwood explain MODEL DATA`: a decomposition of the model, as tables in a folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from clearwood._shared.errors import InputError
from clearwood._shared.messages import tell
from clearwood._shared.numbers import count, percent
from clearwood.cli.support.console import facts, print_json, print_text, prose, width
from clearwood.cli.support.files import terminal_table
from clearwood.cli.support.options import Force, Jobs, Json, ModelFile, Reading
from clearwood.cli.support.verb import verb

if TYPE_CHECKING:
    from clearwood.explanation import Decomposition, Shapley

__all__ = ["decomposition"]

#: Rows of a table in parts that have Shapley values, unless it is said how many.
_ROWS_OF_PARTS = 1_000
#: Features that are listed on the terminal.
_SHOWN = 8


@verb
def decomposition(
    model: ModelFile,
    data: Path,
    *,
    folder: Path,
    max_order: Annotated[int, typer.Option(min=1)] = 2,
    rows: Annotated[int | None, typer.Option(min=0)] = None,
    value: Literal["interventional", "path_dependent"] = "interventional",
    interactions: bool = False,
    table_format: Literal["csv", "parquet"] = "csv",
    n_jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    reading: Reading,
) -> None:
    """Effects, interactions, importance and Shapley values, as tables in a folder.

    Exact over all rows of DATA for trees and additive models, sampled with standard errors for
    others. The folder receives importance, components, effects, interactions, shapley and terms as
    tables, and decomposition.json.

    Parameters
    ----------
    data
        The background, usually the training rows: all of them or, for models without an exact
        decomposition, a sample. The same rows are explained.
    folder : FOLDER
        The folder for the tables.
    max_order : N
        The most features in a component; the rest is reported as a remainder.
    rows : N
        Compute Shapley values of the first N rows; by default of all, or of the first 1,000 with
        --scan.
    value
        The value function of the Shapley values.
    interactions
        Write pairwise Shapley interactions too.
    table_format
        The format of the tables.
    """
    import clearwood as cw
    from clearwood.cli.support.files import write_columns, write_json
    from clearwood.explanation import readable_order
    from clearwood.models import equation, has_equation

    names = ["importance", "components", "effects", "interactions", "shapley", "terms"]
    names += ["shapley-interactions"] if interactions else []
    files = {name: folder / f"{name}.{table_format}" for name in names}
    _check_folder(folder, [*files.values(), folder / "decomposition.json"], force=force)
    fitted = cw.load(model)
    table = reading.table_for(fitted, data, all_rows=True)
    why = cw.explain(fitted, table, max_order=max_order, n_jobs=n_jobs)
    if rows is None and reading.scan:
        rows = _ROWS_OF_PARTS
        if table.n_rows > rows:
            tell(
                f"Shapley values are those of the first {rows:,} of {table.n_rows:,} rows; for all "
                "rows: clearwood explain shapley MODEL DATA --to FOLDER"
            )
    chosen = table if rows is None else table.head(rows)
    values = why.shapley(chosen, value=value, interactions=interactions)
    folder.mkdir(exist_ok=True)
    tables = {
        "importance": why.importance().to_frame("dict"),
        "components": why.to_frame("dict"),
        "effects": _effects(why.decomposition),
        "interactions": why.interactions().to_frame("dict"),
        "shapley": values.to_frame("dict"),
        "terms": why.terms().to_frame("dict"),
    }
    if interactions:
        tables["shapley-interactions"] = _pairs(values)
    for name, columns in tables.items():
        write_columns(files[name], columns, force=force)
    write_json(folder / "decomposition.json", why.to_json(), force=force)
    if json:
        listed = {name: str(path) for name, path in files.items()}
        print_json(
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
                "files": {**listed, "decomposition": str(folder / "decomposition.json")},
            }
        )
        return
    _summary(why.decomposition, values, folder, files)
    if readable_order(why) is not None:
        print_text("", prose(repr(why.terms())), terminal_table(tables["terms"], width()))
    if has_equation(fitted):
        print_text("", "The score of a row", prose(str(equation(fitted))))


def _check_folder(folder: Path, files: list[Path], *, force: bool) -> None:
    """Raise, before any work, if the tables could not be written afterwards."""
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
            check_output(file, file.suffix, force=force)
    else:
        require_folder(folder.parent)


def _effects(why: "Decomposition") -> dict[str, list[Any]]:
    """Return all main effects in one table, with values as text, since columns differ in kind."""
    names = ("column", "value", "output", "effect", "share")
    table: dict[str, list[Any]] = {name: [] for name in names}
    for effect in why.effects():
        values = effect.values.reshape(len(effect.shares), -1)
        for value, line, share in zip(effect.grid[0], values, effect.shares, strict=True):
            for name, moved in zip(why.outputs, line, strict=True):
                row = (effect.columns[0], _text(value), name, float(moved), float(share))
                for column, cell in zip(names, row, strict=True):
                    table[column].append(cell)
    return table


def _text(value: Any) -> str:
    """Write a value of any kind; nothing if it is missing."""
    is_missing = value is None or value != value  # NaN and NaT differ from themselves
    return "" if is_missing else str(value)


def _pairs(values: "Shapley") -> dict[str, list[Any]]:
    """Return the interaction of each pair once: the sum of its two halves."""
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
    order = np.argsort(-importance.total, kind="stable")[:_SHOWN]
    print_text(
        prose(repr(why)),
        facts(
            [
                ("Shapley values", f"of {count(len(values), 'row')}, {values.value}"),
                ("files", f"{', '.join(path.name for path in files.values())} in {folder}"),
            ]
        ),
        "",
        "Share of the variance of the components: main effect, and with interactions",
        facts(
            (why.columns[k], f"{percent(importance.main[k]):>7}  {percent(importance.total[k]):>7}")
            for k in order
        ),
    )
    if importance.remainder_share:
        print_text(f"  beyond order {why.order}: {percent(importance.remainder_share)}")
