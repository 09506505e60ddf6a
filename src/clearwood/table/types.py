"""The words for what a column holds, what it is used for, and what is predicted."""

from enum import StrEnum

__all__ = ["CODED", "NUMERIC", "Kind", "Role", "Task"]


class Kind(StrEnum):
    """What a column holds.

    Examples
    --------
    >>> Kind("whole number") is Kind.WHOLE
    True
    """

    NUMBER = "number"
    WHOLE = "whole number"
    YES_NO = "yes/no"
    CATEGORY = "category"
    ORDERED = "ordered category"
    DATE = "date"
    TEXT = "text"


#: The kinds stored as codes into a list of levels.
CODED = frozenset({Kind.YES_NO, Kind.CATEGORY, Kind.ORDERED})
#: The kinds that are numbers, whole or not.
NUMERIC = frozenset({Kind.NUMBER, Kind.WHOLE})


class Role(StrEnum):
    """What a column is used for.

    A protected column is a feature too: the model may see it, and audits ask about it.
    """

    FEATURE = "feature"
    PROTECTED = "protected"
    TARGET = "target"
    WEIGHT = "weight"
    EXPOSURE = "exposure"
    GROUP = "group"
    TIME = "time"
    IGNORED = "ignored"


class Task(StrEnum):
    """What kind of target is predicted.

    An amount is a number of zero or more whose mean is positive: predictions are on a log scale
    where the learner has one.
    """

    REGRESSION = "regression"
    COUNT = "count"
    AMOUNT = "amount"
    BINARY = "binary"
    MULTICLASS = "multiclass"

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class rather than a number."""
        return self in (Task.BINARY, Task.MULTICLASS)
