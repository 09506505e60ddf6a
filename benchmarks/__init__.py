"""Clearwood beside its peers: the same data, threads and quantity, in one run."""
