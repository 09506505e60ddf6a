"""Bayesian linear, logistic and Poisson regression with posteriors, evidence and intervals."""
