"""Estimators written here, because no kept library has them or ours is much better."""
