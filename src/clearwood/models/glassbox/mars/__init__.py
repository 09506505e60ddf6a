"""Multivariate adaptive regression splines (MARS): sums of products of hinges."""
