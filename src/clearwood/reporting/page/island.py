"""Data carried in the page as JSON, safe inside a script element."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

__all__ = ["island"]

# What could end the element, open a comment, or end a line in older scripts. All of them occur in
# JSON within strings only, where the escape means the same character.
_ESCAPES = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def island(value: Any) -> Markup:
    r"""Return a value as JSON that can stand in a script element of a page.

    NumPy's numbers and arrays are taken as Python's; numbers that are not finite become null,
    which is how JSON says that there is none.

    Examples
    --------
    >>> print(island({"level": "</script>", "value": np.float64(0.5), "band": (1, np.nan)}))
    {"level":"\u003c/script\u003e","value":0.5,"band":[1,null]}
    """
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_ESCAPES))  # noqa: S704 - escaped one line above


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
