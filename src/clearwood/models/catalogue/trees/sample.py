"""What trees are grown on."""

from dataclasses import dataclass

from clearwood._shared.arrays import Floats
from clearwood.models.catalogue.trees.tree import CartTree, Growth, Presorted

__all__ = ["Sample"]


@dataclass(frozen=True)
class Sample:
    """Rows, sorted once, with their target and their weights."""

    X: Floats
    rows: Presorted
    target: Floats
    weight: Floats  # in the criterion
    cover: Floats  # of the rows
    growth: Growth

    def grow(self, times: Floats) -> CartTree:
        """Grow a full tree on rows that count so many times their weight."""
        return self.rows.grow(self.growth, self.target, self.weight * times, self.cover * times)
