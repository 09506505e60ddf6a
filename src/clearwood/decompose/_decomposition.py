"""A prediction as a sum of functions of few columns."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clearwood._errors import InputError, did_you_mean
from clearwood._progress import progress
from clearwood.decompose._about import About, BackgroundInfo
from clearwood.decompose._components import Components, counted_orders
from clearwood.decompose._effect import Effect
from clearwood.decompose._game import BoundGame, Floats, Game, Players
from clearwood.decompose._importance import Importance, Interactions
from clearwood.decompose._moments import Moments, moments_of
from clearwood.decompose._present import as_frame, html_table, one_output, plain, short
from clearwood.decompose._rows import Rows, warn_of_new_gaps
from clearwood.decompose._shapley import Shapley
from clearwood.decompose._sharing import shared_out
from clearwood.decompose._surface import Surface, curves_of, surface_of

__all__ = ["Decomposition", "warn_of_new_gaps"]


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
    n_jobs
        Threads.

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
    n_jobs: int = 1
    _game: Game
    _bound: BoundGame
    _rows: Rows
    _weights: Floats | None
    _outputs: slice

    # What it says of itself

    @property
    def value(self) -> str:
        """The value function: always "interventional"."""
        return self.about.value

    @property
    def background(self) -> BackgroundInfo:
        """How many rows the background has, whether they have weights, where they came from."""
        assert self.about.background is not None
        return self.about.background

    @property
    def scale(self) -> str:
        """On which scale components add up: "raw", before any link."""
        return self.about.scale

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs: of the classes, where there are several."""
        return self.about.outputs

    @property
    def is_complete(self) -> bool:
        """Whether the components add up to the prediction, with no remainder."""
        return self.order >= self._game.longest

    @cached_property
    def _sets(self) -> list[Players]:
        position = {name: k for k, name in enumerate(self.columns)}
        return [tuple(position[name] for name in names) for names in self.components]

    def _position(self, column: str) -> int:
        if column not in self.columns:
            raise InputError(
                f"there is no column {column!r}", hint=did_you_mean(str(column), self.columns)
            )
        if column in self.removed:
            raise InputError(f"column {column!r} was removed from this decomposition")
        return self.columns.index(column)

    def _picked(self, values: Floats) -> Floats:
        """Keep the outputs that are explained."""
        return values[..., self._outputs]

    def _errors(self) -> Floats | None:
        """Give the standard errors of what the game gave last; None where it is exact."""
        errors = self._bound.last_errors
        return None if errors is None else one_output(self._picked(errors))

    def _read(self, rows: Any) -> Rows:
        if rows is None:
            return self._rows
        read = self._game.rows(rows)
        warn_of_new_gaps(read, self._rows, "background")
        return read

    # Functions of columns

    def effect(self, column: str, other: str | None = None, *, points: int | None = None) -> Effect:
        """Give the main effect of a column, or the interaction of two.

        The effect of one column says how far the mean prediction moves from the baseline when the
        column is held at a value; the interaction what is left once both effects are taken away.

        Parameters
        ----------
        column, other
            One or two of the user's columns.
        points
            The most values shown of a column of numbers or dates, at quantiles of the background;
            200 for one column and 30 for each of two by default, 40 and 12 where the model has to
            be asked. Categories are shown whole.

        Returns
        -------
        Effect
            At values that occur in the background, missing as a value of its own.

        Examples
        --------
        >>> import clearwood as cw
        >>> data = cw.datasets.load("diabetes")
        >>> why = cw.explain(cw.learner("ols").fit(data), data)
        >>> bmi = why.effect("bmi")
        >>> round(float(bmi.values @ bmi.shares), 6) + 0.0
        0.0
        """
        return self._effect(column, other, points, partial_dependence=False)

    def partial_dependence(
        self, column: str, other: str | None = None, *, points: int | None = None
    ) -> Effect:
        """Give the mean prediction with one or two columns held at each of their values.

        It is the baseline plus the components within these columns (Hiabu 2024, lemma 7.4.4), and
        exact over the whole background.

        Parameters
        ----------
        column, other, points
            As for `effect`.

        Returns
        -------
        Effect
        """
        return self._effect(column, other, points, partial_dependence=True)

    def _effect(
        self, column: str, other: str | None, points: int | None, *, partial_dependence: bool
    ) -> Effect:
        names = (column,) if other is None else (column, other)
        players = tuple(self._position(name) for name in names)
        if len(set(players)) < len(players):
            raise InputError(
                f"{column!r} is given twice", hint=f"for its main effect: effect({column!r})."
            )
        if len(players) > self.order and not partial_dependence and not self.is_complete:
            raise InputError(
                f"the decomposition holds components of order {self.order} only",
                hint=f"cw.explain(model, data, max_order={len(players)}).",
            )
        if points is not None and points < 2:
            raise InputError(f"points must be at least 2, not {points}")
        surface = surface_of(
            self._game,
            self._bound,
            self._rows,
            self._weights,
            players,
            most=points or self._game.points[len(players) - 1],
            partial_dependence=partial_dependence,
            n_jobs=self.n_jobs,
        )
        return self._shown(names, surface, partial_dependence=partial_dependence)

    def _shown(
        self, names: tuple[str, ...], surface: Surface, *, partial_dependence: bool
    ) -> Effect:
        return Effect(
            columns=names,
            grid=tuple(grid.values for grid in surface.grids),
            values=one_output(self._picked(surface.values)),
            shares=surface.shares,
            quantity="partial dependence" if partial_dependence else "effect",
            baseline=self.baseline,
            is_ordered=tuple(grid.is_ordered for grid in surface.grids),
            is_step=self._game.is_step,
            about=self.about,
            standard_errors=None
            if surface.errors is None
            else one_output(self._picked(surface.errors)),
        )

    def effects(self, *, points: int | None = None) -> tuple[Effect, ...]:
        """Give the main effect of every column that has one, in the time of few.

        Parameters
        ----------
        points
            As for `effect`.

        Returns
        -------
        tuple of Effect
        """
        players = [players[0] for players in self._sets if len(players) == 1]
        curves = curves_of(
            self._game,
            self._bound,
            self._rows,
            self._weights,
            players,
            most=points or self._game.points[0],
            n_jobs=self.n_jobs,
        )
        return tuple(
            self._shown((self.columns[k],), curve, partial_dependence=False)
            for k, curve in zip(players, curves, strict=True)
        )

    # Values of rows

    def values(self, rows: Any = None) -> Components:
        """Give every component at rows, and the remainder.

        Parameters
        ----------
        rows
            A table, data frame or array; the background when None.

        Returns
        -------
        Components
        """
        read = self._read(rows)
        with progress("decomposing", total=len(read)) as step:
            found = self._bound.components(read.codes, self._sets, n_jobs=self.n_jobs, step=step)
        errors = self._errors()
        rest = self._target(read.codes) - self._bound.baseline - found.sum(axis=1)
        if self.is_complete:
            rest[:] = 0.0  # what is left is rounding
        return Components(
            sets=self.components,
            values=one_output(self._picked(found)),
            remainder=one_output(self._picked(rest)),
            baseline=self.baseline,
            rows=read.labels,
            about=self.about,
            standard_errors=errors,
        )

    def _target(self, codes: Floats) -> Floats:
        """Give what all components of any order add up to: the prediction, or what is left of it.

        Without some columns that is the partial dependence on the others.
        """
        if not self.removed:
            return self._game.predict(codes, n_jobs=self.n_jobs)
        return self._bound.dependence(codes, self._kept, n_jobs=self.n_jobs)

    @property
    def _kept(self) -> Players:
        """The columns that were not removed."""
        return tuple(k for k, name in enumerate(self.columns) if name not in self.removed)

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
        found = self.values(rows)
        total: Floats = self.baseline + found.values.sum(axis=1)
        return total

    def remainder(self, rows: Any = None) -> Floats:
        """Give what lies beyond the order of the decomposition at rows; zero if it is complete."""
        return self.values(rows).remainder

    def shapley(self, rows: Any = None, *, interactions: bool = False) -> Shapley:
        """Give interventional Shapley values: each component shared equally among its columns.

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
        read = self._read(rows)
        if self.removed:
            values, pairs = self._shared(read.codes, interactions=interactions)
        else:
            with progress("explaining", total=len(read)) as step:
                values, pairs = self._bound.shapley(
                    read.codes, interactions=interactions, n_jobs=self.n_jobs, step=step
                )
        return Shapley(
            values=one_output(self._picked(values)),
            baseline=self.baseline,
            columns=self.columns,
            rows=read.labels,
            about=self.about,
            data=read.columns,
            interactions=None if pairs is None else one_output(self._picked(pairs)),
            standard_errors=None if self.removed else self._errors(),
            notes=self.notes,
        )

    def _shared(self, codes: Floats, *, interactions: bool) -> tuple[Floats, Floats | None]:
        """Share components among their columns; needs all of them."""
        if not self.is_complete:
            raise InputError(
                "Shapley values without some columns need components of every order, and this "
                f"decomposition stops at {self.order}",
                hint="cw.explain(model, data, max_order=None).without(...).",
            )
        parts = self._bound.components(codes, self._sets, n_jobs=self.n_jobs)
        return shared_out(parts, self._sets, len(self.columns), interactions=interactions)

    # How much each part matters

    @cached_property
    def _moments(self) -> Moments:
        sampled = self._bound.sampled_moments(self._sets, self._kept)
        return sampled or moments_of(
            self._bound,
            self._sets,
            self._rows.codes,
            self._weights,
            self._target,
            complete=self.is_complete,
            n_jobs=self.n_jobs,
        )

    def importance(self) -> Importance:
        """Give the variance of each component over the background, and shares by column.

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
        moments = self._moments
        return Importance(
            columns=self.columns,
            components=self.components,
            variance=self._picked(moments.variance),
            remainder=self._picked(moments.remainder),
            prediction=self._picked(moments.prediction),
            about=self.about,
            replicates=None if moments.replicates is None else self._picked(moments.replicates),
        )

    def interactions(self) -> Interactions:
        """Give the components of two and more columns, largest variance first."""
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
        for name in names:
            self._position(name)
        kept = tuple(s for s in self.components if not set(s) & set(names))
        dropped = {*self.removed, *names}
        return replace(
            self,
            components=kept,
            removed=tuple(name for name in self.columns if name in dropped),
        )

    # How it is shown and kept

    def __repr__(self) -> str:
        notes = [f"  note: {note}" for note in self.notes]
        facts = [f"  {name:<15} {text}" for name, text in self._facts()]
        return "\n".join([self._headline(), *facts, *notes])

    def _repr_html_(self) -> str:
        return html_table(self._headline(), ("", ""), self._facts(), self.notes)

    def _headline(self) -> str:
        counts = counted_orders(self.components) or "a constant"
        rest = "" if self.is_complete else f"; the rest beyond order {self.order} as a remainder"
        gone = f"; without {', '.join(self.removed)}" if self.removed else ""
        return f"Decomposition of {self.about.model} into {counts}{rest}{gone}"

    def _facts(self) -> list[tuple[str, str]]:
        baseline = ", ".join(short(float(b)) for b in np.reshape(self.baseline, -1))
        return [
            ("value function", self.value),
            ("background", str(self.background)),
            ("scale", f"{self.scale} ({self.about.unit})"),
            ("baseline", baseline),
        ]

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row per component, largest variance first, the remainder last.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        table = self.importance().to_frame("dict", by="component")
        table["component"].append("(remainder)")
        table["order"].append(None)
        table["variance"].append(float(self._picked(self._moments.remainder).sum()))
        table["share"].append(self.importance().remainder_share)
        if "standard error" in table:
            table["standard error"].append(None)
        return as_frame(table, library)

    def to_json(self) -> dict[str, Any]:
        """Give everything but the rows as plain JSON values: effects, importance, background."""
        found: dict[str, Any] = plain(
            {
                "columns": self.columns,
                "order": self.order,
                "complete": self.is_complete,
                "baseline": self.baseline,
                "removed": self.removed,
                "notes": self.notes,
                **self.about.to_json(),
                "importance": self.importance().to_json(),
                "effects": [effect.to_json() for effect in self.effects()],
            }
        )
        return found

    def plot(self, column: str | None = None, other: str | None = None, **options: Any) -> Any:
        """Draw the importance, or the effect of one or two columns (Altair)."""
        if column is None:
            return self.importance().plot(**options)
        return self.effect(column, other).plot(**options)
