"""Boosted trees fitted to rows on disk: only their bins are in memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.memory import free_memory

__all__ = ["LIGHTGBM_STREAMS", "XGBOOST_STREAMS", "Grown", "Scratch", "Streams"]

#: Rows that are read at once.
BLOCK = 65_536


@dataclass(frozen=True, eq=False)
class Scratch:
    """Encoded rows in a file, their targets and weights.

    Parameters
    ----------
    file
        Of float64, row after row; open for reading, without a buffer.
    n_columns
        Numbers in a row.
    y
        The target of each row.
    weight
        Its weight, where rows are weighted.
    """

    file: FileIO
    n_columns: int
    y: NDArray[np.float32]
    weight: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.y)

    def rows(self, start: int, stop: int) -> Floats:
        """Read some rows; the file is not mapped, so that memory holds these rows only."""
        values = np.empty((stop - start, self.n_columns))
        self.file.seek(start * self.n_columns * values.itemsize)
        self.file.readinto(values.data.cast("B"))
        return values

    def blocks(self, kept: Bools | None = None) -> Iterator[tuple[Floats, slice | Any]]:
        """Read all rows, or those kept, block by block, with where they are."""
        for start in range(0, len(self), BLOCK):
            stop = min(start + BLOCK, len(self))
            if kept is None:
                yield self.rows(start, stop), slice(start, stop)
                continue
            places = np.flatnonzero(kept[start:stop])
            if len(places):
                yield self.rows(start, stop)[places], places + start


@dataclass(frozen=True)
class Grown:
    """Trees that were grown before the fit was interrupted, in the library's own text."""

    rounds: int
    model: str


#: Called after every round with their number and a function that writes the trees so far.
AfterRound = Callable[[int, Callable[[], str]], None]


class Streams(Protocol):
    """How a library grows trees on rows in a file."""

    def held_out_losses(
        self,
        estimator: Any,
        job: Any,
        scratch: Scratch,
        held_out: Bools,
        rounds: int,
        patience: int,
    ) -> Floats:
        """Return the loss on held-out rows after each round of a fit to the others."""

    def fit(
        self,
        estimator: Any,
        job: Any,
        scratch: Scratch,
        rounds: int,
        *,
        grown: Grown | None,
        after_round: AfterRound,
    ) -> Any:
        """Return the library's model of all rows."""


class _LightGBM:
    """LightGBM reads blocks of rows into bins of one or two bytes a value."""

    def _dataset(self, estimator: Any, job: Any, scratch: Scratch) -> Any:
        from lightgbm import Dataset, Sequence

        class Blocks(Sequence):
            batch_size = BLOCK

            def __getitem__(self, key: Any) -> Floats:
                if isinstance(key, slice):
                    start, stop, _ = key.indices(len(scratch))
                    return scratch.rows(start, stop)
                if isinstance(key, int | np.integer):
                    row: Floats = scratch.rows(int(key), int(key) + 1)[0]
                    return row
                return np.array([self[int(one)] for one in key])

            def __len__(self) -> int:
                return len(scratch)

        class Streamed(Dataset):
            def _set_init_score_by_predictor(
                self, predictor: Any, data: Any, used_indices: Any
            ) -> Any:
                """Predict block by block: LightGBM would ask for all rows at once."""
                if predictor is None or used_indices is not None:
                    return super()._set_init_score_by_predictor(predictor, data, used_indices)
                scores = [predictor.predict(X, raw_score=True) for X, _ in scratch.blocks()]
                return self.set_init_score(np.concatenate(scores).ravel(order="F"))

        return Streamed(
            Blocks(),
            label=scratch.y,
            weight=scratch.weight,
            params=dict(_lightgbm_params(estimator)),
            categorical_feature=list(job.categorical) or "auto",
            free_raw_data=False,
        )

    def held_out_losses(
        self,
        estimator: Any,
        job: Any,
        scratch: Scratch,
        held_out: Bools,
        rounds: int,
        patience: int,
    ) -> Floats:
        import lightgbm as lgb

        from clearwood.models.estimators.stages import LightgbmPatience, of_first_metric

        whole = self._dataset(estimator, job, scratch).construct()
        history: dict[str, Any] = {}
        lgb.train(
            {**_lightgbm_params(estimator), "learning_rate": job.settings["learning_rate"]},
            whole.subset(np.flatnonzero(~held_out).tolist()),
            rounds,
            valid_sets=[whole.subset(np.flatnonzero(held_out).tolist())],
            callbacks=[lgb.record_evaluation(history), LightgbmPatience(patience)],
        )
        return of_first_metric(next(iter(history.values())))

    def fit(
        self,
        estimator: Any,
        job: Any,
        scratch: Scratch,
        rounds: int,
        *,
        grown: Grown | None,
        after_round: AfterRound,
    ) -> Any:
        import lightgbm as lgb

        before = 0 if grown is None else grown.rounds

        def after(env: Any) -> None:
            after_round(env.iteration - env.begin_iteration + 1, env.model.model_to_string)

        params = _lightgbm_params(estimator)
        return lgb.train(
            # other random numbers than those that the trees before were grown with
            {**params, "random_state": job.seed + before},
            self._dataset(estimator, job, scratch),
            rounds - before,
            init_model=None if grown is None else lgb.Booster(model_str=grown.model),
            callbacks=[after],
        )


def _lightgbm_params(estimator: Any) -> dict[str, Any]:
    """Return the estimator's parameters as LightGBM's own functions take them."""
    known = dict(estimator.booster_.params)
    for name in ("num_iterations", "n_estimators", "num_boost_round"):
        known.pop(name, None)
    return known


class _XGBoost:
    """XGBoost reads blocks of rows into bins, on disk where they would not fit into memory."""

    def _matrix(
        self,
        job: Any,
        scratch: Scratch,
        kept: Bools | None = None,
        ref: Any = None,
    ) -> Any:
        import xgboost as xgb

        types = ["c" if i in job.categorical else "q" for i in range(scratch.n_columns)]
        n_bytes = 2 * len(scratch) * scratch.n_columns
        free = free_memory()
        on_disk = free is not None and n_bytes > free / 2

        class Blocks(xgb.DataIter):
            def __init__(self) -> None:
                self.blocks = scratch.blocks(kept)
                cache = str(Path(str(scratch.file.name)).with_name("bins")) if on_disk else None
                super().__init__(cache_prefix=cache)

            def next(self, input_data: Callable[..., Any]) -> bool:
                X, places = next(self.blocks, (None, None))
                if X is None:
                    return False
                weight = None if scratch.weight is None else scratch.weight[places]
                input_data(data=X, label=scratch.y[places], weight=weight, feature_types=types)
                return True

            def reset(self) -> None:
                self.blocks = scratch.blocks(kept)

        kind = xgb.ExtMemQuantileDMatrix if on_disk else xgb.QuantileDMatrix
        return kind(
            Blocks(),
            ref=ref,
            nthread=job.n_jobs,
            enable_categorical=bool(job.categorical),
        )

    def held_out_losses(
        self,
        estimator: Any,
        job: Any,
        scratch: Scratch,
        held_out: Bools,
        rounds: int,
        patience: int,
    ) -> Floats:
        import xgboost as xgb

        from clearwood.models.estimators.stages import of_first_metric

        fitted = self._matrix(job, scratch, ~held_out)
        history: dict[str, Any] = {}
        xgb.train(
            {**_xgboost_params(estimator), "learning_rate": job.settings["learning_rate"]},
            fitted,
            rounds,
            evals=[(self._matrix(job, scratch, held_out, fitted), "held_out")],
            evals_result=history,
            early_stopping_rounds=patience,
            verbose_eval=False,
        )
        return of_first_metric(next(iter(history.values())))

    def fit(
        self,
        estimator: Any,
        job: Any,
        scratch: Scratch,
        rounds: int,
        *,
        grown: Grown | None,
        after_round: AfterRound,
    ) -> Any:
        import xgboost as xgb

        before = 0 if grown is None else grown.rounds

        class After(xgb.callback.TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ARG002 - XGBoost's
                after_round(epoch + 1, lambda: model.save_raw("json").decode("utf-8"))
                return False

        model = None
        if grown is not None:
            model = xgb.Booster()
            model.load_model(bytearray(grown.model.encode("utf-8")))
        return xgb.train(
            {**_xgboost_params(estimator), "seed": job.seed + before},
            self._matrix(job, scratch),
            rounds - before,
            xgb_model=model,
            callbacks=[After()],
        )


def _xgboost_params(estimator: Any) -> dict[str, Any]:
    params = dict(estimator.get_xgb_params())
    params.pop("feature_types", None)
    params.pop("enable_categorical", None)
    n_classes = getattr(estimator, "n_classes_", 0)
    return {**params, "num_class": n_classes} if n_classes > 2 else params


LIGHTGBM_STREAMS: Streams = _LightGBM()
XGBOOST_STREAMS: Streams = _XGBoost()
