"""Scorecards: bands of columns chosen by their information value, and a logistic regression."""
