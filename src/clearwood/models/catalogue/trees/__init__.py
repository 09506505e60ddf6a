"""Decision trees: a single one, and ensembles of them."""

import math
from functools import partial
from typing import Any

from clearwood._shared.errors import InputError, Setting, words
from clearwood.models.entries.builders import ANY, types_in
from clearwood.models.entries.entry import Choice, Entry, Job, Real, Whole
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _tree(job: Job) -> Any:
    from clearwood.models.catalogue.trees.estimators import CartClassifier, CartRegressor

    settings = {
        **job.settings,
        "categorical": job.categorical,
        "monotone": job.monotone,
        "random_state": job.seed,
    }
    if job.task.is_classification:
        return CartClassifier(**settings)
    for name in ("priors", "costs"):
        if settings.pop(name) is not None:
            raise InputError(
                words(Setting(name), " is for classes; the target is a number"),
                parameter=name,
                value=job.settings[name],
            )
    if settings["criterion"] is None and job.task in (Task.COUNT, Task.AMOUNT):
        amounts = "tweedie" if job.zeros else "gamma"
        settings["criterion"] = "poisson" if job.task is Task.COUNT else amounts
    return CartRegressor(**settings)


def _bagging(job: Job) -> Any:
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    settings = dict(job.settings)
    of_tree = {key: settings.pop(key) for key in ("max_depth", "min_samples_leaf", "criterion")}
    of_tree["monotonic_cst"] = list(job.monotone) or None
    if job.task.is_classification:
        kind, tree = BaggingClassifier, DecisionTreeClassifier(**of_tree)
    else:
        kind, tree = BaggingRegressor, DecisionTreeRegressor(**of_tree)
        share = settings["max_samples"]
        if job.task in (Task.COUNT, Task.AMOUNT) and isinstance(share, float) and job.n_rows:
            # a share would be of the sum of weights, which is of exposures: a tree of rare events
            # would have few rows, and how many would depend on the unit
            settings["max_samples"] = max(int(share * job.n_rows), 1)
    return kind(tree, random_state=job.seed, n_jobs=job.n_jobs, **settings)


def _forest(job: Job, *, kind: str) -> Any:
    from sklearn import ensemble

    settings = {**job.settings, "monotonic_cst": list(job.monotone) or None}
    name = f"{kind}{'Classifier' if job.task.is_classification else 'Regressor'}"
    return getattr(ensemble, name)(random_state=job.seed, n_jobs=job.n_jobs, **settings)


def _usual_forest(job: Job) -> dict[str, Any]:
    """Return the settings of forests that depend on the task and on the number of rows."""
    return {
        # more rows make more even trees, of which fewer are enough, and each takes longer
        "n_estimators": 300 if job.n_rows < 2_500 else 200 if job.n_rows < 10_000 else 80,
        "max_features": "sqrt" if job.task.is_classification else 1 / 3,
        # the shares of classes in leaves of one row are 0 and 1, which log loss punishes
        "min_samples_leaf": 5 if job.task.is_classification else _rows_for_events(job),
        "criterion": _criterion(job),
    }


def _usual_extra_trees(job: Job) -> dict[str, Any]:
    """Return the settings of a forest, with every column at each split of counts and amounts.

    Random thresholds make trees differ enough; among few columns often none would be of use.
    """
    every = {"max_features": 1.0} if job.task in (Task.COUNT, Task.AMOUNT) else {}
    return {**_usual_forest(job), **every}


def _criterion(job: Job) -> str:
    """Return what splits are chosen by.

    Of the deviances scikit-learn has that of Poisson. It is by far less drawn to single large
    amounts than squared errors are, and no leaf of it is without a target above zero.
    """
    if job.task.is_classification:
        return "gini"
    return "poisson" if job.task in (Task.COUNT, Task.AMOUNT) else "squared_error"


def _rows_for_events(job: Job) -> int:
    """Return how many rows a leaf needs so that its mean is seldom zero where most targets are.

    It is where the search for the best number begins (`Entry.leaf_rows`).
    """
    above = max(1 - job.zeros, 1 / max(job.n_rows, 1))
    if job.task is Task.AMOUNT:
        return math.ceil(5 / above)
    return 1 + math.ceil(5 * job.zeros / above) if job.task is Task.COUNT else 1


def _adaboost(job: Job) -> Any:
    from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    settings = dict(job.settings)
    depth = settings.pop("max_depth")
    if job.task.is_classification:
        tree = DecisionTreeClassifier(max_depth=depth)
        return AdaBoostClassifier(tree, random_state=job.seed, **settings)
    tree = DecisionTreeRegressor(max_depth=depth)
    return AdaBoostRegressor(tree, random_state=job.seed, **settings)


_ensemble = partial(
    Entry,
    family="ensemble",
    tasks=ANY,
    reading="tree",
    loss="squared error, Poisson deviance for counts and amounts, or Gini impurity in each tree; "
    "gamma or Tweedie deviance of held-out amounts for the size of leaves",
    estimates="mean; probability",
    defaults={
        "n_estimators": None,
        "max_features": None,
        "max_depth": None,
        "min_samples_leaf": None,
        "criterion": None,
    },
    leaf_rows="min_samples_leaf",
    space={"max_features": Real(0.1, 1.0), "min_samples_leaf": Whole(1, 30, log=True)},
    categories="ordinal",
    missing="native",
    monotone=True,
    complexity=7,
)

_single = partial(
    Entry,
    family="tree",
    tasks=ANY,
    reading="tree",
    source="clearwood CartRegressor, CartClassifier",
    loss="squared error, Poisson deviance for counts, gamma or Tweedie deviance for amounts, or "
    "Gini impurity, + penalty · number of leaves",
    estimates="mean; probability",
    build=_tree,
    space={
        "prune": Choice(True, "one-se"),  # noqa: FBT003 - a value, not a switch
        "max_depth": Whole(2, 12),
        "min_samples_leaf": Whole(1, 50, log=True),
    },
    categories="native",
    missing="native",
    monotone=True,
)
_OF_TREE: dict[str, Any] = {
    "prune": True,
    "folds": 5,
    "max_depth": None,
    "min_samples_leaf": 5,
    "criterion": None,
    "surrogates": 5,
    "priors": None,
    "costs": None,
}

ENTRIES = (
    _single(
        name="tree",
        title="Decision tree (CART), pruned by cross-validation",
        described_in="Breiman and others (1984); Hastie, Tibshirani and Friedman (2009), 9.2",
        advice="Take it for a model that fits on a page and can be followed by hand, or where many "
        "values are missing: surrogates stand in for them. Its predictions are steps, usually "
        "worse than those of 'gam' or boosted trees, and its splits change with small changes of "
        "the data. The setting prune one-se makes it smaller and somewhat more stable; optimal "
        "searches for the best small tree.",
        defaults={**_OF_TREE, "optimal": False},
        complexity=3,
        page="tree",
    ),
    _single(
        name="bumping",
        title="Bumping: of trees grown on bootstrap samples, the one that fits all rows best",
        described_in="Tibshirani and Knight (1999); Hastie, Tibshirani and Friedman (2009), 8.9",
        advice="Take it instead of 'tree' where columns matter only together, so that no first "
        "split looks useful. It is a single tree, read and drawn like any other, and takes about "
        "twenty times as long to fit. Where columns matter one by one it gains nothing.",
        reads="It is one tree: cw.condense(model).to_text() writes it out, and effects and "
        "Shapley values are exact.",
        defaults={**_OF_TREE, "samples": 20},
        complexity=4,
        page="tree",
    ),
    _ensemble(
        name="bagging",
        title="Bagging: trees fitted to bootstrap samples and averaged",
        source="scikit-learn BaggingRegressor, BaggingClassifier",
        described_in="Breiman (1996); Hastie, Tibshirani and Friedman (2009), 8.7",
        build=_bagging,
        saved_types=types_in(__name__, estimators="CartClassifier CartRegressor", tree="CartTree"),
        defaults={
            "n_estimators": 200,
            "max_samples": 1.0,
            "max_depth": None,
            "min_samples_leaf": None,
            "criterion": None,
        },
        resolve=_usual_forest,
        space={"max_samples": Real(0.3, 1.0), "min_samples_leaf": Whole(1, 30, log=True)},
        quick={"n_estimators": 20},
    ),
    _ensemble(
        name="forest",
        title="Random forest: bagged trees with a random subset of features at each split",
        source="scikit-learn RandomForestRegressor, RandomForestClassifier",
        described_in="Breiman (2001); Hastie, Tibshirani and Friedman (2009), 15",
        build=partial(_forest, kind="RandomForest"),
        resolve=_usual_forest,
        quick={"n_estimators": 30},
    ),
    _ensemble(
        name="extra-trees",
        title="Extremely randomised trees: the best of several random thresholds at each split",
        source="scikit-learn ExtraTreesRegressor, ExtraTreesClassifier",
        described_in="Geurts, Ernst and Wehenkel (2006)",
        build=partial(_forest, kind="ExtraTrees"),
        resolve=_usual_extra_trees,
        quick={"n_estimators": 30, "min_samples_leaf": 10},
    ),
    Entry(
        name="adaboost",
        title="AdaBoost: small trees, each fitted to rows reweighted by earlier errors",
        family="boosting",
        tasks=ANY,
        reading="black box",
        source="scikit-learn AdaBoostRegressor, AdaBoostClassifier",
        described_in="Freund and Schapire (1997); Hastie, Tibshirani and Friedman (2009), 10.1",
        loss="exponential loss for classes; AdaBoost.R2 for numbers",
        estimates="class, with scores that are poor as probabilities; weighted median for numbers",
        build=_adaboost,
        advice="Leave it out for rates and amounts: a weighted median is far below the mean of "
        "skewed targets. Take 'gbm' for them.",
        defaults={"n_estimators": 100, "learning_rate": 0.5, "max_depth": 2},
        space={
            "n_estimators": Whole(30, 300, log=True),
            "learning_rate": Real(0.02, 2.0, log=True),
            "max_depth": Whole(1, 5),
        },
        complexity=7,
        quick={"n_estimators": 20},
    ),
)
