"""Resampling plans: which rows are trained on and which are tested on."""

from clearwood.resampling.folds import KFold, LeaveOneOut, default_plan, splits_of
from clearwood.resampling.plan import PairSplit, Plan, Split, pair_splits
from clearwood.resampling.random_draws import Bootstrap, HoldOut, MonteCarlo
from clearwood.resampling.time_ordered import TimeOrdered

__all__ = [
    "Bootstrap",
    "HoldOut",
    "KFold",
    "LeaveOneOut",
    "MonteCarlo",
    "PairSplit",
    "Plan",
    "Split",
    "TimeOrdered",
    "default_plan",
    "pair_splits",
    "splits_of",
]
