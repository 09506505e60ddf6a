"""Coefficients after a choice of columns: marked, and valid where other rows choose."""

import numpy as np
import pytest
import statsmodels.api as sm

import clearwood as cw
from clearwood.resampling import HoldOut


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    place = rng.choice(["north", "south"], n)
    score = X[:, 0] - 0.8 * X[:, 3] + 1.0 * (place == "south")
    columns = {f"x{j}": X[:, j] for j in range(6)}
    return {
        **columns,
        "place": place,
        "y": score + rng.normal(size=n),
        "left": np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no"),
        "claims": rng.poisson(np.exp(0.5 * score - 0.5)),
    }


def read(target):
    others = [name for name in ("y", "left", "claims") if name != target]
    return cw.read(rows(), target=target, ignore=others)


def test_the_other_rows_estimate_least_squares_on_the_chosen_columns():
    data = read("y")
    model = cw.learner("subset").fit(data)
    table = cw.coefficients(model, data, split=0.5, seed=2)
    (parts,) = HoldOut(0.5).splits(data.n_rows, seed=2)
    chosen = cw.models.chosen_columns(cw.learner("subset").fit(data.take(parts.train)))
    assert {"x0", "x3", "place"} <= set(chosen)
    rest = data.take(parts.test)
    design = [rest.column(name).values for name in chosen if name != "place"]
    place = np.asarray(rows()["place"])[parts.test]
    base = table.bases[-1]
    fit = sm.OLS(rest.y, sm.add_constant(np.column_stack([*design, place != base]))).fit()
    known = ~table.is_base
    np.testing.assert_allclose(table.values[known], fit.params, rtol=1e-8)
    np.testing.assert_allclose(table.standard_errors[known], fit.bse, rtol=1e-8)
    assert table.n_rows == len(parts.test)
    assert (table.model, table.chooser, table.chosen_by) == ("ols", "subset", "other rows")
    assert "subset chose the columns from 150 other rows" in repr(table)


@pytest.mark.parametrize(
    ("name", "settings", "target", "plain"),
    [
        ("lasso", {"alpha": 0.1}, "y", "ols"),
        ("ridge", {"select": "anova:3"}, "y", "ols"),
        ("logistic", {"penalty": "l1", "C": 0.1}, "left", "logistic"),
        ("glm", {"select": "lasso:3"}, "claims", "glm"),
    ],
)
def test_estimates_have_the_scale_of_the_learner_and_no_penalty(name, settings, target, plain):
    data = read(target)
    model = cw.learner(name, **settings).fit(data)
    table = cw.coefficients(model, data, split=0.4)
    assert table.model == plain
    assert np.isfinite(table.standard_errors).all()
    assert table.unit == cw.coefficients(model, data).unit


def test_a_table_of_the_rows_that_chose_says_that_inference_is_not_valid():
    data = read("y")
    best = cw.coefficients(cw.learner("subset").fit(data), data)
    assert best.chosen_by == "same rows"
    assert np.isnan(best.standard_errors).all()
    for model in (cw.learner("subset"), cw.learner("ols", select="anova:3")):
        table = cw.coefficients(model.fit(data), data)
        assert table.to_json()["chosen_by"] == "same rows"
        assert "inference after selection is not valid" in table.notes[0]
    assert cw.coefficients(cw.learner("ols").fit(data), data).chosen_by is None


def test_intervals_cover_only_where_other_rows_choose():
    """Of eight columns of noise the strongest: its interval of 90 % should hold zero."""
    covered = {"same": 0, "other": 0}
    times = 40
    for seed in range(times):
        rng = np.random.default_rng(seed)
        noise = {f"x{j}": rng.normal(size=80) for j in range(8)}
        data = cw.read({**noise, "y": rng.normal(size=80)}, target="y")
        model = cw.learner("ols", select="anova:1").fit(data)
        for name, split in (("same", None), ("other", 0.5)):
            table = cw.coefficients(model, data, split=split, seed=seed)
            covered[name] += bool(table.low[1] <= 0 <= table.high[1])
    assert covered["same"] / times < 0.6  # 0.9 ** 8 = 0.43
    assert 0.8 <= covered["other"] / times <= 0.99


def test_a_choice_that_is_none_or_finds_none_is_refused():
    data = read("y")
    model = cw.learner("subset").fit(data)
    for split in (0, 1.0, True, "half"):
        with pytest.raises(cw.InputError, match="split"):
            cw.coefficients(model, data, split=split)
    with pytest.raises(cw.InputError, match="seed"):
        cw.coefficients(model, data, split=0.5, seed=-1)
    with pytest.raises(cw.InputError, match="uses all columns"):
        cw.coefficients(cw.learner("ols").fit(data), data, split=0.5)
    huber = cw.learner("huber", select="anova:2").fit(data)
    with pytest.raises(cw.InputError, match=r"'huber' has no form.*select='anova:2'"):
        cw.coefficients(huber, data, split=0.5)
    with pytest.raises(cw.InputError, match="no column is chosen from 150 rows"):
        cw.coefficients(cw.learner("lasso", alpha=1.0).fit(data), data, split=0.5)
