"""From a model and its data to findings: every result of a page, computed once."""
