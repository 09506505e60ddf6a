"""From an ensemble to one equivalent decision diagram: exact, or within a budget."""
