"""What a column tells of the target beyond the other columns: leaks are told from honest strength.

An honest column that is strong measures something that other columns measure as well: the weight of
a car goes with its displacement, and a child has few hours of work. Other columns then predict its
rows nearly as well without it. A column that holds the outcome tells what no other column does.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from clearwood._shared.arrays import Index
from clearwood._shared.draws import draw_rows
from clearwood.checks.column_pairs import SAME, comparable, have_one_order, is_ordered, strength
from clearwood.checks.leak import Leak, Suspect
from clearwood.checks.left_over import left_over
from clearwood.checks.pure_rows import valued
from clearwood.table import Table

__all__ = ["leaks_beyond"]

#: Of the squared errors that the other columns leave, the share that a strong column removes, and
#: where the others explain more than a share of the target.
_REMOVED, _OTHERS_ARE_STRONG, _REMOVED_BEYOND_STRONG = 0.5, 0.6, 0.8
#: Of what the mean misses of pure rows, the share that the other columns miss as well.
_MISSED_OF_ROWS = 0.5
#: Rows are the same from this overlap on.
_SAME_ROWS = 0.5
_MOST_ROWS, _MOST_OWN, _MOST_OTHERS = 3000, 500, 20


def leaks_beyond(
    table: Table,
    rows: Index,
    signs: Sequence[Suspect],
    known: Sequence[str],
    skill: Mapping[str, float],
    seed: int,
) -> list[Leak]:
    """Return the leaks that tell of the target what the other columns do not.

    Parameters
    ----------
    table, rows
        The table, and the rows that signs are about.
    signs
        What looks like a leak.
    known
        Columns that are leaks without doubt: others are not compared with them.
    skill
        What each column explains by itself: the best are those that a sign is compared with.
    seed
        Fixes the draw of rows.
    """
    look = _Others(table, rows, signs, skill, seed)
    leaks: list[Leak] = []
    known, pending = list(known), list(signs)
    while pending:
        found = [sign for sign in pending if look.tells_more(sign, known)]
        if not found:
            break
        # a leak hides another one: what it explains is looked at again without it
        known += [sign.leak.column for sign in found]
        leaks += [sign.leak for sign in found]
        pending = [sign for sign in pending if sign not in found]
    return leaks


class _Others:
    """Compares a column with the others, on rows that forests of them were not fitted to."""

    def __init__(
        self,
        table: Table,
        rows: Index,
        signs: Sequence[Suspect],
        skill: Mapping[str, float],
        seed: int,
    ) -> None:
        self.table, self.rows, self.signs, self.seed = table, rows, signs, seed
        self.names = sorted(skill, key=lambda name: -skill[name])
        assert table.target is not None
        self.outcomes, self.codes = valued(table.column(table.target).take(rows))
        self.drawn = draw_rows(len(rows), _MOST_ROWS, seed=seed)

    def tells_more(self, sign: Suspect, known: Sequence[str]) -> bool:
        """Whether a column tells what those that are neither known leaks nor the same do not."""
        name = sign.leak.column
        apart = {name, *known, *(other for other in self.names if self._is_same(sign, other))}
        others = [self.table.column(n) for n in self.names if n not in apart][:_MOST_OTHERS]
        if sign.own is None:
            rows = self.rows[self.drawn]
            nothing, without = (left_over(self.table, rows, used) for used in ((), others))
            more = left_over(self.table, rows, [*others, self.table.column(name)])
            none, some, all_ = (float((left**2).sum()) for left in (nothing, without, more))
            are_strong = some <= (1 - _OTHERS_ARE_STRONG) * none
            removed = _REMOVED_BEYOND_STRONG if are_strong else _REMOVED
            return all_ <= (1 - removed) * some
        own = np.flatnonzero(sign.own)
        places = np.union1d(self.drawn, own[draw_rows(len(own), _MOST_OWN, seed=self.seed)])
        outcome = int(np.flatnonzero(self.outcomes == sign.leak.outcome)[0])
        truth = (self.codes[places] == outcome).astype(np.float64)
        inside = sign.own[places]
        left = left_over(self.table, self.rows[places], others, truth=truth)
        flat = 1 - float((self.codes == outcome).mean())
        own_share = float(truth[inside].mean())
        least = own_share * (1 - own_share)  # missed where the rows are known
        by_mean = own_share * flat**2 + (1 - own_share) * (1 - flat) ** 2 - least
        return float((left[inside] ** 2).mean()) - least >= _MISSED_OF_ROWS * by_mean

    def _is_same(self, sign: Suspect, other: str) -> bool:
        """Whether another column is this one in another form, or suspected of the same rows."""
        for one in self.signs:
            if one.leak.column != other or one.own is None or sign.own is None:
                continue
            if (one.own & sign.own).sum() >= _SAME_ROWS * (one.own | sign.own).sum():
                return True
        columns = [self.table.column(n).take(self.rows) for n in (sign.leak.column, other)]
        if not all(map(is_ordered, columns)):
            return strength(*map(comparable, columns)) >= SAME
        return have_one_order(*columns)
