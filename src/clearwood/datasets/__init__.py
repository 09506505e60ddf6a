"""Example tables: simulated policies and loans with known truths, and small real tables."""

from clearwood.datasets.credit import credit, credit_probability, credit_truth
from clearwood.datasets.insurance import insurance, insurance_truth
from clearwood.datasets.insurance_model import InsuranceModel
from clearwood.datasets.load import load
from clearwood.datasets.true_effect import TrueEffect

__all__ = [
    "InsuranceModel",
    "TrueEffect",
    "credit",
    "credit_probability",
    "credit_truth",
    "insurance",
    "insurance_truth",
    "load",
]
