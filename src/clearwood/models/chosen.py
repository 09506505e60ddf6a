"""Which columns a fitted learner uses, for learners that choose some of them."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from clearwood.models.learners import Learner

__all__ = ["chooses_columns", "chosen_columns"]


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
    sparse = learner.entry.sparse
    settings = learner.all_settings
    return sparse is not None and all(settings[name] in few for name, few in sparse.items())


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
