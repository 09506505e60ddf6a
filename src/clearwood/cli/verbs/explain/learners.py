"""`clearwood explain`: what certain learners hold, from coefficients to attention."""

from pathlib import Path
from typing import Any

from clearwood._shared.choices import Gaps, Resampled, Scale, StandardErrors
from clearwood.cli.support.files import RESULTS, show
from clearwood.cli.support.options import (
    Force,
    Jobs,
    Json,
    ModelFile,
    Reading,
    Seed,
    directions,
    pairs,
)
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Confidence, Explaining
from clearwood.cli.verbs.explain.predictions import OneRow

__all__ = [
    "attention",
    "boundaries",
    "coefficients",
    "discriminants",
    "gradients",
    "inclusion",
    "monotone",
    "path",
    "training",
]


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


@verb
def path(*, folds: int = 10, seed: Seed = 0, explaining: Explaining, reading: Reading) -> None:
    """How the coefficients of a linear model change with its penalty or number of columns.

    For ridge, lasso, elastic-net, lars, omp, pcr, pls, subset and stagewise. DATA are the rows that
    the model was fitted to.

    Parameters
    ----------
    folds
        Of the cross-validated error; 0 for none.
    """
    import clearwood as cw

    model, data = explaining.read(reading, needs_target=True)
    explaining.show(cw.explanation.path(model, data, folds=folds, seed=seed), table=False)


@verb
def inclusion(
    *,
    draws: int = 100,
    resampled: Resampled = "half",
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """How often each column is chosen when the rows are resampled.

    For subset, stagewise, lasso, elastic-net, lars, omp, logistic with an l1 penalty, and any model
    fitted with --select. DATA are the rows that the model was fitted to.

    Parameters
    ----------
    draws : N
        How often the rows are drawn.
    resampled
        half: each draw has half of the rows. bootstrap: as many rows as there are, with repeats.
    """
    import clearwood as cw

    model, data = explaining.read(reading, needs_target=True)
    result = cw.benchmarking.inclusion(
        model, data, draws=draws, resampled=resampled, seed=seed, n_jobs=n_jobs
    )
    explaining.show(result, table=False)  # its text is a table


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


@verb
def training(
    model: ModelFile, *, files: list[Path] | None = None, force: Force = False, json: Json = False
) -> None:
    """The losses of a network in each epoch of its training.

    Parameters
    ----------
    files : FILE
        A file for the result, whose ending gives the format: .json, .csv, .parquet, .svg, .png or
        .html. Repeatable.
    """
    import clearwood as cw
    from clearwood.cli.support.files import check_output

    for path in files or ():
        check_output(path, *RESULTS, force=force, inputs=[model], needs_ending=True)
    curve = cw.explanation.training_curve(cw.load(model))
    show(curve, files or (), force=force, as_json=json, table=False)


@verb
def gradients(
    *,
    row: OneRow = 0,
    baseline: int | None = None,
    output: str | None = None,
    scale: Scale | None = None,
    explaining: Explaining,
    reading: Reading,
) -> None:
    """A network's prediction less that of a baseline row, divided by integrated gradients.

    Parameters
    ----------
    baseline : N
        The row of DATA to compare with, counted from 0; by default the median of numbers and the
        most frequent value of others.
    output : NAME
        The class to explain; by default the second of two, the one predicted of more.
    scale
        The scale of the prediction; by default that of the sum inside the network.
    """
    import clearwood as cw

    model, data = explaining.read(reading)
    result = cw.explanation.integrated_gradients(
        model, data, row, baseline=baseline, output=output, scale=scale
    )
    explaining.show(result, table=False)


@verb
def attention(*, explaining: Explaining, reading: Reading) -> None:
    """How much a transformer's vectors of columns take from each other: not an explanation."""
    import clearwood as cw

    model, data = explaining.read(reading)
    explaining.show(cw.explanation.attention(model, data), table=False)
