"""The score of a fitted learner, written out in the user's columns."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError

if TYPE_CHECKING:
    from clearwood.models.catalogue.hme.listing import ExpertTable
    from clearwood.models.catalogue.mars.formula import Formula
    from clearwood.models.catalogue.prim.boxes import BoxList
    from clearwood.models.catalogue.rules.listing import RuleList

__all__ = ["equation", "has_equation"]


def has_equation(model: Any) -> bool:
    """Return whether a fitted learner's score can be written out.

    Examples
    --------
    >>> import clearwood as cw
    >>> has_equation(cw.learner("ridge").fit(cw.datasets.load("diabetes")))
    False
    """
    return hasattr(getattr(model, "estimator_", None), "equation") and hasattr(model, "encoder_")


def equation(model: Any) -> "Formula | RuleList | BoxList | ExpertTable":
    """Write out the score of a fitted learner 'mars', 'rules', 'prim' or 'hme'.

    Parameters
    ----------
    model
        A fitted `Learner`.

    Returns
    -------
    Formula, RuleList, BoxList or ExpertTable
        Print it, or call ``to_frame()``. For counts the score is the logarithm of the prediction,
        for two classes the log odds of the second.

    Examples
    --------
    >>> import clearwood as cw
    >>> model = cw.learner("mars", max_terms=5).fit(cw.datasets.load("diabetes"))
    >>> print(equation(model))
    165
      + 7.76 · max(0, bmi − 22.2)
      − 63.9 · max(0, 5.366 − s5)
    """
    if not has_equation(model):
        name = getattr(model, "name", type(model).__name__)
        raise InputError(
            f"{name!r} is not a fitted learner whose score can be written out",
            parameter="model",
            value=name,
            hint="fit 'mars' for a formula, 'rules' for a list of rules, 'prim' for boxes or 'hme' "
            "for experts.",
        )
    columns = model.encoder_.columns_
    names, levels = [one.name for one in columns], [one.levels for one in columns]
    written: Formula | RuleList | BoxList | ExpertTable = model.estimator_.equation(names, levels)
    # shares are of what the rows of the fit counted by, which the estimator does not know by name
    by = model.training_.get("counted_by", "rows")
    return replace(written, counted_by=by) if hasattr(written, "counted_by") else written
