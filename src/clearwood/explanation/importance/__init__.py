"""Importance of columns: permutation, leave-one-column-out, impurity and others."""
