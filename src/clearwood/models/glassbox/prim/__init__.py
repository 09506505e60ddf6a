"""The patient rule induction method (PRIM): boxes in which the target is high, or low."""
