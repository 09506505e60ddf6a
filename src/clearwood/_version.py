"""The version, which stands nowhere else: packaging reads it from here."""

__version__ = "0.1.0"
