"""Differences between groups, by what they come from."""
