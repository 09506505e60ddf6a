"""Classification by densities (discriminant analysis) or by a hyperplane (perceptron)."""

from functools import partial
from typing import Any

from clearwood.models.entries.builders import CLASSES, builder, one_of, types_in
from clearwood.models.entries.entry import Choice, Entry, Job, Real
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _qda(job: Job) -> Any:
    from inspect import signature

    from clearwood.models.catalogue.discriminant.estimators import QuadraticDiscriminant

    shrinkage = job.settings["shrinkage"]
    if "shrinkage" in signature(QuadraticDiscriminant).parameters:
        return QuadraticDiscriminant(solver="eigen", shrinkage=shrinkage)
    # before scikit-learn 1.8 covariances were shrunk towards the identity only
    return QuadraticDiscriminant(reg_param=0.1 if shrinkage == "auto" else shrinkage)


def _perceptron(job: Job) -> Any:
    from sklearn.linear_model import Perceptron

    from clearwood.models.shared.wrappers import with_probabilities

    settings = dict(job.settings)
    probabilities = settings.pop("probabilities")
    penalty = one_of(job, "penalty", ["none", "l1", "l2"])
    settings["penalty"] = None if penalty == "none" else penalty
    model = Perceptron(random_state=job.seed, n_jobs=job.n_jobs, **settings)
    return with_probabilities(model, probabilities, seed=job.seed)


def _hyperplane(job: Job) -> Any:
    from clearwood.models.catalogue.discriminant.estimators import SeparatingHyperplane
    from clearwood.models.shared.wrappers import with_probabilities

    return with_probabilities(SeparatingHyperplane(), job.settings["probabilities"], seed=job.seed)


_discriminant = partial(Entry, family="discriminant", tasks=CLASSES, scale=True)

ENTRIES = (
    _discriminant(
        name="lda",
        title="Linear discriminant analysis: normal classes with a common covariance",
        reading="glass box",
        source="scikit-learn LinearDiscriminantAnalysis",
        described_in="Fisher (1936); Hastie, Tibshirani and Friedman (2009), 4.3",
        loss="negative log likelihood of the features and classes together",
        estimates="probability, if the features are normal in each class",
        build=builder(
            "clearwood.models.catalogue.discriminant.estimators.LinearDiscriminant", solver="lsqr"
        ),
        saved_types=types_in(__name__, estimators="LinearDiscriminant"),
        defaults={"shrinkage": "auto"},
        space={"shrinkage": Real(0.0, 1.0)},
        reference=True,
        complexity=2,
        page="discriminants",
    ),
    _discriminant(
        name="qda",
        title="Quadratic discriminant analysis: normal classes, each with its own covariance",
        reading="black box",
        source="scikit-learn QuadraticDiscriminantAnalysis",
        described_in="Hastie, Tibshirani and Friedman (2009), 4.3",
        loss="negative log likelihood of the features and classes together",
        estimates="probability, if the features are normal in each class",
        build=_qda,
        saved_types=types_in(__name__, estimators="QuadraticDiscriminant"),
        defaults={"shrinkage": 0.1},
        space={"shrinkage": Real(0.01, 0.99)},
        reference=True,
        complexity=4,
    ),
    _discriminant(
        name="rda",
        title="Regularised discriminant analysis: between linear and quadratic, or of low rank",
        reading="black box",
        source="clearwood RegularisedDiscriminant",
        described_in="Friedman (1989); Hastie, Tibshirani and Friedman (2009), 4.3.1",
        loss="negative log likelihood of the features and classes together",
        estimates="probability, if the features are normal in each class",
        build=builder("clearwood.models.catalogue.discriminant.estimators.RegularisedDiscriminant"),
        saved_types=types_in(__name__, estimators="RegularisedDiscriminant"),
        defaults={"pooling": 0.5, "shrinkage": 0.1, "rank": None},
        space={"pooling": Real(0.0, 1.0), "shrinkage": Real(0.0, 1.0)},
        reference=True,
        complexity=3,
        advice="Take it where classes spread differently but have too few rows for covariances of "
        "their own. Set pooling and shrinkage to None to have both chosen by the log loss of "
        "held-out rows inside the fit. With pooling=1 it is linear, and rank=2 draws the classes "
        "in the plane that separates them best (cw.explanation.discriminants). Indicators of "
        "categories are not normal: with many of them 'logistic' is safer.",
        reads="With pooling=1 the coordinates that separate the classes are a table and a picture "
        "(cw.explanation.discriminants); cw.explanation.boundaries draws where the class changes "
        "with two columns. All else is estimated by predicting many rows.",
        page="discriminants",
    ),
    _discriminant(
        name="hyperplane",
        title="Separating hyperplane: the widest margin between two classes that do not overlap",
        tasks=frozenset({Task.BINARY}),
        reading="glass box",
        source="clearwood SeparatingHyperplane (scikit-learn SVC)",
        described_in="Hastie, Tibshirani and Friedman (2009), 4.5.2",
        loss="none on the training rows; the least squared length of the coefficients",
        estimates="class; probability with Platt's or isotonic calibration",
        build=_hyperplane,
        saved_types=types_in(__name__, estimators="SeparatingHyperplane"),
        defaults={"probabilities": "none"},
        reference=True,
        complexity=2,
        advice="Take it only for classes that a hyperplane separates without error; it refuses "
        "others. Learner 'svm' allows rows on the wrong side.",
        reads="The score is linear, so effects are exact; cw.explanation.boundaries draws the "
        "hyperplane for two columns. The rows that it touches are its support vectors.",
        page="discriminants",
    ),
    _discriminant(
        name="perceptron",
        title="Perceptron: a separating hyperplane, updated at each misclassified row",
        reading="glass box",
        source="scikit-learn Perceptron",
        described_in="Rosenblatt (1958); Hastie, Tibshirani and Friedman (2009), 4.5.1",
        loss="distance of misclassified rows from the hyperplane",
        estimates="class; probability with Platt's or isotonic calibration",
        build=_perceptron,
        defaults={"penalty": "none", "alpha": 1e-4, "eta0": 1.0, "probabilities": "none"},
        space={"penalty": Choice("none", "l1", "l2"), "alpha": Real(1e-6, 1e-2, log=True)},
        complexity=2,
        sparse={"penalty": ("l1", "elastic-net")},
    ),
)
