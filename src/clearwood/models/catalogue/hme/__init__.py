"""Hierarchical mixtures of experts."""

from typing import Any

from clearwood.models.entries.builders import ANY, types_in
from clearwood.models.entries.entry import Entry, Job, Real, Whole
from clearwood.table import Task

__all__ = ["ENTRIES"]


def _hme(job: Job) -> Any:
    from clearwood.models.catalogue.hme.estimators import HmeClassifier, HmePoisson, HmeRegressor

    settings = {**job.settings, "random_state": job.seed}
    if job.task.is_classification:
        return HmeClassifier(**settings)
    return (HmePoisson if job.task is Task.COUNT else HmeRegressor)(**settings)


ENTRIES = (
    Entry(
        name="hme",
        title="Hierarchical mixture of experts: linear models that soft splits mix",
        family="mixture",
        tasks=ANY - {Task.AMOUNT},
        reading="black box",
        source="clearwood HmeRegressor, HmePoisson, HmeClassifier (EM; no kept library has it)",
        described_in="Jordan and Jacobs (1994); Hastie, Tibshirani and Friedman (2009), 9.5",
        loss="negative log-likelihood of the mixture + ridge · squared slopes / 2",
        estimates="mean; probability",
        advice="Take it where groups of rows follow different linear laws and the border between "
        "them is not sharp: the table of gates and experts shows which group has which "
        "coefficients. The likelihood has many maxima, so look at several seeds before reading an "
        "expert. For predictions alone compare 'gam' and 'gbm'.",
        reads="Gates and experts are a table of coefficients in the units of the columns "
        "(cw.models.equation); effects, importance and Shapley values are estimated by predicting "
        "many rows, as a mixture is not a sum.",
        build=_hme,
        saved_types=types_in(__name__, estimators="HmeClassifier HmePoisson HmeRegressor"),
        defaults={"levels": 2, "ridge": 1.0, "restarts": 5, "max_steps": 200},
        space={"levels": Whole(1, 3), "ridge": Real(0.01, 100.0, log=True)},
        reference=True,
        complexity=6,
        page="hme",
        listing="experts",
    ),
)
