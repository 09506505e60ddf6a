"""The scales of a prediction, what its numbers are, and the names of its outputs."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from clearwood._shared.errors import InputError, did_you_mean, unknown_choice

__all__ = ["Scale", "Unit", "checked_scale", "numbered_outputs", "output_position"]


class Scale(StrEnum):
    """The scale of a prediction.

    "margin" is before any link: log odds, the log of the mean, or the number itself where there is
    no link. "probability" is for classes, "response" for numbers on the scale of the target.
    """

    MARGIN = "margin"
    PROBABILITY = "probability"
    RESPONSE = "response"


class Unit(StrEnum):
    """What the numbers of a prediction are."""

    PREDICTION = "prediction"
    PROBABILITY = "probability"
    LOG_ODDS = "log odds"
    LOG_MEAN = "log of the mean"
    SCORE = "score"
    MARGIN = "margin"
    VOTES = "share of votes"
    SOFTMAX_SCORE = "score before softmax"
    SIGNED_ROOT_SCORE = "score before signed root"
    SOFTPLUS_SCORE = "score before softplus"
    LINK_SCORE = "score before the link"

    @property
    def is_before_link(self) -> bool:
        """Whether a link function turns these numbers into the prediction."""
        return self in _LINKED

    @property
    def is_probability(self) -> bool:
        """Whether the numbers are probabilities."""
        return self is Unit.PROBABILITY

    @classmethod
    def before(cls, link: str, *, temperature: float = 1.0) -> "Unit":
        """Return the unit of what a link function is applied to, or to it by a temperature.

        Examples
        --------
        >>> Unit.before("logistic"), Unit.before("identity")
        (<Unit.LOG_ODDS: 'log odds'>, <Unit.PREDICTION: 'prediction'>)
        >>> Unit.before("logistic", temperature=0.5)  # half of the log odds
        <Unit.LINK_SCORE: 'score before the link'>
        """
        return _BEFORE.get(link, cls.LINK_SCORE) if temperature == 1 else cls.LINK_SCORE


_BEFORE = {
    "identity": Unit.PREDICTION,
    "logistic": Unit.LOG_ODDS,
    "logit": Unit.LOG_ODDS,
    "softmax": Unit.SOFTMAX_SCORE,
    "mlogit": Unit.SOFTMAX_SCORE,
    "log": Unit.LOG_MEAN,
    "signed root": Unit.SIGNED_ROOT_SCORE,
    "softplus": Unit.SOFTPLUS_SCORE,
}
_LINKED = {
    Unit.LOG_ODDS,
    Unit.LOG_MEAN,
    Unit.SOFTMAX_SCORE,
    Unit.SIGNED_ROOT_SCORE,
    Unit.SOFTPLUS_SCORE,
    Unit.LINK_SCORE,
}


def checked_scale(scale: Any) -> Scale | None:
    """Check the name of a scale; None stays None.

    Examples
    --------
    >>> checked_scale("margin")
    <Scale.MARGIN: 'margin'>
    """
    if scale is None:
        return None
    if scale not in list(Scale):
        raise unknown_choice("scale", scale, [str(known) for known in Scale])
    return Scale(scale)


def numbered_outputs(n_outputs: int) -> tuple[str, ...]:
    """Name the outputs of a model whose outputs have no names."""
    return ("prediction",) if n_outputs == 1 else tuple(f"output {k}" for k in range(n_outputs))


def output_position(output: Any, names: Sequence[str]) -> int:
    """Find an output by its name; the error for a wrong name offers the nearest."""
    if str(output) not in names:
        raise InputError(
            f"the model has no output {output!r}",
            parameter="output",
            value=output,
            hint=did_you_mean(str(output), names),
        )
    return list(names).index(str(output))
