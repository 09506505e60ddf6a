"""Tuning: choosing settings by cross-validation on the training rows of a fit."""
