"""Learners: the catalogue, and each entry as a scikit-learn estimator."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.models import catalogue
    from clearwood.models.entry import Entry, Job
    from clearwood.models.files.model_file import ModelFile
    from clearwood.models.files.save import inspect, load, save
    from clearwood.models.learners import Learner, learner
    from clearwood.models.spaces import Choice, Real, Whole
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

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
