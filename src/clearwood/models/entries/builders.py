"""What entries share: sets of tasks, checks of settings, and the plainest way to build."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from clearwood._shared.errors import InputError, Setting, did_you_mean, unknown_choice, words
from clearwood.models.entries.entry import Job
from clearwood.table import Task

__all__ = [
    "ANY",
    "CLASSES",
    "NUMBERS",
    "TWEEDIE_POWER",
    "builder",
    "listed",
    "one_of",
    "own_builder",
    "position",
    "positions",
    "types_in",
]

NUMBERS = frozenset({Task.REGRESSION, Task.COUNT, Task.AMOUNT})
CLASSES = frozenset({Task.BINARY, Task.MULTICLASS})
ANY = NUMBERS | CLASSES

#: The variance power of amounts that can be zero, where a learner has it as a setting of its own.
TWEEDIE_POWER = 1.5


def builder(path: str, *, standardised: bool = False, **fixed: Any) -> Callable[[Job], Any]:
    """Build a class from the settings alone; it is imported when the first one is built.

    Parameters
    ----------
    path
        The full name of the class.
    standardised
        Whether it is fitted to the standardised target.
    **fixed
        Parameters that are not settings.
    """
    module, _, name = path.rpartition(".")

    def build(job: Job) -> Any:
        from clearwood.models.shared.wrappers import StandardisedTarget

        estimator = getattr(import_module(module), name)(**fixed, **job.settings)
        return StandardisedTarget(estimator) if standardised else estimator

    return build


def own_builder(prefix: str) -> Callable[[Job], Any]:
    """Build a readable model of our own: for classes, for counts and amounts, or for numbers.

    Parameters
    ----------
    prefix
        The full names of the three classes without their endings Classifier, Poisson and Regressor.
    """
    module, _, name = prefix.rpartition(".")

    def build(job: Job) -> Any:
        is_count = job.task in (Task.COUNT, Task.AMOUNT)  # a log link keeps amounts positive
        ending = "Poisson" if is_count else "Regressor"
        kind = f"{name}{'Classifier' if job.task.is_classification else ending}"
        return getattr(import_module(module), kind)(
            categorical=job.categorical,
            random_state=job.seed,
            n_jobs=job.n_jobs,
            **job.settings,
        )

    return build


def types_in(package: str, **modules: str) -> tuple[str, ...]:
    """Return full names of classes in modules of a package, from their names with spaces between.

    Examples
    --------
    >>> types_in("package", module="One Two")
    ('package.module.One', 'package.module.Two')
    """
    return tuple(
        f"{package}.{module}.{name}" for module, names in modules.items() for name in names.split()
    )


def one_of(job: Job, setting: str, known: Iterable[Any]) -> Any:
    """Return a setting that must have one of a few values.

    Examples
    --------
    >>> job = Job(Task.BINARY, {"penalty": "L2"})
    >>> one_of(job, "penalty", ["l1", "l2"])
    Traceback (most recent call last):
    ...
    clearwood.InputError: penalty='L2' is not a known value. Hint: did you mean 'l2'?
    """
    value = job.settings[setting]
    known = list(known)
    if value is None and "none" in known:  # which the command line reads as None
        return "none"
    if value not in known:
        raise unknown_choice(setting, value, map(str, known), kind=Setting)
    return value


def positions(job: Job, setting: str) -> tuple[int, ...]:
    """Return where the columns are that a setting names."""
    return tuple(
        at
        for name in listed(job.settings[setting])
        if (at := position(job, setting, name)) is not None
    )


def listed(value: Any) -> list[Any]:
    """Return the items of a list, or those between the commas of a text."""
    if isinstance(value, str):
        return [item.strip() for item in value.split(",") if item.strip()]
    return list(value) if isinstance(value, Iterable) else [value]


def position(job: Job, setting: str, name: Any) -> int | None:
    """Return where a column is; None as long as columns are not known."""
    if not job.columns:
        return None
    if name not in job.columns or name == "":
        known = [column for column in job.columns if column]
        raise InputError(
            words(Setting(setting), f" names {name!r}, which is not a column that the model uses"),
            parameter=setting,
            value=name,
            hint=did_you_mean(str(name), known),
        )
    return job.columns.index(name)
