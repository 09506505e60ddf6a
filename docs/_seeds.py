"""Draw the figures and print the slow tables of the worked examples.

usage: python docs/_seeds.py figures [NAME ...]
       python docs/_seeds.py tables

The pages run the code of the tables with fewer draws, as tests.
"""

import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import vl_convert
from sklearn.ensemble import RandomForestRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood.condensing import ProofTooLargeError
from clearwood.losses import find_loss

ASSETS = Path(__file__).parent / "assets"
FORESTS = Path(__file__).parents[2] / "shared" / "data" / "born_again" / "forests"
PUBLIC = ("HTRU2", "COMPAS-ProPublica", "FICO", "Seeds", "Pima-Diabetes", "Breast-Cancer-Wisconsin")
GREEN, ORANGE, BLUE, GREY = "#2e9e5b", "#d9822b", "#3b82c4", "#8a8a8a"
#: What XGBoost does by itself.
LIBRARY = {"n_estimators": 100, "learning_rate": 0.3, "max_depth": 6, "colsample_bynode": 1.0}


# -- Hiabu


def shift() -> alt.FacetChart:
    """Two models on training rows, on new rows and on rows whose columns no longer go together."""
    rng = np.random.default_rng(2)
    sets = {
        "training": _dependent_rows(100, rng, together=True),
        "new": _dependent_rows(100, rng, together=True),
        "shifted": _dependent_rows(100, rng, together=False),
    }
    parts = []
    for name, learner in (
        ("ols", cw.learner("ols")),
        ("xgboost", cw.learner("xgboost", **LIBRARY)),
    ):
        model = learner.fit(sets["training"])
        for kind, rows in sets.items():
            columns = {"true value": rows.y, "prediction": model.predict(rows)}
            parts.append(pd.DataFrame(columns).assign(model=name, rows=kind))
    return (
        _points(pd.concat(parts), "true value", "prediction", size=14)
        .properties(width=150, height=120)
        .facet(row=alt.Row("rows:N", sort=list(sets)), column="model:N")
    )


def shifted(draws: int = 40) -> Iterator[str]:
    """Give mean squared errors where columns no longer go together as in the training rows."""
    learners = {
        "`ols`": cw.learner("ols"),
        "`xgboost` with the settings of its library": cw.learner("xgboost", **LIBRARY),
        "`xgboost` with the defaults of Clearwood": cw.learner("xgboost"),
    }
    errors = {name: np.zeros(3) for name in learners}
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        training = _dependent_rows(100, rng, together=True)
        new = [_dependent_rows(2000, rng, together=together) for together in (True, False)]
        for name, learner in learners.items():
            model = learner.fit(training)
            sets = (training, *new)
            errors[name] += [np.mean((model.predict(rows) - rows.y) ** 2) for rows in sets]
    for name, sums in errors.items():
        yield f"| {name} | " + " | ".join(f"{one:.3g}" for one in sums / draws) + " |"


def _dependent_rows(n: int, rng: np.random.Generator, *, together: bool) -> cw.Table:
    x1 = rng.normal(size=n)
    x2 = 2 * (x1 if together else rng.normal(size=n)) + 0.2 * rng.normal(size=n)
    y = 3 * x1 + 2 * x2 + 0.5 * rng.normal(size=n)
    return cw.read({"x1": x1, "x2": x2, "y": y}, target="y")


def spline() -> alt.LayerChart:
    """A natural cubic spline, an additive model and the sine they estimate."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    y = np.sin(2 * np.pi * x) + 0.5 * rng.normal(size=1000)
    table = cw.read({"x": x, "y": y}, target="y")
    grid = np.linspace(-2.5, 2.5, 400)
    curves = {
        "truth": np.sin(2 * np.pi * grid),
        "spline": cw.learner("spline", n_knots=12, alpha=1e-6).fit(table).predict({"x": grid}),
        "gam": cw.learner("gam", n_splines=40).fit(table).predict({"x": grid}),
    }
    rows = pd.DataFrame({"x": x, "y": y}).query("-2.5 < x < 2.5").head(400)
    return _faint(rows) + _lines(grid, curves, (BLUE, ORANGE, GREEN))


def xor() -> alt.LayerChart:
    """Two classes in opposite squares, with the splits of the pruned tree."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(500, 2))
    same = (X[:, 0] > 0.5) == (X[:, 1] > 0.5)
    columns = {"x1": X[:, 0], "x2": X[:, 1]}
    table = cw.read({**columns, "y": same.astype(float)}, target="y", task="regression")
    forest = cw.forest.from_model(cw.learner("tree").fit(table))
    rules = [
        alt.Chart(pd.DataFrame({name: forest.threshold[forest.feature == j]}))
        .mark_rule(color=GREY)
        .encode(**{side: f"{name}:Q"})
        for j, (name, side) in enumerate((("x1", "x"), ("x2", "y")))
    ]
    frame = pd.DataFrame({**columns, "class": np.where(same, "1", "0")})
    return alt.layer(_points(frame, "x1", "x2", by="class"), *rules).properties(
        width=300, height=300
    )


def pdp() -> alt.HConcatChart:
    """Partial dependence of a forest on both columns beside the truth."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1000)
    table = cw.read({"x1": X[:, 0], "x2": X[:, 1], "y": y}, target="y")
    forest = cw.learner("forest", n_estimators=100).fit(table)
    grid = np.linspace(-2.2, 2.2, 45)
    charts = []
    for name, truth in (("x1", grid + 1), ("x2", grid**2)):
        curve = cw.effect(forest, table, name, grid=list(grid), n_bootstrap=0, extrapolation=False)
        lines = _lines(grid, {"truth": truth, "forest": curve.values}, (BLUE, GREEN), name)
        charts.append(lines.properties(width=260, height=200))
    return alt.hconcat(*charts)


def extrapolation() -> alt.Chart:
    """Rows along a diagonal, and the points at which partial dependence evaluates a model."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=100)[:, None] + 0.05 * rng.normal(size=(100, 2))
    rows = pd.DataFrame({"x1": X[:, 0], "x2": X[:, 1], "points": "rows"})
    moved = rows.assign(x1=0.3, points="evaluated at x1 = 0.3")
    chart = _points(pd.concat([moved, rows]), "x1", "x2", by="points", size=22)
    return chart.properties(width=300, height=300)


def ale() -> alt.Chart:
    """Accumulated local effect and partial dependence of a product of dependent columns."""
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]], size=20_000)

    def product(rows: Any) -> Any:
        return rows[:, 0] + rows[:, 1] + 2 * rows[:, 0] * rows[:, 1]

    grid = np.linspace(-2, 2, 41)
    ends = [X[:, 0].min(), *grid, X[:, 0].max()]
    local = cw.effect(product, X, "x0", kind="ale", grid=ends, n_bootstrap=0).values[1:-1]
    dependence = cw.effect(
        product, X, "x0", grid=list(grid), n_bootstrap=0, extrapolation=False
    ).values
    curves = {
        "accumulated local effect": local - local[20],
        "x + 0.3 x²": grid + 0.3 * grid**2,
        "partial dependence": dependence,
    }
    return _lines(grid, curves, (GREEN, BLUE, ORANGE), "x1").encode(
        strokeDash=alt.condition("datum.curve == 'x + 0.3 x²'", alt.value([6, 4]), alt.value([0]))
    )


def graphs() -> alt.HConcatChart:
    """Example 25, the structure that direct effects need, and example 27."""
    texts = {
        "example 25": "X3 -> {X1 X4}; X1 -> X2; X2 -> X4",
        "figure 8.1": "S1 -> {others S2 Y}; others -> {S2 Y}; S2 -> Y",
        "example 27": "gender -> {height accidents}",
    }
    charts = []
    for title, text in texts.items():
        chart = cw.Graph(text).plot().properties(title=title)
        chart.config = alt.Undefined  # the whole picture has one
        charts.append(chart)
    return alt.hconcat(*charts)


def price() -> alt.Chart:
    """Prices by height where gender acts on accidents and height only reveals it."""
    accidents = cw.SCM(
        {
            "gender": 'choice("female", "male")',
            "height": 'normal(160 + 20 * (gender == "male"), 10)',
            "Z": "poisson(0.1)",
            "E": "poisson(0.05)",
            "claims": 'Z * (gender == "male") + E',
        },
        hidden=["Z", "E"],
    )
    drawn = accidents.sample(20_000, seed=0).to_frame("pandas")
    table = cw.read(drawn, target="claims", task="count", protected="gender")
    model = cw.learner("glm", alpha=0).fit(table)
    heights = np.linspace(140, 200, 121)
    rows = {"gender": ["female"] * 121, "height": heights}
    curves = {
        "true unaware price": 0.05 + 0.1 / (1 + np.exp(-0.2 * (heights - 170))),
        "unaware": cw.fair(model, table, kind="unaware").predict(rows),
        "fair": cw.fair(model, table).predict(rows),
    }
    return _lines(heights, curves, (BLUE, ORANGE, GREEN), "height")


# -- Rosso


def profiles() -> alt.Chart:
    """Coefficients of the lasso against their shrinkage factor."""
    data = cw.datasets.load("diabetes")
    path = cw.explanation.path(cw.learner("lasso").fit(data), data, folds=0)
    size = np.abs(path.coefficients).sum(axis=1)
    curves = dict(zip(path.names, path.coefficients.T, strict=True))
    colours = alt.Scale(domain=list(curves), scheme="tableau20")
    return _lines(size / size[-1], curves, None, "shrinkage factor").encode(
        color=alt.Color("curve:N", scale=colours, title=None)
    )


def prim() -> alt.LayerChart:
    """Rows by their target, and boxes of ever fewer rows in which the target is ever higher."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1000, 2))
    y = ((X[:, 0] > 0.6) & (X[:, 1] > 0.5)) + 0.3 * rng.normal(size=1000)
    fine = np.stack(np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201)), axis=-1)
    fine = fine.reshape(-1, 2)
    boxes = []
    for support in (0.5, 0.35, 0.25, 0.05):
        model = cw.learner("prim", boxes=1, min_support=support).fit(X, y)
        predicted = model.predict(fine)
        high = fine[predicted > predicted.min()]
        (box,) = cw.models.equation(model).rows
        boxes.append([*high.min(axis=0), *high.max(axis=0), f"{box.mean:.2f}, {box.support:.0%}"])
    frame = pd.DataFrame(boxes, columns=["x1", "x2", "right", "top", "mean, rows"])
    points = (
        alt.Chart(pd.DataFrame({"x1": X[:, 0], "x2": X[:, 1], "target": y}).head(500))
        .mark_circle(size=18)
        .encode(
            x="x1:Q",
            y="x2:Q",
            color=alt.Color("target:Q", scale=alt.Scale(range=["#c9d8cf", GREEN])),
        )
    )
    shades = _colours(frame["mean, rows"], ("#f3c99a", "#e9a862", ORANGE, "#a85d12"))
    edges = (
        alt.Chart(frame)
        .mark_rect(fill=None, strokeWidth=3)
        .encode(
            x=alt.X("x1:Q", title="x1"),
            x2="right:Q",
            y=alt.Y("x2:Q", title="x2"),
            y2="top:Q",
            stroke=alt.Stroke("mean, rows:N", scale=shades),
        )
    )
    return (points + edges).properties(width=300, height=300)


def experts() -> alt.LayerChart:
    """Rows of two groups, and a mixture of two lines at ages on both sides of the gate."""
    rng = np.random.default_rng(0)
    age, dose = rng.uniform(20, 80, 400), rng.uniform(0, 10, 400)
    response = np.where(age < 50, 10 + 2 * dose, 40 - dose) + rng.normal(size=400)
    mixture = cw.learner("hme", levels=1).fit({"age": age, "dose": dose}, response)
    at = np.linspace(0, 10, 50)
    curves = {
        f"at age {years}": mixture.predict({"age": np.full(50, float(years)), "dose": at})
        for years in (35, 50, 65)
    }
    rows = pd.DataFrame({"x": dose, "y": response})
    return _faint(rows) + _lines(at, curves, (GREEN, BLUE, ORANGE), "dose")


def margin() -> alt.HConcatChart:
    """The widest margin between two classes, and a soft margin where they overlap."""
    rng = np.random.default_rng(0)
    sign = np.repeat([-1, 1], 30)
    charts = []
    for apart, penalty in ((2.5, 1e6), (0.8, 2.0)):
        X = rng.normal(size=(60, 2)) + apart * sign[:, None]
        model = SVC(kernel="linear", C=penalty).fit(X, sign)
        supports = np.isin(np.arange(60), model.support_)
        rows = pd.DataFrame({"x1": X[:, 0], "x2": X[:, 1], "class": sign, "support": supports})
        (b1, b2), b0 = model.coef_[0], model.intercept_[0]
        ends = np.array([X[:, 0].min(), X[:, 0].max()])
        lines = pd.concat(
            pd.DataFrame({"x1": ends, "x2": (at - b0 - b1 * ends) / b2, "at": at})
            for at in (-1, 0, 1)
        )
        kept = alt.Scale(domain=[X[:, 1].min() - 0.5, X[:, 1].max() + 0.5])
        axes = {"x": alt.X("x1:Q", scale=alt.Scale(zero=False)), "y": alt.Y("x2:Q", scale=kept)}
        drawn = (
            alt.Chart(lines)
            .mark_line(color=BLUE, clip=True)
            .encode(
                **axes,
                detail="at:N",
                strokeDash=alt.condition("datum.at == 0", alt.value([0]), alt.value([5, 4])),
            )
        )
        points = _points(rows, "x1", "x2", by="class", size=30).encode(**axes)
        rings = alt.Chart(rows.query("support")).mark_point(size=90, color=GREY).encode(**axes)
        charts.append((drawn + points + rings).properties(width=260, height=260))
    return alt.hconcat(*charts)


# -- Shah


@cache
def _partition() -> Any:
    """Return a tree with seven leaves for two columns, and the shares of its gain by node."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = np.exp(-8 * ((X[:, 0] - 0.3) ** 2 + (X[:, 1] - 0.6) ** 2)) + 0.1 * rng.normal(size=400)
    return DecisionTreeRegressor(max_leaf_nodes=7, random_state=0).fit(X, y).tree_


def regions() -> alt.LayerChart:
    """Regions of a tree, split in the order of the numbers, over the contours of the true mean."""
    grown = _partition()
    boxes: dict[int, tuple[float, float, float, float]] = {0: (0, 1, 0, 1)}
    leaves, cuts = [], []
    gain = grown.impurity * grown.weighted_n_node_samples
    for node in range(grown.node_count):
        left, right = grown.children_left[node], grown.children_right[node]
        x1, x2, y1, y2 = boxes[node]
        if left < 0:
            leaves.append((*boxes[node], grown.value[node, 0, 0]))
            continue
        at = float(grown.threshold[node])
        down = grown.feature[node] == 0
        boxes[left] = (x1, at, y1, y2) if down else (x1, x2, y1, at)
        boxes[right] = (at, x2, y1, y2) if down else (x1, x2, at, y2)
        middle = (at, (y1 + y2) / 2) if down else ((x1 + x2) / 2, at)
        cuts.append((gain[node] - gain[left] - gain[right], *middle))
    frame = pd.DataFrame(leaves, columns=["x1", "right", "x2", "top", "mean"])
    # among the regions there are, the one whose split gains most is split next
    order = pd.DataFrame(cuts, columns=["gain", "x", "y"]).sort_values("gain", ascending=False)
    order["split"] = range(1, len(order) + 1)
    boxes_chart = (
        alt.Chart(frame)
        .mark_rect(stroke=GREY)
        .encode(
            x=alt.X("x1:Q", title="x1"),
            x2="right:Q",
            y=alt.Y("x2:Q", title="x2"),
            y2="top:Q",
            color=alt.Color("mean:Q", scale=alt.Scale(scheme="greens"), title="mean of the rows"),
        )
    )
    angle = np.linspace(0, 2 * np.pi, 120)
    rings = []
    for level in (0.2, 0.5, 0.8):
        radius = np.sqrt(-np.log(level) / 8)
        ring = {"x1": 0.3 + radius * np.cos(angle), "x2": 0.6 + radius * np.sin(angle)}
        rings.append(pd.DataFrame(ring).query("0 <= x1 <= 1 and 0 <= x2 <= 1"))
    contours = _points(pd.concat(rings), "x1", "x2", size=6, colour=ORANGE)
    numbers = alt.Chart(order).mark_text(fontSize=13, fontWeight="bold", color="#1b1b1b")
    labels = numbers.encode(x="x:Q", y="y:Q", text="split:N")
    return (boxes_chart + contours + labels).properties(width=320, height=320)


def tree() -> alt.LayerChart:
    """The tree of the regions: splits, and means and shares of the rows in its leaves."""
    grown = _partition()
    places: dict[int, tuple[float, float]] = {}
    n_leaves = 0

    def place(node: int, depth: int) -> float:
        nonlocal n_leaves
        children = (grown.children_left[node], grown.children_right[node])
        if children[0] < 0:
            across, n_leaves = float(n_leaves), n_leaves + 1
        else:
            across = float(np.mean([place(child, depth + 1) for child in children]))
        places[node] = (across, -float(depth))
        return across

    place(0, 0)
    edges, labels = [], []
    for node, (x, y) in places.items():
        children = (grown.children_left[node], grown.children_right[node])
        if children[0] < 0:
            share = grown.weighted_n_node_samples[node] / grown.weighted_n_node_samples[0]
            labels.append((x, y - 0.3, f"{grown.value[node, 0, 0]:.2f}\n{share:.0%}", GREEN))
            continue
        column = f"x{grown.feature[node] + 1}"
        labels.append((x + 0.45, y + 0.15, f"{column} ≤ {grown.threshold[node]:.2f}", BLUE))
        for across, down in (places[child] for child in children):
            edges += [(x, y, across, y), (across, y, across, down)]
    hidden = alt.Axis(labels=False, ticks=False, grid=False, domain=False, title=None)
    lines = (
        alt.Chart(pd.DataFrame(edges, columns=["x", "y", "x2", "y2"]))
        .mark_rule(color=GREY)
        .encode(
            x=alt.X("x:Q", axis=hidden, scale=alt.Scale(padding=25)),
            y=alt.Y("y:Q", axis=hidden, scale=alt.Scale(padding=25)),
            x2="x2:Q",
            y2="y2:Q",
        )
    )
    words = (
        alt.Chart(pd.DataFrame(labels, columns=["x", "y", "label", "colour"]))
        .mark_text(fontSize=12, lineBreak="\n")
        .encode(x="x:Q", y="y:Q", text="label:N", color=alt.Color("colour:N", scale=None))
    )
    return (lines + words).properties(width=480, height=300)


# -- the applied course


def house() -> Any:
    """Shapley values of the price of a house."""

    def price(rows: Any) -> Any:
        return 150 + 20 * rows[:, 0] + 50 * rows[:, 1] + 10 * rows[:, 0] * rows[:, 1]

    columns = ["garden", "location"]
    nothing = pd.DataFrame(np.zeros((2, 2)), columns=columns)
    both = pd.DataFrame([[1.0, 1.0]], columns=columns)
    return cw.shapley(lambda rows: price(np.asarray(rows)), nothing, both).plot()


# -- Brock


def losses() -> alt.HConcatChart:
    """Losses for numbers by the residual, losses for two classes by the signed score."""
    residual = np.linspace(-3, 3, 241)
    numbers = {
        name: find_loss(written).per_row(residual, np.zeros_like(residual))
        for name, written in (
            ("squared", "squared"),
            ("absolute", "absolute"),
            ("Huber", "huber:1"),
        )
    }
    score = np.linspace(-2, 2, 241)
    chance = 1 / (1 + np.exp(-score))
    both = np.column_stack([1 - chance, chance])
    sure = np.ones(len(score), int)
    classes = {
        "Brier": find_loss("brier").per_row(sure, both),
        "logarithmic": find_loss("log").per_row(sure, both),
        "exponential": np.exp(-score),
        "zero-one": (score < 0).astype(float),
    }
    left = _lines(residual, numbers, (GREEN, ORANGE, BLUE), "residual")
    right = _lines(score, classes, (GREEN, ORANGE, BLUE, GREY), "score times label")
    sized = [chart.properties(width=240, height=200) for chart in (left, right)]
    return alt.hconcat(*sized).resolve_scale(color="independent")


def descent() -> alt.LayerChart:
    """Steps on a parabola with a small and with a large rate."""
    grid = np.linspace(-2.2, 2.2, 101)
    walks = []
    for rate, steps in ((0.1, 12), (1.05, 7)):
        x = (1 - 2 * rate) ** np.arange(steps) * (1.8 if rate < 1 else 1.0)
        walks.append(pd.DataFrame({"x": x, "y": x**2, "rate": f"{rate:g}", "step": range(steps)}))
    colour = alt.Color("rate:N", title="rate", scale=_colours(("0.1", "1.05"), (GREEN, ORANGE)))
    path = alt.Chart(pd.concat(walks)).encode(x="x:Q", y="y:Q", order="step:Q", color=colour)
    parabola = alt.Chart(pd.DataFrame({"x": grid, "y": grid**2})).mark_line(color=GREY)
    return parabola.encode(x="x:Q", y=alt.Y("y:Q", title="x²")) + path.mark_line(point=True)


def regularisation() -> alt.HConcatChart:
    """Ellipses of equal sums of squares, and the points where they touch a diamond and a circle."""
    centre, shape = np.array([0.35, 1.8]), np.array([[1.0, 0.35], [0.35, 0.7]])
    angle = np.linspace(0, 2 * np.pi, 721)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    edges = {"lasso": circle / np.abs(circle).sum(axis=1, keepdims=True), "ridge": circle}

    def squares(points: Any) -> Any:
        return ((points - centre) @ shape * (points - centre)).sum(axis=1)

    unit = circle @ np.linalg.inv(np.linalg.cholesky(shape))
    axes = {
        "x": alt.X("θ1:Q", scale=alt.Scale(domain=[-1.3, 2.2])),
        "y": alt.Y("θ2:Q", scale=alt.Scale(domain=[-1.3, 3])),
    }
    charts = []
    for name, edge in edges.items():
        touching = edge[squares(edge).argmin()]
        rings = [
            centre + np.sqrt(squares(touching[None]) * share) * unit for share in (0.2, 0.6, 1)
        ]
        curves = [(ring, GREEN) for ring in rings] + [(edge, BLUE)]
        drawn = [
            alt.Chart(pd.DataFrame(curve, columns=["θ1", "θ2"]).assign(order=range(721)))
            .mark_line(color=colour, clip=True)
            .encode(**axes, order="order:Q")
            for curve, colour in curves
        ]
        point = _points(pd.DataFrame([touching], columns=["θ1", "θ2"]), "θ1", "θ2", size=80)
        layers = [*drawn, point.encode(**axes, color=alt.value(ORANGE))]
        charts.append(alt.layer(*layers).properties(width=230, height=280, title=name))
    return alt.hconcat(*charts)


def forest() -> alt.LayerChart:
    """Trees of a random forest, and their mean."""
    x, y, grid = _wave()
    grown = RandomForestRegressor(12, min_samples_leaf=3, random_state=0).fit(x[:, None], y)
    trees = pd.concat(
        pd.DataFrame({"x": grid, "y": one.predict(grid[:, None]), "tree": number})
        for number, one in enumerate(grown.estimators_)
    )
    each = alt.Chart(trees).mark_line(strokeWidth=0.6, opacity=0.6, color=GREY)
    curves = {"mean of 12 trees": grown.predict(grid[:, None]), "truth": np.sin(grid)}
    rows = _faint(pd.DataFrame({"x": x, "y": y}))
    return (
        rows + each.encode(x="x:Q", y="y:Q", detail="tree:N") + _lines(grid, curves, (GREEN, BLUE))
    )


def boosting() -> alt.LayerChart:
    """Gradient boosting after few and after many trees."""
    x, y, grid = _wave()
    fit = {"n_estimators": 50, "learning_rate": 0.2, "max_depth": 1, "colsample_bynode": 1.0}
    curves = {
        f"{trees} {'tree' if trees == 1 else 'trees'}": cw.learner(
            "xgboost", **{**fit, "n_estimators": trees}
        )
        .fit(x[:, None], y)
        .predict(grid[:, None])
        for trees in (1, 5, 50)
    }
    rows = pd.DataFrame({"x": x, "y": y})
    return _faint(rows) + _lines(
        grid, {**curves, "truth": np.sin(grid)}, (GREY, ORANGE, GREEN, BLUE)
    )


def _wave() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 2 * np.pi, 150))
    return x, np.sin(x) + 0.3 * rng.normal(size=150), np.linspace(0, 2 * np.pi, 200)


def public_forests() -> Iterator[str]:
    """Give the sizes of the single trees that equal the public forests of Vidal and Schiffer."""
    for table in PUBLIC:
        for fold in (1, 2, 3):
            voting = cw.forest.read_text(FORESTS / f"{table}.RF{fold}.txt")
            ends = [*voting.roots[1:], len(voting.left)]
            counts = [
                int((voting.left[start:end] < 0).sum())
                for start, end in zip(voting.roots, ends, strict=True)
            ]
            fast, good = (cw.condense(voting, effort=effort) for effort in ("fast", "good"))
            if not cw.certify(good, voting):
                raise SystemExit(f"{table} {fold} is not proved")
            cells = [table, fold, sum(counts), f"{math.prod(counts):.3g}"]
            cells += [f"{fast.n_leaves:,}", f"{good.n_leaves:,}", _least(voting), good.depth]
            yield "| " + " | ".join(map(str, cells)) + " |"


def _least(voting: cw.forest.Forest) -> str:
    """Write the smallest number of leaves, where its proof fits into memory."""
    try:
        return f"{cw.condense(voting, effort='optimal').n_leaves:,}"
    except ProofTooLargeError:
        return "not proved"


# -- drawing


def _colours(names: Sequence[Any], colours: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=list(colours))


def _points(
    rows: pd.DataFrame,
    x: str,
    y: str,
    *,
    by: str | None = None,
    size: int = 18,
    colour: str = GREEN,
) -> alt.Chart:
    """Draw rows as points, in two colours if a column is named: orange before green."""
    chart = alt.Chart(rows).mark_circle(size=size, color=colour).encode(x=f"{x}:Q", y=f"{y}:Q")
    if by is None:
        return chart
    scale = _colours(sorted(rows[by].unique()), (ORANGE, GREEN))
    return chart.encode(color=alt.Color(f"{by}:N", scale=scale, title=None))


def _faint(rows: pd.DataFrame) -> alt.Chart:
    """Draw rows as points behind curves."""
    return _points(rows, "x", "y", size=8, colour=GREY).encode(opacity=alt.value(0.4))


def _lines(
    grid: Any, curves: Mapping[str, Any], colours: Sequence[str] | None, title: str = "x"
) -> alt.Chart:
    long = pd.concat([pd.DataFrame({"x": grid, "y": y, "curve": n}) for n, y in curves.items()])
    chart = alt.Chart(long).mark_line(strokeWidth=2)
    chart = chart.encode(x=alt.X("x:Q", title=title), y=alt.Y("y:Q", title=None))
    if colours is None:
        return chart
    return chart.encode(
        color=alt.Color("curve:N", scale=_colours(list(curves), colours), title=None)
    )


def svg(chart: Any) -> str:
    """Write a chart without a background, in colours that can be read on white and on black."""
    quiet = {"labelColor": GREY, "titleColor": GREY}
    lines = {"gridColor": "#8a8a8a44", "domainColor": GREY, "tickColor": GREY}
    themed = chart.configure(
        background="transparent",
        padding={"left": 20, "top": 5, "right": 45, "bottom": 5},
        aria=False,
        axis=alt.AxisConfig(**quiet, **lines),
        legend=alt.LegendConfig(**quiet, labelLimit=0),
        header=alt.HeaderConfig(**quiet),
        title=alt.TitleConfig(color=GREY),
        text=alt.MarkConfig(color=GREY),
        view=alt.ViewConfig(stroke="#8a8a8a66"),
    )
    return str(vl_convert.vegalite_to_svg(themed.to_dict())) + "\n"


FIGURES: dict[str, Callable[[], Any]] = {
    make.__name__: make
    for make in (
        *(shift, spline, xor, pdp, extrapolation, ale, graphs, price),
        *(profiles, prim, experts, margin),
        *(regions, tree, house),
        *(losses, descent, regularisation, forest, boosting),
    )
}


def main(what: str, *names: str) -> int:
    """Draw the named figures, or all, or print the tables."""
    warnings.simplefilter("ignore", cw.ClearwoodWarning)
    if what == "figures":
        for name in names or FIGURES:
            (ASSETS / f"seed-{name}.svg").write_text(svg(FIGURES[name]()), encoding="utf-8")
        return 0
    if what == "tables":
        for line in (*shifted(), *(public_forests() if FORESTS.exists() else ())):
            print(line)
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["help"])))
