"""Draw the figures of the pages on models: run `python docs/_model_figures.py [NAME ...]`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def isle() -> str:
    """Draw the effect of bmi that the trees that were kept add up to."""
    return _effect_of_bmi(cw.learner("isle"))


def hme() -> str:
    """Draw the log-likelihood of a mixture after each step."""
    data = cw.datasets.load("diabetes")
    return _svg(cw.models.equation(cw.learner("hme").fit(data)).plot())


def planted() -> str:
    """Draw the effect of bmi that all families add up to."""
    return _effect_of_bmi(cw.learner("planted"))


def glass() -> str:
    """Draw the effect of bmi with its band from the folds."""
    return _effect_of_bmi(cw.learner("glass"))


def subset() -> str:
    """Draw the coefficients of the best subset of each size."""
    import vl_convert

    data = cw.datasets.load("diabetes")
    chart = cw.explanation.path(cw.learner("subset").fit(data), data).plot()
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def inclusion() -> str:
    """Draw how often halves of the rows choose each column."""
    data = cw.datasets.load("diabetes")
    return _svg(cw.benchmarking.inclusion("subset", data, draws=100, seed=1).plot())


def discriminants() -> str:
    """Draw classes in the coordinates that separate them best."""
    data = cw.datasets.load("wine")
    return _svg(cw.explanation.discriminants(cw.learner("lda").fit(data), data).plot())


def bayes() -> str:
    """Draw posterior intervals of coefficients beside their priors."""
    import vl_convert

    data = cw.datasets.load("diabetes")
    model = cw.learner("bayes", priors={"bmi": (2, 2)}).fit(data)
    chart = cw.coefficients(model, data).plot()
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def prim() -> str:
    """Draw the trajectory of a box."""
    import vl_convert

    data = cw.datasets.load("diabetes")
    boxes = cw.models.equation(cw.learner("prim", boxes=1).fit(data))
    return str(vl_convert.vegalite_to_svg(boxes.plot().to_dict()))


def local() -> str:
    """Draw the kernel mean and the local line of the same rows with the same bandwidth."""
    import altair as alt
    import numpy as np
    import vl_convert

    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 300)
    y = 10 * x + rng.normal(size=300)
    data = cw.read({"x": x, "y": y}, target="y")
    at = np.linspace(0, 1, 101)
    lines = [
        {"x": place, "y": value, "fit": name}
        for degree, name in ((0, "kernel mean"), (1, "local line"))
        for place, value in zip(
            at.tolist(),
            cw.learner("local", degree=degree, bandwidth=0.3).fit(data).predict({"x": at}).tolist(),
            strict=True,
        )
    ]
    rows = [{"x": a, "y": b} for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    colour = alt.Color(
        "fit:N",
        title=None,
        scale=alt.Scale(domain=["kernel mean", "local line"], range=["#d95f02", "#1f78b4"]),
    )
    chart = alt.layer(
        alt.Chart(alt.InlineData(rows))
        .mark_circle(size=12, color="#999999")
        .encode(x="x:Q", y="y:Q"),
        alt.Chart(alt.InlineData(lines)).mark_line().encode(x="x:Q", y="y:Q", color=colour),
    ).properties(width=400, height=260)
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def selection() -> str:
    """Draw the risk that columns of noise seem to have, chosen outside and inside the folds."""
    import altair as alt
    import numpy as np
    import vl_convert
    from sklearn.model_selection import KFold

    rng = np.random.default_rng(0)
    n = 401
    X, y = rng.normal(size=(n, 400)), rng.normal(size=n)
    data = cw.read({**{f"x{j}": X[:, j] for j in range(400)}, "y": y}, target="y")

    def risk(table: cw.Table, learner: cw.Learner) -> float:
        losses = []
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            model = learner.fit(table.take(train))
            baseline = np.mean((y[train].mean() - y[test]) ** 2)
            losses.append(np.mean((model.predict(table.take(test)) - y[test]) ** 2) / baseline)
        return float(np.mean(losses))

    ways = ["chosen from all rows beforehand", "chosen inside each fold"]
    rows = []
    for size in (1, 2, 5, 10, 20, 40):
        inside = cw.learner("ols", select=f"anova:{size}")
        outside = data.select([*inside.fit(data).selected_, "y"])
        risks = (risk(outside, cw.learner("ols")), risk(data, inside))
        rows += [
            {"columns": size, "risk": value, "way": way}
            for way, value in zip(ways, risks, strict=True)
        ]
    chart = alt.layer(
        alt.Chart(alt.InlineData([{"at": 1.0}])).mark_rule(color="#999999").encode(y="at:Q"),
        alt.Chart(alt.InlineData(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("columns:Q", title="selected columns", scale=alt.Scale(type="log", nice=False)),
            y=alt.Y(
                "risk:Q",
                title="cross-validated error / baseline's",
                scale=alt.Scale(zero=False),
            ),
            color=alt.Color(
                "way:N",
                title=None,
                scale=alt.Scale(domain=ways, range=["#d95f02", "#1f78b4"]),
                legend=alt.Legend(orient="top", columns=1, labelLimit=260),
            ),
        ),
    ).properties(width=400, height=260)
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def networks() -> str:
    """Draw the losses of a network that stops early."""
    return _svg(cw.explanation.training_curve(_network()).plot())


def gradients() -> str:
    """Draw what each column adds to the prediction of a typical row."""
    data = cw.datasets.load("diabetes")
    return _svg(cw.explanation.integrated_gradients(_network(), data, 0).plot())


def attention() -> str:
    """Draw how much the vectors of a transformer take from each other."""
    data = cw.datasets.load("diabetes")
    model = cw.learner("transformer", epochs=30, batch_size=64, width=16).fit(data)
    return _svg(cw.explanation.attention(model, data).plot())


def cells() -> str:
    """Draw what the pixels of a digit add to the score of its class."""
    from sklearn.datasets import load_digits

    X, digit = (part[:600] for part in load_digits(return_X_y=True))
    X = X.reshape(-1, 8, 8)[:, :, 1:7].reshape(-1, 48)  # without the empty margins
    names = [f"pixel {k // 6 + 1},{k % 6 + 2}" for k in range(48)]
    rows = dict(zip(names, X.T, strict=True)) | {"digit": [f"a {k}" for k in digit]}
    data = cw.read(rows, target="digit")
    model = cw.learner("cnn", grid=(8, 6), epochs=15).fit(data)
    return _svg(cw.explanation.integrated_gradients(model, data, 0).plot())


def _network() -> cw.Learner:
    settings: dict[str, Any] = {
        "early_stopping": True,
        "batch_size": 64,
        "epochs": 100,
        "learning_rate": 0.01,
    }
    return cw.learner("network", **settings).fit(cw.datasets.load("diabetes"))


def _svg(chart: Any) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


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
    "isle": isle,
    "hme": hme,
    "planted": planted,
    "subset": subset,
    "inclusion": inclusion,
    "discriminants": discriminants,
    "bayes": bayes,
    "local": local,
    "prim": prim,
    "selection": selection,
    "networks": networks,
    "gradients": gradients,
    "attention": attention,
    "cells": cells,
}


if __name__ == "__main__":
    for name in sys.argv[1:] or FIGURES:
        (ASSETS / f"model-{name}.svg").write_text(FIGURES[name]() + "\n", encoding="utf-8")
