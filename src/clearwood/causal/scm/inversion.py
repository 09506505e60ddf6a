"""Noise recovered from values: an equation is solved for its noise, exactly or as an interval."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.causal.scm.expression import (
    Apply,
    Choice,
    Choose,
    Expression,
    Lookup,
    Noise,
    Number,
    Values,
    no_noise,
    noise_in,
)

__all__ = ["Inversion", "inversion_of", "noise_between", "not_invertible"]

Ends = tuple[Floats, Floats]

#: Functions that rise strictly, with what undoes them.
_RISING: Mapping[str, Callable[[Any], Any]] = {
    "exp": np.log,
    "expm1": np.log1p,
    "log": np.exp,
    "log1p": np.expm1,
    "sqrt": np.square,
    "tanh": np.arctanh,
    "expit": lambda p: np.log(p) - np.log1p(-p),
    "logit": lambda x: 1 / (1 + np.exp(-x)),
}
#: The values that rising functions take: outside of them there is nothing to undo.
_RANGES: Mapping[str, tuple[float, float]] = {
    "exp": (0.0, np.inf),
    "expm1": (-1.0, np.inf),
    "sqrt": (0.0, np.inf),
    "tanh": (-1.0, 1.0),
    "expit": (0.0, 1.0),
}
_STEPS = ("round", "floor", "ceil")
_LIMITS = ("maximum", "minimum", "clip")


class Inversion(StrEnum):
    """How the noise of a column is recovered for a counterfactual."""

    KEPT = "kept as observed"
    SET = "set"
    DETERMINISTIC = "follows without noise"
    EXACT = "exact"
    DRAWN = "drawn within what rounding or limits leave open"
    MONOTONE = "assuming monotone noise"


def not_invertible(expression: Expression) -> str | None:
    """Return why an equation cannot be solved for its noise; None where it can."""
    terms = list(noise_in(expression))
    if len(terms) > 1:
        return f"it has {len(terms)} noise terms, and one value does not determine both"
    return _obstacle(expression) if terms else None


def inversion_of(expression: Expression) -> Inversion:
    """Return how the noise of an equation that can be solved for it is recovered."""
    terms = list(noise_in(expression))
    if not terms:
        return Inversion.DETERMINISTIC
    (noise,) = terms
    if isinstance(noise, Choice) or noise.distribution.is_discrete:
        return Inversion.MONOTONE
    if noise.distribution.standard is None and not all(map(_is_constant, noise.arguments)):
        return Inversion.MONOTONE
    return Inversion.DRAWN if _hides(expression) else Inversion.EXACT


def _is_constant(expression: Expression) -> bool:
    """Whether an expression is the same in all rows."""
    if isinstance(expression, Number):
        return True
    return isinstance(expression, Apply) and all(map(_is_constant, expression.parts))


def _has_noise(expression: Expression) -> bool:
    return any(True for _ in noise_in(expression))


def _noisy(expression: Expression) -> int:
    """Return which part holds the noise."""
    return next(k for k, part in enumerate(expression.parts) if _has_noise(part))


def _hides(expression: Expression) -> bool:
    """Whether several values of the noise can give one value of the column."""
    if isinstance(expression, Noise | Choice):
        return False
    if isinstance(expression, Choose | Lookup):
        return True
    if isinstance(expression, Apply) and expression.function in (*_STEPS, *_LIMITS):
        return True
    return _hides(expression.parts[_noisy(expression)])


def _obstacle(expression: Expression) -> str | None:
    """Return what on the way to the noise cannot be undone."""
    if isinstance(expression, Noise | Choice):
        return None
    at = _noisy(expression)
    part = expression.parts[at]
    if isinstance(expression, Choose) and part is expression.test:
        return "its noise decides between two expressions"
    if isinstance(expression, Apply):
        name = expression.function
        if name == "/" and at == 1:
            return "it divides by its noise"
        if name == "**" and (at == 1 or not _is_odd(expression.arguments[1])):
            return "it raises its noise to a power that is not odd, or something to its noise"
        known = ("+", "-", "*", "/", "**", "negative", *_RISING, *_STEPS, *_LIMITS)
        if name not in known:
            return f"{name} of its noise is not monotone"
        if name == "clip" and at != 0:
            return "its noise is a limit of clip"
    return _obstacle(part)


def _is_odd(exponent: Expression) -> bool:
    return isinstance(exponent, Number) and exponent.number > 0 and exponent.number % 2 == 1


def noise_between(
    expression: Expression, low: Floats, high: Floats, values: Values
) -> tuple[Noise | Choice, Floats, Floats]:
    """Solve an equation for its noise: the ends between which it lies, given those of the value.

    The equation must be one that `not_invertible` has nothing against.

    Examples
    --------
    >>> twice = Apply("*", (Number(2.0), Noise("normal", (Number(0.0), Number(1.0)))))
    >>> noise_between(twice, np.array([4.0]), np.array([4.0]), {})[1:]
    (array([2.]), array([2.]))
    """
    while not isinstance(expression, Noise | Choice):
        at = _noisy(expression)
        with np.errstate(all="ignore"):
            others = [
                None if k == at else part.value(values, no_noise)
                for k, part in enumerate(expression.parts)
            ]
            low, high = _undone(expression, at, others, (low, high), values)
        expression = expression.parts[at]
    return expression, low, high


def _undone(expression: Expression, at: int, others: list[Any], ends: Ends, values: Values) -> Ends:
    """Return the ends of one part, given those of the whole and the other parts."""
    low, high = ends
    if isinstance(expression, Choose):
        test = np.asarray(expression.test.value(values, no_noise), bool)
        return _where(test if expression.parts[at] is expression.yes else ~test, ends)
    if isinstance(expression, Lookup):
        return _where(values[expression.name] == at, ends)
    assert isinstance(expression, Apply)
    name = expression.function
    if name == "negative":
        return -high, -low
    if name in _RISING:
        first, last = _RANGES.get(name, (-np.inf, np.inf))
        undo = _RISING[name]
        return undo(np.clip(low, first, last)), undo(np.clip(high, first, last))
    if name in _STEPS:
        return _unrounded(name, others, ends)
    if name in _LIMITS:
        return _unlimited(name, at, others, ends)
    if name == "**":
        power = expression.arguments[1]
        assert isinstance(power, Number)
        root = 1 / power.number
        return np.sign(low) * np.abs(low) ** root, np.sign(high) * np.abs(high) ** root
    return _unmoved(name, at, others[1 - at], ends)


def _where(active: Any, ends: Ends) -> Ends:
    """Return the ends where a part is used; anything elsewhere."""
    low, high = ends
    return np.where(active, low, -np.inf), np.where(active, high, np.inf)


def _unmoved(name: str, at: int, other: Any, ends: Ends) -> Ends:
    """Undo arithmetic with something known."""
    low, high = ends
    if name == "+":
        return low - other, high - other
    if name == "-":
        return (low + other, high + other) if at == 0 else (other - high, other - low)
    first, second = (low / other, high / other) if name == "*" else (low * other, high * other)
    ordered = np.where(other < 0, second, first), np.where(other < 0, first, second)
    # times zero: the noise leaves no trace
    return _where(other != 0, ordered)


def _unrounded(name: str, others: list[Any], ends: Ends) -> Ends:
    low, high = ends
    if name == "floor":
        return low, high + 1
    if name == "ceil":
        return low - 1, high
    digits = float(others[1]) if len(others) == 2 else 0.0
    half = 0.5 * 10.0**-digits
    return low - half, high + half


def _unlimited(name: str, at: int, others: list[Any], ends: Ends) -> Ends:
    low, high = ends
    if name == "maximum":
        return np.where(low <= others[1 - at], -np.inf, low), high
    if name == "minimum":
        return low, np.where(high >= others[1 - at], np.inf, high)
    return np.where(low <= others[1], -np.inf, low), np.where(high >= others[2], np.inf, high)
