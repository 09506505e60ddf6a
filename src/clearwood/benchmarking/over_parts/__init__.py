"""Benchmarks of tables whose rows stay where they are."""
