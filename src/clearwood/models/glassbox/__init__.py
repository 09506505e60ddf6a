"""Models one can read: their scores as sums of curves, products and small trees."""
