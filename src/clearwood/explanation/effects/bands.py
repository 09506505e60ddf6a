"""Bands by resampling the rows: of averages, without further predictions, or of the model."""

from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.progress import progress
from clearwood.explanation.rows.compose import take_rows
from clearwood.fitted import as_data
from clearwood.models import TableModel
from clearwood.table import Table

__all__ = ["Training", "band", "known_target", "mean_replicates", "refitted", "resampled_weights"]

#: Cells of one block of weights, so that many rows do not fill the memory.
_CELLS = 20_000_000


def resampled_weights(weights: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """Yield the rows' weights under each bootstrap draw, a block of draws at a time.

    Examples
    --------
    >>> block = next(resampled_weights(np.ones(5), 3, seed=0))
    >>> block.shape, block.sum(axis=1)
    ((3, 5), array([5., 5., 5.]))
    """
    generator = np.random.default_rng(seed)
    n_rows = len(weights)
    at_once = max(1, _CELLS // max(n_rows, 1))
    for first in range(0, draws, at_once):
        size = min(at_once, draws - first)
        block = np.empty((size, n_rows))
        for k in range(size):
            drawn = generator.integers(0, n_rows, n_rows)
            block[k] = np.bincount(drawn, minlength=n_rows) * weights
        yield block


def mean_replicates(values: Floats, weights: Floats, draws: int, seed: int) -> Floats:
    """Compute the weighted mean of values (rows, ...) under each draw, NaN aside: (draws, ...)."""
    flat = values.reshape(len(values), -1)
    known = np.isfinite(flat)
    complete = bool(known.all())
    filled = flat if complete else np.where(known, flat, 0.0)
    result = []
    for block in resampled_weights(weights, draws, seed):
        total = block.sum(axis=1, keepdims=True) if complete else block @ known
        with np.errstate(invalid="ignore", divide="ignore"):
            result.append((block @ filled) / total)
    return np.concatenate(result).reshape(draws, *values.shape[1:])


def band(replicates: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Compute the ends of the middle ``confidence`` of the draws, point by point."""
    tail = (1 - confidence) / 2
    # a point that no draw reaches has no band
    reached = np.isfinite(replicates).any(axis=0)
    safe = np.where(reached, replicates, 0.0)
    low, high = np.nanquantile(safe, [tail, 1 - tail], axis=0)
    return np.where(reached, low, np.nan), np.where(reached, high, np.nan)


class Training:
    """Rows and target that a model can be fitted to, some of them at a time."""

    def __init__(self, model: Any, data: Any, y: Any) -> None:
        if not (hasattr(model, "fit") and hasattr(model, "get_params")):
            raise InputError(
                f"{type(model).__name__} cannot be refitted: it is not a scikit-learn estimator",
                hint="give the estimator itself rather than a function.",
            )
        self.model, self.data = model, as_data(data)
        self.y = known_target(self.data, y)

    def __len__(self) -> int:
        return len(self.y)

    def fit(self, chosen: NDArray[np.intp], data: Any = None) -> Any:
        """Fit a copy of the model to some rows; of other data where some is given."""
        from sklearn.base import clone

        data = self.data if data is None else data
        fresh = clone(self.model)
        rows = take_rows(data, chosen)
        if isinstance(fresh, TableModel):
            return fresh.fit(rows) if isinstance(rows, Table) else fresh.fit(rows, self.y[chosen])
        names = getattr(self.model, "feature_names_in_", None)
        if isinstance(rows, Table):
            rows = rows.X.by_header().to_frame()
        if not isinstance(rows, np.ndarray):
            frame = nw.from_native(rows, eager_only=True)
            rows = frame.to_numpy() if names is None else frame.select(list(names)).to_native()
        return fresh.fit(rows, self.y[chosen])


def known_target(data: Any, y: Any) -> NDArray[Any]:
    """Return the target: as it was passed, or as the table names it."""
    if y is None and isinstance(data, Table):
        return data.y
    if y is None:
        raise InputError(
            "the target is not known",
            parameter="y",
            hint=words("pass ", Option("y"), ", or read the table with ", Option("target"), "."),
        )
    target = np.asarray(y).ravel()
    n_rows = data.n_rows if isinstance(data, Table) else len(data)
    if len(target) != n_rows:
        raise InputError(f"y has {len(target)} values but the data has {n_rows} rows")
    return target


def refitted(model: Any, data: Any, y: Any, draws: int, seed: int) -> Iterator[Any]:
    """Yield the model fitted to resampled rows, once per draw."""
    training = Training(model, data, y)
    generator = np.random.default_rng(seed)
    with progress("refitting", total=draws) as step:
        for _ in range(draws):
            yield training.fit(np.sort(generator.integers(0, len(training), len(training))))
            step(1)
