"""The user's rows, as explanations take them apart and put them together."""
