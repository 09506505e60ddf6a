"""The average natural direct effect of columns on a model's prediction or on the target."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, get_args

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.checks import check_confidence, check_seed, check_whole, is_whole
from clearwood._shared.choices import Claim, Gaps, Scale
from clearwood._shared.errors import (
    Call,
    InputError,
    Option,
    bad_value,
    did_you_mean,
    unknown_choice,
    words,
)
from clearwood._shared.numbers import count
from clearwood._shared.pooling import Pooled, pool
from clearwood._shared.progress import progress
from clearwood.causal.direct.conditions import Condition, conditions_of
from clearwood.causal.direct.result import DirectEffect
from clearwood.causal.graph.graph import Graph
from clearwood.explanation import Explanation, JointCurves, Training, default_values, joint_curves
from clearwood.models import Learner
from clearwood.table import Table, complete_rows, gap_shares, gaps_listed, imputed_tables

__all__ = ["direct_effect"]

# Changes of a prediction that differ by less than this share of the largest are all the same.
_ROUNDING = 1e-9
# Draws of rows that lack a level that is compared are drawn again at most this often.
_MOST_DRAWS = 100


def direct_effect(
    model: Any,
    data: Any,
    columns: str | Sequence[str] | None = None,
    *,
    graph: Any = None,
    at: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    claim: Claim = "model",
    scale: Scale = "response",
    n_refits: int = 0,
    gaps: Gaps = "fill",
    imputations: int = 20,
    confidence: float = 0.9,
    seed: int = 0,
    n_jobs: int = 1,
) -> DirectEffect:
    """Compute the average natural direct effect of columns, as contrasts, and check its conditions.

    It is the change of the mean prediction when the columns are set to a value while all other
    columns stay as they would have been (Hiabu 2024, definition 8.2.1). The partial dependence of
    the columns is this effect up to a constant if the columns that act on other ones share no cause
    with them (theorem 8.2.2, sharpened: see `conditions_of`). Contrasts with a reference are free
    of the constant. With a graph the condition is checked, and a failing one names its arrow;
    without one the result states what is assumed.

    Parameters
    ----------
    model
        A fitted model of any library, or a function of rows.
    data
        The rows over which predictions are averaged, usually the training rows.
    columns
        One column or several, whose values are set together; the protected columns of the table
        when None.
    graph
        A `Graph` with a node for each feature, or anything that makes one.
    at
        The values to compare, the reference first: a list for one column, or values by column, of
        one length each. By default all levels, the most common one as the reference, and of numbers
        the median, then the 5, 25, 75 and 95 per cent points.
    claim
        "model": the effect is on the model's prediction. "world": it is on the target itself; then
        all features together must be unconfounded with the target too, and ``n_refits`` is needed,
        since the model is an estimate.
    scale
        "response": the unit of the target, or the probability of each class. "margin" is before the
        link.
    n_refits
        How many models are fitted again to resampled rows for the band; 100 or more are advisable.
        Rows of one group are drawn together. With 0 the band shows only how far the average could
        move with other rows, for this model as it is.
    gaps
        What becomes of rows with gaps in features. "fill": the model as it is; no condition is then
        known to hold, since a model that has a stand-in for a value does not adjust for it.
        "complete": the model is fitted again to the rows without gaps, and predictions are averaged
        over these. "impute": it is fitted to tables in which gaps are filled by draws given the
        other features and the target, and the effects are joined by Rubin's rules.
    imputations
        How many such tables. The models of ``n_refits`` are divided among them.
    confidence
        The coverage that the band aims at, at each value.
    seed
        Fixes what is drawn.
    n_jobs
        Threads, where the model is read as a forest.

    Returns
    -------
    DirectEffect

    Notes
    -----
    The band from refits is the contrast plus or minus a quantile of the t distribution times the
    standard deviation over the refits. A learner that shrinks effects is biased, and no resampling
    shows its bias: the band then covers what the learner estimates on average. Without refits there
    is no band where the effect is the same for every row, as in a linear model: other rows would
    not change it, which does not make it exact.

    `outside` is, at each value, the share of rows for which no alike row of the data has that
    value: the share of pairs of a value and of the other columns at which the model extrapolates.
    Rows are alike in up to three columns that go with those set.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.insurance(5000)
    >>> model = cw.learner("glm").fit(data)
    >>> graph = cw.datasets.insurance_truth().scm.graph
    >>> effect = cw.direct_effect(model, data, "gender", graph=graph, at=["female", "male"])
    >>> effect.holds, bool(0.05 < effect.effect[1] < 0.1)
    (True, True)
    """
    _check(claim, scale, n_refits, gaps, imputations, confidence, seed)
    causes = graph if graph is None or isinstance(graph, Graph) else Graph(graph)
    explanation, _ = Explanation(model, data, seed=seed, n_jobs=n_jobs).over_positive_weights()
    if explanation.n_rows < 2:
        raise InputError(
            f"the data has {count(explanation.n_rows, 'row')}; an average needs rows that differ",
            parameter="data",
            hint="give the training rows, or a sample of them.",
        )
    names = _named(explanation, columns)
    points = _points(explanation, names, at)
    target = _target(explanation)
    features = [one for one in explanation.predictor().columns if one.name != target]
    shares = gap_shares(features)
    if not shares:
        gaps = "fill"
    if n_refits and gaps == "impute":
        # the errors of tables are averaged, so that all together need the refits of one
        n_refits = max(2, -(-n_refits // imputations))
    options = _Options(points, scale, n_refits, seed, n_jobs)
    if gaps == "fill":
        estimates = [_estimate(explanation, options)]
    else:
        names = tuple(one.name for one in features)
        estimates = list(_without_gaps(explanation, names, options, gaps, imputations))
    curves = estimates[0].curves
    checked = conditions_of(
        causes,
        curves.columns,
        [name for name in curves.others if name != target],
        target=target,
        claim=claim,
        gap_shares=shares if gaps == "fill" else None,
    )
    if gaps != "fill":
        checked = (*checked, _at_random(gaps, shares, target))
    pooled = _joined(estimates, n_refits)
    reach = _quantile(confidence, pooled.freedom) * pooled.standard_errors
    several = len(curves.about.outputs) > 1

    def shown(values: Floats) -> Floats:
        return values if several else values[:, 0]

    return DirectEffect(
        columns=curves.columns,
        others=curves.others,
        at={name: tuple(values.tolist()) for name, values in curves.at.items()},
        effect=shown(pooled.values),
        means=shown(np.mean([one.curves.means() for one in estimates], axis=0)),
        low=shown(pooled.values - reach),
        high=shown(pooled.values + reach),
        standard_errors=shown(pooled.standard_errors),
        confidence=confidence,
        band="refits" if n_refits else "rows",
        n_refits=n_refits * len(estimates),
        outside=np.asarray(np.mean([one.curves.outside for one in estimates], axis=0)),
        conditions=checked,
        claim=claim,
        target=target,
        about=curves.about,
        n_rows=len(curves.rows),
        n_data=curves.n_data if len(curves.rows) < curves.n_data else None,
        seed=seed,
        gaps=gaps,
        gap_shares=shares,
        n_imputations=len(estimates) if gaps == "impute" else None,
    )


@dataclass(frozen=True)
class _Options:
    """What is asked of each model."""

    points: Mapping[str, Sequence[Any]]
    scale: Scale
    n_refits: int
    seed: int
    n_jobs: int


@dataclass(frozen=True, eq=False)
class _Estimate:
    """The contrasts of one model, with their errors: (points, outputs)."""

    curves: JointCurves
    effect: Floats
    errors: Floats


def _estimate(explanation: Explanation, options: _Options, place: int = 0) -> _Estimate:
    """Compute the contrasts of a model over its rows; ``place`` counts imputed tables."""
    curves = joint_curves(
        explanation, options.points, scale=options.scale, seed=options.seed, n_jobs=options.n_jobs
    )
    effect = _contrasts(curves.means())
    errors = (
        _errors_over_rows(curves)
        if not options.n_refits
        else _refitted(explanation, curves, options, place)
    )
    return _Estimate(curves, effect, errors)


def _without_gaps(
    explanation: Explanation,
    features: Sequence[str],
    options: _Options,
    gaps: Gaps,
    imputations: int,
) -> Iterator[_Estimate]:
    """Compute the contrasts of models fitted to complete rows, or to imputed tables."""
    table = explanation.data
    if explanation.in_parts is not None or not isinstance(table, Table) or table.target is None:
        raise InputError(
            "a model is fitted again without gaps, which needs all rows in memory as a table with "
            "its target",
            parameter="gaps",
            value=gaps,
            hint=words("read the table with ", Option("target"), "."),
        )
    if gaps == "complete":
        rows = complete_rows(table, features)
        if len(rows) < 2:
            raise InputError(
                f"{count(len(rows), 'row')} of {table.n_rows:,} are complete, too few to fit the "
                "model again",
                parameter="gaps",
                value=gaps,
                hint=words("fill the gaps by draws: ", Option("gaps", "impute"), "."),
            )
        tables: Any = [table.take(rows)]
    else:
        tables = imputed_tables(table, features, imputations=imputations, seed=options.seed)
    total = 1 if gaps == "complete" else imputations
    with progress("fitting without gaps", total=total) as step:
        for place, one in enumerate(tables):
            model = Training(explanation.model, one, None).fit(np.arange(one.n_rows))
            filled = Explanation(model, one, seed=options.seed, n_jobs=options.n_jobs)
            yield _estimate(filled, options, place)
            step(1)


def _joined(estimates: Sequence[_Estimate], n_refits: int) -> Pooled:
    """Join the contrasts of models by Rubin's rules; those of one model are its own."""
    effects = np.stack([one.effect for one in estimates])
    errors = np.stack([one.errors for one in estimates])
    freedom = len(estimates) * (n_refits - 1.0) if n_refits else np.inf
    if len(estimates) == 1:
        shape = effects[0].shape
        return Pooled(effects[0], errors[0], np.full(shape, freedom), np.zeros(shape))
    return pool(effects, errors**2, freedom)


def _at_random(gaps: Gaps, shares: Mapping[str, float], target: str | None) -> Condition:
    """Return what leaving out rows with gaps, or filling them, assumes; data cannot show it."""
    if gaps == "complete":
        reason = (
            f"{gaps_listed(shares)}: the complete rows stand for all if it does not depend on "
            f"{target!r} which rows these are, given the features, and are averaged over"
        )
    else:
        reason = (
            f"{gaps_listed(shares)}: draws stand for the values if it does not depend on a value "
            f"itself whether it is missing, given the other features and {target!r}, and if these "
            "are related linearly"
        )
    return Condition("gaps at random", None, reason)


def _check(
    claim: str,
    scale: str,
    n_refits: int,
    gaps: str,
    imputations: int,
    confidence: float,
    seed: int,
) -> None:
    """Refuse options that cannot be used."""
    if gaps not in get_args(Gaps):
        raise unknown_choice("gaps", gaps, get_args(Gaps))
    check_whole("imputations", imputations, 2)
    if claim not in get_args(Claim):
        raise unknown_choice("claim", claim, get_args(Claim))
    if scale not in get_args(Scale):
        raise unknown_choice("scale", scale, get_args(Scale))
    if not is_whole(n_refits) or n_refits < 0 or n_refits == 1:
        raise bad_value("n_refits", n_refits, "it is a number of models, 0 or at least 2")
    check_confidence(confidence)
    check_seed(seed)
    if claim == "world" and not n_refits:
        raise InputError(
            "an effect on the target itself needs a band from models fitted again: the model is an "
            "estimate",
            parameter="n_refits",
            value=n_refits,
            hint=words("set ", Option("n_refits", 100), ", or ", Option("claim", "model"), "."),
        )


def _named(explanation: Explanation, columns: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns, those that the table protects by default."""
    data = explanation.data
    features = explanation.predictor().names
    if columns is None:
        chosen = data.protected if isinstance(data, Table) else ()
        if not chosen:
            raise InputError(
                "no column is named, and the table protects none",
                parameter="columns",
                hint=words("name one: ", Call("direct_effect", ("model", "data", "'gender'")), "."),
            )
    else:
        if not isinstance(columns, str | int | Sequence | np.ndarray):
            raise bad_value("columns", columns, "it is one column or several different ones")
        chosen = (columns,) if isinstance(columns, str | int) else tuple(columns)
    if not chosen or len(set(chosen)) < len(chosen):
        raise bad_value("columns", columns, "it is one column or several different ones")
    table_names = data.names if isinstance(data, Table) else ()
    for name in chosen:
        if name in table_names and name not in features:
            raise InputError(
                f"the model does not use column {name!r}, so it has no direct effect on the "
                "prediction",
                parameter="columns",
                value=name,
                hint=f"its features are {', '.join(map(repr, features[:12]))}.",
            )
    return tuple(features[explanation.predictor().position(name)] for name in chosen)


def _points(explanation: Explanation, names: tuple[str, ...], at: Any) -> dict[str, Sequence[Any]]:
    """Return the values to compare, as many of each column."""
    if at is None:
        own = [default_values(explanation, name) for name in names]
        crossed = list(product(*own))
        return {name: [point[k] for point in crossed] for k, name in enumerate(names)}
    if not isinstance(at, Mapping):
        if len(names) > 1:
            raise InputError(
                "the values of several columns are given by column",
                parameter="at",
                hint=words(Option("at", {name: ["…"] for name in names}), "."),
            )
        at = {names[0]: at}
    if set(at) != set(names):
        unknown = [name for name in at if name not in names]
        raise InputError(
            words(Option("at"), f" has values for {sorted(at)}, not for {sorted(names)}"),
            parameter="at",
            value=sorted(at),
            hint=did_you_mean(str(unknown[0]), names) if unknown else None,
        )
    points: dict[str, Sequence[Any]] = {name: _values_of(name, at[name]) for name in names}
    if len({len(values) for values in points.values()}) > 1:
        raise InputError(
            words("the columns in ", Option("at"), " have different numbers of values"),
            parameter="at",
        )
    if len(points[names[0]]) < 2:
        raise bad_value("at", at, "a contrast needs two values or more, the reference first")
    return points


def _values_of(name: str, values: Any) -> list[Any]:
    """Return the values of one column as a list."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise bad_value("at", values, f"the values of {name!r} are a list, the reference first")
    # levels 0 and 1 are often written as 0.0 and 1.0
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]


def _target(explanation: Explanation) -> str | None:
    """Return the name of the target, where the data or the model knows it."""
    data, model = explanation.data, explanation.model
    if isinstance(data, Table) and data.target is not None:
        return data.target
    schema = getattr(model, "schema_", None) if isinstance(model, Learner) else None
    return None if schema is None else schema.target


def _contrasts(means: Floats) -> Floats:
    """Return differences to the first point."""
    return means - means[:1]


def _errors_over_rows(curves: JointCurves) -> Floats:
    """Return standard errors of contrasts over rows: (points, outputs).

    They are not known where all rows change by the same: the effect of a linear model does not move
    with other rows, but it is not exact for that.
    """
    changes = curves.each - curves.each[:, :1]
    weights = curves.weights / curves.weights.sum()
    off = changes - np.einsum("i,ijk->jk", weights, changes)
    n = len(weights)
    variance = np.einsum("i,ijk->jk", weights**2, off**2) * n / max(n - 1, 1)
    same = np.abs(off).max(axis=0) <= _ROUNDING * np.abs(curves.each).max(axis=(0, 1))
    same[0] = False  # the reference
    return np.where(same, np.nan, np.sqrt(variance))


def _quantile(confidence: float, freedom: Floats) -> Floats:
    """Return how many standard errors a band has on each side."""
    from scipy import stats

    return np.asarray(stats.t.ppf((1 + confidence) / 2, freedom))


def _refitted(
    explanation: Explanation, curves: JointCurves, options: _Options, place: int
) -> Floats:
    """Return standard deviations of contrasts over models fitted to resampled rows.

    Each average is over the resampled rows too, by the number of times that each was drawn.
    """
    if not (isinstance(explanation.data, Table) and explanation.data.target is not None):
        raise InputError(
            "models are fitted again to the target, which the data does not name",
            parameter="data",
            hint=words("read the table with ", Option("target"), "."),
        )
    training = Training(explanation.model, explanation.data, None)
    points, draws, seed = options.points, options.n_refits, options.seed
    # rows are drawn again for each imputed table
    rng = np.random.default_rng([seed, 1, place] if place else [seed, 1])
    results = []
    with progress("fitting again", total=draws) as step:
        for _ in range(draws):
            chosen = _drawn(rng, explanation.data, points)
            again = Explanation(
                training.fit(chosen),
                explanation.data,
                weights=explanation.own_weights,
                n_jobs=explanation.n_jobs,
            )
            curve = joint_curves(
                again, points, scale=options.scale, rows=curves.rows, extrapolation=False, seed=seed
            )
            times = np.bincount(chosen, minlength=len(training))[curves.rows]
            results.append(_contrasts(curve.means(curves.weights * times)))
            step(1)
    return np.asarray(np.std(results, axis=0, ddof=1))


def _drawn(rng: np.random.Generator, table: Table, points: Mapping[str, Sequence[Any]]) -> Index:
    """Draw rows with replacement, whole groups where there are some, with every level compared."""
    groups = table.groups
    members: list[Index] = []
    if groups is not None:
        _, codes = np.unique(groups, return_inverse=True)
        members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    for _ in range(_MOST_DRAWS):
        if members:
            drawn = rng.integers(0, len(members), len(members))
            chosen = np.concatenate([members[k] for k in drawn])
        else:
            chosen = rng.integers(0, table.n_rows, table.n_rows)
        if _has_levels(table, chosen, points):
            return np.sort(chosen)
    raise InputError(
        "a level that is compared is too rare to fit models to resampled rows",
        parameter="at",
        hint="leave out levels of very few rows.",
    )


def _has_levels(table: Table, chosen: Index, points: Mapping[str, Sequence[Any]]) -> bool:
    """Whether drawn rows have every level that is compared."""
    for name, values in points.items():
        column = table.column(name)
        if column.is_coded:
            codes = {column.levels.index(str(value)) for value in values}
            if not codes <= set(np.unique(column.values[chosen]).tolist()):
                return False
    return True
