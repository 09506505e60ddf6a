"""Risks and differences of risks, with intervals."""
