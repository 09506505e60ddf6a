"""The questions of an explanation as functions of a model and its data.

``cw.effect(model, data, "age")`` is ``cw.explain(model, data).effect("age")``, less the
decomposition where the question does not need it. Each signature is written once, with the
question itself; to ask more than one question of a model, keep what `clearwood.explain` returns.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from clearwood._shared.errors import Call, InputError, Text, did_you_mean, words
from clearwood._shared.numbers import count
from clearwood.explanation.agreement.agreement import agreement as _agreement
from clearwood.explanation.decomposition.explained import Explained
from clearwood.explanation.effects.effect import effect as _effect
from clearwood.explanation.explain import Explanation, explain
from clearwood.explanation.importance.importance import importance as _importance
from clearwood.explanation.local.contributions import contributions as _contributions
from clearwood.explanation.local.lime import lime as _lime
from clearwood.explanation.local.what_if import what_if as _what_if
from clearwood.explanation.monotone.monotone import monotone as _monotone
from clearwood.explanation.shapley.shapley import shapley as _shapley

__all__ = [
    "agreement",
    "contributions",
    "effect",
    "importance",
    "lime",
    "monotone",
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
    own = inspect.signature(question)
    _, *rest = own.parameters.values()
    first = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY, annotation=Any)
        for name in ("model", "data")
    ]
    signature = own.replace(parameters=[*first, *rest])

    @wraps(question)
    def ask(*args: Any, **options: Any) -> R:
        try:
            signature.bind(*args, **options)
        except TypeError:
            raise _refused(question.__name__, signature, args, options) from None
        model, data, *more = args
        return question(Explanation(model, data), *more, **options)

    ask.__signature__ = signature  # type: ignore[attr-defined]
    head, line, tail = (question.__doc__ or "").partition("Parameters\n    ----------\n")
    ask.__doc__ = head + line + _MODEL_AND_DATA + tail
    return ask


def _refused(
    verb: str, signature: inspect.Signature, args: Sequence[Any], options: Mapping[str, Any]
) -> InputError:
    """Make the error for a call that does not fit: Python's own would count wrongly."""
    parameters = signature.parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    by_position = [p.name for p in parameters if p.kind in positional]
    by_name = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    unknown = [name for name in options if name not in signature.parameters]
    if unknown and len(args) >= 2:
        name = unknown[0]
        hint: Text = did_you_mean(name, [*by_position[2:], *by_name])
        if name in inspect.signature(explain).parameters:
            call = Call("explain", ("model", "data", f"{name}=…"))
            hint = words("it is an option of ", call, f", whose method {verb} takes the rest.")
        return InputError(
            f"{verb} has no option {name!r}", parameter=name, value=options[name], hint=hint
        )
    if len(args) > len(by_position):
        listed = f"{', '.join(by_position[:-1])} and {by_position[-1]}"
        hint = words("give options by name: ", ", ".join(by_name), ".")
        if "y" in by_name:
            hint = words("give the target by name: ", Call(verb, (*by_position, "y=y")), ".")
        return InputError(
            f"{verb} takes {listed} by position, and {count(len(args), 'argument')} are given",
            parameter="y" if "y" in by_name else None,
            hint=hint,
        )
    needed = [n for n in by_position if signature.parameters[n].default is inspect.Parameter.empty]
    return InputError(
        f"{verb} needs {' and '.join(needed[len(args) :])} by position",
        parameter=needed[len(args)],
        hint=words("call ", Call(verb, (*needed, "…")), "."),
    )


effect = _one_call(_effect)
importance = _one_call(_importance)
shapley = _one_call(_shapley)
lime = _one_call(_lime)
what_if = _one_call(_what_if)
contributions = _one_call(_contributions)
agreement = _one_call(_agreement)
monotone = _one_call(_monotone)
