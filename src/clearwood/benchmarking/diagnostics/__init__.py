"""Where error comes from: calibration, residuals, learning curves, bias and variance, bootstrap."""
