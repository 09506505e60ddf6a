"""Shapley values: exact, sampled, interventional, path-dependent and observational."""
