"""From a table to the numeric matrix of a model, learned from training rows only."""
