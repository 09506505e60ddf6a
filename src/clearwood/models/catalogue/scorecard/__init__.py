"""Scorecards."""

from collections.abc import Mapping
from typing import Any

from clearwood._shared.errors import Setting, unknown_choice
from clearwood.models.entries.builders import types_in
from clearwood.models.entries.entry import Entry, Job, Real, Whole
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _scorecard(job: Job) -> Any:
    from clearwood.models.catalogue.scorecard.estimators import ScorecardClassifier

    settings = {
        **job.settings,
        "trend": _trends(job),
        "categorical": job.categorical,
        "monotone": job.monotone,
    }
    return ScorecardClassifier(**settings)


def _trends(job: Job) -> Any:
    """Return one trend for all columns, or those that are named by column in their order."""
    trend = job.settings["trend"]
    if not isinstance(trend, Mapping):
        return trend
    for name in trend:
        if job.columns and name not in job.columns:
            raise unknown_choice("trend", name, job.columns, what="column", kind=Setting)
    return [trend.get(name, "auto") for name in job.columns]


ENTRIES = (
    Entry(
        name="scorecard",
        title="Scorecard: bands of every column, weighted by a logistic regression",
        family="additive",
        tasks=frozenset({Task.BINARY}),
        reading="glass box",
        source="clearwood ScorecardClassifier",
        described_in="Siddiqi (2017)",
        loss="log loss + l2 / 2 · Σ β², β ≥ 0",
        estimates="probability",
        advice="Take it where a decision must be computed by adding whole points, as for credit: "
        "every column has a few bands, and points never run against their rates. 'glass' and "
        "'gam' usually predict better, with curves instead of bands.",
        build=_scorecard,
        saved_types=types_in(__name__, bands="Bands", estimators="ScorecardClassifier"),
        defaults={
            "max_bands": 6,
            "min_share": 0.05,
            "trend": "auto",
            "min_gain": 0.0,
            "l2": 10.0,
            "candidates": 200,
        },
        space={
            "max_bands": Whole(2, 10),
            "min_share": Real(0.02, 0.15),
            "min_gain": Real(0.0, 8.0),
            "l2": Real(1.0, 100.0, log=True),
        },
        categories="native",
        missing="native",
        monotone=True,
        complexity=3,
        page="scorecard",
    ),
)
