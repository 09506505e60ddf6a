"""The shape of an effect: its turning points within the supported range, and a sentence of them."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.numbers import cell, count, number, percent
from clearwood.explanation.results.about import rows_used

if TYPE_CHECKING:
    from clearwood.explanation.results.effect import Effect

__all__ = ["Shape", "sentence_of", "shape_of"]

Trend = Literal["flat", "rises", "falls", "peaks", "dips", "varies", "levels"]

# A move against the trend of less than this share of the curve's span is not a turning point; one
# of less than the second share is not mentioned.
_TURNS, _MENTIONED = 0.05, 0.01
# Levels rarer than this are not named.
_RARE = 0.01
# With more moves than this, a sentence names the extremes instead.
_MOST_MOVES = 4

_SUBJECTS = {
    "marginal": "the average prediction of the rows with the value",
    "ale": "the accumulated local effect",
    "supported_pdp": "the average prediction where data lie",
    "component": "the main effect",
}


@dataclass(frozen=True)
class Shape:
    """What a curve does, at which values of the column, and what is left out of that.

    Parameters
    ----------
    trend
        "rises", "falls", "peaks" (up, then down), "dips" (down, then up), "varies" (more turns),
        "flat", or "levels" for a column without an order.
    at
        The values of the column that describe the curve: both ends of the supported range and the
        turning points between them; for levels the lowest and the highest.
    values
        The effect there.
    low, high
        The least and the largest effect within the range.
    is_ordered
        Whether the values of the column lie on an axis.
    reversal
        The largest move against the trend that is too small for a turning point.
    n_below, n_above, n_between
        Values of the grid that are left out because the method relies on rows outside the data
        there: before the range, after it and within it. For levels, all are "between".
    n_empty
        Values of the grid that are left out because no rows lie there.
    n_rare
        Levels that are left out because they are rare.
    missing
        The effect where the column is missing; None where it never is.
    is_within
        Whether the range is supported. If fewer than two values of the grid are, it is the whole
        grid, and nothing is left out.
    """

    trend: Trend
    at: tuple[Any, ...]
    values: tuple[float, ...]
    low: float = 0.0
    high: float = 0.0
    is_ordered: bool = True
    reversal: float = 0.0
    n_below: int = 0
    n_above: int = 0
    n_between: int = 0
    n_empty: int = 0
    n_rare: int = 0
    missing: float | None = None
    is_within: bool = True

    @property
    def span(self) -> float:
        """How far the effect reaches from its least to its largest value."""
        return self.high - self.low


def shape_of(effect: "Effect", *, output: int = -1, negligible: float = 0.0) -> Shape:
    """Describe the effect of one column.

    Parameters
    ----------
    effect
        Of one column.
    output
        Which of several outputs, by position; the last by default.
    negligible
        Effects that span less are called flat, and moves of less than half of it no turn.

    Examples
    --------
    >>> import clearwood as cw
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> shape = shape_of(cw.effect(lambda X: 1 - X[:, 0] ** 2, X, "x0", points=21))
    >>> shape.trend, round(float(shape.at[1]), 1) + 0.0
    ('peaks', 0.0)
    """
    grid = effect.grid[0]
    values = effect.values.reshape(len(grid), -1)[:, output]
    is_missing = _absent(grid)
    known = np.isfinite(values) & ~is_missing
    inside = known & ~effect.extrapolates
    is_within = bool(inside.sum() >= min(2, known.sum()))
    kept = inside if is_within else known
    absent = values[is_missing]
    common: dict[str, Any] = {
        "n_empty": int((~np.isfinite(values) & ~is_missing).sum()),
        "missing": float(absent[0]) if len(absent) and np.isfinite(absent[0]) else None,
        "is_within": is_within,
        "is_ordered": effect.is_ordered[0],
    }
    left_out = np.flatnonzero(known & ~kept)
    if not effect.is_ordered[0]:
        frequent = kept & (effect.shares >= _RARE)
        is_enough = frequent.sum() > 1
        shown = np.flatnonzero(frequent if is_enough else kept)
        order = shown[np.argsort(values[shown], kind="stable")][[0, -1]] if len(shown) else shown
        common |= {
            "low": float(values[order[0]]) if len(order) else 0.0,
            "high": float(values[order[-1]]) if len(order) else 0.0,
            "n_between": len(left_out),
            "n_rare": int((kept & ~frequent).sum()) if is_enough else 0,
        }
        return _shape("levels", grid, values, order, negligible, common)
    place = np.flatnonzero(kept)
    if len(place):
        common |= {
            "n_below": int((left_out < place[0]).sum()),
            "n_above": int((left_out > place[-1]).sum()),
            "n_between": int(((left_out > place[0]) & (left_out < place[-1])).sum()),
        }
        span = float(np.ptp(values[place]))
        tolerance = max(_TURNS * span, min(negligible, span) / 2)
        common |= {"low": float(values[place].min()), "high": float(values[place].max())}
        turns = turning_points(values[place], tolerance)
        common["reversal"] = _reversal(values[place], turns)
        place = place[turns]
    return _shape(_trend(values[place]), grid, values, place, negligible, common)


def _absent(grid: NDArray[Any]) -> Bools:
    return np.array([value is None or bool(value != value) for value in grid], dtype=bool)


def _shape(
    trend: Trend,
    grid: NDArray[Any],
    values: Floats,
    place: Index,
    negligible: float,
    common: dict[str, Any],
) -> Shape:
    if not len(place):
        return Shape("flat", (None,), (0.0,), **common)
    if common["high"] - common["low"] <= negligible:
        trend = "flat"
    at = tuple(grid[k] for k in place)
    return Shape(trend, at, tuple(float(values[k]) for k in place), **common)


def turning_points(values: Floats, tolerance: float) -> Index:
    """Return the positions of both ends and of the extremes at which a curve turns.

    It turns where it then moves the other way by more than the tolerance.

    Examples
    --------
    >>> turning_points(np.array([2.0, 1.0, 5.0, 4.9, 6.0]), 0.5)
    array([0, 1, 4])
    """
    turns, low, high, direction = [0], 0, 0, 0
    for k, value in enumerate(values):
        if direction >= 0 and value > values[high]:
            high = k
        if direction <= 0 and value < values[low]:
            low = k
        if direction >= 0 and values[high] - value > tolerance:
            # before the first move there is no direction, and the curve starts at its end
            turns += [high] if direction else []
            direction, low = -1, k
        elif direction <= 0 and value - values[low] > tolerance:
            turns += [low] if direction else []
            direction, high = 1, k
    return np.array([*turns, len(values) - 1] if len(values) > 1 else turns, np.intp)


def _reversal(values: Floats, turns: Index) -> float:
    """Return the largest move against the direction between turning points."""
    largest = 0.0
    for first, last in pairwise(turns):
        part = values[first : last + 1]
        part = part if part[-1] >= part[0] else -part
        largest = max(largest, float((np.maximum.accumulate(part) - part).max()))
    return largest


def _trend(values: Floats) -> Trend:
    is_up = [bool(step > 0) for step in np.diff(values)]
    known: dict[tuple[bool, ...], Trend] = {
        (True,): "rises",
        (False,): "falls",
        (True, False): "peaks",
        (False, True): "dips",
    }
    return known.get(tuple(is_up), "varies")


# In words


def sentence_of(
    effect: "Effect",
    *,
    output: int | None = None,
    negligible: float = 0.0,
    subject: str | None = None,
    column: str | None = None,
    write: Callable[[float], str] | None = None,
    write_value: Callable[[Any], str] | None = None,
) -> str:
    """Describe the effect of one column in a sentence, without a capital and a full stop.

    It has the turning points within the supported range, and names what is left out of it.

    Parameters
    ----------
    effect
        Of one column.
    output
        Which of several outputs, by position; the one that changes most when None.
    negligible
        As for `shape_of`.
    subject, column
        What changes, and what the column is called; by default as in the effect.
    write, write_value
        How an effect and a value of the column are written.

    Examples
    --------
    >>> import clearwood as cw
    >>> X = np.linspace(0, 10, 50)[:, None]
    >>> sentence_of(cw.effect(lambda X: (X[:, 0] - 2) ** 2, X, "x0", grid=[0, 2, 10]))
    'the average prediction falls from 4 at x0 = 0 to 0 at 2, then rises to 64 at 10'
    """
    if output is None:
        values = effect.values.reshape(len(effect.grid[0]), -1)
        output = int(np.argmax(np.nanmax(values, axis=0) - np.nanmin(values, axis=0)))
    shape = shape_of(effect, output=output, negligible=negligible)
    column = effect.columns[0] if column is None else column
    if write is None:
        write = percent if effect.unit.is_probability and not effect.centred else number
    write_value = _value if write_value is None else write_value
    if subject is None:
        subject = _SUBJECTS.get(effect.kind, "the average prediction")
        if len(effect.outputs) > 1 or effect.unit.is_probability:
            subject += f" of {effect.outputs[output]!r}"
    text = f"{subject} {_move_words(shape, column, write, write_value)}"
    notes = _left_out(shape, column, write, write_value)
    if effect.n_data is not None:
        notes.append(f"averaged over {rows_used(effect.n_rows, effect.n_data)}")
    return "; ".join([text, *notes])


def _value(value: Any) -> str:
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[D]"))
    if isinstance(value, int | float | np.number):
        return cell(float(value))
    return repr(str(value))


def _move_words(
    shape: Shape, column: str, write: Callable[[float], str], write_value: Callable[[Any], str]
) -> str:
    values, at = [write(value) for value in shape.values], [write_value(v) for v in shape.at]
    lowest, highest = int(np.argmin(shape.values)), int(np.argmax(shape.values))
    low, high = write(shape.low), write(shape.high)
    if shape.trend == "flat" or low == high:
        text = f"hardly changes with {column} by itself"
        between = low if low == high else f"{low} to {high}"
        where = f", from {at[0]} to {at[-1]}" if shape.is_ordered else ""
        return text if len(at) < 2 else f"{text} ({between}{where})"
    if shape.trend == "levels":
        return (
            f"is lowest for {column} = {at[0]} ({values[0]}) and highest for {at[-1]} "
            f"({values[-1]})"
        )
    verbs = ["rises" if step > 0 else "falls" for step in np.diff(shape.values)]
    reversal = ""
    if shape.reversal > _MENTIONED * shape.span:
        reversal = f", with moves of up to {write(shape.reversal)} the other way"
    if len(verbs) > _MOST_MOVES:
        return (
            f"changes direction {len(verbs) - 1} times between {column} = {at[0]} ({values[0]}) "
            f"and {at[-1]} ({values[-1]}): it is lowest at {at[lowest]} ({values[lowest]}) and "
            f"highest at {at[highest]} ({values[highest]}){reversal}"
        )
    moves = [f"{verbs[0]} from {values[0]} at {column} = {at[0]} to {values[1]} at {at[1]}"]
    moves += [f"{verb} to {values[k]} at {at[k]}" for k, verb in enumerate(verbs[1:], start=2)]
    last = f", then {moves[-1]}" if len(moves) > 1 else ""
    return f"{', '.join(moves[:-1]) if last else moves[0]}{last}{reversal}"


def _left_out(
    shape: Shape, column: str, write: Callable[[float], str], write_value: Callable[[Any], str]
) -> list[str]:
    """Say what a sentence leaves out, and why."""
    notes = []
    if shape.missing is not None:
        notes.append(f"{write(shape.missing)} where {column} is missing")
    ends = [f"below {write_value(shape.at[0])}"] if shape.n_below else []
    ends += [f"above {write_value(shape.at[-1])}"] if shape.n_above else []
    places = [f"values {' and '.join(ends)}"] if ends else []
    if shape.n_between:
        between = count(shape.n_between, "value" if shape.is_ordered else "other level")
        places.append(f"{between}{' in between' if shape.is_ordered else ''}")
    rarely = "on combinations of values that rarely occur"
    if places:
        is_one = not ends and shape.n_between == 1
        relies = "is left out: it relies" if is_one else "are left out: they rely"
        notes.append(f"{' and '.join(places)} {relies} {rarely}")
    if not shape.is_within:
        notes.append(f"all of this relies {rarely}")
    if shape.n_empty:
        notes.append(f"no rows lie at {count(shape.n_empty, 'value')}")
    if shape.n_rare:
        are = "is" if shape.n_rare == 1 else "each are"
        levels = count(shape.n_rare, "level")
        notes.append(f"{levels} with under {percent(_RARE)} of the rows {are} left out")
    return notes
