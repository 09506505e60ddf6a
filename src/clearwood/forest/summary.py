"""How a forest is shown: one line, a small table, JSON."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clearwood.forest.forest import Forest

__all__ = ["facts", "html", "line", "to_json"]


def _count(n: int, noun: str, plural: str | None = None) -> str:
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def line(forest: "Forest") -> str:
    """Say in one line what the forest is."""
    parts = [
        f"{_count(forest.n_leaves, 'leaf', 'leaves')}, depth {forest.depth}",
        f"{len(forest.columns_used)} of {_count(len(forest.columns), 'column')} used",
    ]
    if forest.n_outputs > 1:
        parts.append(f"{forest.n_outputs} outputs")
    return f"Forest of {_count(forest.n_trees, 'tree')}: {', '.join(parts)}; {forest.source}"


def facts(forest: "Forest") -> dict[str, Any]:
    """Give what one wants to know first, by name."""
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
    """Give the summary as a small table for notebooks."""
    rows = []
    for name, value in facts(forest).items():
        if isinstance(value, bool):
            shown = "yes" if value else "no"
        elif isinstance(value, list):
            shown = ", ".join(map(str, value))
        else:
            shown = "none" if value is None else str(value)
        rows.append(f'<tr><th scope="row">{escape(name)}</th><td>{escape(shown)}</td></tr>')
    caption = escape(line(forest))
    return f"<table><caption>{caption}</caption><tbody>{''.join(rows)}</tbody></table>"


def to_json(forest: "Forest") -> dict[str, Any]:
    """Give arrays and settings as plain JSON values; NaN becomes None, infinity a word."""
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
