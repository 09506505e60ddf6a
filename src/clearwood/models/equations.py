"""The score of a fitted learner, written out in the user's columns."""

from dataclasses import replace
from typing import Any

from clearwood._shared.errors import InputError
from clearwood._shared.results import Result
from clearwood.models import catalogue

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


def equation(model: Any) -> Any:
    """Write out the score of a fitted learner whose model is a list of lines, such as 'mars'.

    Parameters
    ----------
    model
        A fitted `Learner`.

    Returns
    -------
    Result
        A formula, rules, boxes or experts. Print it, or call ``to_frame()``. For counts the score
        is the logarithm of the prediction, for two classes the log odds of the second.

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
        able = [one for one in catalogue.entries() if one.listing]
        *most, last = [f"{one.name!r} for {one.listing}" for one in able]
        raise InputError(
            f"{name!r} is not a fitted learner whose score can be written out",
            parameter="model",
            value=name,
            hint=f"fit {', '.join(most)} or {last}.",
        )
    columns = model.encoder_.columns_
    names, levels = [one.name for one in columns], [one.levels for one in columns]
    listing = model.estimator_.equation(names, levels)
    # shares are of what the training rows counted by, which the estimator does not know by name
    by = model.training_.get("counted_by", "rows")
    written: Result = replace(listing, counted_by=by) if hasattr(listing, "counted_by") else listing
    return written
