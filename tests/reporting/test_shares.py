"""What a share is of: rows, weight or exposure, and which variance."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.reporting import Facts

pytestmark = pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")


def table(**roles):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 2)) @ np.linalg.cholesky([[1, 0.6], [0.6, 1]]).T
    amount = rng.uniform(0.2, 3, 2000)
    y = rng.poisson(np.exp(x[:, 0] / 3))
    columns = {"a": x[:, 0], "b": x[:, 1], "amount": amount, "size": amount[::-1], "y": y}
    return cw.read(columns, target="y", task="count", **roles)


def words(page, name):
    [section] = [section for section in page.sections if section.name == name]
    texts = [text for block in section.blocks for text in getattr(block, "paragraphs", ())]
    facts = [block for block in section.blocks if isinstance(block, Facts)]
    return " ".join([*texts, *(text for block in facts for _, text in block.items)])


@pytest.mark.parametrize(
    ("roles", "by"),
    [
        ({}, "rows"),
        ({"weight": "amount"}, "weight"),
        ({"exposure": "amount"}, "exposure"),
        ({"exposure": "amount", "weight": "size"}, "exposure times weight"),
    ],
)
def test_shares_and_medians_say_what_they_are_weighted_by(roles, by):
    data = table(**roles)
    model = cw.learner("tree", max_depth=2).fit(data)
    assert data.counted_by == by
    rule = cw.condense(model).rules(data).items[0]
    assert rule.counted_by == by
    assert (" of rows" in repr(rule)) == (by == "rows")
    page = cw.report(model, data, quick=True, sections=["summary", "tree"])
    start = "Half of the predictions" if by == "rows" else f"Weighted by {by}, half of the"
    assert start in words(page, "summary")
    [sheet] = [block for block in page.sections[1].blocks if getattr(block, "name", "") == "rules"]
    assert sheet.columns[3] == f"share of {by} (%)"


def test_shares_of_variance_of_associated_columns_say_of_which_sum():
    """For 2 a + b the variance is 4 + 1 + 4 cov, and components have 4 + 1."""
    data = table(ignore=["amount"])

    a, b = data["a"].values, data["b"].values
    linear = cw.learner("ols").fit(cw.read({"a": a, "b": b, "y": 2 * a + b}, target="y"))
    variances = cw.importance(linear, {"a": a, "b": b}).variances
    expected = (4 * a.var() + b.var()) / (2 * a + b).var()
    assert variances.of_prediction == pytest.approx(expected)
    page = cw.report(linear, {"a": a, "b": b}, quick=True, sections=["summary", "importance"])
    said = f"{expected:.3g} times the variance of the prediction"
    assert said in words(page, "summary")
    assert said in words(page, "importance")
    rng = np.random.default_rng(1)
    apart = dict(zip("ab", rng.normal(size=(2, 4000)), strict=True))
    page = cw.report(linear, apart, quick=True, sections=["summary"])
    assert "times the variance" not in words(page, "summary")


@pytest.mark.parametrize("learner", ["prim", "rules", "hme"])
def test_equations_say_what_their_shares_are_of(learner):
    """The number is checked too: it is the share of that by which rows count."""
    for roles, by in (({}, "rows"), ({"exposure": "amount", "weight": "size"}, "the exposure t")):
        data = table(**roles)
        model = cw.learner(learner).fit(data)
        written = cw.models.equation(model)
        assert written.counted_by == data.counted_by
        assert f"of {by}" in " ".join(str(written).split()) or learner == "hme"
        assert (f"share of {data.counted_by}" in str(written)) == (learner == "hme")
    free = cw.learner("prim").fit(data.X, data.y, sample_weight=data.weights)
    assert cw.models.equation(free).counted_by == "weight"


@pytest.mark.parametrize("weight", [None, "amount"])
def test_points_and_coefficients_say_what_their_shares_are_of(weight):
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=800), "g": rng.choice(list("ab"), 800)}
    late = np.where(columns["a"] + rng.normal(size=800) > 0, "yes", "no")
    amount = rng.uniform(0.2, 3, 800)
    data = cw.read({**columns, "amount": amount, "late": late}, target="late", weight=weight)
    data = data if weight else data.select(["a", "g", "late"])
    by = "rows" if weight is None else "the weight"
    model = cw.learner("scorecard").fit(data)
    points = cw.factors(model, data, points=(600, 50, 20)).points
    assert f"% of {by}" in repr(points)
    assert f"% of {by} cross" in points.rounding.text
    linear = cw.coefficients(cw.learner("logistic").fit(data), data)
    assert linear.counted_by == data.counted_by
    mass = amount if weight else np.ones(800)
    place = list(linear.levels).index("b")
    assert linear.shares[place] == pytest.approx(mass[columns["g"] == "b"].sum() / mass.sum())


@pytest.mark.parametrize("learner", ["ols", "gam", "tree"])
def test_a_number_of_a_column_is_written_in_one_way_on_a_page(learner):
    rng = np.random.default_rng(3)
    income = np.append(rng.integers(9_000, 60_000, 299), 65_237)
    data = {"income": income, "y": income / 1000 + rng.normal(0, 3, 300)}
    table = cw.read(data, target="y")
    page = cw.report(cw.learner(learner).fit(table), table, test=table, quick=True).to_html()
    assert "65,237" in page
    for other in ("65,240", "65,200", "65237 ", "65237<"):
        assert other not in page
