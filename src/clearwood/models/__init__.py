"""Learners: the catalogue, and each entry as a scikit-learn estimator."""

from clearwood.models import catalogue
from clearwood.models._entry import Entry, Job
from clearwood.models._learner import Learner, learner
from clearwood.models._model_file import ModelFile
from clearwood.models._save import inspect, load, save
from clearwood.models._space import Choice, Real, Whole

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
