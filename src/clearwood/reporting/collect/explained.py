"""The model of a report: imported once, and every explanation on the page made through it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.draws import draw_rows
from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.condensing import Condensed, condense, with_surrogates
from clearwood.explanation import (
    Attention,
    Coefficients,
    Decomposition,
    Effect,
    Explanation,
    Factors,
    IntegratedGradients,
    Predictor,
    Shapley,
    TermTable,
    TrainingCurve,
    Unit,
    attention,
    coefficients,
    factors_of_game,
    integrated_gradients,
    leaves_of,
    readable_order,
    training_curve,
)
from clearwood.forest import Forest
from clearwood.models import Learner, equation, has_equation
from clearwood.table import Parts, Table

__all__ = [
    "EVALUATIONS",
    "ExplainedModel",
    "PartsKind",
    "explained_model",
    "parts_kind",
    "some_rows",
]

#: Draws of the bootstrap behind a band, and how often the band is meant to cover.
_DRAWS, _CONFIDENCE = 100, 0.9
# Bytes for one tree, whatever else the machine does.
_BYTES = 2e9
# Cells of pairs in a table of factors, at most.
_MOST_CELLS = 20_000
#: Evaluations for one row, and background rows, where Shapley values are estimated.
EVALUATIONS = 2000
_BACKGROUND_ROWS = 25


class PartsKind(StrEnum):
    """How the parts of a prediction combine, which decides how the page writes them."""

    SUM = "sum"  # parts add up to the prediction itself
    ODDS = "odds"  # parts are log odds: each multiplies the odds
    FACTOR = "factor"  # parts are logs: each multiplies the prediction
    SCORE = "score"  # parts add up to a score that some other link turns into the prediction


_PARTS = {
    Unit.PREDICTION: PartsKind.SUM,
    Unit.PROBABILITY: PartsKind.SUM,
    Unit.LOG_ODDS: PartsKind.ODDS,
    Unit.LOG_MEAN: PartsKind.FACTOR,
}


def parts_kind(unit: Unit) -> PartsKind:
    """Return how numbers of a unit combine.

    Examples
    --------
    >>> parts_kind(Unit.LOG_ODDS)
    <PartsKind.ODDS: 'odds'>
    """
    return _PARTS.get(unit, PartsKind.SCORE)


@dataclass(frozen=True, eq=False)
class ExplainedModel:
    """A model, imported once, and the table that it is explained on; and it as a function."""

    explanation: Explanation
    predictor: Predictor

    @property
    def model(self) -> Any:
        """The model, as it was given."""
        return self.explanation.model

    @property
    def table(self) -> Table:
        """The rows."""
        table: Table = self.explanation.data
        return table

    @property
    def forest(self) -> Forest | None:
        """The model as it was imported, if it is made of trees."""
        return self.explanation.forest

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that the model uses."""
        return self.predictor.names

    @property
    def classes(self) -> tuple[str, ...]:
        """Labels in the order of the columns of probabilities; empty for numbers."""
        return tuple(str(label) for label in self.predictor.scorer.classes)

    @property
    def is_probability(self) -> bool:
        """Whether predictions are probabilities."""
        return self.predictor.unit.is_probability

    @property
    def n_leaves(self) -> int | None:
        """Leaves of all trees; None if the model has none."""
        return leaves_of(self.explanation.exact_game)

    @property
    def readable_order(self) -> int | None:
        """The most columns of a term, if the model can be read term by term; else None."""
        return readable_order(self.explanation)

    def on(self, rows: Table) -> Explanation:
        """Return the model over other rows; nothing is imported again."""
        if rows is self.table:
            return self.explanation
        other = self.explanation.on(rows)
        assert isinstance(other, Explanation)
        return other

    def predict(self, rows: Table) -> Floats:
        """Predict rows: numbers, probabilities by class, or positions of predicted classes."""
        predictor = self.predictor if rows is self.table else self.on(rows).predictor()
        predicted = predictor.predict(np.arange(rows.n_rows))
        n_classes = len(self.classes)
        if n_classes == 2 and predicted.shape[1] == 1:
            if self.is_probability:
                return np.column_stack([1 - predicted, predicted])
            return np.asarray(predicted[:, 0] > 0, np.float64)
        if n_classes > 2 and not self.is_probability:
            return np.asarray(predicted.argmax(axis=1), np.float64)
        return np.asarray(predicted[:, 0] if predicted.shape[1] == 1 else predicted)

    def decompose(
        self, rows: Any, *, is_sampled: bool, max_order: int, time_limit: float | None, seed: int
    ) -> Decomposition:
        """Decompose the prediction, from sampled predictions or exactly."""
        in_parts = self.explanation.in_parts
        if in_parts is not None and rows is self.table and not is_sampled:
            rows = in_parts.parts  # exact over all of them
        result = self.explanation.on(
            rows,
            max_order=max_order,
            exact=not is_sampled,
            n_background=None if is_sampled else "all",  # the rows were drawn to be all used
            time_limit=time_limit,
            seed=seed,
        ).decomposition
        names = self._named(result.columns)
        return replace(
            result,
            columns=tuple(names[name] for name in result.columns),
            components=tuple(tuple(names[name] for name in part) for part in result.components),
        )

    def terms(self, rows: Table, order: int) -> TermTable:
        """Return the terms of a model that can be read term by term."""
        explained = self.explanation.on(rows, max_order=order)
        assert isinstance(explained, Explanation)
        table = explained.terms()
        names = self._named(self.explanation.game.columns)
        named = tuple(
            replace(term, columns=tuple(names[name] for name in term.columns))
            for term in table.terms
        )
        return replace(table, terms=named)

    def coefficients(self) -> Coefficients | None:
        """Return the coefficients of a linear learner explained on its training rows, or None."""
        if not isinstance(self.model, Learner) or self.table.target is None:
            return None
        with warnings.catch_warnings():
            # the table has what they would say as a note
            warnings.simplefilter("ignore", ClearwoodWarning)
            try:
                return coefficients(self.model, self.table)
            except InputError:
                return None

    def equation(self) -> Any:
        """Write out the model, or return None where it cannot be written out."""
        return equation(self.model) if has_equation(self.model) else None

    def training(self) -> TrainingCurve | None:
        """Return the training of a network, or None."""
        try:
            return training_curve(self.model)
        except InputError:
            return None

    def gradients(self, row: int) -> IntegratedGradients:
        """Divide the prediction of a row of the table by integrated gradients."""
        return integrated_gradients(self.model, self.table, row)

    def attention(self, rows: Table) -> Attention | None:
        """Return the attention of a transformer, or None."""
        try:
            return attention(self.model, rows)
        except InputError:
            return None

    def factors(self) -> Factors | None:
        """Return the model as a table of factors; None for other models than learners."""
        game = self.explanation.exact_game
        if not isinstance(self.model, Learner) or game is None or game.longest > 2:
            return None
        if self.model.task_.is_classification and len(self.model.classes_) != 2:
            return None
        with warnings.catch_warnings():  # the table has what they would say as a note
            warnings.simplefilter("ignore", ClearwoodWarning)
            table = factors_of_game(self.model, game, self.table, most_cells=_MOST_CELLS)
        # a model file holds how long its fit took, and the same report is the same page
        return replace(table, sha256="")

    def effect(
        self,
        column: str,
        *,
        kind: Literal["pdp", "ice", "ale"],
        points: int,
        grid: Sequence[Any] | None,
        n_rows: int,
        time_limit: float | None,
        seed: int,
    ) -> Effect:
        """Return the effect of one column over so many rows of the table."""
        is_curves = kind == "ice"
        with warnings.catch_warnings():
            # the page shows where it extrapolates
            warnings.simplefilter("ignore", ClearwoodWarning)
            return self.explanation.effect(
                column,
                kind=kind,
                points=points,
                grid=grid,
                sample=n_rows,
                bands=0 if is_curves else _DRAWS,
                band="rows",
                confidence=_CONFIDENCE,
                exact=False,
                extrapolation=not is_curves,
                time_limit=time_limit,
                seed=seed,
            )

    def shapley(
        self, rows: Table, *, is_sampled: bool, time_limit: float | None, seed: int
    ) -> Shapley:
        """Return interventional Shapley values of rows over the same rows."""
        options: dict[str, Any] = {"seed": seed}
        if is_sampled:
            options |= {
                "method": "permutation",
                "max_evaluations": EVALUATIONS,
                "n_background": min(_BACKGROUND_ROWS, rows.n_rows),
                # predictions one by one are slower than those of all rows at once
                "time_limit": None if time_limit is None else 4 * time_limit,
            }
        values: Shapley = self.on(rows).shapley(**options)
        if len(values) < rows.n_rows:
            raise InputError(
                f"the time limit was reached after {len(values)} of {rows.n_rows} rows",
                hint="cw.shapley(model, data, rows) explains single rows.",
            )
        names = self._named(values.columns)
        return replace(values, columns=tuple(names[name] for name in values.columns))

    def condense(self, *, nodes: int, time_limit: float | None) -> Condensed:
        """Return one tree in place of the model."""
        if self.forest is None:
            raise InputError("the model is not a tree, a forest or boosted trees")
        condensed = condense(
            self.forest, self.table, nodes=nodes, time_limit=time_limit, memory=_BYTES
        )
        return with_surrogates(condensed, self.model)

    def _named(self, columns: Sequence[str]) -> dict[str, str]:
        """Map a result's columns to the table's: a model fitted to an array has only positions."""
        own = self.features
        if len(own) == len(columns) and not set(columns) <= set(own):
            return dict(zip(columns, own, strict=True))
        return {name: name for name in columns}


def explained_model(model: Any, table: Table | Parts, *, n_jobs: int = 1) -> ExplainedModel:
    """Import a model, once for the whole report, and check that it can predict the table.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = explained_model(cw.learner("gbm", max_iter=5).fit(data), data)
    >>> model.forest.n_trees, len(model.features)
    (5, 10)
    """
    explanation = Explanation(model, table, n_jobs=n_jobs)
    return ExplainedModel(explanation, explanation.predictor())


def some_rows(table: Table, most: int, seed: int) -> Table:
    """Return at most so many rows of a table, drawn with the seed, in their order."""
    return table if table.n_rows <= most else table.take(draw_rows(table.n_rows, most, seed=seed))
