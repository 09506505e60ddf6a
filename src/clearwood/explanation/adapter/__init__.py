"""A model and its data, in the form that explanations use."""
