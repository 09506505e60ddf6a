"""Predictors without a direct or a statistical influence of the protected columns."""
