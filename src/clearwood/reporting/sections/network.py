"""Inside a neural network: its training, single rows by gradients, and attention."""

from clearwood._shared.numbers import IN_TABLES, count
from clearwood.explanation import IntegratedGradients, TrainingCurve
from clearwood.reporting.collect.findings import Findings, Inside, Step
from clearwood.reporting.page.blocks import Block, Choice, Note, Prose, Section
from clearwood.reporting.page.figures import chart
from clearwood.reporting.sections.words import number, sentence

__all__ = ["TITLE", "section"]

TITLE = "Inside the network"

#: What sums of numbers in double precision are off by, as a share of them.
_ROUNDING = 1e-12


def section(findings: Findings) -> Section | None:
    """Write the section; none for models that are no neural networks of Clearwood."""
    inside = findings.inside
    if inside is None:
        why = findings.failures.get(Step.NETWORK)
        if why is None:
            return None
        return Section("network", TITLE, (Note("It could not be computed", sentence(why)),))
    blocks = [*_training(inside.training), *_gradients(inside), *_attention(inside)]
    return Section("network", TITLE, tuple(blocks))


def _training(curve: TrainingCurve) -> list[Block]:
    epochs = len(curve.training)
    if curve.members > 1:
        text = (
            f"The prediction is the mean score of {curve.members} networks that differ in their "
            f"random start. They have {count(curve.n_weights, 'weight')} in all, learned in "
            f"{count(epochs, 'epoch')}: "
        )
    else:
        text = (
            f"The network has {count(curve.n_weights, 'weight')}, learned in "
            f"{count(epochs, 'epoch')}: "
        )
    text += (
        "passes over the training rows, in small batches. The weights of epoch "
        f"{curve.best} are kept. "
    )
    if curve.n_held_out:
        text += (
            f"{count(curve.n_held_out, 'row')} of the training rows were held out to choose the "
            "epoch. Where their loss rises while that of the training rows still falls, the "
            "network overfits; where both still fall at the end, more epochs would help. As these "
            "rows chose the epoch, their loss is smaller than that of new rows."
        )
    else:
        text += (
            "No rows were held out, so this curve does not show overfitting; the section on "
            "performance does, where other rows were predicted."
        )
    return [
        Prose((text,), lead=True),
        chart("training", curve.plot(), title=f"Loss over the epochs ({curve.loss})"),
    ]


def _gradients(inside: Inside) -> list[Block]:
    if not inside.gradients:
        return []
    first = next(iter(inside.gradients.values()))
    text = (
        "Integrated gradients divide the difference between the prediction of a row and that of a "
        "baseline row, here medians and most frequent values, among the columns: each gets the "
        "mean gradient on the straight line between the two rows, times the way that the column "
        f"goes. The values add to the {first.unit}. They depend on the baseline, and on a line "
        "through rows that may not exist; Shapley values, under Individual predictions, compare "
        "with all rows of the page instead."
    )
    options = [
        (f"Row {row}, the {name} prediction on this page", _one(name, result))
        for (name, result), row in zip(inside.gradients.items(), inside.rows, strict=True)
    ]
    return [Prose((text,)), Choice("gradients", "Row", tuple(options))]


def _one(name: str, result: IntegratedGradients) -> tuple[Block, ...]:
    difference = result.prediction - result.baseline
    output = "" if result.output == "prediction" else f" for {result.output}"
    title = (
        f"From {number(result.baseline)} at the baseline to {number(result.prediction)}{output} "
        f"({result.unit})"
    )
    check = (
        f"Completeness: the values sum to {number(float(result.values.sum()), IN_TABLES)}, and the "
        f"predictions differ by {number(difference, IN_TABLES)}. "
    )
    if abs(result.gap) <= _ROUNDING * max(abs(result.prediction), abs(result.baseline)):
        check += "Nothing is missing but for rounding"
    else:
        check += f"{number(abs(result.gap), 2)} is missing"
    check += f", with gradients at {count(result.n_points, 'point')} of the line."
    return (chart(f"gradients-{name}", result.plot(), title=title), Prose((check,)))


def _attention(inside: Inside) -> list[Block]:
    result = inside.attention
    if result is None:
        return []
    text = (
        "The weights show how the vectors of columns are mixed inside the network, not what a "
        "column does to a prediction. Other weights can give the same predictions (Jain and "
        "Wallace 2019). What predictions depend on is shown by effects, Shapley values and "
        "integrated gradients."
    )
    return [
        Note("Attention is not an explanation", text, tone="caution"),
        chart("attention", result.plot(), title="Attention between columns"),
    ]
