"""The tables of ``../shared/data`` as benchmarks use them: target, columns left out, scale."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks._harness import ROOT

__all__ = ["DATA", "SHARED", "Rows", "Source", "read_shared"]

DATA = ROOT.parent / "shared" / "data"


@dataclass(frozen=True)
class Source:
    """A file of the shared tables: its target, the columns to drop, and the target's scale."""

    file: str
    target: str
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    classes: bool = False
    log: bool = False
    unit: float = 1.0


_COMPAS = ("sex", "age", "race", "juv_fel_count", "juv_misd_count", "juv_other_count")
_TITANIC = ("alive", "class", "who", "adult_male", "embark_town", "alone")
SHARED = {
    "california": Source("california_housing.csv", "median_house_value", unit=1e5),
    "bike": Source("bike_sharing.csv", "cnt", ("instant", "dteday", "casual", "registered")),
    "hitters": Source("hitters.csv", "Salary", log=True),
    "wage": Source("wage.csv", "wage", ("logwage", "region")),
    "carseats": Source("carseats.csv", "Sales"),
    "diamonds": Source("diamonds.csv", "price", log=True),
    "mpg": Source("mpg.csv", "mpg", ("name",)),
    "adult": Source("adult.csv", "income", ("fnlwgt",), classes=True),
    "compas": Source(
        "compas.csv",
        "two_year_recid",
        keep=(*_COMPAS, "priors_count", "c_charge_degree"),
        classes=True,
    ),
    "german": Source("german_credit.csv", "credit_risk", classes=True),
    "titanic": Source("titanic.csv", "survived", _TITANIC, classes=True),
    "penguins": Source("penguins.csv", "species", classes=True),
}


@dataclass(frozen=True, eq=False)
class Rows:
    """A table: a data frame of features, and the target as numbers or class codes."""

    name: str
    X: Any
    y: NDArray[Any]
    classes: bool

    @property
    def target(self) -> NDArray[Any]:
        """The target as learners are given it: classes as words, so that they are not numbers."""
        return np.array([f"class {code}" for code in self.y]) if self.classes else self.y


def read_shared(name: str, *, rows: int, seed: int = 0, raw: bool = False) -> Rows:
    """Read a shared table; rows without a target and constant columns are left out.

    Parameters
    ----------
    name
        A key of `SHARED`.
    rows
        Rows at most; 0 for all.
    seed
        Fixes which rows are drawn where there are more.
    raw
        Whether targets are as in the file, rather than logarithms or in other units.
    """
    source = SHARED[name]
    frame = pd.read_csv(DATA / source.file, keep_default_na=False, na_values=[""])
    frame = frame[[*source.keep, source.target]] if source.keep else frame
    frame = frame.drop(columns=list(source.drop))
    frame = frame[frame[source.target].notna()].reset_index(drop=True)
    varying = [one for one in frame if one == source.target or frame[one].nunique() > 1]
    frame = frame[varying]
    if rows and len(frame) > rows:
        frame = frame.sample(rows, random_state=seed).reset_index(drop=True)
    target = frame.pop(source.target)
    if source.classes:
        y: NDArray[Any] = pd.factorize(target, sort=True)[0]
    else:
        y = target.to_numpy(float)
        if not raw:
            y = np.log(y) if source.log else y / source.unit
    for column in frame:
        is_number = pd.api.types.is_numeric_dtype(frame[column]) and frame[column].dtype != bool
        text = frame[column].astype(str).where(frame[column].notna(), np.nan).astype(object)
        frame[column] = frame[column].astype(float) if is_number else text
    return Rows(name, frame, y, classes=source.classes)
