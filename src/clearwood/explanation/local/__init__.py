"""Explanations of one prediction: LIME, what-if, contributions of linear models."""
