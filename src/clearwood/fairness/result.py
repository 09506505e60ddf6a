"""The result of an audit."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clearwood._shared.errors import InputError, Option, did_you_mean, words
from clearwood._shared.names import short_name
from clearwood._shared.numbers import count, interval, number, percent
from clearwood._shared.results import Result, document
from clearwood.causal import Condition
from clearwood.fairness.gaps.alternatives import Alternatives
from clearwood.fairness.gaps.proxies import Proxies
from clearwood.fairness.gaps.result import Gap
from clearwood.fairness.groups.conventions import Convention
from clearwood.fairness.groups.decisions import Decision
from clearwood.fairness.groups.grouping import Standing, one_line
from clearwood.fairness.groups.measures import GroupMeasures, Verdict
from clearwood.fairness.groups.rows import Source
from clearwood.fairness.groups.tuned import Tuning
from clearwood.fairness.sensitivity import Sensitivity
from clearwood.table import StandIn, Task

__all__ = ["Audit"]


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Result):
    """What a model predicts and decides for groups of people; made by `clearwood.audit`.

    An audit measures. It does not show that a model is fair or lawful.

    Parameters
    ----------
    learner, what, task
        The model, what it predicts, and the task.
    source
        Whether the rows are those of the fit, new ones, or predicted out of fold.
    outputs
        What is predicted: one number, or the probabilities of classes.
    protected, permitted
        The columns that are audited, and those that may explain a difference.
    n_rows, weight
        How many rows there are, and their weight or exposure.
    groups
        Measures by group: for each protected column, then for each pair of them, and each output.
    decision
        Which rows are selected; None where nothing is decided.
    conventions
        Numbers of practice that measures are compared with.
    conditions
        Of a direct effect, each checked on the graph where there is one.
    sensitivity
        How strong hidden causes would have to be.
    min_rows, min_share
        Smaller groups are listed and not judged.
    confidence, seed, version
        Of the intervals, of what is drawn, and of Clearwood.
    notes
        Remarks for the reader.
    gaps
        The differences between groups shared out: direct, through each column, and interaction.
    proxies
        Columns that stand for protected ones.
    alternatives
        The model compared with rivals: unaware, free of the protected columns, in parity.
    n_refits
        How many refits intervals of parts of the gap are from.
    own
        Of a benchmark's held-out predictions, the same measures as `groups` of what the model
        itself predicts, fitted to all rows; empty where the predictions are the model's.
    tuning
        How the settings and predictions of the folds' fits compare with the model's; None where the
        predictions are the model's.
    used
        The protected columns with which predictions change while all others stay as they are; None
        where there are only predictions of folds.
    stand_ins
        Columns that the model uses and that hold protected ones in another form.
    graph
        The causal graph; None without one.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.insurance(1000)
    >>> audit = cw.audit(cw.learner("glm").fit(data), data)
    >>> audit.protected, audit.source
    (('gender',), 'training rows')
    """

    learner: str
    what: str
    task: Task
    source: Source
    outputs: tuple[str, ...]
    protected: tuple[str, ...]
    permitted: tuple[str, ...]
    n_rows: int
    weight: float
    is_weighted: bool
    weight_name: str
    groups: tuple[GroupMeasures, ...]
    decision: Decision | None
    conventions: tuple[Convention, ...]
    conditions: tuple[Condition, ...]
    sensitivity: tuple[Sensitivity, ...]
    min_rows: int
    min_share: float
    confidence: float
    seed: int
    version: str
    notes: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    proxies: tuple[Proxies, ...] = ()
    alternatives: tuple[Alternatives, ...] = ()
    n_refits: int = 0
    own: tuple[GroupMeasures, ...] = ()
    tuning: Tuning | None = None
    used: tuple[str, ...] | None = None
    stand_ins: tuple[StandIn, ...] = ()
    graph: Any = field(default=None, repr=False)

    def of(self, *columns: str, output: str | None = None) -> GroupMeasures:
        """Return the measures by one protected column, or by a pair of them.

        Parameters
        ----------
        *columns
            One or two protected columns; by default the first.
        output
            The class, where there are several; by default the last.
        """
        wanted = columns or self.protected[:1]
        known = [one for one in self.groups if set(one.columns) == set(wanted)]
        if not known:
            raise InputError(
                f"{' and '.join(map(repr, wanted))} is not audited",
                parameter="columns",
                value=wanted[0],
                hint=did_you_mean(wanted[0], self.protected),
            )
        if output is None:
            return known[-1]
        for one in known:
            if one.output == str(output):
                return one
        raise InputError(
            f"there is no class {output!r}",
            parameter="output",
            value=output,
            hint=did_you_mean(str(output), [one.output for one in known]),
        )

    def own_measures(self, measured: GroupMeasures) -> GroupMeasures | None:
        """Return the measures of the model itself next to those of the folds; None without any."""
        return next(
            (own for one, own in zip(self.groups, self.own, strict=False) if one is measured), None
        )

    def selection(self, *columns: str) -> Mapping[str, float]:
        """Return the rate of the favourable decision by group.

        Raises
        ------
        InputError
            If nothing is decided.
        """
        if self.decision is None:
            raise InputError(
                "selection rates need a decision",
                parameter="decision",
                hint=words(
                    "audit again with ",
                    Option("decision", "<= 0.2"),
                    " and ",
                    Option("favourable", "yes"),
                    ".",
                ),
            )
        found = self.of(*columns, output=self.decision.label)
        return dict(zip(found.names, found.values["selection_rate"].tolist(), strict=True))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was measured, one sentence for each group that is compared."""
        return tuple(sentence for sentence, _ in self._marked_sentences)

    def main_sentences(self, most: int) -> tuple[str, ...]:
        """Return at most some sentences: the first one, those on rates below four fifths, others.

        They stand in the order of `sentences`.
        """
        marked = self._marked_sentences
        by_weight = sorted(range(1, len(marked)), key=lambda k: (not marked[k][1], k))
        chosen = sorted([0, *by_weight][:most])
        return tuple(marked[k][0] for k in chosen)

    @property
    def _marked_sentences(self) -> list[tuple[str, bool]]:
        """Return each sentence, and whether it is on a rate below four fifths, more than chance."""
        return [
            (one_line(sentence), is_below)
            for measured in self.groups
            if len(measured.columns) == 1
            for sentence, is_below in _sentences(self, measured)
        ]

    def _columns(self) -> dict[str, Any]:
        """Return one row for each group, with the measures that all groupings have."""
        frames = [one.to_frame("dict") for one in self.groups]
        names = list(dict.fromkeys(name for frame in frames for name in frame))
        own = {
            column
            for one in self.groups
            for column in list(one.to_frame("dict"))[: len(one.columns)]
        }
        columns: dict[str, list[Any]] = {"columns": [], "group": [], "output": []}
        for one, frame in zip(self.groups, frames, strict=True):
            n = len(one.names)
            columns["columns"] += [" × ".join(one.columns)] * n
            columns["group"] += list(one.names)
            columns["output"] += [one.output] * n
            for name in names:
                if name not in own:
                    columns.setdefault(name, []).extend(frame.get(name, [None] * n))
        return columns

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "learner": self.learner,
                "target": self.what,
                "task": str(self.task),
                "source": self.source,
                "protected": self.protected,
                "permitted": self.permitted,
                "used": self.used,
                "stand_ins": [one.to_json() for one in self.stand_ins],
                "rows": self.n_rows,
                "weight": self.weight,
                "sentences": self.sentences,
                "groups": [one.to_json() for one in self.groups],
                "decision": self.decision,
                "conventions": [one.to_json() for one in self.conventions],
                "conditions": [one.to_json() for one in self.conditions],
                "gaps": [one.to_json() for one in self.gaps],
                "proxies": [one.to_json() for one in self.proxies],
                "alternatives": [one.to_json() for one in self.alternatives],
                "n_refits": self.n_refits,
                "own": [one.to_json() for one in self.own],
                "tuning": None if self.tuning is None else self.tuning.to_json(),
                "graph": None if self.graph is None else str(self.graph),
                "sensitivity": [one.to_json() for one in self.sensitivity],
                "min_rows": self.min_rows,
                "min_share": self.min_share,
                "confidence": self.confidence,
                "seed": self.seed,
                "version": self.version,
                "notes": self.notes,
            }
        )

    def plot(self, *columns: str, measure: str | None = None) -> Any:
        """Draw a measure of the groups of a protected column, or of a pair (Altair)."""
        return self.of(*columns).plot(measure)

    def save(
        self, path: str | os.PathLike[str], *, title: str | None = None, force: bool = False
    ) -> None:
        """Write the audit as a page that works offline.

        Parameters
        ----------
        path
            The file to write, for example ``audit.html``.
        title
            The page's heading.
        force
            Replace an existing file.
        """
        from clearwood.reporting import audit_page

        audit_page(self, title=title).save(path, force=force)

    def __repr__(self) -> str:
        weighted = ", weighted" if self.is_weighted else ""
        is_one_class = self.task.is_classification and len(self.outputs) == 1
        of_class = f", probability of {short_name(self.outputs[0])!r}" if is_one_class else ""
        head = (
            f"Audit of {self.learner!r}, {self.what}{of_class}: {count(self.n_rows, 'row')}, "
            f"{self.source}{weighted}, by {', '.join(map(short_name, self.protected))}"
        )
        lines = [one_line(head), *(f"  {one}" for one in self.sentences)]
        lines += [f"note: {one_line(note)}" for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self.groups)


def _sentences(audit: Audit, measured: GroupMeasures) -> list[tuple[str, bool]]:
    """Write how each judged group compares with the reference, or why none does.

    Each sentence comes with whether it is on a rate below four fifths, more than chance.
    """
    title = measured.title
    judged = [k for k in range(len(measured.names)) if measured.standing[k] is Standing.JUDGED]
    if measured.reference is None or len(judged) < 2:
        return [(f"By {title}: too few rows to tell groups apart.", False)]
    is_class = audit.task.is_classification
    what = f"probability of {short_name(measured.output)!r}" if is_class else audit.what
    base = short_name(measured.names[measured.reference])
    measure = "ratio" if "ratio" in measured.values else "difference"
    own = audit.own_measures(measured)
    sentences = []
    for k in judged:
        group = f"{title} = {short_name(measured.names[k])}"
        if k != measured.reference:
            spread = measured.spread(measure, k)
            compared = _compared(measured, measure, k, base)
            ends = f"{percent(audit.confidence)} interval {interval(spread.low, spread.high)}"
            sentence = f"For {group}, the mean predicted {what} is {compared} ({ends})."
            if own is not None:
                sentence += f" That of the model itself is {_compared(own, measure, k, base)}."
            sentences.append((sentence + _parts(audit, measured, k), False))
        if measured.verdicts and measured.verdicts[k] in (Verdict.BELOW, Verdict.MAYBE):
            spread = measured.spread("impact_ratio", k)
            sentence = (
                f"For {group}, the rate of the favourable decision is "
                f"{percent(measured.values['selection_rate'][k])}, {number(spread.value)} times "
                f"the highest ({interval(spread.low, spread.high)}): {measured.verdicts[k]}."
            )
            if own is not None:
                rate, impact = (own.values[one][k] for one in ("selection_rate", "impact_ratio"))
                sentence += (
                    f" That of the model itself is {percent(rate)}, {number(impact)} times the "
                    "highest."
                )
            sentences.append((sentence, measured.verdicts[k] is Verdict.BELOW))
    return sentences


def _compared(measured: GroupMeasures, measure: str, k: int, base: str) -> str:
    """Write how the mean prediction of a group compares with that of the reference."""
    value = float(measured.values[measure][k])
    if measure == "ratio":
        return f"{number(value)} times that of {base}"
    return f"that of {base} {'+' if value >= 0 else '-'} {number(abs(value))}"


#: Parts of a gap below this factor, and more than these, are not in the sentence.
_LEAST_FACTOR, _MOST_PARTS = 1.02, 3


def _parts(audit: Audit, measured: GroupMeasures, k: int) -> str:
    """Write what a ratio is made of: the protected column itself, and what goes through others."""
    level = measured.levels[k][0]
    for one in audit.gaps:
        same = one.protected == measured.columns and level in one.groups
        if not same or not one.has_ratios or (one.output or measured.output) != measured.output:
            continue
        parts = [part for part in one[str(level)] if part.source != "total"]
        clear = [
            part
            for part in parts
            if part.ratio is not None and max(part.ratio, 1 / part.ratio) > _LEAST_FACTOR
        ]
        clear.sort(key=lambda part: -abs(part.difference))
        words_of = {"direct": f"is {measured.title} itself", "interaction": "is interaction"}
        listed = [
            f"{number(part.ratio or 1)} "
            f"{words_of.get(part.source, f'goes through {short_name(part.column)}')}"
            for part in clear[:_MOST_PARTS]
        ]
        return f" Of this, {', '.join(listed)}." if listed else ""
    return ""
