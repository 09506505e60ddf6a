"""Standard errors of factors: of likelihood, of a model's own curves, or by refits.

An effect is a difference of scores with the base, so its standard error needs what scores of the
same rows differ by from sample to sample. A source gives numbers of rows whose differences say so.
"""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from sklearn.base import clone

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import is_whole
from clearwood._shared.choices import StandardErrors
from clearwood._shared.errors import (
    ClearwoodWarning,
    InputError,
    Option,
    bad_value,
    unknown_choice,
    words,
)
from clearwood._shared.progress import progress
from clearwood.explanation.factors.anchored import Anchored
from clearwood.explanation.factors.comparison import predicted
from clearwood.explanation.factors.model_cells import ModelCells
from clearwood.explanation.factors.result import Factors, FactorTerm
from clearwood.explanation.games.spread import GameSpread, satterthwaite, standard_errors
from clearwood.explanation.linear.coefficients import freedom_of, with_fit
from clearwood.explanation.linear.covariance import Errors, GlmFit
from clearwood.explanation.linear.result import ColumnTest
from clearwood.fitted import Unit
from clearwood.models import Learner
from clearwood.table import Table

__all__ = ["check_errors", "with_errors"]

#: The learners that are fitted by maximum likelihood and are linear.
_BY_LIKELIHOOD = ("ols", "glm", "logistic")
_FEWEST_REFITS = 20
#: Rows that degrees of freedom are averaged over.
_MOST_ROWS = 500
#: The share of refits that may fail, as where resampled rows have one class only.
_MOST_FAILED = 0.2


def check_errors(errors: Any) -> None:
    """Refuse what is neither a kind of standard errors nor a number of refits."""
    known = (*get_args(StandardErrors), "none")
    if isinstance(errors, str):
        if errors not in known:
            raise unknown_choice("errors", errors, known)
        return
    if not is_whole(errors) or errors < _FEWEST_REFITS:
        raise bad_value(
            "errors", errors, f"a number of refits must be whole, from {_FEWEST_REFITS}"
        )


def with_errors(
    result: Factors,
    anchored: Anchored,
    table: Table,
    errors: StandardErrors | str | int,
    *,
    seed: int,
) -> Factors:
    """Add standard errors and tests to a table of factors, or a note why there are none."""
    cells = anchored.cells
    if errors == "none":
        return result
    if not isinstance(errors, str):
        source: _Source | tuple[str, ...] = _refitted(cells, table, int(errors), seed)
    elif cells.learner.name in _BY_LIKELIHOOD:
        source = _likelihood(cells, table, errors)
    elif cells.game.spread is not None and errors == "auto":
        source = _curves(cells, cells.game.spread, table)
    elif errors == "auto":
        source = (_why_none(cells.learner),)
    else:
        raise InputError(
            f"learner {cells.learner.name!r} has no standard errors of the kind {errors!r}",
            parameter="errors",
            value=errors,
            hint=words("refit it to resampled rows: ", Option("errors", 200), "."),
        )
    if isinstance(source, tuple):
        return replace(result, notes=(*result.notes, *source))
    with warnings.catch_warnings():  # that nothing is known of the rows of some cells
        warnings.simplefilter("ignore", ClearwoodWarning)
        terms = tuple(
            replace(term, errors=_of_term(term, anchored, source)) for term in result.terms
        )
    return replace(
        result,
        terms=terms,
        errors=source.name,
        freedom=source.freedom,
        tests=source.tests,
        notes=(*result.notes, *source.notes),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Source(ABC):
    """Where standard errors come from."""

    name: str
    freedom: float = np.inf
    tests: tuple[ColumnTest, ...] = ()
    notes: tuple[str, ...] = ()

    @abstractmethod
    def of(self, rows: Table) -> Floats:
        """Return numbers of rows, (rows, numbers), in which the score is linear."""

    @abstractmethod
    def errors(self, differences: Floats) -> Floats:
        """Return the standard errors of differences of these numbers."""


def _of_term(term: FactorTerm, anchored: Anchored, source: _Source) -> Floats:
    """Return the standard error in each cell; of a line, that of one unit."""
    cells = anchored.cells
    players = [cells.player[name] for name in term.columns]
    index = np.indices(term.effects.shape).reshape(len(players), -1)
    taken = ~np.isnan(term.effects.ravel())
    at = {
        k: np.where(taken, term.origins[axis][index[axis]], anchored.base_at[k])
        for axis, k in enumerate(players)
    }
    step = 1.0
    if term.is_line:
        known = cells.column(players[0]).values
        step = float(np.nanstd(known)) or 1.0
        at[players[0]] = at[players[0]] + np.where(index[0] == 0, step, 0.0)

    def numbers(moved: tuple[int, ...]) -> Floats:
        n = index.shape[1]
        values = {k: np.full(n, value) for k, value in anchored.base_at.items()}
        return source.of(cells.rows_at({**values, **{k: at[k] for k in moved}}))

    base = numbers(())
    if term.is_line:  # its base may not be its origin
        origin = {**anchored.base_at, players[0]: float(term.origins[0][0])}
        there = source.of(cells.rows_at({k: np.array([v]) for k, v in origin.items()}))
        base = np.where((index[0] == 0)[:, None], there, base)
    if len(players) == 1:
        differences = numbers((players[0],)) - base
    else:
        first, second = ((k,) for k in players)
        differences = numbers(tuple(players)) - numbers(first) - numbers(second) + base
    errors = source.errors(differences)
    if term.is_line:
        errors = errors / np.where(index[0] == 0, step, 1.0)
    return np.where(taken, errors, np.nan).reshape(term.effects.shape)


# Likelihood


@dataclass(frozen=True, eq=False, kw_only=True)
class _Likelihood(_Source):
    """The matrix of a linear model, and the covariance of its coefficients."""

    learner: Learner
    fitted: GlmFit
    covariance: Floats

    def of(self, rows: Table) -> Floats:
        matrix = self.learner.encoder_.transform(rows)
        return np.column_stack([np.ones(len(matrix)), matrix])

    def errors(self, differences: Floats) -> Floats:
        squares = np.einsum("ni,ij,nj->n", differences, self.covariance, differences)
        errors = np.sqrt(np.maximum(squares, 0.0))
        unsure = [not self.fitted.is_estimable(line) for line in differences]
        return np.where(unsure, np.nan, errors)


def _likelihood(cells: ModelCells, table: Table, errors: str) -> _Source | tuple[str, ...]:
    """Return the fit behind standard errors, or why there are none."""
    if table.target is None and errors == "auto":
        return ("no standard errors: the table has no target",)
    try:
        known, fitted = with_fit(cells.learner, table, errors=errors)  # type: ignore[arg-type]
    except InputError as error:
        if errors != "auto":
            raise
        return (f"no standard errors: {error.args[0]}",)
    if fitted is None or known.errors is None or known.errors == "posterior":
        if errors == "auto":
            return (*known.notes, _by_refits())
        raise InputError(
            known.notes[0],
            parameter="errors",
            value=errors,
            hint=words("or refit it to resampled rows: ", Option("errors", 200), "."),
        )
    kind: Errors = known.errors
    groups = table.groups if kind == "cluster" else None
    return _Likelihood(
        name=kind,
        freedom=freedom_of(fitted, kind, known.n_groups),
        tests=known.tests,
        notes=known.notes,
        learner=cells.learner,
        fitted=fitted,
        covariance=fitted.covariance(kind, groups),
    )


# A model's own curves


@dataclass(frozen=True, eq=False, kw_only=True)
class _FromCurves(_Source):
    """Deviations of the score, which the model gives."""

    spread: GameSpread

    def of(self, rows: Table) -> Floats:
        return self.spread.deviations(self.spread.game.rows(rows))[:, -1]

    def errors(self, differences: Floats) -> Floats:
        return standard_errors(differences)


def _curves(cells: ModelCells, spread: GameSpread, table: Table) -> _Source:
    facts = getattr(cells.learner.estimator_, "term_table_", ())
    groups = np.asarray(cells.game.groups)
    tests = []
    for fact in facts if isinstance(facts, list) else ():
        if fact.get("p_value") is not None:
            names = [cells.game.columns[int(groups[j])] for j in fact["columns"]]
            column = " and ".join(dict.fromkeys(names))
            tests.append(ColumnTest(column, np.nan, float(fact["edf"]), float(fact["p_value"])))
    freedom = spread.freedom
    if spread.further is not None:  # that of the scores of rows, less what all have in common
        rows = table.take(np.unique(np.linspace(0, table.n_rows - 1, _MOST_ROWS).astype(np.intp)))
        deviations = spread.deviations(spread.game.rows(rows))[:, -1]
        total = np.sqrt(((deviations - deviations.mean(axis=0)) ** 2).mean(axis=0))
        freedom = float(satterthwaite(total, spread.freedoms))
    return _FromCurves(name="curves", freedom=freedom, tests=tuple(tests), spread=spread)


# Refits


@dataclass(frozen=True, eq=False, kw_only=True)
class _FromRefits(_Source):
    """Models fitted to resampled rows."""

    models: tuple[Learner, ...]
    unit: Unit

    def of(self, rows: Table) -> Floats:
        return np.column_stack([_score(predicted(one, rows), self.unit) for one in self.models])

    def errors(self, differences: Floats) -> Floats:
        return np.asarray(differences.std(axis=1, ddof=1))


def _score(prediction: Floats, unit: Unit) -> Floats:
    """Return predictions before the link."""
    smallest = 1e-300
    if unit is Unit.LOG_MEAN:
        return np.log(np.maximum(prediction, smallest))
    if unit is Unit.LOG_ODDS:
        other = np.maximum(1 - prediction, 1e-16)
        return np.asarray(np.log(np.maximum(prediction, smallest)) - np.log(other))
    return prediction


def _refitted(cells: ModelCells, table: Table, count: int, seed: int) -> _Source:
    """Refit the model to rows, or groups, drawn with replacement."""
    if table.target is None:
        raise InputError(
            "the table has no target, which refits need",
            parameter="errors",
            value=count,
            hint="pass the rows that the model was fitted to, with the target.",
        )
    generator = np.random.default_rng(seed)
    units = np.arange(table.n_rows) if table.groups is None else table.groups
    labels, which = np.unique(units, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which))
    models: list[Learner] = []
    failed = 0
    with progress("refits", total=count) as step:
        for _ in range(count):
            drawn = generator.integers(0, len(labels), len(labels))
            rows = np.concatenate([order[(ends[k - 1] if k else 0) : ends[k]] for k in drawn])
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    models.append(clone(cells.learner).fit(table.take(rows)))
            except (InputError, ValueError) as error:
                failed += 1
                if failed > _MOST_FAILED * count:
                    raise InputError(
                        f"the model cannot be fitted to resampled rows: {error}",
                        parameter="errors",
                        value=count,
                        hint="more rows of each level or class are needed.",
                    ) from error
            step(1)
    drawn_what = "rows" if table.groups is None else "groups"
    note = (
        f"standard errors are the spread of {len(models)} fits to resampled {drawn_what}; the bias "
        "that a penalty or early stopping causes is not in them"
    )
    return _FromRefits(name="refits", notes=(note,), models=tuple(models), unit=cells.game.unit)


def _by_refits() -> str:
    return "set `errors` to 200 for those of 200 refits to resampled rows"


def _why_none(learner: Learner) -> str:
    return (
        f"no standard errors: learner {learner.name!r} is not fitted by maximum likelihood without "
        f"a penalty; {_by_refits()}"
    )
