"""A condensed tree: its diagram, what it predicts, what is claimed of it, and its file."""
