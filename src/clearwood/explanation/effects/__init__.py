"""Effects of one or two columns: PDP, ICE, ALE, marginal means."""
