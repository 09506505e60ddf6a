"""Parsed equations: trees of numbers, columns, allowed functions and noise, evaluated by row."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError
from clearwood.causal.scm.noise import DISTRIBUTIONS, Distribution

__all__ = [
    "COMPARISONS",
    "FUNCTIONS",
    "OPERATORS",
    "Apply",
    "Choice",
    "Choose",
    "Expression",
    "IsLevel",
    "Lookup",
    "Noise",
    "Number",
    "Source",
    "Values",
    "Variable",
    "no_noise",
    "noise_in",
]

Numbers = NDArray[Any]
Values = Mapping[str, Numbers]
#: From noise and its parameters at the rows to one value of noise for each row.
Source = Callable[["Noise | Choice", Values], Numbers]


def _rounded(x: Any, digits: Any = 0.0) -> Any:
    """Round to digits."""
    return np.round(x, int(digits))


def _expit(x: Any) -> Any:
    """Compute the inverse of the log odds."""
    from scipy.special import expit

    return expit(x)


def _logit(x: Any) -> Any:
    """Compute the log odds."""
    from scipy.special import logit

    return logit(x)


#: The functions that equations may call, with how many arguments each takes.
FUNCTIONS: Mapping[str, tuple[Callable[..., Any], int, int]] = {
    "exp": (np.exp, 1, 1),
    "expm1": (np.expm1, 1, 1),
    "log": (np.log, 1, 1),
    "log1p": (np.log1p, 1, 1),
    "sqrt": (np.sqrt, 1, 1),
    "abs": (np.abs, 1, 1),
    "sign": (np.sign, 1, 1),
    "sin": (np.sin, 1, 1),
    "cos": (np.cos, 1, 1),
    "tanh": (np.tanh, 1, 1),
    "expit": (_expit, 1, 1),
    "logit": (_logit, 1, 1),
    "floor": (np.floor, 1, 1),
    "ceil": (np.ceil, 1, 1),
    "round": (_rounded, 1, 2),
    "maximum": (np.maximum, 2, 2),
    "minimum": (np.minimum, 2, 2),
    "clip": (lambda x, low, high: np.minimum(np.maximum(x, low), high), 3, 3),
}

OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
    "negative": np.negative,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
}
COMPARISONS: Mapping[str, Callable[..., Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
_APPLIED = {**OPERATORS, **COMPARISONS, **{name: entry[0] for name, entry in FUNCTIONS.items()}}


class Expression:
    """A part of an equation."""

    @property
    def parts(self) -> tuple["Expression", ...]:
        """The parts it is made of, in the order in which they are written."""
        return ()

    def value(self, values: Values, source: Source) -> Any:
        """Compute it at rows; noise comes from the source, in the order in which it is written."""
        raise NotImplementedError


@dataclass(frozen=True)
class Number(Expression):
    """A number."""

    number: float

    def value(self, values: Values, source: Source) -> Any:  # noqa: ARG002 - one signature
        """Return it."""
        return np.float64(self.number)


@dataclass(frozen=True)
class Variable(Expression):
    """A column."""

    name: str

    def value(self, values: Values, source: Source) -> Any:  # noqa: ARG002 - one signature
        """Return the column."""
        return values[self.name]


@dataclass(frozen=True)
class IsLevel(Expression):
    """Whether a category has one of some levels: 1 or 0."""

    name: str
    codes: tuple[int, ...]
    is_negated: bool = False

    def value(self, values: Values, source: Source) -> Any:  # noqa: ARG002 - one signature
        """Compare codes."""
        if len(self.codes) == 1:
            return (values[self.name] == self.codes[0]) != self.is_negated
        return np.isin(values[self.name], self.codes, invert=self.is_negated)


@dataclass(frozen=True)
class Lookup(Expression):
    """A number for each level of a category."""

    name: str
    options: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The numbers."""
        return self.options

    def value(self, values: Values, source: Source) -> Any:
        """Choose by code."""
        codes = values[self.name].astype(np.intp)
        options = [option.value(values, source) for option in self.options]
        if all(np.ndim(option) == 0 for option in options):
            return np.array(options, np.float64)[codes]
        table = np.stack([np.broadcast_to(option, codes.shape) for option in options])
        return np.take_along_axis(table, codes[None], axis=0)[0]


@dataclass(frozen=True)
class Apply(Expression):
    """An operator, a comparison or an allowed function, applied to its arguments."""

    function: str
    arguments: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.arguments

    def value(self, values: Values, source: Source) -> Any:
        """Apply the function."""
        arguments = [part.value(values, source) for part in self.arguments]
        if self.function in OPERATORS or self.function in FUNCTIONS:
            # truth values are numbers in arithmetic
            arguments = [a + 0.0 if np.asarray(a).dtype == bool else a for a in arguments]
        return _APPLIED[self.function](*arguments)


@dataclass(frozen=True)
class Choose(Expression):
    """One expression where a test holds and another one elsewhere."""

    test: Expression
    yes: Expression
    no: Expression
    #: The order in which they are written: "a if test else b", or "where(test, a, b)".
    is_test_first: bool

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The test and both expressions."""
        if self.is_test_first:
            return (self.test, self.yes, self.no)
        return (self.yes, self.test, self.no)

    def value(self, values: Values, source: Source) -> Any:
        """Compute both and choose."""
        if self.is_test_first:
            test, yes, no = (part.value(values, source) for part in self.parts)
        else:
            yes, test, no = (part.value(values, source) for part in self.parts)
        return np.where(test, yes, no)


@dataclass(frozen=True)
class Noise(Expression):
    """A draw from a distribution."""

    name: str
    arguments: tuple[Expression, ...]

    @property
    def distribution(self) -> Distribution:
        """What is drawn from."""
        return DISTRIBUTIONS[self.name]

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The parameters."""
        return self.arguments

    def value(self, values: Values, source: Source) -> Any:
        """Draw."""
        return source(self, values)

    def parameters(self, values: Values) -> list[Any]:
        """Compute the parameters at rows, and refuse those that the distribution cannot have."""
        at = [part.value(values, no_noise) for part in self.arguments]
        distribution = self.distribution
        with np.errstate(all="ignore"):
            valid = distribution.valid(*at)
        if not np.all(valid):
            listed = ", ".join(distribution.parameters)
            raise InputError(f"{self.name}({listed}): {distribution.expected}")
        return at


@dataclass(frozen=True)
class Choice(Expression):
    """A level of a category, drawn with weights; equally likely where there are none."""

    levels: tuple[str, ...]
    weights: tuple[Expression, ...] = ()

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The weights."""
        return self.weights

    def value(self, values: Values, source: Source) -> Any:
        """Draw."""
        return source(self, values)

    def cumulative(self, values: Values) -> Floats:
        """Compute the probability up to each level: (levels,) or (rows, levels)."""
        if not self.weights:
            return np.arange(1, len(self.levels) + 1) / len(self.levels)
        parts = [np.asarray(part.value(values, no_noise), np.float64) for part in self.weights]
        weights = np.stack(np.broadcast_arrays(*parts), axis=-1)
        total = weights.sum(axis=-1, keepdims=True)
        if not (np.isfinite(weights).all() and (weights >= 0).all() and (total > 0).all()):
            raise InputError("choice: weights must not be negative, and one must be positive")
        up_to = weights.cumsum(axis=-1)
        return np.asarray(up_to / up_to[..., -1:])


def no_noise(_noise: "Noise | Choice", _values: Values) -> Numbers:
    """Refuse noise where there must be none."""
    raise AssertionError("the parameters of a distribution hold no noise")


def noise_in(expression: Expression) -> Iterator["Noise | Choice"]:
    """Yield the noise of an expression, in the order in which it is drawn."""
    if isinstance(expression, Noise | Choice):
        yield expression
    for part in expression.parts:
        yield from noise_in(part)
