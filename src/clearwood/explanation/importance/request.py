"""What an importance is computed from: between the verb and the methods."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.checks import check_whole
from clearwood._shared.clock import Clock
from clearwood._shared.draws import draw_rows
from clearwood._shared.messages import tell
from clearwood._shared.numbers import count, duration
from clearwood.explanation.games.game import checked_weights
from clearwood.explanation.games.groups import players_of
from clearwood.explanation.results.outputs import two_rows_or_more
from clearwood.explanation.rows.predictor import Predictor
from clearwood.models import Learner
from clearwood.table import Table

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["Request"]


@dataclass(frozen=True, eq=False)
class Request:
    """The options of `clearwood.importance`, which describes them; checked."""

    explanation: "Explanation"
    y: Any
    repeats: int
    conditional: bool
    groups: Mapping[str, Sequence[str]] | None
    loss: Any
    folds: int
    confidence: float
    output: Any
    scale: str | None
    sample: int | None
    clock: Clock  # until when the work may go on
    seed: int
    n_jobs: int

    @property
    def is_training(self) -> bool:
        """Whether the rows look like those that the model was fitted to."""
        model, data = self.explanation.model, self.explanation.data
        if not isinstance(model, Learner) or not isinstance(data, Table):
            return False
        training = getattr(model, "training_", {})
        return bool(training.get("rows") == data.n_rows and training.get("source") == data.source)

    def predictor(self) -> Predictor:
        """Return the model over the rows."""
        return self.explanation.predictor(output=self.output, scale=self.scale, n_jobs=self.n_jobs)

    def weights(self, rows: Index) -> Floats | None:
        """Return the weights of some rows; None where all count alike."""
        weights = checked_weights(self.explanation.own_weights, self.explanation.n_rows)
        return None if weights is None else weights[rows]

    def players(self, predictor: Predictor) -> dict[str, tuple[int, ...]]:
        """Return groups and the columns in none of them, each with its positions."""
        return dict(zip(*players_of(predictor.names, self.groups), strict=True))

    def rows(self, n_rows: int, most: int | None = None) -> Index:
        """Choose the rows to measure on: as many as wanted, else ``most``, else all."""
        two_rows_or_more(n_rows, "importance")
        if self.sample is not None:
            check_whole("sample", self.sample, 2)
        return draw_rows(n_rows, self.sample or most, seed=self.seed)

    def rows_in_time(self, predictor: Predictor, rows: Index, per_row: int) -> Index:
        """Return as many of the rows as there is time for, by how long the first ones take."""
        limit = self.clock.time_limit
        if limit is None:
            return rows
        some = rows[np.linspace(0, len(rows) - 1, min(len(rows), 200)).round().astype(np.intp)]
        started = time.monotonic()
        predictor.predict(some)
        per_evaluation = max(time.monotonic() - started, 1e-6) / len(some)
        size = int(np.clip(limit / per_evaluation / per_row, 20, len(rows)))
        if size < len(rows):
            tell(f"{duration(limit)} are enough for {size:,} of {count(len(rows), 'row')}")
        chosen = np.random.default_rng(self.seed).choice(rows, size, replace=False)
        return np.sort(chosen)
