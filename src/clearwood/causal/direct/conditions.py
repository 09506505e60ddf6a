"""When a partial dependence is a direct effect: conditions that are checked on a causal graph."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from clearwood._shared.choices import Claim
from clearwood._shared.errors import InputError, did_you_mean, unknown_choice
from clearwood._shared.names import listed
from clearwood._shared.results import Result
from clearwood.table import gaps_listed

__all__ = ["Condition", "ConditionName", "conditions_of"]

ConditionName = Literal["unconfounded columns", "unconfounded target", "gaps at random"]


class Causes(Protocol):
    """A graph, as far as conditions use it."""

    @property
    def nodes(self) -> Sequence[str]:
        """All nodes."""

    def parents(self, node: str, /) -> Iterable[str]:
        """Return the direct causes of a node."""


@dataclass(frozen=True)
class Condition(Result):
    """One condition of a causal reading: it holds, it fails, or it is not checked.

    Parameters
    ----------
    name
        "unconfounded columns": the columns that act on the other ones have no common cause with
        them. "unconfounded target": the features together have no common cause with the target.
        "gaps at random": rows with gaps may be left out, or their gaps filled by draws.
    holds
        Whether the graph implies it; None where there is no graph to check it on.
    reason
        Why: which arrow makes it fail, or what is assumed.
    path
        Where it fails, an open path as nodes and arrows in turn: ("a", "<-", "b", "->", "c").

    Examples
    --------
    >>> Condition("unconfounded columns", None, "no graph is given").status
    'not checked'
    """

    name: ConditionName
    holds: bool | None
    reason: str
    path: tuple[str, ...] = ()

    _derived = ("status",)

    @property
    def status(self) -> str:
        """Whether it "holds", "fails" or is "not checked"."""
        return {True: "holds", False: "fails", None: "not checked"}[self.holds]

    def __str__(self) -> str:
        return f"{self.name}: {self.status} ({self.reason})"


def conditions_of(
    graph: Causes | None,
    columns: Iterable[str],
    others: Iterable[str],
    *,
    target: str | None = None,
    claim: Claim = "model",
    gap_shares: Mapping[str, float] | None = None,
) -> tuple[Condition, ...]:
    """Check when the partial dependence of columns is their average natural direct effect.

    Let ``S`` be the columns and ``R`` the other features. The partial dependence of ``S`` equals
    the direct effect (Hiabu 2024, definition 8.2.1) up to a constant, whatever the model is, if
    the members of ``S`` that act on ``R`` have no common cause with ``R``: they are d-separated
    from ``R`` in the graph without the arrows out of them. Members of ``S`` that act on ``R`` only
    through other members of ``S`` need not be; this is weaker than theorem 8.2.2 of that text.

    Parameters
    ----------
    graph
        The causal graph; None where there is none, so that nothing is checked.
    columns
        The columns whose direct effect is read off.
    others
        The other features of the model.
    target
        The target; needed for ``claim="world"``.
    claim
        "model" for effects on the model's prediction, "world" for effects on the target itself:
        then all features together must be unconfounded with the target too.
    gap_shares
        The share of rows in which features are missing, for those whose gaps the model fills. The
        graph is about the features themselves, not about stand-ins, so that nothing that it
        implies is known to hold.

    Returns
    -------
    tuple of Condition

    Examples
    --------
    >>> class Family:
    ...     nodes = ("gender", "height", "country")
    ...
    ...     def parents(self, node):
    ...         return {"height": ("gender", "country"), "gender": ("country",)}.get(node, ())
    >>> (condition,) = conditions_of(Family(), ["gender"], ["height"])
    >>> print(condition)
    unconfounded columns: fails ('gender' acts on 'height' and shares a cause with it: \
gender <- country -> height; the arrow country -> gender makes it fail)
    >>> conditions_of(Family(), ["height"], ["gender"])[0].holds
    True
    """
    if claim not in get_args(Claim):
        raise unknown_choice("claim", claim, get_args(Claim))
    chosen, rest = tuple(dict.fromkeys(columns)), tuple(dict.fromkeys(others))
    rest = tuple(name for name in rest if name not in chosen)
    if claim == "world" and target is None:
        raise InputError(
            "effects on the target itself need its name",
            parameter="target",
            hint="read the table with its target.",
        )
    if graph is None:
        return _assumed(chosen, rest, target, claim)
    _known(graph, (*chosen, *rest, *(() if claim == "model" else (str(target),))))
    checked = [_of_columns(graph, chosen, rest)]
    if claim == "world":
        checked.append(_of_target(graph, (*chosen, *rest), str(target)))
    own = {name: share for name, share in (gap_shares or {}).items() if name in (*chosen, *rest)}
    return tuple(_with_stand_ins(one, own) if own else one for one in checked)


def _with_stand_ins(condition: Condition, gap_shares: Mapping[str, float]) -> Condition:
    """Return a condition that would hold without gaps as one that is not checked."""
    if not condition.holds:
        return condition
    reason = (
        f"{gaps_listed(gap_shares)}, and there the model has a stand-in, which removes no "
        f"confounding; without the gaps the graph implies it: {condition.reason}"
    )
    return Condition(condition.name, None, reason)


def _assumed(
    chosen: Sequence[str], rest: Sequence[str], target: str | None, claim: Claim
) -> tuple[Condition, ...]:
    """Say what is assumed where there is no graph."""
    assumed = [
        Condition(
            "unconfounded columns",
            None if rest else True,
            f"without a graph it is assumed that {listed(chosen)} and the other columns have no "
            f"common cause, or that {listed(chosen)} {_do(chosen)} not act on them"
            if rest
            else "the model has no other columns",
        )
    ]
    if claim == "world":
        reason = (
            "without a graph it is assumed that no cause of a feature acts on "
            f"{target!r} past the features, and that {target!r} acts on none of them"
        )
        assumed.append(Condition("unconfounded target", None, reason))
    return tuple(assumed)


def _known(graph: Causes, names: Sequence[str]) -> None:
    """Refuse columns that the graph does not have."""
    nodes = list(graph.nodes)
    unknown = [name for name in names if name not in nodes]
    if not unknown:
        return
    if len(unknown) == 1:
        (name,) = unknown
        raise InputError(
            f"column {name!r} is not in the graph, so its conditions cannot be checked",
            parameter="graph",
            value=name,
            hint=f"add it to the graph as a node; {did_you_mean(name, nodes)}",
        )
    raise InputError(
        f"columns {listed(unknown)} are not in the graph, so its conditions cannot be checked",
        parameter="graph",
        value=unknown,
        hint="add each to the graph as a node, or leave it out of the model.",
    )


def _of_columns(graph: Causes, chosen: Sequence[str], rest: Sequence[str]) -> Condition:
    """Check the columns that act on the other ones."""
    acting = _acting(graph, chosen, rest)
    if not acting:
        reason = f"{listed(chosen)} {_do(chosen)} not act on the other columns"
        return Condition("unconfounded columns", holds=True, reason=reason)
    path = _open_path(graph, acting, rest)
    if path is None:
        reason = f"no other column shares a cause with {listed(acting)}"
        return Condition("unconfounded columns", holds=True, reason=reason)
    first, last = path[0], path[-1]
    if _is_directed(path):
        reason = f"{first!r} acts on {acting[first]!r} and follows from {last!r}"
    elif acting[first] == last:
        reason = f"{first!r} acts on {last!r} and shares a cause with it"
    else:
        reason = f"{first!r} acts on {acting[first]!r} and shares a cause with {last!r}"
    return _fails(graph, "unconfounded columns", reason, path)


def _of_target(graph: Causes, features: Sequence[str], target: str) -> Condition:
    """Check that the features together share no cause with the target past themselves."""
    path = _open_path(graph, dict.fromkeys(features, target), [target])
    if path is None:
        reason = f"no cause of a feature acts on {target!r} past the features"
        return Condition("unconfounded target", holds=True, reason=reason)
    if _is_directed(path):
        reason = f"{target!r} acts on {path[0]!r}"
    else:
        reason = f"{path[0]!r} shares a cause with {target!r}"
    return _fails(graph, "unconfounded target", reason, path)


def _acting(graph: Causes, chosen: Sequence[str], rest: Sequence[str]) -> dict[str, str]:
    """Return the columns with a directed path to another one past the rest of them, and to which.

    Walking up from each of the others, the walk ends at members of ``chosen``.
    """
    members = set(chosen)
    result: dict[str, str] = {}
    for other in rest:
        seen, stack = {other}, [other]
        while stack:
            for cause in graph.parents(stack.pop()):
                if cause in members:
                    result.setdefault(cause, other)
                elif cause not in seen:
                    seen.add(cause)
                    stack.append(cause)
    return {name: result[name] for name in chosen if name in result}


def _open_path(
    graph: Causes, sources: Mapping[str, str], ends: Sequence[str]
) -> tuple[str, ...] | None:
    """Return a path between the two that is open without the arrows out of the sources.

    Nothing is conditioned on, so a path is open if it has no collider: both ends descend from one
    of its nodes. Shortest first, in the order of sources and ends.
    """
    above_ends = {end: _above(graph, end, sources) for end in ends}
    best: tuple[str, ...] | None = None
    for source in sources:
        up = _above(graph, source, sources)
        for down in above_ends.values():
            for top in up:
                # a source has no arrows out of it here, so it is not a common cause
                if top in down and top not in sources:
                    path = (*_joined(up[top][::-1], "<-"), *_joined(down[top], "->")[1:])
                    if best is None or len(path) < len(best):
                        best = path
    return best


def _above(graph: Causes, node: str, cut: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the node and its causes, each with a shortest directed path from it to the node."""
    paths: dict[str, tuple[str, ...]] = {node: (node,)}
    queue = [node]
    for name in queue:
        for cause in graph.parents(name):
            if cause not in paths and cause not in cut:
                paths[cause] = (cause, *paths[name])
                queue.append(cause)
    return paths


def _joined(names: Sequence[str], arrow: str) -> tuple[str, ...]:
    """Put an arrow between names."""
    return tuple(part for name in names for part in (arrow, name))[1:]


def _is_directed(path: Sequence[str]) -> bool:
    """Whether all arrows of a path point to its first node."""
    return "->" not in path[1::2]


def _fails(graph: Causes, name: ConditionName, reason: str, path: tuple[str, ...]) -> Condition:
    """Make a condition that fails, with the path and the arrow into its first node."""
    path = _with_shared_causes(graph, path)
    cause = f"{path[0]} <-> {path[2]}" if path[1] == "<->" else f"{path[2]} -> {path[0]}"
    text = f"{reason}: {' '.join(path)}; the arrow {cause} makes it fail"
    return Condition(name, holds=False, reason=text, path=path)


def _with_shared_causes(graph: Causes, path: tuple[str, ...]) -> tuple[str, ...]:
    """Write the hidden common cause of two neighbours on a path as one arrow between them."""
    shared = getattr(graph, "shared_causes", {})
    for k in range(2, len(path) - 2, 2):
        if path[k] in shared:  # a path without colliders has one node from which all arrows point
            return (*path[: k - 1], "<->", *path[k + 2 :])
    return path


def _do(names: Sequence[str]) -> str:
    """Return the verb for one name or several."""
    return "does" if len(names) == 1 else "do"
