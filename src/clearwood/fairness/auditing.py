"""`clearwood.audit`: what a model does to groups of people."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import combinations
from typing import Any

import numpy as np

from clearwood._shared.checks import check_confidence, check_whole
from clearwood._shared.errors import InputError, bad_value, did_you_mean
from clearwood._shared.names import short_name
from clearwood._shared.numbers import count, interval, number
from clearwood.benchmarking import Winner
from clearwood.causal import Condition, Graph, conditions_of
from clearwood.fairness.causes import Causes, causes_of
from clearwood.fairness.groups.conventions import read_conventions
from clearwood.fairness.groups.decisions import Decision, read_decision
from clearwood.fairness.groups.grouping import (
    Grouping,
    Standing,
    cross,
    cut_points_by_column,
    group_by,
    protected_names,
)
from clearwood.fairness.groups.intervals import Spread
from clearwood.fairness.groups.measures import GroupMeasures, group_measures
from clearwood.fairness.groups.rows import Audited, audited_rows, model_rows
from clearwood.fairness.groups.tuned import Tuning, tuning_of
from clearwood.fairness.predictors.use import stand_ins_in, used_columns
from clearwood.fairness.result import Audit
from clearwood.fairness.sensitivity import (
    Sensitivity,
    e_value,
    e_value_of_interval,
    partial_t,
    robustness_value,
    share_outside,
)
from clearwood.table import Column, gap_shares

__all__ = ["audit"]


def audit(
    model: Any,
    data: Any = None,
    *,
    protected: str | Sequence[str] | None = None,
    graph: Any = None,
    permitted: Sequence[str] | None = None,
    decision: str | None = None,
    favourable: bool | str | None = None,
    cut_points: Any = None,
    crossed: bool = True,
    reference: str | Mapping[str, str] = "largest",
    test: Any = None,
    learner: str | None = None,
    fitted: Any = None,
    conventions: str | Sequence[str] | None = None,
    min_rows: int = 30,
    min_share: float = 0.02,
    causes: bool = True,
    n_refits: int = 0,
    confidence: float = 0.9,
    seed: int = 0,
    n_jobs: int = 1,
) -> Audit:
    """Measure what a model predicts and decides for groups of people.

    An audit measures. It does not show that a model is fair or lawful: which differences are
    justified is a decision that numbers do not make.

    Parameters
    ----------
    model
        A fitted model, the path of a model file, or a `Benchmark`, whose held-out predictions are
        audited.
    data
        The rows that the model was fitted to, with the protected columns. For a benchmark they may
        be left out.
    protected
        The columns to audit; by default those with that role. The model need not use them.
    graph
        A causal graph of the columns, or its text, to check the conditions of a direct effect.
    permitted
        Columns that may explain a difference; by default all that are not protected.
    decision
        Which rows are selected: a threshold of the prediction ("<= 0.2"), a share of the rows
        ("top 20 %"), or "median". Needs `favourable`.
    favourable
        Whether people want to be selected: True or "yes", False or "no".
    cut_points
        For protected columns of numbers: the values between bands, such as ``[25, 65]``, or how
        many bands; by column if there are several.
    crossed
        Whether pairs of protected columns are crossed.
    reference
        The group that others are compared with: "largest", a level, "best" for the group with the
        highest rate of the favourable decision, or levels by column.
    test
        Rows that the model was not fitted to: then all measures are of these. Refits and rivals of
        the model are fitted to `data` all the same.
    learner
        Of a benchmark, the learner; by default the best.
    fitted
        Of a benchmark, the model that is used, fitted to all rows: what it predicts itself is
        measured next to what the fits of the folds predict. Without it, the learner is tuned and
        fitted for this where causes are asked for.
    conventions
        Names of the conventions that measures are compared with: "four fifths", "two standard
        deviations", "Local Law 144". All by default, none for an empty list.
    min_rows, min_share
        Groups with fewer rows or a smaller share are listed and not judged.
    causes
        Whether differences are shared out by column, proxies named and rivals of the model fitted,
        which takes most of the time.
    n_refits
        How often the model is fitted again to samples of its training rows, for intervals of what
        goes through columns.
    confidence
        The level of all intervals.
    seed
        Fixes what is drawn.
    n_jobs
        The number of cores for refits.

    Returns
    -------
    Audit
        ``save("audit.html")`` writes a page.

    Raises
    ------
    InputError
        If a column is not there or has no groups that could be compared, a decision lacks
        `favourable` or selects nobody, or a number is out of its range.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.insurance(3000, seed=1)
    >>> result = cw.audit(cw.learner("glm").fit(data), data)
    >>> groups = result.of("gender")
    >>> groups.names
    ('female', 'male')
    >>> bool(1.4 < groups.values["ratio"].max() < 1.9)
    True
    """
    check_confidence(confidence)
    _check_numbers(min_rows, min_share, n_refits)
    chosen = read_conventions(conventions)
    graph = graph if graph is None or isinstance(graph, Graph) else Graph(graph)
    audited = audited_rows(model, data, protected, test=test, learner=learner)
    audited = _with_model(audited, fitted, fits=causes, n_jobs=n_jobs)
    schema = getattr(audited.model, "schema_", None)
    names = protected_names(audited.table, protected, schema)
    choice = read_decision(decision, favourable, audited.classes)
    audited = audited.of_class(None if choice is None else choice.label)
    if choice is not None and audited.classes and choice.label is None:
        choice = replace(choice, label=audited.outputs[0])
    others = _others(audited, names, permitted)
    conditions = _conditions(audited, names, others, graph)
    columns = [audited.table.column(name) for name in names]
    in_bands = cut_points_by_column(cut_points, columns)
    singles = [
        group_by(column.take(audited.rows), audited.weights, in_bands.get(column.name))
        for column in columns
    ]
    groupings = list(singles)
    if crossed:
        groupings += [cross(pair, audited.weights) for pair in combinations(singles, 2)]
    references = _references(reference, singles, has_decision=choice is not None)
    four_fifths = any(one.name == "four fifths" for one in chosen)
    groups = tuple(
        group_measures(
            audited,
            grouping,
            output,
            decision=choice,
            reference=references(grouping),
            min_rows=min_rows,
            min_share=min_share,
            four_fifths=four_fifths,
            confidence=confidence,
        )
        for grouping in groupings
        for output in range(len(audited.outputs))
    )
    own, tuning, own_notes = _of_the_model(
        model, audited, groups, groupings, choice, min_rows, min_share, confidence
    )
    fits = audited.table if audited.training is None else audited.training
    stand_ins = stand_ins_in(None if _is_recipe(audited) else audited.model, fits, names)
    parts = Causes()
    if causes:
        parts = causes_of(
            audited,
            groups,
            banded=in_bands,
            n_refits=n_refits,
            min_rows=min_rows,
            min_share=min_share,
            confidence=confidence,
            seed=seed,
            n_jobs=n_jobs,
        )
    return Audit(
        learner=audited.learner,
        what=audited.what,
        task=audited.task,
        source=audited.source,
        outputs=audited.outputs,
        protected=names,
        permitted=tuple(column.name for column in others),
        n_rows=audited.n_rows,
        weight=float(audited.weights.sum()),
        is_weighted=audited.is_weighted,
        weight_name=_weight_name(audited),
        groups=groups,
        decision=choice,
        conventions=chosen,
        conditions=conditions,
        sensitivity=_sensitivity(audited, groups, singles, others),
        min_rows=min_rows,
        min_share=min_share,
        confidence=confidence,
        seed=seed,
        version=version("clearwood"),
        notes=(
            *(f"{one}: {_STAYS}" for one in stand_ins),
            *own_notes,
            *_notes(audited, groups, choice is None),
            *parts.notes,
        ),
        gaps=parts.gaps,
        proxies=parts.proxies,
        alternatives=parts.alternatives,
        n_refits=parts.n_refits,
        own=own,
        tuning=tuning,
        used=_used(audited, names),
        stand_ins=stand_ins,
        graph=graph,
    )


def _with_model(audited: Audited, fitted: Any, *, fits: bool, n_jobs: int) -> Audited:
    """Return what is audited with the model that is used in the place of the winner's recipe."""
    if not isinstance(audited.model, Winner):
        if fitted is not None:
            raise bad_value(
                "fitted", type(fitted).__name__, "it is the model of a benchmark, and none is given"
            )
        return audited
    if fitted is None and fits:
        fitted = audited.model.fit(audited.table, n_jobs=n_jobs)
    return audited if fitted is None else replace(audited, model=fitted)


def _is_recipe(audited: Audited) -> bool:
    """Whether there is no fitted model but only how one is tuned and fitted."""
    return isinstance(audited.model, Winner)


_STAYS = (
    "what the model takes from it stays where the protected column is left out or averaged over"
)


def _used(audited: Audited, names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the protected columns that change predictions; None where there is no model to try."""
    if _is_recipe(audited):
        return None
    return used_columns(audited.model, audited.table, names)


def _of_the_model(
    bench: Any,
    audited: Audited,
    groups: Sequence[GroupMeasures],
    groupings: Sequence[Grouping],
    decision: Decision | None,
    min_rows: int,
    min_share: float,
    confidence: float,
) -> tuple[tuple[GroupMeasures, ...], Tuning | None, tuple[str, ...]]:
    """Measure what the model itself predicts, where others are the predictions of folds."""
    if audited.source != "out of fold":
        return (), None, ()
    if isinstance(audited.model, Winner):
        return (), None, (f"{_OF_FOLDS}; the model that is fitted to all rows may differ",)
    own = model_rows(audited)
    groupings = [one.of_rows(audited.rows, own.rows) for one in groupings]
    outputs = range(len(own.outputs))
    pairs = [(grouping, output) for grouping in groupings for output in outputs]
    try:
        measured = tuple(
            group_measures(
                own,
                grouping,
                output,
                decision=decision,
                reference="largest" if one.reference is None else one.names[one.reference],
                min_rows=min_rows,
                min_share=min_share,
                four_fifths=False,
                confidence=confidence,
            )
            for one, (grouping, output) in zip(groups, pairs, strict=True)
        )
    except InputError as error:  # a threshold that no prediction of the model reaches
        return (), None, (f"{_OF_FOLDS}; the model itself is not measured: {error}",)
    tuning = tuning_of(bench, audited.learner, audited.model, audited, own)
    notes = [f"{_OF_FOLDS}; those of the model itself, fitted to all rows, are shown next to them"]
    notes += [str(tuning)] if tuning.is_unstable else []
    return measured, tuning, (*notes, *_differences(groups, measured))


_OF_FOLDS = "measures are of the fits of the benchmark's folds, each to the other rows"


def _differences(groups: Sequence[GroupMeasures], own: Sequence[GroupMeasures]) -> list[str]:
    """Name the groups for which the model itself lies outside the interval of the folds' fits."""
    notes = []
    for folds, model in zip(groups, own, strict=True):
        for measure in ("ratio" if "ratio" in folds.values else "difference", "selection_rate"):
            if measure not in folds.values:
                continue
            for k in np.flatnonzero(folds.judged):
                spread, value = folds.spread(measure, int(k)), float(model.values[measure][k])
                if np.isfinite([spread.low, value]).all() and not (
                    spread.low <= value <= spread.high
                ):
                    what = measure.replace("_", " ")
                    notes.append(
                        f"for {folds.title} = {short_name(folds.names[k])} the {what} of the model "
                        f"itself is {number(value)}, outside the interval of the folds' fits "
                        f"({interval(spread.low, spread.high)})"
                    )
    return notes


def _check_numbers(min_rows: Any, min_share: Any, n_refits: Any) -> None:
    """Refuse numbers outside their range."""
    check_whole("min_rows", min_rows, 2)
    if not isinstance(min_share, int | float) or not 0 <= min_share < 1:
        raise bad_value("min_share", min_share, "it must be a share from 0 to below 1")
    if check_whole("n_refits", n_refits, 0) == 1:
        raise bad_value("n_refits", n_refits, "intervals need at least 2 refits, better 20")


def _references(reference: Any, singles: Sequence[Grouping], *, has_decision: bool) -> Any:
    """Return a function from a grouping to its reference, a name or a word."""
    if reference == "best" and not has_decision:
        raise bad_value(
            "reference",
            reference,
            "the best group is the one with the highest rate of a favourable decision, and there "
            "is no decision",
        )
    if isinstance(reference, Mapping):
        known = {one.columns[0]: one for one in singles}
        for name, level in reference.items():
            if name not in known:
                raise bad_value("reference", reference, f"{name!r} is not a protected column")
            if str(level) not in known[name].names:
                raise bad_value(
                    "reference",
                    reference,
                    f"{name!r} has no group {level!r}",
                    hint=did_you_mean(str(level), known[name].names),
                )
        levels = {name: str(level) for name, level in reference.items()}
    elif reference in ("largest", "best"):
        return lambda _: reference
    else:
        levels = {one.columns[0]: reference for one in singles if reference in one.names}
        if not levels:
            names = [name for one in singles for name in one.names]
            raise bad_value(
                "reference",
                reference,
                "it is not a group of a protected column",
                hint=did_you_mean(str(reference), ["largest", "best", *names]),
            )

    def of(grouping: Grouping) -> str:
        if all(name in levels for name in grouping.columns):
            return " / ".join(levels[name] for name in grouping.columns)
        return "largest"

    return of


def _others(audited: Audited, names: Sequence[str], permitted: Any) -> list[Column]:
    """Return the columns of the model that are not protected."""
    schema = getattr(audited.model, "schema_", None)
    features = audited.table.features if schema is None else schema.features
    own = [name for name in features if name in audited.table.names and name not in names]
    if permitted is None:
        return [audited.table.column(name) for name in own]
    wanted = [permitted] if isinstance(permitted, str) else list(permitted)
    for name in wanted:
        if name in names:
            raise bad_value("permitted", name, "the column is protected and permitted at once")
        if name not in own:
            raise InputError(
                f"there is no column {name!r} to permit",
                parameter="permitted",
                value=name,
                hint=did_you_mean(str(name), own),
            )
    return [audited.table.column(name) for name in wanted]


def _weight_name(audited: Audited) -> str:
    exposure, by = audited.table.exposure, audited.table.counted_by
    return exposure if exposure is not None and by == "exposure" else by


def _conditions(
    audited: Audited, names: Sequence[str], others: Sequence[Column], graph: Any
) -> tuple[Condition, ...]:
    """Check when the part of the protected columns themselves is a direct effect."""
    schema = getattr(audited.model, "schema_", None)
    seen = audited.table.features if schema is None else schema.features
    rest = [column.name for column in others]
    return conditions_of(
        graph,
        [name for name in names if name in seen] or names,
        rest,
        gap_shares=gap_shares(audited.table.columns),
    )


def _sensitivity(
    audited: Audited,
    groups: Sequence[GroupMeasures],
    singles: Sequence[Grouping],
    others: Sequence[Column],
) -> tuple[Sensitivity, ...]:
    """Return how strong hidden causes would have to be, for each judged group of one column."""
    taken = [column.take(audited.rows) for column in others]
    found: list[Sensitivity] = []
    for grouping in singles:
        for output, measured in enumerate(one for one in groups if one.columns == grouping.columns):
            at = measured.reference
            if at is None:
                continue
            found += [
                _sensitivity_of(audited, measured, grouping, int(k), at, output, taken)
                for k in np.flatnonzero(measured.judged)
                if k != at
            ]
    return tuple(found)


def _sensitivity_of(
    audited: Audited,
    measured: GroupMeasures,
    grouping: Grouping,
    group: int,
    reference: int,
    output: int,
    columns: Sequence[Column],
) -> Sensitivity:
    """Compare one group with the reference."""
    if "ratio" in measured.values:
        spread = measured.spread("ratio", group)
    else:  # VanderWeele and Ding (2017), section on differences of means
        distance = measured.spread("smd", group)
        ends = (distance.value, distance.low, distance.high)
        spread = Spread(*(float(np.exp(0.91 * end)) for end in ends))
    own, other = (np.flatnonzero(grouping.which == k) for k in (group, reference))
    both = np.concatenate([own, other])
    t, degrees = float("nan"), 0.0
    if audited.truth is not None:
        t, degrees = partial_t(
            audited.truth[both, output],
            np.arange(len(both)) < len(own),
            [column.take(both) for column in columns],
            audited.weights[both],
        )
    return Sensitivity(
        columns=grouping.columns,
        group=measured.names[group],
        reference=measured.names[reference],
        ratio=spread.value,
        e_value=e_value(spread.value),
        e_value_of_interval=e_value_of_interval(spread),
        robustness_value=robustness_value(t, degrees),
        share_outside=share_outside(columns, own, other, audited.weights),
    )


def _notes(audited: Audited, groups: Sequence[GroupMeasures], undecided: bool) -> tuple[str, ...]:  # noqa: FBT001
    """Return what the reader should know about the rows and groups."""
    notes = list(audited.notes)
    if audited.source == "training rows" and audited.truth is not None:
        notes.append(
            "these may be training rows, on which errors are too small: rates of errors, "
            "losses and observed / expected are better than on new rows; means and ratios of "
            "predictions stand"
        )
    if audited.truth is None:
        notes.append("the rows have no target, so predictions are not compared with it")
    if undecided and audited.classes and len(audited.classes) == 2:
        notes.append(
            "without a decision there are no selection rates and no true or false positive rates"
        )
    seen = {}
    for measured in groups:
        small = [
            name
            for name, standing in zip(measured.names, measured.standing, strict=True)
            if standing in (Standing.FEW_ROWS, Standing.SMALL_SHARE)
        ]
        if small and measured.columns not in seen:
            seen[measured.columns] = small
            notes.append(
                f"{count(len(small), 'group')} of {measured.title} listed and not judged: "
                f"{', '.join(map(short_name, small[:5]))}{', …' if len(small) > 5 else ''}"
            )
    return tuple(notes)
