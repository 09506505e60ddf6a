"""Rule ensembles."""

from clearwood.models.entries.builders import ANY, own_builder, types_in
from clearwood.models.entries.entry import Choice, Entry, Real, Whole

__all__ = ["ENTRIES"]


ENTRIES = (
    Entry(
        name="rules",
        title="Rule ensemble (RuleFit): a sparse sum of rules and lines, chosen by the lasso",
        family="additive",
        tasks=ANY,
        reading="glass box",
        source="clearwood RulesRegressor, RulesPoisson, RulesClassifier",
        described_in="Friedman and Popescu (2008); Hastie, Tibshirani and Friedman (2009), 16.3.2",
        loss="squared error / 2, log loss or Poisson deviance + λ · Σ |β|, λ by cross-validation",
        estimates="mean; probability",
        advice="Take it where a prediction should be explained by a few if-then statements, or "
        "where effects have jumps and interactions. Set choose to 'one-se' for a shorter list. "
        "Rules overlap, so another sample gives other rules with similar predictions; for smooth "
        "effects 'gam' reads better.",
        build=own_builder("clearwood.models.catalogue.rules.estimators.Rules"),
        saved_types=types_in(__name__, estimators="RulesClassifier RulesPoisson RulesRegressor"),
        defaults={
            "n_trees": 100,
            "mean_leaves": 4.0,
            "shrinkage": 0.1,
            "share": 0.5,
            "min_leaf": 10,
            "min_support": 0.02,
            "lines": True,
            "winsor": 0.025,
            "folds": 5,
            "n_penalties": 50,
            "choose": "best",
        },
        space={
            "n_trees": Whole(30, 500, log=True),
            "mean_leaves": Real(2.0, 12.0),
            "min_leaf": Whole(3, 50, log=True),
            "choose": Choice("best", "one-se"),
        },
        categories="native",
        missing="native",
        complexity=4,
        page="rules",
        listing="a list of rules",
        quick={"n_trees": 25, "folds": 2},
    ),
)
