"""A catalogue learner as a scikit-learn estimator: encoding and model in one."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from clearwood._errors import InputError, did_you_mean
from clearwood.models import catalogue
from clearwood.models._entry import Entry, Job
from clearwood.table import Encoder, Task, as_table

__all__ = ["Learner", "learner"]


def learner(name: str, *, task: str | None = None, **settings: Any) -> "Learner":
    """Make a learner of the catalogue by its short name.

    Parameters
    ----------
    name
        A name that ``clearwood models`` lists.
    task
        "regression", "count", "binary" or "multiclass"; found from the target when left out.
    **settings
        The learner's own settings, and ``categories``, ``seed`` and ``n_jobs`` of `Learner`.

    Returns
    -------
    Learner

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> model = cw.learner("ridge", alpha=0.1).fit(data)
    >>> model.predict(data.head(2)).round(1)
    array([205.7, 68.2])
    """
    made = Learner(name, task=task, **settings)
    made.entry  # noqa: B018 - an unknown name is answered here, not at fit
    made.check_settings()
    return made


class Learner(BaseEstimator):
    """A catalogue entry that can be fitted to a table.

    ``fit`` learns the encoding (levels, imputation, scale) and the model from the same rows, so
    that resampling a learner resamples everything it learns.

    Parameters
    ----------
    name
        The entry of the catalogue.
    task
        What is predicted; found from the target when None.
    categories
        How categories reach the model: "onehot", "ordinal", "native" or "target"; the entry's own
        way when None.
    seed
        Fixes every random choice.
    n_jobs
        Threads or processes the model may use.
    **settings
        Settings of the entry.

    Attributes
    ----------
    task_ : Task
    encoder_ : Encoder
        Maps the user's columns to the model's and back.
    estimator_ : object
        The fitted model of the underlying library.
    schema_ : Schema
        The columns seen in fitting.
    classes_ : ndarray
        For classes: the labels, in the order of ``predict_proba``.
    """

    def __init__(
        self,
        name: str = "gbm",
        *,
        task: str | None = None,
        categories: str | None = None,
        seed: int = 0,
        n_jobs: int = 1,
        **settings: Any,
    ) -> None:
        self.name = name
        self.task = task
        self.categories = categories
        self.seed = seed
        self.n_jobs = n_jobs
        self.settings = settings

    # scikit-learn reads parameters off __init__; settings are parameters of their own

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - sklearn's
        """Give all parameters, settings included."""
        own: dict[str, Any] = super().get_params(deep=deep)
        return {**own, **self.settings}

    def set_params(self, **params: Any) -> Self:
        """Change parameters and settings."""
        own = set(self._get_param_names())
        known = own | set(self.entry.defaults)
        for key, value in params.items():
            if key not in known:
                raise InputError(
                    f"learner {self.name!r} has no setting {key!r}", hint=did_you_mean(key, known)
                )
            if key in own:
                setattr(self, key, value)
            else:
                self.settings = {**self.settings, key: value}
        return self

    @property
    def entry(self) -> Entry:
        """What the catalogue knows about this learner."""
        return catalogue.get(self.name)

    def check_settings(self) -> None:
        """Raise where a setting is not one of the entry's."""
        for key in self.settings:
            if key not in self.entry.defaults:
                raise InputError(
                    f"learner {self.name!r} has no setting {key!r}",
                    hint=did_you_mean(key, self.entry.defaults),
                )
