"""Numbers, names and shapes as sentences."""

from collections.abc import Sequence
from typing import Any
from unicodedata import bidirectional

import numpy as np

from clearwood.explanation import Effect
from clearwood.explanation.effects.shape import Shape, shape_of
from clearwood.reporting.collect.findings import EffectViews, Findings
from clearwood.table import Task

__all__ = [
    "beyond_words",
    "capital",
    "count",
    "effect_sentence",
    "is_sampled",
    "listed",
    "moving",
    "named",
    "number",
    "percent",
    "quantity",
    "sentence",
    "shown_output",
    "value_of",
]

_LONG_NAME = 60
_MINUS = "−"  # the sign itself, as in the tables of the page
# Of models that are asked, with more columns than this some pairs are not looked at.
_ALL_PAIRS = 15
# A share of the variation that is rounding.
_NO_SHARE = 1e-9


def count(n: int, noun: str, plural: str | None = None) -> str:
    """Count things.

    Examples
    --------
    >>> count(1, "row"), count(2000, "row"), count(2, "class", "classes")
    ('1 row', '2,000 rows', '2 classes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def number(value: Any) -> str:
    """Write a number with three or four digits that count.

    Examples
    --------
    >>> number(206855.8), number(0.012345), number(1.0), number(-3.14159), number(1234567890.0)
    ('206,900', '0.01235', '1', '−3.142', '1,235,000,000')
    """
    value = float(value)
    if not np.isfinite(value):
        return "unknown"
    if abs(value) >= 1e15 or (value and abs(value) < 1e-4):
        return f"{value:.3g}".replace("-", _MINUS)
    rounded = float(f"{value:.4g}")
    text = f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:.4g}"
    return text.replace("-", _MINUS)


def percent(value: float) -> str:
    """Write a share as a percentage.

    Number and sign are joined by a space that does not break.

    Examples
    --------
    >>> told = [percent(share) for share in (0.624, 0.062, 0.0004, 0.0, 0.9999)]
    >>> [text.replace(chr(160), " ") for text in told]
    ['62 %', '6.2 %', 'under 0.1 %', '0 %', 'over 99.9 %']
    """
    if 0 < value < 0.001:
        return "under 0.1\u00a0%"
    if 0.999 < value < 1:
        return "over 99.9\u00a0%"
    if 0.1 <= abs(value) <= 0.99 or value in (0.0, 1.0):
        return f"{100 * value:.0f}\u00a0%"
    return f"{100 * value:.1f}\u00a0%"


def listed(names: Sequence[str], *, most: int = 5) -> str:
    """Join names as one would say them; "and 1 more" would be no shorter than its name.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    most = len(names) if len(names) == most + 1 else most
    shown = [named(name) for name in names[:most]]
    left = len(names) - len(shown)
    if left:
        return f"{', '.join(shown)} and {left:,} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def named(name: str) -> str:
    """Shorten a name that would drown a sentence, and keep its direction from spreading.

    A name written from right to left turns the commas after it around, unless it is isolated.

    Examples
    --------
    >>> named("age"), len(named("a" * 200))
    ('age', 60)
    """
    short = name if len(name) <= _LONG_NAME else name[: _LONG_NAME - 1] + "…"
    if any(bidirectional(letter) in ("R", "AL") for letter in short):
        return f"\u2068{short}\u2069"
    return short


def capital(text: str) -> str:
    """Begin with a capital; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Begin with a capital and end with a full stop."""
    text = capital(text.strip())
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def value_of(value: Any) -> str:
    """Write a value of a column.

    Examples
    --------
    >>> value_of(18.0), value_of(np.datetime64("2024-03-01T00:00:00")), value_of(None)
    ('18', '2024-03-01', 'missing')
    """
    if value is None or value != value:  # NaN and NaT differ from themselves
        return "missing"
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[D]"))
    if isinstance(value, int | float | np.number):
        return number(value)
    return f"“{named(str(value))}”"


def quantity(findings: Findings, output: str | None = None) -> str:
    """Say what the predictions are."""
    target = findings.target or "the target"
    if findings.classes:
        label = output or findings.classes[-1]
        if findings.scale == "probability":
            return f"probability of {named(target)} = {named(label)}"
        return f"score of {named(target)} = {named(label)}"
    word = "number of " if findings.task is Task.COUNT else ""
    return f"{word}{named(target)}"


def moving(found: Findings, order: Sequence[str]) -> list[str]:
    """Give the columns that have a share in the variation of the prediction; one at least."""
    if found.importance is None or is_sampled(found):
        return list(order)
    share = dict(zip(found.importance.columns, found.importance.total, strict=True))
    return [name for name in order if share.get(name, 1.0) > _NO_SHARE] or list(order[:1])


def is_sampled(findings: Findings) -> bool:
    """Whether the model was asked rather than taken apart."""
    why = findings.decomposition
    return why is not None and why.about.is_sampled


def beyond_words(findings: Findings) -> str:
    """Say what lies beyond the pairs of a decomposition."""
    if findings.decomposition is not None and findings.decomposition.order < 2:
        return "two and more columns together"
    if is_sampled(findings) and len(findings.features) > _ALL_PAIRS:
        return "three and more columns together, and pairs that were not looked at,"
    return "three and more columns together"


def on_scale(findings: Findings, value: float) -> str:
    """Write a prediction: probabilities in per cent."""
    return percent(value) if findings.scale == "probability" else number(value)


def shown_output(effect: Effect) -> int:
    """Give the output that an effect moves most, by position."""
    values = effect.values.reshape(len(effect.grid[0]), -1)
    spans = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
    return int(np.argmax(spans))


def effect_sentence(findings: Findings, views: EffectViews) -> str:
    """Say what one column does to the mean prediction.

    "The mean predicted accidents fall from 2.1 at age 18 to 0.9 at 60, the other columns staying
    as they are in the data."
    """
    effect = views.pdp
    if effect is None:
        return ""
    output = shown_output(effect)
    several = len(effect.outputs) > 1
    label = effect.outputs[output] if findings.classes else None
    known = findings.target is not None
    mean = f"the mean predicted {quantity(findings, label)}" if known else "the mean prediction"
    spread = findings.predictions
    least = 0.0
    if spread is not None and spread.size:
        column = spread if spread.ndim == 1 else spread[:, min(output, spread.shape[1] - 1)]
        least = 0.05 * float(np.nanstd(column))
    shape = shape_of(effect, output=output, negligible=least)
    told = _shape_words(findings, named(views.column), mean, shape)
    if shape.trend == "flat":
        return sentence(told)
    most = " (the class it moves most)" if several else ""
    outside = (
        "" if shape.is_within else "; over much of this range, rows like those asked hardly occur"
    )
    return sentence(f"{told}{most}{outside}")


def _shape_words(findings: Findings, column: str, mean: str, shape: Shape) -> str:
    values = [on_scale(findings, value) for value in shape.values]
    at = [value_of(value) for value in shape.at]
    if shape.trend == "flat" or len(set(values)) == 1:
        return f"{mean} hardly changes with {column} alone"
    if shape.trend in ("rises", "falls"):
        return (
            f"{mean} {shape.trend} from {values[0]} at {column} = {at[0]} to {values[1]} at {at[1]}"
        )
    if shape.trend == "peaks":
        return (
            f"{mean} rises from {values[0]} at {column} = {at[0]} to {values[1]} at {at[1]}, then "
            f"falls to {values[2]} at {at[2]}"
        )
    if shape.trend == "dips":
        return (
            f"{mean} falls from {values[0]} at {column} = {at[0]} to {values[1]} at {at[1]}, then "
            f"rises to {values[2]} at {at[2]}"
        )
    if shape.trend == "levels":
        return (
            f"{mean} is lowest for {column} = {at[0]} ({values[0]}), highest for {at[1]} "
            f"({values[1]})"
        )
    return (
        f"{mean} goes up and down with {column}: lowest at {at[0]} ({values[0]}), highest at "
        f"{at[1]} ({values[1]})"
    )
