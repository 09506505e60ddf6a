"""Rule ensembles."""

from typing import Any

from clearwood.models.entry import Entry, Job
from clearwood.models.families.shared import ANY
from clearwood.models.spaces import Choice, Real, Whole
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _rules(job: Job) -> Any:
    from clearwood.models.glassbox.rules import estimators

    shared = {
        "categorical": job.categorical,
        "random_state": job.seed,
        "n_jobs": job.n_jobs,
        **job.settings,
    }
    if job.task.is_classification:
        return estimators.RulesClassifier(**shared)
    if job.task in (Task.COUNT, Task.AMOUNT):  # amounts: the log link keeps them positive
        return estimators.RulesPoisson(**shared)
    return estimators.RulesRegressor(**shared)


ENTRIES = (
    Entry(
        name="rules",
        title="Rule ensemble (RuleFit): a sparse sum of rules and lines, chosen by the lasso",
        family="additive",
        tasks=ANY,
        reading="glass box",
        source="clearwood RulesRegressor, RulesPoisson, RulesClassifier",
        section="Rosso 10 (ISLE and rule ensembles)",
        loss="squared error / 2, log loss or Poisson deviance + λ · Σ |β|, λ by cross-validation",
        estimates="mean; probability",
        advice="Take it where a prediction should be explained by a few if-then statements, or "
        "where effects have jumps and interactions. Set choose to 'one-se' for a shorter list. "
        "Rules overlap, so another sample gives other rules with similar predictions; for smooth "
        "effects 'gam' reads better.",
        build=_rules,
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
    ),
)
