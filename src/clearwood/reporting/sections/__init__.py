"""From findings to the sections of a page."""
