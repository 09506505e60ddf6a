"""Compiled loops on arrays: arrays in, arrays out, nothing known about models."""
