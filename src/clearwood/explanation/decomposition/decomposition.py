"""A prediction as a sum of functions of few columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from clearwood._shared.arrays import Floats
from clearwood._shared.checks import check_confidence, check_whole
from clearwood._shared.choices import BandSource, ValueFunction
from clearwood._shared.errors import InputError, Option, did_you_mean, words
from clearwood._shared.frames import frame, unique_name
from clearwood._shared.numbers import count, number
from clearwood._shared.results import document, html_table
from clearwood.explanation.decomposition.arithmetic import Arithmetic
from clearwood.explanation.decomposition.surface import Surface
from clearwood.explanation.games.spread import standard_errors as errors_of
from clearwood.explanation.results.about import About, BackgroundInfo, one_output, row_columns
from clearwood.explanation.results.effect import BANDS, Effect
from clearwood.explanation.results.importance import (
    ComponentVariances,
    Importance,
    Interactions,
    joined,
)
from clearwood.explanation.results.shapley import Shapley
from clearwood.fitted import Scale
from clearwood.table import shown_name

__all__ = ["Components", "Decomposition", "counted_orders"]


def counted_orders(sets: Sequence[tuple[str, ...]]) -> str:
    """Say how many components there are of each order.

    Examples
    --------
    >>> counted_orders([("a",), ("b",), ("a", "b")])
    '2 main effects, 1 interaction of 2 columns'
    """
    orders = np.bincount([len(names) for names in sets] or [0])
    return ", ".join(
        count(
            int(n),
            "main effect" if k == 1 else f"interaction of {k} columns",
            None if k == 1 else f"interactions of {k} columns",
        )
        for k, n in enumerate(orders)
        if n and k
    )


@dataclass(frozen=True, eq=False, repr=False)
class Components:
    """What each component adds to the prediction of each row.

    Baseline, components and remainder add up to the raw prediction.

    Parameters
    ----------
    sets
        The columns of each component.
    values
        Of shape (rows, components), or (rows, components, outputs) where there are several.
    remainder
        What lies beyond the order of the decomposition: (rows,) or (rows, outputs).
    baseline
        The mean prediction over the background: a number, or one per output.
    rows
        Labels of the rows.
    about
        Value function, background and scale.
    standard_errors
        Of the shape of ``values``: of a sampled decomposition, or the model's own, where they are
        wanted; None elsewhere.
    errors_from
        What the standard errors come from: "draws" of rows, the "covariance" or the "posterior"
        of the model's coefficients, or models of "folds" or of a "bootstrap"; None where there
        are none.
    """

    sets: tuple[tuple[str, ...], ...]
    values: Floats
    remainder: Floats
    baseline: Any
    rows: NDArray[Any]
    about: About
    standard_errors: Floats | None = None
    errors_from: BandSource | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, columns: str | tuple[str, ...]) -> Floats:
        """Return one component at all rows; zero where the model has no such component."""
        wanted = {columns} if isinstance(columns, str) else set(columns)
        for k, names in enumerate(self.sets):
            if set(names) == wanted:
                return self.values[:, k]
        return np.zeros_like(self.remainder)

    def __repr__(self) -> str:
        return f"{len(self.sets)} components of {len(self):,} rows ({self.about})"

    def _repr_html_(self) -> str:
        shape = (len(self), len(self.sets), len(self.about.outputs))
        size = np.abs(self.values.reshape(shape)).sum(axis=(0, 2)) / max(1, shape[0] * shape[2])
        order = np.argsort(-size, kind="stable")[:20]
        rows = [(joined(self.sets[k]), number(float(size[k]))) for k in order]
        return html_table(repr(self), ("component", "mean absolute value"), rows)

    def to_frame(self, library: str | None = None) -> Any:
        """Return one line per row (and output), one column per component, and the remainder.

        Standard errors, where there are any, follow each component.
        """
        names = [joined(columns) for columns in self.sets]
        baseline = np.broadcast_to(self.baseline, self.remainder.shape)
        result = {unique_name("baseline", names): baseline}
        errors = self.standard_errors
        for k, name in enumerate(names):
            result[name] = self.values[:, k]
            if errors is not None:
                result[unique_name(f"standard error of {name}", names)] = errors[:, k]
        result[unique_name("remainder", names)] = self.remainder
        return frame(row_columns(self.rows, self.about.outputs, result), library)

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return document(
            {
                "sets": self.sets,
                "rows": self.rows,
                "values": self.values,
                "remainder": self.remainder,
                "standard_errors": self.standard_errors,
                "errors_from": self.errors_from,
                "baseline": self.baseline,
                "about": self.about.to_json(),
            }
        )


# The band of what is sampled: its confidence, and how many standard errors that is.
_CONFIDENCE, _NORMAL = 0.9, 1.6448536269514722


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Decomposition:
    """A model's prediction as f(x) = Σ_S f_S(x_S), one function for each set S of columns.

    Many such sums exist; this is the one of the marginal identification (Hiabu 2024, definition
    7.4.1 and theorem 7.4.2), over the background: f_∅ is the mean prediction, and the sum of f_T
    over all T ⊆ S is the partial dependence on S. The interventional Shapley value of column k is
    Σ_{S ∋ k} f_S / |S| (corollary 7.4.5). Components that touch a column cancel on average when
    that column alone is drawn from the background; where columns depend on each other, one
    component by itself need not average to zero.

    Components up to ``order`` are given one by one; what lies beyond is the remainder, exact too.
    Made by `clearwood.explain`.

    Parameters
    ----------
    columns
        The user's columns. One-hot columns and calendar parts of one column are that one column.
    components
        The sets of columns whose component can differ from zero, up to ``order``.
    order
        The most columns a component has.
    baseline
        The mean prediction over the background: a number, or one per output.
    about
        Model, value function, background and scale.
    notes
        What the reader should know.
    removed
        Columns whose components were dropped with `without`.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("gbm", max_depth=2, max_iter=20).fit(data)
    >>> why = cw.explain(model, data)
    >>> why.order, bool(abs(why.predict(data.head(3)) - model.predict(data.head(3))).max() < 1e-9)
    (2, True)
    """

    columns: tuple[str, ...]
    components: tuple[tuple[str, ...], ...]
    order: int
    baseline: Any
    about: About
    notes: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    _arithmetic: Arithmetic

    # What it is

    @property
    def value(self) -> ValueFunction:
        """The value function: always "interventional"."""
        return "interventional"

    @property
    def background(self) -> BackgroundInfo:
        """How many rows the background has, whether they have weights, where they came from."""
        assert self.about.background is not None
        return self.about.background

    @property
    def scale(self) -> Scale:
        """The scale on which components add up."""
        return self.about.scale

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs: of the classes, where there are several."""
        return self.about.outputs

    @property
    def is_complete(self) -> bool:
        """Whether the components add up to the prediction, with no remainder."""
        return self._arithmetic.is_complete

    @property
    def n_jobs(self) -> int:
        """Threads."""
        return self._arithmetic.bound.n_jobs

    def _position(self, column: str) -> int:
        column = shown_name(column, self._arithmetic.rows.columns)
        if column not in self.columns:
            raise InputError(
                f"there is no column {column!r}",
                parameter="column",
                value=column,
                hint=did_you_mean(str(column), self.columns),
            )
        if column in self.removed:
            raise InputError(f"column {column!r} was removed from this decomposition")
        return self.columns.index(column)

    # Functions of columns

    def effect(
        self,
        column: str,
        other: str | None = None,
        *,
        points: int | None = None,
        confidence: float = 0.9,
        simultaneous: bool = False,
    ) -> Effect:
        """Return the main effect of a column, or the interaction of two.

        The effect of one column is how far the mean prediction moves from the baseline when the
        column is held at a value; the interaction what is left once both effects are taken away.

        Parameters
        ----------
        column, other
            One or two of the user's columns.
        points
            The most values shown of a column of numbers or dates, at quantiles of the background;
            200 for one column and 30 for each of two by default, 40 and 12 where the
            decomposition is sampled. Categories are shown whole.
        confidence
            The coverage that a band aims at. There is one where the decomposition is sampled, or
            where it is known how far its score varies with other training data.
        simultaneous
            Whether the model's own band covers the whole curve rather than each of its points.

        Returns
        -------
        Effect
            At values that occur in the background, missing as a value of its own.

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> why = cw.explain(cw.learner("ols").fit(data), data)
        >>> bmi = why.effect("bmi", kind="component")
        >>> round(float(bmi.values @ bmi.shares), 6) + 0.0
        0.0
        """
        band = confidence, simultaneous
        return self._effect(column, other, points, band, partial_dependence=False)

    def partial_dependence(
        self,
        column: str,
        other: str | None = None,
        *,
        points: int | None = None,
        confidence: float = 0.9,
        simultaneous: bool = False,
    ) -> Effect:
        """Return the mean prediction with one or two columns held at each of their values.

        It is the baseline plus the components within these columns (Hiabu 2024, lemma 7.4.4), and
        exact over the whole background.

        Parameters
        ----------
        column, other, points, confidence, simultaneous
            As for `effect`.

        Returns
        -------
        Effect
        """
        band = confidence, simultaneous
        return self._effect(column, other, points, band, partial_dependence=True)

    def _effect(
        self,
        column: str,
        other: str | None,
        points: int | None,
        band: tuple[float, bool],
        *,
        partial_dependence: bool,
    ) -> Effect:
        names = (column,) if other is None else (column, other)
        players = tuple(self._position(name) for name in names)
        if len(set(players)) < len(players):
            raise InputError(
                f"{column!r} is given twice", hint=f"for its main effect: effect({column!r})."
            )
        if len(players) > self.order and not partial_dependence and not self.is_complete:
            raise InputError(
                f"the decomposition has components of order {self.order} only",
                parameter="max_order",
                value=self.order,
                hint=words("explain with ", Option("max_order", len(players)), "."),
            )
        if points is not None:
            check_whole("points", points, 2)
        surface = self._arithmetic.surface(players, points, partial_dependence=partial_dependence)
        shown = tuple(self.columns[player] for player in players)
        return self._shown(shown, surface, band, partial_dependence=partial_dependence)

    def _shown(
        self,
        names: tuple[str, ...],
        surface: Surface,
        band: tuple[float, bool],
        *,
        partial_dependence: bool,
    ) -> Effect:
        confidence, simultaneous = band
        check_confidence(confidence)
        spread, deviations, errors = None, surface.deviations, surface.errors
        half = None if errors is None else ndtri((1 + confidence) / 2) * errors
        source: BandSource | None = None if errors is None else "draws"
        freedom = np.inf
        if deviations is not None:
            spread = self._arithmetic.bound_spread()
            assert spread is not None
            half = spread.half_widths(deviations, confidence, simultaneous=simultaneous)
            errors, half = (one_output(part) for part in (errors_of(deviations), half))
            source, freedom = spread.spread.source, spread.least_freedom(deviations)
        return Effect(
            kind="pdp" if partial_dependence else "component",
            columns=names,
            grid=tuple(grid.values for grid in surface.grids),
            values=surface.values,
            shares=surface.shares,
            outside=np.zeros(surface.shares.shape),
            baseline=self.baseline,
            is_ordered=tuple(grid.is_ordered for grid in surface.grids),
            is_step=self._arithmetic.game.is_step,
            about=self.about,
            n_rows=self.background.n_rows,
            n_data=self.background.drawn_from,
            low=None if half is None else surface.values - half,
            high=None if half is None else surface.values + half,
            confidence=confidence,
            band=source,
            band_freedom=freedom,
            is_simultaneous=spread is not None and simultaneous,
            standard_errors=errors,
            centred=not partial_dependence,
            exact=not self.about.is_sampled,
            notes=self.notes,
        )

    def effects(
        self,
        *,
        points: int | None = None,
        confidence: float = 0.9,
        simultaneous: bool = False,
    ) -> tuple[Effect, ...]:
        """Return the main effect of every column that has one, in the time of few.

        Parameters
        ----------
        points, confidence, simultaneous
            As for `effect`.

        Returns
        -------
        tuple of Effect
        """
        band = confidence, simultaneous
        return tuple(
            self._shown((self.columns[k],), curve, band, partial_dependence=False)
            for k, curve in self._arithmetic.curves(points).items()
        )

    # Values of rows

    def values(self, rows: Any = None, *, standard_errors: bool = False) -> Components:
        """Return every component at rows, and the remainder.

        Parameters
        ----------
        rows
            A table, data frame or array; the background when None.
        standard_errors
            Whether to give the model's own standard errors too, where it is known how far its score
            varies with other training data. Those of a sampled decomposition are always given.

        Returns
        -------
        Components
        """
        read = self._arithmetic.read(rows)
        result, remainder = self._arithmetic.evaluate(read)
        errors, spread = result.errors, self._arithmetic.game.spread
        source: BandSource | None = None if errors is None else "draws"
        if standard_errors and spread is not None:
            errors, source = self._arithmetic.own_errors(read), spread.source
        return Components(
            sets=self.components,
            values=result.values,
            remainder=remainder,
            baseline=self.baseline,
            rows=read.labels,
            about=self.about,
            standard_errors=errors,
            errors_from=source,
        )

    def predict(self, rows: Any = None) -> Floats:
        """Add up baseline and components: the raw prediction, less the remainder.

        Parameters
        ----------
        rows
            A table, data frame or array; the background when None.

        Returns
        -------
        ndarray of shape (rows,) or (rows, outputs)
        """
        result = self.values(rows)
        total: Floats = self.baseline + result.values.sum(axis=1)
        return total

    def remainder(self, rows: Any = None) -> Floats:
        """Return what lies beyond the decomposition's order at rows; zero if it is complete."""
        return self.values(rows).remainder

    def shapley(self, rows: Any = None, *, interactions: bool = False) -> Shapley:
        """Return interventional Shapley values: each component shared equally among its columns.

        They are exact whatever the order of this decomposition: what lies beyond it is shared too.
        With the baseline they add up to the prediction.

        Parameters
        ----------
        rows
            A table, data frame or array; the background when None.
        interactions
            Whether to give pairwise interactions too.

        Returns
        -------
        Shapley
        """
        read = self._arithmetic.read(rows)
        result = self._arithmetic.shapley(read, interactions=interactions)
        return Shapley(
            values=result.values,
            baseline=self.baseline,
            columns=self.columns,
            rows=read.labels,
            about=self.about,
            data=read.columns,
            interactions=result.interactions,
            standard_errors=result.errors,
            notes=self.notes,
        )

    # How much each part matters

    def importance(self) -> Importance:
        """Return the variance of each component over the background, and shares by column.

        Returns
        -------
        Importance
            With the main, interaction and total share of each column, and the remainder's.

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> why = cw.explain(cw.learner("gbm", max_depth=2, max_iter=20).fit(data), data)
        >>> importance = why.importance()
        >>> round(float(importance.share.sum() + importance.remainder_share), 9)
        1.0
        """
        moments = self._arithmetic.moments
        variances = ComponentVariances(
            columns=self.columns,
            components=self.components,
            variance=moments.variance,
            remainder=moments.remainder,
            prediction=moments.prediction,
            replicates=moments.replicates,
        )
        errors = variances.total_errors
        half = np.zeros(len(self.columns)) if errors is None else _NORMAL * errors
        return Importance(
            kind="components",
            columns=self.columns,
            values=variances.total,
            low=np.maximum(variances.total - half, 0.0),
            high=variances.total + half,
            confidence=_CONFIDENCE,
            measure="share of the components' variance",
            model=self.about.model,
            unit=self.about.unit,
            n_rows=self.background.n_rows,
            n_data=self.background.drawn_from,
            is_sampled=self.about.is_sampled,
            variances=variances,
            about=self.about,
            notes=self.notes,
        )

    def interactions(self) -> Interactions:
        """Return the components of two and more columns, largest variance first."""
        return self.importance().interactions()

    def without(self, columns: str | Iterable[str]) -> "Decomposition":
        """Drop every component that touches some columns.

        What is left is the mean prediction when these columns take the background's values
        independently of the others: the partial dependence on all other columns.

        Parameters
        ----------
        columns
            One or more of the user's columns.

        Returns
        -------
        Decomposition

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> why = cw.explain(cw.learner("gbm", max_depth=2, max_iter=20).fit(data), data)
        >>> why.without("sex").importance().total[why.columns.index("sex")]
        np.float64(0.0)
        """
        names = [columns] if isinstance(columns, str) else list(columns)
        arithmetic = self._arithmetic.without(tuple(self._position(name) for name in names))
        return replace(
            self,
            components=tuple(tuple(self.columns[k] for k in s) for s in arithmetic.sets),
            removed=tuple(self.columns[k] for k in arithmetic.removed),
            _arithmetic=arithmetic,
        )

    # How it is shown and kept

    def __repr__(self) -> str:
        return self.as_text("Decomposition")

    def as_text(self, kind: str) -> str:
        """Return the text of a result of some kind: what it is, its facts and its notes."""
        notes = [f"  note: {note}" for note in self.notes]
        facts = [f"  {name:<15} {text}" for name, text in self._facts()]
        return "\n".join([f"{kind} {self._headline()}", *facts, *notes])

    def _repr_html_(self) -> str:
        return html_table(f"Decomposition {self._headline()}", ("", ""), self._facts(), self.notes)

    def _headline(self) -> str:
        counts = counted_orders(self.components) or "a constant"
        rest = "" if self.is_complete else f", and a remainder beyond order {self.order}"
        gone = f"; without {', '.join(self.removed)}" if self.removed else ""
        return f"of {self.about.model}: {counts}{rest}{gone}"

    def _facts(self) -> list[tuple[str, str]]:
        baseline = ", ".join(number(float(b)) for b in np.reshape(self.baseline, -1))
        spread = self._arithmetic.game.spread
        return [
            ("value function", self.value),
            ("background", str(self.background)),
            ("scale", f"{self.scale} ({self.about.unit})"),
            ("baseline", baseline),
            *([] if spread is None else [("bands", f"from {BANDS[spread.source]}")]),
        ]

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per component, largest variance first, the remainder last.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        table = self.importance().to_frame("dict", by="component")
        table["component"].append("(remainder)")
        table["order"].append(None)
        table["variance"].append(float(self._arithmetic.moments.remainder.sum()))
        table["share"].append(self.importance().remainder_share)
        if self.about.is_sampled and self.importance().share_errors is not None:
            table["standard error"].append(None)
        return frame(table, library)

    def to_json(self) -> dict[str, Any]:
        """Return everything but the rows as plain JSON values: effects, importance, background."""
        spread = self._arithmetic.game.spread
        return document(
            {
                "columns": self.columns,
                "order": self.order,
                "complete": self.is_complete,
                "baseline": self.baseline,
                "removed": self.removed,
                "bands": spread
                and {
                    "source": spread.source,
                    "freedom": float(spread.freedoms.min()),
                },
                "notes": self.notes,
                **self.about.to_json(),
                "importance": self.importance().to_json(),
                "effects": [effect.to_json() for effect in self.effects()],
            }
        )

    def plot(self, column: str | None = None, other: str | None = None, **options: Any) -> Any:
        """Draw the importance, or the effect of one or two columns (Altair)."""
        if column is None:
            return self.importance().plot(**options)
        return self.effect(column, other).plot(**options)
