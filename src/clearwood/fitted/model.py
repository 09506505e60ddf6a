"""A fitted model of any kind: what it is, what it takes and what it predicts."""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, bad_value
from clearwood._shared.numbers import count, number
from clearwood.checks import Level
from clearwood.fitted.inputs import as_data, model_input
from clearwood.fitted.recognition import is_booster, name_of, own_names
from clearwood.fitted.scales import Scale, Unit, checked_scale
from clearwood.fitted.scoring import Scorer, forest_scorer, scorer_of
from clearwood.forest import Forest, LearnerEncoder, from_model, supports
from clearwood.losses import Needs
from clearwood.models import Learner, check_fitted, has_probabilities, load
from clearwood.table import Parts, Schema, Table, Task, as_table

__all__ = ["FittedModel", "as_model"]

#: Probabilities in single precision add up to 1 within this.
_ROUNDING = 1e-3
#: Rows that are predicted to find out which form of rows a model takes.
_FEW = 3


def as_model(model: Any) -> Any:
    """Load a model file; refuse what is not a fitted model.

    Examples
    --------
    >>> as_model(5)
    Traceback (most recent call last):
    clearwood.InputError: int is not a model: ...
    """
    if isinstance(model, str | os.PathLike):
        return load(model)
    check_fitted(model)
    if not callable(getattr(model, "predict", None)) and not callable(model):
        raise InputError(
            f"{type(model).__name__} is not a model: it has no `predict` and is not callable",
            parameter="model",
            hint="give a fitted model, a function from rows to predictions, or the path of a "
            "model file.",
        )
    return model


class FittedModel:
    """One view of a fitted model, whatever it is made of.

    Learners, estimators of scikit-learn, pipelines, searches, boosters of XGBoost and LightGBM,
    forests, functions of rows and paths of model files all predict in the same way.

    Parameters
    ----------
    model
        The model.
    data
        A table that the model will predict: says what is predicted, and which labels there are,
        where the model itself does not.
    classes
        The labels, in the order that predictions should have; by default the model's own order. A
        label that the model has never seen has probability zero.
    task
        What is predicted, where neither the model nor the data says.

    Attributes
    ----------
    given : Any
        The model as it was given, loaded if it was a path.
    model : Any
        What predicts: of a search its best model, of a booster its trees.
    name : str
        The name of a learner or function, else the class.
    described : str
        What error messages call it.
    schema : Schema or None
        The columns that it was fitted to, where it was fitted to a table.
    features : tuple of str or None
        The names of the columns that it was fitted to; None where they had no names.
    task : Task
        What it predicts: numbers where nothing says that they are classes.
    classes : tuple
        The labels, in the order of the columns of probabilities; empty for numbers.

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> model = FittedModel(cw.learner("lda").fit(wine))
    >>> model.name, model.task.value, model.classes
    ('lda', 'multiclass', ('class_0', 'class_1', 'class_2'))
    >>> model.predict(wine.head(2)).round(2)
    array([[1., 0., 0.],
           [1., 0., 0.]])
    """

    def __init__(
        self,
        model: Any,
        data: Any = None,
        *,
        classes: Sequence[Any] | NDArray[Any] | None = None,
        task: Task | None = None,
    ) -> None:
        if isinstance(model, FittedModel):
            self.__dict__.update(model.__dict__)
        else:
            self._recognise(as_model(model))
        self.task = self._task(data, task)
        self.classes = self._classes(data) if classes is None else _labels_of(classes)

    def _recognise(self, model: Any) -> None:
        self.described = name_of(model)
        self.name = str(getattr(model, "name", None) or type(model).__name__)
        self.given = model
        model = getattr(model, "best_estimator_", model)
        self.model = from_model(model) if is_booster(model) else model
        schema = getattr(model, "schema_", None)
        self.schema = schema if isinstance(schema, Schema) else None
        self.features = self.schema.features if self.schema else own_names(self.model)
        self._labels = _labels_of(
            self.model.classes
            if isinstance(self.model, Forest)
            else getattr(self.model, "classes_", None)
        )
        self._forms_taken: dict[bool, int] = {}

    def _task(self, data: Any, task: Task | None) -> Task:
        known = getattr(self.model, "task_", None) or getattr(data, "task", None) or task
        if known is not None:
            return Task(known)
        several = Task.BINARY if len(self._labels) == 2 else Task.MULTICLASS
        return several if self._labels else Task.REGRESSION

    def _classes(self, data: Any) -> tuple[Any, ...]:
        if not self.is_classifier:
            return ()
        if self._labels or getattr(data, "target", None) is None:
            return self._labels
        if isinstance(data, Parts):
            return _labels_of(np.unique(data.empty.target_column.typed_levels()))
        return _labels_of(np.unique(data.y))

    @property
    def level(self) -> Level | None:
        """Observed / expected of the training rows of a learner that was not rebalanced."""
        if isinstance(self.model, Learner) and not self.model.rebalance:
            return self.model.level_
        return None

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes as strings."""
        return tuple(map(str, self.classes))

    @property
    def is_classifier(self) -> bool:
        """Whether classes are predicted."""
        return self.task.is_classification

    @property
    def has_probabilities(self) -> bool:
        """Whether the model itself gives probabilities of classes."""
        return self.is_classifier and has_probabilities(self.model)

    @cached_property
    def forest(self) -> Forest | None:
        """The trees of the model, where it is made of trees that can be imported."""
        try:
            return from_model(self.model) if supports(self.model) else None
        except InputError:
            return None

    def features_in(self, table: Table) -> tuple[str, ...]:
        """Return the columns that the model predicts from, by their names in a table."""
        if self.schema is not None:
            return self.schema.features
        if self.features is None:
            return table.features
        return tuple(table.column(name).name for name in self.features)

    # Rows

    def inputs(self, data: Any) -> Any:
        """Return rows in the form that the model takes: a table, a data frame or an array.

        Models of other libraries are tried out on a few rows, as some take frames and some arrays.
        """
        data = as_data(data)
        if isinstance(self.model, Forest):
            if not isinstance(data, Table):
                return data
            rows = data.by_header()
            own = [name for name in self.model.columns if name in rows.names]
            return rows.select(own) if len(own) == len(self.model.columns) else data.X
        if self.schema is not None:
            known = isinstance(data, Table) and set(self.schema.features) <= set(data.names)
            return (
                data.select(self.schema.features) if known else as_table(data, schema=self.schema)
            )
        is_array = isinstance(data, np.ndarray)
        forms = self._forms(data)
        if is_array in self._forms_taken:
            return forms[self._forms_taken[is_array]]()
        first: Exception | None = None
        for place, form in enumerate(forms):
            try:
                rows = form()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._natural.call(_head(rows))
            except Exception as error:  # any model may fail in any way
                first = first or error
            else:
                self._forms_taken[is_array] = place
                return rows
        assert first is not None
        if isinstance(first, InputError):
            raise first
        raise InputError(
            f"the model cannot predict these rows, neither as a data frame nor as an array: "
            f"{type(first).__name__}: {first}",
            parameter="model",
            hint="give the columns that it was fitted with, in the same form.",
        ) from first

    def _forms(self, data: Any) -> list[Callable[[], Any]]:
        """Return the forms in which a model may want its rows, the likeliest first."""

        def frame() -> Any:
            if self.features is None and isinstance(data, np.ndarray):
                return model_input(data, [f"x{k}" for k in range(data.shape[1])])
            if self.features is None:
                return data.X.by_header().to_frame() if isinstance(data, Table) else data
            return model_input(data, self.features)

        def array() -> Any:
            if isinstance(data, np.ndarray):
                return data
            return nw.from_native(frame(), eager_only=True).to_numpy()

        by_position = isinstance(data, np.ndarray) or hasattr(self.model, "n_features_in_")
        return [array, frame] if self.features is None and by_position else [frame, array]

    # Predictions

    def scorer(self, scale: Any = None) -> Scorer:
        """Return how the model's input becomes numbers on a scale, one column for each output.

        Parameters
        ----------
        scale
            "probability" or "margin" for classes, "response" or "margin" for numbers. By default
            probabilities where there are some.
        """
        scale = checked_scale(scale)
        if isinstance(self.model, Forest):
            inner = forest_scorer(self.model, self.model.classes, scale, 1)
            return replace(inner, call=_Prepared(self.model.matrix, inner.call))
        if scale is Scale.MARGIN and isinstance(self.model, Learner):
            learner = self.model
            inner = scorer_of(learner.estimator_, scale, getattr(learner, "classes_", None))
            encoder = LearnerEncoder(learner.encoder_, learner.schema_)
            return replace(inner, call=_Prepared(encoder.transform, inner.call))
        return scorer_of(self.model, scale)

    @cached_property
    def _natural(self) -> Scorer:
        return self.scorer()

    def predict(self, data: Any, *, scale: Any = None) -> Floats:
        """Predict rows: one column for each output, of classes in the order of ``classes``.

        Parameters
        ----------
        data
            Rows in any form.
        scale
            As for `scorer`; "response" gives probabilities of classes.
        """
        if self.is_classifier and checked_scale(scale) in (Scale.PROBABILITY, Scale.RESPONSE):
            return self._probabilities(data)
        scorer = self._natural if scale is None else self.scorer(scale)
        return self._ordered(scorer, self._predicted(scorer, data))

    def _probabilities(self, data: Any) -> Floats:
        if self.has_probabilities:
            scorer = self.scorer(Scale.PROBABILITY)
            return self._shares(self._ordered(scorer, self._predicted(scorer, data)))
        if not self._labels:
            predicted, given = self._of_function(data)
            if given == "probability":
                return predicted
        raise InputError(
            f"{self.described} has no probabilities",
            parameter="model",
            hint="give a model that has them, such as the learners 'logistic' and 'gbm'.",
        )

    def for_loss(self, data: Any, needs: Needs | None = None) -> tuple[Floats, Needs]:
        """Predict as losses compare it with the truth, and say what that is.

        Parameters
        ----------
        data
            Rows in any form.
        needs
            "prediction" (numbers), "probability" (a column for each class), "label" (positions in
            ``classes``) or "margin" (of two classes, positive for the second). By default numbers,
            or the probabilities of classes where the model has some, else labels.
        """
        if not self.is_classifier:
            return self._numbers(data), "prediction"
        if needs == "margin":
            return self._margin(data), needs
        if self.has_probabilities and needs != "label":
            return self._probabilities(data), "probability"
        if self._labels:
            if needs == "probability":
                return self._probabilities(data), needs  # which refuses the model
            return self._positions(self._called(data)), "label"
        predicted, given = self._of_function(data)
        if needs == "label" and given == "probability":
            return predicted.argmax(axis=1).astype(np.float64), needs
        return predicted, given

    def _numbers(self, data: Any) -> Floats:
        if self._labels:  # of a classifier whose labels are numbers
            return self._called(data).reshape(-1).astype(np.float64)
        predicted = self._predicted(self._natural, data)
        if predicted.shape[1] != 1:
            raise InputError(
                f"the model gives {predicted.shape[1]} outputs per row; one is needed",
                parameter="model",
            )
        return predicted[:, 0]

    def _predicted(self, scorer: Scorer, data: Any) -> Floats:
        rows = self.inputs(data)
        return scorer.checked(rows, len(rows))

    def _called(self, data: Any) -> NDArray[Any]:
        """Return what the model itself predicts, labels for classes."""
        rows = self.inputs(data)
        if isinstance(self.model, Forest):
            return np.asarray(self.model.predict(rows))
        predicted = np.asarray(getattr(self.model, "predict", self.model)(rows))
        if len(predicted) != len(rows):
            raise bad_value(
                "model",
                self.name,
                f"it gives {count(len(predicted), 'prediction')} for {count(len(rows), 'row')}",
            )
        return predicted

    def _of_function(self, data: Any) -> tuple[Floats, Needs]:
        """Read what a model without labels predicts: probabilities by class, or of the second."""
        predicted = self._called(data)
        if predicted.ndim == 2 and predicted.shape[1] > 1:
            return self._shares(predicted.astype(np.float64)), "probability"
        predicted = predicted.reshape(-1)
        known = {str(label) for label in self.classes}
        are_shares = predicted.dtype.kind == "f" and len(self.classes) == 2
        if are_shares and not {str(label) for label in np.unique(predicted)} <= known:
            second = predicted.astype(np.float64)
            return self._shares(np.column_stack([1 - second, second])), "probability"
        return self._positions(predicted), "label"

    def _margin(self, data: Any) -> Floats:
        """Return the model's own score of the second class, or half the log odds of it."""
        if hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(self.inputs(data)), dtype=np.float64)
        second = self.predict(data, scale=Scale.PROBABILITY)[:, 1].clip(1e-15, 1 - 1e-15)
        return np.asarray(0.5 * np.log(second / (1 - second)))

    def _ordered(self, scorer: Scorer, predicted: Floats) -> Floats:
        """Return columns of classes in the order of ``classes``."""
        if not self._labels or self._labels == self.classes or not self.is_classifier:
            return predicted
        nothing = 0.0 if scorer.unit is Unit.PROBABILITY else -np.inf
        ordered = np.full((len(predicted), len(self.classes)), nothing)
        places = [_place(label, self.classes) for label in self._labels]
        ordered[:, places] = predicted
        return ordered

    def _shares(self, values: Floats) -> Floats:
        """Refuse probabilities outside 0 to 1, or that do not add up to 1."""
        bad = ~((values >= 0).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= _ROUNDING))
        if bad.any():
            example = ", ".join(number(value) for value in values[bad][0])
            raise InputError(
                f"the model's predictions of {count(int(bad.sum()), 'row')} are not probabilities: "
                f"{example}",
                parameter="model",
                hint="they must lie between 0 and 1, and those of a row must add up to 1.",
            )
        if values.shape[1] != len(self.classes):
            raise InputError(
                f"the model gives {count(values.shape[1], 'probability', 'probabilities')} per "
                f"row, and there are {len(self.classes)} classes",
                parameter="model",
            )
        return values

    def _positions(self, labels: NDArray[Any]) -> Floats:
        labels, codes = np.unique(labels.reshape(-1), return_inverse=True)
        places = [_place(label, self.classes) for label in labels.tolist()]
        return np.asarray(places, dtype=np.float64)[codes]


@dataclass(frozen=True, eq=False)
class _Prepared:
    """Predictions from rows that are first brought into the form of the model's own matrix."""

    prepare: Callable[[Any], Any]
    call: Callable[[Any], Any]

    def __call__(self, rows: Any) -> Any:
        return self.call(self.prepare(rows))


def _labels_of(labels: Any) -> tuple[Any, ...]:
    return () if labels is None else tuple(np.asarray(labels).tolist())


def _place(label: Any, classes: Sequence[Any]) -> int:
    """Find a label; by its name where it is not there itself, as files hold names."""
    if label in classes:
        return classes.index(label)
    names = [str(known) for known in classes]
    if str(label) not in names:
        raise InputError(
            f"the model predicts {label!r}, which is not one of the classes "
            f"{', '.join(map(repr, classes[:8]))}",
            parameter="model",
            value=label,
            hint="give a model that was fitted to the same target.",
        )
    return names.index(str(label))


def _head(rows: Any) -> Any:
    """Return the first few rows of a model's input."""
    if isinstance(rows, Table):
        return rows.head(_FEW)
    frame = nw.from_native(rows, eager_only=True, pass_through=True)
    return frame.head(_FEW).to_native() if isinstance(frame, nw.DataFrame) else rows[:_FEW]
