"""Models that add up tables of one and two columns, as explainable boosting machines do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood.explanation import TermsGame
from clearwood.reporting.browser.columns import (
    NotCarriedError,
    Probe,
    limits,
    mixed_rows,
    widened,
)
from clearwood.reporting.browser.hints import known_cuts
from clearwood.reporting.page.pack import plain_numbers
from clearwood.table import NUMERIC, Column, Kind, Table

__all__ = ["tables_in_page"]

_CHECKED_ROWS = 300


def tables_in_page(probe: Probe, *, model: Any = None, seed: int) -> dict[str, Any]:
    """Return a model that adds up tables of one and two columns.

    ``axes``: the player of each, where its values lie in the tables (``levels``, the place of
    each; or ``cuts``, the values from which the next of ``places`` begins) and ``missing``.
    ``terms``: the axes of each table and its numbers, the last axis being the outputs.
    """
    game = probe.game
    assert isinstance(game, TermsGame)
    axes = _axes(probe, known_cuts(model, probe))
    for table in (probe.table, mixed_rows(probe, _CHECKED_ROWS, seed)):
        _check_places(probe, axes, table)
    terms = [
        {
            "axes": list(term.at),
            "shape": list(term.table.shape),
            "table": plain_numbers(term.table.ravel()),
        }
        for term in game.terms
    ]
    return {
        "kind": "tables",
        "columns": [
            {"missing": None if k in probe.refuses_missing else []}
            for k in range(len(probe.columns))
        ],
        "axes": axes,
        "terms": terms,
        "constant": plain_numbers(game.constant),
    }


def _axes(probe: Probe, hints: Mapping[int, Sequence[float]]) -> list[dict[str, Any]]:
    groups = np.asarray(probe.game.groups)
    columns = probe.columns
    coded = {k: range(len(c.levels)) for k, c in enumerate(columns) if c.is_coded and c.levels}
    levels = probe.at(coded)
    numbers = [
        k
        for k in np.unique(groups).tolist()
        if columns[k].kind in NUMERIC and not columns[k].missing.all()
    ]
    if any(columns[k].kind is Kind.DATE for k in np.unique(groups)):
        raise NotCarriedError("the page does not carry tables of dates")
    cuts = _cuts(probe, numbers, hints)
    absent = probe.at({k: [None] for k in range(len(columns)) if k not in probe.refuses_missing})[0]
    axes = []
    for axis, k in enumerate(groups.tolist()):
        entry: dict[str, Any] = {"player": k}
        entry["missing"] = None if k in probe.refuses_missing else int(absent[axis])
        if columns[k].is_coded:
            entry["levels"] = levels[: len(columns[k].levels), axis].astype(int).tolist()
        elif axis in cuts:
            entry["cuts"], entry["places"] = cuts[axis]
        else:
            entry["cuts"], entry["places"] = [], [int(absent[axis])]
        axes.append(entry)
    return axes


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Part of a column, and its places in the tables at both ends."""

    low: float
    high: float
    before: tuple[int, ...]
    after: tuple[int, ...]


def _cuts(
    probe: Probe, players: Sequence[int], hints: Mapping[int, Sequence[float]]
) -> dict[int, tuple[list[float], list[int]]]:
    """Find where the place in a table changes, to the last bit, all columns in one go."""
    groups = np.asarray(probe.game.groups)
    axes = {k: np.flatnonzero(groups == k) for k in players}

    def places(values: dict[int, list[float]]) -> dict[int, list[tuple[int, ...]]]:
        codes = probe.at(values).astype(np.intp)
        return {
            k: list(map(tuple, codes[: len(own), axes[k]].tolist())) for k, own in values.items()
        }

    grids = {k: _grid(probe.columns[k], hints.get(k, ())) for k in players}
    at = places(grids) if players else {}
    todo = {
        k: [
            _Stretch(*ends) for ends in zip(grid[:-1], grid[1:], at[k][:-1], at[k][1:], strict=True)
        ]
        for k, grid in grids.items()
    }
    steps: dict[int, list[_Stretch]] = {k: [] for k in players}
    while any(todo.values()):
        halves: dict[int, list[_Stretch]] = {}
        for k, stretches in todo.items():
            for one in stretches:
                if one.before == one.after:
                    continue
                middle = one.low / 2 + one.high / 2
                wanted = halves.setdefault(k, []) if one.low < middle < one.high else steps[k]
                wanted.append(one)
        middles = {k: [one.low / 2 + one.high / 2 for one in own] for k, own in halves.items()}
        between = places(middles) if middles else {}
        todo = {
            k: [
                half
                for one, x, place in zip(own, middles[k], between[k], strict=True)
                for half in (
                    _Stretch(one.low, x, one.before, place),
                    _Stretch(x, one.high, place, one.after),
                )
            ]
            for k, own in halves.items()
        }
    return {
        int(axis): _stairs(sorted(steps[k], key=lambda one: one.high), j, at[k][0])
        for k in players
        for j, axis in enumerate(axes[k])
    }


def _grid(column: Column, cuts: Sequence[float]) -> list[float]:
    """Return values to begin with; a cut that is known is there with the double before it."""
    known = column.values[~np.isnan(column.values)]
    beyond = [*widened(*limits(column)), -1e300, 1e300]
    grid: list[float] = np.unique(
        np.concatenate([known, beyond, cuts, np.nextafter(cuts, -np.inf)])
    ).tolist()
    return grid


def _stairs(
    steps: Sequence[_Stretch], j: int, first: tuple[int, ...]
) -> tuple[list[float], list[int]]:
    """Return the values at which the place on one axis changes, and the places between them."""
    own = [one for one in steps if one.before[j] != one.after[j]]
    return [one.high for one in own], [first[j], *(one.after[j] for one in own)]


def _check_places(probe: Probe, axes: list[dict[str, Any]], table: Table) -> None:
    own = probe.of(table)
    for at, axis in enumerate(axes):
        column = table.column(probe.columns[axis["player"]].name)
        gaps = column.missing
        mine = np.full(len(column), -1 if axis["missing"] is None else axis["missing"])
        if column.is_coded:
            mine[~gaps] = np.array([*axis["levels"], -1])[column.values[~gaps]]
        else:
            place = np.searchsorted(np.array(axis["cuts"]), column.values[~gaps], side="right")
            mine[~gaps] = np.array(axis["places"])[place]
        if not np.array_equal(mine, own[:, at]):
            raise NotCarriedError(
                f"where values of the column {column.name!r} lie in the model's tables could not "
                "be repeated"
            )
