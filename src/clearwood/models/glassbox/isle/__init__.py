"""Importance-sampled learning ensembles: trees re-weighted by the lasso."""
