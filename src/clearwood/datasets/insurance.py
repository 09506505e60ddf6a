"""A simulated motor portfolio whose truth is known."""

from dataclasses import replace

import numpy as np

from clearwood.datasets.gaps import with_gaps
from clearwood.datasets.insurance_model import FEATURES, InsuranceModel, Target
from clearwood.table import Column, Kind, Table

__all__ = ["insurance", "insurance_truth"]


def insurance(
    n: int = 10_000,
    seed: int = 0,
    *,
    target: Target = "accidents",
    missing: float = 0.0,
    dates: bool = False,
) -> Table:
    """Simulate a motor portfolio.

    The equations are those of `InsuranceModel`, which also computes the true effects that a model
    fitted to the table should recover: `insurance_truth`.

    Parameters
    ----------
    n
        How many policies.
    seed
        Fixes the draw.
    target
        What is to be predicted: the number of "accidents", or the "claim_amount". The other is in
        the table but ignored.
    missing
        The share of cells of features that are missing, completely at random.
    dates
        Whether to add the date on which each policy began, in 2023. It has no effect on anything.

    Returns
    -------
    Table
        With gender protected and the years insured as the exposure, so that a model is of the
        target per year.

    Examples
    --------
    >>> policies = insurance(1000)
    >>> policies.target, policies.protected, str(policies.task)
    ('accidents', ('gender',), 'count')
    >>> policies.features
    ('gender', 'age', 'region', 'height', 'mileage', 'power')
    >>> policies.exposure, policies.outcome
    ('years', 'accidents per year')
    """
    table = insurance_truth(target=target).sample(n, seed=seed)
    # separate streams: gaps and dates leave the rest of the portfolio unchanged
    gap_seed, date_seed = np.random.SeedSequence([seed, n]).spawn(2)
    table = with_gaps(table, missing, gap_seed, FEATURES)
    if dates:
        days = np.random.default_rng(date_seed).integers(0, 365, n)
        began = np.datetime64("2023-01-01", "us") + days * np.timedelta64(1, "D")
        table = replace(table, columns=(*table.columns, Column("start", Kind.DATE, began)))
    return table


def insurance_truth(*, target: Target = "accidents") -> InsuranceModel:
    """Return the structural causal model that `insurance` draws from.

    Parameters
    ----------
    target
        What is to be predicted.

    Returns
    -------
    InsuranceModel

    Examples
    --------
    >>> truth = insurance_truth()
    >>> policies = insurance(50_000)
    >>> expected, observed = truth.mean(policies) @ policies.weights, policies["accidents"].values
    >>> bool(abs(expected / observed.sum() - 1) < 0.03)
    True
    """
    return InsuranceModel(target)
