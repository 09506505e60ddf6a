"""How a condensed tree is read, drawn and written out: what its methods call."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from clearwood.condensing.condensed import Condensed
    from clearwood.condensing.reading.path import Path
    from clearwood.condensing.reading.prune import Pruned
    from clearwood.condensing.reading.rules import Rules

__all__ = ["Readable"]


class Readable:
    """Methods of `Condensed` that show it; each is a function of its own module."""

    @property
    def _tree(self) -> "Condensed":
        return cast("Condensed", self)

    # To people

    def rules(
        self, data: Any = None, target: Any = None, *, units: Mapping[str, str] | None = None
    ) -> "Rules":
        """Give one rule a leaf, by support where there is data; see `Rules`."""
        from clearwood.condensing.reading.rules import rules

        return rules(self._tree, data, target, units=units)

    def path(self, row: Any, *, units: Mapping[str, str] | None = None) -> "Path":
        """Give the few conditions that decide one row; see `Path`."""
        from clearwood.condensing.reading.path import path

        return path(self._tree, row, units=units)

    def prune(self, data: Any) -> "Pruned":
        """Give the smaller tree that keeps only what the rows of a table tell apart."""
        from clearwood.condensing.reading.prune import prune

        return prune(self._tree, data)

    def to_text(self, *, depth: int | None = None, units: Mapping[str, str] | None = None) -> str:
        """Give the tree as indented lines for a terminal."""
        from clearwood.condensing.reading.text import to_text

        return to_text(self._tree, depth=depth, units=units)

    def to_svg(self, *, units: Mapping[str, str] | None = None) -> str:
        """Give a picture of the tree, for up to a few hundred leaves."""
        from clearwood.condensing.reading.svg import to_svg

        return to_svg(self._tree, units=units)

    def plot(self, *, units: Mapping[str, str] | None = None) -> Any:
        """Give a picture that notebooks show and ``save`` writes."""
        from clearwood.condensing.reading.svg import Picture

        return Picture(self.to_svg(units=units))

    # To machines

    def to_sql(self, *, table: str | Sequence[str], column: str = "prediction") -> str:
        """Give a SELECT that adds the prediction to a table, in standard SQL."""
        from clearwood.condensing.export.sql import to_sql

        return to_sql(self._tree, table=table, column=column)

    def to_python(self) -> str:
        """Give the source of a Python module that needs nothing, with ``predict(row)``."""
        from clearwood.condensing.export.python import to_python

        return to_python(self._tree)

    def to_c(self, *, name: str = "clearwood") -> str:
        """Give C99 source that needs nothing, with ``<name>_predict(row)``."""
        from clearwood.condensing.export.c import to_c

        return to_c(self._tree, name=name)

    def to_dot(self) -> str:
        """Give the diagram for Graphviz."""
        from clearwood.condensing.export.dot import to_dot

        return to_dot(self._tree)

    def to_onnx(self) -> Any:
        """Give an ONNX model; needs the onnx package."""
        from clearwood.condensing.export.onnx import to_onnx

        return to_onnx(self._tree)

    def to_json(self) -> dict[str, Any]:
        """Give plain JSON values; `save` writes them and `clearwood.condensing.load` reads them."""
        from clearwood.condensing.export.json import to_json

        return to_json(self._tree)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> FilePath:
        """Write the tree to a JSON file; an existing file is replaced only with ``force``."""
        from clearwood.condensing.export.json import save

        return save(self._tree, path, force=force)

    def to_frame(self) -> Any:
        """Give the rules as a data frame."""
        return self.rules().to_frame()

    def _repr_html_(self) -> str:
        from clearwood.condensing.reading.svg import html

        return html(self._tree)
