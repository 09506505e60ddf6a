"""The library's figures as blocks of a page."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood.explanation import Effect
from clearwood.reporting.page.blocks import Chart

__all__ = ["chart", "of_outputs"]


def chart(name: str, figure: Any, *, title: str | None = None) -> Chart:
    """Return a block from an Altair figure, with its own or another title, and its description."""
    # its parts were put together by our own code, so that checking them again only takes time
    spec = figure.to_dict(validate=False)
    own = spec.get("title", "")
    words = own if isinstance(own, str) else str(own.get("text", ""))
    return Chart(
        name=name, title=title or words, alt=str(spec.get("description", words)), spec=spec
    )


def of_outputs(effect: Effect, outputs: Sequence[str]) -> Effect:
    """Return an effect on some of its outputs."""
    if len(effect.outputs) <= 1 or tuple(outputs) == effect.outputs:
        return effect
    kept = [effect.outputs.index(name) for name in outputs]

    def taken(values: Any) -> Any:
        if values is None:
            return None
        picked = values[..., kept]
        return picked[..., 0] if len(kept) == 1 else picked

    return replace(
        effect,
        values=taken(effect.values),
        low=taken(effect.low),
        high=taken(effect.high),
        curves=taken(effect.curves),
        baseline=taken(np.asarray(effect.baseline)),
        about=replace(effect.about, outputs=tuple(outputs)),
    )
