"""Generalised additive models with automatic smoothness."""

from collections.abc import Iterable
from typing import Any

from clearwood._shared.errors import Setting, bad_value, words
from clearwood.models.entries.builders import ANY, listed, one_of, position, positions, types_in
from clearwood.models.entries.entry import Choice, Entry, Job, Whole
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _gam(job: Job) -> Any:
    from clearwood.models.catalogue.gam.estimators import GamClassifier, GamRegressor

    settings = dict(job.settings)
    family = settings.pop("family")
    settings |= {
        "pairs": _pairs(job),
        "parametric": positions(job, "parametric"),
        "convex": positions(job, "convex"),
        "concave": positions(job, "concave"),
        "categorical": job.categorical,
        "monotone": job.monotone,
        "names": job.columns,
    }
    if job.task.is_classification:
        one_of(job, "family", [None, "binomial"])
        return GamClassifier(**settings)
    one_of(job, "family", [None, "gaussian", "poisson", "gamma", "tweedie"])
    usual: Any = {
        Task.COUNT: "poisson",
        Task.AMOUNT: "tweedie" if job.zeros else "gamma",
    }.get(job.task, "gaussian")
    return GamRegressor(family=family or usual, **settings)


def _pairs(job: Job) -> Any:
    """Return a number of pairs, or the positions of those named as "first:second"."""
    pairs = job.settings["pairs"]
    if not isinstance(pairs, Iterable):
        return pairs
    named = []
    for pair in listed(pairs):
        sides = pair.split(":") if isinstance(pair, str) else list(pair)
        if len(sides) != 2 or sides[0] == sides[1]:
            raise bad_value(
                "pairs",
                pairs,
                "a pair must have two columns",
                hint=words("write ", Setting("pairs", ["age:income"]), "."),
            )
        named.append(tuple(position(job, "pairs", side) for side in sides))
    return named if job.columns else ()


ENTRIES = (
    Entry(
        name="gam",
        title="Generalised additive model: smooth curves, their smoothness chosen by REML",
        family="additive",
        tasks=ANY,
        reading="glass box",
        source="clearwood GamRegressor, GamClassifier",
        described_in="Wood (2011); Hastie, Tibshirani and Friedman (2009), 9.1",
        loss="deviance of the family + λ · curvature of each curve, λ by fREML",
        estimates="mean; probability",
        advice="Take it to see how each column acts, with bands that hold: curves, levels and "
        "tests of a model that predicts nearly as well as boosting as long as columns act "
        "separately. It is the fastest of the accurate glass boxes. Where columns interact, glass "
        "predicts better; a few pairs can be added by name or searched for.",
        build=_gam,
        saved_types=types_in(
            __name__, bases="Beyond LevelBasis SplineBasis", estimators="GamClassifier GamRegressor"
        ),
        defaults={
            "family": None,
            "n_splines": 20,
            "shrink": True,
            "parametric": (),
            "pairs": 0,
            "convex": (),
            "concave": (),
            "extrapolate": "constant",
            "method": "direct",
        },
        space={"n_splines": Whole(6, 40, log=True), "shrink": Choice(True, False)},  # noqa: FBT003
        categories="native",
        missing="native",
        monotone=True,
        complexity=3,
        page="gam",
    ),
)
