"""Random planted forests."""

from clearwood.models.entries.builders import ANY, own_builder, types_in
from clearwood.models.entries.entry import Choice, Entry, Real, Whole

__all__ = ["ENTRIES"]


ENTRIES = (
    Entry(
        name="planted",
        title="Random planted forest: a sum of trees, each of a few columns",
        family="additive",
        tasks=ANY,
        reading="glass box",
        source="clearwood PlantedRegressor, PlantedPoisson, PlantedClassifier",
        described_in="Hiabu, Mammen and Meyer (2020), algorithm 1",
        loss="squared error, Poisson deviance (counts and amounts) or log loss",
        estimates="mean; probability",
        advice="Take it as a forest that can be read: with order 1 it is additive, with order 2 "
        "it adds pairs, and no smoothness is assumed, so that jumps stay jumps. It has no bands "
        "and many small leaves; 'glass' usually predicts better and reads more easily.",
        build=own_builder("clearwood.models.catalogue.planted.estimators.Planted"),
        saved_types=types_in(
            __name__, estimators="PlantedClassifier PlantedPoisson PlantedRegressor Steps"
        ),
        defaults={
            "order": 2,
            "n_trees": 50,
            "n_splits": 100,
            "n_thresholds": 10,
            "share": 0.4,
            "max_candidates": 50,
            "min_rows": 5,
            "l2": 1.0,
            "learning_rate": None,
            "bootstrap": True,
        },
        space={
            "order": Choice(1, 2, 3),
            "n_splits": Whole(20, 300, log=True),
            "share": Real(0.1, 1.0),
            "min_rows": Whole(2, 40, log=True),
            "learning_rate": Real(0.1, 1.0, log=True),
        },
        categories="native",
        missing="native",
        native_levels=254,
        complexity=5,
        page="planted",
        quick={"n_trees": 10},
    ),
)
