"""Values of coalitions of columns, estimated from drawn coalitions and orders."""
