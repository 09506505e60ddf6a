"""Measures of each group of a grouping, compared with one of the groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import InputError, bad_value, did_you_mean
from clearwood._shared.frames import unique_name
from clearwood._shared.names import short_name
from clearwood._shared.numbers import count, number, percent
from clearwood._shared.results import Result, document, html_table
from clearwood._shared.weights import effective, quantiles
from clearwood.evaluation import (
    LOG,
    Allowance,
    Estimate,
    Mean,
    Pairs,
    auc,
    bins_of,
    bounds,
    simultaneous_level,
)
from clearwood.fairness.groups.decisions import Decision
from clearwood.fairness.groups.grouping import Grouping, Standing, one_line, standings_of
from clearwood.fairness.groups.intervals import (
    UNKNOWN,
    Spread,
    difference,
    mean_of,
    observed_over_expected,
    ratio,
    share_of,
)
from clearwood.fairness.groups.rows import Audited
from clearwood.table import Task

__all__ = ["MEANINGS", "GroupMeasures", "Verdict", "group_measures"]

#: What each measure means.
MEANINGS: Mapping[str, str] = {
    "mean_prediction": "mean of the predictions",
    "difference": "mean prediction less that of the reference group",
    "ratio": "mean prediction / that of the reference group",
    "relativity": "mean prediction / that of all rows",
    "smd": "difference of the mean predictions / root of the mean variance of both groups",
    "observed": "mean of the target",
    "observed_expected": "mean of the target / mean prediction; 1 if calibrated",
    "observed_less_expected": "mean of the target less the mean prediction; 0 if calibrated",
    "loss": "mean loss of the rows",
    "auc": "share of pairs of a member and a non-member that are ranked correctly",
    "selection_rate": "share of rows with the favourable decision",
    "selection_difference": "selection rate less that of the reference group",
    "impact_ratio": "selection rate / the highest of any judged group",
    "standard_deviations": "difference of the selection rates to the reference group / its "
    "standard error if both had one rate",
    "favourable_of_class": "share of members of the class with the favourable decision",
    "favourable_of_others": "share of non-members with the favourable decision",
    "true_positive_rate": "share of members of the class that are predicted to be members",
    "false_positive_rate": "share of non-members that are predicted to be members",
    "precision": "share of predicted members that are members",
}
#: Measures that compare predictions with the truth: too good on the training rows.
OF_ERRORS = frozenset(
    {
        "observed_expected",
        "observed_less_expected",
        "loss",
        "auc",
        "favourable_of_class",
        "favourable_of_others",
        "true_positive_rate",
        "false_positive_rate",
        "precision",
    }
)
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
_FOUR_FIFTHS = 0.8


class Verdict(StrEnum):
    """How an impact ratio compares with four fifths.

    Examples
    --------
    >>> Verdict.of(Spread(0.7, 0.6, 0.75))
    <Verdict.BELOW: 'below four fifths, more than chance'>
    """

    BELOW = "below four fifths, more than chance"
    MAYBE = "below four fifths, could be chance"
    NOT_BELOW = "not below four fifths"
    UNKNOWN = "too few rows to tell"

    @classmethod
    def of(cls, impact: Spread, limit: float = _FOUR_FIFTHS) -> "Verdict":
        """Compare a ratio and its interval with the limit."""
        if not np.isfinite(impact.value):
            return cls.UNKNOWN
        if impact.value >= limit:
            return cls.NOT_BELOW
        return cls.BELOW if impact.high < limit else cls.MAYBE


@dataclass(frozen=True, eq=False, repr=False)
class GroupMeasures(Result):
    """Measures of every group, each with an interval.

    Parameters
    ----------
    columns
        The protected columns.
    output
        What is predicted: the target, or a class whose probability it is.
    levels
        Of each group, its level in every column; None where the value is missing.
    names
        What each group is called.
    rows, weight, share
        How many rows it has, their weight or exposure, and its share of all weight.
    standing
        Whether the group is judged, and if not, why.
    reference
        The position of the group that others are compared with; None where no group is judged.
    best
        The position of the judged group with the highest selection rate; None without a decision.
    values, low, high
        By measure (`MEANINGS`), a number for each group; NaN where it is not known or not judged.
    quantiles
        Of the predictions: a row for each group, a column for each of `QUANTILES`.
    verdicts
        How impact ratios compare with four fifths; empty without a decision or convention.
    tenths
        Observed / expected of each group in tenths of the prediction: value, low and high, groups
        by tenths; None without a target.
    confidence
        The level of the intervals.
    is_simultaneous
        Whether comparisons with the reference hold together for all groups, as they must where it
        is chosen for its value. Impact ratios always do.
    are_errors_too_good
        Whether the rows are those of the fit, on which errors are too small.
    meanings, headings
        By measure: what it means here, with the class and the decision named, and a short name.
    """

    columns: tuple[str, ...]
    output: str
    levels: tuple[tuple[str | None, ...], ...]
    names: tuple[str, ...]
    rows: NDArray[np.int64]
    weight: Floats
    share: Floats
    standing: tuple[Standing, ...]
    reference: int | None
    best: int | None
    values: Mapping[str, Floats]
    low: Mapping[str, Floats]
    high: Mapping[str, Floats]
    quantiles: Floats
    verdicts: tuple[Verdict, ...] = ()
    tenths: tuple[Floats, Floats, Floats] | None = None
    confidence: float = 0.9
    is_simultaneous: bool = False
    is_weighted: bool = False
    are_errors_too_good: bool = False
    meanings: Mapping[str, str] = field(default_factory=dict, repr=False)
    headings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def title(self) -> str:
        """The protected columns in words, long names shortened."""
        return " × ".join(map(short_name, self.columns))

    @property
    def judged(self) -> Bools:
        """Which groups are judged."""
        return np.array([one is Standing.JUDGED for one in self.standing])

    def spread(self, measure: str, group: int) -> Spread:
        """Return a measure of a group between the ends of its interval."""
        if measure not in self.values:
            raise InputError(
                f"there is no measure {measure!r}",
                parameter="measure",
                value=measure,
                hint=did_you_mean(measure, self.values),
            )
        values = (float(of[measure][group]) for of in (self.values, self.low, self.high))
        return Spread(*values)

    def _columns(self) -> dict[str, Any]:
        own = {
            "rows": self.rows,
            "weight": self.weight,
            "share": self.share,
            "standing": [str(one) for one in self.standing],
            "is_reference": [k == self.reference for k in range(len(self.names))],
        }
        for name, values in self.values.items():
            own[name] = values
            if np.isfinite(self.low[name]).any():
                own[f"{name}_low"], own[f"{name}_high"] = self.low[name], self.high[name]
        for k, level in enumerate(QUANTILES):
            own[f"quantile_{round(100 * level)}"] = self.quantiles[:, k]
        if self.verdicts:
            own["verdict"] = [str(one) for one in self.verdicts]
        named = {
            unique_name(column, list(own)): [levels[k] for levels in self.levels]
            for k, column in enumerate(self.columns)
        }
        return {**named, **own}

    def to_json(self) -> dict[str, Any]:
        """Return one entry for each group, as plain JSON values."""
        columns = self.to_frame("dict")
        lines = [
            dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)
        ]
        tenths = None
        if self.tenths is not None:
            tenths = dict(zip(("observed_expected", "low", "high"), self.tenths, strict=True))
        return document(
            {
                "columns": self.columns,
                "output": self.output,
                "meanings": dict(self.meanings),
                "reference": None if self.reference is None else self.names[self.reference],
                "groups": lines,
                "tenths": tenths,
                "confidence": self.confidence,
                "is_simultaneous": self.is_simultaneous,
                "are_errors_too_good": self.are_errors_too_good,
            }
        )

    def plot(self, measure: str | None = None) -> Any:
        """Draw a measure of every group with its interval (Altair).

        Parameters
        ----------
        measure
            One of `values`; by default the impact ratio, the ratio or the mean prediction.
        """
        from clearwood.plot import plot_groups

        return plot_groups(self, measure)

    @property
    def main_measure(self) -> str:
        """The measure that compares groups; their mean predictions where none is judged."""
        names = ("impact_ratio", "ratio", "difference")
        return next((name for name in names if name in self.values), "mean_prediction")

    def __repr__(self) -> str:
        judged = int(self.judged.sum())
        others = len(self.names) - judged
        more = f", {others} listed but not judged" if others else ""
        head = f"{self.title}, {self.output}: {count(judged, 'group')}{more}"
        measure = self.main_measure
        lines = [
            f"  {name}: {measure.replace('_', ' ')} {number(self.values[measure][k])} "
            f"({number(self.low[measure][k])} to {number(self.high[measure][k])})"
            for k, name in enumerate(self.names)
            if self.standing[k] is Standing.JUDGED and k != self.reference
        ]
        return "\n".join([f"{one_line(head)} ({percent(self.confidence)} intervals)", *lines])

    def _repr_html_(self) -> str:
        measure = self.main_measure
        shown = ("mean_prediction", measure)
        rows = [
            (
                name,
                f"{self.rows[k]:,}",
                percent(float(self.share[k])),
                *(number(self.values[one][k], 4) for one in shown),
                number(self.low[measure][k], 4),
                number(self.high[measure][k], 4),
                str(self.standing[k]),
            )
            for k, name in enumerate(self.names)
        ]
        headings = ("group", "rows", "share", *shown, "low", "high", "standing")
        return html_table(self.title, [one.replace("_", " ") for one in headings], rows)


@dataclass(frozen=True, eq=False)
class _Group:
    """The rows of one group, for one output."""

    scores: Floats
    truth: Floats | None
    losses: Floats | None
    favoured: Floats | None
    member: Bools | None
    weights: Floats
    units: Index
    fits: Index


@dataclass(eq=False)
class _Collected:
    """Measures by name, filled group by group."""

    n: int
    values: dict[str, Floats] = field(default_factory=dict)
    low: dict[str, Floats] = field(default_factory=dict)
    high: dict[str, Floats] = field(default_factory=dict)

    def put(self, name: str, group: int, spread: Spread) -> None:
        for store, end in (
            (self.values, spread.value),
            (self.low, spread.low),
            (self.high, spread.high),
        ):
            store.setdefault(name, np.full(self.n, np.nan))[group] = end


def group_measures(
    audited: Audited,
    grouping: Grouping,
    output: int = 0,
    *,
    decision: Decision | None = None,
    reference: str = "largest",
    min_rows: int = 30,
    min_share: float = 0.02,
    four_fifths: bool = True,
    confidence: float = 0.9,
) -> GroupMeasures:
    """Measure the groups of a grouping.

    Parameters
    ----------
    audited
        Predictions and truth.
    grouping
        The group of each prediction.
    output
        Which output, by position.
    decision
        Which rows are selected; None where nothing is decided.
    reference
        The group that others are compared with: its name, "largest" or "best", the one with the
        highest selection rate.
    min_rows, min_share
        Smaller groups are listed and not judged.
    four_fifths
        Whether impact ratios are compared with four fifths.
    confidence
        The level of the intervals.
    """
    n = len(grouping.levels)
    scores = audited.predicted[:, output]
    label = audited.outputs[output]
    is_class = bool(audited.classes)
    own_decision = decision if decision is None or decision.label in (None, label) else None
    favoured, member = _decided(audited, output, own_decision)
    if decision is not own_decision:  # the decision is about another class
        favoured = None
    members = [np.flatnonzero(grouping.which == k) for k in range(n)]
    rows = np.array([len(np.unique(audited.rows[own])) for own in members], dtype=np.int64)
    weight = np.array([audited.weights[own].sum() for own in members])
    share = weight / audited.weights.sum()
    standing = tuple(standings_of(grouping.are_missing, rows, share, min_rows, min_share))
    groups = [
        _Group(
            scores[own],
            None if audited.truth is None else audited.truth[own, output],
            None if audited.losses is None or len(audited.outputs) > 1 else audited.losses[own],
            None if favoured is None else favoured[own].astype(np.float64),
            None if member is None else member[own],
            audited.weights[own],
            audited.units[own],
            audited.fits[own],
        )
        for own in members
    ]
    collected = _Collected(n)
    judged = [k for k in range(n) if standing[k] is Standing.JUDGED]
    rates = {k: _rate(groups[k], confidence, audited.inflation) for k in range(n)}
    best = max(judged, key=lambda k: rates[k].value) if favoured is not None and judged else None
    at = _reference(grouping, reference, judged, rows, weight, best, min_rows)
    is_best = reference == "best" and best is not None
    level = simultaneous_level(confidence, len(judged)) if is_best else confidence
    together = simultaneous_level(confidence, len(judged))
    is_ratio = bool((scores >= 0).all())
    for k, group in enumerate(groups):
        mean = _mean(group, confidence, audited.inflation)
        collected.put("mean_prediction", k, mean)
        if favoured is not None:
            collected.put("selection_rate", k, rates[k])
        if standing[k] is not Standing.JUDGED:
            continue
        _of_truth(
            collected,
            k,
            group,
            audited,
            output,
            confidence,
            is_class=is_class,
            has_decision=own_decision is not None,
        )
        _relativity(collected, k, members[k], scores, audited, confidence, is_ratio=is_ratio)
    for k in judged:
        assert at is not None  # where a group is judged, one is the reference
        group, other = groups[k], groups[at]
        _compared(
            collected, k, group, other, level, audited.inflation, same=k == at, is_ratio=is_ratio
        )
        if favoured is not None and best is not None:
            _decisions(collected, k, group, other, groups[best], level, together, audited, at, best)
    verdicts = _verdicts(collected, n, standing) if four_fifths and favoured is not None else ()
    if decision is None:  # of several classes, the most probable one is nobody's wish
        verdicts = ()
    order = [name for name in MEANINGS if name in collected.values]
    spread_of = [
        quantiles(g.scores, QUANTILES, g.weights) if len(g.scores) else np.full(5, np.nan)
        for g in groups
    ]
    words = _Words(audited, label, decision) if is_class else None
    return GroupMeasures(
        columns=grouping.columns,
        output=label,
        levels=grouping.levels,
        names=grouping.names,
        rows=rows,
        weight=weight,
        share=share,
        standing=standing,
        reference=at,
        best=best,
        values={name: collected.values[name] for name in order},
        low={name: collected.low[name] for name in order},
        high={name: collected.high[name] for name in order},
        quantiles=np.array(spread_of),
        verdicts=verdicts,
        tenths=_tenths(groups, standing, scores, audited, output, confidence),
        confidence=confidence,
        is_simultaneous=is_best,
        is_weighted=audited.is_weighted,
        are_errors_too_good=audited.source == "training rows",
        meanings={name: MEANINGS[name] for name in order}
        | ({} if words is None else words.meanings(order)),
        headings=_HEADINGS | ({} if words is None else words.headings(order)),
    )


#: Short names that are not those of the measures themselves.
_HEADINGS = {
    "smd": "standardised difference",
    "observed_expected": "observed / expected",
    "observed_less_expected": "observed less expected",
    "auc": "AUC",
}


@dataclass(frozen=True, eq=False)
class _Words:
    """What the measures of a class mean: which class it is, and who is meant by a rate."""

    audited: Audited
    label: str
    decision: Decision | None

    @property
    def member(self) -> str:
        """The class, as a value of the target."""
        return f"{short_name(self.audited.what)} = {short_name(self.label)}"

    @property
    def other(self) -> str:
        """The other class, or the other classes."""
        others = [one for one in self.audited.classes if one != self.label]
        return (
            f"{short_name(self.audited.what)} = {short_name(others[0])}"
            if len(others) == 1
            else f"another {short_name(self.audited.what)}"
        )

    @property
    def consequence(self) -> str:
        """What being predicted to be a member means for people."""
        if self.decision is None:
            return ""
        gets = (self.decision.side == "high") == self.decision.is_favourable
        return f", who {'have' if gets else 'do not have'} the favourable decision"

    def headings(self, measures: Sequence[str]) -> dict[str, str]:
        """Return short names of the measures that need the class in theirs."""
        known = {
            "mean_prediction": f"mean probability of {short_name(self.label)}",
            "observed": f"observed {short_name(self.label)}",
            "favourable_of_class": f"favourable decision if {self.member}",
            "favourable_of_others": f"favourable decision if {self.other}",
        }
        return {name: known[name] for name in measures if name in known}

    def meanings(self, measures: Sequence[str]) -> dict[str, str]:
        """Return meanings of the measures that need the class in theirs."""
        member, other = self.member, self.other
        known = {
            "mean_prediction": f"mean of the predicted probabilities of {member}",
            "observed": f"share of rows with {member}",
            "observed_expected": f"share of rows with {member} / mean of its predicted "
            "probabilities; 1 if calibrated",
            "auc": f"share of pairs of a row with {member} and one with {other} of which the first "
            "has the higher prediction",
            "favourable_of_class": f"of the rows with {member}, the share with the favourable "
            "decision",
            "favourable_of_others": f"of the rows with {other}, the share with the favourable "
            "decision",
            "true_positive_rate": f"of the rows with {member}, the share predicted to be "
            f"so{self.consequence}",
            "false_positive_rate": f"of the rows with {other}, the share predicted to be "
            f"{short_name(self.label)}{self.consequence}",
            "precision": f"of the rows predicted to be {short_name(self.label)}"
            f"{self.consequence}, the share with {member}",
        }
        if self.decision is None:
            known["selection_rate"] = (
                f"share of rows whose most probable {short_name(self.audited.what)} is "
                f"{short_name(self.label)}"
            )
        return {name: known[name] for name in measures if name in known}


def _decided(
    audited: Audited, output: int, decision: Decision | None
) -> tuple[Bools | None, Bools | None]:
    """Return who has the favourable decision, and who is predicted to be a member of the class."""
    scores = audited.predicted[:, output]
    if decision is not None:
        favoured = decision.favours(scores, audited.weights)
        selected = decision.selected(scores, audited.weights)
        if not selected.any() or selected.all():
            who = "no row" if not selected.any() else "every row"
            low, high = number(float(scores.min())), number(float(scores.max()))
            raise bad_value(
                "decision",
                decision.text,
                f"{who} is selected, as predictions lie between {low} and {high}",
            )
        positive = selected if decision.side == "high" else ~selected
        return favoured, positive if audited.classes else None
    if len(audited.outputs) > 1:
        chosen = audited.predicted.argmax(axis=1) == output
        return chosen, chosen
    return None, None


def _reference(
    grouping: Grouping,
    reference: str,
    judged: list[int],
    rows: NDArray[np.int64],
    weight: Floats,
    best: int | None,
    min_rows: int,
) -> int | None:
    """Return the position of the group that others are compared with."""
    if reference == "best" and best is not None:
        return best
    if reference in ("largest", "best"):
        return max(judged, key=lambda k: weight[k]) if judged else None
    names = list(grouping.names)
    if reference not in names:
        # a level of one column cannot be the reference of crossed groups
        return max(judged, key=lambda k: weight[k]) if judged else None
    at = names.index(reference)
    if at not in judged:
        raise bad_value(
            "reference",
            reference,
            f"the group has {count(int(rows[at]), 'row')} and is not judged: it must have "
            f"{min_rows:,} or more",
        )
    return at


def _mean(group: _Group, confidence: float, inflation: float) -> Spread:
    return mean_of(group.scores, group.weights, group.units, confidence, inflation=inflation)


def _rate(group: _Group, confidence: float, inflation: float) -> Spread:
    if group.favoured is None:
        return UNKNOWN
    mean = Mean.of(group.favoured, group.weights, group.units)
    return share_of(mean, confidence, inflation=inflation)


def _compared(
    collected: _Collected,
    k: int,
    group: _Group,
    other: _Group,
    level: float,
    inflation: float,
    *,
    same: bool,
    is_ratio: bool,
) -> None:
    """Compare mean predictions with those of the reference."""
    if same:
        collected.put("difference", k, Spread(0.0, 0.0, 0.0))
        if is_ratio:
            collected.put("ratio", k, Spread(1.0, 1.0, 1.0))
        collected.put("smd", k, Spread(0.0, 0.0, 0.0))
        return
    one, reference = (_mean(each, level, inflation) for each in (group, other))
    collected.put("difference", k, difference(one, reference))
    if is_ratio:
        collected.put("ratio", k, ratio(one, reference))
    collected.put("smd", k, _smd(group, other, level, inflation))


def _smd(group: _Group, other: _Group, level: float, inflation: float) -> Spread:
    """Return the standardised difference of means, its interval from the influence of the rows."""
    scores = np.concatenate([group.scores, other.scores])
    unit = float(np.abs(scores).max()) or 1.0
    scores = scores / unit
    weights = np.concatenate([group.weights, other.weights])
    units = np.unique(np.concatenate([group.units, other.units]), return_inverse=True)[1]
    first = np.arange(len(scores)) < len(group.scores)
    means, variances, influences = [], [], []
    for own in (first, ~first):
        share = weights[own].sum() / weights.sum()
        mean = float(np.average(scores[own], weights=weights[own]))
        gaps = np.where(own, scores - mean, 0.0)
        variance = float(np.average(gaps[own] ** 2, weights=weights[own]))
        means.append(gaps / share)
        variances.append(np.where(own, gaps**2 - variance, 0.0) / share)
        influences.append((mean, variance))
    (mean_1, variance_1), (mean_2, variance_2) = influences
    spread = (variance_1 + variance_2) / 2
    # rounding of equal predictions is not variance
    if not spread > 1e-24:
        return UNKNOWN
    root = float(np.sqrt(spread))
    value = (mean_1 - mean_2) / root
    influence = (means[0] - means[1]) / root - value / (4 * spread) * (variances[0] + variances[1])
    pairs = Pairs(scores, scores, weights, units.astype(np.intp), 0)
    low, high = bounds(Estimate(value, influence), pairs, level, Allowance(inflation))
    return Spread(value, low, high)


def _relativity(
    collected: _Collected,
    k: int,
    own: Index,
    scores: Floats,
    audited: Audited,
    confidence: float,
    *,
    is_ratio: bool,
) -> None:
    """Compare the mean prediction with that of all rows, which the group is a part of."""
    if not is_ratio:
        return
    unit = float(scores.max()) or 1.0
    scaled, weights = scores / unit, audited.weights
    overall = float(np.average(scaled, weights=weights))
    mean = float(np.average(scaled[own], weights=weights[own]))
    if not overall > 0 or not mean > 0:
        collected.put("relativity", k, UNKNOWN)
        return
    inside = np.zeros(len(scores))
    inside[own] = (scaled[own] - mean) / (weights[own].sum() / weights.sum())
    value = mean / overall
    influence = inside / overall - value * (scaled - overall) / overall
    pairs = Pairs(scaled, scaled, weights, audited.units, 0)
    ends = bounds(Estimate(value, influence, LOG), pairs, confidence, Allowance(audited.inflation))
    collected.put("relativity", k, Spread(value, *ends))


def _of_truth(
    collected: _Collected,
    k: int,
    group: _Group,
    audited: Audited,
    output: int,
    confidence: float,
    *,
    is_class: bool,
    has_decision: bool,
) -> None:
    """Compare predictions of a group with what was observed."""
    if group.truth is None:
        return
    scores, truth, inflation = group.scores, group.truth, audited.inflation
    weights, units = group.weights, group.units
    assert audited.truth is not None
    if is_class:
        collected.put("observed", k, share_of(Mean.of(truth, weights, units), confidence))
    else:
        collected.put("observed", k, mean_of(truth, weights, units, confidence))
    whole = Pairs(
        audited.truth[:, output], audited.predicted[:, output], audited.weights, audited.units, 0
    )
    if (whole.truth >= 0).all() and (whole.predicted >= 0).all():
        collected.put("observed_expected", k, _calibrated(group, whole, audited, confidence))
    else:
        gaps = mean_of(truth - scores, weights, units, confidence, inflation=inflation)
        collected.put("observed_less_expected", k, gaps)
    if group.losses is not None and np.isfinite(group.losses).all():
        loss = mean_of(group.losses, weights, units, confidence, inflation=inflation)
        collected.put("loss", k, loss)
    if is_class:
        of_class = truth > 0
        area = auc(of_class, scores, group.fits, weights)
        pairs = Pairs(truth, scores, weights, _codes(units), 0)
        collected.put(
            "auc", k, Spread(area.value, *bounds(area, pairs, confidence, Allowance(inflation)))
        )
        if group.member is not None:
            predicted = group.member.astype(np.float64)
            favoured = [] if group.favoured is None or not has_decision else [group.favoured]
            for name, values, where in (
                *(("favourable_of_class", one, of_class) for one in favoured),
                *(("favourable_of_others", one, ~of_class) for one in favoured),
                ("true_positive_rate", predicted, of_class),
                ("false_positive_rate", predicted, ~of_class),
                ("precision", truth, group.member),
            ):
                mean = Mean.of(values[where], weights[where], units[where])
                collected.put(name, k, share_of(mean, confidence, inflation=inflation))


def _calibrated(group: _Group, whole: Pairs, audited: Audited, confidence: float) -> Spread:
    """Return observed / expected of a group; dispersion of events is at least Poisson's."""
    assert group.truth is not None
    are_events = bool(audited.classes) or audited.task is Task.COUNT
    dispersion = whole.dispersion
    if not np.isfinite(dispersion) and are_events:
        dispersion = 1.0
    return observed_over_expected(
        group.truth,
        group.scores,
        group.weights,
        group.units,
        confidence,
        dispersion=dispersion,
        inflation=audited.inflation,
    )


def _tenths(
    groups: list[_Group],
    standing: tuple[Standing, ...],
    scores: Floats,
    audited: Audited,
    output: int,
    confidence: float,
) -> tuple[Floats, Floats, Floats] | None:
    """Return observed / expected of each judged group in tenths of the prediction of all rows."""
    if audited.truth is None or (scores < 0).any() or (audited.truth < 0).any():
        return None
    whole = Pairs(audited.truth[:, output], scores, audited.weights, audited.units, 0)
    bins = bins_of(scores, 10, audited.weights)
    edges = np.array([scores[bins == k].max() for k in range(bins.max() + 1)])
    shape = (len(groups), len(edges))
    result = tuple(np.full(shape, np.nan) for _ in range(3))
    for k, group in enumerate(groups):
        if standing[k] is not Standing.JUDGED:
            continue
        which = np.searchsorted(edges, group.scores)
        for tenth in np.unique(which):
            own = which == tenth
            assert group.truth is not None
            part = _Group(
                group.scores[own],
                group.truth[own],
                None,
                None,
                None,
                group.weights[own],
                group.units[own],
                group.fits[own],
            )
            spread = _calibrated(part, whole, audited, confidence)
            for store, end in zip(result, (spread.value, spread.low, spread.high), strict=True):
                store[k, tenth] = end
    return result[0], result[1], result[2]


def _decisions(
    collected: _Collected,
    k: int,
    group: _Group,
    other: _Group,
    top: _Group,
    level: float,
    together: float,
    audited: Audited,
    reference: int,
    best: int,
) -> None:
    """Compare rates of the favourable decision with the reference and with the highest rate."""
    inflation = audited.inflation
    if k == reference:
        collected.put("selection_difference", k, Spread(0.0, 0.0, 0.0))
        collected.put("standard_deviations", k, Spread(0.0, np.nan, np.nan))
    else:
        mine, theirs = (_rate(one, level, inflation) for one in (group, other))
        collected.put("selection_difference", k, difference(mine, theirs))
        z = _standard_deviations(group, other, mine.value, theirs.value, inflation)
        collected.put("standard_deviations", k, Spread(z, np.nan, np.nan))
    if k == best:
        collected.put("impact_ratio", k, Spread(1.0, 1.0, 1.0))
    else:
        collected.put(
            "impact_ratio", k, ratio(*(_rate(one, together, inflation) for one in (group, top)))
        )


def _standard_deviations(
    group: _Group, other: _Group, mine: float, theirs: float, inflation: float
) -> float:
    """Return the difference of two rates in standard errors, if both groups had one rate."""
    sizes = np.array([effective(one.weights, _codes(one.units)) for one in (group, other)])
    pooled = float(np.average([mine, theirs], weights=sizes))
    error = inflation * float(np.sqrt(pooled * (1 - pooled) * (1 / sizes).sum()))
    return (mine - theirs) / error if error > 0 else 0.0


def _verdicts(collected: _Collected, n: int, standing: tuple[Standing, ...]) -> tuple[Verdict, ...]:
    """Compare the impact ratio of each group with four fifths."""
    impacts = {
        name: collected.__dict__[name].get("impact_ratio") for name in ("values", "low", "high")
    }
    if impacts["values"] is None:
        return (Verdict.UNKNOWN,) * n
    return tuple(
        Verdict.of(Spread(*(float(impacts[name][k]) for name in ("values", "low", "high"))))
        if standing[k] is Standing.JUDGED
        else Verdict.UNKNOWN
        for k in range(n)
    )


def _codes(units: Index) -> Index:
    """Number the units of a group without gaps."""
    return np.unique(units, return_inverse=True)[1].astype(np.intp)
