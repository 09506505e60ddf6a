"""Generalised linear models: counts and positive amounts, classes, ordered classes."""

from functools import partial
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.models.entries.builders import CLASSES, NUMBERS, one_of, types_in
from clearwood.models.entries.entry import Choice, Entry, Job, Real
from clearwood.models.entries.streams import Newton
from clearwood.table import Task

__all__ = ["ENTRIES"]

_PENALTIES = ("none", "l1", "l2", "elastic-net")
#: Of a logistic regression; a fit that needs more warns that it has not converged.
_MOST_ITERATIONS = 5_000


def _put_glm(model: Any, coefficients: Floats, intercept: float) -> None:
    model.model_.coef_, model.model_.intercept_ = coefficients, intercept
    model.coef_, model.intercept_ = coefficients, intercept


def _put_logistic(model: Any, coefficients: Floats, intercept: float) -> None:
    model.coef_, model.intercept_ = coefficients[None, :], np.array([intercept])


def _glm(job: Job) -> Any:
    from clearwood.models.catalogue.glm.log_linear import DISTRIBUTIONS, LogLinear

    one_of(job, "distribution", ["auto", *DISTRIBUTIONS])
    settings = dict(job.settings)
    if job.task is Task.COUNT and settings["distribution"] == "auto":
        settings["distribution"] = "poisson"
    return LogLinear(**settings)


def _logistic(job: Job) -> Any:
    from inspect import signature

    from sklearn.linear_model import LogisticRegression

    from clearwood.models.catalogue.glm.logistic import Logistic

    penalty = one_of(job, "penalty", _PENALTIES)
    # a share of zero or one of l1 are the two pure penalties
    l1_ratio = {"none": 0.0, "l1": 1.0, "l2": 0.0, "elastic-net": job.settings["l1_ratio"]}[penalty]
    settings: dict[str, Any] = {
        "C": float("inf") if penalty == "none" else job.settings["C"],
        "class_weight": job.settings["class_weight"],
        "random_state": job.seed,
        "l1_ratio": l1_ratio,
        # lbfgs is the fast one for smooth losses; saga is the only one for all the others
        "solver": "lbfgs" if penalty in ("none", "l2") else "saga",
        "max_iter": _MOST_ITERATIONS,
    }
    if signature(LogisticRegression).parameters["penalty"].default != "deprecated":
        # before scikit-learn 1.8 the penalty was named, and the share belonged to one of them
        settings["penalty"] = {"none": None, "elastic-net": "elasticnet"}.get(penalty, penalty)
        settings["C"] = job.settings["C"]
        if penalty != "elastic-net":
            del settings["l1_ratio"]
    return Logistic(**settings)


def _one_vs_rest(job: Job) -> Any:
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(_logistic(job), n_jobs=job.n_jobs)


def _ordinal(job: Job) -> Any:
    from clearwood.models.catalogue.glm.ordinal import OrderedRegression

    link = one_of(job, "link", ["logit", "probit"])
    return OrderedRegression(link=link, order=job.class_order or None)


_glm_entry = partial(Entry, family="glm", reading="glass box", scale=True, complexity=2)
_logistic_entry = partial(
    _glm_entry,
    tasks=frozenset({Task.MULTICLASS}),
    loss="log loss + penalty / C",
    estimates="probability",
    build=_logistic,
    saved_types=types_in(__name__, logistic="Logistic"),
    defaults={"penalty": "l2", "C": 1.0, "l1_ratio": 0.5, "class_weight": None},
    space={"penalty": Choice("l1", "l2"), "C": Real(1e-4, 1e3, log=True)},
    unpenalised={"penalty": "none"},
)

ENTRIES = (
    _glm_entry(
        name="glm",
        title="Generalised linear model with a log link: counts, positive amounts, Tweedie",
        tasks=NUMBERS,
        source="scikit-learn TweedieRegressor",
        described_in="McCullagh and Nelder (1989)",
        loss="half the mean deviance of the target over its mean + alpha · Σ β² / 2",
        estimates="mean",
        build=_glm,
        saved_types=types_in(__name__, log_linear="LogLinear"),
        defaults={"distribution": "auto", "power": 1.5, "alpha": 1e-4},
        unpenalised={"alpha": 0},
        streams=Newton(_put_glm, {"distribution": ("auto", "poisson", "gamma", "tweedie")}),
        space={"alpha": Real(1e-6, 10.0, log=True)},
    ),
    _logistic_entry(
        name="logistic",
        title="Logistic regression, unpenalised or with an l1, l2 or elastic-net penalty",
        tasks=CLASSES,
        source="scikit-learn LogisticRegression",
        described_in="Hastie, Tibshirani and Friedman (2009), 4.4",
        streams=Newton(_put_logistic, {"penalty": ("l2", "none"), "class_weight": (None,)}),
        sparse={"penalty": ("l1", "elastic-net")},
    ),
    _logistic_entry(
        name="softmax",
        title="Softmax regression: one linear score per class, fitted together",
        source="scikit-learn LogisticRegression",
        described_in="Hastie, Tibshirani and Friedman (2009), 4.4; Bishop (2006), 4.3.4",
        sparse={"penalty": ("l1", "elastic-net")},
    ),
    _logistic_entry(
        name="one-vs-rest",
        title="One-vs-rest: a logistic regression for each class against all others",
        source="scikit-learn OneVsRestClassifier, LogisticRegression",
        described_in="Rifkin and Klautau (2004)",
        loss="log loss of each class against the rest + penalty / C",
        estimates="probability, after dividing by the sum over classes",
        build=_one_vs_rest,
        complexity=3,
    ),
    _glm_entry(
        name="ordinal",
        title="Ordinal regression: one linear score with a threshold between ordered classes",
        tasks=frozenset({Task.MULTICLASS}),
        source="statsmodels OrderedModel",
        described_in="McCullagh (1980)",
        loss="log loss of the cumulative model; classes in the table's order, else as they sort",
        estimates="probability",
        build=_ordinal,
        saved_types=types_in(__name__, ordinal="OrderedRegression"),
        defaults={"link": "logit"},
        reference=True,
        complexity=3,
        module="statsmodels",
        extra="stats",
        distributions=("statsmodels",),
    ),
)
