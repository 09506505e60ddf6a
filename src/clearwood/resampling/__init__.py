"""Resampling plans: which rows are trained on and which are tested on."""

from clearwood.resampling.folds import KFold, LeaveOneOut, default_plan, splits_of
from clearwood.resampling.in_parts import HeldOutRows, PartsSplit, split_parts
from clearwood.resampling.plan import PairSplit, Plan, Split, pair_splits
from clearwood.resampling.random_draws import Bootstrap, HoldOut, MonteCarlo
from clearwood.resampling.time_ordered import TimeOrdered

__all__ = [
    "Bootstrap",
    "HeldOutRows",
    "HoldOut",
    "KFold",
    "LeaveOneOut",
    "MonteCarlo",
    "PairSplit",
    "PartsSplit",
    "Plan",
    "Split",
    "TimeOrdered",
    "default_plan",
    "pair_splits",
    "split_parts",
    "splits_of",
]
