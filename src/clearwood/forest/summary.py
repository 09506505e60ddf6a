"""Text, HTML and JSON forms of a forest."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.numbers import count
from clearwood._shared.results import html_table

if TYPE_CHECKING:
    from clearwood.forest.forest import Forest

__all__ = ["facts", "html", "line", "to_json"]


def line(forest: "Forest") -> str:
    """Return one line that describes the forest."""
    parts = [
        f"{count(forest.n_leaves, 'leaf', 'leaves')}, depth {forest.depth}",
        f"{len(forest.columns_used)} of {count(len(forest.columns), 'column')} used",
    ]
    if forest.n_outputs > 1:
        parts.append(f"{forest.n_outputs} outputs")
    return f"Forest of {count(forest.n_trees, 'tree')}: {', '.join(parts)}; {forest.source}"


def facts(forest: "Forest") -> dict[str, Any]:
    """Return the number of trees and leaves, depth, columns used and other facts, by name."""
    return {
        "source": forest.source,
        "trees": forest.n_trees,
        "leaves": forest.n_leaves,
        "depth": forest.depth,
        "outputs": forest.n_outputs,
        "columns": len(forest.columns),
        "columns used": list(forest.columns_used),
        "aggregation": forest.aggregation,
        "link": forest.link,
        "precision": forest.precision,
        "classes": None if forest.classes is None else forest.classes.tolist(),
        "categorical splits": int(forest.is_categorical.sum()),
        "training weights known": forest.has_cover,
    }


def html(forest: "Forest") -> str:
    """Return the summary as a small HTML table for notebooks."""
    rows = []
    for name, value in facts(forest).items():
        if isinstance(value, bool):
            shown = "yes" if value else "no"
        elif isinstance(value, list):
            shown = ", ".join(map(str, value))
        else:
            shown = "none" if value is None else str(value)
        rows.append((name, shown))
    return html_table(line(forest), ("", "value"), rows)


def to_json(forest: "Forest") -> dict[str, Any]:
    """Return arrays and settings, without the encoder; NaN becomes None, infinity "inf"."""
    from clearwood.forest.files import ARRAYS, settings

    arrays: dict[str, Any] = {}
    for name in ARRAYS:
        array: NDArray[Any] = getattr(forest, name)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            plain = array.astype(object)
            plain[np.isnan(array)] = None
            plain[array == np.inf] = "inf"
            plain[array == -np.inf] = "-inf"
            array = plain
        arrays[name] = array.tolist()
    return {"kind": "forest", **settings(forest), "arrays": arrays}
