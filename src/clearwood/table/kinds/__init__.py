"""What columns hold: kinds, dates, the task, and columns that a model should not use."""
