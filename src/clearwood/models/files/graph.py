"""Traversing the objects that an estimator consists of."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["objects", "replace"]


def replace(root: Any, swap: Callable[[Any], Any]) -> Any:
    """Return the same estimator with some parts swapped, leaving the original untouched.

    Only what holds a swapped part is copied. A part met twice is swapped once, so that what was
    shared stays shared.

    Examples
    --------
    >>> parts = {"steps": [("scale", 1), ("model", 2)]}
    >>> replace(parts, lambda part: 3 if part == 2 else part)
    {'steps': [('scale', 1), ('model', 3)]}
    >>> parts
    {'steps': [('scale', 1), ('model', 2)]}
    """
    done: dict[int, tuple[Any, Any]] = {}  # the part is kept, so that its id stays its own

    def visit(part: Any) -> Any:
        if id(part) in done:
            return done[id(part)][1]
        done[id(part)] = (part, part)
        new = swap(part)
        if new is part:
            new = rebuilt(part)
        done[id(part)] = (part, new)
        return new

    def rebuilt(part: Any) -> Any:
        if isinstance(part, dict):
            values = {key: visit(value) for key, value in part.items()}
            if all(values[key] is part[key] for key in part):
                return part
            copy = type(part)()
            copy.update(values)
            return copy
        if type(part) in (list, tuple):
            items = [visit(item) for item in part]
            return part if _same(items, part) else type(part)(items)
        if isinstance(part, np.ndarray):
            return _rebuilt_array(part, visit)
        if _is_ours_to_open(part):
            attributes = {name: visit(value) for name, value in vars(part).items()}
            if all(attributes[name] is value for name, value in vars(part).items()):
                return part
            copy = object.__new__(type(part))
            vars(copy).update(attributes)
            return copy
        return part

    return visit(root)


def _rebuilt_array(part: np.ndarray[Any, Any], visit: Callable[[Any], Any]) -> Any:
    if part.dtype != object:
        return part
    items = [visit(item) for item in part.flat]
    if _same(items, part.flat):
        return part
    copy = np.empty(part.shape, dtype=object)
    copy.flat[:] = items
    return copy


def _same(items: list[Any], originals: Any) -> bool:
    return all(new is old for new, old in zip(items, originals, strict=True))


def objects(root: Any) -> Iterator[Any]:
    """Go over everything an estimator holds, each object once."""
    seen: dict[int, Any] = {}
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or part is None or isinstance(part, str | int | float):
            continue
        seen[id(part)] = part
        yield part
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            if part.dtype == object:
                waiting.extend(part.flat)
        elif _is_ours_to_open(part):
            waiting.extend(vars(part).values())


def _is_ours_to_open(part: Any) -> bool:
    return hasattr(part, "__dict__") and not isinstance(part, type) and not callable(part)
