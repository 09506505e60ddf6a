"""The product of models with a log link, such as frequency times severity, as one table."""

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.errors import ClearwoodWarning, InputError, Option, words
from clearwood._shared.numbers import number
from clearwood.checks import Level, level_of
from clearwood.explanation.factors.cells import FactorAxis, constant_of, shifted, trimmed
from clearwood.explanation.factors.comparison import AGREEING, MIXED_ROWS, predicted
from clearwood.explanation.factors.files import read_text
from clearwood.explanation.factors.result import Factors, FactorTerm
from clearwood.models import Learner
from clearwood.table import NUMERIC, Column, Schema, Table, as_table

__all__ = ["compared_product", "levelled", "product_of"]

_NO_ERRORS = (
    "the table is a product of models and has no standard errors; the table of each model by "
    "itself may have some"
)


def product_of(tables: Sequence[Factors]) -> Factors:
    """Multiply tables of factors with the same base: their effects are added, cell by cell.

    Shares of cells are not known yet where cells of one table part those of another.
    """
    columns = reduce(_joined_schema, [table.schema for table in tables])
    terms: dict[frozenset[str], FactorTerm] = {}
    for table in tables:
        for term in table.terms:
            own = _with_levels(term, columns)
            key = frozenset(term.columns)
            terms[key] = own if key not in terms else _added(terms[key], own)
    ordered = sorted(terms.values(), key=lambda term: len(term.axes))
    return Factors(
        base={name: value for table in tables[::-1] for name, value in table.base.items()},
        base_score=sum(table.base_score for table in tables),
        terms=tuple(ordered),
        unit=tables[0].unit,
        outcome=" × ".join(table.outcome for table in tables),
        model=" × ".join(table.model for table in tables),
        banded=tuple(dict.fromkeys(name for table in tables for name in table.banded)),
        sha256=" ".join(table.sha256 for table in tables).strip(),
        notes=(_NO_ERRORS,),
        ranges={name: ends for table in tables for name, ends in table.ranges.items()},
        schema=columns,
    )


def compared_product(
    result: Factors, learners: Sequence[Learner], rows: Sequence[Table], weights: Floats, seed: int
) -> Factors:
    """Compare the table with the product of the predictions, and count the weight of its cells.

    ``rows`` has the features of each model in the same rows.
    """
    generator = np.random.default_rng(seed)
    # of a column of several models, the one of the first
    features = {c.name: c for table in rows[::-1] for c in table.columns}
    n_rows = rows[0].n_rows
    drawn = {name: generator.integers(0, n_rows, MIXED_ROWS) for name in features}
    of_file = read_text(result.to_csv())
    largest, means = 0.0, [1.0, 1.0]
    for mixed in (False, True):
        index = drawn if mixed else dict.fromkeys(features, np.arange(n_rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClearwoodWarning)
            own = np.prod(
                [predicted(m, _taken(r, index)) for m, r in zip(learners, rows, strict=True)],
                axis=0,
            )
            all_features = replace(rows[0], columns=tuple(features.values()))
            made = of_file.predict(_taken(all_features, index))
        largest = float(np.maximum(largest, np.abs(made / own - 1).max()))
        if not mixed:
            means = [float(weights @ own), float(weights @ made)]
    return replace(
        result,
        terms=tuple(_with_shares(term, features, weights, result.schema) for term in result.terms),
        largest_difference=largest,
        is_exact=not result.banded and largest <= AGREEING,
        n_rows=n_rows,
        n_mixed=MIXED_ROWS,
        rebalancing=means[0] / means[1] if result.banded and means[1] else 1.0,
    )


def levelled(
    result: Factors,
    learners: Sequence[Learner],
    rows: Sequence[Table],
    table: Table,
    confidence: float,
    *,
    rebalance: bool,
) -> Factors:
    """State how the total that the product predicts compares with what was observed.

    It is known where the exposure of each model is what the one before it predicts, as claims are
    that of the amount per claim, and ``table`` has the target of the last. With ``rebalance`` the
    base value is multiplied so that the product keeps the observed total.
    """
    level = _level(learners, rows, table, confidence)
    if level is None:
        if rebalance:
            raise InputError(
                "the observed total is not known: the data must have the target of the last model, "
                "and the exposure of each model must be what the one before it predicts",
                parameter="rebalance",
                value=True,
                hint=words("leave ", Option("rebalance"), " out."),
            )
        return result
    if not rebalance:
        note = str(words("over these rows ", level.advice))
        return replace(result, notes=(*result.notes, note))
    note = f"the base value is multiplied by {number(level.ratio)}: over these rows {level.text}"
    return replace(
        result,
        base_score=result.base_score + float(np.log(level.ratio)),
        notes=(*result.notes, note),
    )


def _level(
    learners: Sequence[Learner], rows: Sequence[Table], table: Table, confidence: float
) -> Level | None:
    """Compare the total that the product predicts with what was observed in the same rows."""
    chain = [learner.schema_ for learner in learners]
    follows = all(two.exposure == one.target for one, two in itertools.pairwise(chain))
    target = chain[-1].target
    if len(chain) < 2 or not follows or target is None or target not in table.names:
        return None
    column = table.column(target)
    if column.kind not in NUMERIC or (chain[0].exposure is not None and table.exposures is None):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClearwoodWarning)
        rate = np.prod([predicted(m, r) for m, r in zip(learners, rows, strict=True)], axis=0)
    exposure = np.ones(table.n_rows) if table.exposures is None else table.exposures
    weight = np.ones(table.n_rows) if table.row_weights is None else table.row_weights
    # what no claim led to is often not written down
    amount = column.values
    if table.target is not None and table.target == chain[-2].target:
        amount = np.where(table.target_column.values == 0, np.nan_to_num(amount), amount)
    known = np.isfinite(amount)
    observed = np.where(known, amount, 0.0)
    return level_of(observed, exposure * rate * known, weight, table.groups, confidence)


def _taken(table: Table, index: Mapping[str, Index]) -> Table:
    """Take rows of each column by itself."""
    return replace(table, columns=tuple(c.take(index[c.name]) for c in table.columns))


def _with_shares(
    term: FactorTerm, features: Mapping[str, Column], weights: Floats, schema: Schema
) -> FactorTerm:
    """Count the weight in the cells of a term."""
    table = as_table(Table(tuple(features[name] for name in features)), schema=schema)
    own = [axis.places(table.column(axis.column)) for axis in term.axes]
    flat = np.ravel_multi_index(tuple(own), term.effects.shape)
    mass = np.bincount(flat, weights, term.effects.size)
    return replace(term, shares=np.asarray(mass, np.float64).reshape(term.effects.shape))


def _joined_schema(one: Schema, other: Schema) -> Schema:
    """Join the features of two models; levels of both."""
    columns = {name: one[name] for name in one.features}
    for name in other.features:
        own = other[name]
        known = columns.get(name)
        if known is not None and bool(known.levels) != bool(own.levels):
            raise InputError(
                f"column {name!r} is a {known.kind} in one model and a {own.kind} in another",
                parameter="model",
                value=name,
                hint="read the tables of both models with the same kinds.",
            )
        levels = () if known is None else known.levels
        more = tuple(level for level in own.levels if level not in levels)
        columns[name] = own if known is None else replace(known, levels=(*levels, *more))
    return Schema(tuple(columns.values()))


def _with_levels(term: FactorTerm, schema: Schema) -> FactorTerm:
    """List all levels of both models; those that a model lacks are its other levels."""
    for at, axis in enumerate(term.axes):
        if axis.levels is None or axis.levels == schema[axis.column].levels:
            continue
        levels = schema[axis.column].levels
        known = {level: k for k, level in enumerate(axis.levels)}
        n = len(axis.levels)
        places = [*(known.get(level, n) for level in levels), n, n + 1]
        new = replace(axis, levels=levels)
        codes = np.append(np.arange(len(levels) + 1, dtype=np.float64), -1.0)
        term = _at_cells(term, at, new, np.array(places), codes)
    return term


def _at_cells(
    term: FactorTerm, at: int, axis: FactorAxis, places: Index, origins: Floats
) -> FactorTerm:
    """Take cells of one column, which may occur several times, as those of another axis."""
    powers = None if term.powers is None else np.take(term.powers, places, axis=at)
    return replace(
        term,
        axes=tuple(axis if k == at else own for k, own in enumerate(term.axes)),
        effects=np.take(term.effects, places, axis=at),
        shares=np.take(term.shares, places, axis=at),
        origins=tuple(origins if k == at else own for k, own in enumerate(term.origins)),
        powers=powers,
        errors=None,
    )


def _added(one: FactorTerm, other: FactorTerm) -> FactorTerm:
    """Add two terms of the same columns."""
    if one.columns != other.columns:
        other = _swapped(other)
    for at, axis in enumerate(one.axes):
        if axis.levels is None:
            cuts = np.union1d(axis.cuts, other.axes[at].cuts)
            origins = _common_origins(cuts, one.origins[at], other.origins[at])
            one = _recut(one, at, cuts, origins)
            other = _recut(other, at, cuts, origins)
    effects = one.effects + other.effects
    n = len(one.axes)
    if one.powers is None and other.powers is None:
        return replace(one, effects=effects, errors=None)
    both = [_full_powers(term) for term in (one, other)]
    shape = np.maximum(both[0].shape, both[1].shape)
    powers = np.zeros(tuple(shape.tolist()))
    for own in both:
        powers[tuple(slice(size) for size in own.shape)] += own
    powers = trimmed(powers, n)
    kept = powers if powers.size > effects.size else None
    return replace(one, effects=powers[constant_of(n)], powers=kept, errors=None)


def _swapped(term: FactorTerm) -> FactorTerm:
    """Return the term of a pair in the other order."""
    powers = None if term.powers is None else term.powers.transpose(1, 0, 3, 2)
    return replace(
        term,
        axes=term.axes[::-1],
        effects=term.effects.T,
        shares=term.shares.T,
        origins=term.origins[::-1],
        powers=powers,
        errors=None,
    )


def _full_powers(term: FactorTerm) -> Floats:
    """Return the coefficients of a term, also where its cells are constant."""
    if term.powers is not None:
        return term.powers
    return term.effects.reshape(*term.effects.shape, *(1,) * len(term.axes))


def _common_origins(cuts: Floats, *origins: Floats) -> Floats:
    """Choose a number in each cell, of the given ones where some lie in it; NaN for missing."""
    result = np.concatenate([cuts, np.nextafter(cuts[-1:], np.inf) if len(cuts) else [0.0]])
    for own in origins[::-1]:
        known = own[np.isfinite(own)]
        result[np.searchsorted(cuts, known)] = known
    return np.append(result, np.nan)


def _recut(term: FactorTerm, at: int, cuts: Floats, origins: Floats) -> FactorTerm:
    """Part the cells of a column of numbers at more cuts, with polynomials about new origins."""
    axis = term.axes[at]
    cells = np.searchsorted(axis.cuts, origins[:-1])
    places = np.append(cells, axis.n_known)
    before = term.origins[at][places]
    result = _at_cells(term, at, replace(axis, cuts=cuts), places, origins)
    if term.powers is None or result.powers is None:
        return result
    n = len(term.axes)
    own = np.moveaxis(result.powers, (at, n + at), (0, 1))
    moved = shifted(own[:-1], (origins - before)[:-1], np.ones(len(origins) - 1))
    own = np.concatenate([moved, own[-1:]])
    powers = np.moveaxis(own, (0, 1), (at, n + at))
    return replace(result, powers=powers, effects=powers[constant_of(n)])
