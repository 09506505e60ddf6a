"""Small real tables that come with scikit-learn."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from clearwood._shared.errors import InputError, did_you_mean
from clearwood.table import Table, read

__all__ = ["load"]


def load(name: str) -> Table:
    """Return one of the real tables that come with scikit-learn.

    Parameters
    ----------
    name
        "diabetes" (442 patients, progression of the disease after a year: regression, in the
        original units), "breast_cancer" (569 tumours, malignant or benign: binary) or "wine" (178
        Italian wines, three cultivars: multiclass).

    Returns
    -------
    Table
        The column to predict is called ``target``.

    Examples
    --------
    >>> tumours = load("breast_cancer")
    >>> tumours.n_rows, str(tumours.task), tumours.features[0], str(tumours.y[0])
    (569, 'binary', 'mean radius', 'malignant')
    """
    if name not in _TABLES:
        raise InputError(
            f"there is no table {name!r}",
            parameter="name",
            value=name,
            hint=did_you_mean(name, _TABLES),
        )
    return _TABLES[name]()


def _diabetes() -> Table:
    from sklearn.datasets import load_diabetes

    # the scaled version replaces ages and blood pressures by numbers without a unit
    columns = _columns(load_diabetes(scaled=False))
    # the source codes the two sexes 1 and 2 and does not document which is which
    columns["sex"] = [f"{value:.0f}" for value in columns["sex"]]
    return _read(columns, "diabetes", task="regression", kinds={"sex": "category"})


def _breast_cancer() -> Table:
    from sklearn.datasets import load_breast_cancer

    return _read(_columns(load_breast_cancer()), "breast_cancer", task="binary")


def _wine() -> Table:
    from sklearn.datasets import load_wine

    return _read(_columns(load_wine()), "wine", task="multiclass")


_TABLES: dict[str, Callable[[], Table]] = {
    "diabetes": _diabetes,
    "breast_cancer": _breast_cancer,
    "wine": _wine,
}


def _columns(bunch: Any) -> dict[str, Any]:
    """Return features and target by name, classes by their labels."""
    columns: dict[str, Any] = {
        str(name): bunch.data[:, j] for j, name in enumerate(bunch.feature_names)
    }
    labels = getattr(bunch, "target_names", None)
    columns["target"] = bunch.target if labels is None else labels[bunch.target]
    return columns


def _read(columns: dict[str, Any], name: str, **options: Any) -> Table:
    table: Table = read(columns, target="target", **options)
    return replace(table, source=f"scikit-learn's {name}")
