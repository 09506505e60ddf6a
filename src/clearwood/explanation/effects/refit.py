"""Models fitted anew to resampled rows."""

from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.progress import progress
from clearwood.explanation.adapter.rows import as_data
from clearwood.models import Learner
from clearwood.table import Table

__all__ = ["Training", "known_target", "refitted", "training_of"]


class Training:
    """Rows and target that a model can be fitted to, some of them at a time."""

    def __init__(self, model: Any, data: Any, y: Any) -> None:
        self.model, self.data = model, as_data(data)
        self.y = known_target(self.data, y)

    def __len__(self) -> int:
        return len(self.y)

    @staticmethod
    def rows(data: Any, chosen: NDArray[np.intp]) -> Any:
        """Give some rows of data of any kind."""
        if isinstance(data, Table | np.ndarray):
            return data[chosen]
        return nw.from_native(data, eager_only=True)[chosen].to_native()

    def fit(self, chosen: NDArray[np.intp], data: Any = None) -> Any:
        """Fit a copy of the model to some rows; of other data where some is given."""
        from sklearn.base import clone

        data = self.data if data is None else data
        fresh = clone(self.model)
        rows = self.rows(data, chosen)
        if isinstance(fresh, Learner):
            return fresh.fit(rows) if isinstance(rows, Table) else fresh.fit(rows, self.y[chosen])
        names = getattr(self.model, "feature_names_in_", None)
        if isinstance(rows, Table):
            rows = rows.X.to_frame()
        if names is not None and not isinstance(rows, np.ndarray):
            rows = nw.from_native(rows, eager_only=True).select(list(names)).to_native()
        elif names is None and not isinstance(rows, np.ndarray):
            rows = nw.from_native(rows, eager_only=True).to_numpy()
        return fresh.fit(rows, self.y[chosen])


def training_of(model: Any, data: Any, y: Any) -> Training:
    """Check that a model can be fitted anew, and to what."""
    if not (hasattr(model, "fit") and hasattr(model, "get_params")):
        raise InputError(
            f"{type(model).__name__} cannot be fitted anew: it is no scikit-learn estimator",
            hint="give the estimator itself rather than a function.",
        )
    return Training(model, data, y)


def known_target(data: Any, y: Any) -> NDArray[Any]:
    """Give the target: as it was passed, or as the table names it."""
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
    """Give the model fitted to resampled rows, once per draw."""
    training = training_of(model, data, y)
    generator = np.random.default_rng(seed)
    with progress("fitting anew", total=draws) as step:
        for _ in range(draws):
            yield training.fit(np.sort(generator.integers(0, len(training), len(training))))
            step(1)
