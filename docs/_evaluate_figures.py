"""Draw the figures of the pages on evaluation and factors: `python docs/_evaluate_figures.py`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clearwood as cw

ASSETS = Path(__file__).parent / "assets"


def figures() -> Iterator[tuple[str, Any]]:
    """Give the charts by name, from the models of the pages."""
    data = cw.datasets.insurance(4000, seed=0)
    rows = cw.datasets.insurance(3000, seed=1).to_frame("dict")
    rows["current_premium"] = [0.2 + 0.004 * abs(age - 45) for age in rows["age"]]
    result = cw.evaluate(cw.learner("glm").fit(data), rows, data, against="current_premium")
    yield "evaluate-double-lift", result.lift(against="current_premium").plot()
    yield "evaluate-by-age", result.by("age").plot()
    yield "evaluate-smooth-calibration", result.smooth_calibration().plot()
    policies = cw.datasets.insurance(5000)
    curves = cw.learner("gam").fit(policies)
    yield "factors-nomogram", cw.factors(curves, policies).plot("nomogram")


if __name__ == "__main__":
    import vl_convert

    for name, chart in figures():
        picture = vl_convert.vegalite_to_svg(chart.to_dict())
        (ASSETS / f"{name}.svg").write_text(picture + "\n", encoding="utf-8")
