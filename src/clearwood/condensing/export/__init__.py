"""A condensed tree as C, DOT, JSON, ONNX, Python or SQL."""
