"""Columns that learners of the catalogue draw from their causes."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import ClearwoodWarning, InputError, bad_value, did_you_mean
from clearwood._shared.numbers import count
from clearwood.causal.scm.expression import Values
from clearwood.causal.scm.inversion import Inversion
from clearwood.causal.scm.mechanisms import Mechanism, chosen_level, impossible, level_noise
from clearwood.causal.scm.noise import probabilities_between, quantile_of
from clearwood.causal.scm.parse import quoted
from clearwood.fitted import FittedModel
from clearwood.models import Learner, learner
from clearwood.resampling import KFold
from clearwood.table import NUMERIC, Column, Kind, Role, Table, Task, as_table, find_task

if TYPE_CHECKING:
    from clearwood.causal.graph.graph import Graph

__all__ = ["fitted_mechanisms"]

_DEFAULT = "gam"


def fitted_mechanisms(
    graph: Any, data: Any, chosen: Any, *, folds: int, seed: int
) -> dict[str, Mechanism]:
    """Fit each column of a graph to its causes; see `SCM.fit`."""
    from clearwood.causal.graph.graph import Graph

    drawn = graph if isinstance(graph, Graph) else Graph(graph)
    with warnings.catch_warnings():
        # what reading would leave out, such as a column that numbers the rows, is in the graph
        warnings.simplefilter("ignore", ClearwoodWarning)
        table = as_table(data)
    _check(drawn, table)
    if type(folds) is not int or folds < 2:
        raise bad_value("folds", folds, "it is a number of parts, at least 2")
    by_column = chosen if isinstance(chosen, Mapping) else dict.fromkeys(drawn.nodes, chosen)
    for name in by_column:
        if name not in drawn.nodes:
            raise InputError(
                f"a learner is given for {name!r}, which is not in the graph",
                parameter="learner",
                value=name,
                hint=did_you_mean(str(name), drawn.nodes),
            )
    result: dict[str, Mechanism] = {}
    for name in drawn.nodes:
        causes = drawn.parents(name)
        if not causes:
            result[name] = Observed(table.column(name), _shares(table))
        else:
            own = _learner_of(by_column.get(name, _DEFAULT))
            result[name] = _fitted(table, name, causes, own, folds, seed)
    return result


def _learner_of(chosen: Any) -> Learner:
    """Return an unfitted learner, by its name or as it is."""
    from sklearn.base import clone

    if isinstance(chosen, str):
        return learner(chosen)
    if isinstance(chosen, Learner):
        fresh: Learner = clone(chosen)
        return fresh
    raise bad_value("learner", chosen, "it is the name of a learner, or a learner")


def _check(graph: "Graph", table: Table) -> None:
    """Refuse hidden nodes, and columns that are absent, incomplete, or of dates and texts."""
    if graph.hidden:
        raise InputError(
            f"node {graph.hidden[0]!r} is hidden, so nothing can be fitted to it",
            parameter="graph",
            value=graph.hidden[0],
            hint="fit a graph of observed columns, or write the equations.",
        )
    known = {*table.names, *(column.header for column in table.columns)}
    absent = [name for name in graph.nodes if name not in known]
    if len(absent) > 1:  # a single one is named with what is near to it
        raise InputError(
            f"there are no columns {', '.join(map(repr, absent))}, which are nodes of the graph",
            parameter="data",
            value=absent,
            hint=f"the table has {', '.join(map(repr, table.names[:12]))}.",
        )
    for name in graph.nodes:
        column = table.column(name)
        if column.n_missing:
            raise InputError(
                f"column {name!r} has {count(column.n_missing, 'missing value')}",
                parameter="data",
                value=name,
                hint="fit the rows that are complete in the columns of the graph.",
            )
        if column.kind not in NUMERIC and not column.is_coded:
            raise InputError(
                f"column {name!r} holds {column.kind.value}s, not numbers or classes",
                parameter="data",
                value=name,
            )
    if table.n_rows < 10:
        raise InputError(
            f"the data has {count(table.n_rows, 'row')}; a fit needs 10 or more", parameter="data"
        )


def _shares(table: Table) -> Floats | None:
    """Return the weights of the rows as shares; None where all count the same."""
    weights = table.weights
    return None if weights is None else np.asarray(weights / weights.sum())


def _fitted(
    table: Table, name: str, causes: tuple[str, ...], own: Learner, folds: int, seed: int
) -> Mechanism:
    """Fit one column to its causes, and learn its noise on held-out rows."""
    training = _training(table, name, causes)
    task = training.task
    try:
        model = own.fit(training)
        predict = _Prediction(model, tuple(replace(table.column(c), values=None) for c in causes))  # type: ignore[arg-type]
        if task is not None and task.is_classification:
            return FittedClass(name, causes, table.column(name), predict)
        held_out = _held_out(training, own, folds, seed)
    except InputError as error:
        raise InputError(
            f"column {name!r} could not be fitted to {', '.join(map(repr, causes))}: {error}",
            parameter="learner",
            value=name,
        ) from error
    observed, shares = training.y, _shares(training)
    exposure = training.exposure
    if task is Task.COUNT:
        return FittedCount(name, causes, predict, _extra(observed, held_out, training), exposure)
    if task is Task.AMOUNT and (held_out > 0).all():
        return FittedNumber(
            name, causes, predict, observed / held_out, shares, exposure, is_factor=True
        )
    return FittedNumber(
        name, causes, predict, observed - held_out, shares, exposure, is_factor=False
    )


def _training(table: Table, name: str, causes: tuple[str, ...]) -> Table:
    """Return a table in which a column is the target and its causes are the features."""
    column = table.column(name)
    is_target = name == table.target
    roles = {name: Role.TARGET}
    kept = [*causes, name]
    for other, role in table.roles.items():
        is_weight = role in (Role.WEIGHT, Role.GROUP)
        if (is_weight or (role is Role.EXPOSURE and is_target)) and other != name:
            roles[other] = role
            kept += [] if other in kept else [other]
    if is_target and table.task is not None:
        task = table.task
    elif column.is_coded:
        task = Task.BINARY if len(column.levels) == 2 else Task.MULTICLASS
    else:
        # classes are columns of levels: numbers are counted or measured
        is_count = column.kind is Kind.WHOLE and find_task(column.values) is Task.COUNT
        task = Task.COUNT if is_count else Task.REGRESSION
    return Table(tuple(table.column(other) for other in kept), roles, task, source=table.source)


def _held_out(training: Table, own: Learner, folds: int, seed: int) -> Floats:
    """Predict every row by a fit to the other folds."""
    from sklearn.base import clone

    result = np.full(training.n_rows, np.nan)
    k = min(folds, training.n_rows)
    for split in KFold(k).splits(training.n_rows, groups=training.groups, seed=seed):
        model = clone(own).fit(training.take(split.train))
        result[split.test] = model.predict(training.take(split.test))
    return result


def _extra(observed: Floats, predicted: Floats, training: Table) -> float:
    """Estimate by how much counts vary beyond Poisson: the variance is mean + extra × mean²."""
    time = training.exposures
    mean = np.maximum(predicted, 1e-12) * (1 if time is None else time)
    counts = observed * (1 if time is None else time)
    return float(max(0.0, ((counts - mean) ** 2 - mean).sum() / (mean**2).sum()))


@dataclass(frozen=True, eq=False)
class _Prediction:
    """A fitted learner and the columns it takes, without their values."""

    model: Learner
    columns: tuple[Column, ...]

    @property
    def described(self) -> str:
        """The learner and its columns."""
        return f"{self.model.name} of {', '.join(quoted(c.name) for c in self.columns)}"

    def table(self, values: Values) -> Table:
        """Return causes as a table."""
        return Table(
            tuple(
                replace(c, values=values[c.name].astype(np.int32 if c.is_coded else np.float64))
                for c in self.columns
            )
        )

    def mean(self, values: Values, exposure: str | None) -> Floats:
        """Predict; with an exposure among the causes, its multiple."""
        rate = np.asarray(self.model.predict(self.table(values)), np.float64)
        return rate * values[exposure] if exposure in values else rate  # type: ignore[index]

    def up_to(self, values: Values, target: Column) -> Floats:
        """Predict the probability up to each level of the target."""
        view = FittedModel(self.model, classes=target.typed_levels())
        shares = view.predict(self.table(values), scale="probability")
        up_to = shares.cumsum(axis=1)
        return np.asarray(up_to / up_to[:, -1:])


@dataclass(frozen=True, eq=False)
class _Replay:
    """Noise that a function of causes turns into values."""

    again: Any

    def replay(self, values: Values) -> NDArray[Any]:
        """Compute the column with this noise and other causes."""
        return np.asarray(self.again(values))


@dataclass(frozen=True, eq=False)
class Observed:
    """A column without causes: drawn from the values that were observed."""

    column: Column
    shares: Floats | None
    parents: tuple[str, ...] = ()
    text = None
    inversion = Inversion.KEPT
    obstacle = ""

    @property
    def described(self) -> str:
        """How many values it is drawn from."""
        return f"drawn from {count(len(self.column), 'observed value')}"

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return self.column.kind

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of a category."""
        return self.column.levels

    def draw(self, rng: np.random.Generator, n: int, _: Values) -> NDArray[Any]:
        """Draw observed values with replacement."""
        return np.asarray(rng.choice(self.column.values, n, p=self.shares))

    def abduct(self, _: np.random.Generator, observed: Floats, __: Values) -> _Replay:
        """Keep what was observed: nothing acts on it."""
        return _Replay(lambda values: observed)  # noqa: ARG005 - one signature


@dataclass(frozen=True, eq=False)
class FittedNumber:
    """A number: a prediction plus a held-out residual, or times one where amounts are positive."""

    name: str
    parents: tuple[str, ...]
    prediction: _Prediction
    residuals: Floats
    shares: Floats | None
    exposure: str | None
    is_factor: bool
    kind = Kind.NUMBER
    levels: tuple[str, ...] = ()
    text = None
    inversion = Inversion.EXACT
    obstacle = ""

    @property
    def described(self) -> str:
        """The learner and its noise."""
        return f"{self.prediction.described}, {'times' if self.is_factor else 'plus'} a residual"

    def draw(self, rng: np.random.Generator, n: int, values: Values) -> NDArray[Any]:
        """Draw residuals with replacement."""
        return self._with(rng.choice(self.residuals, n, p=self.shares), values)

    def _with(self, noise: Floats, values: Values) -> Floats:
        mean = self.prediction.mean(values, self.exposure)
        return np.asarray(mean * noise if self.is_factor else mean + noise)

    def abduct(self, _: np.random.Generator, observed: Floats, values: Values) -> _Replay:
        """Take the residual."""
        mean = self.prediction.mean(values, self.exposure)
        noise = observed / mean if self.is_factor else observed - mean
        return _Replay(lambda after: self._with(noise, after))


@dataclass(frozen=True, eq=False)
class FittedClass:
    """A class, drawn with the learner's probabilities."""

    name: str
    parents: tuple[str, ...]
    column: Column
    prediction: _Prediction
    text = None
    inversion = Inversion.MONOTONE
    obstacle = ""

    @property
    def described(self) -> str:
        """The learner and what is drawn."""
        return f"{self.prediction.described}, a class drawn with its probabilities"

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return self.column.kind

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of a category."""
        return self.column.levels

    def draw(self, rng: np.random.Generator, n: int, values: Values) -> NDArray[Any]:
        """Draw levels."""
        return chosen_level(self.prediction.up_to(values, self.column), rng.random(n))

    def abduct(self, rng: np.random.Generator, observed: Floats, values: Values) -> _Replay:
        """Draw between the probabilities up to before the level and up to it."""
        up_to = self.prediction.up_to(values, self.column)
        uniform = level_noise(self.name, rng, up_to, observed)
        return _Replay(
            lambda after: chosen_level(self.prediction.up_to(after, self.column), uniform)
        )


@dataclass(frozen=True, eq=False)
class FittedCount:
    """A count: Poisson, or negative binomial where held-out counts vary more."""

    name: str
    parents: tuple[str, ...]
    prediction: _Prediction
    extra: float
    exposure: str | None
    kind = Kind.WHOLE
    levels: tuple[str, ...] = ()
    text = None
    inversion = Inversion.MONOTONE
    obstacle = ""

    @property
    def described(self) -> str:
        """The learner and the distribution of the counts."""
        law = "negative binomial" if self.extra else "Poisson"
        return f"{self.prediction.described}, the mean of a {law} count"

    def _law(self, values: Values) -> Any:
        from scipy import stats

        mean = np.maximum(self.prediction.mean(values, self.exposure), 0.0)
        if not self.extra:
            return stats.poisson(mean)
        size = 1 / self.extra
        return stats.nbinom(size, size / (size + mean))

    def draw(self, rng: np.random.Generator, n: int, values: Values) -> NDArray[Any]:
        """Draw counts."""
        return np.asarray(self._law(values).rvs(n, random_state=rng), np.float64)

    def abduct(self, rng: np.random.Generator, observed: Floats, values: Values) -> _Replay:
        """Draw between the probabilities up to before the count and up to it."""
        odd = (observed < 0) | (observed != np.floor(observed))
        if odd.any():
            raise impossible(self.name, odd, observed)
        law, share = self._law(values), rng.random(len(observed))
        up_to, beyond = probabilities_between(law, observed - 1, observed, share)
        return _Replay(lambda after: np.maximum(quantile_of(self._law(after), up_to, beyond), 0.0))
