"""Draw the figures of the pages on models: run `python docs/_model_figures.py [NAME ...]`."""

import sys
from collections.abc import Callable
from pathlib import Path

import clearwood as cw

ASSETS = Path(__file__).parent / "assets"


def tree() -> str:
    """Draw a tree that was fitted to rows with gaps."""
    frame = cw.datasets.load("diabetes").to_frame()
    frame["bmi"] = frame["bmi"].where(frame.index % 4 > 0)
    frame["s5"] = frame["s5"].where(frame.index % 5 != 1)
    model = cw.learner("tree", max_depth=2).fit(frame.drop(columns="target"), frame["target"])
    return cw.condense(model).to_svg()


def gam() -> str:
    """Draw the four strongest curves of an additive model with their bands."""
    import altair as alt
    import vl_convert

    data = cw.datasets.load("diabetes")
    why = cw.explain(cw.learner("gam").fit(data), data)
    charts = [why.effect(name, kind="component").plot() for name in ("s5", "bmi", "bp", "s6")]
    rows = [alt.hconcat(*charts[:2]), alt.hconcat(*charts[2:])]
    return str(vl_convert.vegalite_to_svg(alt.vconcat(*rows).to_dict()))


def mars() -> str:
    """Draw the effect of bmi with its bootstrap band."""
    return _effect_of_bmi(cw.learner("mars", bands=50))


def rules() -> str:
    """Draw the effect of bmi that all rules add up to."""
    return _effect_of_bmi(cw.learner("rules"))


def planted() -> str:
    """Draw the effect of bmi that all families add up to."""
    return _effect_of_bmi(cw.learner("planted"))


def glass() -> str:
    """Draw the effect of bmi with its band from the folds."""
    return _effect_of_bmi(cw.learner("glass"))


def _effect_of_bmi(learner: cw.Learner) -> str:
    """Fit a learner and draw the main effect of one column."""
    import vl_convert

    data = cw.datasets.load("diabetes")
    chart = cw.explain(learner.fit(data), data).effect("bmi", kind="component").plot()
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


#: What draws the picture of each page.
FIGURES: dict[str, Callable[[], str]] = {
    "tree": tree,
    "gam": gam,
    "glass": glass,
    "mars": mars,
    "rules": rules,
    "planted": planted,
}


if __name__ == "__main__":
    for name in sys.argv[1:] or FIGURES:
        (ASSETS / f"model-{name}.svg").write_text(FIGURES[name]() + "\n", encoding="utf-8")
