"""Single decision trees: grown exactly, pruned by cross-validation, with surrogates."""
