"""Structural causal models: equations, draws, interventions and counterfactuals."""
