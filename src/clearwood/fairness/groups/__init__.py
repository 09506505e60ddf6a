"""Measures of predictions and decisions by group, with intervals that cover in small groups too."""
