"""A model as a base value times relativities: a table that predicts what the model does."""
