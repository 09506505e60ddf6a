"""`clearwood explain coefficients`: the table of coefficients of a linear model."""

from clearwood._shared.choices import StandardErrors
from clearwood.cli.support.options import Reading, pairs
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Confidence, Explaining

__all__ = ["coefficients"]


@verb
def coefficients(
    *,
    base: list[str] | None = None,
    errors: StandardErrors = "auto",
    confidence: Confidence = 0.9,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """The coefficients of a linear model in the units and levels of the table, with errors.

    DATA are the rows that the model was fitted to.

    Parameters
    ----------
    base : COLUMN=LEVEL
        The level that the others of a column are compared with; by default the most frequent one.
        Repeatable.
    errors
        The standard errors; auto: cluster for a table with a group, robust for one with weights,
        else those of the model.
    """
    import clearwood as cw

    levels = pairs("--base", base or (), example="region=town")
    model, data = explaining.read(reading)
    result = cw.coefficients(model, data, base=levels, errors=errors, confidence=confidence)
    explaining.show(result, table=False)  # its text is a table
