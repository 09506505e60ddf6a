"""Model files: saved, audited, loaded; no pickle is ever read."""
