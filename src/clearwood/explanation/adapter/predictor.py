"""Any model as one function of rows: few large calls, answers that are checked."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood import forest as forests
from clearwood._shared.errors import InputError, did_you_mean
from clearwood._shared.progress import progress
from clearwood.checks import Comparable, comparable
from clearwood.explanation.adapter.compose import (
    Compose,
    Index,
    array_rows,
    code_rows,
    frame_rows,
    some_frame,
)
from clearwood.explanation.adapter.perturbed import take_rows
from clearwood.explanation.adapter.rows import as_data, label_rows, user_columns
from clearwood.explanation.adapter.scores import LINKS, Scorer, forest_scorer, scorer_of
from clearwood.explanation.games.additive import AdditiveGame
from clearwood.explanation.games.of_model import game_of
from clearwood.explanation.games.trees import TreeGame
from clearwood.forest import Forest
from clearwood.models import Learner
from clearwood.table import Column, Table, as_table

__all__ = ["Predictor", "Scale", "predictor_of"]

Floats = NDArray[np.float64]
Scale = Literal["probability", "margin", "response"]

#: Cells of one call: large enough that calls are few, small enough to stay in memory.
_CELLS_PER_CALL = 8_000_000
_ROWS_COMPARED = 50


@dataclass(frozen=True, eq=False)
class Predictor:
    """A fitted model and rows whose columns can be exchanged before it is asked.

    Parameters
    ----------
    columns
        The user's columns at the rows.
    labels
        What the user calls the rows.
    weights
        Row weights that the data names; None where it names none.
    scorer
        From the model's input to numbers, with the names of the outputs and their unit.
    compose
        Makes the model's input.
    kind
        The model in words.
    n_jobs
        Threads, where the model is read as a forest.
    """

    columns: tuple[Column, ...]
    labels: NDArray[Any]
    weights: Floats | None
    scorer: Scorer
    compose: Compose
    kind: str
    is_step: bool = False
    evaluations: list[int] = field(default_factory=lambda: [0])

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> tuple[str, ...]:
        """The user's names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.scorer.outputs

    @property
    def unit(self) -> str:
        """What the numbers are, in words."""
        return self.scorer.unit

    @cached_property
    def profiles(self) -> tuple[Comparable, ...]:
        """What is needed of each column to say which go together."""
        return tuple(comparable(column) for column in self.columns)

    def position(self, name: Any) -> int:
        """Give the position of a column; a wrong name is answered with the nearest."""
        if isinstance(name, int | np.integer) and not isinstance(name, bool):
            name = f"x{name}"
        if name not in self.names:
            raise InputError(
                f"there is no column {name!r}", hint=did_you_mean(str(name), self.names)
            )
        return self.names.index(name)

    def predict(self, base: Index, held: Mapping[int, Index] | None = None) -> Floats:
        """Predict rows, with some columns taken from other rows.

        Parameters
        ----------
        base
            Positions of rows.
        held
            For some columns, the rows whose value they have instead; as long as ``base``.

        Returns
        -------
        ndarray of shape (rows, outputs)
        """
        held = held or {}
        if not len(base):  # few models take no rows
            return np.empty((0, len(self.outputs)))
        size = max(1, _CELLS_PER_CALL // max(len(self.columns), 1))
        self.evaluations[0] += len(base)
        if len(base) <= size:
            return self.scorer.checked(self.compose(base, held), len(base))
        found = np.empty((len(base), len(self.outputs)))
        started = time.monotonic()
        with progress("asking the model", total=len(base)) as step:
            for first in range(0, len(base), size):
                part = slice(first, first + size)
                asked = self.compose(base[part], {k: v[part] for k, v in held.items()})
                found[part] = self.scorer.checked(asked, len(base[part]))
                speed = (first + len(base[part])) / max(time.monotonic() - started, 1e-6)
                step(len(base[part]), note=f"{speed:,.0f} evaluations/s")
        return found

    def taking(self, output: Any) -> "Predictor":
        """Give the predictor of one output; of two classes the second when None."""
        return replace(self, scorer=self.scorer.taking(output))


def predictor_of(
    model: Any,
    data: Any,
    *,
    output: Any = None,
    scale: str | None = None,
    n_jobs: int = 1,
    many: bool = False,
) -> Predictor:
    """Give a model and rows as a `Predictor`.

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows.
    data
        A table, a data frame, an array, a dict of columns or a path.
    output
        The class or output; None for all, or the second of two classes.
    scale
        "probability" or "margin" (log odds) for classes; "response" or "margin" (before the link)
        for numbers. By default probabilities where there are some.
    n_jobs
        Threads, where the model is read as a forest.
    many
        Whether it will be asked many times about each row, so that finding out what each column of
        a pipeline that ends in a linear model adds, once, pays.

    Examples
    --------
    >>> asked = predictor_of(lambda X: X[:, 0] * X[:, 1], np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> asked.predict(np.array([0, 1]), {1: np.array([1, 1])}).ravel()
    array([ 4., 12.])
    """
    if scale not in (None, "probability", "margin", "response"):
        raise InputError(
            f"there is no scale {scale!r}",
            hint=did_you_mean(str(scale), ("probability", "margin", "response")),
        )
    if isinstance(model, type):
        raise InputError(
            f"{model.__name__} is a class, not a fitted model",
            hint=f"make one and fit it: {model.__name__}(...).fit(X, y).",
        )
    data = as_data(data)
    found = _of_trees(model, data, scale, n_jobs)
    if found is None and many and hasattr(model, "steps"):
        found = _of_sum(model, data, scale)
    if found is None and isinstance(model, Learner):
        found = _of_learner(model, data, scale)
    if found is None:
        found = _of_anything(model, data, scale)
    return found.taking(output)


def _ends_in_trees(model: Any) -> bool:
    if isinstance(model, Learner):
        inner = getattr(model, "estimator_", None)
        return inner is not None and not hasattr(inner, "steps") and forests.supports(inner)
    if hasattr(model, "best_estimator_"):
        return _ends_in_trees(model.best_estimator_)
    if hasattr(model, "steps"):
        return forests.supports(model.steps[-1][1])
    return forests.supports(model)


def _of_trees(model: Any, data: Any, scale: str | None, n_jobs: int) -> Predictor | None:
    """Ask trees through our own prediction: the same numbers, many times faster."""
    if not _ends_in_trees(model):
        return None
    try:
        game = game_of(model)
        assert isinstance(game, TreeGame)
        rows = game.rows(data)
    except InputError:
        if isinstance(model, Forest):
            raise
        return None  # a model that cannot be read as a forest is asked itself, and says why
    forest = game.forest
    if forest.classes is not None and forest.n_outputs == 1 and forest.link != "logistic":
        return None  # AdaBoost's score: only the library turns it into probabilities
    classes = getattr(model, "classes_", forest.classes)
    return Predictor(
        columns=rows.columns,
        labels=rows.labels,
        weights=rows.weights,
        scorer=forest_scorer(forest, classes, scale, n_jobs),
        compose=code_rows(rows.codes, game.groups),
        kind=game.kind,
        is_step=True,
    )


def _of_sum(model: Any, data: Any, scale: str | None) -> Predictor | None:
    """Ask a sum over columns through its terms, where a link of them is what the model gives."""
    try:
        game = game_of(model, data)
        if not isinstance(game, AdditiveGame):
            return None
        rows = game.rows(data)
        few = np.arange(min(len(rows), _ROWS_COMPARED))
        plain = _of_anything(model, take_rows(data, few), scale)
    except InputError:
        return None
    truth = np.asarray(plain.scorer.call(plain.compose(few, {})))
    for link in LINKS:
        made = link(game.predict(rows.codes[few]))
        if made.shape == truth.shape and np.allclose(made, truth, rtol=1e-9, atol=1e-12):
            return replace(
                plain,
                columns=rows.columns,
                labels=rows.labels,
                weights=rows.weights,
                scorer=replace(plain.scorer, call=_linked(game, link)),
                compose=code_rows(rows.codes, game.groups),
            )
    return None


def _linked(game: AdditiveGame, link: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    return lambda codes: link(game.predict(codes))


def _of_learner(model: Learner, data: Any, scale: str | None) -> Predictor:
    if not hasattr(model, "estimator_"):
        raise InputError(f"learner {model.name!r} is not fitted yet", hint="call its fit(data).")
    table = as_table(data, schema=model.schema_)
    names = model.schema_.features
    position = {name: k for k, name in enumerate(names)}
    groups = np.array([position[model.encoder_.used_[k]] for k in model.encoder_.sources_], np.intp)
    codes = model.encoder_.transform(table)
    scorer = scorer_of(model.estimator_, scale, labels=getattr(model, "classes_", None))
    return Predictor(
        columns=tuple(table.column(name) for name in names),
        labels=label_rows(data, table.n_rows),
        weights=data.weights if isinstance(data, Table) else None,
        scorer=scorer.settled(codes[:3]),
        compose=code_rows(codes, groups),
        kind=f"learner {model.name!r}",
    )


def _of_anything(model: Any, data: Any, scale: str | None) -> Predictor:
    named = _names_of(model)
    own = _column_names(data)
    names = tuple(named) if named is not None else own
    columns = user_columns(data, names, by_position=named is None)
    if not columns or not len(columns[0]):
        raise InputError("the data has no rows", hint="give the rows to average over.")
    n_rows = len(columns[0])
    scorer = scorer_of(model, scale)
    compose = _accepted(scorer, _forms(model, data, names, named), n_rows)
    return Predictor(
        columns=columns,
        labels=label_rows(data, n_rows),
        weights=data.weights if isinstance(data, Table) else None,
        scorer=scorer.settled(compose(np.arange(min(n_rows, 3)), {})),
        compose=compose,
        kind=_name(model),
    )


def _names_of(model: Any) -> Sequence[str] | None:
    inner = getattr(model, "best_estimator_", model)
    names = getattr(inner, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _column_names(data: Any) -> tuple[str, ...]:
    if isinstance(data, Table):
        return data.features
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return tuple(map(str, frame.columns))
    values = np.asarray(data)
    if values.ndim != 2:
        raise InputError(
            f"the data is an array of {values.ndim} dimensions; rows and columns are needed",
            hint="for one column: data.reshape(-1, 1).",
        )
    return tuple(f"x{k}" for k in range(values.shape[1]))


def _forms(
    model: Any, data: Any, names: tuple[str, ...], named: Sequence[str] | None
) -> list[Callable[[], Compose]]:
    """Give the forms in which the model may want its rows, the likeliest first."""

    def frame() -> Compose:
        return frame_rows(some_frame(data, names))

    def array() -> Compose:
        if isinstance(data, np.ndarray):
            return array_rows(data)
        made = nw.from_native(some_frame(data, names), eager_only=True)
        return array_rows(made.to_numpy())

    if named is not None:
        return [frame, array]
    given_array = isinstance(data, np.ndarray)
    fitted_to_array = hasattr(model, "n_features_in_")
    return [array, frame] if given_array or fitted_to_array else [frame, array]


def _accepted(scorer: Scorer, forms: Sequence[Callable[[], Compose]], n_rows: int) -> Compose:
    """Find the form that the model takes, by asking it about a few rows."""
    first: Exception | None = None
    few = np.arange(min(n_rows, 3))
    for form in forms:
        try:
            compose = form()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scorer.call(compose(few, {}))
        except Exception as error:  # any model may fail in any way
            first = first or error
        else:
            return compose
    assert first is not None
    if type(first).__name__ == "NotFittedError":
        raise InputError(f"{first}", hint="call its fit(X, y) first.") from first
    raise InputError(
        f"the model cannot predict these rows, neither as a data frame nor as an array: "
        f"{type(first).__name__}: {first}",
        hint="give the columns that it was fitted with, in the same form.",
    ) from first


def _name(model: Any) -> str:
    if hasattr(model, "steps"):
        return f"a Pipeline that ends in {type(model.steps[-1][1]).__name__}"
    if hasattr(model, "__name__"):
        return "a function" if model.__name__ == "<lambda>" else f"function {model.__name__!r}"
    return type(model).__name__
