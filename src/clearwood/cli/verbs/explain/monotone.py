"""`clearwood explain monotone`: whether predictions rise or fall with columns, and a proof."""

from clearwood.cli.support.options import Reading, Seed, directions
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Explaining

__all__ = ["monotone"]


@verb
def monotone(
    *,
    columns: list[str] | None = None,
    rows: int = 200,
    seed: Seed = 0,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """Whether predictions rise or fall with features: proved, or counted on rows.

    Parameters
    ----------
    columns : COLUMN[=up|down]
        A feature to look at, with the direction that it should have; by default all that have an
        order. Repeatable.
    rows : N
        The number of rows that are predicted at values of each feature.
    """
    import clearwood as cw

    wanted = columns or []
    model, data = explaining.read(reading)
    named = [name for name in wanted if "=" not in name]
    ways = directions([text for text in wanted if "=" in text]) or {}
    result = cw.monotone(model, data, ways or named or None, n_rows=rows, seed=seed)
    if ways and named:
        more = cw.monotone(model, data, named, n_rows=rows, seed=seed)
        result = type(result)((*result.claims, *more.claims), result.model, result.outcome)
    explaining.show(result, table=False)
