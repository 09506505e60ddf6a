"""From a model that is a sum of functions of one and two columns to a table of factors.

The components are anchored at a base b: F_j(x) = f(x, b) − f(b) and F_jk(x, z) = f(x, z, b) −
f(x, b) − f(z, b) + f(b), where all columns that are not named have the base. If no more than two
columns interact, f(b) and these add up to f, and each is zero where one of its columns is at the
base. They are differences of scores, so nothing is averaged over rows.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import (
    Call,
    InputError,
    Option,
    bad_value,
    did_you_mean,
    unknown_choice,
    words,
)
from clearwood.explanation.adapter.explained import Explained
from clearwood.explanation.adapter.supported import NotDecomposableError
from clearwood.explanation.factors.cells import Axis
from clearwood.explanation.factors.comparison import MIXED_ROWS, compared
from clearwood.explanation.factors.model_cells import ModelCells
from clearwood.explanation.factors.result import Factors, FactorTerm
from clearwood.explanation.games.game import Game, Players
from clearwood.explanation.scales import Unit
from clearwood.models import Learner
from clearwood.table import Table, as_table, read_as

__all__ = ["factors"]

_MOST_CELLS = 2_000_000
#: Rounding: what scores differ by at most, relative to their size, that are equal.
_ROUNDING = 1e-14


def factors(
    model: Learner,
    data: Any,
    base: Mapping[str, Any] | None = None,
    *,
    bands: int | None = None,
    seed: int = 0,
) -> Factors:
    """Write a model as a base value and a factor for each cell of its columns.

    This is possible where no more than two columns interact: linear models, additive models, MARS
    of degree 2, boosting of trees with two columns on a path, explainable boosting machines. With a
    log link, the prediction is the base value times one relativity for each column and pair.

    Steps and levels are written exactly, and so is a straight line. A curve is replaced by cells:
    the table is then an approximation, and states the largest error and the loss.

    Parameters
    ----------
    model
        A fitted learner for numbers, counts, amounts or two classes.
    data
        Rows that say how much weight each cell has, usually the training rows.
    base
        What cells are compared with: ``{"region": "town", "age": 40}``. By default the level, or
        the cell of numbers, of most weight and exposure; of a straight line, the median.
    bands
        The most cells of a column of numbers. By default 50 for curves; steps have as many as they
        need. Cells are chosen so that the score ranges as little as possible in each of them.
    seed
        Of the mixed rows on which the table is compared with the model.

    Returns
    -------
    Factors

    Examples
    --------
    >>> import clearwood as cw
    >>> policies = cw.datasets.insurance(2_000)
    >>> model = cw.learner("gbm", max_depth=2, max_iter=20).fit(policies)
    >>> table = cw.factors(model, policies, base={"region": "town"})
    >>> table.ratio_name, table.base["region"], table.is_exact
    ('relativity', 'town', True)
    >>> bool(abs(table.predict(policies) / model.predict(policies) - 1).max() < 1e-12)
    True
    """
    _check_bands(bands)
    learner = _checked(model)
    table = data if isinstance(data, Table) else read_as(data, learner.schema_)
    learner.check_outcome(table)
    rows = as_table(table, schema=learner.schema_)
    if not rows.n_rows:
        raise InputError("the data has no rows", parameter="data")
    game = _game(learner, table)
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    cells = ModelCells(game, rows, weights / weights.sum(), bands)
    _check_base(cells, dict(base or {}))
    values = {cells.player[name]: value for name, value in (base or {}).items()}
    built = _Builder(cells, values)
    result = Factors(
        base=built.base_labels,
        base_score=built.base_score,
        terms=built.terms,
        unit=game.unit,
        outcome=_outcome(learner, table),
        model=learner.name,
        banded=tuple(game.columns[k] for k in sorted(cells.banded)),
        largest_difference=np.nan,
        is_exact=False,
        n_rows=table.n_rows,
        n_mixed=MIXED_ROWS,
        losses=None,
        _schema=learner.schema_,
    )
    return compared(result, learner, cells, table, seed)


def _check_bands(bands: Any) -> None:
    """Refuse what is not a number of cells."""
    is_whole = isinstance(bands, int) and not isinstance(bands, bool)
    if bands is not None and not (is_whole and bands >= 2):
        raise bad_value("bands", bands, "it must be a whole number from 2")


def _checked(model: Any) -> Learner:
    """Refuse what is not a fitted learner with one prediction for each row."""
    if not isinstance(model, Learner) or not hasattr(model, "estimator_"):
        raise InputError(
            f"factors are of a fitted learner, not of {type(model).__name__}",
            parameter="model",
            hint=words("fit one: ", Call("learner", ("'glm'",)), "."),
        )
    if model.task_.is_classification and len(model.classes_) != 2:
        raise InputError(
            f"there are {len(model.classes_)} classes; tables of factors are for two",
            parameter="model",
            value=model.name,
        )
    return model


def _game(learner: Learner, table: Table) -> Game:
    """Return the model as a sum over columns and pairs; refuse what is not one."""
    try:
        game = Explained(learner, table).game
    except NotDecomposableError as error:
        raise _too_deep(learner, "is not a sum of functions of one and two columns") from error
    if game.longest > 2:
        raise _too_deep(learner, f"has interactions of {game.longest} columns")
    if game.unit.is_before_link and game.unit not in (Unit.LOG_MEAN, Unit.LOG_ODDS):
        raise _too_deep(learner, "has a link that is neither the identity, nor the log or logit")
    return game


def _too_deep(learner: Learner, why: str) -> InputError:
    return InputError(
        f"learner {learner.name!r} {why}; a table of factors has at most pairs",
        parameter="model",
        value=learner.name,
        hint=words(
            "fit ",
            Call("learner", ("'gbm'",), {"max_depth": 2}),
            ", 'glm', 'gam' or 'ebm', or 'mars' of degree 2.",
        ),
    )


def _outcome(learner: Learner, table: Table) -> str:
    outcome = learner.schema_.outcome or table.outcome or "the target"
    return f"{outcome} = {learner.classes_[1]}" if learner.task_.is_classification else outcome


def _check_base(cells: ModelCells, base: Mapping[str, Any]) -> None:
    """Refuse a base of a column that the model does not have, and one that does not occur."""
    for name, value in base.items():
        if name not in cells.player:
            raise unknown_choice("base", name, cells.game.columns, what="column")
        column = cells.table.column(name)
        if column.is_coded:
            code = column.levels.index(str(value)) if str(value) in column.levels else None
            if code is None or not cells.weights[column.values == code].sum() > 0:
                levels = [column.levels[c] for c in np.unique(column.values) if c >= 0]
                raise InputError(
                    f"no row has the level {value!r} of column {name!r}",
                    parameter="base",
                    value=value,
                    hint=did_you_mean(str(value), levels),
                )
        else:
            _base_number(name, value)


def _base_number(name: str, value: Any) -> float:
    """Read a base of a column of numbers."""
    try:
        read = float(value)
    except (TypeError, ValueError):
        read = np.nan
    if not np.isfinite(read):
        raise InputError(
            f"the base of column {name!r} must be a number, not {value!r}",
            parameter="base",
            value=value,
            hint=words("such as ", Option("base", {name: 40}), "."),
        )
    return read


class _Builder:
    """Computes the anchored components of all columns and pairs."""

    def __init__(self, cells: ModelCells, base: Mapping[int, Any]) -> None:
        self.cells = cells
        self.axes = {k: cells.axis(k) for k in cells.used}
        self.base_labels: dict[str, Any] = {}
        values, self.at = {}, {}
        for k, axis in self.axes.items():
            values[k] = cells.values(k, axis)
            self.at[k] = self._base_cell(k, axis, values[k], base.get(k))
        self.values = values
        self._codes = self._cell_codes(values)
        self.base_codes = cells.codes({k: v[[self.at[k]]] for k, v in values.items()})[0]
        self.base_score = float(cells.score(self.base_codes[None])[0])
        self.tolerance = _ROUNDING * max(1.0, abs(self.base_score))
        self.terms = self._terms()

    def _base_cell(self, k: int, axis: Axis, values: Floats, wanted: Any) -> int:
        """Choose the cell of the base, and note what it is called."""
        column = self.cells.column(k)
        if wanted is None:
            mass = np.bincount(axis.places(column), self.cells.weights, axis.n_known + 1)
            cell = int(np.argmax(mass[:-1]))
            if k in self.cells.banded:
                values[cell] = self.cells.typical(k, axis)[cell]
        elif axis.levels is not None:
            cell = axis.levels.index(str(wanted))
        else:
            number = _base_number(column.name, wanted)
            cell = int(np.searchsorted(axis.cuts, number))
            values[cell] = number
        label = float(values[cell]) if axis.levels is None else axis.levels[cell]
        self.base_labels[column.name] = label
        return cell

    def _cell_codes(self, values: Mapping[int, Floats]) -> dict[int, Floats]:
        """Encode the value of each cell, missing last; NaN where the model does not take it."""
        codes = self.cells.codes(values)
        taken = self.cells.takes_missing
        gaps = self.cells.gaps(taken) if taken else None
        result = {}
        for k, own in values.items():
            last = gaps if gaps is not None and k in taken else codes[:1]
            result[k] = np.concatenate([codes[: len(own)], last[:1]])
        return result

    def _scores(self, players: Players) -> Floats:
        """Return the score in each cell of some columns, where the others are at the base."""
        shape = tuple(self.axes[k].n_known + 1 for k in players)
        index = np.indices(shape).reshape(len(players), -1)
        codes = np.repeat(self.base_codes[None], index.shape[1], axis=0)
        groups = np.asarray(self.cells.game.groups)
        for k, at in zip(players, index, strict=True):
            own = groups == k
            codes[:, own] = self._codes[k][at][:, own]
        scores = self.cells.score(codes).reshape(shape)
        for axis, k in enumerate(players):
            if k not in self.cells.takes_missing:
                np.moveaxis(scores, axis, 0)[-1] = np.nan
        return scores

    def _terms(self) -> tuple[FactorTerm, ...]:
        sets = [s for s in self.cells.sets if all(k in self.axes for k in s)]
        pairs = [players for players in sets if len(players) == 2]
        n_cells = sum((self.axes[j].n_known + 1) * (self.axes[k].n_known + 1) for j, k in pairs)
        if n_cells > _MOST_CELLS:
            raise InputError(
                f"the pairs of columns have {n_cells:,} cells",
                parameter="bands",
                value=self.cells.bands,
                hint=words("allow fewer cells of a column: ", Option("bands", 20), "."),
            )
        alone = {k: self._scores((k,)) - self.base_score for k in self.axes}
        terms = [self._term((k,), effects) for k, effects in alone.items()]
        for j, k in pairs:
            both = self._scores((j, k)) - self.base_score
            terms.append(self._term((j, k), both - alone[j][:, None] - alone[k][None, :]))
        return tuple(term for term in terms if term is not None)

    def _term(self, players: Players, effects: Floats) -> FactorTerm | None:
        """Join cells that are equal; None where a term is zero everywhere."""
        slope = self.cells.lines.get(players[0], 0.0) if len(players) == 1 else 0.0
        size = np.abs(effects).max()  # NaN, and kept, where the model does not take gaps
        if not slope and size <= self.tolerance:
            return None
        axes = []
        for place, k in enumerate(players):
            axis, joined = self.axes[k].merged(np.moveaxis(effects, place, 0), self.tolerance)
            effects = np.moveaxis(joined, 0, place)
            axes.append(axis)
        places = [a.places(self.cells.column(k)) for a, k in zip(axes, players, strict=True)]
        flat = np.ravel_multi_index(tuple(places), effects.shape)
        mass = np.bincount(flat, self.cells.weights, effects.size)
        shares = np.asarray(mass, np.float64).reshape(effects.shape)
        origin = float(self.values[players[0]][self.at[players[0]]]) if slope else 0.0
        return FactorTerm(tuple(axes), effects, shares, slope, origin)
