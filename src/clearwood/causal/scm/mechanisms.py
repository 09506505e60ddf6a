"""How one column follows from its causes: by an equation, or by a function of Python."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import PYTHON, InputError, did_you_mean, spelled, unknown_choice
from clearwood._shared.numbers import count, number
from clearwood.causal.scm.expression import (
    COMPARISONS,
    Apply,
    Choice,
    Expression,
    IsLevel,
    Noise,
    Values,
)
from clearwood.causal.scm.inversion import Inversion, inversion_of, noise_between, not_invertible
from clearwood.causal.scm.parse import ParsedText, quoted
from clearwood.table import Kind

__all__ = [
    "Abducted",
    "Equation",
    "Function",
    "Mechanism",
    "chosen_level",
    "codes_of",
    "function_parents",
    "impossible",
    "level_noise",
]

_DIGITS = ("0", "1")


class Abducted(Protocol):
    """Noise recovered from values."""

    def replay(self, values: Values) -> NDArray[Any]:
        """Compute the column again with this noise and other causes."""


class Mechanism(Protocol):
    """How a column follows from its causes.

    Categories are codes into levels, here and among the values of causes.
    """

    @property
    def parents(self) -> tuple[str, ...]:
        """The direct causes."""

    @property
    def kind(self) -> Kind:
        """What the column holds."""

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of a category."""

    @property
    def text(self) -> str | None:
        """The equation; None for what is not text."""

    @property
    def described(self) -> str:
        """How the column is drawn, in one line."""

    @property
    def inversion(self) -> Inversion | None:
        """How noise is recovered; None where it cannot be."""

    @property
    def obstacle(self) -> str:
        """Why noise cannot be recovered, in words."""

    def draw(self, rng: np.random.Generator, n: int, values: Values) -> NDArray[Any]:
        """Draw the column for rows whose causes are known."""

    def abduct(self, rng: np.random.Generator, observed: Floats, values: Values) -> Abducted:
        """Recover the noise from what was observed."""


def impossible(column: str, rows: Bools, observed: Floats) -> InputError:
    """Make the error for rows that a model cannot give."""
    first = int(np.flatnonzero(rows)[0])
    return InputError(
        f"column {column!r}: {count(int(rows.sum()), 'row')} cannot come from its equation; row "
        f"{first} has {number(float(observed[first]))}",
        parameter="rows",
        value=column,
        hint="give rows that the model can draw, or change the equation.",
    )


@dataclass(frozen=True, eq=False)
class Equation:
    """A column that follows from an equation."""

    name: str
    text: str
    parents: tuple[str, ...]
    expression: Expression

    @classmethod
    def of(cls, parsed: ParsedText, levels: Mapping[str, Sequence[str]]) -> "Equation":
        """Check a parsed equation, given the levels of its causes."""
        return cls(parsed.column, parsed.text, parsed.parents, parsed.expression(levels))

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of a category; 0 and 1 of yes and no."""
        if isinstance(self.expression, Choice):
            return self.expression.levels
        return _DIGITS if self.kind is Kind.YES_NO else ()

    @property
    def described(self) -> str:
        """The equation in one line."""
        return " ".join(self.text.split())

    @cached_property
    def kind(self) -> Kind:
        """What the column holds, by its last step."""
        last = self.expression
        if isinstance(last, Choice):
            return Kind.CATEGORY
        if isinstance(last, Noise):
            if last.name == "bernoulli":
                return Kind.YES_NO
            return Kind.WHOLE if last.distribution.is_discrete else Kind.NUMBER
        if isinstance(last, IsLevel):
            return Kind.YES_NO
        if isinstance(last, Apply):
            if last.function in (*COMPARISONS, "and", "or", "not"):
                return Kind.YES_NO
            if last.function in ("floor", "ceil") or (
                last.function == "round" and len(last.arguments) == 1
            ):
                return Kind.WHOLE
        return Kind.NUMBER

    @cached_property
    def obstacle(self) -> str:
        """Why noise cannot be recovered, in words."""
        return not_invertible(self.expression) or ""

    @property
    def inversion(self) -> Inversion | None:
        """How noise is recovered; None where it cannot be."""
        return None if self.obstacle else inversion_of(self.expression)

    def draw(self, rng: np.random.Generator, n: int, values: Values) -> NDArray[Any]:
        """Draw noise in the order in which it is written."""

        def source(noise: Noise | Choice, values: Values) -> NDArray[Any]:
            if isinstance(noise, Noise):
                drawn: NDArray[Any] = noise.distribution.draw(rng, n, *noise.parameters(values))
                return drawn
            if not noise.weights:
                return rng.integers(0, len(noise.levels), n)
            return chosen_level(noise.cumulative(values), rng.random(n))

        return self.evaluated(values, source, n)

    def evaluated(self, values: Values, source: Any, n: int) -> NDArray[Any]:
        """Evaluate the equation; an error of a distribution names it, and so do odd results."""
        try:
            with np.errstate(all="ignore"):
                drawn = np.broadcast_to(np.asarray(self.expression.value(values, source)), n)
        except InputError as error:
            raise self._error(spelled(error.message, PYTHON)) from None
        bad = ~np.isfinite(drawn)
        if bad.any():
            raise self._error(
                f"the result is not a finite number in {int(bad.sum()):,} of {n:,} rows",
                "look for a division by zero, a log of numbers that are not positive, or powers "
                "that are too large.",
            )
        return drawn

    def _error(self, message: str, hint: str | None = None) -> InputError:
        text = self.described
        shown = repr(text if len(text) <= 80 else text[:77] + "...")
        return InputError(
            f"equation of {self.name!r}, {shown}: {message}",
            parameter="equations",
            value=self.name,
            hint=hint,
        )

    def abduct(self, rng: np.random.Generator, observed: Floats, values: Values) -> Abducted:
        """Solve for the noise; where an interval is left, draw within it."""
        n = len(observed)
        if self.inversion is Inversion.DETERMINISTIC:
            recovered = _Recovered(self, observed, observed, observed, values)
        else:
            noise, low, high = noise_between(self.expression, observed, observed, values)
            low, high = (np.broadcast_to(end, n).astype(np.float64) for end in (low, high))
            if isinstance(noise, Choice):
                uniform = level_noise(self.name, rng, noise.cumulative(values), observed)
                recovered = _Recovered(self, observed, uniform, uniform, values)
            else:
                at = self._abducted(rng, noise, low, high, values, observed)
                recovered = _Recovered(self, *at, values)
        again = recovered.replay(values)
        apart = np.abs(again - observed) > 1e-6 * (1 + np.abs(observed))
        if apart.any() or np.isnan(again).any():
            raise impossible(self.name, apart | np.isnan(again), observed)
        return recovered

    def _abducted(
        self,
        rng: np.random.Generator,
        noise: Noise,
        low: Floats,
        high: Floats,
        values: Values,
        observed: Floats,
    ) -> tuple[Floats, Floats, Floats]:
        """Return noise between two ends and the probabilities up to it and beyond."""
        law, at = noise.distribution, noise.parameters(values)
        possible = law.possible(low, high, at)
        if not possible.all():
            raise impossible(self.name, ~possible, observed)
        up_to, beyond = law.probabilities(low, high, at, rng.random(len(low)))
        drawn = law.quantile(up_to, beyond, at)
        # in the far tails probabilities are zero, and the ends are all that is known
        with np.errstate(invalid="ignore"):  # noise that leaves no trace lies anywhere
            middle = np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2, 0.0)
        drawn = np.clip(np.where(np.isfinite(drawn), drawn, middle), low, high)
        return np.where(low == high, low, drawn), up_to, beyond


def level_noise(name: str, rng: np.random.Generator, up_to: Floats, observed: Floats) -> Floats:
    """Draw numbers between the probabilities up to before the observed level and up to it.

    Levels are taken in the order in which they are listed.
    """
    n = len(observed)
    up_to = np.broadcast_to(up_to, (n, up_to.shape[-1]))
    codes = observed.astype(np.intp)[:, None]
    last = np.take_along_axis(up_to, codes, axis=1)[:, 0]
    before = np.take_along_axis(up_to, np.maximum(codes - 1, 0), axis=1)[:, 0]
    first = np.where(codes[:, 0] == 0, 0.0, before)
    if (last <= first).any():
        raise impossible(name, last <= first, observed)
    uniform = first + (last - first) * rng.random(n)
    # never the end itself, which belongs to the next level
    return np.where(uniform < last, uniform, first)


def chosen_level(up_to: Floats, uniform: Floats) -> NDArray[Any]:
    """Return which level each uniform number falls on."""
    if up_to.ndim == 1:
        return np.searchsorted(up_to, uniform, side="right")
    return np.asarray((up_to <= uniform[:, None]).sum(axis=1))


@dataclass(frozen=True, eq=False)
class _Recovered:
    """The noise of an equation: its value, the probabilities up to it and beyond, its causes."""

    equation: Equation
    value: Floats
    up_to: Floats
    beyond: Floats
    before: Values

    def replay(self, values: Values) -> NDArray[Any]:
        """Compute the equation with this noise and other causes."""
        n = len(self.value)
        return self.equation.evaluated(values, self._noise, n)

    def _noise(self, noise: Noise | Choice, values: Values) -> NDArray[Any]:
        if isinstance(noise, Choice):
            return chosen_level(noise.cumulative(values), self.up_to)
        law = noise.distribution
        old, new = noise.parameters(self.before), noise.parameters(values)
        if law.standard is not None:
            (place, spread), (new_place, new_spread) = law.standard(*old), law.standard(*new)
            moved = new_place + new_spread * ((self.value - place) / spread)
        else:
            moved = law.quantile(self.up_to, self.beyond, new)
        same = np.all(
            [np.broadcast_to(a == b, self.value.shape) for a, b in zip(old, new, strict=True)],
            axis=0,
        )
        return np.where(same, self.value, moved)


@dataclass(frozen=True, eq=False)
class Function:
    """A column that a function of Python draws from its causes.

    The parameters of the function are the names of its causes; ``rng`` is a random generator and
    ``n`` the number of rows. Categories are passed as arrays of texts.
    """

    name: str
    function: Callable[..., Any]
    parents: tuple[str, ...]
    levels: tuple[str, ...]
    levels_of: Mapping[str, tuple[str, ...]]
    wants: tuple[str, ...]
    text = None

    @classmethod
    def of(
        cls,
        name: str,
        function: Callable[..., Any],
        columns: Sequence[str],
        levels: Mapping[str, tuple[str, ...]],
    ) -> "Function":
        """Read the causes off the function's parameters."""
        parents, wants = function_parents(name, function, columns)
        return cls(name, function, parents, levels.get(name, ()), levels, wants)

    @property
    def described(self) -> str:
        """Of which columns it is a function."""
        return f"function of {', '.join(map(quoted, self.parents)) or 'nothing'}"

    @property
    def kind(self) -> Kind:
        """A category where levels are declared, else a number."""
        return Kind.CATEGORY if self.levels else Kind.NUMBER

    @property
    def inversion(self) -> Inversion | None:
        """Only what draws nothing can be computed again."""
        return None if "rng" in self.wants else Inversion.DETERMINISTIC

    @property
    def obstacle(self) -> str:
        """Why noise cannot be recovered, in words."""
        return "" if self.inversion else "it is a function that draws its own noise"

    def draw(self, rng: np.random.Generator, n: int, values: Values) -> NDArray[Any]:
        """Call the function."""
        given: dict[str, Any] = {name: self._labels(name, values[name]) for name in self.parents}
        own = {"rng": rng, "n": n}
        given.update({name: own[name] for name in self.wants})
        return self._checked(self.function(**given), n)

    def _labels(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        levels = self.levels_of.get(name, ())
        return np.array(levels, object)[values.astype(np.intp)] if levels else values

    def _checked(self, drawn: Any, n: int) -> NDArray[Any]:
        array = np.asarray(drawn)
        if array.shape not in ((), (n,)):
            raise self._error(f"it returned the shape {array.shape} for {count(n, 'row')}")
        array = np.broadcast_to(array, n)
        if self.levels:
            return codes_of(self.name, array, self.levels)
        try:
            numbers = array.astype(np.float64)
        except (TypeError, ValueError):
            raise self._error(
                f"it returned {type(array[0]).__name__}, not numbers",
                f"declare its levels: levels={{{self.name!r}: (...)}}.",
            ) from None
        if not np.isfinite(numbers).all():
            raise self._error("it returned numbers that are not finite")
        return numbers

    def _error(self, message: str, hint: str | None = None) -> InputError:
        return InputError(
            f"function of {self.name!r}: {message}",
            parameter="equations",
            value=self.name,
            hint=hint,
        )

    def abduct(self, rng: np.random.Generator, observed: Floats, values: Values) -> Abducted:
        """Check that the function gives what was observed; it has no noise."""
        again = self.draw(rng, len(observed), values)
        apart = np.abs(again - observed) > 1e-6 * (1 + np.abs(observed))
        if apart.any():
            raise impossible(self.name, apart, observed)
        return _Again(self)


@dataclass(frozen=True, eq=False)
class _Again:
    """A function without noise."""

    function: Function

    def replay(self, values: Values) -> NDArray[Any]:
        """Call the function with other causes."""
        n = len(next(iter(values.values())))
        return self.function.draw(np.random.default_rng(0), n, values)


def codes_of(name: str, labels: NDArray[Any], levels: Sequence[str]) -> NDArray[Any]:
    """Return the codes of labels; the error for an unknown one names the nearest."""
    places = {level: k for k, level in enumerate(levels)}
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64)  # levels that are written as whole numbers
    distinct, which = np.unique(labels.astype(str), return_inverse=True)
    for label in distinct:
        if label not in places:
            raise unknown_choice(name, str(label), levels)
    return np.array([places[label] for label in distinct], np.intp)[which].reshape(labels.shape)


def function_parents(
    name: str, function: Callable[..., Any], columns: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the causes that a function's parameters name, and which of rng and n it takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if len(names) < len(list(parameters)) or not names:
        raise InputError(
            f"function of {name!r}: its parameters must be names of columns, rng or n",
            parameter="equations",
            value=name,
            hint="write, for instance, lambda age, rng, n: 2 * age + rng.normal(0, 1, n).",
        )
    wants = tuple(p for p in names if p in ("rng", "n") and p not in columns)
    parents = tuple(p for p in names if p not in wants)
    for parent in parents:
        if parent not in columns:
            raise InputError(
                f"function of {name!r}: there is no column {parent!r}",
                parameter="equations",
                value=name,
                hint=did_you_mean(parent, columns),
            )
        if parent == name:
            raise InputError(
                f"function of {name!r}: {name!r} depends on itself: {name} -> {name}",
                parameter="equations",
                value=name,
            )
    return parents, wants
