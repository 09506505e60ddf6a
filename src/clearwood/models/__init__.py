"""Learners: the catalogue, and each entry as a scikit-learn estimator."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import on_demand

if TYPE_CHECKING:
    from clearwood.models import catalogue
    from clearwood.models._entry import Entry, Job
    from clearwood.models._learner import Learner, learner
    from clearwood.models._model_file import ModelFile
    from clearwood.models._save import inspect, load, save
    from clearwood.models._space import Choice, Real, Whole
else:
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            __name__: ["catalogue"],
            "clearwood.models._entry": ["Entry", "Job"],
            "clearwood.models._learner": ["Learner", "learner"],
            "clearwood.models._model_file": ["ModelFile"],
            "clearwood.models._save": ["inspect", "load", "save"],
            "clearwood.models._space": ["Choice", "Real", "Whole"],
        },
    )

__all__ = [
    "Choice",
    "Entry",
    "Job",
    "Learner",
    "ModelFile",
    "Real",
    "Whole",
    "catalogue",
    "inspect",
    "learner",
    "load",
    "save",
]
