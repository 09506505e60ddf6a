"""Checks of tables that need no model: leakage, association, drift, identical and related rows."""

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
from clearwood.checks.events import FEWEST_EVENTS, Events, events
from clearwood.checks.leak import Leak
from clearwood.checks.leakage import Leakage, leakage
from clearwood.checks.level import REBALANCE, Level, LevelWarning, level_of
from clearwood.checks.stand_ins import StandIn, stand_ins
from clearwood.checks.trend import Trend, trend
from clearwood.checks.twins import Twins, twins
from clearwood.checks.units import RepeatedUnits, repeated_units

__all__ = [
    "FEWEST_EVENTS",
    "REBALANCE",
    "Association",
    "ColumnDrift",
    "Comparable",
    "Drift",
    "Events",
    "Leak",
    "Leakage",
    "Level",
    "LevelWarning",
    "RepeatedUnits",
    "StandIn",
    "Trend",
    "Twins",
    "association",
    "bins_of",
    "comparable",
    "coordinates",
    "drift",
    "effective_rows",
    "events",
    "is_ordered",
    "leakage",
    "level_of",
    "ranks",
    "related",
    "repeated_units",
    "stand_ins",
    "strength",
    "strengths",
    "trend",
    "twins",
]
