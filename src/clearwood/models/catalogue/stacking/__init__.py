"""Several learners of the catalogue, combined."""

from dataclasses import replace
from typing import Any

from clearwood._shared.errors import InputError, Setting, did_you_mean, words
from clearwood.models.entries.builders import ANY, types_in
from clearwood.models.entries.entry import Entry, Job
from clearwood.table import Task

__all__ = ["ENTRIES"]

_OF_CLASSES = ("logistic", "forest", "gbm")
_OF_NUMBERS = ("ridge", "forest", "gbm")
_OF_AMOUNTS = ("glm", "forest", "gbm")


def _stacking(job: Job) -> Any:
    from sklearn.ensemble import StackingClassifier, StackingRegressor

    from clearwood.models.catalogue.stacking.simplex import SimplexClassifier, SimplexRegressor
    from clearwood.models.shared.folds import Folds

    classes = job.task.is_classification
    usual = _OF_AMOUNTS if job.task is Task.AMOUNT else _OF_NUMBERS
    names = job.settings["members"] or (_OF_CLASSES if classes else usual)
    members = [(name, _member(name, job)) for name in dict.fromkeys(names)]
    folds = Folds(job.settings["folds"], stratify=classes, seed=job.seed)
    if classes:
        return StackingClassifier(
            members,
            final_estimator=SimplexClassifier(),
            cv=folds,
            stack_method="predict_proba",
            n_jobs=job.n_jobs,
        )
    return StackingRegressor(
        members, final_estimator=SimplexRegressor(), cv=folds, n_jobs=job.n_jobs
    )


def _member(name: str, job: Job) -> Any:
    from clearwood.models import catalogue

    entry = catalogue.get(name)
    if entry.name == "stacking" or job.task not in entry.tasks:
        able = [known for known in catalogue.names(job.task) if known != "stacking"]
        raise InputError(
            f"{name!r} cannot be a member of 'stacking' for {job.task}",
            parameter="members",
            value=name,
            hint=did_you_mean(name, able),
        )
    entry.require()
    estimator = entry.build(entry.resolved(replace(job, settings=dict(entry.defaults), n_jobs=1)))
    if job.task.is_classification and not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"{name!r} predicts no probabilities, which 'stacking' needs",
            parameter="members",
            value=name,
            hint=words("leave it out of ", Setting("members", list(job.settings["members"])), "."),
        )
    return estimator


ENTRIES = (
    Entry(
        name="stacking",
        title="Stacking: a weighted mean of learners, weighted by held-out performance",
        family="ensemble",
        tasks=ANY,
        reading="black box",
        source="scikit-learn StackingRegressor, StackingClassifier",
        described_in="Wolpert (1992); Hastie, Tibshirani and Friedman (2009), 8.8",
        loss="squared error or log loss of held-out predictions, weights ≥ 0 that sum to one",
        estimates="mean; probability",
        build=_stacking,
        saved_types=types_in(__name__, simplex="SimplexClassifier SimplexRegressor"),
        defaults={"members": None, "folds": 5},
        scale=True,
        complexity=9,
        quick={"folds": 2},
    ),
)
