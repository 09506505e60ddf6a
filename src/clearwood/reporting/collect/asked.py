"""The model as it is asked, and how much of it a time allows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood import forest as forests
from clearwood._shared.errors import InputError
from clearwood.explanation import Explained
from clearwood.forest import Forest
from clearwood.models import Learner
from clearwood.reporting.collect.findings import Options
from clearwood.reporting.collect.inputs import Given
from clearwood.table import Table

__all__ = ["POINTS", "Asked", "Limits", "limits_of", "read_once", "thinned"]

#: Values of a column at which its effect is measured, at most.
POINTS = 40

# What the exact decomposition of a forest costs, in seconds on one core: for each leaf a table
# over the subsets of its path, then a look-up for each row. Measured; meant to be right within
# a factor of three.
_SECONDS_PER_LEAF = 1.5e-5
_SECONDS_PER_LEAF_AND_ROW = 2e-8
#: Averages over fewer rows than this would be noise.
_FEWEST_ROWS = 100
_FEWEST_EXACT = 200


@dataclass(frozen=True)
class Limits:
    """How long stages may take, in seconds, and how many rows they use."""

    decomposition: float
    effects: float
    agreement: float
    shapley: float
    learning: float
    effect_rows: int
    agreement_rows: int
    dependence_rows: int


_THOROUGH = Limits(12.0, 15.0, 8.0, 10.0, 10.0, 1000, 1000, 2000)
_QUICK = Limits(4.0, 5.0, 2.0, 3.0, 0.0, 300, 300, 1000)


def limits_of(options: Options) -> Limits:
    """Give the limits of a thorough or a quick report."""
    return _QUICK if options.quick else _THOROUGH


@dataclass(frozen=True, eq=False)
class Asked:
    """A model ready to be asked many times.

    Parameters
    ----------
    model
        A forest where it could be read as one, else as it was given.
    given, options, limits
        What the report is about, and how it was asked for.
    seconds_per_row
        What one prediction takes.
    """

    model: Any
    given: Given
    options: Options
    limits: Limits
    seconds_per_row: float = 0.0

    @property
    def table(self) -> Table:
        """All rows."""
        return self.given.table

    def affordable(self, seconds: float, most: int, columns: int) -> int:
        """Give the rows for which so many columns can be asked at every grid value in a time."""
        asked = seconds / max(self.seconds_per_row, 1e-9)
        return int(np.clip(asked / max(columns, 1) / (POINTS + 2), _FEWEST_ROWS, most))

    def exact_rows(self, seconds: float) -> int | None:
        """Give the rows over which the model can be taken apart exactly in a time.

        All of them for sums; None where even few take too long.
        """
        n_rows = self.table.n_rows
        if not isinstance(self.model, Forest):
            return n_rows
        left = seconds / self.model.n_leaves - _SECONDS_PER_LEAF
        rows = int(left / _SECONDS_PER_LEAF_AND_ROW)
        return min(rows, n_rows) if rows >= min(_FEWEST_EXACT, n_rows) else None

    def named(
        self, columns: tuple[str, ...], chosen: tuple[str, ...] | None = None
    ) -> tuple[str, ...]:
        """Give columns the table's names: a model fitted to an array knows only positions."""
        own = self.given.features
        known: dict[str, str] = {}
        if len(own) == len(columns) and not set(columns) <= set(own):
            known = dict(zip(columns, own, strict=True))
        return tuple(known.get(name, name) for name in chosen or columns)


def read_once(given: Given, sample: Table) -> Any:
    """Give the model as a forest where it is one: every explanation would read it again."""
    model = given.model
    inner = getattr(model, "estimator_", model) if isinstance(model, Learner) else model
    if isinstance(model, Forest) or not forests.supports(inner):
        return model
    try:
        read = forests.from_model(model)
        asked = Explained(read, sample).predictor()
    except InputError:
        return model
    same = tuple(map(str, asked.scorer.classes)) == given.classes
    return read if same and asked.names == given.features else model


def thinned(table: Table, most: int, seed: int) -> Table:
    """Give some rows of a table, drawn with the seed, in their order."""
    if table.n_rows <= most:
        return table
    rng = np.random.default_rng(seed)
    return table.take(np.sort(rng.choice(table.n_rows, most, replace=False)))
