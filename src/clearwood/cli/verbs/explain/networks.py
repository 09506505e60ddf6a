"""`clearwood explain training`, `gradients`, `attention`: what only neural networks have."""

from pathlib import Path

from clearwood._shared.choices import Scale
from clearwood.cli.support.options import Force, Json, ModelFile, Reading
from clearwood.cli.support.results import RESULTS, show
from clearwood.cli.support.verb import verb
from clearwood.cli.verbs.explain.options import Explaining
from clearwood.cli.verbs.explain.predictions import OneRow

__all__ = ["attention", "gradients", "training"]


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
    """How much a transformer's vector of each column takes from the others: no explanation."""
    import clearwood as cw

    model, data = explaining.read(reading)
    explaining.show(cw.explanation.attention(model, data), table=False)
