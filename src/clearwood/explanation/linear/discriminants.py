"""Fisher's discriminant coordinates: the plane in which classes lie furthest apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import InputError, Setting, words
from clearwood._shared.numbers import IN_TABLES, count, number, percent
from clearwood._shared.results import Result, html_table
from clearwood.models import Learner, fisher_directions
from clearwood.table import Table, as_table

__all__ = ["Discriminants", "discriminants"]

_LEARNERS = ("lda", "rda")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Discriminants(Result):
    """Rows and class means in Fisher's discriminant coordinates.

    Made by `discriminants`. Within classes the coordinates are uncorrelated with variance
    1, as the model estimates it, so distances in the picture are those that the model compares.

    Parameters
    ----------
    model, outcome
        The learner, and what it predicts.
    classes
        The labels.
    names
        The model's columns: "age", "region=city".
    directions
        Weights of the columns, of shape (columns, coordinates); for one standard deviation.
    shares
        Of the variance between class means along each coordinate.
    means
        Of the classes, of shape (classes, coordinates).
    scores
        Of the rows, of shape (rows, coordinates).
    truth, predicted
        Positions of the class of each row, and of the one that the model predicts; -1 where it is
        not known.
    """

    model: str
    outcome: str
    classes: tuple[str, ...]
    names: tuple[str, ...]
    directions: Floats
    shares: Floats
    means: Floats
    scores: Floats
    truth: Index
    predicted: Index
    _omitted = ("scores", "truth", "predicted")

    def _columns(self) -> Mapping[str, Any]:
        axes = range(1, self.directions.shape[1] + 1)
        return {
            "column": list(self.names),
            **{f"coordinate {k}": self.directions[:, k - 1] for k in axes},
        }

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        axes = range(self.directions.shape[1])
        headings = ["", *(f"{k + 1} ({percent(self.shares[k])})" for k in axes)]
        order = np.argsort(-np.abs(self.directions[:, 0]), kind="stable") if axes else ()
        lines = [
            [self.names[j], *(number(v, IN_TABLES) for v in self.directions[j])] for j in order
        ]
        return headings, lines

    def _headline(self) -> str:
        return (
            f"Discriminant coordinates of {self.model}: {self.outcome}, "
            f"{count(len(self.classes), 'class', 'classes')}, {count(len(self.truth), 'row')}"
        )

    def __repr__(self) -> str:
        headings, lines = self._cells()
        widths = [max(map(len, cells)) for cells in zip(headings, *lines, strict=True)]
        text = [self._headline(), "share of the variance between classes in brackets", ""]
        for cells in (headings, *lines):
            first = f"{cells[0]:<{widths[0]}}"
            rest = [f"{cell:>{w}}" for cell, w in zip(cells[1:], widths[1:], strict=True)]
            text.append("  ".join([first, *rest]).rstrip())
        return "\n".join(text)

    def plot(self) -> Any:
        """Draw rows and class means in the first two coordinates (Altair)."""
        from clearwood.plot import plot_discriminants

        return plot_discriminants(self)

    def _repr_html_(self) -> str:
        headings, lines = self._cells()
        return html_table(self._headline(), headings, lines)


def discriminants(model: Learner, data: Any) -> Discriminants:
    """Compute the coordinates in which the classes of a discriminant analysis lie furthest apart.

    Parameters
    ----------
    model
        A fitted "lda", or an "rda" with ``pooling=1``.
    data
        Rows to place; with the target, the picture colours them by their class.

    Returns
    -------
    Discriminants

    Notes
    -----
    Coordinates solve Fisher's problem: the greatest variance of class means in units of the
    variance within classes. There are as many as classes less one, or columns if there are fewer.

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> found = cw.explanation.discriminants(cw.learner("lda").fit(wine), wine)
    >>> found.shares.round(2).tolist()
    [0.67, 0.33]
    """
    name = getattr(model, "name", type(model).__name__)
    estimator = getattr(model, "estimator_", None)
    if name not in _LEARNERS or estimator is None or getattr(estimator, "pooling_", 1) != 1:
        raise InputError(
            f"{name!r} has no common covariance of classes, and so no discriminant coordinates",
            parameter="model",
            value=name,
            hint=words("fit 'lda', or 'rda' with ", Setting("pooling", 1), "."),
        )
    table = as_table(data, schema=model.schema_)
    directions, between = fisher_directions(
        estimator.means_, estimator.priors_, estimator.covariance_
    )
    # the first weight that matters is positive, so that pictures of refits do not flip
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.where(directions[largest, np.arange(len(largest))] < 0, -1, 1)
    labels = np.asarray(model.classes_)
    total = float(between.sum())
    return Discriminants(
        model=name,
        outcome=str(model.schema_.target or "the target"),
        classes=tuple(map(str, labels)),
        names=tuple(one.name for one in model.encoder_.columns_),
        directions=directions,
        shares=between / total if total > 0 else between,
        means=(estimator.means_ - estimator.priors_ @ estimator.means_) @ directions,
        scores=(model.encoder_.transform(table) - estimator.priors_ @ estimator.means_)
        @ directions,
        truth=_positions(_truth(data, table), labels),
        predicted=_positions(model.predict(table), labels),
    )


def _truth(data: Any, table: Table) -> NDArray[Any]:
    """Return the classes of the rows; of another type where they are not known."""
    target = data.target if isinstance(data, Table) else None
    return np.full(table.n_rows, None) if target is None else np.asarray(data.y)


def _positions(values: NDArray[Any], labels: NDArray[Any]) -> Index:
    """Return the position of each value among the labels, -1 for others."""
    known = {label: k for k, label in enumerate(labels.tolist())}
    return np.array([known.get(value, -1) for value in values.tolist()], dtype=np.intp)
