"""The questions of an explanation as functions of a model and its data.

``cw.effect(model, data, "age")`` is ``cw.explain(model, data).effect("age")``, less the
decomposition where the question does not need it. Each signature is written once, with the
question itself; to ask more than one question of a model, keep what `clearwood.explain` returns.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from clearwood.explanation.adapter.explained import Explained
from clearwood.explanation.agreement.agreement import agreement as _agreement
from clearwood.explanation.effects.effect import effect as _effect
from clearwood.explanation.explain import Explanation
from clearwood.explanation.importance.importance import importance as _importance
from clearwood.explanation.local.contributions import contributions as _contributions
from clearwood.explanation.local.lime import lime as _lime
from clearwood.explanation.local.what_if import what_if as _what_if
from clearwood.explanation.shapley.shapley import shapley as _shapley

__all__ = [
    "agreement",
    "contributions",
    "effect",
    "importance",
    "lime",
    "shapley",
    "what_if",
]

P = ParamSpec("P")
R = TypeVar("R")

_MODEL_AND_DATA = """\
    model
        Anything with ``predict`` or ``predict_proba``, or a function of rows.
    data
        The rows over which the model is explained, usually the training rows: a table, a data
        frame, an array, a dict of columns or a path.
"""


def _one_call(
    question: Callable[Concatenate[Explained, P], R],
) -> Callable[Concatenate[Any, Any, P], R]:
    """Make a function of model and data of a question to an explanation."""

    @wraps(question)
    def ask(model: Any, data: Any, /, *args: P.args, **options: P.kwargs) -> R:
        return question(Explanation(model, data), *args, **options)

    signature = inspect.signature(question)
    _, *rest = signature.parameters.values()
    first = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY, annotation=Any)
        for name in ("model", "data")
    ]
    ask.__signature__ = signature.replace(parameters=[*first, *rest])  # type: ignore[attr-defined]
    head, line, tail = (question.__doc__ or "").partition("Parameters\n    ----------\n")
    ask.__doc__ = head + line + _MODEL_AND_DATA + tail
    return ask


effect = _one_call(_effect)
importance = _one_call(_importance)
shapley = _one_call(_shapley)
lime = _one_call(_lime)
what_if = _one_call(_what_if)
contributions = _one_call(_contributions)
agreement = _one_call(_agreement)
