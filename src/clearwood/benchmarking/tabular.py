"""What the results of this package share: a data frame, plain JSON values, HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any, ClassVar

from clearwood.benchmarking.frames import frame, plain

__all__ = ["Tabular"]


class Tabular:
    """A result that can be had as a data frame, as JSON and in a notebook.

    Subclasses are dataclasses. Those of several rows say in ``_columns`` what these are; without
    it the frame has one row, of everything.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Square(Tabular):
    ...     side: float
    ...     _derived = ("area",)
    ...
    ...     @property
    ...     def area(self):
    ...         return self.side**2
    >>> Square(3.0).to_json()
    {'side': 3.0, 'area': 9.0}
    >>> Square(float("nan")).to_frame("dict")
    {'side': [None], 'area': [None]}
    """

    #: Properties that are told beside the fields.
    _derived: ClassVar[tuple[str, ...]] = ()
    #: Fields too long to be told in JSON.
    _untold: ClassVar[tuple[str, ...]] = ()

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {name: [value] for name, value in self.to_json().items()}

    def to_frame(self, library: str | None = None) -> Any:
        """Give a data frame.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first installed when left out.
        """
        return frame(self._columns(), library)

    def to_json(self) -> dict[str, Any]:
        """Give plain JSON values; what is not a finite number becomes None."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        told = [name for name in (*names, *self._derived) if name not in self._untold]
        return {name: plain(getattr(self, name)) for name in told}

    def _repr_html_(self) -> str:
        return f'<pre class="clearwood-result">{escape(repr(self))}</pre>'
