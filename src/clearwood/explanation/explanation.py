"""A model and the rows over which it is explained, with one method per question."""

import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.choices import BackgroundRows, ValueFunction
from clearwood._shared.errors import InputError, Option, bad_value, unknown_choice, words
from clearwood._shared.results import Result
from clearwood._shared.weights import checked_weights
from clearwood.explanation.agreement import agreement
from clearwood.explanation.decomposition.decompose import decompose
from clearwood.explanation.decomposition.decomposition import Components, Decomposition
from clearwood.explanation.decomposition.term_table import terms
from clearwood.explanation.effects.effect import effect
from clearwood.explanation.games.additive import LINKS, AdditiveGame, GameCall
from clearwood.explanation.games.drawn import FEWEST_DRAWN, bind_draw, check_background_rows
from clearwood.explanation.games.from_model import ends_in_trees, game_of, learner_players
from clearwood.explanation.games.game import BoundGame, Game, Reader
from clearwood.explanation.games.groups import grouped
from clearwood.explanation.games.in_parts import SAMPLE, InParts
from clearwood.explanation.games.pipelines import PipelineReader
from clearwood.explanation.games.readers import EncodedReader
from clearwood.explanation.games.spread import BoundSpread
from clearwood.explanation.games.trees import TreeGame
from clearwood.explanation.importance.importance import importance
from clearwood.explanation.local.contributions import contributions
from clearwood.explanation.local.lime import lime
from clearwood.explanation.local.what_if import what_if
from clearwood.explanation.monotone.monotone import monotone
from clearwood.explanation.results.about import About, BackgroundInfo
from clearwood.explanation.results.effect import Effect
from clearwood.explanation.results.importance import Interactions
from clearwood.explanation.rows.compose import CodeRows, as_rows, stacked, take_rows
from clearwood.explanation.rows.predictor import Predictor, predictor_of_anything
from clearwood.explanation.rows.rows import EncodedRows, joined_rows, label_rows, no_background
from clearwood.explanation.shapley.shapley import shapley
from clearwood.fitted import (
    Scale,
    as_data,
    as_model,
    checked_scale,
    forest_scorer,
    is_pipeline,
    name_of,
    scorer_of,
    unwrapped,
)
from clearwood.forest import Forest
from clearwood.models import TableModel
from clearwood.table import Parts, Table

__all__ = ["Explanation"]

# Rows on which an additive model's sum is compared with its prediction.
_ROWS_COMPARED = 50
# Other data sets whose encoding is kept.
_KEPT = 4
# Cells of a table up to which its encoding is kept for decompositions.
_CELLS_KEPT = 1 << 22
# Cells of a data frame or array up to which its content is compared, to know it again.
_CELLS_COMPARED = 10_000


class Explanation(Result):
    """A model that is explained over its data; made by `clearwood.explain`.

    Its methods answer one question each: `effect`, `importance`, `shapley`, `lime`, `what_if`,
    `contributions`, `agreement` and `monotone` are also functions of `clearwood` that take the
    model and the data first. All of them, and `decomposition`, share one import of the model, one
    encoding of the data and one count of the background.

    The model is imported (its trees or terms read) when that is first needed, and only then; so is
    the data. Both are taken as they are at that time: a model that is fitted again, or a frame that
    is changed in place, needs a new explanation. Several threads may use one explanation; it can be
    pickled if the model can.

    Parameters
    ----------
    model
        A fitted model of any library, or a function of rows.
    data
        A table, a data frame, an array, a dict of columns or a path.
    weights
        Weights of the rows; the table's own weight column when None.
    output
        The class or output that is explained where a question names none.
    max_order, scale, n_background, time_limit, exact
        How the prediction is decomposed; see `clearwood.explain`.
    seed, n_jobs
        What draws and threads use unless a question sets its own.
    ledger, on_error
        For a table in parts: see `clearwood.explain`.

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

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        weights: Any = None,
        output: Any = None,
        max_order: int | None = 2,
        scale: str | None = None,
        n_background: BackgroundRows | None = None,
        time_limit: float | None = None,
        exact: bool = True,
        seed: int = 0,
        n_jobs: int = 1,
        ledger: str | Path | None = None,
        on_error: Literal["raise", "skip"] = "raise",
    ) -> None:
        model = as_model(model)
        self.model = model
        self.in_parts = self._in_parts(data, weights, ledger, on_error)
        if self.in_parts is not None:
            data = self.in_parts.sample(SAMPLE, seed=seed)
        self.data = as_rows(data) if isinstance(data, Mapping) else as_data(data)
        if isinstance(model, TableModel):
            model.check_outcome(self.data)
        self.output = output
        self.decomposing: dict[str, Any] = {
            "max_order": max_order,
            "scale": scale,
            "n_background": n_background,
            "time_limit": time_limit,
            "exact": exact,
        }
        self.seed = seed
        self.n_jobs = n_jobs
        self._weights = weights
        self._lock = threading.RLock()
        self._game: Game | InputError | AttributeError | None = None
        self._predictors: dict[Scale | None, Predictor] = {}
        self._bound: dict[Hashable, BoundGame] = {}
        self._spread: BoundSpread | None = None
        self._readings: OrderedDict[Hashable, tuple[Any, EncodedRows]] = OrderedDict()
        self._decomposition: Decomposition | None = None
        self._part: Explanation | None = None
        self._labels: NDArray[Any] | None = None
        self._by_prediction: dict[Hashable, Index] = {}
        self._encoded: OrderedDict[Hashable, tuple[Any, EncodedRows]] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        kept = {**self.__dict__, "_lock": None, "_bound": {}, "_predictors": {}}
        kept.update(_decomposition=None, _part=None, _by_prediction={}, _spread=None)
        # encodings of other data are found by their identity, which another process has not
        for name in ("_readings", "_encoded"):
            cache: Any = kept[name]
            kept[name] = OrderedDict((key, cache[key]) for key in cache if key == _OWN)
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    @staticmethod
    def _in_parts(
        data: Any, weights: Any, ledger: str | Path | None, on_error: Literal["raise", "skip"]
    ) -> InParts | None:
        """Return the data, where its rows stay where they are."""
        if on_error not in ("raise", "skip"):
            raise unknown_choice("on_error", on_error, ("raise", "skip"))
        if isinstance(data, InParts):
            return data
        if not isinstance(data, Parts):
            if ledger is not None:
                raise bad_value("ledger", ledger, "a ledger is for tables that are read in parts")
            return None
        if weights is not None:
            raise InputError(
                "the rows are read in parts, so an array of weights does not belong to them",
                parameter="weights",
                hint=words("name the column when reading: ", Option("weight", "COLUMN"), "."),
            )
        return InParts(data, ledger, on_error)

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
    def decomposition(self) -> Decomposition:
        """The prediction as a sum of functions of few columns."""
        with self._lock:
            if self._decomposition is None:
                self._decomposition = decompose(self, **self.decomposing)
            return self._decomposition

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

        With ``standard_errors`` also the model's own, where it is known how far its score varies.
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

    # What the model is

    def _imported(self) -> Game | InputError | AttributeError:
        """Import the model once: the game that explains it exactly, or why there is none."""
        with self._lock:
            if self._game is None:
                try:
                    self._game = game_of(self.model, self.data)
                except (InputError, AttributeError) as error:
                    # kept without the frames it passed through, which hold the data
                    self._game = error.with_traceback(None)
            return self._game

    @property
    def game(self) -> Game:
        """The game that explains the model exactly; an error for models that have none."""
        imported = self._imported()
        if isinstance(imported, Exception):
            raise imported.with_traceback(None)  # else every raise would lengthen its traceback
        return imported

    @property
    def exact_game(self) -> Game | None:
        """The game that explains the model exactly; None where there is none."""
        imported = self._imported()
        return None if isinstance(imported, Exception) else imported

    @property
    def is_exact(self) -> bool:
        """Whether the model has an exact decomposition, so that nothing has to be sampled."""
        return self.exact_game is not None

    @property
    def forest(self) -> Forest | None:
        """The model as a forest, with its encoder and names; None for other models."""
        game = self._tree_game
        return None if game is None else game.imported

    @property
    def _tree_game(self) -> TreeGame | None:
        if not ends_in_trees(self.model):
            return None
        try:
            game = self.game
        except InputError:
            if isinstance(self.model, Forest):
                raise
            return None  # a model that cannot be read as a forest predicts by itself
        return game if isinstance(game, TreeGame) else None

    @property
    def _predicting_trees(self) -> TreeGame | None:
        """The trees, where their sums give the model's own prediction."""
        game = self._tree_game
        if game is None:
            return None
        forest = game.forest
        if forest.classes is not None and forest.n_outputs == 1 and forest.link != "logistic":
            return None  # AdaBoost's score: only the library turns it into probabilities
        return game

    @property
    def _learner(self) -> Any:
        """The model, where it has an encoder of Clearwood before its estimator; else None."""
        model = self.model
        is_encoded = hasattr(model, "schema_") and getattr(model, "encoder_", None) is not None
        return model if is_encoded else None

    @property
    def _reader(self) -> Reader | None:
        """Reads data as the model's own columns; None where the model takes data itself."""
        trees = self._predicting_trees
        if trees is not None:
            return trees.reader
        learner = self._learner
        if learner is None:
            return None
        return EncodedReader(learner.schema_, learner.encoder_, learner.schema_.features)

    # The rows

    @property
    def n_rows(self) -> int:
        """How many rows the data has."""
        return self.data.n_rows if isinstance(self.data, Table) else len(self.data)

    @property
    def n_all(self) -> int:
        """How many rows there are, of which ``data`` holds some where they are read in parts."""
        return self.n_rows if self.in_parts is None else self.in_parts.parts.n_rows

    @property
    def own_weights(self) -> Any:
        """Weights of the rows: those given, else those that the table names."""
        if self._weights is not None:
            return self._weights
        return self.data.weights if isinstance(self.data, Table) else None

    def over_positive_weights(self, y: Any = None) -> tuple["Explanation", Any]:
        """Return the model over the rows that have weight, and their target; itself if all have."""
        weights = checked_weights(self.own_weights, self.n_rows)
        if weights is None or self.in_parts is not None or (weights > 0).all():
            return self, y
        kept = np.flatnonzero(weights)
        with self._lock:
            if self._part is None:
                part = self._part = self.over(kept)
                part._labels = label_rows(self.data, self.n_rows)[kept]  # noqa: SLF001 - own class
            return self._part, None if y is None else np.asarray(y)[kept]

    def _read(self, reader: Reader, data: Any, key: Hashable | None = None) -> EncodedRows:
        """Read data once; ``key`` is what it is known by, where that is known already."""
        own = self._reader
        if own is not None and getattr(own, "forest", None) is not getattr(reader, "forest", None):
            return reader(data)  # trees after a step have other columns than the whole estimator
        key = self._key(data) if key is None else key
        return self._remembered(self._readings, data, key, lambda: reader(data))

    def rows(self, data: Any = None, *, late: bool = False) -> EncodedRows:
        """Return rows as the exact game is played with; the model's own data when None.

        Codes of a large table of its own are not kept. With ``late`` they are made when they are
        needed, block by block.
        """
        game = self.game
        data = self.data if data is None else as_rows(data)
        key = self._key(data)

        def make() -> EncodedRows:
            if key == _OWN and self._is_large and isinstance(game.reader, EncodedReader):
                return game.reader.late(data, game.own_codes)
            return game.encode(self._read(game.reader, data, key))

        rows = self._remembered(self._encoded, data, key, make)
        return rows if late else rows.with_all_codes()

    @property
    def _is_large(self) -> bool:
        """Whether the codes of the data would take much more memory, and are not there yet."""
        if not isinstance(self.data, Table) or _OWN in self._readings:
            return False
        return self.data.n_rows * len(self.data.columns) > _CELLS_KEPT

    def _key(self, data: Any) -> Hashable | None:
        return _OWN if data is self.data else _key(data)

    def _remembered(
        self,
        cache: "OrderedDict[Hashable, tuple[Any, EncodedRows]]",
        data: Any,
        key: Hashable | None,
        make: Callable[[], EncodedRows],
    ) -> EncodedRows:
        if key is None:
            return make()
        with self._lock:
            if key in cache:
                return cache[key][1]
        rows = make()
        with self._lock:
            # the data is kept too, so that its identity is not given to another object
            cache[key] = (data, rows)
            others = [k for k in cache if k != _OWN]
            for k in others[: max(0, len(others) - _KEPT)]:
                del cache[k]
        return rows

    # The background

    def background_rows(
        self, groups: Mapping[str, Sequence[str]] | None = None
    ) -> tuple[EncodedRows, Floats | None]:
        """Return the rows of the background, with groups of columns as one, and their weights."""
        rows = self.rows(late=True)
        if not len(rows):
            raise no_background()
        game = grouped(self.game, groups)
        if groups is not None and game is not None and game.grouping is not None:
            rows = game.grouping.applied(rows.with_all_codes())
        return rows, checked_weights(self.own_weights, len(rows))

    def bound(
        self,
        groups: Mapping[str, Sequence[str]] | None = None,
        *,
        n_background: BackgroundRows | None = None,
        seed: int | None = None,
        n_jobs: int | None = None,
    ) -> BoundGame:
        """Bind the exact game, played by groups of columns, to its background, counted once.

        To rows drawn from it, where ``n_background``, here or of the explanation, is a number, or
        where averages over all rows would take too long.
        """
        n_drawn = self.n_drawn(n_background)
        chosen = None if groups is None else repr(sorted((k, list(v)) for k, v in groups.items()))
        seed = self.seed if seed is None else seed
        key = (chosen, n_drawn, None if n_drawn is None else seed)
        n_jobs = self.n_jobs if n_jobs is None else n_jobs
        with self._lock:
            if key not in self._bound:
                game = grouped(self.game, groups)
                assert game is not None
                self._bound[key] = self._bind(game, groups, n_drawn, seed, n_jobs)
            return replace(self._bound[key], n_jobs=n_jobs)

    def _bind(
        self,
        game: Game,
        groups: Mapping[str, Sequence[str]] | None,
        n_drawn: int | None,
        seed: int,
        n_jobs: int,
    ) -> BoundGame:
        if self.in_parts is not None and n_drawn is None:
            return self.in_parts.bind(game, n_jobs=n_jobs)
        rows, weights = self.background_rows(groups)
        if n_drawn is None:
            return game.bind(rows, weights, n_jobs=n_jobs)
        n_rows = None if self.in_parts is None else self.n_all
        return bind_draw(game, rows, weights, n_drawn, n_rows=n_rows, seed=seed, n_jobs=n_jobs)

    def n_drawn(self, n_background: BackgroundRows | None = None) -> int | None:
        """Return how many rows are drawn as the background of the exact game; None for all.

        Trees alone are explained over some of the rows: what other exact games take hardly grows
        with the rows.
        """
        wanted = self.decomposing["n_background"] if n_background is None else n_background
        check_background_rows(wanted)
        game = self.game
        if not isinstance(game, TreeGame) or wanted == "all":
            return None
        weights = self.own_weights
        n_usable = self.n_rows if weights is None else int(np.count_nonzero(weights))
        n_rows = n_usable if self.in_parts is None else self.n_all
        if wanted is None:
            wanted = game.affordable_rows(n_rows, self.decomposing["time_limit"])
        elif wanted < FEWEST_DRAWN:
            raise bad_value(
                "n_background",
                wanted,
                f"of trees, at least {FEWEST_DRAWN} rows are drawn, in groups that give the "
                "standard errors",
            )
        elif wanted < n_rows and wanted > n_usable:
            raise bad_value(
                "n_background",
                wanted,
                f"of a table in parts, at most {n_usable:,} rows are drawn",
            )
        return None if wanted >= n_rows else min(int(wanted), n_usable)

    def bound_spread(self) -> BoundSpread | None:
        """Bind the spread of the exact game to its background, once; None where there is none."""
        spread = self.game.spread
        if spread is None:
            return None
        with self._lock:
            if self._spread is None and self.in_parts is not None:
                self._spread = self.in_parts.bind_spread(
                    spread, self.game, n_jobs=self.n_jobs, seed=self.seed
                )
            if self._spread is None:
                rows, weights = self.background_rows()
                self._spread = spread.bind(rows, weights, n_jobs=self.n_jobs, seed=self.seed)
            return self._spread

    # Predictions

    def predictor(
        self,
        data: Any = None,
        *,
        output: Any = None,
        scale: Any = None,
        n_jobs: int | None = None,
    ) -> Predictor:
        """Return the model and rows as a `Predictor`.

        Parameters
        ----------
        data
            Rows; the model's own data when None.
        output
            The class or output; None for all, or the second of two classes.
        scale
            "probability" or "margin" (log odds) for classes; "response" or "margin" (before the
            link) for numbers. By default probabilities where there are some.
        n_jobs
            Threads, where the model is read as a forest.
        """
        is_own = data is None
        data = self.data if is_own else as_data(data)
        reader = self._reader
        if reader is not None:
            predictor = self._of_rows(self._read(reader, data), checked_scale(scale), n_jobs)
        else:
            predictor = self._of_data(data, checked_scale(scale))
        if is_own and self._weights is not None:
            weights = checked_weights(self._weights, len(predictor))
            predictor = replace(predictor, weights=weights)
        if is_own and self._labels is not None:  # of some rows, as they are called among all
            predictor = replace(predictor, labels=self._labels)
        return self._taking(predictor, output)

    def rows_by_prediction(self, predictor: Predictor) -> Index:
        """Return the rows of the data in the order of their predictions, which are made once."""
        key = (predictor.unit, predictor.outputs)
        with self._lock:
            if key not in self._by_prediction:
                predicted = predictor.predict(np.arange(len(predictor)))[:, -1]
                self._by_prediction[key] = np.argsort(predicted, kind="stable")
            return self._by_prediction[key]

    def stacked(
        self,
        rows: Any,
        *,
        background: Any = None,
        background_first: bool = False,
        form_of_rows: bool = False,
        output: Any = None,
        scale: Any = None,
        n_jobs: int | None = None,
    ) -> tuple[Predictor, int]:
        """Return the model over some rows and a background, so that columns can be exchanged.

        Parameters
        ----------
        rows
            The rows, in any form.
        background
            The model's own data when None.
        background_first
            Whether the background comes before the rows.
        form_of_rows
            Whether all rows take the form of ``rows`` rather than that of the background, where
            the model takes data itself.
        output, scale, n_jobs
            As for `predictor`.

        Returns
        -------
        tuple
            The predictor, and how many of its rows are ``rows``.
        """
        background = self.data if background is None else background
        scale = checked_scale(scale)
        reader = self._reader
        if reader is not None:
            rows = as_rows(rows)
            both = [self._read(reader, rows), self._read(reader, background)]
            n_new = len(both[0])
            if background_first:
                both.reverse()
            predictor = self._of_rows(joined_rows(*both), scale, n_jobs)
            return self._taking(predictor, output), n_new
        if form_of_rows:
            data, n_background = stacked(self.model, background, rows)
            predictor = self._of_data(data, scale)
            return self._taking(predictor, output), len(data) - n_background
        data, n_new = stacked(self.model, rows, background)
        if background_first:
            order = np.concatenate([np.arange(n_new, len(data)), np.arange(n_new)])
            data = take_rows(data, order)
        return self._taking(self._of_data(data, scale), output), n_new

    def _taking(self, predictor: Predictor, output: Any) -> Predictor:
        return predictor.fresh().taking(self.output if output is None else output)

    def _of_rows(self, rows: EncodedRows, scale: Scale | None, n_jobs: int | None) -> Predictor:
        """Predict through the model's own columns."""
        trees, learner = self._predicting_trees, self._learner
        if trees is not None:
            classes = getattr(self.model, "classes_", trees.forest.classes)
            n_jobs = self.n_jobs if n_jobs is None else n_jobs
            scorer = forest_scorer(trees.forest, classes, scale, n_jobs)
            groups, kind = trees.groups, trees.kind
        else:
            assert learner is not None
            labels = getattr(learner, "classes_", None)
            scorer = scorer_of(learner.estimator_, scale, labels).settled(rows.codes[:3])
            groups, kind = learner_players(learner)[1], name_of(learner)
        return Predictor(
            columns=rows.columns,
            labels=rows.labels,
            weights=rows.weights,
            scorer=scorer,
            compose=CodeRows(rows.codes, groups),
            kind=kind,
            is_step=trees is not None,
        )

    def _of_data(self, data: Any, scale: Scale | None) -> Predictor:
        """Predict with the model itself, or through its sum where that is the same and faster."""
        with self._lock:
            if data is self.data and scale in self._predictors:
                return self._predictors[scale]
        predictor = self._of_sum(data, scale)
        if predictor is None:
            predictor = predictor_of_anything(unwrapped(self.model), data, scale)
        if data is self.data:
            with self._lock:
                self._predictors[scale] = predictor
        return predictor

    def _of_sum(self, data: Any, scale: Scale | None) -> Predictor | None:
        game = self.exact_game if is_pipeline(unwrapped(self.model)) else None
        if not isinstance(game, AdditiveGame) or not isinstance(game.reader, PipelineReader):
            return None
        if game.reader.terms.owners is None:
            return None  # rows would go through the steps once for each column
        try:
            rows = self.rows() if data is self.data else game.rows(data)
            few = np.arange(min(len(rows), _ROWS_COMPARED))
            plain = predictor_of_anything(unwrapped(self.model), take_rows(data, few), scale)
        except InputError:
            return None
        truth = np.asarray(plain.scorer.call(plain.compose(few, {})))
        for link in LINKS:
            call = GameCall(game, link)
            made = call(rows.codes[few])
            if made.shape == truth.shape and np.allclose(made, truth, rtol=1e-9, atol=1e-12):
                # a model that was fitted without names has those of the data
                named = zip(rows.columns, plain.names, strict=True)
                return replace(
                    plain,
                    columns=tuple(replace(column, name=name) for column, name in named),
                    labels=rows.labels,
                    weights=rows.weights,
                    scorer=replace(plain.scorer, call=call),
                    compose=CodeRows(rows.codes, game.groups),
                )
        return None

    def additive_scale(self, scale: Any) -> Scale | None:
        """Choose the scale of a sampled explanation: where none is named, before the link.

        Models that add up nothing keep the scale of their prediction.
        """
        if scale is not None:
            return checked_scale(scale)
        game = self.exact_game
        if game is None or not game.unit.is_before_link:
            return None
        try:
            self.predictor(scale=Scale.MARGIN)
        except InputError:  # it can be had on the scale of its predictions only
            return None
        return Scale.MARGIN

    def of_output(self, output: Any) -> "Explanation":
        """Return the same model and data with another output explained, without a new import."""
        if output == self.output:
            return self
        other = Explanation.__new__(Explanation)
        other.__dict__.update(self.__dict__, output=output, _decomposition=None)
        return other

    def on(
        self, data: Any, *, weights: Any = None, seed: int | None = None, **decomposing: Any
    ) -> "Explanation":
        """Return the same model explained over other data; nothing is imported again.

        Parameters
        ----------
        data, weights
            As for the class.
        seed
            The same as here when None.
        **decomposing
            What is decomposed otherwise than here: ``max_order`` and the like.
        """
        same = self.in_parts is not None and data is self.in_parts.parts
        other = type(self)(
            self.model,
            self.in_parts if same else data,
            weights=weights,
            output=self.output,
            seed=self.seed if seed is None else seed,
            n_jobs=self.n_jobs,
            **{**self.decomposing, **decomposing},
        )
        with self._lock:
            other._game = self._game  # noqa: SLF001 - of the same class
            if same:  # counted once for all questions
                other._bound = self._bound  # noqa: SLF001
        return other

    def over(self, rows: Index) -> "Explanation":
        """Return the same model explained over some of the rows; nothing is encoded again."""
        weights = self.own_weights
        part = self.on(
            take_rows(self.data, rows),
            weights=None if weights is None else np.asarray(weights)[rows],
        )
        with self._lock:
            for name in ("_readings", "_encoded"):
                known = getattr(self, name).get(_OWN)
                if known is not None:
                    getattr(part, name)[_OWN] = (part.data, known[1].take(rows))
        return part


#: The key of the data that a model is explained over.
_OWN = "own data"


def _key(data: Any) -> Hashable | None:
    """Return what a data set is known again by; None where that would take too long.

    Tables are never changed in place, so they are known by their identity; frames and arrays may
    be, so a small one is known by what it holds.
    """
    if isinstance(data, Table):
        return ("table", id(data))
    if isinstance(data, np.ndarray):
        if data.size > _CELLS_COMPARED or data.dtype.kind == "O":
            return None
        return ("array", data.shape, data.dtype.str, data.tobytes())
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or frame.shape[0] * frame.shape[1] > _CELLS_COMPARED:
        return None
    try:
        # of everything that a frame holds, the quickest thing to compare; it is never loaded
        return ("frame", type(data), pickle.dumps(data, protocol=pickle.HIGHEST_PROTOCOL))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
