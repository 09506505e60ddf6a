"""Graphs from text, dictionaries, lists of edges and networkx objects."""

import os
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

from clearwood._shared.errors import InputError, bad_value, words
from clearwood.causal.graph.sketch import Sketch
from clearwood.causal.graph.text import parse

__all__ = ["sketch_of"]

#: The forms in which a graph can be given, for messages.
FORMS = "text such as 'a -> b', {node: effects}, a list of (cause, effect), or a networkx.DiGraph"


def sketch_of(source: Any) -> Sketch:
    """Read what a source of any accepted form states.

    Examples
    --------
    >>> list(sketch_of({"a": ["b", "c"], "b": "c"}).arrows)
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> list(sketch_of([("a", "b"), ("a", "<->", "c")]).shared)
    [('a', 'c')]
    """
    if isinstance(source, str):
        sketch = parse(source)
        is_name = len(sketch.nodes) == 1 and not sketch.arrows
        if is_name and len(source) < 1000 and Path(source.strip()).is_file():
            raise bad_value(
                "source", source, "this is a file", hint="write pathlib.Path(…) to read it."
            )
        return sketch
    if isinstance(source, os.PathLike):
        return _of_file(Path(source))
    if isinstance(source, Mapping):
        return _of_effects(source)
    if hasattr(source, "is_directed") and hasattr(source, "edges") and hasattr(source, "nodes"):
        return _of_networkx(source)
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return _of_edges(source)
    raise InputError(
        f"a graph cannot be made from {type(source).__name__}",
        parameter="source",
        value=source,
        hint=f"give {FORMS}.",
    )


def _of_file(path: Path) -> Sketch:
    """Read a graph from the text of a file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InputError(
            f"the graph file {str(path)!r} cannot be read: {reason}",
            parameter="source",
            value=str(path),
        ) from None
    return parse(text)


def _name(node: Any, taken: dict[str, Hashable]) -> str:
    """Return the name of a node, which must not stand for two different ones."""
    if isinstance(node, tuple | list | set | frozenset | dict | bytes) or node is None:
        raise InputError(
            f"{node!r} cannot be the name of a node",
            parameter="source",
            value=node,
            hint="names are text.",
        )
    name = str(node)
    if not name.strip():
        raise InputError("the name of a node is empty", parameter="source", value=node)
    if taken.setdefault(name, node) != node:
        raise InputError(
            f"{taken[name]!r} and {node!r} are two nodes with one name",
            parameter="source",
            value=name,
            hint="use text for all names.",
        )
    return name


def _of_effects(source: Mapping[Any, Any]) -> Sketch:
    """Read a dictionary from nodes to their effects."""
    sketch, taken = Sketch(), dict[str, Hashable]()
    for node, effects in source.items():
        cause = _name(node, taken)
        sketch.nodes[cause] = None
        if effects is None:
            continue
        some = [effects] if isinstance(effects, str | int) else effects
        if not isinstance(some, Iterable):
            raise InputError(
                f"the effects of {cause!r} are {effects!r}, which is not a list of names",
                parameter="source",
                value=effects,
                hint="a dictionary maps each node to a list of its effects.",
            )
        for effect in some:
            sketch.add(cause, _name(effect, taken))
    return sketch


def _of_edges(source: Iterable[Any]) -> Sketch:
    """Read pairs of a cause and an effect, or triples with an arrow between two names."""
    sketch, taken = Sketch(), dict[str, Hashable]()
    for edge in source:
        parts = () if isinstance(edge, str) or not isinstance(edge, Iterable) else tuple(edge)
        if len(parts) == 3 and parts[1] in ("->", "<-", "<->"):
            left, right = _name(parts[0], taken), _name(parts[2], taken)
            if parts[1] == "<->":
                if left == right:
                    raise InputError(f"{left!r} <-> {right!r} joins a node with itself")
                sketch.share(left, right)
            elif parts[1] == "->":
                sketch.add(left, right)
            else:
                sketch.add(right, left)
        elif len(parts) == 2:
            sketch.add(_name(parts[0], taken), _name(parts[1], taken))
        else:
            raise InputError(
                words(f"{edge!r} is not an edge"),
                parameter="source",
                value=edge,
                hint=f"an edge is (cause, effect) or (name, '<->', name). A graph is {FORMS}.",
            )
    return sketch


def _of_networkx(source: Any) -> Sketch:
    """Read a directed graph of networkx; its nodes may have the attribute hidden or latent."""
    if not source.is_directed():
        raise bad_value(
            "source", source, "its edges have no direction", hint="use networkx.DiGraph."
        )
    sketch, taken = Sketch(), dict[str, Hashable]()
    for node, attributes in source.nodes(data=True):
        name = _name(node, taken)
        sketch.nodes[name] = None
        # "observed" is how DoWhy marks them
        is_hidden = attributes.get("hidden") or attributes.get("latent")
        if is_hidden or attributes.get("observed") in ("no", False):
            sketch.marked["latent"][name] = None
    for cause, effect in source.edges():
        sketch.add(_name(cause, taken), _name(effect, taken))
    return sketch
