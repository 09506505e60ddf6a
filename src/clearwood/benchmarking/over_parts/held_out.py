"""What a benchmark of a table in parts knows about the rows that were held out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from clearwood._shared.results import Result
from clearwood.benchmarking.over_parts.risks import HeldOutRisks
from clearwood.parallel import Run

__all__ = ["HeldOutParts"]


@dataclass(frozen=True, eq=False)
class HeldOutParts(Result):
    """The rows of a benchmark of a table in parts, and the risks over all that were held out.

    Parameters
    ----------
    n_rows, n_parts
        Of the table.
    n_train, n_test
        Rows to fit to, and rows held out.
    n_units, is_grouped
        Independent observations among the rows held out: rows of positive weight, or groups where
        rows are tied together. The interval of a risk is that of a mean over them.
    n_kept
        How many of the rows held out are in memory: measures, calibration and predictions are
        about these.
    seed
        Fixes what is held out and what is drawn.
    sample, sampled
        How many training rows were drawn at most for learners that need them in memory and for
        tuning; and which learners were fitted to drawn rows, with their number.
    source, fingerprint
        Where the rows are, and a SHA-256 of what the files were like.
    risks
        Of learners, and their differences.
    runs
        How the pass over the parts that judged each learner went.
    """

    n_rows: int
    n_parts: int
    n_train: int
    n_test: int
    n_units: int
    is_grouped: bool
    n_kept: int
    seed: int
    sample: int
    sampled: Mapping[str, int]
    source: str
    fingerprint: str
    risks: HeldOutRisks
    runs: Mapping[str, Run] = field(default_factory=dict)
    _omitted: ClassVar[tuple[str, ...]] = ("risks",)
