"""Rule ensembles (RuleFit): a sparse sum of rules and lines."""
