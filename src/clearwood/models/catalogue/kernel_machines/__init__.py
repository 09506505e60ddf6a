"""Kernel machines."""

from functools import partial
from typing import Any

from clearwood.models.entries.builders import CLASSES, NUMBERS, one_of, types_in
from clearwood.models.entries.entry import Entry, Job, Real

__all__ = ["ENTRIES"]

_KERNELS = ("rbf", "linear", "poly", "sigmoid")


def _kernel_ridge(job: Job) -> Any:
    from clearwood.models.catalogue.kernel_machines.kernel_ridge import LandmarkKernelRidge
    from clearwood.models.shared.wrappers import StandardisedTarget

    one_of(job, "kernel", _KERNELS)
    return StandardisedTarget(LandmarkKernelRidge(seed=job.seed, **job.settings))


def _svm(job: Job) -> Any:
    from sklearn.svm import SVC

    from clearwood.models.shared.wrappers import with_probabilities

    one_of(job, "kernel", _KERNELS)
    settings = dict(job.settings)
    probabilities = settings.pop("probabilities")
    model = SVC(random_state=job.seed, cache_size=500, **settings)
    return with_probabilities(model, probabilities, seed=job.seed)


def _svr(job: Job) -> Any:
    from sklearn.svm import SVR

    from clearwood.models.shared.wrappers import StandardisedTarget

    one_of(job, "kernel", _KERNELS)
    # the usual tolerance leaves differences of 1e-4 between targets in two units
    return StandardisedTarget(SVR(cache_size=500, tol=1e-6, **job.settings))


_kernel = partial(Entry, family="kernel", reading="black box", scale=True, complexity=6)

ENTRIES = (
    _kernel(
        name="kernel-ridge",
        title="Kernel ridge regression: ridge regression in the feature space of a kernel",
        tasks=NUMBERS,
        source="scikit-learn KernelRidge; Nystroem and Ridge above 5,000 rows",
        described_in="Saunders, Gammerman and Vovk (1998)",
        loss="squared error + alpha · squared norm, with the target standardised",
        estimates="mean",
        build=_kernel_ridge,
        saved_types=types_in(__name__, kernel_ridge="LandmarkKernelRidge"),
        defaults={
            "alpha": 0.1,
            "kernel": "rbf",
            "gamma": None,
            "degree": 3,
            "coef0": 1.0,
            "landmarks": None,
        },
        space={"alpha": Real(1e-3, 10.0, log=True), "gamma": Real(1e-3, 1.0, log=True)},
    ),
    _kernel(
        name="svm",
        title="Support vector machine",
        tasks=CLASSES,
        source="scikit-learn SVC, CalibratedClassifierCV",
        described_in="Cortes and Vapnik (1995); Hastie, Tibshirani and Friedman (2009), 12.3",
        loss="hinge loss + squared norm / 2C",
        estimates="class; probability by Platt's or isotonic calibration",
        build=_svm,
        defaults={
            "C": 1.0,
            "kernel": "rbf",
            "gamma": "scale",
            "degree": 3,
            "coef0": 0.0,
            "class_weight": None,
            "probabilities": "platt",
        },
        space={"C": Real(1e-2, 1e2, log=True), "gamma": Real(1e-3, 1.0, log=True)},
    ),
    _kernel(
        name="svr",
        title="Support vector regression",
        tasks=NUMBERS,
        source="scikit-learn SVR",
        described_in="Drucker and others (1997); Hastie, Tibshirani and Friedman (2009), 12.3.6",
        loss="absolute error beyond epsilon + squared norm / 2C, with the target standardised",
        estimates="median, roughly: errors below epsilon do not count",
        build=_svr,
        defaults={
            "C": 1.0,
            "epsilon": 0.1,
            "kernel": "rbf",
            "gamma": "scale",
            "degree": 3,
            "coef0": 0.0,
        },
        space={
            "C": Real(1e-2, 1e2, log=True),
            "epsilon": Real(0.01, 0.5, log=True),
            "gamma": Real(1e-3, 1.0, log=True),
        },
    ),
)
