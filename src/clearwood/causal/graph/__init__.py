"""Graphs of causes and effects: separation, adjustment, implied independences."""
