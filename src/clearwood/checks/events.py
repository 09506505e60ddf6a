"""Events: how many outcomes there are to learn from, for what a model has to estimate."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clearwood._shared.errors import InputError
from clearwood._shared.numbers import count, number
from clearwood._shared.results import Result
from clearwood._shared.weights import counted
from clearwood.table import Kind, Task, as_table

__all__ = ["FEWEST_EVENTS", "Events", "events"]

#: Fewer events for each parameter are few (Peduzzi and others 1996).
PER_PARAMETER = 10.0
#: Fewer events say little about calibration (Collins, Ogundimu and Altman 2016).
FEWEST_EVENTS = 100


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Events(Result):
    """How many events there are for each parameter; computed by `clearwood.checks.events`.

    Parameters
    ----------
    target, task
        The target and its task: an event is a row of the rarest class, one of what is counted, or
        a row with an amount above 0.
    rarest
        The rarest class; None for counts and amounts, and where it is not to be named.
    n_rows, n_events
        Rows (those of weight 0 left out), and events among them.
    n_parameters
        Of a model with one parameter for each number and each level but one of a category.
    """

    target: str
    task: Task
    rarest: str | None = None
    n_rows: int
    n_events: int
    n_parameters: int
    _derived: ClassVar[tuple[str, ...]] = ("what", "per_parameter", "are_few", "text")

    @property
    def what(self) -> str:
        """What an event is: ``y = yes``, ``claims`` or ``paid above 0``."""
        if self.task is Task.COUNT:
            return self.target
        if self.task is Task.AMOUNT:
            return f"{self.target} above 0"
        return (
            "rows of the rarest class" if self.rarest is None else f"{self.target} = {self.rarest}"
        )

    @property
    def per_parameter(self) -> float:
        """Events for each parameter."""
        return self.n_events / max(1, self.n_parameters)

    @property
    def are_few(self) -> bool:
        """Whether there are fewer than 10 for each parameter, or fewer than 100 in all."""
        return self.per_parameter < PER_PARAMETER or self.n_events < FEWEST_EVENTS

    @property
    def text(self) -> str:
        """How many there are, in words."""
        return (
            f"{count(self.n_events, 'event')} ({self.what}) in {count(self.n_rows, 'row')}, which "
            f"is {number(self.per_parameter)} for each of {count(self.n_parameters, 'parameter')} "
            "(one for each number, and for each level of a category but one)"
        )

    def __repr__(self) -> str:
        return f"Events: {self.text}"


def events(data: Any) -> Events | None:
    """Count the events of a table, and those for each parameter of a simple model.

    What can be learned about classes, counts and amounts depends on the number of events rather
    than of rows. With fewer than about 10 for each parameter, coefficients are unstable and
    predictions too extreme, unless the model shrinks them; with fewer than about 100 in all, little
    can be said about calibration on held-out rows.

    Parameters
    ----------
    data
        A table with a target.

    Returns
    -------
    Events or None
        None where every row is an event: for numbers, and amounts that are never 0.

    Examples
    --------
    >>> import clearwood as cw
    >>> found = events(cw.datasets.insurance(400))
    >>> found.n_rows, found.n_events > 50, found.are_few
    (400, True, True)
    """
    table = as_table(data)
    if table.target is None:
        raise InputError("the table has no target", parameter="target")
    counting, _ = counted(table.weights, table.n_rows)
    column = table.column(table.target).take(counting)
    values = np.asarray(column.values, np.float64)
    rarest = None
    if column.is_coded:
        sizes = np.bincount(column.values, minlength=len(column.levels))
        present = np.flatnonzero(sizes)
        if len(present) < 2:
            return None
        code = present[sizes[present].argmin()]
        n_events, rarest = int(sizes[code]), column.levels[code]
    elif table.task is Task.COUNT:
        n_events = int(values.sum())
    elif table.task is Task.AMOUNT and (values <= 0).any():
        n_events = int((values > 0).sum())
    else:
        return None
    parameters = 0
    for name in table.features:
        one = table.column(name).take(counting)
        is_levels = one.is_coded or one.kind is Kind.TEXT
        parameters += max(1, len(np.unique(one.values[~one.missing])) - 1) if is_levels else 1
    assert table.task is not None
    return Events(
        target=table.target,
        task=table.task,
        rarest=rarest,
        n_rows=len(counting),
        n_events=n_events,
        n_parameters=parameters,
    )
