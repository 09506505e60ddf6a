"""The description of one learner in the catalogue."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from clearwood._shared.choices import Categories
from clearwood._shared.errors import MissingExtraError
from clearwood.models.entries.stages import Stages
from clearwood.models.entries.streams import Moments, Newton, Streams
from clearwood.table import Encoded, Schema, Task

__all__ = ["Categories", "Choice", "Dimension", "Entry", "Job", "Reading", "Real", "Whole"]


# Ranges that tuning searches, with their scale.


@dataclass(frozen=True)
class Real:
    """A real number between two bounds, searched evenly or, with ``log``, by magnitude.

    Examples
    --------
    >>> Real(0.01, 1.0, log=True).grid(3)
    [0.01, 0.1, 1.0]
    """

    low: float
    high: float
    log: bool = False

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one value."""
        return self._at(rng.uniform())

    def grid(self, n: int) -> list[float]:
        """Spread n values over the range, both ends included."""
        return [self._at(u) for u in np.linspace(0.0, 1.0, n)]

    def _at(self, u: float) -> float:
        if self.log:
            value = self.low * (self.high / self.low) ** u
        else:
            value = self.low + (self.high - self.low) * u
        return float(f"{min(max(value, self.low), self.high):.12g}")


@dataclass(frozen=True)
class Whole:
    """A whole number between two bounds, both included.

    Examples
    --------
    >>> Whole(1, 9).grid(3)
    [1, 5, 9]
    """

    low: int
    high: int
    log: bool = False

    def sample(self, rng: np.random.Generator) -> int:
        """Draw one value."""
        if not self.log:
            return int(rng.integers(self.low, self.high + 1))
        return round(Real(self.low, self.high, log=True).sample(rng))

    def grid(self, n: int) -> list[int]:
        """Spread at most n distinct values over the range, both ends included."""
        return sorted({round(value) for value in Real(self.low, self.high, self.log).grid(n)})


@dataclass(frozen=True)
class Choice:
    """One of a few values.

    Examples
    --------
    >>> Choice("uniform", "distance").grid(10)
    ['uniform', 'distance']
    """

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        return self.values[int(rng.integers(len(self.values)))]

    def grid(self, n: int) -> list[Any]:  # noqa: ARG002 - the same call for every dimension
        """Return all values, whatever n is."""
        return list(self.values)


Dimension = Real | Whole | Choice


Reading = Literal["glass box", "tree", "black box"]

_READS: dict[Reading, str] = {
    "glass box": "Effects, importance and Shapley values are exact, not sampled.",
    "tree": "Effects, importance and Shapley values are exact, read off the trees.",
    "black box": "Effects, importance and Shapley values are estimated by predicting many rows.",
}


@dataclass(frozen=True)
class Job:
    """What an entry needs to know to build an estimator.

    Parameters
    ----------
    task
        What is predicted.
    settings
        The entry's defaults with the user's choices on top.
    categorical
        Positions of the encoded columns that hold category codes (native encoding only).
    seed
        For learners that draw random numbers.
    n_jobs
        Threads or processes the estimator may use.
    n_columns, n_rows
        Number of encoded columns, and of rows; 0 where they are not known yet.
    zeros
        For numbers: the share of rows whose target is zero.
    monotone
        For each encoded column 1 where predictions must rise with it, -1 where they must fall, else
        0; empty where no column is constrained.
    columns
        The table's column that each encoded column holds; empty text for a part of one.
    owners
        The table's column that each encoded column is made from, as a number from 0 on.
    schema
        The columns of the table, also those that are left out; None where they are not known yet.
    encoded
        What each encoded column holds; empty where that is not known yet.
    class_order
        For classes in an order that the table states: their codes from the lowest to the highest,
        where codes number the classes as they sort; empty where no order is stated.
    """

    task: Task
    settings: Mapping[str, Any]
    categorical: tuple[int, ...] = ()
    seed: int = 0
    n_jobs: int = 1
    n_columns: int = 0
    n_rows: int = 0
    zeros: float = 0.0
    monotone: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    owners: tuple[int, ...] = ()
    schema: Schema | None = None
    encoded: tuple[Encoded, ...] = ()
    class_order: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One learner of the catalogue.

    Parameters
    ----------
    name
        The short name users type.
    title
        What it is, in one line.
    family
        Learners of one family work alike: "linear", "tree", "boosting", ...
    tasks
        What it can predict.
    reading
        How its predictions can be read.
    source
        The library and class it comes from.
    described_in
        The paper or book that describes it, with the chapter or section.
    loss
        What it minimises.
    estimates
        What a prediction of it estimates: mean, median, quantile, probability, ...
    build
        Makes the unfitted estimator for a job; imports its library itself.
    saved_types
        Full names of the classes of our own that a fitted one holds. A model file may name them:
        see `clearwood.models.files.trusted` for what to look at before a class is added.
    defaults
        Default settings. Every setting that a user may change is named here.
    space
        What tuning searches, a subset of the settings.
    categories, missing, scale, reference, native_levels
        How the encoder prepares columns for it: see `clearwood.table.Encoder`.
    fit_options
        Options of the estimator's ``fit`` besides rows, target and weights, for libraries that take
        them nowhere else.
    stages
        For boosted trees: how to stop them early and how to predict with fewer trees.
    leaf_rows
        For forests: the setting that holds the least number of rows of a leaf. Where it is None, it
        is chosen on held-out rows for counts and amounts.
    resolve
        Values of settings whose default is None, from a job's task and number of rows.
    monotone
        Whether it can keep predictions rising or falling with a column (`Job.monotone`).
    unpenalised
        For linear models: the settings with which nothing keeps coefficients finite where columns
        separate the classes, or where rows have no events. A fit with them warns.
    streams
        For learners that can be fitted to tables in parts, without all rows in memory: how.
    advice
        When to take it and when not, in a few sentences.
    reads
        How to read a fitted one, in a sentence or two; by default what holds for its ``reading``.
    complexity
        Orders learners from simple to complex, for "the simplest within one standard error".
    sparse
        For linear models whose fit sets coefficients to exactly zero: the values of settings with
        which it does; empty where it always does.
    listing
        What `clearwood.models.equation` writes a fitted one out as, such as "a formula".
    page, picture
        Its page in ``docs/models``, and the picture there that shows it if that is not the first.
    quick
        Settings with which a fit to a small table takes moments, for tests and first looks.
    module, extra
        The optional package it needs and the extra that installs it.
    distributions
        The names under which that package is installed; one of them is.
    setting_errors
        Full names of the errors of that package about a setting.

    See Also
    --------
    clearwood.models.catalogue.register : add an entry of your own.
    """

    name: str
    title: str
    tasks: frozenset[Task]
    reading: Reading
    build: Callable[[Job], Any]
    family: str = "own"
    source: str = ""
    described_in: str = ""
    loss: str = ""
    estimates: str = "mean"
    saved_types: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, Dimension] = field(default_factory=dict)
    categories: Categories = "onehot"
    missing: Literal["impute", "native"] = "impute"
    scale: bool = False
    reference: bool = False
    native_levels: int | None = None
    fit_options: Callable[[Job], Mapping[str, Any]] | None = None
    stages: Stages | None = None
    leaf_rows: str | None = None
    resolve: Callable[[Job], Mapping[str, Any]] | None = None
    monotone: bool = False
    unpenalised: Mapping[str, Any] | None = None
    streams: Streams | Moments | Newton | None = None
    advice: str = ""
    reads: str = ""
    complexity: int = 5
    sparse: Mapping[str, tuple[Any, ...]] | None = None
    listing: str = ""
    page: str = ""
    picture: str = ""
    quick: Mapping[str, Any] = field(default_factory=dict)
    module: str | None = None
    extra: str | None = None
    distributions: tuple[str, ...] = ()
    setting_errors: tuple[str, ...] = ()

    @property
    def available(self) -> bool:
        """Whether the package it needs is installed."""
        return self.module is None or find_spec(self.module) is not None

    @property
    def how_to_read(self) -> str:
        """How to read a fitted one."""
        return self.reads or _READS[self.reading]

    def resolved(self, job: Job) -> Job:
        """Return the job with values for settings that are None."""
        values = {} if self.resolve is None else self.resolve(job)
        values = {k: v for k, v in values.items() if k in job.settings and job.settings[k] is None}
        return replace(job, settings={**job.settings, **values}) if values else job

    def require(self) -> None:
        """Raise, naming the install command, where the package it needs is missing."""
        if not self.available:
            raise MissingExtraError(f"learner {self.name!r}", extra=self.extra or self.name)
