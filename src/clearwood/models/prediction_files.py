"""Predictions of all rows of a table in parts, written to files."""

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import joblib
import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError, Option, words
from clearwood.parallel import Written, needs_folder, write_parts
from clearwood.table import Parts, Role, Table, as_table

if TYPE_CHECKING:
    from clearwood.models.table_model import TableModel

__all__ = ["model_digest", "prediction_columns", "written_predictions"]


_READ = (Role.FEATURE, Role.PROTECTED, Role.EXPOSURE)


def prediction_columns(
    model: "TableModel", table: Table, *, probabilities: bool | None = None
) -> dict[str, NDArray[Any]]:
    """Return the columns to write: the prediction and, for classes, their probabilities.

    With an exposure in the table, the number that is expected is a further column.

    Parameters
    ----------
    model
        A fitted learner.
    table
        The rows to predict.
    probabilities
        True requires them, False leaves them out, None writes them if the model predicts them.

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> list(prediction_columns(cw.learner("lda").fit(wine), wine.head(1)))
    ['prediction', 'probability:class_0', 'probability:class_1', 'probability:class_2']
    """
    columns: dict[str, NDArray[Any]] = {"prediction": model.predict(table)}
    if table.exposures is not None:
        columns["expected"] = np.asarray(table.exposures * columns["prediction"])
    any_model: Any = model
    has_probabilities = model.task_.is_classification and hasattr(model, "predict_proba")
    if probabilities and not has_probabilities:
        what = "classes only" if model.task_.is_classification else "numbers"
        name = getattr(model, "name", type(model).__name__)
        raise InputError(
            f"there are no probabilities: the model ({name}, {model.task_}) predicts {what}",
            parameter="probabilities",
            value=probabilities,
            hint=words("leave out ", Option("probabilities"), "."),
        )
    if has_probabilities and probabilities is not False:
        for label, column in zip(any_model.classes_, any_model.predict_proba(table).T, strict=True):
            columns[f"probability:{label}"] = column
    return columns


def written_predictions(
    model: "TableModel",
    parts: Parts,
    to: str | Path | None,
    *,
    probabilities: bool | None = None,
    force: bool = False,
    ledger: str | Path | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    n_jobs: int | None = 1,
) -> Written:
    """Write the predictions of all rows of a table in parts, one Parquet file for each part.

    Parameters
    ----------
    model
        A fitted model.
    parts
        The rows.
    to
        The folder.
    probabilities
        As for `prediction_columns`.
    force
        Replace files in the folder.
    ledger, on_error, n_jobs
        As for `clearwood.explain`.

    Returns
    -------
    Written
    """
    if to is None:
        raise needs_folder("predictions")
    prediction_columns(model, _read(model, parts.head(1)), probabilities=probabilities)
    identity = None
    if ledger is not None:
        identity = {
            "work": "predictions",
            "model": model_digest(model),
            "parts": parts.fingerprint(),
            "probabilities": probabilities,
        }
    return write_parts(
        parts.parts,
        _Predicting(model, probabilities),
        to,
        what="predictions",
        read=[name for name in parts.names if parts.role(name) in _READ],
        force=force,
        identity=identity,
        ledger=ledger,
        on_error=on_error,
        n_jobs=n_jobs,
    )


def _read(model: "TableModel", batch: Table) -> Table:
    return as_table(batch, schema=model.schema_, exposure=True)


def model_digest(model: Any) -> str:
    """Identify a model by all it has learned, but not by when."""
    own = getattr(model, "__dict__", {})
    learned = {k: v for k, v in own.items() if k.endswith("_") and k != "training_"}
    try:
        return str(joblib.hash(learned or model))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InputError(
            f"the model cannot be identified, so a ledger cannot say which it belongs to: {error}",
            parameter="ledger",
            hint="leave the ledger out.",
        ) from error


@dataclass(frozen=True, eq=False)
class _Predicting:
    """Predicts a batch of rows, in a worker."""

    model: "TableModel"
    probabilities: bool | None

    def __call__(self, batch: Table, start: int) -> dict[str, NDArray[Any]]:
        del start
        table = _read(self.model, batch)
        return prediction_columns(self.model, table, probabilities=self.probabilities)
