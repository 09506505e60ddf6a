"""Neural networks: scikit-learn's feed-forward one, and those on PyTorch, which are an extra.

The rule for names: ``mlp`` is always scikit-learn's, so that a name never means one model here and
another there; ``network``, ``transformer`` and ``cnn`` are always on PyTorch.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from clearwood._shared.errors import InputError
from clearwood.models.catalogue.network.plan import checked_grid, fits, usual_settings
from clearwood.models.catalogue.network.torch_extra import EXTRA, MODULE
from clearwood.models.entries.builders import ANY, types_in
from clearwood.models.entries.entry import Entry, Job, Real, Whole
from clearwood.table import Role, Task

__all__ = ["ENTRIES"]


def _mlp(job: Job) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    from clearwood.models.shared.wrappers import StandardisedTarget

    settings = dict(job.settings)
    layers, units = settings.pop("layers"), settings.pop("units")
    shared = {**settings, "hidden_layer_sizes": (units,) * layers, "random_state": job.seed}
    if job.task.is_classification:
        return MLPClassifier(**shared)
    return StandardisedTarget(MLPRegressor(**shared))


def _on_torch(prefix: str, more: Callable[[Job], dict[str, Any]], job: Job) -> Any:
    """Build a network for classes or for numbers, with the deviance of the task."""
    from clearwood.models.catalogue.network import estimators

    kind = "Classifier" if job.task.is_classification else "Regressor"
    settings: dict[str, Any] = {**job.settings, "random_state": job.seed, **more(job)}
    if settings["family"] is None:
        settings["family"] = _family(job)
    return getattr(estimators, f"{prefix}{kind}")(**settings)


def _family(job: Job) -> str | None:
    """Return the family of the task; that of counts also suits amounts that can be zero."""
    if job.task is Task.AMOUNT:
        return "poisson" if job.zeros else "gamma"
    return "poisson" if job.task is Task.COUNT else None


def _usual(job: Job, *, feed_forward: bool = False) -> dict[str, Any]:
    classes = {Task.BINARY: 2, Task.MULTICLASS: 3}.get(job.task, 1)
    return usual_settings(
        job.n_rows, classes=classes, feed_forward=feed_forward, monotone=any(job.monotone)
    )


def _for_network(job: Job) -> dict[str, Any]:
    return {"categorical": job.categorical, "monotone": job.monotone}


def _for_transformer(job: Job) -> dict[str, Any]:
    return {"categorical": job.categorical, "owners": job.owners}


def _for_cnn(job: Job) -> dict[str, Any]:
    """Find the cell of each column: cells that do not vary are not among the model's columns."""
    if job.schema is None:
        return {}
    held = [column for column in job.schema.columns if column.role in _CELLS]
    sources = list(dict.fromkeys(column.name for column in held if column.role in _FEATURES))
    for at, name in enumerate(job.columns):
        if not name or at in job.categorical:
            raise InputError(
                f"column {name or sources[job.owners[at]]!r} is not a number, and the cells of a "
                "grid are numbers",
                parameter="grid",
                value=job.settings["grid"],
                hint="leave it out, or use the learner 'network'.",
            )
    names = [column.name for column in held]
    # columns left out because they are constant are cells; those that the user left out are not
    if not fits(job.settings["grid"], len(names)):
        names = sources
    grid = checked_grid(job.settings["grid"], len(names))
    return {"grid": grid, "cells": tuple(map(names.index, job.columns))}


_FEATURES = (Role.FEATURE, Role.PROTECTED)
_CELLS = (*_FEATURES, Role.IGNORED)

_TRAINING: dict[str, Any] = {
    "optimizer": "adamw",
    "learning_rate": 3e-3,
    "momentum": 0.9,
    "weight_decay": 0.01,
    "schedule": "cosine",
    "batch_size": None,
    "epochs": None,
    "early_stopping": None,
    "validation": 0.15,
    "patience": 30,
    "clip": 1.0,
}

_torch_entry = partial(
    Entry,
    family="network",
    tasks=ANY,
    reading="black box",
    loss="squared error, Poisson deviance for counts, gamma deviance for amounts (Poisson where "
    "some are zero), log loss for classes, + weight decay",
    estimates="mean; probability",
    categories="native",
    complexity=9,
    resolve=_usual,
    module=MODULE,
    distributions=("torch",),
    extra=EXTRA,
)

ENTRIES = (
    Entry(
        name="mlp",
        title="Neural network: feed-forward, with hidden layers of equal size",
        family="network",
        tasks=ANY,
        reading="black box",
        source="scikit-learn MLPRegressor, MLPClassifier",
        described_in="Hastie, Tibshirani and Friedman (2009), 11",
        loss="squared error, with the target standardised, or log loss, + alpha · Σ β² / 2",
        estimates="mean; probability",
        advice="A network without an extra to install. 'network' does more (embeddings of "
        "categories, dropout, early stopping, deviances of counts and amounts, monotone columns) "
        "and needs PyTorch; the two names never stand for one another.",
        build=_mlp,
        defaults={
            "layers": 2,
            "units": 32,
            "activation": "relu",
            "alpha": 1e-3,
            "learning_rate_init": 3e-3,
            "max_iter": 1_000,
            "early_stopping": False,
        },
        space={
            "layers": Whole(1, 3),
            "units": Whole(8, 128, log=True),
            "alpha": Real(1e-5, 10.0, log=True),
            "learning_rate_init": Real(3e-4, 1e-2, log=True),
        },
        scale=True,
        complexity=9,
    ),
    _torch_entry(
        name="network",
        title="Neural network on PyTorch: embeddings, dropout, schedules, monotone columns",
        source="clearwood NetworkRegressor, NetworkClassifier, on PyTorch",
        described_in="Goodfellow, Bengio and Courville (2016), 6 to 8; Guo and Berkhahn (2016)",
        advice="Take it for smooth functions of numbers and for categories of many levels, with "
        "thousands of rows or more. On small tables and where effects have jumps, boosted trees "
        "('gbm') usually predict better and train faster; where the model must be read, take "
        "'glass'.",
        reads="Effects and Shapley values are estimated by predicting many rows. Gradients divide "
        "single predictions (cw.explanation.integrated_gradients; clearwood explain gradients), "
        "and the training curve shows whether it overfits (cw.explanation.training_curve).",
        build=partial(_on_torch, "Network", _for_network),
        saved_types=types_in(__name__, estimators="NetworkClassifier NetworkRegressor"),
        defaults={
            "family": None,
            "layers": 2,
            "units": 64,
            "activation": "silu",
            "dropout": 0.0,
            "batch_norm": False,
            "embedding": None,
            "members": 4,
            **_TRAINING,
            "optimizer": "adam",
            "learning_rate": 1e-2,
            "weight_decay": None,
        },
        space={
            "layers": Whole(1, 3),
            "units": Whole(16, 128, log=True),
            "weight_decay": Real(3e-4, 0.1, log=True),
            "learning_rate": Real(3e-3, 2e-2, log=True),
        },
        monotone=True,
        resolve=partial(_usual, feed_forward=True),
        page="networks",
        quick={"epochs": 30, "units": 16, "learning_rate": 0.01},
    ),
    _torch_entry(
        name="transformer",
        title="Transformer for tables on PyTorch: attention over columns",
        source="clearwood TransformerRegressor, TransformerClassifier, on PyTorch",
        described_in="Vaswani and others (2017); Gorishniy and others (2021)",
        advice="Take it where columns interact in ways that depend on the row, with many rows and "
        "time to train: a fit takes many times as long as that of 'network'. The weights of "
        "attention can be looked at, and explain nothing by themselves.",
        reads="As 'network': effects and Shapley values by sampling, "
        "cw.explanation.integrated_gradients, cw.explanation.training_curve. "
        "cw.explanation.attention shows what is mixed inside, which is not an explanation.",
        build=partial(_on_torch, "Transformer", _for_transformer),
        saved_types=types_in(__name__, estimators="TransformerClassifier TransformerRegressor"),
        defaults={
            "family": None,
            "layers": 2,
            "width": 32,
            "heads": 4,
            "dropout": 0.1,
            **_TRAINING,
            "learning_rate": 1e-3,
        },
        space={
            "layers": Whole(1, 3),
            "dropout": Real(0.0, 0.4),
            "weight_decay": Real(1e-5, 0.1, log=True),
            "learning_rate": Real(3e-4, 3e-3, log=True),
        },
        page="networks",
        picture="attention",
        quick={"epochs": 15, "width": 8, "heads": 2, "layers": 1, "learning_rate": 0.02},
    ),
    _torch_entry(
        name="cnn",
        title="Convolutional network on PyTorch, for columns that form a grid",
        source="clearwood CnnRegressor, CnnClassifier, on PyTorch",
        described_in="LeCun and others (1998); Goodfellow, Bengio and Courville (2016), 9",
        advice="Take it where neighbouring columns belong together, such as pixels or hours by "
        "days: set grid=(rows, columns), which the columns fill row by row. On columns without "
        "such an order it has nothing to gain over 'network'.",
        reads="cw.explanation.integrated_gradients divides a prediction among the cells; effects "
        "of single cells say little, so group them (cw.importance with groups). "
        "cw.explanation.training_curve shows the training.",
        build=partial(_on_torch, "Cnn", _for_cnn),
        saved_types=types_in(__name__, estimators="CnnClassifier CnnRegressor"),
        defaults={
            "family": None,
            "grid": None,
            "layers": 2,
            "units": 16,
            "activation": "silu",
            "dropout": 0.1,
            "batch_norm": True,
            **_TRAINING,
        },
        space={
            "layers": Whole(1, 3),
            "units": Whole(8, 32, log=True),
            "dropout": Real(0.0, 0.5),
            "weight_decay": Real(1e-4, 1.0, log=True),
            "learning_rate": Real(5e-4, 1e-2, log=True),
        },
        missing="native",
        page="networks",
        picture="cells",
    ),
)
