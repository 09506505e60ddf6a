"""Games in which several columns play as one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._shared.arrays import Index
from clearwood._shared.errors import InputError, did_you_mean
from clearwood.explanation.games.additive import AdditiveGame
from clearwood.explanation.games.game import Game, Players
from clearwood.explanation.games.products import ProductGame
from clearwood.explanation.games.spread import GameSpread
from clearwood.explanation.games.sums import SumGame
from clearwood.explanation.games.terms import TermsGame
from clearwood.explanation.games.trees import TreeGame
from clearwood.explanation.rows.rows import EncodedRows
from clearwood.table import Column, Kind

__all__ = ["PlayerGroups", "grouped", "player_column", "players_of"]


def players_of(
    columns: Sequence[str], groups: Mapping[str, Sequence[str]] | None
) -> tuple[tuple[str, ...], tuple[Players, ...]]:
    """Return the players' names and columns; columns in no group play alone.

    Examples
    --------
    >>> players_of(("lat", "age", "lon"), {"place": ["lat", "lon"]})
    (('place', 'age'), ((0, 2), (1,)))
    """
    known = {name: k for k, name in enumerate(columns)}
    named: dict[str, Players] = {}
    owner: dict[int, str] = {}
    for name, members in (groups or {}).items():
        listed: list[Any] = [members] if isinstance(members, str) else list(members)
        if not listed:
            raise InputError(f"the group {name!r} is empty", hint="name its columns.")
        for column in listed:
            if column not in known:
                raise InputError(
                    f"there is no column {column!r}", hint=did_you_mean(str(column), known)
                )
            place = known[column]
            if place in owner:
                raise InputError(
                    f"the column {column!r} is in the groups {owner[place]!r} and {name!r}"
                    if owner[place] != name
                    else f"the column {column!r} is twice in the group {name!r}",
                    hint="each column can play for one group only.",
                )
            owner[place] = str(name)
        named[str(name)] = tuple(known[column] for column in listed)
    alone = {column: (k,) for column, k in known.items() if k not in owner}
    both = sorted(set(alone) & set(named))
    if both:
        raise InputError(
            f"the group {both[0]!r} has the name of a column that is not in it",
            hint="give the group another name.",
        )
    players = sorted({**alone, **named}.items(), key=lambda item: min(item[1]))
    return tuple(name for name, _ in players), tuple(members for _, members in players)


@dataclass(frozen=True, eq=False)
class PlayerGroups:
    """Which columns play together, applied to rows.

    Parameters
    ----------
    names
        The players.
    members
        The columns of each.
    n_outputs
        For additive games, whose codes are summed over the columns of a group: the number of
        outputs. None where codes stay as they are.
    """

    names: tuple[str, ...]
    members: tuple[Players, ...]
    n_outputs: int | None = None

    def applied(self, rows: EncodedRows) -> EncodedRows:
        """Return rows in which each group is one column."""
        columns = tuple(
            player_column(name, [rows.columns[k] for k in own])
            for name, own in zip(self.names, self.members, strict=True)
        )
        if self.n_outputs is None:
            return replace(rows, columns=columns)
        terms = rows.codes.reshape(len(rows), len(rows.columns), self.n_outputs)
        summed = np.stack([terms[:, list(own)].sum(axis=1) for own in self.members], axis=1)
        return replace(rows, columns=columns, codes=summed.reshape(len(rows), -1))


def grouped(game: Game, groups: Mapping[str, Sequence[str]] | None) -> Game | None:
    """Return the same model played by groups of its columns, as for `players_of`.

    Without groups the game stays as it is; None where it cannot be had exactly.
    """
    if groups is None:
        return game
    names, members = players_of(game.columns, groups)
    owner = np.empty(len(game.columns), np.intp)
    for player, columns in enumerate(members):
        owner[list(columns)] = player
    grouping = PlayerGroups(names, members)
    if isinstance(game, TreeGame | ProductGame | SumGame):
        return _regrouped(game, names, owner, grouping)
    if isinstance(game, AdditiveGame):
        n_outputs = len(game.outputs)
        return replace(
            game,
            columns=names,
            groups=np.repeat(np.arange(len(names)), n_outputs),
            grouping=replace(grouping, n_outputs=n_outputs),
        )
    if isinstance(game, TermsGame):
        terms = tuple(
            replace(
                term,
                players=tuple(sorted({int(owner[player]) for player in term.players})),
                owner=tuple(int(owner[player]) for player in term.owner),
            )
            for term in game.terms
        )
        return replace(
            game, columns=names, groups=owner[game.groups], terms=terms, grouping=grouping
        )
    return None


def _regrouped(game: Game, names: tuple[str, ...], owner: Index, grouping: PlayerGroups) -> Game:
    """Return a game whose codes are the model's own columns, with other players."""
    parts: dict[str, Any] = {}
    if isinstance(game, SumGame):
        parts["games"] = tuple(_regrouped(one, names, owner, grouping) for one in game.games)
    if game.spread is not None:
        parts["spread"] = _regrouped_spread(game.spread, names, owner, grouping)
    return replace(game, columns=names, groups=owner[game.groups], grouping=grouping, **parts)


def _regrouped_spread(
    spread: GameSpread, names: tuple[str, ...], owner: Index, grouping: PlayerGroups
) -> GameSpread:
    further = spread.further
    if further is not None:
        further = _regrouped_spread(further, names, owner, grouping)
    return replace(spread, game=_regrouped(spread.game, names, owner, grouping), further=further)


def player_column(name: str, columns: Sequence[Column]) -> Column:
    """Return the user's column; of a group, its values written side by side."""
    if len(columns) == 1:
        own = columns[0]
        return Column(name, own.kind, own.values, own.levels, own.label_type)
    labels = [(column.name, column.labels()) for column in columns]
    written = np.empty(len(columns[0]), object)
    written[:] = [
        ", ".join(f"{column} {values[row]}" for column, values in labels)
        for row in range(len(written))
    ]
    return Column(name, Kind.TEXT, written)
