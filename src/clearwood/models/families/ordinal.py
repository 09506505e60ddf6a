"""Classes that come in an order."""

from typing import Any

from clearwood.models.entry import Entry, Job
from clearwood.models.families.tasks import one_of
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _ordinal(job: Job) -> Any:
    from clearwood.models.estimators.ordered import OrderedRegression

    return OrderedRegression(link=one_of(job, "link", ["logit", "probit"]))


ENTRIES = (
    Entry(
        name="ordinal",
        title="Ordinal regression: one linear score with a threshold between ordered classes",
        family="glm",
        tasks=frozenset({Task.MULTICLASS}),
        reading="glass box",
        source="statsmodels OrderedModel",
        section="course notes 22.3",
        loss="log loss of the cumulative model; classes in the order they sort",
        estimates="probability",
        build=_ordinal,
        defaults={"link": "logit"},
        scale=True,
        reference=True,
        complexity=3,
        module="statsmodels",
        extra="stats",
    ),
)
