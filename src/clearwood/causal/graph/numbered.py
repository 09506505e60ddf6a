"""A graph whose nodes have names outside and numbers inside."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError, Option, did_you_mean, words
from clearwood.causal.graph.arrays import Arrays, Mask

__all__ = ["Names", "NumberedGraph", "several"]

#: One name, or several.
Names = str | Iterable[str]


@dataclass(frozen=True, eq=False)
class NumberedGraph:
    """The arrows of a graph, and the names of its nodes.

    Parameters
    ----------
    nodes
        The names.
    arrays
        The arrows.
    hidden
        The names of hidden nodes.
    hidden_causes
        The hidden nodes that stand for `<->`, with the two nodes that each one joins.
    """

    nodes: tuple[str, ...]
    arrays: Arrays
    hidden: tuple[str, ...]
    hidden_causes: Mapping[str, tuple[str, str]]

    @cached_property
    def place(self) -> dict[str, int]:
        """The number of every node."""
        return {name: place for place, name in enumerate(self.nodes)}

    @cached_property
    def hidden_mask(self) -> Mask:
        """Ones at hidden nodes."""
        return self.arrays.mask(self.place[name] for name in self.hidden)

    def places(self, parameter: str, names: Names) -> list[int]:
        """Return the numbers of named nodes, each once, in the order of the graph."""
        named = several(names, parameter)
        unknown = [name for name in named if name not in self.place]
        if unknown:
            are = "is not a node" if len(unknown) == 1 else "are not nodes"
            raise InputError(
                words(Option(parameter), f": {', '.join(map(repr, unknown))} {are} of the graph"),
                parameter=parameter,
                value=unknown[0],
                hint=did_you_mean(str(unknown[0]), self.nodes),
            )
        return sorted({self.place[name] for name in named})

    def mask(self, parameter: str, names: Names) -> Mask:
        """Return ones at named nodes."""
        return self.arrays.mask(self.places(parameter, names))

    def named(self, mask: Any) -> tuple[str, ...]:
        """Return the names of marked nodes, in the order of the graph."""
        return tuple(self.nodes[place] for place in np.flatnonzero(mask).tolist())

    def disjoint(self, **sets: Names) -> tuple[Mask, ...]:
        """Return ones at the nodes of each set; no node may be in two of them.

        The first two sets must not be empty.
        """
        masks = {name: self.mask(name, names) for name, names in sets.items()}
        names = list(masks)
        for name in names[:2]:
            if not masks[name].any():
                raise InputError(
                    words(Option(name), " names no node"), parameter=name, value=sets[name]
                )
        for at, one in enumerate(names):
            for other in names[at + 1 :]:
                both = self.named(masks[one] & masks[other])
                if both:
                    raise InputError(
                        words(Option(one), " and ", Option(other), f" both have {both[0]!r}"),
                        parameter=other,
                        value=both[0],
                        hint="a node can be in one of them only.",
                    )
        return tuple(masks.values())

    def path(self, places: Iterable[int]) -> tuple[str, ...]:
        """Return the nodes of a path and the arrows between them; `<->` is one arrow."""
        places = list(places)
        arrows = {(cause, effect) for cause in places for effect in self.arrays.effects_of(cause)}
        written = [self.nodes[places[0]]]
        for left, right in itertools.pairwise(places):
            arrow = "->" if (left, right) in arrows else "<-"
            if self.nodes[left] in self.hidden_causes and len(written) > 1:
                del written[-2:]
                written += ["<->", self.nodes[right]]
            else:
                written += [arrow, self.nodes[right]]
        return tuple(written)


def several(names: Any, parameter: str = "nodes") -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable):
        raise InputError(
            words(Option(parameter), f": {names!r} is not a name"), parameter=parameter, value=names
        )
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise InputError(
                words(Option(parameter), f": {name!r} is not a name"),
                parameter=parameter,
                value=name,
            )
    return found
