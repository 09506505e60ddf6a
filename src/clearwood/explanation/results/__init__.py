"""What explanations return: typed results, and how they are named and worded."""
