"""Whether different explanations of one model agree, and why not."""
