"""Options of a benchmark, checked before anything is fitted."""

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.checks import check_whole
from clearwood._shared.errors import InputError, bad_value, unknown_choice, words
from clearwood._shared.messages import tell
from clearwood.benchmarking.fitting.contenders import BASELINE
from clearwood.benchmarking.fitting.work import Context
from clearwood.evaluation import check_threshold
from clearwood.losses import LOSSES, Loss, find_loss
from clearwood.models import catalogue
from clearwood.table import Table, Task

__all__ = [
    "check_choices",
    "check_counts",
    "check_target",
    "tuning_words",
    "usual_learners",
    "with_threshold",
]


def usual_learners(table: Table, *, in_parts: bool = False) -> tuple[str, ...]:
    """Return the usual learners; of them, those that can keep to the directions of the table."""
    assert table.task is not None
    usual = catalogue.usual(table.task, in_parts=in_parts)
    able = tuple(name for name in usual if catalogue.get(name).monotone)
    if not table.schema.monotone or set(able) <= {BASELINE}:
        return usual
    unable = ", ".join(name for name in usual if name not in able)
    tell(f"{unable} left out: they cannot keep to the directions that the table was read with")
    return able


def check_target(loss: Loss, codes: NDArray[Any], table: Table) -> None:
    """Refuse a target for which the loss is not defined, whatever is predicted."""
    if loss.name not in LOSSES or loss.needs != "prediction":
        return
    try:
        loss.per_row(codes, np.ones(len(codes)))
    except InputError as error:
        message = words(f"column {table.target!r}: ", error.message)
        raise InputError(message, parameter="loss", value=loss.name, hint=error.hint) from None


def with_threshold(loss: Loss, threshold: float, task: Task) -> tuple[Loss, float]:
    """Return the loss that predicts classes by the threshold, and the threshold itself."""
    check_threshold(threshold)
    if threshold == 0.5:
        return loss, loss.threshold
    if task is not Task.BINARY:
        raise bad_value("threshold", threshold, f"it is for two classes, and the task is {task}")
    if loss.needs == "label":
        loss = find_loss(f"zero-one:{threshold:g}")
    return loss, threshold


def tuning_words(context: Context, *, where: str = "inside each fold") -> str:
    """Say how settings are chosen."""
    tuning = context.tuning
    if tuning is None:
        return "settings not tuned"
    rule = ", simplest within one standard error" if tuning.rule == "one_se" else ""
    inner = f"{tuning.inner}-fold cross-validation"
    if context.table.times is not None:
        inner = f"tests on {tuning.inner} spans of time"
    return (
        f"settings tuned {where} by {inner} ({tuning.search} search, {tuning.trials} trials{rule})"
    )


def check_counts(**options: tuple[Any, int]) -> None:
    """Refuse what is not a whole number, or is less than the least one."""
    for name, (value, least) in options.items():
        check_whole(name, value, least)


def check_choices(**options: tuple[Any, Any]) -> None:
    """Refuse values that are not among the choices."""
    for name, (value, choices) in options.items():
        if value not in get_args(choices):
            raise unknown_choice(name, value, get_args(choices))
