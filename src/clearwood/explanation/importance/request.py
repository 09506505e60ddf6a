"""What an importance was asked for: between the public function and the methods."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError
from clearwood._shared.messages import tell
from clearwood.explanation.adapter.asking import Patience
from clearwood.explanation.adapter.compose import Index
from clearwood.explanation.adapter.predictor import Predictor, predictor_of
from clearwood.explanation.games.merged import players_of
from clearwood.explanation.games.of_model import game_of
from clearwood.models import Learner
from clearwood.table import Table

__all__ = ["Request"]


@dataclass(frozen=True, eq=False)
class Request:
    """What was asked for, checked.

    Parameters
    ----------
    model, data, y
        The model, the rows and their target as the user gave them.
    repeats, conditional, groups, loss, folds, level, output, scale, sample, seed, n_jobs
        As for `importance`.
    patience
        Until when the user waits.
    """

    model: Any
    data: Any
    y: Any
    repeats: int
    conditional: bool
    groups: Mapping[str, Sequence[str]] | None
    loss: Any
    folds: int
    level: float
    output: Any
    scale: str | None
    sample: int | None
    patience: Patience
    seed: int
    n_jobs: int

    @property
    def n_rows(self) -> int:
        """How many rows the data has."""
        return self.data.n_rows if isinstance(self.data, Table) else len(self.data)

    @property
    def is_training(self) -> bool:
        """Whether the rows look like those that the model was fitted to."""
        if not isinstance(self.model, Learner) or not isinstance(self.data, Table):
            return False
        training = getattr(self.model, "training_", {})
        return bool(
            training.get("rows") == self.data.n_rows and training.get("source") == self.data.source
        )

    @property
    def is_known(self) -> bool:
        """Whether the model can be taken apart, so that nothing has to be sampled."""
        try:
            game_of(self.model, self.data)
        except InputError:
            return False
        return True

    def predictor(self, *, many: bool = False) -> Predictor:
        """Give the model and the rows as something to ask; ``many`` times, if so."""
        return predictor_of(
            self.model,
            self.data,
            output=self.output,
            scale=self.scale,
            n_jobs=self.n_jobs,
            many=many,
        )

    def players(self, predictor: Predictor) -> dict[str, tuple[int, ...]]:
        """Give groups and the columns in none of them, each with its positions."""
        return dict(zip(*players_of(predictor.names, self.groups), strict=True))

    def rows(self, n_rows: int, most: int | None = None) -> Index:
        """Choose the rows to measure on: as many as asked for, else ``most``, else all."""
        if n_rows < 2:
            raise InputError("the data has 1 row; importance needs rows that differ")
        if self.sample is not None and self.sample < 2:
            raise InputError(f"sample is {self.sample}; at least 2 rows are needed")
        size = self.sample or most or n_rows
        if size >= n_rows:
            return np.arange(n_rows)
        chosen = np.random.default_rng(self.seed).choice(n_rows, size, replace=False)
        return np.sort(chosen)

    def rows_in_time(self, predictor: Predictor, rows: Index, per_row: int) -> Index:
        """Give as many of the rows as there is time for, by how long the first ones take."""
        if self.patience.budget is None:
            return rows
        some = rows[np.linspace(0, len(rows) - 1, min(len(rows), 200)).round().astype(np.intp)]
        started = time.monotonic()
        predictor.predict(some)
        per_evaluation = max(time.monotonic() - started, 1e-6) / len(some)
        size = int(np.clip(self.patience.budget / per_evaluation / per_row, 20, len(rows)))
        if size < len(rows):
            tell(f"the time of {self.patience.budget:g} s is enough for {size} of {len(rows)} rows")
        chosen = np.random.default_rng(self.seed).choice(rows, size, replace=False)
        return np.sort(chosen)
