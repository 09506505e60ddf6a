"""Tables to try things on: a simulated portfolio whose truth is known, and small real ones."""

from clearwood.datasets.insurance import insurance, insurance_truth
from clearwood.datasets.insurance_model import InsuranceModel
from clearwood.datasets.load import load
from clearwood.datasets.true_effect import TrueEffect

__all__ = ["InsuranceModel", "TrueEffect", "insurance", "insurance_truth", "load"]
