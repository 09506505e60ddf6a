"""A simulated book of consumer loans whose truth is known."""

from dataclasses import replace

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.causal import SCM
from clearwood.datasets.gaps import with_gaps
from clearwood.table import Kind, Role, Table, Task

__all__ = ["credit", "credit_probability", "credit_truth"]

_LOG_ODDS = """(
    -2.6
    - 0.9 * log(income / 32)
    + 2.2 * (debt_ratio - 0.3)
    + 0.55 * minimum(arrears, 4)
    + {"permanent": -0.25, "self-employed": 0.15, "temporary": 0.45}[employment]
    + 0.012 * (term - 36)
    + 0.9 * exp(-(age - 18) / 12)
    + 0.5 * (arrears > 0) * (debt_ratio > 0.5)
)"""
_EQUATIONS = {
    "gender": 'choice("female", "male")',
    "age": "floor(18 + 57 * beta(2, 2.6))",
    "employment": 'choice({"permanent": 0.68, "self-employed": 0.14, "temporary": 0.18})',
    "income": """round(maximum(8, 32 * exp(
        0.16 * (gender == "male")
        + 0.5 * (1 - exp(-(age - 18) / 10)) - 0.3
        + {"permanent": 0.08, "self-employed": 0.05, "temporary": -0.25}[employment]
        + normal(0, 0.35)
    )), 1)""",
    "amount": "round(maximum(0.5, 0.28 * income * exp(normal(0, 0.5))), 1)",
    "term": "round(12 * round(1 + 4 * beta(2, 2)))",
    "debt_ratio": """round(
        clip(0.12 + 0.5 * beta(2, 3) + 0.9 * amount / (income * term / 12), 0.05, 1.5), 2
    )""",
    "arrears": "poisson(0.25 * exp(1.2 * (debt_ratio - 0.3) - 0.012 * (age - 45)))",
    "default": f'choice({{"no": 1, "yes": exp({_LOG_ODDS})}})',
}
_SCM = SCM(_EQUATIONS)
# the same expression as a column, so that the true probability is read off the model's own text
_RISK = SCM({**_EQUATIONS, "risk": f"1 / (1 + exp(-{_LOG_ODDS}))"})
_FEATURES = tuple(name for name in _SCM.columns if name != "default")


def credit(n: int = 5_000, seed: int = 0, *, missing: float = 0.0) -> Table:
    """Simulate a book of consumer loans: who defaulted, and what was known before.

    Columns are gender, age, kind of employment, income and amount (in thousands), term in months,
    the ratio of debt to income, arrears in the last two years, and whether the loan defaulted.
    About one in eight does. Gender acts on default through income alone, so a model with income
    needs no gender; loans in arrears with a high debt ratio are worse than either explains.

    Parameters
    ----------
    n
        How many loans.
    seed
        Fixes the draw.
    missing
        The share of cells of features that are missing, completely at random.

    Returns
    -------
    Table
        With gender protected and ``default`` ("no" or "yes") as the target.

    Examples
    --------
    >>> loans = credit(1000)
    >>> loans.target, loans.protected, str(loans.task)
    ('default', ('gender',), 'binary')
    >>> loans.levels["employment"]
    ('permanent', 'self-employed', 'temporary')
    """
    drawn = _SCM.sample(n, seed=seed)
    columns = (
        replace(column, kind=Kind.YES_NO) if column.name == "default" else column
        for column in drawn.columns
    )
    roles = {"gender": Role.PROTECTED, "default": Role.TARGET}
    book = Table(tuple(columns), roles, Task.BINARY, source="simulated consumer loans")
    return with_gaps(book, missing, np.random.SeedSequence([seed, n]), _FEATURES)


def credit_truth() -> SCM:
    """Return the structural causal model that `credit` draws from.

    Examples
    --------
    >>> truth = credit_truth()
    >>> truth.parents("income")
    ('gender', 'age', 'employment')
    >>> "gender" in truth.parents("default")
    False
    """
    return _SCM


def credit_probability(table: Table) -> Floats:
    """Return the true probability of default at the rows of a table without gaps.

    Examples
    --------
    >>> loans = credit(20_000)
    >>> risk = credit_probability(loans)
    >>> bool(abs(risk.mean() - (loans.y == "yes").mean()) < 0.01)
    True
    """
    causes = {name: table.column(name).labels() for name in _SCM.parents("default")}
    return _RISK.compute("risk", _RISK.coded(causes, table.n_rows))
