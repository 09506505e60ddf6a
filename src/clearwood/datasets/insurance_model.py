"""The structural causal model of the simulated motor portfolio."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, unknown_choice, words
from clearwood.causal import SCM
from clearwood.datasets.true_effect import TrueEffect, average_natural_direct_effect
from clearwood.table import Column, Role, Table, Task

__all__ = ["FEATURES", "InsuranceModel", "Target"]

Target = Literal["accidents", "claim_amount"]
Values = Mapping[str, NDArray[Any]]

# accidents per year, and the mean amount of one claim
_RATE = """exp(
    -2.0
    + 0.3 * (gender == "male")
    + 0.7 * log(mileage / 12)
    + {"city": 0.4, "suburb": 0.1, "town": 0.0, "village": -0.3}[region]
    + exp(-(age - 18) / 8)
    + 0.04 * maximum(age - 70, 0)
    + 0.002 * (power - 85)
    + 0.015 * exp(-(age - 18) / 8) * (power - 85)
)"""
_SEVERITY = """1800 * exp(
    0.004 * (power - 85) + {"city": -0.2, "suburb": 0.0, "town": 0.1, "village": 0.3}[region]
)"""

_EQUATIONS = {
    "gender": 'choice("female", "male")',
    "age": "floor(18 + 70 * beta(2, 3))",
    "region": 'choice({"city": 0.35, "suburb": 0.30, "town": 0.20, "village": 0.15})',
    "height": 'round(160 + 20 * (gender == "male") + normal(0, 10), 1)',
    "mileage": """maximum(
        round(12 * exp(0.25 * (gender == "male") - 0.01 * (age - 45) + normal(0, 0.4)), 1), 0.1
    )""",
    "power": "round(85 * exp(0.004 * (age - 45) + normal(0, 0.3)))",
    "years": "round(uniform(0.1, 1.0), 2) if uniform(0, 1) >= 0.7 else 1.0",
    "accidents": f"poisson(years * {_RATE})",
    # a sum of independent gamma amounts of one scale is gamma again; shape 0 stands for the sum
    # of none
    "claim_amount": f"round(gamma(2.0 * accidents, {_SEVERITY} / 2.0), 2)",
}
_SCM = SCM(_EQUATIONS)
# the same expressions as columns, so that the true mean is read off the model's own text
_MEANS = SCM({**_EQUATIONS, "rate": _RATE, "severity": _SEVERITY})

#: The columns a model may use.
FEATURES = tuple(n for n in _SCM.columns if n not in ("years", "accidents", "claim_amount"))


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
        return tuple((cause, name) for name in _SCM.columns for cause in _SCM.parents(name))

    @property
    def scm(self) -> SCM:
        """The equations: what `sample` and `do` draw from, with counterfactuals and a `Graph`.

        Examples
        --------
        >>> scm = InsuranceModel().scm
        >>> scm.equation("height")
        'round(160 + 20 * (gender == "male") + normal(0, 10), 1)'
        >>> woman = scm.do(1, gender="female")
        >>> as_a_man = scm.counterfactual(woman, gender="male")
        >>> float(as_a_man.table["height"].values[0] - woman["height"].values[0])
        20.0
        """
        return _SCM

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the direct causes of a column."""
        return _SCM.parents(name)

    def descendants(self, name: str) -> tuple[str, ...]:
        """Return what a column acts on, directly or through others, in causal order."""
        return _SCM.descendants(name)

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
        return self._table(_SCM.do(n, seed=seed, values=values))

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
        needed = [name for name in _SCM.parents("accidents") if name in FEATURES]
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
        marginal = _SCM.draw(draws, seed)
        drawn = {name: marginal[name] for name in names}
        # the other columns under do(X_S = x'), with noise independent of what drew x'
        others = _SCM.draw(draws, (seed, 1), drawn)
        points = _SCM.coded(shown, len(shown[names[0]]))
        return average_natural_direct_effect(self._mean, others, drawn, points, shown)

    def _mean(self, values: Values) -> Floats:
        """Return the mean of the target per year at the values of its causes."""
        rate = _MEANS.compute("rate", values)
        return rate if self.target == "accidents" else rate * _MEANS.compute("severity", values)

    def _table(self, drawn: Table) -> Table:
        """Return drawn columns with their roles."""
        other = "claim_amount" if self.target == "accidents" else "accidents"
        roles = {
            "gender": Role.PROTECTED,
            "years": Role.EXPOSURE,
            self.target: Role.TARGET,
            other: Role.IGNORED,
        }
        task = Task.COUNT if self.target == "accidents" else Task.AMOUNT
        return replace(drawn, roles=roles, task=task, source="simulated motor portfolio")

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
        levels = _SCM.levels(names[0])
        if levels:
            return {names[0]: levels}
        column = _SCM.draw(100_000)[names[0]]
        points = np.quantile(column, [0.05, 0.25, 0.5, 0.75, 0.95], method="nearest")
        return {names[0]: tuple(np.unique(points).tolist())}


def _complete(column: Column, name: str) -> NDArray[Any]:
    if column.n_missing:
        raise InputError(
            f"column {name!r} has {column.n_missing} missing values; the true mean is known for "
            "complete rows",
            parameter=name,
            value=column.n_missing,
            hint=words("simulate without ", Option("missing"), ", or take the complete rows."),
        )
    return _SCM.coded({name: column.labels()}, len(column))[name]
