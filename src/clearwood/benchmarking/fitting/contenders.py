"""The learners of a benchmark: catalogue names, learners and scikit-learn estimators."""

import hashlib
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor

from clearwood._shared.errors import (
    Call,
    InputError,
    Option,
    Setting,
    bad_value,
    did_you_mean,
    words,
)
from clearwood._shared.numbers import interval
from clearwood.losses import Loss
from clearwood.models import (
    Choice,
    Dimension,
    Job,
    Learner,
    Real,
    TableModel,
    Whole,
    WrappedEstimator,
    catalogue,
    has_probabilities,
    read_selection,
    with_number,
)
from clearwood.table import Table, Task

__all__ = ["BASELINE", "Contender", "contenders"]

Space = Mapping[str, Dimension]

#: The learner that every benchmark has, chosen or not.
BASELINE = "baseline"

#: What a scikit-learn estimator is taken to be in `best(rule="one_se")`: as complex as can be.
_UNKNOWN_COMPLEXITY = 10

#: Numbers of columns that tuning tries for a filter.
_NUMBERS_OF_COLUMNS = 8


@dataclass(frozen=True)
class Contender:
    """A learner of a benchmark, with what tuning needs to know about it.

    Parameters
    ----------
    name
        How it is called in the result; no two contenders share one.
    template
        The unfitted estimator; copies of it are fitted, never itself.
    space
        What tuning searches; empty where there is nothing to tune.
    complexity
        Orders contenders from simple to complex.
    n_rows
        How many rows the table has, on which defaults may depend.
    """

    name: str
    template: Any
    space: Space = field(default_factory=dict)
    complexity: int = _UNKNOWN_COMPLEXITY
    n_rows: int = 0

    @property
    def is_baseline(self) -> bool:
        """Whether it predicts the same for every row, or is called the baseline by the user."""
        entry = self.template.name if isinstance(self.template, Learner) else None
        return BASELINE in (self.name, entry)

    @property
    def defaults(self) -> dict[str, Any]:
        """The values of the searched settings without tuning."""
        known = self.template.get_params(deep=True)
        if isinstance(self.template, Learner) and self.template.task is not None:
            job = Job(Task(self.template.task), self.template.all_settings, n_rows=self.n_rows)
            known |= self.template.entry.resolved(job).settings
        return {key: known[key] for key in self.space}

    def build(self, settings: Mapping[str, Any], *, seed: int) -> Any:
        """Make a fresh estimator with these settings, its random choices fixed by the seed."""
        model = clone(self.template).set_params(**settings)
        known = model.get_params(deep=True)
        # one core each: the benchmark spreads fits over cores, so a fit must not take more
        fixed = {"seed": seed} if isinstance(model, Learner) else _seeds(known, seed)
        if isinstance(model, TableModel):  # the seeds of the learners that it is made of
            fixed |= {key: seed for key in known if key.endswith("__seed")}
        return model.set_params(**fixed, **{key: 1 for key in known if _is_jobs(key)})

    @property
    def family(self) -> str:
        """The catalogue's family of the learner; empty for an estimator from elsewhere."""
        return self.template.entry.family if isinstance(self.template, Learner) else ""

    def with_trees(self, settings: Mapping[str, Any], most: int) -> dict[str, Any]:
        """Return the settings with at most so many trees in a bagged ensemble.

        More trees reduce the variance of every configuration alike, so fewer show which is better.
        """
        if self.family != "ensemble" or "n_estimators" in settings:
            return dict(settings)
        usual = self.template.all_settings.get("n_estimators", 0)  # others are not bagged
        fewer = {} if usual is not None and usual <= most else {"n_estimators": most}
        return {**settings, **fewer}

    @staticmethod
    def first_trees(model: Any, most: int) -> Any:
        """Return a fitted bagged ensemble with its first trees only."""
        small, ensemble = copy(model), copy(model.estimator_)
        ensemble.n_estimators = most
        for attribute in ("estimators_", "estimators_features_"):
            if hasattr(ensemble, attribute):
                setattr(ensemble, attribute, getattr(ensemble, attribute)[:most])
        small.estimator_ = ensemble
        return small

    def identity(self) -> dict[str, Any]:
        """Everything that decides its results, in plain values: for the store."""
        template = self.template
        inner = template.estimator if isinstance(template, WrappedEstimator) else template
        params = {
            key: value
            for key, value in inner.get_params(deep=True).items()
            if not _is_jobs(key) and key not in ("settings", "seed")
        }
        return {
            "name": self.name,
            "type": f"{type(inner).__module__}.{type(inner).__qualname__}",
            "params": {key: _plain(params[key]) for key in sorted(params)},
            "space": {key: repr(dimension) for key, dimension in self.space.items()},
        }

    def encoded(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return settings as JSON values; other values are written as positions in their range."""
        return {key: self._encode(key, value) for key, value in settings.items()}

    def _encode(self, key: str, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        dimension = self.space.get(key)
        if isinstance(dimension, Choice):
            for place, known in enumerate(dimension.values):
                if known is value or (type(known) is type(value) and known == value):
                    return {"choice": place}
        return {"default": True}

    def decoded(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that `encoded` has written."""
        decoded = dict(settings)
        for key, value in settings.items():
            if isinstance(value, Mapping) and "choice" in value:
                dimension = self.space[key]
                assert isinstance(dimension, Choice)
                decoded[key] = dimension.values[value["choice"]]
            elif isinstance(value, Mapping):
                decoded[key] = self.defaults[key]
        return decoded


def contenders(
    learners: Any,
    table: Table,
    loss: Loss,
    *,
    seed: int,
    space: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[Contender, ...]:
    """Turn the user's learners into contenders, each checked against the task and the loss.

    They are one or several of: names of the catalogue, `Learner` objects, scikit-learn estimators,
    and pairs of a name and one of these; or a dict of them by name. The space has ranges to search
    instead of the catalogue's, by the contender's name.
    """
    assert table.task is not None
    named = list(_named(learners))
    if not named:
        raise bad_value(
            "learners", learners, "there is no learner to compare", hint='such as ["ridge", "gbm"].'
        )
    by_name: dict[str, Contender] = {}
    for name, learner in named:
        contender = _contender(name, learner, table, seed)
        unique = _unused(contender.name, by_name, is_chosen=name is not None)
        by_name[unique] = replace(contender, name=unique)
    if space is not None and not _is_by_name(space):
        raise bad_value(
            "space",
            space,
            "it is not a tuning space",
            hint="ranges of settings by learner: {'knn': {'n_neighbors': Whole(1, 50)}}.",
        )
    for name, ranges in (space or {}).items():
        if name not in by_name:
            raise InputError(
                words(Option("space"), f" has {name!r}, which is not compared"),
                parameter="space",
                value=name,
                hint=did_you_mean(name, by_name),
            )
        by_name[name] = _with_space(by_name[name], ranges)
    for contender in by_name.values():
        _check_predictions(contender, loss)
    return tuple(by_name.values())


def _is_by_name(space: Any) -> bool:
    return isinstance(space, Mapping) and all(isinstance(one, Mapping) for one in space.values())


def _named(learners: Any) -> Iterable[tuple[str | None, Any]]:
    if isinstance(learners, Mapping):
        return [(str(name), learner) for name, learner in learners.items()]
    if isinstance(learners, str) or hasattr(learners, "fit"):
        return [(None, learners)]
    if not isinstance(learners, Iterable):
        raise bad_value(
            "learners", learners, "it is not a list of learners", hint='such as ["ridge", "gbm"].'
        )
    return [
        (str(one[0]), one[1]) if isinstance(one, tuple) and len(one) == 2 else (None, one)
        for one in learners
    ]


def _contender(name: str | None, learner: Any, table: Table, seed: int) -> Contender:
    task = table.task
    assert task is not None
    if isinstance(learner, str):
        learner = Learner(learner, task=task.value, seed=seed)
    if isinstance(learner, Learner):
        learner.check_settings()
        entry = learner.entry
        entry.require()
        if task not in entry.tasks:
            able = ", ".join(repr(other) for other in catalogue.names(task)[:8])
            raise InputError(
                f"learner {entry.name!r} cannot be used for {task} (only for "
                f"{', '.join(sorted(entry.tasks))})",
                parameter="learners",
                value=entry.name,
                hint=f"learners that can: {able}, ...",
            )
        # constraints as a parameter, so that a store of earlier folds tells them apart
        template = learner.constrained(table).set_params(task=task.value)
        template.check_settings(table)
        # what the user set is not searched, unless `space` says so
        searched = {k: one for k, one in entry.space.items() if k not in (learner.settings or {})}
        space = {**searched, **_numbers_of_columns(template, table)}
        return Contender(name or entry.name, template, space, entry.complexity, table.n_rows)
    if isinstance(learner, type) or not (
        hasattr(learner, "fit") and hasattr(learner, "get_params")
    ):
        raise InputError(
            f"{learner!r} is not a learner",
            parameter="learners",
            value=learner,
            hint=words(
                "use a name of the catalogue, ",
                Call("learner", ("name",)),
                " or a scikit-learn estimator.",
            ),
        )
    if table.schema.monotone:
        raise InputError(
            f"{type(learner).__name__} is not a learner of the catalogue, so it does not get the "
            "directions that the table was read with",
            parameter="learners",
            value=learner,
            hint=words("leave it out, or read the table without ", Option("monotone"), "."),
        )
    is_wrong = is_regressor(learner) if task.is_classification else is_classifier(learner)
    if is_wrong:
        kind = "regressor" if task.is_classification else "classifier"
        raise InputError(
            f"{type(learner).__name__} is a {kind}, but the task is {task}",
            parameter="learners",
            value=learner,
        )
    if isinstance(learner, TableModel):
        return Contender(name or type(learner).__name__, clone(learner))
    return Contender(name or type(learner).__name__, WrappedEstimator(clone(learner)))


def _numbers_of_columns(learner: Learner, table: Table) -> dict[str, Dimension]:
    """Return numbers of columns to choose, for a filter that is to choose no number of them."""
    if learner.select is None:
        return {}
    spec = read_selection(learner.select)
    if spec.n is not None or spec.method.family != "filter":
        return {}
    counts = Whole(1, table.n_features, log=True).grid(_NUMBERS_OF_COLUMNS)
    return {"select": Choice(*(with_number(learner.select, n) for n in counts))}


def _unused(name: str, taken: Mapping[str, Contender], *, is_chosen: bool) -> str:
    if name not in taken:
        return name
    if is_chosen:
        raise InputError(
            f"two learners are called {name!r}",
            parameter="learners",
            value=name,
            hint="names must differ.",
        )
    return next(f"{name} {i}" for i in range(2, len(taken) + 3) if f"{name} {i}" not in taken)


def _with_space(contender: Contender, ranges: Mapping[str, Any]) -> Contender:
    known = contender.template.get_params(deep=True)
    own = {"name", "task", "categories", "monotone", "seed", "n_jobs", "settings", "estimator"}
    # `select` can be searched: a list of requests
    settable = [key for key in known if key not in own]
    for key in ranges:
        if key not in settable:
            raise InputError(
                f"the tuning space of {contender.name!r} has {key!r}, which is not one of its "
                "settings",
                parameter="space",
                value=key,
                hint=did_you_mean(key, settable),
            )
    space = {key: _dimension(key, each) for key, each in ranges.items()}
    if isinstance(contender.template, Learner) and "select" in space:
        _check_requests(space["select"])
    return replace(contender, space=space)


def _check_requests(requests: Dimension) -> None:
    """Refuse ways to select columns that are none; None among them is to use all columns."""
    if not isinstance(requests, Choice):
        raise bad_value(
            "space",
            requests,
            "the ways to select columns are a list",
            hint="such as ['anova:5', 'anova:10', None].",
        )
    for request in requests.values:
        if request is not None:
            read_selection(request)


def _dimension(key: str, values: Any) -> Dimension:
    if isinstance(values, Real | Whole):
        if not values.low <= values.high or (values.log and values.low <= 0):
            raise InputError(
                f"the range of {key!r} is {interval(values.low, values.high)}",
                parameter="space",
                value=values,
                hint="it must increase, and start above zero on a log scale.",
            )
        return values
    if isinstance(values, Choice) and values.values:
        return values
    if isinstance(values, Iterable) and not isinstance(values, str):
        listed = list(values)
        if listed:
            return Choice(*listed)
    raise InputError(
        f"the range of {key!r} is {values!r}",
        parameter="space",
        value=values,
        hint="use a list of values, or Real(low, high), Whole(low, high), Choice(...).",
    )


def _check_predictions(contender: Contender, loss: Loss) -> None:
    """Refuse a learner without the predictions that the loss needs: it would fail in every fold."""
    can_give_shares = has_probabilities(contender.template)
    has_scores = hasattr(contender.template, "decision_function")
    needs_probabilities = loss.needs == "probability" or loss.threshold != 0.5
    if (needs_probabilities and not can_give_shares) or (
        loss.needs == "margin" and not (can_give_shares or has_scores)
    ):
        can = "probabilities" in getattr(contender.template, "all_settings", {})
        own = ("fit it with ", Setting("probabilities", "platt"), ", ") if can else ()
        raise InputError(
            f"learner {contender.name!r} has no probabilities, which the {loss.name} loss needs",
            parameter="learners",
            value=contender.name,
            hint=words("leave it out, ", *own, "or use ", Option("loss", "zero-one"), "."),
        )


def _is_jobs(key: str) -> bool:
    return key.rpartition("__")[2] in ("n_jobs", "thread_count", "nthread")


def _seeds(params: Mapping[str, Any], seed: int) -> dict[str, int]:
    """Random states of an estimator and its parts that are left open."""
    return {
        key: seed
        for key, value in params.items()
        if key.rpartition("__")[2] == "random_state" and value is None
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array {value.dtype} {value.shape} {digest}"
    if isinstance(value, BaseEstimator):
        return f"{type(value).__module__}.{type(value).__qualname__}"
    return getattr(value, "__qualname__", None) or type(value).__qualname__
