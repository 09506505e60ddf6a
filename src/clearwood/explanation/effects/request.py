"""What an effect is computed from, and what a method returns: between the verb and the methods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.checks import check_confidence, check_whole
from clearwood._shared.choices import BandChoice, BandSource, EffectKind
from clearwood._shared.clock import Clock
from clearwood._shared.errors import Option, bad_value, unknown_choice, words
from clearwood.explanation.effects.bands import mean_replicates
from clearwood.explanation.effects.extrapolation import WAYS, Region, support_of
from clearwood.explanation.effects.grid import Given, GridPoints, points_of
from clearwood.explanation.results.effect import TITLES
from clearwood.explanation.rows.predictor import Evaluated, Predictor, evaluated_in_blocks

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["Band", "EffectOptions", "EffectRequest", "Extrapolation", "MeasuredEffect"]

Extrapolation = bool | Literal["distance", "isolation"]


#: Kinds that are linear in the score, so that a model whose variance is known has a band.
_OWN_BANDS = ("pdp", "component")


@dataclass(frozen=True, kw_only=True)
class EffectOptions:
    """The options of `clearwood.effect`, which describes them; checked."""

    kind: EffectKind = "pdp"
    points: int | None = None
    grid: Sequence[Any] | None = None
    output: Any = None
    scale: str | None = None
    centred: bool | None = None
    derivative: bool = False
    n_bootstrap: int = 0
    band: BandChoice = "auto"
    confidence: float = 0.9
    sample: int | None = None
    exact: bool = True
    extrapolation: Extrapolation = True
    time_limit: float | None = None
    seed: int | None = None
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in TITLES:
            raise unknown_choice("kind", self.kind, TITLES)
        if self.points is not None:
            check_whole("points", self.points, 2)
        check_whole(
            "n_bootstrap", self.n_bootstrap, 0, hint="it is a number of draws, 0 for no band."
        )
        if self.band not in get_args(BandChoice):
            raise unknown_choice("band", self.band, get_args(BandChoice))
        if self.band in ("model", "simultaneous") and self.kind not in _OWN_BANDS:
            raise bad_value(
                "band",
                self.band,
                "the model's own band is for partial dependence and for components",
                hint=words("use ", Option("kind", "pdp"), " or ", Option("band", "rows"), "."),
            )
        check_confidence(self.confidence)
        if self.sample is not None:
            check_whole("sample", self.sample, 2)
        if not isinstance(self.extrapolation, bool) and self.extrapolation not in WAYS:
            raise unknown_choice("extrapolation", self.extrapolation, WAYS)
        if self.derivative and self.kind != "ice":
            raise bad_value(
                "derivative",
                self.derivative,
                "slopes are of individual curves",
                hint=words("use ", Option("kind", "ice"), "."),
            )

    @property
    def is_centred(self) -> bool:
        """Whether values are measured from their mean."""
        return (self.kind == "ale") if self.centred is None else self.centred

    @property
    def way(self) -> str:
        """How rows outside the data are recognised."""
        return WAYS[0] if isinstance(self.extrapolation, bool) else self.extrapolation


@dataclass(frozen=True, eq=False)
class Band:
    """The ends of a band, with a last axis of outputs, and what it shows."""

    low: Floats
    high: Floats
    source: BandSource
    is_simultaneous: bool = False
    errors: Floats | None = None
    freedom: float = np.inf

    def on(self, shape: tuple[int, ...]) -> "Band":
        """Return a band over points as one over a grid."""
        low, high, errors = (
            None if part is None else part.reshape(*shape, -1)
            for part in (self.low, self.high, self.errors)
        )
        assert low is not None
        assert high is not None
        return replace(self, low=low, high=high, errors=errors)

    def moved(self, by: Floats) -> "Band":
        """Return the band of values that were moved."""
        return replace(self, low=self.low + by, high=self.high + by)


@dataclass(frozen=True, eq=False)
class EffectRequest:
    """A model, rows and columns, and how their effect is measured."""

    explanation: "Explanation"
    predictor: Predictor  # the model and its data as a function of rows
    options: EffectOptions
    positions: tuple[int, ...]  # of the columns
    most: int  # values of a column
    rows: Index  # to average over
    weights: Floats  # of these rows
    seed: int
    n_jobs: int
    clock: Clock
    given: Mapping[int, Given]  # values that the user gave, by the position of their column

    @property
    def data_weights(self) -> Floats:
        """The weights of all rows of the data."""
        weights = self.predictor.weights
        return np.ones(len(self.predictor)) if weights is None else weights

    def over_all(self) -> "EffectRequest":
        """Go on with all rows."""
        return replace(self, rows=np.arange(len(self.predictor)), weights=self.data_weights)

    def points(self) -> GridPoints:
        """Choose the values at which the effect is shown."""
        predictor = self.predictor
        return points_of(
            predictor.columns, self.positions, predictor.weights, self.most, self.given
        )

    def support(self) -> Region:
        """Learn where data lie around the columns."""
        return support_of(self.predictor, self.positions, how=self.options.way, seed=self.seed)

    def evaluated(self, evaluate: Any, per_row: int) -> Evaluated[Any]:
        """Evaluate the rows, as far as the time limit allows."""
        return evaluated_in_blocks(
            self.rows, evaluate, per_row=per_row, seed=self.seed, clock=self.clock
        )

    def in_time(
        self, evaluate: Callable[[Index], Floats], per_row: int
    ) -> tuple["EffectRequest", Floats, str | None]:
        """Evaluate rows, and go on with those that are done, in their order; why, if not all."""
        answers = self.evaluated(evaluate, per_row)
        order = np.argsort(answers.rows)
        values = np.concatenate(answers.blocks)[order]
        return self.narrowed(answers.rows[order]), values, answers.stopped

    def narrowed(self, rows: Index) -> "EffectRequest":
        """Go on with some of the rows."""
        place = np.searchsorted(self.rows, rows)
        return replace(self, rows=rows, weights=self.weights[place])

    def replicates(self, each: Floats) -> Floats | None:
        """Average what was computed for each row under each draw of the rows; None for no band."""
        if not self.options.n_bootstrap:
            return None
        return mean_replicates(each, self.weights, self.options.n_bootstrap, self.seed)

    def measured(
        self,
        points: GridPoints,
        values: Floats,
        replicates: Floats | None,
        outside: Floats | None = None,
        band: Band | None = None,
        **more: Any,
    ) -> "MeasuredEffect":
        """Put values of shape (points, outputs) on the grid."""
        if replicates is not None:
            replicates = replicates.reshape(len(replicates), *points.shape, replicates.shape[-1])
        return MeasuredEffect(
            grid=points.values,
            values=values.reshape(*points.shape, -1),
            shares=points.shares(self.data_weights),
            outside=np.zeros(points.shape) if outside is None else outside,
            is_ordered=tuple(grid.is_ordered for grid in points.grids),
            rows=self.rows,
            weights=self.weights,
            replicates=replicates,
            band=None if band is None else band.on(points.shape),
            left_out="; ".join(points.notes) or None,
            **more,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasuredEffect:
    """What a method computed; ``values`` always have a last axis of outputs."""

    grid: tuple[NDArray[Any], ...]
    values: Floats
    shares: Floats
    outside: Floats
    is_ordered: tuple[bool, ...]
    rows: Index  # those that were evaluated
    weights: Floats
    replicates: Floats | None = None  # the values under each draw of the rows
    band: Band | None = None  # where the model has its own
    curves: Floats | None = None  # of single rows, in the order of ``rows``
    #: Of each row nearly its prediction and, after that, how far that may be off:
    #: (rows, outputs + 1), where the method gives them.
    near: Floats | None = None
    exact: bool = False  # whether the values were read off a decomposition
    left_out: str | None = None  # the user is warned of this, and of the next
    stopped: str | None = None
    notes: tuple[str, ...] = ()
