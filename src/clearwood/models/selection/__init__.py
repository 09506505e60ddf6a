"""Choosing columns inside a learner, on the rows that it is fitted to."""
