"""Which sets of columns identify an effect by adjustment (complete criterion).

A set is valid for the effect of treatments on outcomes if it holds no node on a proper causal path
and no descendant of one, and if it blocks all other proper paths: it d-separates treatments and
outcomes in the graph without the first arrows of the proper causal paths. A path is proper if only
its first node is a treatment. The criterion is complete: every set for which Definition 8.1.1 of
Hiabu (2024) holds in all models of the graph meets it.

The back-door criterion (theorem 8.1.3) is a special case. Its proof there uses "blocked by Z" for
"blocked by Z and X"; the theorem holds, as a collider that is an ancestor of X and opens by
conditioning on X gives a back-door path that is open given Z alone.

References
----------
Shpitser, VanderWeele and Robins (2010), "On the validity of covariate adjustment for estimating
causal effects"; Perković, Textor, Kalisch and Maathuis (2018), "Complete graphical
characterization and construction of adjustment sets"; van der Zander, Liśkiewicz and Textor
(2019); Henckel, Perković and Maathuis (2022), "Graphical criteria for efficient total effect
estimation via adjustment in causal linear models".
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, get_args, overload

import numpy as np

from clearwood._shared.checks import check_whole
from clearwood._shared.choices import AdjustmentKind
from clearwood._shared.errors import InputError, Option, bad_value, unknown_choice, words
from clearwood._shared.names import listed
from clearwood._shared.numbers import count
from clearwood._shared.results import Result, html_table
from clearwood.causal.graph.arrays import Arrays, Mask
from clearwood.causal.graph.numbered import Names, NumberedGraph
from clearwood.causal.graph.open_path import open_path
from clearwood.causal.graph.separators import Separators
from clearwood.causal.graph.text import quoted

__all__ = ["AdjustmentSets", "Validity", "adjustment_sets", "validity_of"]

_SEPARATORS = frozenset(",{}\n")


@dataclass(frozen=True)
class Validity(Result):
    """Whether a set is valid for adjustment, and why; true if it is.

    Parameters
    ----------
    valid
        Whether it is.
    treatment, outcome, given
        The effect, and the set.
    why
        The reason in words.
    forbidden
        Members of the set that must not be in any: nodes on causal paths and their descendants.
    path
        A path that is not causal and that the set leaves open, as nodes and arrows in turn.

    Examples
    --------
    >>> from clearwood.causal import Graph
    >>> graph = Graph("z -> x -> m -> y; z -> y")
    >>> bool(graph.is_valid_adjustment("x", "y", "z"))
    True
    >>> print(graph.is_valid_adjustment("x", "y", ["z", "m"]).why)
    'm' is on a causal path from 'x' to 'y', or an effect of one
    """

    valid: bool
    treatment: tuple[str, ...]
    outcome: tuple[str, ...]
    given: tuple[str, ...]
    why: str
    forbidden: tuple[str, ...] = ()
    path: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        word = "valid" if self.valid else "not valid"
        return f"{_set(self.given)} is {word} for the effect of {_effect(self)}: {self.why}"


@dataclass(frozen=True, repr=False)
class AdjustmentSets(Result, Sequence[tuple[str, ...]]):
    """Sets that are valid for adjustment, small ones first, or the reason why there is none.

    It is a sequence of tuples of names. The empty tuple is a set, too: then the effect can be read
    off without adjustment, and the result is true.

    Parameters
    ----------
    treatment, outcome
        The effect.
    kind
        What is listed.
    sets
        The sets, by size and then by names.
    is_complete
        Whether these are all, or as many as `limit` allows.
    reason
        Why there is no set; empty where there is one.
    path
        Where there is none, a path that no permitted set blocks, as nodes and arrows in turn.
    costs
        The total cost of each set, where costs are given.
    """

    treatment: tuple[str, ...]
    outcome: tuple[str, ...]
    kind: AdjustmentKind
    sets: tuple[tuple[str, ...], ...]
    is_complete: bool = True
    reason: str = ""
    path: tuple[str, ...] = ()
    costs: tuple[float, ...] = field(default=())

    @overload
    def __getitem__(self, at: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[tuple[str, ...], ...]: ...
    def __getitem__(self, at: Any) -> Any:
        return self.sets[at]

    def __len__(self) -> int:
        return len(self.sets)

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            "set": [", ".join(one) for one in self.sets],
            "size": [len(one) for one in self.sets],
        }
        return columns | ({"cost": list(self.costs)} if self.costs else {})

    def _heading(self) -> str:
        """Return what is listed, in a sentence."""
        if not self.sets:
            return f"No set for adjustment, effect of {_effect(self)}: {self.reason}"
        kind = {"all": "valid", "parents": "valid"}.get(self.kind, self.kind)
        more = "" if self.is_complete else "; there are more"
        sets = count(len(self.sets), "set")
        number, _, noun = sets.partition(" ")
        return f"{number} {kind} {noun} for adjustment, effect of {_effect(self)}{more}"

    def __str__(self) -> str:
        return "\n".join([self._heading(), *(f"  {_set(one)}" for one in self.sets)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self.sets:
            return super()._repr_html_()
        rows = [[_set(one), str(len(one))] for one in self.sets]
        return html_table(self._heading(), ["set", "size"], rows)


@dataclass(frozen=True, eq=False)
class _Problem:
    """An effect in a graph: what must not be adjusted for, and which paths must be blocked."""

    graph: NumberedGraph
    treatment: Mask
    outcome: Mask

    @property
    def arrays(self) -> Arrays:
        """The arrows of the graph."""
        return self.graph.arrays

    @cached_property
    def causal(self) -> Mask:
        """Nodes on proper causal paths, apart from the treatments."""
        into, out = self.treatment[self.arrays.effects] > 0, self.treatment[self.arrays.causes] > 0
        below = self.arrays.only(~into).below(self.treatment) & (1 - self.treatment)
        return below & self.arrays.only(~out).above(self.outcome)

    @cached_property
    def forbidden(self) -> Mask:
        """Nodes on proper causal paths and their descendants."""
        return self.arrays.below(self.causal)

    @cached_property
    def back_door(self) -> Arrays:
        """The graph without the first arrows of proper causal paths."""
        is_first = (self.treatment[self.arrays.causes] & self.causal[self.arrays.effects]) > 0
        return self.arrays.only(~is_first)

    @property
    def never(self) -> Mask:
        """What no set may hold."""
        return self.forbidden | self.graph.hidden_mask | self.treatment | self.outcome

    def separators(self, needed: Mask, excluded: Mask) -> Separators:
        """Return the sets that hold some nodes and not others."""
        allowed = (1 - self.never) & (1 - excluded)
        return Separators(self.back_door, self.treatment, self.outcome, allowed | needed, needed)

    def open_path(self, given: Mask) -> tuple[str, ...]:
        """Return a path that is not causal and open given a set; none if all are blocked."""
        places = open_path(self.back_door, self.treatment, self.outcome, given)
        return self.graph.path(places) if places else ()


def validity_of(graph: NumberedGraph, treatment: Names, outcome: Names, given: Names) -> Validity:
    """Check one set by the complete criterion."""
    start, end, blocked = graph.disjoint(treatment=treatment, outcome=outcome, given=given)
    problem = _Problem(graph, start, end)
    about = {
        "treatment": graph.named(start),
        "outcome": graph.named(end),
        "given": graph.named(blocked),
    }
    hidden = graph.named(blocked & graph.hidden_mask)
    if hidden:
        why = f"{hidden[0]!r} is hidden, so there is no data to adjust for it"
        return Validity(valid=False, **about, why=why)
    forbidden = graph.named(blocked & problem.forbidden)
    if forbidden:
        why = (
            f"{forbidden[0]!r} is on a causal path from {listed(about['treatment'])} to "
            f"{listed(about['outcome'])}, or an effect of one"
        )
        return Validity(valid=False, **about, why=why, forbidden=forbidden)
    path = problem.open_path(blocked)
    if path:
        why = f"the path {' '.join(path)} is open and not causal"
        return Validity(valid=False, **about, why=why, path=path)
    return Validity(
        valid=True, **about, why="it blocks all paths that are not causal, and no causal one"
    )


def adjustment_sets(
    graph: NumberedGraph,
    treatment: Names,
    outcome: Names,
    *,
    kind: AdjustmentKind,
    include: Names,
    exclude: Names,
    cost: Mapping[str, float] | None,
    limit: int,
) -> AdjustmentSets:
    """List the sets of a kind, or give the reason why there is none."""
    if kind not in get_args(AdjustmentKind):
        raise unknown_choice("kind", kind, get_args(AdjustmentKind))
    check_whole("limit", limit, 1)
    start, end, needed, excluded = graph.disjoint(
        treatment=treatment, outcome=outcome, include=include, exclude=exclude
    )
    costs = _costs(graph, cost)
    problem = _Problem(graph, start, end)
    wanted = _Wanted(problem, kind, needed, excluded, costs)
    sets, is_complete = wanted.listed(limit)
    reason, path = ("", ()) if sets else wanted.reason()
    priced = () if cost is None else tuple(float(costs[one > 0].sum()) for one in sets)
    named = [graph.named(one) for one in sets]
    order = sorted(range(len(named)), key=lambda k: (len(named[k]), sorted(named[k])))
    return AdjustmentSets(
        graph.named(start),
        graph.named(end),
        kind,
        tuple(named[k] for k in order),
        is_complete,
        reason,
        path,
        tuple(priced[k] for k in order) if priced else (),
    )


@dataclass(frozen=True, eq=False)
class _Wanted:
    """Which sets are wanted of a problem."""

    problem: _Problem
    kind: AdjustmentKind
    needed: Mask
    excluded: Mask
    costs: Any

    def listed(self, limit: int) -> tuple[list[Mask], bool]:
        """Return sets up to a number, and whether these are all."""
        if np.any(self.needed & self.problem.never):
            return [], True
        found = list(islice(self._sets(), limit + 1))
        is_complete = len(found) <= limit
        if self.kind == "minimal" and not is_complete:
            self._add_smallest(found, limit)
        return found[:limit], is_complete

    def _add_smallest(self, found: list[Mask], limit: int) -> None:
        """Put a smallest set in the last place of a list that is cut off, if it is not in it."""
        separators = self.problem.separators(self.needed, self.excluded)
        smallest = separators.cheapest(np.ones(self.problem.arrays.n))
        if smallest is not None and all(one.sum() > smallest.sum() for one in found[:limit]):
            found[limit - 1] = smallest

    def _sets(self) -> Iterator[Mask]:
        """Give the sets one by one."""
        separators = self.problem.separators(self.needed, self.excluded)
        if self.kind == "minimal":
            yield from separators.minimal()
        elif self.kind == "all":
            yield from separators.all()
        elif self.kind == "minimum":
            cheapest = separators.cheapest(self.costs)
            if cheapest is not None:
                yield cheapest
        else:
            named = self._named_set
            if not np.any(named & (self.problem.never | self.excluded)) and not np.any(
                self.needed & (1 - named)
            ):
                is_causal = self.kind == "parents" or self._has_causal_paths
                if is_causal and separators.is_separated(named):
                    yield named

    @cached_property
    def _named_set(self) -> Mask:
        """The parents of the treatments, or of the nodes on causal paths without forbidden ones."""
        arrays, problem = self.problem.arrays, self.problem
        of = problem.treatment if self.kind == "parents" else problem.causal
        parents = arrays.mask(np.unique(arrays.causes[of[arrays.effects] > 0]).tolist())
        if self.kind == "parents":
            return parents & (1 - problem.treatment)
        return parents & (1 - (problem.forbidden | problem.treatment))

    @property
    def _has_causal_paths(self) -> bool:
        """Whether causal paths lead to all outcomes."""
        return not np.any(self.problem.outcome & (1 - self.problem.causal))

    def reason(self) -> tuple[str, tuple[str, ...]]:
        """Say why there is no set, with a path that shows it."""
        graph, problem = self.problem.graph, self.problem
        treatment, outcome = graph.named(problem.treatment), graph.named(problem.outcome)
        no_effect = (
            f"{listed(treatment)} has no effect on {listed(outcome)}: there is no directed path"
        )
        is_without_effect = not np.any(problem.causal)
        for mask, why in (
            (problem.graph.hidden_mask, "is hidden, so it cannot be included"),
            (
                problem.forbidden,
                "must not be included: it is on a causal path, or an effect of one",
            ),
        ):
            bad = graph.named(self.needed & mask)
            if bad:
                return f"{bad[0]!r} {why}", ()
        if self.kind in {"parents", "optimal"}:
            return self._reason_of_named_set(no_effect, is_without_effect=is_without_effect)
        largest = problem.separators(self.needed, self.excluded)
        path = problem.open_path(largest.free | self.needed)
        shown = (
            f"no permitted set blocks the path {' '.join(path)}"
            if len(path) < 60
            else ("no permitted set blocks all paths that are not causal")
        )
        return (f"{no_effect}, and {shown}" if is_without_effect else shown), path

    def _reason_of_named_set(
        self, no_effect: str, *, is_without_effect: bool
    ) -> tuple[str, tuple[str, ...]]:
        """Say why the parents, or the optimal set, cannot be used."""
        graph, problem = self.problem.graph, self.problem
        named = self._named_set
        what = "a cause of the treatment" if self.kind == "parents" else "a member of it"
        if is_without_effect and self.kind == "parents" and np.any(named & problem.outcome):
            outcome = graph.named(named & problem.outcome)[0]
            return f"{no_effect}, as {outcome!r} is a cause; the effect is zero", ()
        if self.kind == "optimal" and not self._has_causal_paths:
            if is_without_effect:
                return f"{no_effect}; the effect is zero, and no set is optimal", ()
            missing = graph.named(problem.outcome & (1 - problem.causal))[0]
            return f"no causal path leads to {missing!r}, so no set is optimal", ()
        for mask, why in (
            (graph.hidden_mask, "is hidden"),
            (problem.forbidden, "is on a causal path, or an effect of one"),
            (problem.outcome, "is an outcome"),
            (self.excluded, "is excluded"),
        ):
            bad = graph.named(named & mask)
            if bad:
                return f"{bad[0]!r}, {what}, {why}", ()
        extra = graph.named(self.needed & (1 - named))
        if extra:
            return f"{extra[0]!r} is included, but not {what}", ()
        path = problem.open_path(named)
        return f"it leaves the path {' '.join(path)} open", path


def _costs(graph: NumberedGraph, cost: Mapping[str, Any] | None) -> Any:
    """Return the cost of every node, which is 1 where none is given."""
    costs = np.ones(len(graph.nodes))
    if cost is None:
        return costs
    if not isinstance(cost, Mapping):
        raise bad_value("cost", cost, "it must be a dictionary from nodes to numbers")
    for name, value in cost.items():
        place = graph.places("cost", (name,))[0]
        is_number = isinstance(value, int | float | np.number)
        if not is_number or not math.isfinite(value) or value < 0:
            raise InputError(
                words(Option("cost"), f": the cost of {name!r} is {value!r}"),
                parameter="cost",
                value=value,
                hint=words(
                    "costs are finite numbers of at least 0; ",
                    Option("exclude"),
                    " leaves a node out.",
                ),
            )
        costs[place] = float(value)
    return costs


def _set(names: Sequence[str]) -> str:
    """Write a set; names that hold what separates names are quoted."""
    shown = (quoted(name) if _SEPARATORS.intersection(name) else name for name in names)
    return "{" + ", ".join(shown) + "}"


def _effect(result: Validity | AdjustmentSets) -> str:
    """Write what affects what."""
    return f"{', '.join(result.treatment)} on {', '.join(result.outcome)}"
