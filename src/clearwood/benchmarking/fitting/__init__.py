"""One learner, fitted to some rows and judged on others."""
