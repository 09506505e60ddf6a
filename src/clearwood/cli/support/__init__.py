"""What the verbs share: options, output, messages, errors."""
