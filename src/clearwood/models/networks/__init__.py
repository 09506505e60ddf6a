"""Neural networks on PyTorch, an extra: feed-forward, attention over columns, convolution."""
