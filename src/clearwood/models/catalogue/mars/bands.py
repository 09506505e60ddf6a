"""Bands around the effects of MARS: how far repeated searches differ."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.models.catalogue.mars.bases import Factor, Stacked
from clearwood.models.catalogue.mars.selection import Product
from clearwood.models.shared.score import ProductTerm, ScoreParts, Spread, SumOfProducts

__all__ = ["Draw", "spread_of_draws"]

#: Products, constants (one per output) and coefficients, of shape (products, outputs).
Draw = tuple[Sequence[Product], Floats, Floats]


def spread_of_draws(draws: Sequence[Draw]) -> Spread:
    """Describe how far models of bootstrap samples are from their mean.

    Parameters
    ----------
    draws
        The model of each sample.
    """
    count, n_outputs = len(draws), len(draws[0][1])
    # deviation d is (f_d - mean of all f) / sqrt(count - 1)
    centre = (np.eye(count) - 1 / count) / np.sqrt(count - 1)
    constant = np.zeros((n_outputs, count))
    curves: dict[int, list[tuple[Factor, Floats]]] = defaultdict(list)
    terms = []
    for draw, (products, constants, coefficients) in enumerate(draws):
        constant += np.outer(constants, centre[draw])
        for (columns, factors), beta in zip(products, coefficients, strict=True):
            parts = np.outer(beta, centre[draw]).ravel()
            if len(columns) == 1:
                curves[columns[0]].append((factors[0], parts))
            else:
                shape = (1,) * len(columns) + (-1,)
                terms.append(ProductTerm(columns, factors, parts.reshape(shape)))
    for column, functions in sorted(curves.items()):
        basis = Stacked(tuple(factor for factor, _ in functions))
        terms.append(ProductTerm((column,), (basis,), np.array([part for _, part in functions])))
    parts_ = ScoreParts(SumOfProducts(constant.ravel(), tuple(terms)))
    return Spread(parts_, count=count, freedom=count - 1.0, source="bootstrap")
