"""Whether predictions rise or fall with a column: proved over the whole space, or counted."""
