"""Resampling plans: which rows are trained on and which are tested on."""

from clearwood.resampling.folds import (
    Bootstrap,
    HoldOut,
    KFold,
    LeaveOneOut,
    MonteCarlo,
    PairSplit,
    Plan,
    Split,
    TimeOrdered,
    default_plan,
    pair_splits,
    splits_of,
)

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
