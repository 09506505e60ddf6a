"""Compiled loops on arrays: arrays in, arrays out, nothing known about models."""

from clearwood.kernels._forest import PackedForest
from clearwood.kernels._level import simd_level
from clearwood.kernels._rank import missing_code, rank, rank_columns
from clearwood.kernels._threads import threads

__all__ = ["PackedForest", "missing_code", "rank", "rank_columns", "simd_level", "threads"]
