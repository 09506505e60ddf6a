"""Explanations of a model over rows that stay where they are."""
