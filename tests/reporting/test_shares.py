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
    columns = {"a": x[:, 0], "b": x[:, 1], "amount": amount, "y": rng.poisson(np.exp(x[:, 0] / 3))}
    return cw.read(columns, target="y", task="count", **roles)


def words(page, name):
    [section] = [section for section in page.sections if section.name == name]
    texts = [text for block in section.blocks for text in getattr(block, "paragraphs", ())]
    facts = [block for block in section.blocks if isinstance(block, Facts)]
    return " ".join([*texts, *(text for block in facts for _, text in block.items)])


@pytest.mark.parametrize(
    ("roles", "by"),
    [({}, "rows"), ({"weight": "amount"}, "weight"), ({"exposure": "amount"}, "exposure")],
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
