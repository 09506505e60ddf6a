"""Work over the parts of a table: in turn, in processes or on a cluster, and kept in a ledger."""

from clearwood.parallel.engine import Run, Work, over
from clearwood.parallel.ledger import Ledger, State
from clearwood.parallel.pools import LOOK_EVERY, end_with
from clearwood.parallel.worker_group import LostError, cluster, together, workers_of
from clearwood.parallel.writing import Written, needs_folder, write_parts

__all__ = [
    "LOOK_EVERY",
    "Ledger",
    "LostError",
    "Run",
    "State",
    "Work",
    "Written",
    "cluster",
    "end_with",
    "needs_folder",
    "over",
    "together",
    "workers_of",
    "write_parts",
]
