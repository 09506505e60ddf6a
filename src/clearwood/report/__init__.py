"""The report: everything about a model on one page that works offline."""
