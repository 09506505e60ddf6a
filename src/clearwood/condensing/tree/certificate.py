"""What is proved about a condensed tree: the certificate, and the checker's verdict on it.

`condense` issues a `Certificate`, the claim. `certify` checks the claim with code of its own and
gives a `Certification`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import Equal, Objective
from clearwood._shared.numbers import count, number, percent
from clearwood._shared.results import Result
from clearwood.condensing.tree.budget import Limit

__all__ = [
    "Certificate",
    "Certification",
    "Region",
    "Verdict",
    "claim",
]

_SEMANTICS = (
    "float-faithful: inputs are rounded as the library rounds them, and tree values are added in "
    "the library's own order and precision, so near ties are decided as the library decides them"
)
_COMPOSED = (
    "composed: every leaf is a box in which bounds on the sum of the trees leave one outcome, or "
    "in which every tree is constant; the tree was then made smaller cell by cell"
)
_SMALLEST = {
    "leaves": "the fewest leaves",
    "depth": "the least depth, and at that depth the fewest leaves,",
    "questions": "the fewest questions over the data, and then the fewest leaves,",
}
_ALL_BOXES = (
    " among trees that use only the ensemble's own thresholds and sets of categories, by a table "
    "over all boxes of their grid"
)
_PRUNED = "pruned to rows of data: nothing is proved for other rows"


class Region(StrEnum):
    """Where a condensed tree predicts what the ensemble predicts."""

    #: All rows, missing values and unseen categories included.
    EVERYWHERE = "everywhere"
    #: All rows that reach a certified leaf.
    CERTIFIED_LEAVES = "certified leaves"
    #: The rows that the tree was pruned to.
    ROWS = "rows"


def claim(equal: Equal, tolerance: float | None) -> str:
    """Name what is equal in a few words.

    Examples
    --------
    >>> claim("class", None), claim("value", 0.5)
    ('same class', 'value within 0.5')
    """
    if tolerance is not None:
        return f"value within {number(tolerance)}"
    return "same class" if equal == "class" else "same value"


@dataclass(frozen=True, kw_only=True)
class Certificate(Result):
    """What is equal, where, and how it was proved.

    Parameters
    ----------
    equal
        "class" or "value".
    region
        Where it is equal.
    tolerance
        Largest distance from the ensemble's raw prediction; None where there is none.
    optimal
        Whether it is proved that no tree that predicts the same, with the ensemble's own
        thresholds and sets of categories, has fewer leaves (or levels, or expected questions: see
        ``objective``).
    objective
        What was made small.
    n_leaves, depth, n_nodes
        Size: as a tree, and with equal branches kept once.
    forest, diagram
        SHA-256 of both sides.
    share_certified
        Share of the rows of the data that reach a certified leaf; None without data.
    n_rows
        How many rows the data had.
    stopped
        The limit at which the work ended before every leaf was certified; None where it did not.
    limit
        How much that limit allowed.

    Examples
    --------
    >>> Certificate(
    ...     equal="class", region=Region.EVERYWHERE, tolerance=None, optimal=False,
    ...     objective="leaves", n_leaves=3, depth=2, n_nodes=4, forest="", diagram="",
    ... ).statement
    'same class everywhere'
    """

    equal: Equal
    region: Region
    tolerance: float | None
    optimal: bool
    objective: Objective
    n_leaves: int
    depth: int
    n_nodes: int
    forest: str
    diagram: str
    share_certified: float | None = None
    n_rows: int | None = None
    stopped: Limit | None = None
    limit: float | None = None

    _derived: ClassVar[tuple[str, ...]] = ("statement", "proof", "semantics", "ended")

    @property
    def is_everywhere(self) -> bool:
        """Whether the prediction is proved for every row."""
        return self.region is Region.EVERYWHERE

    @property
    def statement(self) -> str:
        """What is proved, in one clause."""
        smallest = {"leaves": "leaves", "depth": "levels", "questions": "questions"}
        ending = f", fewest {smallest[self.objective]}" if self.optimal else ""
        return f"{claim(self.equal, self.tolerance)} {self._where}{ending}"

    @property
    def _where(self) -> str:
        if self.region is Region.EVERYWHERE:
            return "everywhere"
        if self.region is Region.ROWS:
            return f"on {count(self.n_rows or 0, 'row')} only"
        if self.share_certified is None:
            return "at certified leaves (without data, their share of rows is unknown)"
        return f"at certified leaves, {percent(self.share_certified)} of the data"

    @property
    def proof(self) -> str:
        """How it was proved."""
        if self.region is Region.ROWS:
            return _PRUNED
        return _COMPOSED + (f"; {_SMALLEST[self.objective]}{_ALL_BOXES}" if self.optimal else "")

    @property
    def ended(self) -> str:
        """Where the work ended before every leaf was certified; empty where it did not."""
        if self.stopped is None:
            return ""
        allowed = None if self.limit is None else self.stopped.amount(self.limit)
        limit = f"on {self.stopped.noun}" if allowed is None else f"of {allowed}"
        return f"the limit {limit} was reached"

    @property
    def semantics(self) -> str:
        """What equality means for sums of rounded numbers."""
        return _SEMANTICS

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Certificate":
        """Read what `to_json` wrote."""
        fields = {name: document[name] for name in document if name not in cls._derived}
        stopped = fields["stopped"]
        return cls(
            **fields
            | {
                "region": Region(fields["region"]),
                "stopped": None if stopped is None else Limit(stopped),
            }
        )


class Verdict(StrEnum):
    """How a check of a condensed tree ended."""

    PROVED = "proved"
    #: There is a row at which tree and ensemble differ.
    DIFFERENT = "different"
    #: The tree reads inputs or shows predictions in another way than the model.
    OTHER_SETTINGS = "other settings"
    OUT_OF_TIME = "out of time"
    OUT_OF_MEMORY = "out of memory"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Certification(Result):
    """Whether a condensed tree is proved to predict what the ensemble predicts; true where it is.

    Parameters
    ----------
    verdict
        How the check ended.
    claim
        What the tree claims.
    setting
        The setting of tree and model that is not the same, where that is the verdict.
    counterexample
        A row at which tree and ensemble differ, in the user's columns; None where none is known.
        Categories appear by name and missing values as None. For a model with an encoder in
        front, the columns are those that the encoder makes.
    row
        The same row in the model's matrix: codes for categories, NaN for missing.
    of_tree, of_ensemble
        The predictions of both for this row.
    same_model
        Whether the certificate names this very model by its SHA-256.
    same_tree
        Whether the certificate names this very tree.
    n_states
        How many pairs of a node and restricted trees were visited.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["no", "yes", "no"])
    >>> result = cw.certify(cw.condense(model), model)
    >>> bool(result), result.counterexample
    (True, None)
    """

    verdict: Verdict
    claim: str
    setting: str | None = None
    counterexample: Mapping[str, Any] | None = None
    row: Floats | None = None
    of_tree: Any = None
    of_ensemble: Any = None
    same_model: bool = True
    same_tree: bool = True
    n_states: int = 0

    _derived: ClassVar[tuple[str, ...]] = ("proved", "reason")

    @property
    def proved(self) -> bool:
        """Whether the claim is proved for every row."""
        return self.verdict is Verdict.PROVED

    @property
    def reason(self) -> str:
        """What was proved, or why it was not."""
        if self.verdict is Verdict.PROVED:
            other = "" if self.same_model else " (although the certificate names another model)"
            return self.claim + other
        if self.verdict is Verdict.OTHER_SETTINGS:
            name = (self.setting or "").replace("_", " ")
            return f"the tree was made for a model with other {name}"
        if self.verdict is Verdict.DIFFERENT:
            if self.same_model:
                return "tree and ensemble differ"
            return "the certificate is for another model, and the two differ"
        resource = "time" if self.verdict is Verdict.OUT_OF_TIME else "memory"
        return f"{resource} ran out after {count(self.n_states, 'state')}, none of them wrong"

    def __bool__(self) -> bool:
        return self.proved

    def __repr__(self) -> str:
        text = f"{'Proved' if self.proved else 'Not proved'}: {self.reason}"
        if self.counterexample is None:
            return text
        columns = list(self.counterexample.items())
        row = ", ".join(f"{name}={value!r}" for name, value in columns[:8])
        row += ", ..." if len(columns) > 8 else ""
        return f"{text}; at {row} the tree predicts {self.of_tree}, the ensemble {self.of_ensemble}"
