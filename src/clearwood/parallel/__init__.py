"""Work over the parts of a table: in turn, in processes or on a cluster, and kept in a ledger."""

from clearwood.parallel.engine import Run, Work, over
from clearwood.parallel.ledger import Ledger
from clearwood.parallel.pools import LOOK_EVERY, end_with
from clearwood.parallel.state import State

__all__ = ["LOOK_EVERY", "Ledger", "Run", "State", "Work", "end_with", "over"]
