"""Example tables: a simulated insurance portfolio with known effects, and small real tables."""

from clearwood.datasets.insurance import insurance, insurance_truth
from clearwood.datasets.insurance_model import InsuranceModel
from clearwood.datasets.load import load
from clearwood.datasets.true_effect import TrueEffect

__all__ = ["InsuranceModel", "TrueEffect", "insurance", "insurance_truth", "load"]
