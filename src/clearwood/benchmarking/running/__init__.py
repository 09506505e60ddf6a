"""Running a benchmark: its fits, on one core or many, stored, stopped and resumed."""
