"""Boosted trees fitted to rows on disk: only their bins are in memory."""

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.memory import free_memory
from clearwood.models.catalogue.boosting.stages import LightgbmPatience, of_first_metric
from clearwood.models.entries.streams import (
    BLOCK,
    AfterLoss,
    AfterRound,
    Company,
    Grown,
    Recipe,
    Scratch,
    Streams,
)

__all__ = ["LIGHTGBM_STREAMS", "XGBOOST_STREAMS", "joined_text"]

#: Minutes that LightGBM waits for the other processes, which are watched from outside.
_MINUTES = 120
#: How often XGBoost tries to reach the other processes; it waits longer each time.
_TRIES = 12
#: Seconds that XGBoost waits for the other processes, which read their rows at their own pace.
_SECONDS = 21_600


class _LightGBM:
    """LightGBM reads blocks of rows into bins of one or two bytes a value."""

    bin_rows = 200_000

    def recipe(self, estimator: Any, job: Any) -> Recipe:
        params = dict(estimator.booster_.params)
        for name in ("num_iterations", "n_estimators", "num_boost_round"):
            params.pop(name, None)
        return Recipe(params, tuple(job.categorical), job.seed, job.n_jobs)

    def bins(self, recipe: Recipe, sample: Floats) -> bytes:
        from lightgbm import Dataset

        whole = Dataset(
            sample,
            label=np.zeros(len(sample)),
            params=dict(recipe.params),
            categorical_feature=list(recipe.categorical) or "auto",
            free_raw_data=False,
        )
        with tempfile.TemporaryDirectory(prefix="clearwood-") as folder:
            path = Path(folder) / "bins"
            # a row is enough: the file has the bins of every column
            whole.subset([0]).construct().save_binary(path)
            return path.read_bytes()

    def _dataset(
        self,
        recipe: Recipe,
        scratch: Scratch,
        company: Company | None,
        init_score: Floats | None = None,
    ) -> Any:
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

        params = dict(recipe.params)
        reference = None
        if company is not None and company.bins is not None:
            path = Path(str(scratch.files[0].name)).with_name(f"bins-{company.rank}")
            path.write_bytes(company.bins)
            params["pre_partition"] = True
            # now, because LightGBM would divide its rows among the processes once they are joined
            reference = Dataset(path, params=params).construct()
        dataset = Dataset(
            Blocks(),
            label=scratch.y,
            weight=scratch.weight,
            reference=reference,
            init_score=init_score,
            params=params,
            categorical_feature=list(recipe.categorical) or "auto",
            free_raw_data=False,
        )
        return dataset if reference is None else dataset.construct()

    def _params(self, recipe: Recipe, company: Company | None) -> dict[str, Any]:
        if company is None:
            return dict(recipe.params)
        return {
            **recipe.params,
            "num_threads": recipe.n_jobs,
            "tree_learner": "data",
            "pre_partition": True,
            "machines": ",".join(f"{host}:{port}" for host, port in company.addresses),
            "num_machines": len(company.addresses),
            "local_listen_port": company.addresses[company.rank][1],
            "time_out": _MINUTES,
        }

    def held_out_losses(
        self,
        recipe: Recipe,
        scratch: Scratch,
        held_out: Bools,
        rounds: int,
        *,
        patience: int | None,
        company: Company | None = None,
        after_loss: AfterLoss | None = None,
    ) -> Floats:
        import lightgbm as lgb

        whole = self._dataset(recipe, scratch, company).construct()
        history: dict[str, Any] = {}

        def after(_: Any) -> None:
            if after_loss is not None:
                after_loss(float(of_first_metric(next(iter(history.values())))[-1]))

        recorded = lgb.record_evaluation(history)
        after.order = recorded.order + 1  # type: ignore[attr-defined]
        ending = [] if patience is None else [LightgbmPatience(patience)]
        lgb.train(
            self._params(recipe, company),
            whole.subset(_some(~held_out)),
            rounds,
            valid_sets=[whole.subset(_some(held_out))],
            callbacks=[recorded, after, *ending],
        )
        return of_first_metric(next(iter(history.values())))

    def fit(
        self,
        recipe: Recipe,
        scratch: Scratch,
        rounds: int,
        *,
        grown: Grown | None,
        after_round: AfterRound,
        company: Company | None = None,
    ) -> Any:
        import lightgbm as lgb

        before, init_score = 0, None
        if grown is not None:
            before = grown.rounds
            booster = lgb.Booster(model_str=grown.model)
            # what the trees so far predict, block by block: LightGBM would ask for all rows at once
            init_score = np.concatenate(
                [booster.predict(X, raw_score=True) for X, _ in scratch.blocks()]
            )

        def text(model: Any) -> str:
            new = str(model.model_to_string())
            return new if grown is None else joined_text(grown.model, new)

        def after(env: Any) -> None:
            after_round(before + env.iteration - env.begin_iteration + 1, lambda: text(env.model))

        booster = lgb.train(
            # other random numbers than those that the trees before were grown with
            {**self._params(recipe, company), "random_state": recipe.seed + before},
            self._dataset(recipe, scratch, company, init_score),
            rounds - before,
            callbacks=[after],
        )
        return booster if grown is None else self.read(text(booster))

    def written(self, booster: Any) -> str:
        return str(booster.model_to_string())

    def read(self, model: str) -> Any:
        from lightgbm import Booster

        return Booster(model_str=model)


def _some(rows: Bools) -> list[int]:
    """Return the places of some rows; of one where there are none, since a library needs one."""
    return [int(i) for i in np.flatnonzero(rows)] or [0]


def joined_text(before: str, after: str) -> str:
    """Return one LightGBM model with the trees of two, in the text in which it saves models.

    The second model was fitted to what the first one leaves, so that their sum is the model.
    """
    head, trees, tail = _model_text(after)
    trees = [*_model_text(before)[1], *trees]
    trees = [re.sub(r"\ATree=\d+", f"Tree={i}", tree) for i, tree in enumerate(trees)]
    sizes = " ".join(str(len(tree.encode("utf-8"))) for tree in trees)
    head = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", head, flags=re.MULTILINE)
    return head + "".join(trees) + tail


def _model_text(model: str) -> tuple[str, list[str], str]:
    """Divide the text of a model into what is before its trees, the trees, and what follows."""
    starts = [found.start() for found in re.finditer(r"^Tree=\d+$", model, re.MULTILINE)]
    end = re.search(r"^end of trees$", model, re.MULTILINE)
    if end is None or not re.search(r"^tree_sizes=", model, re.MULTILINE):
        raise ValueError("this version of LightGBM writes models in a form that is not known")
    edges = [*starts, end.start()]
    return model[: edges[0]], [model[a:b] for a, b in pairwise(edges)], model[end.start() :]


class _XGBoost:
    """XGBoost reads blocks of rows into bins, on disk where they would not fit into memory."""

    bin_rows = 0

    def recipe(self, estimator: Any, job: Any) -> Recipe:
        params = dict(estimator.get_xgb_params())
        params.pop("feature_types", None)
        params.pop("enable_categorical", None)
        n_classes = getattr(estimator, "n_classes_", 0)
        if n_classes > 2:
            params["num_class"] = n_classes
        return Recipe(params, tuple(job.categorical), job.seed, job.n_jobs)

    def bins(self, recipe: Recipe, sample: Floats) -> bytes:
        raise NotImplementedError  # XGBoost's processes merge their sketches

    def _matrix(
        self,
        recipe: Recipe,
        scratch: Scratch,
        kept: Bools | None = None,
        ref: Any = None,
    ) -> Any:
        import xgboost as xgb

        types = ["c" if i in recipe.categorical else "q" for i in range(scratch.n_columns)]
        n_bytes = 2 * len(scratch) * scratch.n_columns
        free = free_memory()
        on_disk = free is not None and n_bytes > free / 2
        first = Path(str(scratch.files[0].name))
        name = f"bins-{first.name}-{'all' if kept is None else 'held' if ref else 'kept'}"
        weights = scratch.weight
        if kept is not None and not kept.any():
            # a library needs a row; it has weight 0
            kept = np.arange(len(scratch)) == 0
            weights = np.zeros(len(scratch), np.float32)

        class Blocks(xgb.DataIter):
            def __init__(self) -> None:
                self.blocks = scratch.blocks(kept)
                super().__init__(cache_prefix=str(first.with_name(name)) if on_disk else None)

            def next(self, input_data: Callable[..., Any]) -> bool:
                X, places = next(self.blocks, (None, None))
                if X is None:
                    return False
                weight = None if weights is None else weights[places]
                input_data(data=X, label=scratch.y[places], weight=weight, feature_types=types)
                return True

            def reset(self) -> None:
                self.blocks = scratch.blocks(kept)

        kind = xgb.ExtMemQuantileDMatrix if on_disk else xgb.QuantileDMatrix
        return kind(
            Blocks(),
            ref=ref,
            nthread=recipe.n_jobs,
            enable_categorical=bool(recipe.categorical),
        )

    def held_out_losses(
        self,
        recipe: Recipe,
        scratch: Scratch,
        held_out: Bools,
        rounds: int,
        *,
        patience: int | None,
        company: Company | None = None,
        after_loss: AfterLoss | None = None,
    ) -> Floats:
        import xgboost as xgb

        class After(xgb.callback.TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ARG002 - XGBoost's
                if after_loss is not None:
                    after_loss(float(of_first_metric(next(iter(evals_log.values())))[-1]))
                return False

        history: dict[str, Any] = {}
        with _xgboost_joined(company):
            fitted = self._matrix(recipe, scratch, ~held_out)
            xgb.train(
                self._params(recipe, company),
                fitted,
                rounds,
                evals=[(self._matrix(recipe, scratch, held_out, fitted), "held_out")],
                evals_result=history,
                early_stopping_rounds=patience,
                verbose_eval=False,
                callbacks=[After()],
            )
        return of_first_metric(next(iter(history.values())))

    def _params(self, recipe: Recipe, company: Company | None) -> dict[str, Any]:
        return (
            dict(recipe.params) if company is None else {**recipe.params, "n_jobs": recipe.n_jobs}
        )

    def fit(
        self,
        recipe: Recipe,
        scratch: Scratch,
        rounds: int,
        *,
        grown: Grown | None,
        after_round: AfterRound,
        company: Company | None = None,
    ) -> Any:
        import xgboost as xgb

        before = 0 if grown is None else grown.rounds

        class After(xgb.callback.TrainingCallback):
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ARG002 - XGBoost's
                after_round(before + epoch + 1, lambda: written(model))
                return False

        written = self.written
        model = None if grown is None else self.read(grown.model)
        with _xgboost_joined(company):
            return xgb.train(
                {**self._params(recipe, company), "seed": recipe.seed + before},
                self._matrix(recipe, scratch),
                rounds - before,
                xgb_model=model,
                callbacks=[After()],
            )

    def written(self, booster: Any) -> str:
        return str(bytes(booster.save_raw("json")).decode("utf-8"))

    def read(self, model: str) -> Any:
        from xgboost import Booster

        booster = Booster()
        booster.load_model(bytearray(model.encode("utf-8")))
        return booster


@contextmanager
def _xgboost_joined(company: Company | None) -> Iterator[None]:
    """Join the other processes; the first of them keeps the list."""
    if company is None:
        yield
        return
    from xgboost.collective import CommunicatorContext
    from xgboost.tracker import RabitTracker

    host, port = company.addresses[0]
    tracker = None
    if company.rank == 0:
        tracker = RabitTracker(len(company.addresses), host, port, sortby="task")
        tracker.start()
    with CommunicatorContext(
        dmlc_communicator="rabit",
        dmlc_tracker_uri=host,
        dmlc_tracker_port=port,
        dmlc_task_id=f"{company.rank:06d}",
        dmlc_retry=_TRIES,
        dmlc_timeout=_SECONDS,
    ):
        yield
    if tracker is not None:
        tracker.wait_for()


LIGHTGBM_STREAMS: Streams = _LightGBM()
XGBOOST_STREAMS: Streams = _XGBoost()
