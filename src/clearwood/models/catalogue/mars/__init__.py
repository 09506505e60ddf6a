"""Multivariate adaptive regression splines."""

from clearwood.models.entries.builders import ANY, own_builder, types_in
from clearwood.models.entries.entry import Choice, Entry, Real, Whole

__all__ = ["ENTRIES"]


ENTRIES = (
    Entry(
        name="mars",
        title="Multivariate adaptive regression splines: a short sum of products of hinges",
        family="additive",
        tasks=ANY,
        reading="glass box",
        source="clearwood MarsRegressor, MarsPoisson, MarsClassifier",
        described_in="Friedman (1991); Hastie, Tibshirani and Friedman (2009), 9.4",
        loss="squared error, terms by generalised cross-validation; then log loss or Poisson "
        "deviance + ridge · Σ β² / 2",
        estimates="mean; probability",
        advice="Take it for a formula of a dozen terms that can be copied into a spreadsheet, or "
        "as a quick look at where effects bend. Its predictions are usually worse than those of "
        "'gam' or boosted trees, and small changes of the data move its knots.",
        build=own_builder("clearwood.models.catalogue.mars.estimators.Mars"),
        saved_types=types_in(
            __name__,
            terms="Hinge InLevels IsMissing Stacked",
            estimators="MarsClassifier MarsPoisson MarsRegressor",
        ),
        defaults={
            "degree": 1,
            "max_terms": None,
            "penalty": None,
            "threshold": 0.001,
            "min_span": None,
            "end_span": None,
            "max_knots": 200,
            "n_parents": 20,
            "extrapolate": "constant",
            "ridge": 1.0,
            "bands": 0,
        },
        space={
            "degree": Choice(1, 2, 3),
            "max_terms": Whole(5, 100, log=True),
            "penalty": Real(1.0, 6.0),
        },
        categories="native",
        missing="native",
        complexity=3,
        page="mars",
        listing="a formula",
    ),
)
