"""Direct effects through partial dependence, and the conditions under which they are causal."""
