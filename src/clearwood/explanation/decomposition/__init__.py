"""A prediction as a sum of functions of few columns."""
