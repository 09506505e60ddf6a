"""Draw figures of the user guide and tutorials: run `python docs/_guide_figures.py [NAME ...]`."""

import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import clearwood as cw

ASSETS = Path(__file__).parent / "assets"
GRAPH = """
gender -> {height mileage accidents}
age -> {mileage power accidents}
mileage -> accidents
"""


# -- 1. the table


def profile() -> Any:
    """Draw a column of numbers with gaps."""
    from clearwood.table import profile as profile_of

    data = cw.datasets.insurance(3_000, seed=1, missing=0.05)
    return profile_of(data["mileage"]).plot(width=420, height=140)


def association() -> Any:
    """Draw which columns go together."""
    from clearwood.checks import association as association_of

    return association_of(cw.datasets.insurance(3_000, seed=1)).plot()


def leakage() -> Any:
    """Draw how much each column explains alone; one of them is filled in after the event."""
    from clearwood.checks import leakage as leakage_of

    loans = cw.datasets.credit(3_000, seed=1).to_frame()
    late = (loans["default"] == "yes") & (np.random.default_rng(1).uniform(size=3_000) < 0.6)
    loans["agency"] = np.where(late, "called", "none")
    return leakage_of(cw.read(loans, target="default")).plot()


def drift() -> Any:
    """Draw how far the columns of two tables differ."""
    from clearwood.checks import drift as drift_of

    data, later = cw.datasets.insurance(3_000, seed=1), cw.datasets.insurance(2_000, seed=2)
    young = later.take(np.flatnonzero(later["age"].values < 45))
    return drift_of(data, young).plot()


# -- 2. learners


def benchmark() -> Any:
    """Draw risks with intervals."""
    data = cw.datasets.load("diabetes")
    learners = ["baseline", "ols", "lasso", "knn"]
    return cw.benchmark(data, learners, tune=0, repeats=1, seed=0).plot()


def learning_curve() -> Any:
    """Draw the risk over the number of training rows."""
    from clearwood.benchmarking import learning_curve as curve_of

    return curve_of("ols", cw.datasets.load("diabetes"), sizes=[50, 100, 200, 350]).plot()


# -- 3. new rows


@cache
def _evaluation() -> Any:
    data = cw.datasets.insurance(4000, seed=0)
    rows = cw.datasets.insurance(3000, seed=1).to_frame("dict")
    rows["current_premium"] = [0.2 + 0.004 * abs(age - 45) for age in rows["age"]]
    return cw.evaluate(cw.learner("glm").fit(data), rows, training=data, against="current_premium")


def lift() -> Any:
    """Draw what was observed by bins of the prediction."""
    return _evaluation().lift().plot()


def double_lift() -> Any:
    """Draw what was observed where two predictions differ."""
    return _evaluation().lift(against="current_premium").plot()


def lorenz() -> Any:
    """Draw the Lorenz curve."""
    return _evaluation().lorenz().plot()


def by_age() -> Any:
    """Draw observed against expected by a column."""
    return _evaluation().by("age").plot()


def smooth_calibration() -> Any:
    """Draw the calibration curve with its band."""
    return _evaluation().smooth_calibration().plot()


def roc() -> Any:
    """Draw the curves of a classifier side by side."""
    loans = cw.datasets.credit(4_000, seed=1)
    model = cw.learner("logistic").fit(loans)
    result = cw.evaluate(model, cw.datasets.credit(3_000, seed=2), training=loans)
    return _beside(result.roc().plot(), result.precision_recall().plot())


# -- 4. the model


@cache
def _trees() -> Any:
    data = cw.datasets.load("diabetes")
    return cw.explain(cw.learner("gbm", max_depth=3, max_iter=60).fit(data), data)


def importance() -> Any:
    """Draw the shares of variance."""
    return _trees().importance().plot()


def permutation() -> Any:
    """Draw permutation importance on rows that were held out."""
    data = cw.datasets.load("diabetes")
    model = cw.learner("svr").fit(data.take(slice(0, 300)))
    test = data.take(slice(300, 442))
    return cw.importance(model, test, kind="permutation", repeats=10).plot()


def agreement() -> Any:
    """Draw where methods differ for a column that the model does not use."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X = np.column_stack([x, x + rng.normal(0, 0.1, 400), rng.normal(size=400)])
    return cw.agreement(lambda X: X[:, 0] + X[:, 2], X).plot()


# -- 5. effects


@cache
def _machine() -> Any:
    data = cw.datasets.load("diabetes")
    return cw.explain(cw.learner("svr").fit(data), data)


def ale() -> Any:
    """Draw an accumulated local effect."""
    return _machine().effect("bmi", kind="ale").plot()


def effect_kinds() -> Any:
    """Draw the six kinds of effect of one column that goes with another."""
    import altair as alt

    rng = np.random.default_rng(1)
    height = rng.normal(172, 10, 800)
    weight = 0.9 * (height - 100) + rng.normal(0, 3, 800)
    lung = 0.05 * height - 0.01 * weight + rng.normal(0, 0.3, 800)
    people = cw.read({"height": height, "weight": weight, "lung": lung}, target="lung")
    why = cw.explain(cw.learner("ols").fit(people), people)
    kinds = ("pdp", "ice", "marginal", "ale", "supported_pdp", "component")
    charts = [why.effect("weight", kind=kind).plot() for kind in kinds]
    return alt.vconcat(*(_beside(*charts[k : k + 2]) for k in range(0, len(kinds), 2)))


def surface() -> Any:
    """Draw the joint effect of two columns."""
    policies = cw.datasets.insurance(2_000, seed=1)
    return cw.effect(cw.learner("glass").fit(policies), policies, "age", "power").plot()


# -- 6. one prediction


@cache
def _refused() -> tuple[Any, ...]:
    loans = cw.datasets.credit(2_000, seed=1)
    loans = loans.select([name for name in loans.names if name != "gender"])
    model = cw.learner("logistic").fit(loans)
    risk = model.predict_proba(loans)[:, 1]
    accepted = loans.take(np.flatnonzero(risk <= 0.2))
    return model, loans, accepted, loans.take([121])


def waterfall() -> Any:
    """Draw the reasons for a refusal."""
    model, _, accepted, refused = _refused()
    return cw.shapley(model, accepted, refused).plot()


def beeswarm() -> Any:
    """Draw the Shapley values of all rows."""
    return _trees().shapley(cw.datasets.load("diabetes")).plot()


def observational() -> Any:
    """Draw interventional and observational values of a model that uses one of two columns."""
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 50, axis=0)
    values = ("interventional", "observational")
    return _beside(
        *(cw.shapley(lambda X: X[:, 0], X, [[1.0, 1.0]], value=value).plot() for value in values)
    )


def what_if() -> Any:
    """Draw what two changes do to a prediction."""
    return _machine().what_if(0, bmi=20, bp=80).plot()


def contributions() -> Any:
    """Draw what each column adds to a linear model."""
    model, loans, _, refused = _refused()
    return cw.contributions(model, loans, refused).plot()


def lime() -> Any:
    """Draw a linear model near a row."""
    return _machine().lime(0, n_features=4).plot()


# -- 7. directions


def directions() -> Any:
    """Draw an effect with and without a stated direction."""
    data = cw.datasets.load("diabetes")
    free = cw.learner("gbm", max_iter=50).fit(data)
    bound = cw.learner("gbm", max_iter=50, monotone={"bmi": "up", "bp": "up"}).fit(data)
    return _beside(*(cw.effect(one, data, "bmi").plot() for one in (free, bound)))


# -- 8. written down


def factors() -> Any:
    """Draw the relativities of a tariff."""
    policies = cw.datasets.insurance(5_000)
    model = cw.learner("glm", alpha=0).fit(policies)
    return cw.factors(model, policies, base={"region": "town"}).plot()


def nomogram() -> Any:
    """Draw a model as axes of points."""
    policies = cw.datasets.insurance(5_000)
    return cw.factors(cw.learner("gam").fit(policies), policies).plot("nomogram")


def one_tree() -> str:
    """Draw the tree that a forest of ten trees is on the rows of its table."""
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.rename(columns=lambda name: name.removesuffix(" (cm)"))
    forest = RandomForestClassifier(10, max_depth=2, random_state=0).fit(X, y)
    return cw.condense(forest).prune(X).tree.to_svg()


# -- 9. causes


def graph() -> Any:
    """Draw a causal graph."""
    return cw.Graph(GRAPH).plot(treatment="mileage", outcome="accidents")


def direct_effect() -> Any:
    """Draw the direct effect of gender."""
    policies = cw.datasets.insurance(5_000)
    model = cw.learner("glm", alpha=0).fit(policies)
    known = cw.datasets.insurance_truth().scm.graph
    return cw.direct_effect(model, policies, "gender", at=["female", "male"], graph=known).plot()


# -- 10. groups of people


@cache
def _tariff() -> tuple[Any, Any]:
    policies = cw.datasets.insurance(20_000)
    return cw.learner("glm", alpha=0).fit(policies), policies


def groups() -> Any:
    """Draw how predictions for groups compare."""
    data = cw.datasets.insurance(4000, seed=0)
    model = cw.learner("glm").fit(data)
    protected = ["gender", "region"]
    return cw.audit(model, data, protected=protected).of("gender", "region").plot()


def decisions() -> Any:
    """Draw how often groups get the favourable decision."""
    data = cw.datasets.insurance(4000, seed=0)
    model = cw.learner("glm").fit(data)
    options = {"decision": "<= 0.2", "favourable": "yes", "reference": "best"}
    return cw.audit(model, data, **options).of("gender").plot()


def alternatives() -> Any:
    """Draw what women and men pay under each way to treat gender."""
    import altair as alt

    from clearwood.fairness import alternatives as alternatives_of

    table = alternatives_of(*_tariff(), risks=False)
    rows = [
        {"model": row.name, "gender": group, "mean": mean}
        for row in table.rows
        for group, mean in zip(table.groups, row.means, strict=True)
    ]
    order = [row.name for row in table.rows]
    shown = alt.Chart(alt.Data(values=rows), width=380, height=150).encode(
        x=alt.X("mean:Q", title="mean accidents per year", scale=alt.Scale(zero=False)),
        y=alt.Y("model:N", title=None, sort=order),
    )
    colours = alt.Scale(domain=list(table.groups), range=["#0072B2", "#D55E00"])
    points = shown.mark_point(size=80, filled=True, opacity=1).encode(
        color=alt.Color("gender:N", title=None, scale=colours),
        shape=alt.Shape("gender:N", title=None),
    )
    return shown.mark_line(color="#6E6E6E").encode(detail="model:N") + points


def gap() -> Any:
    """Draw where the difference between men and women comes from."""
    from clearwood.fairness import gap as gap_of

    model, policies = _tariff()
    return gap_of(model, policies, reference="female", scale="margin").plot()


def fair() -> Any:
    """Draw the price by height, of a fair model and of one that was fitted without gender."""
    import altair as alt

    model, policies = _tariff()
    heights = list(range(150, 200, 5))
    person = {"age": 35, "region": "city", "mileage": 12, "power": 85}
    people = {name: [value] * len(heights) for name, value in person.items()} | {"height": heights}
    priced = {
        "fair": cw.fair(model, policies),
        "fitted without gender": cw.fair(model, policies, kind="unaware"),
    }
    rows = [
        {"model": name, "height": height, "price": float(price)}
        for name, one in priced.items()
        for height, price in zip(heights, one.predict(people), strict=True)
    ]
    return (
        alt.Chart(alt.Data(values=rows), width=420, height=220)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("height:Q", title="height in cm", scale=alt.Scale(zero=False)),
            y=alt.Y("price:Q", title="accidents per year", scale=alt.Scale(domain=[0, 0.4])),
            color=alt.Color(
                "model:N",
                title=None,
                scale=alt.Scale(domain=list(priced), range=["#0072B2", "#D55E00"]),
            ),
        )
    )


# -- tutorials


def first_effect() -> Any:
    """Draw what age does in the first model."""
    data = cw.datasets.insurance(2_000, seed=1)
    return cw.effect(cw.learner("glm").fit(data), data, "age").plot()


@cache
def _priced() -> tuple[Any, Any, Any]:
    policies = cw.datasets.insurance(8_000, seed=1)
    names = [name for name in policies.names if name not in ("gender", "height")]
    later = cw.datasets.insurance(6_000, seed=2).to_frame()
    later["premium"] = 0.2 + 0.004 * abs(later["age"] - 45)
    return policies.select(names), later[[*names, "premium"]], names


def tariff_curves() -> Any:
    """Draw the relativities of a tariff of curves."""
    tariff, _, _ = _priced()
    return cw.factors(cw.learner("gam").fit(tariff), tariff).plot()


def tariff_lift() -> Any:
    """Draw which of model and premium is right where they differ."""
    tariff, later, _ = _priced()
    result = cw.evaluate(cw.learner("gam").fit(tariff), later, training=tariff, against="premium")
    return result.lift(against="premium").plot()


def tariff_by_age() -> Any:
    """Draw observed against expected by age, of straight lines and of curves."""
    tariff, later, names = _priced()
    models = (cw.learner("glm", alpha=0), cw.learner("gam"))
    results = (cw.evaluate(model.fit(tariff), later[names], training=tariff) for model in models)
    return _beside(*(result.by("age").plot() for result in results))


def credit_reasons() -> Any:
    """Draw the reasons for a refusal by boosted trees."""
    loans = cw.datasets.credit(5_000, seed=1)
    book = loans.select([name for name in loans.names if name != "gender"])
    rule = {"arrears": "up", "debt_ratio": "up", "income": "down"}
    trees = cw.learner("gbm", max_depth=2, max_iter=200, monotone=rule).fit(book)
    risk = trees.predict_proba(book)[:, 1]
    accepted, refused = np.flatnonzero(risk <= 0.2), np.flatnonzero(risk > 0.4)[:1]
    return cw.shapley(trees, book.take(accepted), book.take(refused)).plot()


@cache
def _clinical() -> tuple[Any, Any, Any]:
    columns = ["mean radius", "mean texture", "mean smoothness", "mean symmetry", "target"]
    tumours = cw.datasets.load("breast_cancer").select(columns)
    bench = cw.benchmark(tumours, ["baseline", "logistic", "gam"], tune=0, repeats=1, seed=1)
    return bench.evaluation("gam"), cw.explain(cw.learner("gam").fit(tumours), tumours), tumours


def clinical_calibration() -> Any:
    """Draw observed against predicted shares of patients that were held out."""
    return _clinical()[0].smooth_calibration().plot()


def clinical_by_size() -> Any:
    """Draw observed and expected shares by the size of the tumour."""
    return _clinical()[0].by("mean radius").plot()


def clinical_effect() -> Any:
    """Draw an effect with the band of the model."""
    return _clinical()[1].effect("mean texture", band="model").plot()


def clinical_patient() -> Any:
    """Draw why one patient has her prediction."""
    _, why, tumours = _clinical()
    return why.shapley(tumours.take([20])).plot()


def audit_gap() -> Any:
    """Draw where the difference of the audited model comes from, with intervals by refits."""
    from clearwood.fairness import gap as gap_of

    policies = cw.datasets.insurance(20_000, seed=5)
    model = cw.learner("glm", alpha=0).fit(policies)
    return gap_of(model, policies, reference="female", n_refits=8).plot()


def _beside(*charts: Any) -> Any:
    import altair as alt

    return alt.hconcat(*charts)


FIGURES: dict[str, Callable[[], Any]] = {
    make.__name__.replace("_", "-"): make
    for make in (
        *(profile, association, leakage, drift, benchmark, learning_curve),
        *(lift, double_lift, lorenz, by_age, smooth_calibration, roc),
        *(importance, permutation, agreement, ale, effect_kinds, surface),
        *(waterfall, beeswarm, observational, what_if, contributions, lime, directions),
        *(factors, nomogram, one_tree, graph, direct_effect),
        *(groups, decisions, gap, fair, alternatives),
        *(first_effect, tariff_curves, tariff_lift, tariff_by_age, credit_reasons),
        *(clinical_calibration, clinical_by_size, clinical_effect, clinical_patient, audit_gap),
    )
}


if __name__ == "__main__":
    import vl_convert

    for name in sys.argv[1:] or FIGURES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cw.ClearwoodWarning)  # of points that extrapolate
            figure = FIGURES[name]()
        svg = figure if isinstance(figure, str) else vl_convert.vegalite_to_svg(figure.to_dict())
        (ASSETS / f"guide-{name}.svg").write_text(svg.rstrip() + "\n", encoding="utf-8")
