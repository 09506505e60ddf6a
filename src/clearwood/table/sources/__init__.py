"""Where columns come from: files, data frames, arrays."""
