"""What rows would have been, had some of their columns been set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearwood._shared.numbers import count
from clearwood._shared.results import Result, document
from clearwood.causal.scm.inversion import Inversion
from clearwood.table import Table

__all__ = ["Counterfactual"]


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(Result):
    """Rows as they would have been, and how the noise of each column was recovered.

    Parameters
    ----------
    table
        The rows.
    given
        The columns that were set, with their values.
    inversions
        By column: set, kept as observed, exact, drawn where rounding or limits leave the noise
        open, or "assuming monotone noise".
    seed
        Fixes what was drawn.
    """

    table: Table
    given: Mapping[str, Any]
    inversions: Mapping[str, Inversion]
    seed: int

    @property
    def is_exact(self) -> bool:
        """Whether no noise was drawn and none was assumed to be monotone."""
        return not {Inversion.DRAWN, Inversion.MONOTONE} & set(self.inversions.values())

    @property
    def assumes_monotone_noise(self) -> tuple[str, ...]:
        """The columns for which it is assumed that more noise never means a smaller value."""
        return tuple(n for n, how in self.inversions.items() if how is Inversion.MONOTONE)

    def to_frame(self, library: str | None = None) -> Any:
        """Return the rows as a data frame.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        return self.table.to_frame(library)

    def to_json(self) -> dict[str, Any]:
        """Return the rows, what was set and how noise was recovered, as plain JSON values."""
        return document(
            {
                "set": self.given,
                "rows": self.table.to_dict(),
                "inversions": {name: str(how) for name, how in self.inversions.items()},
                "exact": self.is_exact,
                "seed": self.seed,
            }
        )

    def __repr__(self) -> str:
        # arrays of values are too long for a line
        shown = (f"{n} = {v}" if _is_single(v) else f"{n} by row" for n, v in self.given.items())
        lines = [f"{count(self.table.n_rows, 'counterfactual row')}: {', '.join(shown)}"]
        lines += [f"  {name}: {how}" for name, how in self.inversions.items()]
        return "\n".join(lines)


def _is_single(value: Any) -> bool:
    """Whether a value is one for all rows."""
    return isinstance(value, str) or not hasattr(value, "__len__")
