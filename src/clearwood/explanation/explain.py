"""Explain a model: one object that holds the model and its data, with a method a question."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import BackgroundRows, ValueFunction
from clearwood._shared.results import Result
from clearwood.explanation.agreement.agreement import agreement
from clearwood.explanation.decomposition.components import Components
from clearwood.explanation.decomposition.decomposition import Decomposition
from clearwood.explanation.decomposition.explained import Explained
from clearwood.explanation.decomposition.term_table import terms
from clearwood.explanation.effects.effect import effect
from clearwood.explanation.importance.importance import importance
from clearwood.explanation.local.contributions import contributions
from clearwood.explanation.local.lime import lime
from clearwood.explanation.local.what_if import what_if
from clearwood.explanation.monotone.monotone import monotone
from clearwood.explanation.results.about import About, BackgroundInfo
from clearwood.explanation.results.component_variances import Interactions
from clearwood.explanation.results.effect import Effect
from clearwood.explanation.shapley.shapley import shapley
from clearwood.fitted import Scale

__all__ = ["Explanation", "explain"]


class Explanation(Explained, Result):
    """A model that is explained over its data; made by `clearwood.explain`.

    Its methods answer one question each: `effect`, `importance`, `shapley`, `lime`, `what_if`,
    `contributions`, `agreement` and `monotone` are also functions of `clearwood` that take the
    model and the data first. All of them, and `decomposition`, share one import of the model, one
    encoding of the data and one count of the background.

    Several threads may use one explanation. It can be pickled if the model can.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> why = cw.explain(cw.learner("gbm", max_depth=2, max_iter=20).fit(data), data)
    >>> gap = abs(why.predict(data.head(3)) - why.model.predict(data.head(3))).max()
    >>> why.order, bool(gap < 1e-9)
    (2, True)
    >>> why.shapley(data.head(2)).values.shape
    (2, 10)
    """

    # One question a method. Each is documented where it is written.
    effect = effect
    importance = importance
    shapley = shapley
    lime = lime
    what_if = what_if
    contributions = contributions
    terms = terms
    agreement = agreement
    monotone = monotone

    # The decomposition

    @property
    def columns(self) -> tuple[str, ...]:
        """The user's columns."""
        return self.decomposition.columns

    @property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """The sets of columns whose component can differ from zero, up to ``order``."""
        return self.decomposition.components

    @property
    def order(self) -> int:
        """The most columns a component has."""
        return self.decomposition.order

    @property
    def baseline(self) -> Any:
        """The mean prediction over the background: a number, or one per output."""
        return self.decomposition.baseline

    @property
    def about(self) -> About:
        """Model, value function, background and scale."""
        return self.decomposition.about

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know."""
        return self.decomposition.notes

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs: of the classes, where there are several."""
        return self.decomposition.outputs

    @property
    def value(self) -> ValueFunction:
        """The value function of the decomposition: always "interventional"."""
        return self.decomposition.value

    @property
    def scale(self) -> Scale:
        """The scale on which components add up."""
        return self.decomposition.scale

    @property
    def background(self) -> BackgroundInfo:
        """How many rows the background has, whether they have weights, where they came from."""
        return self.decomposition.background

    @property
    def is_complete(self) -> bool:
        """Whether the components add up to the prediction, with no remainder."""
        return self.decomposition.is_complete

    def effects(
        self,
        *,
        points: int | None = None,
        confidence: float = 0.9,
        simultaneous: bool = False,
    ) -> tuple[Effect, ...]:
        """Return the main effect of every column that has one (see `Decomposition.effects`)."""
        return self.decomposition.effects(
            points=points, confidence=confidence, simultaneous=simultaneous
        )

    def interactions(self) -> Interactions:
        """Return the components of two and more columns, largest variance first."""
        return self.decomposition.interactions()

    def values(self, rows: Any = None, *, standard_errors: bool = False) -> Components:
        """Return every component at rows, and the remainder; all rows of the data when None.

        With ``standard_errors`` also the model's own, where it knows how far its score varies.
        """
        return self.decomposition.values(rows, standard_errors=standard_errors)

    def predict(self, rows: Any = None) -> Floats:
        """Add up baseline and components: the prediction before any link, less the remainder."""
        return self.decomposition.predict(rows)

    def remainder(self, rows: Any = None) -> Floats:
        """Return what lies beyond the order of the decomposition at rows; zero if complete."""
        return self.decomposition.remainder(rows)

    def without(self, columns: str | Iterable[str]) -> Decomposition:
        """Drop every component that touches some columns (see `Decomposition.without`)."""
        return self.decomposition.without(columns)

    # How it is shown and kept

    def __repr__(self) -> str:
        return self.decomposition.as_text("Explanation")

    def _repr_html_(self) -> str:
        return self.decomposition._repr_html_()

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per component, largest variance first, the remainder last.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        return self.decomposition.to_frame(library)

    def to_json(self) -> dict[str, Any]:
        """Return everything but the rows as plain JSON values: effects, importance, background."""
        return self.decomposition.to_json()

    def plot(self, *columns: str, **options: Any) -> Any:
        """Draw the importance, or the component of one or two columns (Altair)."""
        return self.decomposition.plot(*columns, **options)


def explain(
    model: Any,
    data: Any,
    *,
    max_order: int | None = 2,
    scale: str | None = None,
    output: Any = None,
    weights: Any = None,
    n_background: BackgroundRows | None = None,
    time_limit: float | None = None,
    exact: bool = True,
    seed: int = 0,
    n_jobs: int = 1,
    ledger: str | Path | None = None,
    errors: Literal["raise", "skip"] = "raise",
) -> Explanation:
    """Explain a model over its data.

    The prediction is decomposed into functions of few columns: exactly, over all rows, for trees
    and additive models; for any other model every component is an average over rows drawn from the
    data, with its standard error. What lies beyond ``max_order`` is the remainder; for sampled
    models with more than 15 columns the remainder includes the interactions of all but the 15
    columns that interact most. All other questions (`Explanation`) use the same model and data.

    Parameters
    ----------
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows. Exact are tree models
        of scikit-learn, XGBoost, LightGBM and CatBoost, a `Forest`, linear and generalised linear
        models of scikit-learn, pipelines that end in one of these, and learners of these kinds, of
        sums of curves and trees, or of explainable boosting ("ebm").
    data
        The background: the rows over which predictions are averaged, usually the training rows. A
        table, a data frame (columns are found by name, in any order), an array, a dict of columns
        or a path. Of a table in parts (``clearwood.read(..., parts=True)``) all rows count; they
        are read where they are, in as many processes as ``n_jobs`` says or on the workers of a
        surrounding ``joblib.parallel_config``. What needs rows in memory, such as the values at
        which an effect is shown, uses a seeded sample of 200,000 of them.
    max_order
        The most columns a component has; None for every order, where the decomposition is exact
        and the trees are shallow enough.
    scale
        "margin" (before any link), "probability" or "response". By default before any link, where
        there is one. Only the scale on which the model adds up is exact; others are sampled.
    output
        The class, or the name of the output, to explain; all of them when None.
    weights
        Weights of the rows; a table's own weight column when None.
    n_background
        How many rows of the background averages are over: a number, or "all".

        Of models without an exact decomposition, 200 are drawn when None. With a number, importance
        is measured at all of them, over all of them; by default at as many as 250,000 evaluations
        of the model allow.

        Of trees, all rows are used when None, unless that takes long: trees with many leaves on
        long paths take time for every leaf, background row and explained row. Then as many rows are
        drawn as allow Shapley values of a thousand rows in about half a minute, and everything that
        depends on the draw has standard errors: ``about.is_sampled`` is True, and ``background``
        and a note give the number of rows. A number draws that many (at least 20), of any trees.
        Additive models always use all rows.
    time_limit
        Seconds that measuring the importance may take, where the predictions are sampled; for trees
        with long paths, what Shapley values of a thousand rows may take in place of half a minute.
        Fewer rows are then used, and the standard errors are larger.
    exact
        Whether to use the exact decomposition where there is one. Forests of millions of leaves
        take hours; sampling them takes seconds.
    seed
        Fixes the draws.
    n_jobs
        Threads, -1 for all; processes for a table in parts. Exact results do not depend on it.
    ledger
        For a table in parts: a file in which finished parts are recorded, so that the same call
        goes on from there, whatever ended it.
    errors
        For a table in parts: "raise" names a part that could not be read four times; "skip" leaves
        it out, warns and says so in the notes.

    Returns
    -------
    Explanation

    Notes
    -----
    The value function is the interventional one: averages are over the joint distribution of the
    columns that are not held, whatever the held ones are. Where columns depend on each other, it
    relies on combinations that may not occur.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("gbm", max_depth=2, max_iter=30).fit(data)
    >>> why = cw.explain(model, data)
    >>> why.effect("bmi", kind="component").values.max() > 0
    np.True_
    >>> why.shapley(data.head(2)).values.shape
    (2, 10)

    Of any function, sampled:

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> parts = cw.explain(lambda X: X[:, 0] + X[:, 1] * X[:, 2], X).values(X[:2])
    >>> bool((parts.standard_errors > 0).any()), bool(abs(parts.remainder).max() < 1e-9)
    (True, True)
    """
    explanation = Explanation(
        model,
        data,
        max_order=max_order,
        scale=scale,
        output=output,
        weights=weights,
        n_background=n_background,
        time_limit=time_limit,
        exact=exact,
        seed=seed,
        n_jobs=n_jobs,
        ledger=ledger,
        errors=errors,
    )
    _ = explanation.decomposition  # what cannot be explained is an error here, not later
    return explanation
