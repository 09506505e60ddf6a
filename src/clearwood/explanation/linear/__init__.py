"""Coefficients of linear models in the units and levels of the table, with standard errors."""
