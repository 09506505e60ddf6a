"""`clearwood explain boundaries` and `discriminants`: where a classifier changes its class."""

from clearwood.cli.support.options import Reading, pairs
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Explaining

__all__ = ["boundaries", "discriminants"]


@verb
def boundaries(
    column: str,
    other: str,
    *,
    at: list[str] | None = None,
    points: int = 80,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """The class that a model predicts as two columns of numbers vary and the others stay.

    Parameters
    ----------
    column
        A column of numbers.
    other
        Another column of numbers.
    at : COLUMN=VALUE
        Where to hold another column; by default at its median or most frequent level. Repeatable.
    points : N
        Values of each column.
    """
    import clearwood as cw

    held = pairs("--at", at or (), example="region=town")
    model, data = explaining.read(reading)
    result = cw.explanation.boundaries(model, data, [column, other], at=held, points=points)
    explaining.show(result, table=False)


@verb
def discriminants(*, explaining: Explaining, reading: Reading) -> None:
    """The coordinates in which the classes of a discriminant analysis lie furthest apart.

    For lda, and for rda with pooling=1.
    """
    import clearwood as cw

    model, data = explaining.read(reading)
    explaining.show(cw.explanation.discriminants(model, data), table=False)
