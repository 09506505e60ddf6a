"""Which columns a fitted learner uses, for learners that choose some of them."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from clearwood.models.learners import Learner

__all__ = ["chooses_columns", "chosen_columns"]

#: Learners whose fit has coefficients of exactly zero.
_SPARSE = frozenset({"lasso", "elastic-net", "lars", "omp", "subset", "stagewise"})
#: Learners that have some with these penalties.
_WITH_PENALTY = frozenset({"logistic", "softmax", "perceptron"})
_SPARSE_PENALTIES = frozenset({"l1", "elastic-net"})


def chooses_columns(learner: "Learner") -> bool:
    """Whether a fit of the learner uses some columns only: by ``select=``, or by zeros of its own.

    Examples
    --------
    >>> import clearwood as cw
    >>> plain, chosen = cw.learner("ridge"), cw.learner("ridge", select="anova:3")
    >>> chooses_columns(plain), chooses_columns(chosen), chooses_columns(cw.learner("lasso"))
    (False, True, True)
    """
    return learner.select is not None or _is_sparse(learner)


def _is_sparse(learner: "Learner") -> bool:
    penalty = learner.all_settings.get("penalty")
    has_zeros = learner.name in _WITH_PENALTY and penalty in _SPARSE_PENALTIES
    return has_zeros or learner.name in _SPARSE


def chosen_columns(model: "Learner") -> tuple[str, ...]:
    """Return the columns of the table that a fitted learner uses, in the order of the table.

    A category is used if one of its levels has a coefficient that is not zero.

    Examples
    --------
    >>> import clearwood as cw
    >>> chosen_columns(cw.learner("subset", size=2).fit(cw.datasets.load("diabetes")))
    ('bmi', 's5')
    """
    if not model.selected_ or not _is_sparse(model):
        return model.selected_
    coefficients = np.atleast_2d(model.estimator_.coef_)  # one line for each output
    is_used = (coefficients != 0).any(axis=0)
    used = {
        one.source for one, is_in in zip(model.encoder_.columns_, is_used, strict=True) if is_in
    }
    return tuple(name for name in model.schema_.features if name in used)
