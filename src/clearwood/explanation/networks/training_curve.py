"""The training of a network, epoch by epoch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood._shared.numbers import IN_TABLES, count, number
from clearwood._shared.results import TableResult
from clearwood.models import Learner

__all__ = ["TrainingCurve", "training_curve"]

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
    estimator = getattr(model, "estimator_", None)
    if not hasattr(estimator, "curve_") or not hasattr(estimator, "arrays_"):
        name = getattr(model, "name", type(model).__name__)
        raise InputError(
            f"{name!r} has no training curve, or it is not fitted",
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
