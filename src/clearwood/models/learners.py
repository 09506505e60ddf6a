"""A catalogue learner as a scikit-learn estimator: encoding and model in one."""

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Self, cast, overload

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import check_confidence, check_seed
from clearwood._shared.errors import (
    Draw,
    InputError,
    Option,
    Scan,
    bad_value,
    did_you_mean,
    unknown_choice,
    words,
)
from clearwood._shared.messages import tell
from clearwood._shared.numbers import count, number
from clearwood.checks import Level, LevelWarning, level_of
from clearwood.kernels import limited, threads
from clearwood.models import catalogue
from clearwood.models.entries.entry import Categories, Entry, Job
from clearwood.models.entries.stages import Rows, with_best_leaves, with_best_trees
from clearwood.models.extrapolation import column_ranges
from clearwood.models.monotone import check_learner, constraints, ordered_columns, with_schema
from clearwood.models.over_parts.encoded_rows import Encoding
from clearwood.models.prediction_files import written_predictions
from clearwood.models.prediction_intervals import PredictionIntervals
from clearwood.models.selection.result import Selection
from clearwood.models.selection.select import select_columns
from clearwood.models.selection.spec import read_selection
from clearwood.models.separation import (
    warn_of_levels_without_events,
    warn_of_separation,
)
from clearwood.models.shared.unit import multiplies, multiply, unit_of
from clearwood.models.solver_messages import convergence_named, too_large_named
from clearwood.models.streaming import check_streams, fit_in_parts
from clearwood.models.table_model import TableModel
from clearwood.parallel import Written
from clearwood.table import (
    Encoder,
    Kind,
    Parts,
    Table,
    Task,
    as_table,
    check_columns,
    find_task,
    learn_encoder,
)

__all__ = ["Learner", "learner"]

#: Where the state of a registered learner keeps its entry.
_ENTRY = "entry of the catalogue"


def learner(
    name: str,
    *,
    task: str | None = None,
    categories: str | None = None,
    monotone: Mapping[str, str] | None = None,
    select: str | None = None,
    rebalance: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    **settings: Any,
) -> "Learner":
    """Make a learner of the catalogue by its short name.

    Parameters
    ----------
    name
        A name that ``clearwood models`` lists.
    task
        "regression", "count", "amount", "binary" or "multiclass"; inferred from the target when
        None.
    categories
        How categories are encoded: "onehot", "ordinal", "native" or "target"; the entry's default
        when None.
    monotone
        Columns with which the prediction must rise ("up") or fall ("down"), everything else being
        equal: ``{"age": "up", "income": "down"}``. For two classes it is the probability of the
        second.
    select
        Choose columns from the training rows before the model sees them: a method, perhaps with
        the number of columns and options, such as "anova:10", "boruta" or "knockoffs:fdr=0.1"
        (`clearwood.models.SELECTIONS`). All columns are used when None.
    rebalance
        For counts and amounts: multiply the predictions of a model with a log link by a constant,
        so that they add up to the total of the training rows.
    seed
        Fixes every random choice.
    n_jobs
        Threads or processes the model may use.
    **settings
        The learner's own settings; ``clearwood models NAME`` lists them.

    Returns
    -------
    Learner

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("ridge", alpha=1.0).fit(data)
    >>> model.predict(data.head(2)).shape
    (2,)
    """
    new = Learner(
        name,
        task=task,
        categories=categories,
        monotone=monotone,
        select=select,
        rebalance=rebalance,
        seed=seed,
        n_jobs=n_jobs,
        settings=settings or None,
    )
    new.check_settings()
    return new


def _can(method: str) -> Any:
    """Whether a learner has a method: by its model once fitted, by its task before."""

    def check(self: "Learner") -> bool:
        if hasattr(self, "estimator_"):
            return self.task_.is_classification and hasattr(self.estimator_, method)
        if self.task not in (Task.BINARY, Task.MULTICLASS):
            return self.task is None
        job = Job(Task(self.task), self.all_settings)
        return hasattr(self.entry.build(self.entry.resolved(job)), method)

    return check


def _has_intervals(model: "Learner") -> bool:
    """Whether predictions have intervals."""
    if hasattr(model, "estimator_"):
        return hasattr(model.estimator_, "predict_interval")
    return True  # known once it is fitted


class Learner(TableModel):
    """A catalogue entry that can be fitted to a table.

    ``fit`` learns the encoding (levels, imputation, scale) and the model from the same rows, so
    that resampling a learner resamples everything it learns. Data may be a `Table`, a pandas,
    polars or Arrow frame, or a numpy array; names decide which column is which.

    Parameters
    ----------
    name
        The entry of the catalogue.
    task
        What is predicted; inferred from the target when None.
    categories
        How categories are encoded: "onehot", "ordinal", "native" or "target"; the entry's default
        when None.
    monotone
        Columns with which the prediction must rise ("up") or fall ("down"), everything else being
        equal: ``{"age": "up", "income": "down"}``. For two classes it is the probability of the
        second.
    select
        Choose columns from the training rows before the model sees them: a method, perhaps with
        the number of columns and options, such as "anova:10", "boruta" or "knockoffs:fdr=0.1"
        (`clearwood.models.SELECTIONS`). All columns are used when None.
    rebalance
        For counts and amounts: multiply the predictions of a model with a log link by a constant,
        so that they add up to the total of the training rows.
    seed
        Fixes every random choice.
    n_jobs
        Threads or processes the model may use.
    settings
        Settings of the entry; those left out have the entry's defaults. ``set_params`` and
        ``get_params`` know them by their own names, so searches of scikit-learn can tune them.

    Attributes
    ----------
    task_ : Task
    encoder_ : Encoder
        Maps the user's columns to the model's and back.
    estimator_ : object
        The fitted model of the underlying library.
    schema_ : Schema
        The columns seen in fitting.
    selection_ : Selection or None
        The columns that ``select`` chose, with the scores of all.
    selected_ : tuple of str
        The columns that the model was given.
    classes_ : ndarray
        For classes: the labels, in the order of ``predict_proba``.
    training_ : dict
        Rows, columns, seconds and versions of the fit, and the least and greatest value of each
        column of numbers or dates (in days since 1970) and of the target, in plain values.

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> model = cw.Learner("logistic", settings={"C": 0.5}).fit(wine)
    >>> model.predict_proba(wine.head(3)).shape
    (3, 3)
    """

    def __init__(
        self,
        name: str = "gbm",
        *,
        task: str | None = None,
        categories: str | None = None,
        monotone: Mapping[str, str] | None = None,
        select: str | None = None,
        rebalance: bool = False,
        seed: int = 0,
        n_jobs: int = 1,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.task = task
        self.categories = categories
        self.monotone = monotone
        self.select = select
        self.rebalance = rebalance
        self.seed = seed
        self.n_jobs = n_jobs
        self.settings = settings

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        set_by_user = self.changed_parameters
        options = [
            f"{key}={value!r}" for key, value in {**set_by_user, **(self.settings or {})}.items()
        ]
        return f"Learner({', '.join([repr(self.name), *options])})"[:N_CHAR_MAX]

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes and, for a registered learner, its entry.

        A process that works for this one may not have registered it.
        """
        state = dict(super().__getstate__())
        is_registered = self.name in catalogue.names() and self.entry not in catalogue.built_in()
        return {**state, _ENTRY: self.entry} if is_registered else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        entry = state.get(_ENTRY)
        if entry is not None and entry.name not in catalogue.names():
            catalogue.register(entry)
        super().__setstate__({key: value for key, value in state.items() if key != _ENTRY})

    @property
    def changed_parameters(self) -> dict[str, Any]:
        """The parameters other than name and settings that do not have their default values."""
        own: dict[str, Any] = {"task": None, "categories": None, "monotone": None}
        own |= {"select": None, "rebalance": False, "seed": 0, "n_jobs": 1}
        return {key: getattr(self, key) for key in own if getattr(self, key) != own[key]}

    @property
    def described(self) -> str:
        """What messages call it."""
        return f"learner {self.name!r}"

    @property
    def entry(self) -> Entry:
        """The catalogue's entry of this learner."""
        return catalogue.get(self.name)

    @property
    def all_settings(self) -> dict[str, Any]:
        """The entry's defaults with this learner's settings on top."""
        return {**self.entry.defaults, **(self.settings or {})}

    def check_settings(self, table: Table | None = None) -> None:
        """Raise where the name or a setting is unknown, or constraints cannot be kept.

        Parameters
        ----------
        table
            Whose columns the constraints are checked against; by default they are checked in
            fitting.
        """
        defaults = self.entry.defaults
        for key in self.settings or {}:
            if key not in defaults:
                raise InputError(
                    f"learner {self.name!r} has no setting {key!r}",
                    parameter=key,
                    value=(self.settings or {})[key],
                    hint=did_you_mean(key, defaults),
                )
        check_seed(self.seed)
        threads(self.n_jobs)
        spec = None if self.select is None else read_selection(self.select)
        check_learner(self.entry, self.monotone, None if self.task is None else self._chosen_task())
        if table is not None:
            if spec is not None:
                spec.check(len(table.features))
            check_columns(self.monotone, table)
            # also those that the table was read with
            check_learner(self.entry, with_schema(self.monotone, table.schema), table.task)

    @property
    def monotone_(self) -> dict[str, str] | None:
        """The constraints of the fitted model: its own, and those that the table was read with."""
        check_is_fitted(self, "schema_")
        return with_schema(self.monotone, self.schema_)

    def constrained(self, table: Table) -> Self:
        """Return an unfitted copy with the constraints that the table was read with as its own."""
        monotone = with_schema(self.monotone, table.schema)
        return cast("Self", clone(self)).set_params(monotone=monotone)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - sklearn's
        """Return the parameters; with ``deep``, every setting under its own name as well."""
        own: dict[str, Any] = super().get_params(deep=False)
        if deep and self.name in catalogue.names():
            return {**self.all_settings, **own}
        return own

    def set_params(self, **params: Any) -> Self:
        """Change parameters and settings by name."""
        own = set(self._get_param_names())
        settings = {}
        for key, value in params.items():
            if key in own:
                setattr(self, key, value)
            else:
                settings[key] = value
        if settings:
            self.settings = {**(self.settings or {}), **settings}
            self.check_settings()
        return self

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        distributed: bool | None = None,
    ) -> Self:
        """Learn encoding and model.

        Parameters
        ----------
        X
            A `Table` with a target, or features in any supported form; or `Parts`, for learners
            that can be fitted without all rows in memory.
        y
            The target, unless the table names it.
        sample_weight
            Row weights, unless the table names them.
        checkpoint
            For parts: a file that keeps the trees grown so far. The same call goes on from it if
            the fit was interrupted; it is removed when the fit is done.
        distributed
            For parts: True to grow the trees on the workers of the Dask cluster that a surrounding
            ``joblib.parallel_config(backend="dask")`` chose, False to grow them here. By default
            here, and on the cluster where there is one and this machine has no room for the bins.

        Returns
        -------
        Learner
            Itself, fitted.
        """
        start = time.perf_counter()
        self.check_settings()
        entry = self.entry
        entry.require()
        if isinstance(X, Parts):
            return self._fit_parts(X, y, sample_weight, checkpoint, start, distributed=distributed)
        for name, given in {"checkpoint": checkpoint, "distributed": distributed}.items():
            if given:
                raise InputError(
                    words(Option(name), " is for tables in parts"),
                    parameter=name,
                    value=str(given),
                    hint=words("leave it out, or read the table with ", Scan()),
                )
        whole, target, weight = self._training_rows(X, y, sample_weight)
        table, target, weight = _with_weight(whole, target, weight)
        self.task_ = self._task_of(table, target)
        self._prepare(table)
        if self.task_.is_classification:
            check_classification_targets(target)
            self.classes_, target = np.unique(target, return_inverse=True)
        self.selection_ = self._selection(table, target, weight)
        is_constant = self.selection_ is not None and not self.selection_.selected
        used = table if not self.selected_ else table.select(self.selected_)
        encoder = self._new_encoder(table)
        encoded = encoder.fit_transform(used, target, sample_weight=weight)
        encoder.left_out_ |= dict.fromkeys(self._unselected, "not selected")
        self.encoder_ = encoder
        job = self.job(self.all_settings, target)
        if is_constant:
            entry, job = _baseline(job)
        # weights without an exposure are repetitions
        exposure = None if sample_weight is not None else table.exposures
        unfitted = entry.build(job)
        is_mean = self.task_ in (Task.COUNT, Task.AMOUNT)
        if self.rebalance and not is_constant:
            self._check_rebalanced(entry, unfitted)
        unit = unit_of(self.task_, unfitted, target, weight, exposure)
        weight, exposure = unit.weights(weight), unit.weights(exposure)
        divided = unit.targets(target)
        # n_jobs holds for the threads of compiled loops too; without it they take every core
        with (
            convergence_named(entry.name),
            too_large_named(entry.name, encoder, encoded),
            limited(effective_n_jobs(self.n_jobs)),
        ):
            role = "weight" if table.exposure is None else "exposure"
            if entry.stages is not None and self.all_settings[entry.stages.setting] is None:
                job = with_best_trees(entry, job, Rows(encoded, divided, weight), table.groups)
            if is_mean and entry.leaf_rows and self.all_settings[entry.leaf_rows] is None:
                job = with_best_leaves(entry, job, Rows(encoded, divided, weight), table.groups)
            self.estimator_ = _fit(entry, job, encoded, divided, weight, role, exposure)
            multiply(self.estimator_, unit.target)
            level = self._levelled(table, encoded, target, weight)
        self._warn_of_unbounded(entry, job, encoded, target, weight)
        settings = {} if is_constant else _resolved(self.all_settings, job.settings)
        self.training_ = self._training(whole, whole, settings, start, target)
        if sample_weight is not None:
            self.training_["counted_by"] = "weight"
        if level is not None:
            self.training_["level"] = level.to_json()
        self._tell_left_out()
        return self

    @property
    def can_rebalance(self) -> bool:
        """Whether ``rebalance`` is for this learner and its task, which must be stated."""
        if self.task not in (Task.COUNT, Task.AMOUNT):
            return False
        job = Job(Task(self.task), self.all_settings)
        return multiplies(self.entry.build(self.entry.resolved(job)))

    def _warn_of_unbounded(
        self, entry: Entry, job: Job, encoded: Floats, target: NDArray[Any], weight: Floats | None
    ) -> None:
        """Warn where nothing keeps coefficients finite."""
        sources = [one.source for one in self.encoder_.columns_]
        free = entry.unpenalised
        is_free = free is not None and free.items() <= job.settings.items()
        if self.task_.is_classification:
            if is_free or (free is not None and job.settings.get("C") == math.inf):
                warn_of_separation(
                    entry.name,
                    self.estimator_,
                    encoded,
                    target,
                    weight,
                    sources=sources,
                    classes=self.classes_,
                    penalty=job.settings["penalty"],
                )
        elif is_free:
            warn_of_levels_without_events(
                entry.name, self.estimator_, encoded, target, weight, sources
            )

    def _levelled(
        self, table: Table, encoded: Floats, target: NDArray[Any], weight: Floats | None
    ) -> Level | None:
        """Compare the predictions for the training rows with the target, and rebalance them."""
        if self.task_ not in (Task.COUNT, Task.AMOUNT) or not multiplies(self.estimator_):
            return None
        predicted = np.asarray(self.estimator_.predict(encoded), np.float64).reshape(-1)
        level = level_of(target, predicted, weight, table.groups)
        if self.rebalance and level is not None:
            multiply(self.estimator_, level.ratio)
        elif level is not None and level.is_off:
            said = words(f"{self.described}: on the training rows ", level.advice)
            tell(said, category=LevelWarning)
        return level

    def _check_rebalanced(self, entry: Entry, unfitted: Any) -> None:
        """Refuse tasks and learners without a log link."""
        why = f"the predictions of learner {entry.name!r} for {self.task_} have no log link"
        if self.task_ not in (Task.COUNT, Task.AMOUNT):
            why = f"only predictions of counts and amounts are rebalanced, and this is {self.task_}"
        elif multiplies(unfitted):
            return
        raise InputError(
            why,
            parameter="rebalance",
            value=True,
            hint=words(
                "leave ",
                Option("rebalance"),
                " out, or take 'glm', 'gbm' or 'gam' for a count or an amount.",
            ),
        )

    @property
    def level_(self) -> Level | None:
        """Observed / expected of the training rows, before any rebalancing; None if not known."""
        check_is_fitted(self, "training_")
        facts = self.training_.get("level")
        if facts is None:
            return None
        known = {name: math.nan if value is None else value for name, value in facts.items()}
        return Level(**{name: known[name] for name in ("ratio", "low", "high", "confidence")})

    def _prepare(self, table: Table) -> None:
        """Check task and constraints, and remember the columns."""
        entry = self.entry
        if self.task_ not in entry.tasks:
            able = ", ".join(repr(name) for name in catalogue.names(self.task_)[:8])
            raise InputError(
                f"learner {entry.name!r} does not support {self.task_} "
                f"(it supports {', '.join(sorted(entry.tasks))})",
                parameter="learner",
                value=entry.name,
                hint=words(
                    f"choose another, such as {able}; or set ",
                    Option("task"),
                    " if it was inferred wrongly.",
                ),
            )
        monotone = with_schema(self.monotone, table.schema)
        check_learner(entry, monotone, self.task_)
        check_columns(monotone, table)
        self.schema_ = table.schema
        self.n_features_in_ = len(table.features)

    def _new_encoder(self, table: Table) -> Encoder:
        entry = self.entry
        return Encoder(
            # checked by the encoder
            categories=cast("Categories", self.categories or entry.categories),
            missing=entry.missing,
            ranked=ordered_columns(with_schema(self.monotone, table.schema), table),
            scale=entry.scale,
            reference=entry.reference,
            native_levels=entry.native_levels,
            task=self.task_.value,
            seed=self.seed,
            # trees divide rows where levels are 0 and 1
            unseen="mean" if entry.categories == "onehot" and entry.reading != "tree" else "zeros",
        )

    def _training(
        self,
        table: Table | Parts,
        ends: Table,
        settings: dict[str, Any],
        start: float,
        target: NDArray[Any] | None,
    ) -> dict[str, Any]:
        """Describe the fit; ``ends`` has the least and greatest values, as ``target`` has."""
        of_target: dict[str, Any] = {}
        if target is not None and len(target) and not self.task_.is_classification:
            of_target["target_range"] = [float(np.nanmin(target)), float(np.nanmax(target))]
        return {
            "rows": table.n_rows,
            "counted_by": table.schema.counted_by,
            "dropped": table.dropped,
            "columns": len(table.features),
            "model_columns": len(self.encoder_.columns_),
            "source": table.source,
            "ranges": column_ranges(ends),
            **of_target,
            "settings": settings,
            "left_out": _left_out(self.encoder_, self.estimator_, self.selected_),
            "notes": self._bands_of_one_class(),
            "seconds": round(time.perf_counter() - start, 3),
            "versions": dict(_versions()),
        }

    def _fit_parts(
        self,
        parts: Parts,
        y: Any,
        sample_weight: Any,
        checkpoint: str | os.PathLike[str] | None,
        start: float,
        *,
        distributed: bool | None,
    ) -> Self:
        """Learn encoding and model from rows that are read batch by batch."""
        for name, given in {"y": y, "sample_weight": sample_weight}.items():
            if given is not None:
                raise InputError(
                    f"{name} cannot be passed with a table in parts",
                    parameter=name,
                    hint=words(
                        "name its column when the table is read: ",
                        Option("target" if name == "y" else "weight", "COLUMN"),
                        ".",
                    ),
                )
        check_streams(self.entry, self.categories, self.all_settings)
        if self.select is not None:
            raise InputError(
                words(Option("select", self.select), " needs all rows in memory"),
                parameter="select",
                value=self.select,
                hint=words(
                    "this table is read in parts: choose the columns on a sample of the rows, ",
                    Draw(value=200_000),
                    ", and leave the others out when the table is read.",
                ),
            )
        self.selection_ = None
        empty = parts.empty
        target = empty.target_column
        chosen = None if self.task is None else self._chosen_task()
        self.task_ = chosen or cast("Task", parts.task)
        if self.task_.is_classification != target.is_coded:
            raise InputError(
                f"the target {target.name!r} was read for {parts.task}, not for {self.task_}",
                parameter="task",
                value=str(self.task_),
                hint=words("read the table with ", Option("task", str(self.task_)), "."),
            )
        self._prepare(empty)
        if self.task_.is_classification:
            self.classes_ = np.unique(target.typed_levels())
        self.encoder_ = learn_encoder(self._new_encoder(empty), parts)
        job = self._job(self.all_settings, parts.n_rows, 0.0)
        if self.rebalance:
            self._check_rebalanced(self.entry, self.entry.build(self.entry.resolved(job)))
        path = None if checkpoint is None else Path(checkpoint)
        with convergence_named(self.name), limited(effective_n_jobs(self.n_jobs)):
            self.estimator_, job = fit_in_parts(
                self, parts, self.task_, job, path, distributed=distributed
            )
        level = self._rebalanced_in_parts(parts) if self.rebalance else None
        ends = replace(empty, columns=parts.shown)
        settings = _resolved(self.all_settings, job.settings)
        # rows are shown with the least and greatest value of each column, not of rates
        target_ends = None if parts.exposure is not None else ends.column(target.name).values
        self.training_ = self._training(parts, ends, settings, start, target_ends)
        if level is not None:
            self.training_["level"] = level.to_json()
        return self

    def _rebalanced_in_parts(self, parts: Parts) -> Level:
        """Read the rows once more, and multiply predictions so that they add up to the total."""
        observed = expected = 0.0
        for X, y, weight in Encoding(self.encoder_, None, parts, self.seed).batches(parts):
            shares = np.ones(len(y)) if weight is None else weight
            observed += float(shares @ y)
            expected += float(shares @ np.ravel(self.estimator_.predict(X)))
        ratio = observed / expected
        multiply(self.estimator_, ratio)
        return Level(ratio=ratio, low=math.nan, high=math.nan)

    @property
    def notes_(self) -> tuple[str, ...]:
        """What the reader of a fitted model should know: columns left out, bands of one class."""
        check_is_fitted(self, "training_")
        reasons: dict[str, list[str]] = {}
        for name, why in self.training_.get("left_out", {}).items():
            reasons.setdefault(why, []).append(name)
        return (
            *(
                f"{count(len(names), 'column')} left out of the model ({why}): "
                f"{', '.join(map(repr, names))}"
                for why, names in reasons.items()
            ),
            *self._notes_of_level(),
            *self.training_.get("notes", ()),
        )

    def _notes_of_level(self) -> list[str]:
        """Say that predictions were rebalanced, or that their level is off."""
        level = self.level_
        if level is None:
            return []
        if self.rebalance:
            factor = number(level.ratio)
            return [f"predictions are multiplied by {factor}: on the training rows {level.text}"]
        return [str(words("on the training rows ", level.advice))] if level.is_off else []

    def _bands_of_one_class(self) -> list[str]:
        """Name the bands whose training rows are all of one class, with their rows."""
        target = self.schema_.outcome or "the target"
        return [
            f"{'missing' if is_missing else 'known'} values of "
            f"{self.encoder_.columns_[k].name!r}: {count(n_rows, 'training row')}, all with "
            f"{target} = {self.classes_[label]}; half a row of both classes is added"
            for k, is_missing, label, n_rows in getattr(self.estimator_, "one_class_", ())
        ]

    def _tell_left_out(self) -> None:
        """Warn of columns left out that the user has named in a constraint or a setting."""
        named = set(self.monotone_ or {})
        for value in (self.settings or {}).values():
            named |= set(value) if isinstance(value, Mapping) else set()
        for name, why in self.training_["left_out"].items():
            if name in named:
                tell(
                    f"learner {self.name!r}: column {name!r}, which has a constraint or a setting, "
                    f"is left out of the model: {why}"
                )

    @property
    def selected_(self) -> tuple[str, ...]:
        """The columns that the model was given: those that ``select`` chose, else all features."""
        check_is_fitted(self, "schema_")
        selection = getattr(self, "selection_", None)
        return self.schema_.features if selection is None else selection.selected

    @property
    def _unselected(self) -> tuple[str, ...]:
        chosen = set(self.selected_)
        return tuple(name for name in self.schema_.features if name not in chosen)

    def _selection(
        self, table: Table, target: NDArray[Any], weight: Floats | None
    ) -> Selection | None:
        """Choose columns, where this is asked for."""
        if self.select is None:
            return None

        def make(names: Sequence[str]) -> Learner:
            """Make the learner for some columns, for methods that fit it."""
            ways = {table.column(name).name: way for name, way in (self.monotone or {}).items()}
            return cast("Learner", clone(self)).set_params(
                select=None,
                task=self.task_.value,
                monotone={name: way for name, way in ways.items() if name in names} or None,
            )

        with limited(effective_n_jobs(self.n_jobs)):
            selection = select_columns(
                read_selection(self.select),
                table,
                target,
                weight,
                task=self.task_,
                seed=self.seed,
                make=make,
            )
        if not selection.selected:
            tell(
                words(
                    Option("select", self.select),
                    ": no column is selected, so that the model predicts the same for every row",
                )
            )
        return selection

    def job(self, settings: Mapping[str, Any], target: NDArray[Any]) -> Job:
        """Return what the entry needs to build an estimator for the columns it has encoded."""
        zeros = 0.0 if self.task_.is_classification else float(np.mean(target == 0))
        return self.entry.resolved(self._job(settings, len(target), zeros))

    def _job(self, settings: Mapping[str, Any], n_rows: int, zeros: float) -> Job:
        encoder = self.encoder_
        sources = [one.source for one in encoder.columns_]
        return Job(
            task=self.task_,
            settings=settings,
            categorical=encoder.categorical_,
            seed=self.seed,
            n_jobs=self.n_jobs,
            n_columns=len(encoder.columns_),
            n_rows=n_rows,
            zeros=zeros,
            monotone=constraints(self.monotone_, encoder),
            columns=tuple("" if one.part else one.source for one in encoder.columns_),
            owners=tuple(list(dict.fromkeys(sources)).index(source) for source in sources),
            schema=self.schema_,
            encoded=encoder.columns_,
            class_order=self._class_order(),
        )

    def _class_order(self) -> tuple[int, ...]:
        """Codes of the classes in the order that the table states for its target, if it does."""
        target = None if self.schema_.target is None else self.schema_[self.schema_.target]
        if not self.task_.is_classification or target is None or target.kind is not Kind.ORDERED:
            return ()
        codes = {str(label): code for code, label in enumerate(self.classes_)}
        order = tuple(codes[level] for level in target.levels if level in codes)
        return order if len(order) == len(codes) else ()

    def _training_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Table, NDArray[Any], Floats | None]:
        if isinstance(X, Table) and y is None:
            return X, X.y, X.weights if sample_weight is None else np.asarray(sample_weight)
        if y is None:
            raise InputError(
                "fit needs y: the target is missing",
                parameter="y",
                hint="requires y to be passed, but the target y is None; pass fit(X, y), or a "
                "table that names its target.",
            )
        if isinstance(X, Table):
            table = X
            target = np.asarray(y)
        elif _is_array(X):
            X, target = validate_data(
                self, X, y, dtype=None, ensure_all_finite="allow-nan", y_numeric=False
            )
            table = as_table(X)
        else:
            table = as_table(X)
            self.feature_names_in_ = np.array(table.names, dtype=object)
            target = np.asarray(y).ravel()
        if len(target) != table.n_rows:
            raise InputError(
                f"y has {len(target)} values but the table has {table.n_rows} rows",
                parameter="y",
                value=len(target),
            )
        _check_known(target)
        if sample_weight is not None:
            try:
                sample_weight = _check_sample_weight(
                    sample_weight, target.reshape(-1, 1), allow_all_zero_weights=True
                )
            except ValueError as error:
                raise InputError(str(error), parameter="sample_weight") from error
            if not sample_weight.any():
                raise InputError("every row has a weight of zero", parameter="sample_weight")
        return table, target, sample_weight

    def _task_of(self, table: Table, target: NDArray[Any]) -> Task:
        if self.task is not None:
            return self._chosen_task()
        return table.task or find_task(target)

    def _chosen_task(self) -> Task:
        if self.task not in list(Task):
            raise unknown_choice("task", self.task, map(str, Task))
        return Task(self.task)

    def _encode(self, X: Any) -> Floats:
        check_is_fitted(self, "estimator_")
        if _is_array(X):
            X = validate_data(self, X, dtype=None, ensure_all_finite="allow-nan", reset=False)
        encoded: Floats = self.encoder_.transform(as_table(X, schema=self.schema_))
        return encoded

    @overload
    def predict(self, X: Any) -> NDArray[Any]: ...
    @overload
    def predict(
        self,
        X: Any,
        *,
        to: str | Path | None,
        force: bool = ...,
        ledger: str | Path | None = ...,
        on_error: Literal["raise", "skip"] = ...,
    ) -> Written: ...
    def predict(
        self,
        X: Any,
        *,
        to: str | Path | None = None,
        force: bool = False,
        ledger: str | Path | None = None,
        on_error: Literal["raise", "skip"] = "raise",
    ) -> NDArray[Any] | Written:
        """Predict: numbers for regression and counts, labels for classes.

        Parameters
        ----------
        X
            Rows in any supported form: a table, a frame, a dict of columns, an array or a file.
        to
            For a table in parts: a folder for the predictions, one Parquet file for each part,
            together with the probabilities of classes.
        force
            Replace files in that folder.
        ledger, on_error
            For a table in parts: as for `clearwood.explain`.

        Returns
        -------
        ndarray
            Or, with ``to``, a `Written`: the files, how many rows they have, and sums.
        """
        if isinstance(X, Parts):
            return written_predictions(
                self, X, to, force=force, ledger=ledger, on_error=on_error, n_jobs=self.n_jobs
            )
        if to is not None:
            raise bad_value("to", to, "only predictions of a table in parts go to a folder")
        encoded = self._encode(X)
        with too_large_named(self.name, self.encoder_, encoded):
            predicted = np.asarray(self.estimator_.predict(encoded)).reshape(-1)
        if self.task_.is_classification:
            labels: NDArray[Any] = self.classes_[predicted.astype(np.intp)]
            return labels
        return predicted.astype(np.float64)

    @available_if(_has_intervals)  # type: ignore[untyped-decorator]
    def predict_interval(
        self, X: Any, *, confidence: float = 0.9, of: str | None = None
    ) -> PredictionIntervals:
        """Predict with intervals: for learners that have a posterior, such as "bayes".

        Parameters
        ----------
        X
            Rows with the features. For a rate, the interval of a new row depends on its exposure,
            which is 1 where the rows have none.
        confidence
            The probability with which a new target, or its mean, lies within.
        of
            "row" for a new target, the default for numbers and counts; "mean" for its mean, the
            only one for classes.

        Returns
        -------
        PredictionIntervals

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> model = cw.learner("bayes").fit(data)
        >>> model.predict_interval(data.head(2), confidence=0.9)
        bayes: target, 90 % intervals of new rows, 2 rows
        <BLANKLINE>
        row  prediction     low   high
          0       205.1   115.9  294.4
          1       68.99  -20.45  158.4
        """
        kinds = ("mean",) if self.task_.is_classification else ("row", "mean")
        if of is not None and of not in kinds:
            raise unknown_choice("of", of, kinds)
        check_confidence(confidence)
        encoded = self._encode(X)
        exposure = None
        if self.schema_.exposure is not None:
            exposure = as_table(X, schema=self.schema_, exposure=True).exposures
        chosen = of or kinds[0]
        low, high = self.estimator_.predict_interval(
            encoded, confidence, of=chosen, exposure=exposure
        )
        outcome = self.schema_.outcome or "the target"
        if self.task_.is_classification:
            predictions = np.asarray(self.estimator_.predict_proba(encoded))[:, 1]
            outcome = f"probability of {outcome} = {self.classes_[1]}"
        else:
            predictions = np.asarray(self.estimator_.predict(encoded), np.float64)
        return PredictionIntervals(
            predictions=predictions,
            low=np.asarray(low),
            high=np.asarray(high),
            confidence=float(confidence),
            of=cast("Any", chosen),
            outcome=outcome,
            model=self.name,
        )

    @available_if(_can("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, in the order of ``classes_``."""
        encoded = self._encode(X)
        with too_large_named(self.name, self.encoder_, encoded):
            return np.asarray(self.estimator_.predict_proba(encoded), dtype=np.float64)

    @available_if(_can("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Scores on the model's own scale, where it has one."""
        encoded = self._encode(X)
        return np.asarray(self.estimator_.decision_function(encoded), dtype=np.float64)


def _baseline(job: Job) -> tuple[Entry, Job]:
    """Return the entry and the job of a model that uses no column."""
    entry = catalogue.get("baseline")
    return entry, entry.resolved(replace(job, settings=dict(entry.defaults), monotone=()))


def _is_gap(value: Any) -> bool:
    """Tell whether a label is None or a NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _check_known(target: NDArray[Any]) -> None:
    """Refuse targets with missing or infinite values."""
    unknown = np.zeros(len(target), bool)
    if target.dtype.kind == "f":
        unknown = ~np.isfinite(target)
    elif target.dtype.kind == "O":
        unknown = np.array([_is_gap(value) for value in target], bool)
    if unknown.any():
        first = int(np.flatnonzero(unknown)[0]) + 1
        raise InputError(
            f"y is NaN, missing or infinite in {count(int(unknown.sum()), 'row')} (the first is "
            f"row {first})",
            parameter="y",
            hint="leave out the rows whose target is not known.",
        )


@cache
def _versions() -> Mapping[str, str]:
    # looking one up takes as long as a small fit
    return {name: version(name) for name in ("clearwood", "scikit-learn", "numpy")}


def _left_out(encoder: Encoder, estimator: Any, selected: Sequence[str]) -> dict[str, str]:
    """Return why features have no part in the model, though they were not deselected.

    Of a date, all of its parts are left out, each for its reason; the first is named.
    """
    reasons = {name: why for name, why in encoder.left_out_.items() if name in selected}
    of_model: Mapping[int, str] = getattr(estimator, "left_out_", {})
    for name in encoder.used_:
        places = [k for k, column in enumerate(encoder.columns_) if column.source == name]
        if places and all(k in of_model for k in places):
            reasons[name] = of_model[places[0]]
    return reasons


def _resolved(chosen: Mapping[str, Any], used: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that were None and the values that they had in the fit."""
    return {key: value for key, value in used.items() if value is not chosen[key]}


def _is_array(X: Any) -> bool:
    """Whether scikit-learn's own checks for arrays apply (not a table or a data frame)."""
    is_number = np.isscalar(X) and not isinstance(X, str)  # a text is the path of a file
    return isinstance(X, list | tuple | np.ndarray) or hasattr(X, "toarray") or is_number


def _fit(
    entry: Entry,
    job: Job,
    encoded: Floats,
    target: NDArray[Any],
    weight: Floats | None,
    role: str,
    exposure: Floats | None,
) -> Any:
    estimator = entry.build(job)
    options = dict(entry.fit_options(job)) if entry.fit_options else {}
    if weight is None:
        return estimator.fit(encoded, target, **options)
    name = "sample_weight"
    inner = estimator
    while isinstance(inner, Pipeline):
        step, inner = inner.steps[-1]
        name = f"{step}__{name}"
    without = _without_weights(inner)
    if without is not None:
        because = f": its member {without!r} takes none" if without else ""
        raise InputError(
            f"learner {entry.name!r} cannot use row weights{because}"
            + (", which an exposure needs" if role == "exposure" else ""),
            parameter=role,
            hint=f"leave the {role} out, or choose a learner that can, such as 'gbm' or "
            f"{'logistic' if job.task.is_classification else 'ridge'!r}.",
        )
    if has_fit_parameter(estimator, "exposure"):
        options["exposure"] = np.ones(len(encoded)) if exposure is None else exposure
    return estimator.fit(encoded, target, **options, **{name: weight})


def _with_weight(
    table: Table, target: NDArray[Any], weight: Floats | None
) -> tuple[Table, NDArray[Any], Floats | None]:
    """Leave out rows of weight 0, whose values would reach encodings, bins and draws."""
    if weight is None or weight.all():
        return table, target, weight
    kept = np.flatnonzero(weight)
    return table.take(kept), target[kept], weight[kept]


def _without_weights(estimator: Any) -> str | None:
    """Return which member takes no row weights, "" for the estimator itself; None if all do."""
    if not isinstance(estimator, StackingRegressor | StackingClassifier):
        return None if has_fit_parameter(estimator, "sample_weight") else ""
    unable = (name for name, one in estimator.estimators if _without_weights(one) is not None)
    return next(unable, None)
