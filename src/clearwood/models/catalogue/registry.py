"""Learners by their short names: those that come with Clearwood, and registered ones.

Entries are loaded on first use, and none of them imports its library before it builds an
estimator.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from clearwood._shared.errors import InputError, Option, did_you_mean, words
from clearwood.models.entries.entry import Entry
from clearwood.table import Task

__all__ = ["built_in", "entries", "get", "names", "register", "saved_types", "usual"]

#: The learners compared by default: simple ones, readable ones and the usual strong ones.
_USUAL = {
    Task.REGRESSION: ("baseline", "ridge", "glass", "tree", "forest", "gbm"),
    Task.COUNT: ("baseline", "glm", "glass", "tree", "forest", "gbm"),
    Task.AMOUNT: ("baseline", "glm", "glass", "tree", "forest", "gbm"),
    Task.BINARY: ("baseline", "logistic", "glass", "tree", "forest", "gbm"),
    Task.MULTICLASS: ("baseline", "logistic", "glass", "tree", "forest", "gbm"),
}

_entries: dict[str, Entry] = {}


@cache
def built_in() -> tuple[Entry, ...]:
    """Return the entries that come with Clearwood: of every module and folder next to this one.

    They come family by family, simple ones first.

    Examples
    --------
    >>> built_in()[0].name
    'baseline'
    """
    found = iter_modules(import_module(str(__package__)).__path__)
    names = (f"{__package__}.{module.name}" for module in found)
    families = [import_module(name).ENTRIES for name in names if name != __name__]
    families.sort(key=lambda family: min(entry.complexity for entry in family))
    return tuple(entry for family in families for entry in family)


def entries() -> tuple[Entry, ...]:
    """Return all entries, family by family, registered ones last.

    Examples
    --------
    >>> [entry.name for entry in entries() if entry.family == "baseline"]
    ['baseline']
    """
    return tuple(_all().values())


def _all() -> dict[str, Entry]:
    if not _entries:
        _entries.update({entry.name: entry for entry in built_in()})
    return _entries


def names(task: Task | str | None = None, *, installed: bool = False) -> tuple[str, ...]:
    """Return the short names of all learners, or of those that support a task.

    Parameters
    ----------
    task
        Keep the learners that support it.
    installed
        Keep the learners whose package is installed.

    Examples
    --------
    >>> "gbm" in names("count")
    True
    """
    wanted = None if task is None else Task(task)
    return tuple(
        entry.name
        for entry in entries()
        if (wanted is None or wanted in entry.tasks) and (entry.available or not installed)
    )


def usual(task: Task | str, *, in_parts: bool = False) -> tuple[str, ...]:
    """Return the learners that are compared by default.

    Parameters
    ----------
    task
        What is predicted.
    in_parts
        Whether the table is read in parts: boosted trees that are fitted to all its rows are added,
        if their package is installed.

    Examples
    --------
    >>> usual("count")
    ('baseline', 'glm', 'glass', 'tree', 'forest', 'gbm')
    """
    if not in_parts:
        return _USUAL[Task(task)]
    able = [get(name) for name in names(task, installed=True)]
    grown = [entry.name for entry in able if entry.streams is not None and entry.stages is not None]
    return (*_USUAL[Task(task)], *grown[:1])


def get(name: str) -> Entry:
    """Return one entry; the error for an unknown name offers the nearest ones.

    Examples
    --------
    >>> get("ridge").family
    'linear'
    >>> get("rigde")
    Traceback (most recent call last):
    ...
    clearwood.InputError: there is no learner 'rigde'. Hint: did you mean 'ridge'?
    """
    known = _all()
    if name not in known:
        raise InputError(
            f"there is no learner {name!r}",
            parameter="learner",
            value=name,
            hint=did_you_mean(str(name), known),
        )
    return known[name]


def register(entry: Entry, *, replace: bool = False) -> None:
    """Add a learner of your own to the catalogue.

    From then on its name works wherever a learner is named, for the rest of the process and in the
    processes that work for it, and its model files can be loaded.

    Parameters
    ----------
    entry
        The learner.
    replace
        Allow an entry of the same name to be replaced.

    Examples
    --------
    >>> from sklearn.linear_model import TheilSenRegressor
    >>> def build(job):
    ...     return TheilSenRegressor(random_state=job.seed, **job.settings)
    >>> register(Entry(
    ...     name="theil-sen", title="Theil-Sen regression", family="linear",
    ...     tasks=frozenset({Task.REGRESSION}), reading="glass box", build=build,
    ...     defaults={"max_subpopulation": 10_000},
    ... ), replace=True)
    >>> get("theil-sen").title
    'Theil-Sen regression'
    """
    if not replace and entry.name in _all():
        raise InputError(
            f"a learner named {entry.name!r} exists",
            parameter="entry",
            value=entry.name,
            hint=words("choose another name, or pass ", Option("replace", value=True), "."),
        )
    _all()[entry.name] = entry


def saved_types() -> frozenset[str]:
    """Return the classes that the entries name as part of their models, by their full names.

    Examples
    --------
    >>> sum("catalogue.mars" in name for name in saved_types())
    7
    """
    return frozenset(name for entry in entries() for name in entry.saved_types)
