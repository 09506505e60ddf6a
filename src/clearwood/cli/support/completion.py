"""Words that the shell offers when the user presses Tab."""

from collections.abc import Iterator

__all__ = ["families", "kinds", "learners", "selections", "several_learners", "tasks"]


def learners(incomplete: str) -> Iterator[tuple[str, str]]:
    """Offer the learners whose name starts so, each with its title."""
    from clearwood.models import catalogue

    for entry in catalogue.entries():
        if entry.name.startswith(incomplete):
            yield entry.name, entry.title


def several_learners(incomplete: str) -> Iterator[str]:
    """Offer the learners that can follow after the last comma."""
    before, comma, start = incomplete.rpartition(",")
    return (f"{before}{comma}{name}" for name, _ in learners(start))


def selections(incomplete: str) -> Iterator[tuple[str, str]]:
    """Offer the methods that select columns and whose name starts so, each with its title."""
    from clearwood.models import SELECTIONS

    for method in SELECTIONS.values():
        if method.name.startswith(incomplete):
            yield method.name, method.title


def families(incomplete: str) -> Iterator[str]:
    """Offer the families of learners."""
    from clearwood.models import catalogue

    known = dict.fromkeys(entry.family for entry in catalogue.entries())
    return (family for family in known if family.startswith(incomplete))


def tasks(incomplete: str) -> Iterator[str]:
    """Offer the tasks."""
    from clearwood.table import Task

    return (task.value for task in Task if task.value.startswith(incomplete))


def kinds(incomplete: str) -> Iterator[str]:
    """Offer the kinds of columns after NAME=."""
    from clearwood.table import Kind

    name, equals, start = incomplete.rpartition("=")
    if not equals:
        return iter(())
    return (f"{name}={kind.value}" for kind in Kind if kind.value.startswith(start))
