"""Coefficients of columns with gaps: complete rows, imputed tables, what is said of fills."""

import numpy as np
import pytest
from scipy import stats

import clearwood as cw
from clearwood.table import imputed_tables


def rows_of(n=500, seed=0, share=0.4):
    """Return rows with a confounder that has gaps, and a column without an effect."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x = 0.7 * z + rng.normal(size=n)
    y = z + rng.normal(size=n)
    gaps = rng.random(n) < share
    part = np.array(["a", "b", "c"], object)[np.digitize(z + rng.normal(size=n), [-1, 1])]
    part[rng.random(n) < share / 4] = None
    return {
        "x": x,
        "z": np.where(gaps, np.nan, z),
        "part": part,
        "y": y,
        "paid": np.exp(0.3 * y + 0.3 * rng.normal(size=n)),
        "claims": rng.poisson(np.exp(0.4 * y)),
        "left": np.where(y + rng.logistic(size=n) > 0, "yes", "no"),
        "firm": rng.integers(0, 50, n),
        "w": rng.integers(0, 4, n),
        "years": rng.uniform(0.5, 2, n),
    }


ROWS = rows_of()
TARGETS = ("y", "paid", "claims", "left")


def read(target="y", features=("x", "z", "part"), rows=ROWS, **roles):
    names = [*features, target, *roles.values()]
    return cw.read({name: rows[name] for name in names}, target=target, **roles)


def learner(target):
    if target == "left":
        return cw.learner("logistic", penalty="none")
    return cw.learner("ols") if target == "y" else cw.learner("glm", alpha=0)


def test_coefficients_that_rest_on_filled_gaps_say_so_with_the_share():
    for name, settings in (("ols", {}), ("ridge", {}), ("bayes", {})):
        data = read()
        table = cw.coefficients(cw.learner(name, **settings).fit(data), data)
        missing = np.isnan(ROWS["z"]).mean()
        assert table.gap_shares["z"] == pytest.approx(missing)
        assert set(table.gap_shares) == {"z", "part"}
        assert table.gaps == "fill"
        assert any("'z' is missing in" in note for note in table.notes)
    whole = read(features=("x",))
    table = cw.coefficients(cw.learner("ols").fit(whole), whole)
    assert not table.gap_shares
    assert not any("missing" in note for note in table.notes)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"group": "firm"}])
def test_complete_rows_are_those_that_are_read_without_gaps(target, roles):
    data = read(target, **roles)
    model = learner(target).fit(data)
    table = cw.coefficients(model, data, gaps="complete", base={"part": "b"})
    known = ~np.isnan(ROWS["z"]) & np.array([part is not None for part in ROWS["part"]])
    rows = {name: values[known] for name, values in ROWS.items()}
    same = read(target, rows=rows, **roles)
    expected = cw.coefficients(learner(target).fit(same), same, base={"part": "b"})
    assert table.names() == expected.names()
    assert table.gaps == "complete"
    for name in ("values", "standard_errors", "low", "high"):
        np.testing.assert_allclose(getattr(table, name), getattr(expected, name), rtol=1e-6)
    assert table.n_rows == expected.n_rows


@pytest.mark.parametrize(
    ("target", "roles"),
    [
        *((target, roles) for target in TARGETS for roles in ({}, {"weight": "w"})),
        *((target, {"group": "firm"}) for target in TARGETS),
        *((target, {"exposure": "years"}) for target in ("paid", "claims")),
    ],
)
def test_imputed_coefficients_are_the_joined_ones_of_each_table(target, roles):
    data = read(target, **roles)
    model = learner(target).fit(data)
    table = cw.coefficients(model, data, gaps="impute", imputations=3, seed=4)
    counts = data if data.row_weights is None else data.take(data.row_weights > 0)
    fits = [
        cw.coefficients(learner(target).fit(filled), filled)
        for filled in imputed_tables(counts, ("x", "z", "part"), imputations=3, seed=4)
    ]
    assert [fit.names() for fit in fits] == [table.names()] * 3
    assert not any("missing" in name for name in table.names())
    values = np.stack([fit.values for fit in fits])
    np.testing.assert_allclose(table.values, values.mean(axis=0), rtol=1e-6, atol=1e-9)
    within = np.mean([fit.standard_errors**2 for fit in fits], axis=0)
    total = within + 4 / 3 * values.var(axis=0, ddof=1)
    np.testing.assert_allclose(table.standard_errors, np.sqrt(total), rtol=1e-6)
    at = table.names().index("z")
    t = table.values[at] / table.standard_errors[at]
    p_value = 2 * stats.t.sf(abs(t), table.freedom[at])
    assert table.p_values[at] == pytest.approx(p_value)
    (test,) = [one for one in table.tests if one.column == "z"]
    assert test.p_value == pytest.approx(p_value)  # of one coefficient, by its own t
    assert 0 < table.unknown[at] < 1
    assert table.n_imputations == 3
    assert "seed 4" in table.notes[0]
    assert table.to_json()["n_imputations"] == 3


def test_without_gaps_all_ways_are_the_same():
    data = read(features=("x",))
    model = cw.learner("ols").fit(data)
    plain = cw.coefficients(model, data)
    for gaps in ("complete", "impute"):
        table = cw.coefficients(model, data, gaps=gaps)
        np.testing.assert_array_equal(table.values, plain.values)
        assert table.notes == plain.notes
        assert table.gaps == "fill"


def test_penalised_coefficients_are_averaged_without_errors():
    data = read()
    table = cw.coefficients(cw.learner("ridge").fit(data), data, gaps="impute", imputations=2)
    assert np.isfinite(table.values).all()
    assert np.isnan(table.standard_errors).all()
    assert table.errors is None


def test_columns_chosen_by_complete_rows_are_estimated_on_others():
    data = read()
    model = cw.learner("ols", select="anova:2").fit(data)
    table = cw.coefficients(model, data, gaps="complete", split=0.5)
    assert table.chosen_by == "other rows"
    assert table.gaps == "complete"
    assert not any("missing" in name for name in table.names())


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("ols", {"gaps": "drop"}, "gaps.*'drop'.*'complete'"),
        ("ols", {"gaps": "impute", "imputations": 1}, "imputations"),
        ("bayes", {"gaps": "impute"}, "posteriors.*gaps='complete'"),
        ("subset", {"gaps": "impute"}, "chooses columns.*gaps='complete'"),
    ],
)
def test_what_cannot_be_done_is_said(model, options, message):
    data = read()
    with pytest.raises(cw.InputError, match=message):
        cw.coefficients(cw.learner(model).fit(data), data, **options)


def test_no_complete_row_is_said():
    rng = np.random.default_rng(0)
    x = np.where(np.arange(60) % 2 == 0, np.nan, rng.normal(size=60))
    z = np.where(np.arange(60) % 2 == 1, np.nan, rng.normal(size=60))
    data = cw.read({"x": x, "z": z, "y": rng.normal(size=60)}, target="y")
    model = cw.learner("ols").fit(data)
    with pytest.raises(cw.InputError, match=r"no row is complete.*gaps='impute'"):
        cw.coefficients(model, data, gaps="complete")
    assert cw.coefficients(model, data, gaps="impute", imputations=2).n_rows == 60


def test_a_fill_leaves_confounding_that_complete_rows_and_draws_remove():
    """True effect 0, 40 % gaps at random: the interval of the filled model misses it."""
    covered = dict.fromkeys(("fill", "complete", "impute"), 0)
    rounds = 30
    for seed in range(rounds):
        data = read(features=("x", "z"), rows=rows_of(400, seed + 100))
        model = cw.learner("ols").fit(data)
        for gaps in covered:
            table = cw.coefficients(model, data, gaps=gaps, imputations=5, seed=seed)
            at = table.names().index("x")
            covered[gaps] += bool(table.low[at] < 0 < table.high[at])
    assert covered["fill"] < 3
    # 30 tables at 90 %: 4 standard errors are 6.6
    assert min(covered["complete"], covered["impute"]) > 20
