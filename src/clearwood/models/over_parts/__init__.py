"""Fits to tables whose rows are read part by part."""
