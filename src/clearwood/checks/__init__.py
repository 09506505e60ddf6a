"""Checks of tables that need no model: leakage, dependence between columns, drift."""

from clearwood.checks.dependence import Dependence, dependence
from clearwood.checks.drift import Drift, drift
from clearwood.checks.leakage import Alone, alone

__all__ = ["Alone", "Dependence", "Drift", "alone", "dependence", "drift"]
