"""Results that remember the options they were made with, so that they can be made again."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

__all__ = ["changed_options", "remembers_options"]

P = ParamSpec("P")
T = TypeVar("T")


def changed_options(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that differ from the defaults of a function.

    Examples
    --------
    >>> changed_options(sorted, {"key": None, "reverse": True})
    {'reverse': True}
    """
    parameters = inspect.signature(function).parameters
    return {
        name: value
        for name, value in arguments.items()
        if value is not parameters[name].default and not _is_equal(value, parameters[name].default)
    }


def _is_equal(value: Any, default: Any) -> bool:
    try:
        return bool(value == default)
    except ValueError:  # arrays compare element by element
        return False


def remembers_options(function: Callable[P, T]) -> Callable[P, T]:
    """Let the result of a function have its arguments in the field `options`.

    The first argument, the data, is not among them; nor is what equals its default.
    """
    signature = inspect.signature(function)
    kinds = {name: parameter.kind for name, parameter in signature.parameters.items()}
    collected = [name for name, kind in kinds.items() if kind is inspect.Parameter.VAR_KEYWORD]

    @functools.wraps(function)
    def remembering(*args: P.args, **kwargs: P.kwargs) -> T:
        result = function(*args, **kwargs)
        _, *rest = signature.bind(*args, **kwargs).arguments.items()
        named = {name: value for name, value in rest if name not in collected}
        more = {k: v for name in collected for k, v in dict(rest).get(name, {}).items()}
        options = changed_options(function, named) | {
            k: v for k, v in more.items() if v is not None
        }
        return replace(result, options=options)  # type: ignore[type-var]

    return remembering
