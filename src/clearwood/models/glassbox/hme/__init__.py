"""Hierarchical mixtures of experts: linear models that soft splits mix."""
