"""From a model that is a sum of functions of one and two columns to a table of factors.

The components are anchored at a base b: F_j(x) = f(x, b) − f(b) and F_jk(x, z) = f(x, z, b) −
f(x, b) − f(z, b) + f(b), where all columns that are not named have the base. If no more than two
columns interact, f(b) and these add up to f, and each is zero where one of its columns is at the
base. They are differences of scores, so nothing is averaged over rows.
"""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import (
    Call,
    ClearwoodWarning,
    InputError,
    Option,
    bad_value,
    did_you_mean,
    unknown_choice,
    words,
)
from clearwood.explanation.adapter.explained import Explained
from clearwood.explanation.adapter.supported import NotDecomposableError
from clearwood.explanation.factors.cells import (
    Axis,
    levelled,
    middles,
    steps_of,
    thinned,
    user_cuts,
)
from clearwood.explanation.factors.result import FactorLosses, Factors, FactorTerm
from clearwood.explanation.games.game import Game, Players
from clearwood.explanation.scales import Unit
from clearwood.losses import default_loss, find_loss
from clearwood.models import Learner
from clearwood.table import NUMERIC, Column, Table, as_table, read_as

__all__ = ["factors"]

#: Cells of a column with a curve, unless the user says how many.
_BANDS = 50
_MOST_CELLS = 2_000_000
_MIXED_ROWS = 300
_ON_A_LINE = 65
#: Of a column with a curve: cells before they are joined, and rows in which the curve is looked at.
_FINE_CELLS = 500
_CURVES = 8
#: Rounding: what scores differ by at most, relative to their size, that are equal.
_ROUNDING = 1e-14
#: The same for sums of many effects.
_AGREEING = 1e-9


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
    cells = _Cells(game, rows, weights / weights.sum(), bands)
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
        n_mixed=_MIXED_ROWS,
        losses=None,
        _schema=learner.schema_,
    )
    return _compared(result, learner, cells, table, seed)


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


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of all columns, before any are joined, and codes of numbers in them."""

    game: Game
    table: Table
    weights: Floats
    bands: int | None

    @cached_property
    def player(self) -> dict[str, int]:
        """The position of each column among the players."""
        return {name: k for k, name in enumerate(self.game.columns)}

    @cached_property
    def sets(self) -> list[Players]:
        """The columns and pairs that the model has."""
        return self.game.sets(2)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The columns that the model has, all of them numbers or levels."""
        used = sorted({k for players in self.sets for k in players})
        used = [k for k in used if (self.game.groups == k).any()]
        for k in used:
            column = self.column(k)
            if not column.is_coded and column.kind not in NUMERIC:
                raise InputError(
                    f"column {column.name!r} is a {column.kind}, which has no cells in a table",
                    parameter="model",
                    value=column.name,
                    hint="fit the model without it, or with the year or month as columns.",
                )
        return tuple(used)

    def column(self, k: int) -> Column:
        """Return the user's column of a player."""
        return self.table.column(self.game.columns[k])

    def numbers(self) -> list[int]:
        """Return the players that are numbers."""
        return [k for k in self.used if not self.column(k).is_coded]

    def codes(self, values: Mapping[int, Floats]) -> Floats:
        """Return codes of the first row, repeated, with columns at values; the last one repeats."""
        longest = max(map(len, values.values()), default=1)
        first = self.table.take(np.zeros(longest, np.intp))
        changed = {}
        for k, own in values.items():
            column = self.column(k)
            padded = own[np.minimum(np.arange(longest), len(own) - 1)]
            changed[column.name] = replace(column, values=padded.astype(column.values.dtype))
        columns = tuple(changed.get(column.name, column) for column in first.columns)
        return self.game.rows(replace(first, columns=columns)).codes

    @cached_property
    def takes_missing(self) -> frozenset[int]:
        """The players for which the model has a rule if they are missing."""
        return (
            frozenset(self.used)
            if self._takes(self.used)
            else frozenset(k for k in self.used if self._takes([k]))
        )

    def _takes(self, players: Iterable[int]) -> bool:
        try:
            return bool(np.isfinite(self.score(self.gaps(players))).all())
        except (InputError, ValueError, TypeError):
            return False

    def gaps(self, players: Iterable[int]) -> Floats:
        """Return the codes of a row in which columns are missing."""
        with warnings.catch_warnings():  # that nothing is known of this row
            warnings.simplefilter("ignore", ClearwoodWarning)
            return self.codes({k: self.missing(k) for k in players})

    def missing(self, k: int) -> Floats:
        """Return a missing value of a column."""
        return np.array([-1.0 if self.column(k).is_coded else np.nan])

    def score(self, codes: Floats) -> Floats:
        """Return the score of codes, before the link."""
        return self.game.predict(self._some.with_codes(codes))[:, -1]

    @cached_property
    def _some(self) -> Any:
        return self.game.rows(self.table.take(np.zeros(1, np.intp)))

    @cached_property
    def lines(self) -> dict[int, float]:
        """The slope of each column in which the score is a straight line, far beyond the data."""
        paired = {k for players in self.sets if len(players) == 2 for k in players}
        tried = {}
        for k in self.numbers():
            known = self.column(k).values[~self.column(k).missing]
            if k in self._steps.smooth and k not in paired and len(known):
                width = float(np.ptp(known)) or 1.0
                tried[k] = np.linspace(known.min() - width, known.max() + width, _ON_A_LINE)
        slopes = {}
        for k, values in tried.items():
            score = self.score(self.codes({k: values}))
            slope = (score[-1] - score[0]) / (values[-1] - values[0])
            line = score[0] + slope * (values - values[0])
            if np.abs(line - score).max() <= 1e-13 * max(1.0, np.abs(score).max()):
                slopes[k] = float(slope)
        return slopes

    @cached_property
    def _steps(self) -> Any:
        return steps_of(self.game)

    @cached_property
    def cuts(self) -> dict[int, Floats]:
        """Where the model steps, for columns of numbers; between all values, for curves."""
        wanted = {}
        groups = np.asarray(self.game.groups)
        for k in self.numbers():
            own = [j for j in np.flatnonzero(groups == k).tolist() if j in self._steps.thresholds]
            if k not in self._steps.smooth and own:
                cuts = [self._steps.thresholds[j] for j in own]
                wanted[k] = (np.repeat(own, list(map(len, cuts))), np.concatenate(cuts))
        result = user_cuts(wanted, self.codes)
        for k in self.numbers():
            if k in self.lines or k not in self._steps.smooth:
                result.setdefault(k, np.empty(0))
            else:
                values = self.column(k).values
                fine = thinned(middles(values), values, self.weights, _FINE_CELLS)
                # also evenly, as a curve may be steep where there are few rows
                even = np.linspace(fine[0], fine[-1], _FINE_CELLS // 2) if len(fine) else fine
                result[k] = np.union1d(fine, even)
        return result

    @cached_property
    def bands_of(self) -> dict[int, tuple[Floats, Floats]]:
        """Cuts, and a value in each cell, of the columns that are approximated by fewer cells."""
        result = {}
        for k in self.numbers():
            smooth = k in self._steps.smooth and k not in self.lines
            most = self.bands or (_BANDS if smooth else None)
            if most is None or not (smooth or len(self.cuts[k]) >= most):
                continue
            cuts = self.cuts[k]
            values = self.typical(k, Axis(self.column(k).name, None, cuts))
            curves = self._curves(k, values)
            starts = levelled(curves, most)
            chosen = [
                start + _nearest_to_middle(curves[start:end])
                for start, end in pairwise([*starts, len(values)])
            ]
            result[k] = cuts[np.array(starts[1:], np.intp) - 1], values[chosen]
        return result

    def _curves(self, k: int, values: Floats) -> Floats:
        """Return the score at values of a column in some rows, (values, rows)."""
        some = np.linspace(0, self.table.n_rows - 1, _CURVES).astype(np.intp)
        others = self.game.rows(self.table.take(some)).codes
        own = self.codes({k: values})
        mine = np.asarray(self.game.groups) == k
        codes = np.where(mine, own[:, None, :], others[None, :, :])
        return self.score(codes.reshape(-1, codes.shape[2])).reshape(len(values), len(some))

    @property
    def banded(self) -> frozenset[int]:
        """The columns of which the table is an approximation."""
        return frozenset(self.bands_of)

    def axis(self, k: int) -> Axis:
        """Return the cells of a column."""
        column = self.column(k)
        if column.is_coded:
            return Axis(column.name, column.levels, np.empty(0), column.header)
        cuts = self.bands_of[k][0] if k in self.bands_of else self.cuts[k]
        return Axis(column.name, None, cuts, column.header)

    def values(self, k: int, axis: Axis) -> Floats:
        """Return a value in each cell."""
        if axis.levels is not None:
            return np.arange(axis.n_known, dtype=np.float64)
        return self.bands_of[k][1].copy() if k in self.bands_of else self.typical(k, axis)

    def typical(self, k: int, axis: Axis) -> Floats:
        """Return the weighted median of each cell of numbers; its end where it has no rows."""
        last = np.nextafter(axis.cuts[-1:], np.inf) if len(axis.cuts) else np.zeros(1)
        values = np.concatenate([axis.cuts, last])
        column = self.column(k)
        places = axis.places(column)
        for cell in np.unique(places[~column.missing]).tolist():
            own = np.flatnonzero(places == cell)
            own = own[np.argsort(column.values[own], kind="stable")]
            passed = np.cumsum(self.weights[own])
            values[cell] = column.values[own[np.searchsorted(passed, passed[-1] / 2)]]
        return values


def _nearest_to_middle(curves: Floats) -> int:
    """Return the row that is nearest to the middle of the range of all curves."""
    middle = (curves.min(axis=0) + curves.max(axis=0)) / 2
    return int(np.argmin(np.abs(curves - middle).max(axis=1)))


def _check_base(cells: _Cells, base: Mapping[str, Any]) -> None:
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

    def __init__(self, cells: _Cells, base: Mapping[int, Any]) -> None:
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


def _compared(result: Factors, learner: Learner, cells: _Cells, table: Table, seed: int) -> Factors:
    """Compare the table with the model, row by row, and by the loss where there is a target."""
    largest, agrees = 0.0, not result.banded
    for rows in (cells.table, _mixed(cells, seed)):
        with warnings.catch_warnings():  # that nothing is known of a mixed row
            warnings.simplefilter("ignore", ClearwoodWarning)
            own, made = _predicted(learner, rows), result.predict(rows)
            score, added = cells.game.predict(cells.game.rows(rows))[:, -1], result.score(rows)
        off = np.abs(made / own - 1) if result.unit is Unit.LOG_MEAN else np.abs(made - own)
        largest = float(np.maximum(largest, off.max()))
        agrees &= bool(np.allclose(added, score, rtol=0, atol=_AGREEING * np.abs(score).max()))
    losses = None
    if result.banded and table.target is not None:
        losses = _losses(result, learner, cells, table)
    return replace(result, largest_difference=largest, is_exact=agrees, losses=losses)


def _predicted(learner: Learner, rows: Table) -> Floats:
    """Return the model's prediction; for classes, the probability of the second one."""
    if learner.task_.is_classification:
        return np.asarray(learner.predict_proba(rows)[:, 1])
    return np.asarray(learner.predict(rows), np.float64)


def _losses(result: Factors, learner: Learner, cells: _Cells, table: Table) -> FactorLosses:
    """Compute the mean loss of the model and of the table."""
    y = np.asarray(table.y)
    if learner.task_.is_classification:
        y = (y == learner.classes_[1]).astype(np.intp)
    own, made = _predicted(learner, cells.table), result.predict(cells.table)
    loss = default_loss(learner.task_, y)
    if not learner.task_.is_classification and min(own.min(), made.min()) <= 0:
        loss = find_loss("squared")  # deviances need positive predictions

    def mean(predicted: Floats) -> float:
        if learner.task_.is_classification:
            predicted = np.column_stack([1 - predicted, predicted])
        return float(cells.weights @ loss.per_row(y, predicted))

    return FactorLosses(loss.risk_title, mean(own), mean(made))


def _mixed(cells: _Cells, seed: int) -> Table:
    """Put rows together at random: every column drawn by itself, all its levels and gaps too."""
    generator = np.random.default_rng(seed)
    rows = cells.table.take(generator.integers(0, cells.table.n_rows, _MIXED_ROWS))
    drawn = {}
    for k in cells.used:
        column = cells.column(k)
        known = column.values[~column.missing]
        if column.is_coded:
            values = generator.integers(0, len(column.levels), _MIXED_ROWS).astype(np.float64)
        elif len(known):
            between = generator.uniform(known.min(), known.max(), _MIXED_ROWS)
            half = generator.random(_MIXED_ROWS) < 0.5
            values = np.where(half, generator.choice(known, _MIXED_ROWS), between)
        else:
            continue
        if k in cells.takes_missing:
            values[generator.random(_MIXED_ROWS) < 0.1] = cells.missing(k)[0]
        drawn[column.name] = replace(column, values=values.astype(column.values.dtype))
    return replace(rows, columns=tuple(drawn.get(c.name, c) for c in rows.columns))
