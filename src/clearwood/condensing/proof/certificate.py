"""What is proved about a condensed tree, in words and numbers that can be filed."""

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["SEMANTICS", "Certificate"]

SEMANTICS = (
    "float-faithful: inputs are rounded as the library rounds them and tree values are added in "
    "the library's own order and precision, so that near ties fall as the library lets them fall"
)


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What is equal, where, and how it was proved.

    Parameters
    ----------
    equal
        "class" or "value".
    region
        Where it is equal: "everywhere" (all rows, missing values and unseen categories included),
        or "certified leaves".
    tolerance
        Largest distance from the ensemble's raw prediction; None where there is none.
    proof
        How it was proved.
    optimal
        Whether no tree that gives the same and asks only the ensemble's own thresholds and sets
        of categories has fewer leaves (or levels, or expected questions: see ``objective``);
        False where that was not proved.
    objective
        What was made small.
    n_leaves, depth, n_nodes
        Size: as a tree, and with equal branches kept once.
    forest, diagram
        SHA-256 of both sides.
    share_certified
        Share of the rows of the data given that reach a certified leaf; None without data.
    n_rows
        How many rows that data had.
    stopped
        What ended the work before every leaf was certified: "leaves", "seconds", "memory", or
        None.
    semantics
        What equality means for sums of rounded numbers.
    """

    equal: str
    region: str
    tolerance: float | None
    proof: str
    optimal: bool
    objective: str
    n_leaves: int
    depth: int
    n_nodes: int
    forest: str
    diagram: str
    share_certified: float | None = None
    n_rows: int | None = None
    stopped: str | None = None
    semantics: str = SEMANTICS

    @property
    def statement(self) -> str:
        """Say in one clause what is proved.

        Examples
        --------
        >>> Certificate(
        ...     equal="class", region="everywhere", tolerance=None, proof="composed",
        ...     optimal=False, objective="leaves", n_leaves=3, depth=2, n_nodes=4, forest="",
        ...     diagram="",
        ... ).statement
        'same class everywhere'
        """
        what = "same class" if self.equal == "class" else "same value"
        if self.tolerance is not None:
            what = f"value within {self.tolerance:g}"
        where = self.region
        if self.region != "everywhere" and self.share_certified is not None:
            where = f"at certified leaves, {100 * self.share_certified:.4g} % of the data"
        elif self.region == "certified leaves":
            where = "at certified leaves, of which share no data was given to tell"
        least = {"leaves": "fewest leaves", "depth": "least depth", "questions": "fewest questions"}
        return f"{what} {where}" + (f", {least[self.objective]}" if self.optimal else "")

    def to_json(self) -> dict[str, Any]:
        """Give plain JSON values."""
        return asdict(self)
