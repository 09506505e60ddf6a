"""`clearwood explain coefficients`: the table of coefficients of a linear model."""

from typing import Any

from clearwood._shared.choices import Gaps, StandardErrors
from clearwood.cli.support.options import Reading, Seed, pairs
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Confidence, Explaining

__all__ = ["coefficients"]


@verb
def coefficients(
    *,
    base: list[str] | None = None,
    errors: StandardErrors = "auto",
    confidence: Confidence = 0.9,
    split: float | None = None,
    gaps: Gaps = "fill",
    imputations: int = 20,
    seed: Seed = 0,
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
    split : SHARE
        For a model that chose its columns: choose them again from this share of the rows, and
        estimate their coefficients on the others, so that the intervals are valid.
    gaps
        Rows with gaps in the model's columns. fill: the coefficients of the model as it was fitted.
        complete: refitted to the rows without gaps. impute: refitted to tables whose gaps are
        filled by random draws (multiple imputation).
    imputations : N
        How many such tables.
    """
    import clearwood as cw

    levels = pairs("--base", base or (), example="region=town")
    model, data = explaining.read(reading, needs_target=True)
    how: Any = {"errors": errors, "confidence": confidence, "split": split, "seed": seed}
    how |= {"gaps": gaps, "imputations": imputations}
    result = cw.coefficients(model, data, base=levels, **how)
    explaining.show(result, table=False)  # its text is a table
