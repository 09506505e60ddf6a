"""Columns chosen from some rows, and a model of them fitted to the others."""

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from clearwood._shared.errors import Call, InputError, Option, bad_value, words
from clearwood._shared.numbers import count
from clearwood.models import Learner, chooses_columns, chosen_columns
from clearwood.resampling import HoldOut
from clearwood.table import Table

__all__ = ["SplitSample", "split_sample"]

#: The learner without a penalty that estimates the coefficients of chosen columns.
_OWN_LEARNERS = {"glm": "glm", "logistic": "logistic", "softmax": "logistic"}
_WITHOUT_PENALTY: dict[str, dict[str, Any]] = {
    "ols": {},
    "glm": {"alpha": 0.0},
    "logistic": {"penalty": "none"},
}
#: Learners of another family or of another aim than the mean.
_OTHER_AIMS = ("quantile", "huber")


@dataclass(frozen=True, eq=False)
class SplitSample:
    """A learner without a penalty, fitted to the rows that did not choose its columns.

    Parameters
    ----------
    model
        Fitted to ``rows``.
    rows
        The rows that it was fitted to, with the chosen columns only.
    n_choosing
        How many other rows chose them.
    """

    model: Learner
    rows: Table
    n_choosing: int


def split_sample(model: Learner, table: Table, split: Any, seed: int) -> SplitSample:
    """Choose columns from a share of the rows, and fit the others to them without a penalty.

    Classes keep their shares, rows of a group stay together, and where rows have a time the
    earlier ones choose.
    """
    if isinstance(split, bool) or not isinstance(split, int | float) or not 0 < split < 1:
        raise bad_value("split", split, "it must lie between 0 and 1, such as 0.5")
    if not chooses_columns(model):
        raise InputError(
            f"learner {model.name!r} uses all columns that it is given, so there is no choice to "
            "keep apart from the estimates",
            parameter="split",
            value=split,
            hint=words("leave out ", Option("split"), "."),
        )
    plain = _without_penalty(model)
    classes = table.y if model.task_.is_classification else None
    (parts,) = HoldOut(1 - split).splits(
        table.n_rows, y=classes, groups=table.groups, times=table.times, seed=seed
    )
    chosen = chosen_columns(clone(model).fit(table.take(parts.train)))
    if not chosen:
        raise InputError(
            f"no column is chosen from {count(len(parts.train), 'row')}, so there are no "
            "coefficients to estimate",
            parameter="split",
            value=split,
            hint="let more rows choose, or use a less strict criterion.",
        )
    features = set(table.features)
    kept = [one.name for one in table.columns if one.name in chosen or one.name not in features]
    rows = table.take(parts.test).select(kept)
    return SplitSample(plain.fit(rows), rows, len(parts.train))


def _without_penalty(model: Learner) -> Learner:
    """Return the learner that estimates coefficients on the same scale, without a penalty."""
    name = _OWN_LEARNERS.get(model.name, "ols")
    if name == "ols" and (model.entry.family != "linear" or model.name in _OTHER_AIMS):
        raise InputError(
            f"learner {model.name!r} has no form without a penalty whose coefficients can be "
            "estimated",
            parameter="model",
            value=model.name,
            hint=words(
                "choose with another, such as ",
                Call("learner", ("'ols'",), {"select": model.select or "lasso"}),
                ".",
            ),
        )
    settings = dict(_WITHOUT_PENALTY[name])
    if name == "glm":
        own = model.all_settings
        settings |= {"distribution": own["distribution"], "power": own["power"]}
    return Learner(name, settings=settings, task=model.task_.value, categories=model.categories)
