"""A predictor that is free of the protected columns."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import (
    ClearwoodWarning,
    InputError,
    Option,
    bad_value,
    unknown_choice,
    words,
)
from clearwood._shared.weights import counted
from clearwood.causal import Condition, Graph, conditions_of
from clearwood.fairness.groups.grouping import groups_of, protected_columns
from clearwood.fairness.predictors.calibration import (
    Calibration,
    Way,
    calibrated_to_classes,
    calibrated_to_numbers,
)
from clearwood.fairness.predictors.distribution import Distribution, distribution_of
from clearwood.fairness.predictors.parity import Barycentre, barycentre_of
from clearwood.fairness.predictors.training import fitted_to, schema_of, training_table, with_roles
from clearwood.fitted import FittedModel
from clearwood.models import TableModel, has_probabilities
from clearwood.table import Role, Schema, Table, Task, gap_shares
from clearwood.table import as_table as to_table

if TYPE_CHECKING:
    from clearwood.explanation import Averaged

__all__ = ["FairKind", "FairModel"]

FairKind = Literal["free", "unaware", "parity"]

#: What a failing condition means for the distribution.
_OTHER_DISTRIBUTION = (
    "then the distribution of the protected columns must not be the one in the data but the one "
    "they have when the permitted columns are set at random, which distribution= takes"
)
#: Rows of one call of the model: calls are few, and their memory is bounded.
_ROWS_PER_CALL = 200_000


def _has_probabilities(self: "FairModel") -> bool:
    """Whether the model predicts classes: by its task once fitted, by the learner before."""
    if hasattr(self, "task_"):
        return self.task_.is_classification
    return has_probabilities(self.model)


class FairModel(TableModel):
    """A predictor in which protected columns have no influence, direct or through what they tell.

    Unless other columns determine them: `clearwood.fair` warns of these.

    Made by `clearwood.fair` from a fitted model; ``fit`` fits the model first, so that a benchmark
    resamples both. It predicts from rows **without** the protected columns and ignores them where
    they are present, except for ``kind="parity"``, which needs them.

    Parameters
    ----------
    model
        A learner or an estimator of scikit-learn, fitted or not.
    protected
        The protected columns; by default those with that role in the table.
    graph
        The causal graph on which the conditions are checked, or its text.
    kind
        "free", "unaware" or "parity"; see `clearwood.fair`.
    distribution
        The distribution of the protected columns over which "free" averages.
    calibrate
        How the mean prediction is brought to that of the target.
    by_group
        Whether to fit one model for each level of the protected columns.

    Attributes
    ----------
    models_ : tuple
        The fitted models that it is made of: one, or with ``by_group`` one for each level.
    protected_ : tuple of str
        The protected columns.
    inputs_ : tuple of str
        The columns that these models predict from, in their order.
    distribution_ : Distribution or None
        The distribution of the protected columns; None for "unaware".
    calibration_ : Calibration
        How predictions are brought to the level of the target.
    conditions_ : tuple of Condition
        What must hold in the causal graph, each condition with the reason why it holds or fails.
    schema_ : Schema
        The columns; its features are those that a prediction needs.
    task_, classes_
        What is predicted, and the labels of classes.

    Examples
    --------
    >>> import clearwood as cw
    >>> policies = cw.datasets.insurance(2000)
    >>> fair = cw.fairness.FairModel(cw.learner("glm"), protected=["gender"]).fit(policies)
    >>> fair.schema_.features
    ('age', 'region', 'height', 'mileage', 'power')
    >>> fair.predict({"age": [30], "region": ["city"], "height": [180], "mileage": [12],
    ...               "power": [80]}).shape
    (1,)
    """

    def __init__(
        self,
        model: Any = None,
        *,
        protected: Sequence[str] | str | None = None,
        graph: Any = None,
        kind: FairKind = "free",
        distribution: Any = "marginal",
        calibrate: Way | None = "scale",
        by_group: bool = False,
    ) -> None:
        self.model = model
        self.protected = protected
        self.graph = graph
        self.kind = kind
        self.distribution = distribution
        self.calibrate = calibrate
        self.by_group = by_group

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        names = getattr(self, "protected_", self.protected)
        names = list(names) if isinstance(names, tuple) else names
        more = ", by_group=True" if self.by_group else ""
        text = f"FairModel({self.model!r}, protected={names!r}, kind={self.kind!r}{more})"
        return text[:N_CHAR_MAX]

    @property
    def described(self) -> str:
        """What messages call it."""
        return f"the fair model ({self.kind})"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What must hold in the causal graph; each condition holds, fails, or was not checked."""
        return self.conditions_

    def check_options(self) -> None:
        """Raise where an option has a value that it does not take."""
        if self.kind not in get_args(FairKind):
            raise unknown_choice("kind", self.kind, get_args(FairKind))
        if self.calibrate is not None and self.calibrate not in get_args(Way):
            raise unknown_choice("calibrate", self.calibrate, get_args(Way))
        if self.model is None or isinstance(self.model, type | str):
            raise InputError(
                f"{self.model!r} is not a model",
                parameter="model",
                value=self.model,
                hint="give a fitted model, or a learner such as cw.learner('glm').",
            )
        if self.by_group and self.kind != "free":
            raise bad_value(
                "by_group",
                self.by_group,
                words("models by group are averaged, which ", Option("kind", self.kind), " is not"),
            )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model, and make it fair over the same rows.

        Parameters
        ----------
        X
            A `Table` with a target, or features in any supported form.
        y
            The target, unless the table names it.
        sample_weight
            Row weights, unless the table names them.
        """
        self.check_options()
        table = training_table(X, y, sample_weight)
        is_refitted = self.by_group or self.kind == "unaware"
        return self.settle(None if is_refitted else fitted_to(self.model, table), table)

    def settle(self, fitted: Any, table: Table) -> Self:
        """Make a fitted model fair over the rows of a table.

        Parameters
        ----------
        fitted
            The fitted model; not used where models are fitted again ("unaware", by group).
        table
            The rows over which is averaged and calibrated, with the target where it is known.
        """
        names = protected_columns(self.protected, table)
        if self.kind == "unaware":
            fitted = fitted_to(self.model, with_roles(table, names, Role.IGNORED))
        if self.by_group:
            self._settle_by_group(table, names)
        else:
            self.models_: tuple[Any, ...] = (fitted,)
            view = FittedModel(fitted, table)
            self.inputs_ = view.features_in(table)
            schema = schema_of(view, table)
            self._check_seen(schema, names)
            if set(self.inputs_) <= set(names):
                raise InputError(
                    f"the model has no column but {', '.join(map(repr, names))}",
                    parameter="protected",
                    value=names[0],
                    hint="without it every prediction is the same.",
                )
            self.task_ = view.task
            self.schema_ = self._schema(schema, table, names)
            if view.classes:
                self.classes_ = np.asarray(getattr(fitted, "classes_", view.classes))
        self.protected_ = names
        self.n_features_in_ = len(self.schema_.features)
        self.feature_names_in_ = np.array(
            [self.schema_[name].header or name for name in self.schema_.features], dtype=object
        )
        self._settle_distribution(fitted, table)
        self.conditions_ = self._checked_conditions(table)
        self.calibration_ = Calibration()
        rows = to_table(table, schema=self.schema_)
        self.calibration_ = self._calibration(table, self._raw(rows))
        self.training_ = {
            "rows": table.n_rows,
            "source": table.source,
            "columns": len(self.schema_.features),
        }
        return self

    def _check_seen(self, schema: Schema, names: tuple[str, ...]) -> None:
        """Refuse to average over a column that the model does not use: nothing would change."""
        unseen = [name for name in names if name not in schema.features]
        if self.kind != "free" or not unseen:
            return
        raise InputError(
            f"the model was fitted without {', '.join(map(repr, unseen))}, so averaging over "
            f"{'it' if len(unseen) == 1 else 'them'} would change nothing: what the other columns "
            "reveal about it stays in the predictions",
            parameter="protected",
            value=unseen[0],
            hint="fit the model with the protected columns among its features, and make that one "
            "fair.",
        )

    def _schema(self, schema: Schema, table: Table, names: tuple[str, ...]) -> Schema:
        """Return the model's columns, with the protected ones as this kind of model uses them."""
        role = Role.PROTECTED if self.kind == "parity" else Role.IGNORED
        own = {name: replace(table.schema[name], role=role) for name in names}
        own |= {c.name: replace(c, role=role) for c in schema.columns if c.name in names}
        columns = [own.pop(one.name, one) for one in schema.columns]
        return replace(schema, columns=(*columns, *own.values()))

    def _settle_by_group(self, table: Table, names: tuple[str, ...]) -> None:
        """Fit one model to the rows of each group, without the protected columns."""
        groups = groups_of(table, names)
        blind = with_roles(table, names, Role.IGNORED)
        models = []
        for group, label in enumerate(groups.names):
            try:
                models.append(fitted_to(self.model, blind.take(groups.which == group)))
            except InputError as error:
                raise InputError(
                    f"the rows of the group {label!r} cannot be fitted: {error.message}",
                    parameter="by_group",
                    value=label,
                    hint=error.hint,
                ) from error
        self.models_ = tuple(models)
        self.inputs_ = blind.features
        views = [FittedModel(one, table) for one in models]
        self.task_ = views[0].task
        self.schema_ = blind.schema
        if self.task_.is_classification:
            self.classes_ = np.unique(np.concatenate([one.classes for one in views]))

    def _settle_distribution(self, fitted: Any, table: Table) -> None:
        """Compute the distribution of the protected columns, or that between the groups."""
        self.distribution_: Distribution | None = None
        self.barycentres_: tuple[Barycentre, ...] = ()
        names = self.protected_
        if self.kind == "unaware":
            return
        schema = fitted.schema_ if hasattr(fitted, "schema_") else None
        known = schema is not None and all(name in schema.features for name in names)
        aligned = to_table(table, schema=schema) if known else table
        rows = replace(table, columns=tuple(self._aligned(c, aligned) for c in table.columns))
        model = None if self.by_group or self.kind == "parity" else fitted
        self.distribution_ = distribution_of(rows, names, self.distribution, model=model)
        if not self.by_group and self.kind == "free":
            return
        groups = groups_of(rows, names)
        shares = _shares_of(self.distribution_, groups.cells)
        self.distribution_ = Distribution(groups.cells, shares)
        if self.kind == "parity":
            inputs = to_table(table, schema=self.schema_)
            predicted = self._respond(self.models_[0], inputs)
            counts, weights = counted(table.weights, table.n_rows)
            if len(np.unique(groups.which[counts])) < len(groups):
                raise InputError("some group has no row with weight", parameter="protected")
            self.barycentres_ = tuple(
                barycentre_of(predicted[counts, k], groups.which[counts], weights, list(shares))
                for k in range(predicted.shape[1])
            )

    def _aligned(self, column: Any, aligned: Table) -> Any:
        """Return a protected column with the levels that the model knows."""
        return aligned.column(column.name) if column.name in self.protected_ else column

    def _checked_conditions(self, table: Table) -> tuple[Condition, ...]:
        """Check on the graph when the average is the direct effect of the permitted columns."""
        if self.kind != "free":
            return ()
        permitted = self.schema_.features
        given = self.graph
        graph = given if given is None or hasattr(given, "parents") else Graph(given)
        shares = gap_shares(table.columns)
        checked = conditions_of(graph, permitted, self.protected_, gap_shares=shares)
        if not isinstance(self.distribution, str):  # a distribution that the user answers for
            return checked
        return tuple(
            replace(one, reason=f"{one.reason}; {_OTHER_DISTRIBUTION}")
            if one.holds is False
            else one
            for one in checked
        )

    # Predictions

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict: numbers for regression and counts, labels for classes."""
        predicted = self._calibrated(X)
        if not self.task_.is_classification:
            return predicted[:, 0]
        labels: NDArray[Any] = self.classes_[predicted.argmax(axis=1)]
        return labels

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, in the order of ``classes_``."""
        return self._calibrated(X)

    def _calibrated(self, X: Any) -> Floats:
        check_is_fitted(self, "calibration_")
        return self.calibration_.apply(self._raw(to_table(X, schema=self.schema_)))

    def _raw(self, table: Table) -> Floats:
        """Predict aligned rows on the target's scale, before calibration."""
        if self.kind == "unaware":
            return self._respond(self.models_[0], table)
        assert self.distribution_ is not None
        if self.by_group:
            return np.asarray(
                sum(
                    share * self._respond(model, table)
                    for share, model in zip(self.distribution_.shares, self.models_, strict=True)
                )
            )
        if self.kind == "parity":
            return self._in_common(table)
        return self._averaged(table, self.distribution_)

    def _averaged(self, table: Table, distribution: Distribution) -> Floats:
        """Average predictions over the protected columns, some cells at a time."""
        total: Any = 0.0
        step = max(1, _ROWS_PER_CALL // max(table.n_rows, 1))
        for first in range(0, len(distribution), step):
            cells = distribution.cells.take(slice(first, first + step))
            shares = distribution.shares[first : first + step]
            rows = table.take(np.tile(np.arange(table.n_rows), len(shares)))
            held = cells.take(np.repeat(np.arange(len(shares)), table.n_rows))
            predicted = self._respond(
                self.models_[0], replace(rows, columns=(*rows.columns, *held.columns))
            )
            by_cell = predicted.reshape(len(shares), table.n_rows, -1)
            total = total + np.tensordot(shares, by_cell, axes=1)
        return np.asarray(total)

    def _in_common(self, table: Table) -> Floats:
        """Move predictions to the distribution that all groups have in common."""
        assert self.distribution_ is not None
        place = {labels: k for k, labels in enumerate(self.distribution_.labels)}
        own = Distribution(table.select(self.protected_), np.empty(0)).labels
        unknown = [labels for labels in own if labels not in place]
        if unknown:
            raise InputError(
                f"there were no rows with {dict(zip(self.protected_, unknown[0], strict=True))}, "
                "so their predictions have no place among those of other groups",
                parameter=self.protected_[0],
                value=unknown[0],
            )
        groups = np.array([place[labels] for labels in own], np.intp)
        predicted = self._respond(self.models_[0], table)
        moved = np.column_stack(
            [one.apply(predicted[:, k], groups) for k, one in enumerate(self.barycentres_)]
        )
        if self.task_.is_classification:
            moved /= moved.sum(axis=1, keepdims=True)
        return moved

    def _respond(self, model: Any, table: Table) -> Floats:
        """Predict with one of the models; messages about the rows were given before."""
        table = table.select(self.inputs_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClearwoodWarning)
            classes = self.classes_ if self.task_.is_classification else ()
            view = FittedModel(model, task=self.task_, classes=classes)
            return view.predict(table, scale="response")

    def _calibration(self, table: Table, predicted: Floats) -> Calibration:
        """Bring the mean prediction to that of the target; of the model where none is known."""
        if self.calibrate is None:
            return Calibration()
        rows, weights = counted(table.weights, table.n_rows)
        if self.task_.is_classification:
            if table.target is None:
                return Calibration()
            labels = np.asarray(table.y)[rows]
            known = np.isin(labels, self.classes_)
            codes = np.searchsorted(self.classes_, labels[known])
            return calibrated_to_classes(
                predicted[rows][known], codes, weights[known], self.calibrate
            )
        if table.target is None:
            return Calibration()
        target = np.asarray(table.y, dtype=np.float64)[rows]
        floor = 0.0 if self.task_ in (Task.COUNT, Task.AMOUNT) else None
        return calibrated_to_numbers(
            predicted[rows, 0], target, weights, self.calibrate, floor=floor
        )

    def __clearwood_factors__(self) -> "Averaged":
        """Return what its table of factors is made of."""
        from clearwood.fairness.predictors.factors import averaged

        return averaged(self)

    def __clearwood_parts__(self) -> tuple[str, Mapping[str, bytes], Sequence[Any]]:
        """Return the kind, the members and the inner models of its file."""
        from clearwood.fairness.predictors.files import members

        return "fair", members(self), self.models_


def _shares_of(distribution: Distribution, cells: Table) -> Floats:
    """Return the share that a distribution gives to each of some groups."""
    known = dict(zip(distribution.labels, distribution.shares, strict=True))
    groups = Distribution(cells, np.empty(0)).labels
    absent = [labels for labels, share in known.items() if share > 0 and labels not in groups]
    if absent:
        raise InputError(
            f"the distribution has {absent[0]!r}, and no row has",
            parameter="distribution",
            value=absent[0],
            hint="a model by group needs rows of every group.",
        )
    return np.array([known.get(labels, 0.0) for labels in groups])
