"""What a user states about columns, and what follows from it: roles, kinds, the task."""
