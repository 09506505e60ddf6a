"""Draw the figures of the pages on explanations: run `python docs/_explain_figures.py`."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clearwood as cw

ASSETS = Path(__file__).parent / "assets"


def figures() -> Iterator[tuple[str, Any]]:
    """Give the charts by name, from the models of the pages."""
    data = cw.datasets.load("diabetes")
    model = cw.learner("gbm", max_depth=3, max_iter=60).fit(data)
    why = cw.explain(model, data)
    yield "effect", why.effect("bmi", kind="component").plot()
    yield "importance", why.importance().plot()
    yield "waterfall", why.shapley(data.head(1)).plot()
    machine = cw.explain(cw.learner("svr").fit(data), data)
    yield "ale", machine.effect("bmi", kind="ale").plot()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.ClearwoodWarning)  # of terms whose sign is not stable
        yield "lime", machine.lime(0, n_features=4).plot()
    yield "what-if", machine.what_if(0, bmi=20, bp=80).plot()


if __name__ == "__main__":
    import vl_convert

    for name, chart in figures():
        picture = vl_convert.vegalite_to_svg(chart.to_dict())
        (ASSETS / f"explain-{name}.svg").write_text(picture + "\n", encoding="utf-8")
