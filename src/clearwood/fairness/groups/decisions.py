"""Scores turned into decisions: by a threshold, by a share of the rows, or at the median."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError, Option, bad_value, did_you_mean, words
from clearwood._shared.numbers import number, percent
from clearwood._shared.results import Result
from clearwood._shared.weights import quantiles

__all__ = ["Decision", "read_decision"]

_THRESHOLD = re.compile(r"(?P<label>.*?)\s*(?P<sign><=|>=|<|>)\s*(?P<at>[^<>=]+)", re.DOTALL)
_SHARE = re.compile(r"(?:(?P<label>.*?)\s+)?(?P<side>top|bottom)\s+(?P<at>[\d.,]+)\s*%", re.DOTALL)
_MEDIAN = re.compile(r"(?:(?P<label>.*?)\s+)?(?:(?P<side>above|below)\s+)?median", re.DOTALL)
_FORMS = 'such as "<= 0.2", "top 20 %" or "median"'


@dataclass(frozen=True)
class Decision(Result):
    """Which rows are selected by their score, and whether people want to be.

    Parameters
    ----------
    text
        As it was written.
    kind
        "threshold", "share" or "median".
    side
        Whether "high" or "low" scores are selected.
    is_strict
        Whether a score at the threshold is not selected.
    at
        The threshold, or the share; NaN for the median.
    is_favourable
        Whether being selected is what people want.
    label
        The class whose probability is the score; None for the score that there is.

    Examples
    --------
    >>> decision = read_decision("<= 0.2", "yes")
    >>> decision.selected(np.array([0.1, 0.2, 0.3]), np.ones(3))
    array([ True,  True, False])
    >>> str(read_decision("top 20 %", "no"))
    'not among the highest 20 % of predictions'
    """

    text: str
    kind: Literal["threshold", "share", "median"]
    side: Literal["high", "low"]
    is_strict: bool
    at: float
    is_favourable: bool
    label: str | None = None

    def selected(self, scores: Floats, weights: Floats) -> Bools:
        """Return which rows are selected; equal scores have equal decisions."""
        at = self.threshold(scores, weights)
        if self.kind == "share":
            # one step of rounding must not deselect the row that the threshold is
            return np.asarray(scores >= at if self.side == "high" else scores <= at)
        if self.side == "high":
            return np.asarray(scores > at if self.is_strict else scores >= at)
        return np.asarray(scores < at if self.is_strict else scores <= at)

    def favours(self, scores: Floats, weights: Floats) -> Bools:
        """Return which rows have the decision that people want."""
        selected = self.selected(scores, weights)
        return selected if self.is_favourable else ~selected

    def threshold(self, scores: Floats, weights: Floats) -> float:
        """Return the score at which the decision changes."""
        if self.kind == "threshold":
            return self.at
        if self.kind == "median":
            return float(quantiles(scores, [0.5], weights)[0])
        order = np.argsort(-scores if self.side == "high" else scores, kind="stable")
        up_to = np.cumsum(weights[order]) / weights.sum()
        place = int(np.searchsorted(up_to, self.at * (1 - 1e-12)))
        return float(scores[order[min(place, len(scores) - 1)]])

    def __str__(self) -> str:
        score = "predictions" if self.label is None else f"probabilities of {self.label!r}"
        if self.kind == "share":
            edge = "highest" if self.side == "high" else "lowest"
            words_of = f"among the {edge} {percent(self.at)} of {score}"
            return words_of if self.is_favourable else f"not {words_of}"
        score = "prediction" if self.label is None else f"probability of {self.label!r}"
        sign = {"high": (">=", ">"), "low": ("<=", "<")}[self.side][self.is_strict]
        if not self.is_favourable:
            sign = {">=": "<", ">": "<=", "<=": ">", "<": ">="}[sign]
        at = "the median" if self.kind == "median" else number(self.at)
        return f"{score} {sign} {at}"


def read_decision(decision: Any, favourable: Any, classes: Sequence[str] = ()) -> Decision | None:
    """Read a decision and who wants it; None without a decision.

    Parameters
    ----------
    decision
        A threshold ("<= 0.2", "> 0.5"), a share ("top 20 %", "bottom 5 %"), or "median" for scores
        above the median. With several classes, the class whose probability decides comes first:
        "approved >= 0.5".
    favourable
        Whether people want to be selected: True or "yes", False or "no".
    classes
        The classes of the model.

    Examples
    --------
    >>> read_decision("median", True).side
    'high'
    """
    if decision is None:
        if favourable is not None:
            raise InputError(
                words(Option("favourable", favourable), " needs a decision"),
                parameter="favourable",
                value=favourable,
                hint=words("write which rows are selected, such as ", Option("decision", "<= 0.2")),
            )
        return None
    wanted = _wanted(favourable)
    written = str(decision).strip()
    for pattern, read in ((_SHARE, _share), (_MEDIAN, _median), (_THRESHOLD, _threshold)):
        match = pattern.fullmatch(written)
        if match is not None:
            label = _label(match["label"], decision, classes)
            return read(match, written, wanted, label)
    raise bad_value("decision", decision, f"it must be a threshold, a share or a median, {_FORMS}")


def _wanted(favourable: Any) -> bool:
    """Return whether people want to be selected."""
    if favourable is None:
        raise InputError(
            words(Option("decision"), " needs ", Option("favourable")),
            parameter="favourable",
            hint="state whether being selected is what people want: yes or no.",
        )
    if isinstance(favourable, bool | np.bool_):
        return bool(favourable)
    word = str(favourable).strip().casefold()
    if word not in ("yes", "no"):
        raise bad_value(
            "favourable",
            favourable,
            "it states whether people want to be selected by the decision: yes or no",
        )
    return word == "yes"


def _label(label: str | None, decision: Any, classes: Sequence[str]) -> str | None:
    name = (label or "").strip().strip("\"'")
    if not name:
        if len(classes) > 2:
            raise bad_value(
                "decision",
                decision,
                "there are several classes, so name the one whose probability decides",
                hint=words("such as ", Option("decision", f"{classes[-1]} >= 0.5"), "."),
            )
        return None
    if not classes:
        raise bad_value(
            "decision", decision, f"the prediction is a number and has no class {name!r}"
        )
    if name not in classes:
        raise bad_value(
            "decision",
            decision,
            f"there is no class {name!r}",
            hint=did_you_mean(name, classes),
        )
    return name


def _threshold(match: Any, text: str, wanted: bool, label: str | None) -> Decision:  # noqa: FBT001
    try:
        at = float(match["at"].replace("%", "")) / (100 if "%" in match["at"] else 1)
    except ValueError:
        at = np.nan
    if not np.isfinite(at):
        raise bad_value("decision", text, f"{match['at'].strip()!r} is not a number, {_FORMS}")
    side: Literal["high", "low"] = "high" if match["sign"][0] == ">" else "low"
    return Decision(text, "threshold", side, "=" not in match["sign"], at, wanted, label)


def _share(match: Any, text: str, wanted: bool, label: str | None) -> Decision:  # noqa: FBT001
    try:
        share = float(match["at"].replace(",", ".")) / 100
    except ValueError:
        share = np.nan
    if not 0 < share < 1:
        raise bad_value("decision", text, 'a share lies between 0 and 100 %, such as "top 20 %"')
    side: Literal["high", "low"] = "high" if match["side"] == "top" else "low"
    return Decision(
        text, "share", side, is_strict=False, at=share, is_favourable=wanted, label=label
    )


def _median(match: Any, text: str, wanted: bool, label: str | None) -> Decision:  # noqa: FBT001
    side: Literal["high", "low"] = "low" if match["side"] == "below" else "high"
    return Decision(
        text, "median", side, is_strict=True, at=np.nan, is_favourable=wanted, label=label
    )
