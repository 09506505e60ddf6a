"""Generalised additive models with automatic smoothness."""

from collections.abc import Iterable
from typing import Any

from clearwood._shared.errors import InputError, Setting, bad_value, did_you_mean, words
from clearwood.models.entry import Entry, Job
from clearwood.models.families.shared import ANY, one_of
from clearwood.models.spaces import Choice, Whole
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _gam(job: Job) -> Any:
    from clearwood.models.glassbox.gam.estimators import GamClassifier, GamRegressor

    settings = dict(job.settings)
    family = settings.pop("family")
    settings |= {
        "pairs": _pairs(job),
        "convex": _positions(job, "convex"),
        "concave": _positions(job, "concave"),
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
    for pair in _listed(pairs):
        sides = pair.split(":") if isinstance(pair, str) else list(pair)
        if len(sides) != 2 or sides[0] == sides[1]:
            raise bad_value(
                "pairs",
                pairs,
                "a pair must have two columns",
                hint=words("write ", Setting("pairs", ["age:income"]), "."),
            )
        named.append(tuple(_position(job, "pairs", side) for side in sides))
    return named if job.columns else ()


def _positions(job: Job, setting: str) -> tuple[int, ...]:
    return tuple(
        at
        for name in _listed(job.settings[setting])
        if (at := _position(job, setting, name)) is not None
    )


def _listed(value: Any) -> list[Any]:
    """Return the items of a list, or those between the commas of a text."""
    if isinstance(value, str):
        return [item.strip() for item in value.split(",") if item.strip()]
    return list(value) if isinstance(value, Iterable) else [value]


def _position(job: Job, setting: str, name: Any) -> int | None:
    """Return where a column is; None as long as columns are not known."""
    if not job.columns:
        return None
    if name not in job.columns or name == "":
        known = [column for column in job.columns if column]
        raise InputError(
            words(Setting(setting), f" names {name!r}, which is not a column that the model uses"),
            parameter=setting,
            value=name,
            hint=did_you_mean(str(name), known),
        )
    return job.columns.index(name)


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
        defaults={
            "family": None,
            "n_splines": 20,
            "shrink": True,
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
    ),
)
