"""Whether a model uses a column: the same answer as predicting with every value of it."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.fairness import used_columns
from clearwood.table import Table


@pytest.fixture(scope="module")
def loans() -> Table:
    """Return rows whose target depends on income, a little on sex, and not on the other columns."""
    rng = np.random.default_rng(0)
    n = 600
    sex = rng.choice(["f", "m"], n)
    income, noise = rng.normal(size=n), rng.normal(size=n)
    y = 2 * income + 0.3 * (sex == "m") + 0.1 * rng.normal(size=n)
    rows = {"sex": sex, "income": income, "noise": noise, "y": y}
    return cw.read(rows, target="y", protected="sex")


def flips(model, table: Table) -> bool:
    """Predict every row with each sex."""
    frame = {name: table[name].labels() for name in table.features}
    n = table.n_rows
    both = [model.predict({**frame, "sex": np.array([one] * n)}) for one in ("f", "m")]
    return bool(np.abs(both[0] - both[1]).max() > 1e-9)


@pytest.mark.parametrize(
    ("name", "settings", "uses"),
    [
        ("tree", {"max_depth": 1}, False),
        ("tree", {"max_depth": 6}, True),
        ("gbm", {}, True),
        ("lasso", {"alpha": 0.5}, False),
        ("lasso", {"alpha": 0.001}, True),
        ("ridge", {}, True),
    ],
)
def test_a_column_is_used_where_predictions_change_with_it(loans, name, settings, uses):
    model = cw.learner(name, **settings).fit(loans)
    assert used_columns(model, loans, ["sex"]) == (("sex",) if uses else ())
    assert flips(model, loans) is uses
    audit = cw.audit(model, loans, causes=False)
    assert audit.used == (("sex",) if uses else ())


def test_a_split_with_equal_leaves_is_no_use():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(1)
    rows = {"a": rng.integers(0, 2, 200), "b": rng.normal(size=200)}
    data = cw.read({**rows, "y": np.where(rows["b"] > 0, "x", "z")}, target="y")
    frame = data.X.to_frame()
    model = DecisionTreeClassifier(max_depth=1).fit(frame, data.y)
    model.tree_.value[:] = model.tree_.value[:1]  # both leaves predict what the root does
    assert used_columns(model, data, ["a", "b"]) == ()


def test_a_column_that_the_model_was_not_fitted_to_is_not_used(loans):
    blind = cw.fair(cw.learner("ridge"), loans, kind="unaware").models_[0]
    assert used_columns(blind, loans, ["sex"]) == ()


def test_averaging_over_a_column_that_is_not_used_is_warned_about(loans):
    model = cw.learner("tree", max_depth=1).fit(loans)
    with pytest.warns(cw.ClearwoodWarning, match="no prediction of the model changes with 'sex'"):
        cw.fair(model, loans)
