"""Feed-forward neural networks."""

from typing import Any

from clearwood.models.entry import Entry, Job
from clearwood.models.families.shared import ANY
from clearwood.models.spaces import Real, Whole

__all__ = ["ENTRIES"]


def _mlp(job: Job) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    from clearwood.models.estimators.standardised_target import StandardisedTarget

    settings = dict(job.settings)
    layers, units = settings.pop("layers"), settings.pop("units")
    shared = {**settings, "hidden_layer_sizes": (units,) * layers, "random_state": job.seed}
    if job.task.is_classification:
        return MLPClassifier(**shared)
    return StandardisedTarget(MLPRegressor(**shared))


ENTRIES = (
    Entry(
        name="mlp",
        title="Neural network: feed-forward, with hidden layers of equal size",
        family="network",
        tasks=ANY,
        reading="black box",
        source="scikit-learn MLPRegressor, MLPClassifier",
        section="Hiabu 6; course notes 27-30",
        loss="squared error, with the target standardised, or log loss, + alpha · Σ β² / 2",
        estimates="mean; probability",
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
)
