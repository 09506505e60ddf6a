"""What the table of factors of a fair model is made of."""

from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import percent
from clearwood.explanation import Averaged
from clearwood.fairness.predictors.distribution import Distribution

if TYPE_CHECKING:
    from clearwood.fairness.predictors.fair_model import FairModel

__all__ = ["averaged"]

#: Values of protected columns up to which a note has the share of each.
_MOST_LISTED = 6


def averaged(fair: "FairModel") -> Averaged:
    """Return a fair model as the mean of one learner, calibrated; refuse what is none."""
    check_is_fitted(fair, "calibration_")
    if fair.kind == "parity" or fair.by_group:
        option = Option("by_group", value=True) if fair.by_group else Option("kind", fair.kind)
        raise InputError(
            words(
                "a fair model with ",
                option,
                " is not one learner with columns averaged out, so it has no table of factors",
            ),
            parameter="model",
            hint=words("make it with ", Option("kind", "free"), "."),
        )
    (learner,) = fair.models_
    names = " and ".join(fair.protected_)
    distribution = fair.distribution_
    own = fair.calibration_
    shift = own.shift[-1] - own.shift[0] if own.of_classes else own.shift[0]
    name = getattr(learner, "name", type(learner).__name__)
    if distribution is None:
        return Averaged(learner, None, None, shift, own.factor, f"{name}, fitted without {names}")
    title = f"{name}, {names} averaged out"
    notes = (f"{names} averaged out: {_shares_in_words(distribution)}",)
    return Averaged(
        learner, distribution.cells, distribution.shares, shift, own.factor, title, notes
    )


def _shares_in_words(distribution: Distribution) -> str:
    """Write the shares of the values over which is averaged."""
    if len(distribution) > _MOST_LISTED:
        return f"{len(distribution)} values by their shares"
    return ", ".join(
        f"{', '.join('missing' if one is None else str(one) for one in labels)} {percent(share)}"
        for labels, share in zip(distribution.labels, distribution.shares, strict=True)
    )
