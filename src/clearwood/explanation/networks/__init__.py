"""What only neural networks have: training curves and weights of attention."""
