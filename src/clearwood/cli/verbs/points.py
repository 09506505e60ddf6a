"""`clearwood export --to scorecard`: a model of two classes as points that are added up."""

from collections.abc import Sequence
from pathlib import Path

from clearwood._shared.errors import InputError
from clearwood.cli.support.console import quoted
from clearwood.cli.support.options import Reading

__all__ = ["export_points", "read_points"]


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
    from clearwood.cli.support.files import check_output
    from clearwood.cli.support.results import show
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
