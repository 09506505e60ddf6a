"""`clearwood explain`: a verb with verbs of its own, one for each question about a model."""
