"""What only neural networks have: curves of training, and weights of attention."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import IN_TABLES, count, number, percent
from clearwood._shared.results import TableResult
from clearwood.models import Learner, check_fitted
from clearwood.table import as_table

__all__ = ["Attention", "TrainingCurve", "attention", "training_curve"]

#: What the vector that belongs to no column is called.
PREDICTION = "prediction"

_WARNINGS = (
    "attention is not an explanation: other weights can give the same predictions",
    "what predictions depend on is shown by Shapley values or integrated gradients",
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Attention(TableResult):
    """Mean weights of attention over rows; made by `attention`.

    Parameters
    ----------
    model, outcome
        The learner, and what it predicts.
    columns
        The user's columns.
    weights
        Of shape (layers, heads, columns + 1, columns + 1): how much each vector (third axis) takes
        from each (fourth axis). The last vector is the one that the prediction is read from.
    n_rows
        Rows over which the weights are averaged.
    seed
        Of the learner.
    """

    model: str
    outcome: str
    columns: tuple[str, ...]
    weights: Floats
    n_rows: int
    seed: int
    _derived = ("notes",)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know."""
        return _WARNINGS

    @property
    def matrix(self) -> Floats:
        """The mean over layers and heads: (columns + 1, columns + 1)."""
        return np.asarray(self.weights.mean(axis=(0, 1)))

    @property
    def of_prediction(self) -> Floats:
        """What the prediction's vector takes from each column, the mean over layers and heads."""
        return np.asarray(self.matrix[-1, :-1])

    def _columns(self) -> Mapping[str, Any]:
        by_layer = self.weights.mean(axis=1)[:, -1, :-1]
        layers = {f"layer {k + 1}": values for k, values in enumerate(by_layer)}
        return {"column": list(self.columns), "attention": self.of_prediction, **layers}

    def _headline(self) -> str:
        layers, heads = self.weights.shape[:2]
        return (
            f"Attention of {self.model}: {self.outcome}, {count(self.n_rows, 'row')}, "
            f"{count(layers, 'layer')}, {count(heads, 'head')}, seed {self.seed}"
        )

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        order = np.argsort(-self.of_prediction, kind="stable")
        rows = [[self.columns[k], percent(self.of_prediction[k])] for k in order]
        return ["column", "attention"], rows

    def plot(self) -> Any:
        """Draw how much each column's vector takes from each other (Altair)."""
        from clearwood.plot import plot_attention

        return plot_attention(self)


def attention(model: Learner, data: Any) -> Attention:
    """Return what a transformer attends to, as a mean over rows.

    Attention is not an explanation. The weights are how the vectors of columns are mixed inside the
    network, not what the columns do to a prediction: other weights can give the same predictions
    (Jain and Wallace 2019), vectors mix before later layers attend to them, and what flows past
    the attention is not in the weights at all. Look at them to see how the network works, and at
    `clearwood.shapley` or `integrated_gradients` to see what its predictions depend on.

    Parameters
    ----------
    model
        A fitted "transformer".
    data
        Rows: a table, a data frame, an array, a dict of columns or a path.

    Returns
    -------
    Attention

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("transformer", epochs=2, width=8).fit(data)
    >>> cw.explanation.attention(model, data).weights.shape
    (2, 4, 11, 11)
    """
    check_fitted(model)
    estimator = getattr(model, "estimator_", None)
    if not hasattr(estimator, "attention"):
        name = getattr(model, "name", type(model).__name__)
        raise InputError(
            f"{name!r} has no attention",
            parameter="model",
            value=name,
            hint="fit 'transformer'.",
        )
    table = as_table(data, schema=model.schema_)
    if not table.n_rows:
        raise InputError("the data has no rows", parameter="data")
    fitted: Any = estimator
    return Attention(
        model=model.name,
        outcome=str(model.schema_.outcome or "the target"),
        columns=tuple(dict.fromkeys(one.source for one in model.encoder_.columns_)),
        weights=fitted.attention(model.encoder_.transform(table)),
        n_rows=table.n_rows,
        seed=model.seed,
    )


_LOSSES = {
    "gaussian": "squared error / variance of the target",
    "poisson": "Poisson deviance, target in units of its mean",
    "gamma": "gamma deviance",
    "binomial": "log loss",
    "multinomial": "log loss",
}
#: Lines of the printed table.
_MOST_LINES = 12


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TrainingCurve(TableResult):
    """Losses and learning rate of a network in each epoch; made by `training_curve`.

    Parameters
    ----------
    model, outcome
        The learner, and what it predicts.
    loss
        What is minimised, with its unit.
    training
        Mean loss of the training rows while the epoch went on, dropout included; of several
        members, the mean of their losses.
    validation
        Loss of the rows held out after each epoch, as predicted by all members together; NaN where
        none were.
    learning_rate
        At the end of each epoch.
    best
        The epoch whose weights the model has, from 1 on.
    n_held_out
        Rows held out.
    n_weights
        Numbers that were learned, by all members.
    members
        Networks side by side whose mean score predicts.
    seed
        Of the learner.
    """

    model: str
    outcome: str
    loss: str
    training: Floats
    validation: Floats
    learning_rate: Floats
    best: int
    n_held_out: int
    n_weights: int
    members: int
    seed: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know."""
        notes: tuple[str, ...]
        if self.n_held_out:
            held = f"{count(self.n_held_out, 'row')} held out"
            notes = (f"{held}; as they chose the epoch, new rows have a larger loss",)
        else:
            notes = ("no rows were held out: the training loss does not show overfitting",)
        if self.members > 1:
            notes += (f"the mean score of {self.members} networks predicts",)
        return notes

    def _columns(self) -> Mapping[str, Any]:
        return {
            "epoch": np.arange(1, len(self.training) + 1),
            "training": self.training,
            "validation": self.validation,
            "learning_rate": self.learning_rate,
        }

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        n = len(self.training)
        shown = sorted({*np.linspace(1, n, min(n, _MOST_LINES)).round().astype(int), self.best})
        lines = []
        for epoch in shown:
            values = (self.training[epoch - 1], self.validation[epoch - 1])
            written = [number(v, IN_TABLES) if np.isfinite(v) else "–" for v in values]
            mark = " *" if epoch == self.best else ""
            rate = number(self.learning_rate[epoch - 1], 3)
            lines.append([f"{epoch}{mark}", *written, rate])
        return ["epoch", "training", "held out", "learning rate"], lines

    def _headline(self) -> str:
        return (
            f"Training of {self.model}: {self.outcome}, {count(self.n_weights, 'weight')}, "
            f"{count(len(self.training), 'epoch')}, seed {self.seed}; * the model"
        )

    def _above(self) -> list[str]:
        return [f"loss: {self.loss}"]

    def plot(self) -> Any:
        """Draw both losses over the epochs (Altair)."""
        from clearwood.plot import plot_training

        return plot_training(self)


def training_curve(model: Learner) -> TrainingCurve:
    """Return the losses of a network in each epoch of its training.

    Held-out losses that rise while training losses fall show overfitting; both still falling at
    the end ask for more epochs; jumps ask for a smaller learning rate.

    Parameters
    ----------
    model
        A fitted "network", "transformer" or "cnn".

    Returns
    -------
    TrainingCurve

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("network", epochs=5, units=8).fit(data)
    >>> len(cw.explanation.training_curve(model).training)
    5
    """
    check_fitted(model)
    estimator = getattr(model, "estimator_", None)
    if not hasattr(estimator, "curve_") or not hasattr(estimator, "arrays_"):
        name = getattr(model, "name", type(model).__name__)
        raise InputError(
            f"{name!r} has no training curve",
            parameter="model",
            value=name,
            hint="fit 'network', 'transformer' or 'cnn'.",
        )
    fitted: Any = estimator
    return TrainingCurve(
        model=model.name,
        outcome=str(model.schema_.outcome or "the target"),
        loss=_LOSSES[fitted.family_],
        training=fitted.curve_["training"],
        validation=fitted.curve_["validation"],
        learning_rate=fitted.curve_["learning_rate"],
        best=fitted.best_epoch_,
        n_held_out=fitted.n_held_out_,
        n_weights=fitted.n_weights_,
        members=getattr(fitted, "members", 1),
        seed=model.seed,
    )
