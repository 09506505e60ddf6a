"""Fairness: measures by group, the gap between groups by column, fair predictors, audits."""

from typing import TYPE_CHECKING

from clearwood._shared.lazy import lazy

if TYPE_CHECKING:
    from clearwood.fairness.auditing import audit
    from clearwood.fairness.gaps.alternatives import (
        Alternative,
        Alternatives,
        PriceOfFairness,
        alternatives,
    )
    from clearwood.fairness.gaps.discrimination import Dependence
    from clearwood.fairness.gaps.gap import gap
    from clearwood.fairness.gaps.proxies import Proxies, Proxy, proxies
    from clearwood.fairness.gaps.result import Gap, GapPart
    from clearwood.fairness.groups.conventions import CONVENTIONS, Convention
    from clearwood.fairness.groups.decisions import Decision
    from clearwood.fairness.groups.grouping import Standing
    from clearwood.fairness.groups.measures import MEANINGS, OF_ERRORS, GroupMeasures, Verdict
    from clearwood.fairness.groups.reading import read_with
    from clearwood.fairness.groups.tuned import Tuning
    from clearwood.fairness.predictors.calibration import Calibration
    from clearwood.fairness.predictors.distribution import Distribution
    from clearwood.fairness.predictors.fair_model import FairModel
    from clearwood.fairness.predictors.make import fair
    from clearwood.fairness.predictors.use import stand_ins_in, used_columns
    from clearwood.fairness.result import Audit
    from clearwood.fairness.sensitivity import Sensitivity, e_value, robustness_value
else:
    __getattr__, __dir__ = lazy(__name__, __file__)

__all__ = [
    "CONVENTIONS",
    "MEANINGS",
    "OF_ERRORS",
    "Alternative",
    "Alternatives",
    "Audit",
    "Calibration",
    "Convention",
    "Decision",
    "Dependence",
    "Distribution",
    "FairModel",
    "Gap",
    "GapPart",
    "GroupMeasures",
    "PriceOfFairness",
    "Proxies",
    "Proxy",
    "Sensitivity",
    "Standing",
    "Tuning",
    "Verdict",
    "alternatives",
    "audit",
    "e_value",
    "fair",
    "gap",
    "proxies",
    "read_with",
    "robustness_value",
    "stand_ins_in",
    "used_columns",
]
