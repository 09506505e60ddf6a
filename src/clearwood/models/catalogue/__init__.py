"""Every learner by its short name.

Each learner, or family of learners, has a module or a folder here: its entry, its estimator and
whatever else belongs to it. `registry` finds them.
"""

from clearwood.models.catalogue.registry import (
    built_in,
    entries,
    get,
    names,
    register,
    saved_types,
    usual,
)

__all__ = ["built_in", "entries", "get", "names", "register", "saved_types", "usual"]
