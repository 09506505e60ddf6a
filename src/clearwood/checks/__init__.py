"""Checks of tables that need no model: leakage, association, drift, identical rows."""

from clearwood.checks.association import Association, association
from clearwood.checks.column_pairs import (
    Comparable,
    bins_of,
    comparable,
    coordinates,
    effective_rows,
    is_ordered,
    ranks,
    related,
    strength,
    strengths,
)
from clearwood.checks.drift import ColumnDrift, Drift, drift
from clearwood.checks.leak import Leak
from clearwood.checks.leakage import Leakage, leakage
from clearwood.checks.stand_ins import StandIn, stand_ins
from clearwood.checks.twins import Twins, twins

__all__ = [
    "Association",
    "ColumnDrift",
    "Comparable",
    "Drift",
    "Leak",
    "Leakage",
    "StandIn",
    "Twins",
    "association",
    "bins_of",
    "comparable",
    "coordinates",
    "drift",
    "effective_rows",
    "is_ordered",
    "leakage",
    "ranks",
    "related",
    "stand_ins",
    "strength",
    "strengths",
    "twins",
]
