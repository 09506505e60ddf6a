"""Draw the figures of the worked examples: run `python docs/_seed_figures.py [NAME ...]`."""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import vl_convert
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood.losses import find_loss

ASSETS = Path(__file__).parent / "assets"
GREEN, ORANGE, BLUE, GREY = "#2e9e5b", "#d9822b", "#3b82c4", "#8a8a8a"


def shift() -> alt.Chart:
    """Two models on training rows, on new rows and on rows whose columns no longer go together."""
    rng = np.random.default_rng(2)

    def draw(n: int, *, together: bool) -> cw.Table:
        x1 = rng.normal(size=n)
        x2 = 2 * (x1 if together else rng.normal(size=n)) + 0.2 * rng.normal(size=n)
        y = 3 * x1 + 2 * x2 + 0.5 * rng.normal(size=n)
        return cw.read({"x1": x1, "x2": x2, "y": y}, target="y")

    training = draw(100, together=True)
    boosted = cw.learner(
        "xgboost", n_estimators=100, learning_rate=0.3, max_depth=6, colsample_bynode=1.0
    )
    models = {"ols": cw.learner("ols"), "xgboost": boosted}
    sets = {
        "training": training,
        "new": draw(100, together=True),
        "shifted": draw(100, together=False),
    }
    parts = []
    for name, learner in models.items():
        model = learner.fit(training)
        for kind, rows in sets.items():
            columns = {"true value": rows.y, "prediction": model.predict(rows)}
            parts.append(pd.DataFrame(columns).assign(model=name, rows=kind))
    points = alt.Chart(pd.concat(parts)).mark_circle(size=14, color=GREEN, opacity=0.7)
    axes = {"x": alt.X("true value:Q"), "y": alt.Y("prediction:Q")}
    return (
        points.encode(**axes)
        .properties(width=150, height=120)
        .facet(row=alt.Row("rows:N", sort=list(sets)), column="model:N")
    )


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
    points = alt.Chart(rows).mark_circle(size=8, color=GREY, opacity=0.4).encode(x="x:Q", y="y:Q")
    return points + _lines(grid, curves, {"truth": BLUE, "spline": ORANGE, "gam": GREEN})


def xor() -> alt.LayerChart:
    """Two classes in opposite squares, with the splits of the pruned tree."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(500, 2))
    same = (X[:, 0] > 0.5) == (X[:, 1] > 0.5)
    columns = {"x1": X[:, 0], "x2": X[:, 1]}
    table = cw.read({**columns, "y": same.astype(float)}, target="y", task="regression")
    forest = cw.forest.from_model(cw.learner("tree").fit(table))
    splits = pd.DataFrame({"column": forest.feature, "at": forest.threshold})
    frame = pd.DataFrame({**columns, "class": np.where(same, "1", "0")})
    colours = alt.Scale(domain=["0", "1"], range=[ORANGE, GREEN])
    chart = (
        alt.Chart(frame)
        .mark_circle(size=18)
        .encode(
            x=alt.X("x1:Q", title="x1"),
            y=alt.Y("x2:Q", title="x2"),
            color=alt.Color("class:N", scale=colours),
        )
    )
    down = (
        alt.Chart(splits.query("column == 0"))
        .mark_rule(color=GREY)
        .encode(x=alt.X("at:Q", title="x1"))
    )
    across = (
        alt.Chart(splits.query("column == 1"))
        .mark_rule(color=GREY)
        .encode(y=alt.Y("at:Q", title="x2"))
    )
    return (chart + down + across).properties(width=300, height=300)


def pdp() -> alt.HConcatChart:
    """Partial dependence of a forest on both columns beside the truth."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1000)
    table = cw.read({"x1": X[:, 0], "x2": X[:, 1], "y": y}, target="y")
    forest = cw.learner("forest").fit(table)
    grid = np.linspace(-2.2, 2.2, 45)
    charts = []
    for name, truth in (("x1", grid + 1), ("x2", grid**2)):
        curve = cw.effect(forest, table, name, grid=list(grid), bands=0, extrapolation=False)
        lines = {"truth": truth, "forest": np.asarray(curve.values)}
        charts.append(
            _lines(grid, lines, {"truth": BLUE, "forest": GREEN}, name).properties(
                width=260, height=200
            )
        )
    return alt.hconcat(*charts)


def extrapolation() -> alt.LayerChart:
    """Rows along a diagonal, and the points at which partial dependence evaluates a model."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=100)[:, None] + 0.05 * rng.normal(size=(100, 2))
    rows = pd.DataFrame({"x1": X[:, 0], "x2": X[:, 1], "points": "rows"})
    moved = rows.assign(x1=0.3, points="evaluated at x1 = 0.3")
    colours = alt.Scale(domain=["rows", "evaluated at x1 = 0.3"], range=[GREEN, ORANGE])
    return (
        alt.Chart(pd.concat([rows, moved]))
        .mark_circle(size=22)
        .encode(x="x1:Q", y="x2:Q", color=alt.Color("points:N", scale=colours, title=None))
        .properties(width=300, height=300)
    )


def ale() -> alt.LayerChart:
    """Accumulated local effect and partial dependence of a product of dependent columns."""
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]], size=20_000)

    def product(rows: Any) -> Any:
        return rows[:, 0] + rows[:, 1] + 2 * rows[:, 0] * rows[:, 1]

    grid = np.linspace(-2, 2, 41)
    ends = [X[:, 0].min(), *grid, X[:, 0].max()]
    local = cw.effect(product, X, "x0", kind="ale", grid=ends, bands=0).values[1:-1]
    dependence = cw.effect(product, X, "x0", grid=list(grid), bands=0, extrapolation=False).values
    curves = {
        "accumulated local effect": local - local[20],
        "x + 0.3 x²": grid + 0.3 * grid**2,
        "partial dependence": dependence,
    }
    return _lines(grid, curves, dict(zip(curves, (GREEN, BLUE, ORANGE), strict=True)), "x1").encode(
        strokeDash=alt.condition("datum.curve == 'x + 0.3 x²'", alt.value([6, 4]), alt.value([0]))
    )


def regions() -> alt.LayerChart:
    """Regions of a tree, split in the order of the numbers, over the contours of the true mean."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))

    def mean(a: Any, b: Any) -> Any:
        return np.exp(-8 * ((a - 0.3) ** 2 + (b - 0.6) ** 2))

    y = mean(*X.T) + 0.1 * rng.normal(size=400)
    grown = DecisionTreeRegressor(max_leaf_nodes=7, random_state=0).fit(X, y).tree_
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
    frame = pd.DataFrame(leaves, columns=["x1", "x2", "y1", "y2", "mean"])
    # among the regions there are, the one whose split gains most is split next
    order = pd.DataFrame(cuts, columns=["gain", "x", "y"]).sort_values("gain", ascending=False)
    order["split"] = range(1, len(order) + 1)
    boxes_chart = (
        alt.Chart(frame)
        .mark_rect(stroke=GREY)
        .encode(
            x=alt.X("x1:Q", title="x1"),
            x2="x2:Q",
            y=alt.Y("y1:Q", title="x2"),
            y2="y2:Q",
            color=alt.Color("mean:Q", scale=alt.Scale(scheme="greens"), title="mean of the rows"),
        )
    )
    angle = np.linspace(0, 2 * np.pi, 120)
    rings = [
        pd.DataFrame(
            {
                "a": 0.3 + np.sqrt(-np.log(level) / 8) * np.cos(angle),
                "b": 0.6 + np.sqrt(-np.log(level) / 8) * np.sin(angle),
                "level": level,
                "order": range(120),
            }
        ).query("0 <= a <= 1 and 0 <= b <= 1")
        for level in (0.2, 0.5, 0.8)
    ]
    contours = (
        alt.Chart(pd.concat(rings))
        .mark_circle(color=ORANGE, size=6)
        .encode(x="a:Q", y="b:Q", detail="level:N")
    )
    numbers = alt.Chart(order).mark_text(fontSize=13, fontWeight="bold", color="#1b1b1b")
    labels = numbers.encode(x="x:Q", y="y:Q", text="split:N")
    return (boxes_chart + contours + labels).properties(width=320, height=320)


def prim() -> alt.LayerChart:
    """Rows by their target, and the box in which PRIM predicts a high one."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1000, 2))
    y = ((X[:, 0] > 0.6) & (X[:, 1] > 0.5)) + 0.3 * rng.normal(size=1000)
    model = cw.learner("prim", boxes=1).fit(X, y)
    fine = np.stack(np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201)), axis=-1)
    high = fine.reshape(-1, 2)[model.predict(fine.reshape(-1, 2)) > 0.5]
    (x1, y1), (x2, y2) = high.min(axis=0), high.max(axis=0)
    box = pd.DataFrame({"x1": [x1], "x2": [x2], "y1": [y1], "y2": [y2]})
    rows = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "target": y}).head(500)
    points = (
        alt.Chart(rows)
        .mark_circle(size=18)
        .encode(
            x=alt.X("a:Q", title="x1"),
            y=alt.Y("b:Q", title="x2"),
            color=alt.Color("target:Q", scale=alt.Scale(range=["#c9d8cf", GREEN])),
        )
    )
    frame = alt.Chart(box).mark_rect(fill=None, stroke=ORANGE, strokeWidth=3)
    edges = frame.encode(x="x1:Q", x2="x2:Q", y="y1:Q", y2="y2:Q")
    return (points + edges).properties(width=300, height=300)


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
        colour = alt.Color(
            "class:N", scale=alt.Scale(domain=[-1, 1], range=[ORANGE, GREEN]), legend=None
        )
        points = (
            alt.Chart(rows)
            .mark_circle(size=30)
            .encode(
                x=alt.X("x1:Q", scale=alt.Scale(zero=False)),
                y=alt.Y("x2:Q", scale=kept),
                color=colour,
            )
        )
        rings = (
            alt.Chart(rows.query("support"))
            .mark_point(size=90, color=GREY)
            .encode(x="x1:Q", y=alt.Y("x2:Q", scale=kept))
        )
        drawn = (
            alt.Chart(lines)
            .mark_line(color=BLUE, clip=True)
            .encode(
                x="x1:Q",
                y=alt.Y("x2:Q", scale=kept),
                detail="at:N",
                strokeDash=alt.condition("datum.at == 0", alt.value([0]), alt.value([5, 4])),
            )
        )
        charts.append((drawn + points + rings).properties(width=260, height=260))
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
    return _lines(heights, curves, dict(zip(curves, (BLUE, ORANGE, GREEN), strict=True)), "height")


def house() -> Any:
    """Shapley values of the price of a house."""

    def price(rows: Any) -> Any:
        return 150 + 20 * rows[:, 0] + 50 * rows[:, 1] + 10 * rows[:, 0] * rows[:, 1]

    columns = ["garden", "location"]
    nothing = pd.DataFrame(np.zeros((2, 2)), columns=columns)
    both = pd.DataFrame([[1.0, 1.0]], columns=columns)
    return cw.shapley(lambda rows: price(np.asarray(rows)), nothing, both).plot()


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
    colours = (GREEN, ORANGE, BLUE, GREY)
    left = _lines(residual, numbers, dict(zip(numbers, colours, strict=False)), "residual")
    right = _lines(score, classes, dict(zip(classes, colours, strict=True)), "score times label")
    sized = [chart.properties(width=240, height=200) for chart in (left, right)]
    return alt.hconcat(*sized).resolve_scale(color="independent")


def _lines(
    grid: Any, curves: dict[str, Any], colours: dict[str, str], title: str = "x"
) -> alt.Chart:
    long = pd.concat([pd.DataFrame({"x": grid, "y": y, "curve": n}) for n, y in curves.items()])
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return (
        alt.Chart(long)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=title),
            y=alt.Y("y:Q", title=None),
            color=alt.Color("curve:N", scale=scale, title=None),
        )
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
        view=alt.ViewConfig(stroke="#8a8a8a66"),
    )
    return str(vl_convert.vegalite_to_svg(themed.to_dict())) + "\n"


FIGURES: dict[str, Callable[[], Any]] = {
    "shift": shift,
    "spline": spline,
    "xor": xor,
    "pdp": pdp,
    "extrapolation": extrapolation,
    "ale": ale,
    "losses": losses,
    "regions": regions,
    "prim": prim,
    "margin": margin,
    "house": house,
    "price": price,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore", cw.ClearwoodWarning)
    for name in sys.argv[1:] or FIGURES:
        (ASSETS / f"seed-{name}.svg").write_text(svg(FIGURES[name]()), encoding="utf-8")
