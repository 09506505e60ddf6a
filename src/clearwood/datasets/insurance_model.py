"""The structural causal model of the simulated motor portfolio."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import (
    InputError,
    Option,
    bad_value,
    did_you_mean,
    unknown_choice,
    words,
)
from clearwood.datasets.true_effect import TrueEffect, average_natural_direct_effect
from clearwood.table import Column, Kind, Role, Table, Task

__all__ = ["FEATURES", "InsuranceModel", "Target"]

Target = Literal["accidents", "claim_amount"]
Values = Mapping[str, NDArray[Any]]

_GENDERS = ("female", "male")
_REGIONS = ("city", "suburb", "town", "village")
_REGION_SHARES = (0.35, 0.30, 0.20, 0.15)
_REGION_RATE = np.array([0.4, 0.1, 0.0, -0.3])
_REGION_SEVERITY = np.array([-0.2, 0.0, 0.1, 0.3])
_SEVERITY_SHAPE = 2.0


@dataclass(frozen=True)
class _Node:
    """One variable: what it holds, what it is caused by, and how it is drawn from that."""

    kind: Kind
    parents: tuple[str, ...]
    draw: Callable[[np.random.Generator, int, Values], NDArray[Any]]
    levels: tuple[str, ...] = ()


def _gender(rng: np.random.Generator, n: int, _: Values) -> NDArray[Any]:
    return rng.integers(0, 2, n)


def _age(rng: np.random.Generator, n: int, _: Values) -> NDArray[Any]:
    return np.floor(18 + 70 * rng.beta(2, 3, n))


def _region(rng: np.random.Generator, n: int, _: Values) -> NDArray[Any]:
    return rng.choice(len(_REGIONS), size=n, p=_REGION_SHARES)


def _height(rng: np.random.Generator, n: int, v: Values) -> NDArray[Any]:
    return np.round(160 + 20 * v["gender"] + rng.normal(0, 10, n), 1)


def _mileage(rng: np.random.Generator, n: int, v: Values) -> NDArray[Any]:
    log = 0.25 * v["gender"] - 0.01 * (v["age"] - 45) + rng.normal(0, 0.4, n)
    return np.maximum(np.round(12 * np.exp(log), 1), 0.1)


def _power(rng: np.random.Generator, n: int, v: Values) -> NDArray[Any]:
    return np.round(85 * np.exp(0.004 * (v["age"] - 45) + rng.normal(0, 0.3, n)))


def _years(rng: np.random.Generator, n: int, _: Values) -> NDArray[Any]:
    part = np.round(rng.uniform(0.1, 1.0, n), 2)
    return np.where(rng.random(n) < 0.7, 1.0, part)


def _accidents(rng: np.random.Generator, n: int, v: Values) -> NDArray[Any]:
    return rng.poisson(v["years"] * _accident_rate(v), n).astype(np.float64)


def _claim_amount(rng: np.random.Generator, n: int, v: Values) -> NDArray[Any]:
    # a sum of independent gamma amounts of one scale is gamma again; shape 0 stands for the sum
    # of none
    claims = rng.gamma(_SEVERITY_SHAPE * v["accidents"], _severity(v) / _SEVERITY_SHAPE, n)
    return np.round(claims, 2)


def _youth(age: NDArray[Any]) -> NDArray[Any]:
    """Return 1 at 18, a half at 23 and a half, a quarter at 29."""
    return np.exp(-(age - 18) / 8)


def _accident_rate(v: Values) -> Floats:
    """Return the mean number of accidents per year."""
    stronger = v["power"] - 85
    log_rate = (
        -2.0
        + 0.3 * v["gender"]
        + 0.7 * np.log(v["mileage"] / 12)
        + _REGION_RATE[v["region"]]
        + 1.0 * _youth(v["age"])
        + 0.04 * np.maximum(v["age"] - 70, 0)
        + 0.002 * stronger
        + 0.015 * _youth(v["age"]) * stronger
    )
    rate: Floats = np.exp(log_rate)
    return rate


def _severity(v: Values) -> Floats:
    """Return the mean amount of one claim."""
    log = 0.004 * (v["power"] - 85) + _REGION_SEVERITY[v["region"]]
    amount: Floats = 1800 * np.exp(log)
    return amount


# in an order in which causes come before effects
_NODES: dict[str, _Node] = {
    "gender": _Node(Kind.CATEGORY, (), _gender, _GENDERS),
    "age": _Node(Kind.WHOLE, (), _age),
    "region": _Node(Kind.CATEGORY, (), _region, _REGIONS),
    "height": _Node(Kind.NUMBER, ("gender",), _height),
    "mileage": _Node(Kind.NUMBER, ("gender", "age"), _mileage),
    "power": _Node(Kind.WHOLE, ("age",), _power),
    "years": _Node(Kind.NUMBER, (), _years),
    "accidents": _Node(
        Kind.WHOLE, ("gender", "age", "region", "mileage", "power", "years"), _accidents
    ),
    "claim_amount": _Node(Kind.NUMBER, ("region", "power", "accidents"), _claim_amount),
}

#: The columns a model may use.
FEATURES = tuple(name for name in _NODES if name not in ("years", "accidents", "claim_amount"))


@dataclass(frozen=True)
class InsuranceModel:
    """The truth about the simulated portfolio: a structural causal model.

    Every column is a function of its causes and of noise of its own. With ``m`` = 1 for men and 0
    for women, and ``u = exp(-(age - 18) / 8)`` for youth:

    - gender: female or male, equally likely
    - age: ``18 + 70 B`` rounded down, ``B ~ Beta(2, 3)``
    - region: city, suburb, town, village with probability 0.35, 0.30, 0.20, 0.15
    - height in cm: ``160 + 20 m + N(0, 10²)``
    - mileage in 1,000 km a year: ``12 exp(0.25 m - 0.01 (age - 45) + N(0, 0.4²))``
    - power in kW: ``85 exp(0.004 (age - 45) + N(0, 0.3²))``
    - years insured, the exposure: 1 with probability 0.7, else uniform from 0.1 to 1
    - accidents: Poisson with mean ``years × rate`` and ``log rate = -2 + 0.3 m
      + 0.7 log(mileage / 12) + r + u + 0.04 max(0, age - 70) + 0.002 (power - 85)
      + 0.015 u (power - 85)``, where ``r`` is 0.4, 0.1, 0, -0.3 by region
    - claim amount: the sum of one amount for each accident, gamma with shape 2 and mean
      ``1800 exp(0.004 (power - 85) + s)``, where ``s`` is -0.2, 0, 0.1, 0.3 by region

    Heights and mileages are rounded to one decimal, powers to whole numbers, years and amounts to
    two decimals.

    Height follows from gender and has no effect on accidents, so a model without gender will use
    height as a substitute: Hiabu (2024), Example 27. Gender acts on accidents directly and through
    mileage. Powerful cars are dangerous above all for young drivers: age and power interact.

    Parameters
    ----------
    target
        Which of the two, "accidents" or "claim_amount", is to be predicted.

    Examples
    --------
    >>> truth = InsuranceModel()
    >>> truth.parents("height"), truth.parents("mileage")
    (('gender',), ('gender', 'age'))
    >>> effect = truth.direct_effect("height", at={"height": [150, 190]}, draws=1000)
    >>> effect.effect
    array([0., 0.])
    """

    target: Target = "accidents"

    def __post_init__(self) -> None:
        targets = ("accidents", "claim_amount")
        if self.target not in targets:
            raise unknown_choice("target", self.target, targets)

    @property
    def graph(self) -> tuple[tuple[str, str], ...]:
        """The arrows of the causal graph, each from cause to effect."""
        return tuple((cause, name) for name, node in _NODES.items() for cause in node.parents)

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the direct causes of a column."""
        return _node(name).parents

    def descendants(self, name: str) -> tuple[str, ...]:
        """Return what a column acts on, directly or through others, in causal order."""
        _node(name)
        reached = {name}
        for other, node in _NODES.items():
            if reached.intersection(node.parents):
                reached.add(other)
        return tuple(other for other in _NODES if other in reached and other != name)

    def sample(self, n: int = 10_000, *, seed: int = 0) -> Table:
        """Draw a portfolio.

        Parameters
        ----------
        n
            How many policies.
        seed
            Fixes the draw.

        Returns
        -------
        Table
        """
        return self.do(n, seed=seed)

    def do(self, n: int = 10_000, *, seed: int = 0, **values: Any) -> Table:
        """Draw a portfolio in which some columns are set from outside.

        What causes those columns no longer matters; what they cause follows. Each column has
        random numbers of its own: with the same seed, columns that do not descend from those set
        are the same to the bit as in `sample`.

        Parameters
        ----------
        n
            How many policies.
        seed
            Fixes the draw.
        **values
            The columns to set: one value for all policies, or one for each.

        Returns
        -------
        Table

        Examples
        --------
        >>> truth = InsuranceModel()
        >>> women, men = (truth.do(gender=g) for g in ("female", "male"))
        >>> bool(women["mileage"].values.mean() < men["mileage"].values.mean())
        True
        """
        if n < 1:
            raise bad_value("n", n, "it must be at least 1")
        fixed = {name: _numeric(name, value) for name, value in values.items()}
        for name, value in fixed.items():
            if value.shape not in ((), (n,)):
                raise InputError(
                    f"{name} has {value.size} values for {n} policies",
                    parameter=name,
                    value=value.size,
                )
        return self._table(self._draw(n, seed, fixed))

    def mean(self, table: Table) -> Floats:
        """Return the true mean of the target per year at the rows of a table.

        It is the regression function E[Y | X] of the rate, which a model fitted to the table
        predicts.

        Parameters
        ----------
        table
            With all causes of the rate, complete. `height` is not used.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        needed = [name for name in _NODES["accidents"].parents if name in FEATURES]
        return self._mean({name: _complete(table.column(name), name) for name in needed})

    def direct_effect(
        self,
        columns: str | Sequence[str],
        *,
        at: Mapping[str, Sequence[Any]] | Table | None = None,
        draws: int = 100_000,
        seed: int = 0,
    ) -> TrueEffect:
        """Return the average natural direct effect of columns on the target per year.

        It is the change of its mean when the columns are set to chosen values while all
        other columns stay as they would have been: Hiabu (2024), Definition 8.2.1. The mean
        over portfolios is taken from random draws; their number and standard errors are in the
        result. All values are compared on the same draws.

        Parameters
        ----------
        columns
            One feature or several.
        at
            Values of these columns, of one length each, or a table of rows. When left out: the
            levels of a category; the 5, 25, 50, 75 and 95 per cent points of a number.
        draws
            How many policies to draw.
        seed
            Fixes the draws.

        Returns
        -------
        TrueEffect

        Examples
        --------
        >>> result = InsuranceModel().direct_effect("gender", draws=20_000)
        >>> result.at["gender"], result.effect.round(3)
        (('female', 'male'), array([-0.039,  0.033]))
        """
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        for name in names:
            if name not in FEATURES:
                raise unknown_choice("columns", name, FEATURES, what="column")
        shown = self._points(names, at)
        marginal = self._draw(draws, seed, {})
        drawn = {name: marginal[name] for name in names}
        # the other columns under do(X_S = x'), with noise independent of what drew x'
        others = self._draw(draws, (seed, 1), drawn)
        return average_natural_direct_effect(
            self._mean, others, drawn, {k: _numeric(k, v) for k, v in shown.items()}, shown
        )

    def _mean(self, values: Values) -> Floats:
        rate = _accident_rate(values)
        return rate if self.target == "accidents" else rate * _severity(values)

    def _draw(self, n: int, seed: int | tuple[int, int], fixed: Values) -> dict[str, NDArray[Any]]:
        values: dict[str, NDArray[Any]] = {}
        seeds = np.random.SeedSequence(seed).spawn(len(_NODES))
        for (name, node), own in zip(_NODES.items(), seeds, strict=True):
            if name in fixed:
                values[name] = np.broadcast_to(fixed[name], n)
            else:
                values[name] = node.draw(np.random.default_rng(own), n, values)
        return values

    def _table(self, values: Values) -> Table:
        columns = []
        for name, node in _NODES.items():
            dtype = np.int32 if node.levels else np.float64
            columns.append(Column(name, node.kind, values[name].astype(dtype), node.levels))
        other = "claim_amount" if self.target == "accidents" else "accidents"
        roles = {
            "gender": Role.PROTECTED,
            "years": Role.EXPOSURE,
            self.target: Role.TARGET,
            other: Role.IGNORED,
        }
        task = Task.COUNT if self.target == "accidents" else Task.AMOUNT
        return Table(tuple(columns), roles, task, source="simulated motor portfolio")

    def _points(
        self, names: tuple[str, ...], at: Mapping[str, Sequence[Any]] | Table | None
    ) -> dict[str, tuple[Any, ...]]:
        if isinstance(at, Table):
            return {name: tuple(at.column(name).labels().tolist()) for name in names}
        if at is not None:
            if set(at) != set(names):
                raise InputError(
                    words(Option("at"), f" has values for {sorted(at)}, not for {sorted(names)}"),
                    parameter="at",
                    value=sorted(at),
                )
            if len({len(values) for values in at.values()}) > 1:
                raise InputError(
                    words("the columns in ", Option("at"), " have different numbers of values"),
                    parameter="at",
                )
            return {name: tuple(at[name]) for name in names}
        if len(names) > 1:
            raise InputError(
                "the values at which the columns are set are missing",
                parameter="at",
                hint=words("pass ", Option("at"), ": values by column, or a table of rows."),
            )
        node = _NODES[names[0]]
        if node.levels:
            return {names[0]: node.levels}
        column = self._draw(100_000, 0, {})[names[0]]
        points = np.quantile(column, [0.05, 0.25, 0.5, 0.75, 0.95], method="nearest")
        return {names[0]: tuple(np.unique(points).tolist())}


def _node(name: str) -> _Node:
    if name not in _NODES:
        raise InputError(
            f"there is no column {name!r}",
            parameter="column",
            value=name,
            hint=did_you_mean(name, _NODES),
        )
    return _NODES[name]


def _numeric(name: str, value: Any) -> NDArray[Any]:
    """Return values as numbers: levels as their position."""
    levels = _node(name).levels
    values = np.asarray(value)
    if levels:
        distinct, which = np.unique(values.astype(str), return_inverse=True)
        coded: NDArray[Any] = _positions(name, distinct.tolist())[which].reshape(values.shape)
        return coded
    try:
        return values.astype(np.float64)
    except ValueError:
        raise bad_value(name, value, "it must be a number") from None


def _positions(name: str, wanted: Sequence[str]) -> Index:
    """Return the position of levels among those of the model."""
    levels = _NODES[name].levels
    for level in wanted:
        if level not in levels:
            raise unknown_choice(name, level, levels)
    return np.array([levels.index(level) for level in wanted], dtype=np.intp)


def _complete(column: Column, name: str) -> NDArray[Any]:
    if column.n_missing:
        raise InputError(
            f"column {name!r} has {column.n_missing} missing values; the true mean is known for "
            "complete rows",
            parameter=name,
            value=column.n_missing,
            hint=words("simulate without ", Option("missing"), ", or take the complete rows."),
        )
    if not _NODES[name].levels:
        return column.values
    used, which = np.unique(column.values, return_inverse=True)
    return _positions(name, [column.levels[code] for code in used])[which]
