"""Imputed tables: what they keep, and whether intervals that rest on them cover the truth."""

import datetime as dt

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import clearwood as cw
from clearwood._shared.pooling import pool
from clearwood.table import Kind, complete_rows, gap_shares, gaps_listed, imputed_tables


def mixed(n=400, seed=0):
    """Return columns of every kind, half of them with gaps."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    level = np.array(["low", "mid", "high"], object)[np.digitize(x + rng.normal(size=n), [-1, 1])]
    start = np.array([dt.date(2020, 1, 1) + dt.timedelta(int(100 + 30 * v)) for v in x], object)
    flag = np.where(x + rng.normal(size=n) > 0, "yes", "no").astype(object)
    columns = {"level": level, "start": start, "flag": flag, "half": x.astype(object)}
    for values in columns.values():
        values[rng.random(n) < 0.3] = None
    columns |= {"x": x + rng.normal(size=n), "y": x + rng.normal(size=n)}
    return cw.read(columns, target="y")


def test_only_gaps_change_and_none_is_left():
    data = mixed()
    assert {column.kind for column in data.columns} >= {Kind.CATEGORY, Kind.DATE, Kind.YES_NO}
    one, other = imputed_tables(data, data.features, imputations=2, seed=3)
    for column in data.columns:
        known = ~column.missing
        for filled in (one, other):
            new = filled.column(column.name)
            assert new.n_missing == 0
            assert new.values.dtype == column.values.dtype
            np.testing.assert_array_equal(new.values[known], column.values[known])
        if not known.all():
            a, b = one.column(column.name).values, other.column(column.name).values
            assert (a[~known] != b[~known]).any()
    (again,) = imputed_tables(data, data.features, imputations=1, seed=3)
    np.testing.assert_array_equal(again.column("half").values, one.column("half").values)


def test_draws_keep_the_relations_between_columns():
    """A mean instead of draws would lose variance, and draws by themselves the relation."""
    data = mixed(6000)
    (filled,) = imputed_tables(data, data.features, imputations=1, seed=0)
    half, y = filled.column("half").values, filled.column("y").values
    gaps = data.column("half").missing
    assert np.std(half[gaps]) == pytest.approx(1.0, abs=0.05)
    assert np.cov(half[gaps], y[gaps])[0, 1] == pytest.approx(1.0, abs=0.12)
    flag = filled.column("flag")
    drawn = data.column("flag").missing
    is_yes = flag.labels() == "yes"
    shares = [np.mean(half[rows][is_yes[rows]]) for rows in (drawn, ~drawn)]
    assert shares[0] == pytest.approx(shares[1], abs=0.08)


def test_a_column_that_is_determined_is_imputed_exactly():
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    twice = (2 * x + 1).astype(object)
    sign = np.where(x > 0, "up", "down").astype(object)
    gaps = rng.random(300) < 0.4
    twice[gaps], sign[gaps] = None, None
    data = cw.read({"x": x, "twice": twice, "sign": sign, "y": rng.normal(size=300)}, target="y")
    (filled,) = imputed_tables(data, data.features, imputations=1, seed=0)
    np.testing.assert_allclose(filled.column("twice").values, 2 * x + 1, atol=0.02)
    wrong = filled.column("sign").labels() != np.where(x > 0, "up", "down")
    assert wrong.mean() < 0.05  # finite although the classes are separated


def test_whole_weights_are_repeated_rows():
    """The posterior of a column is that of as many rows; only the draws differ."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=150)
    z = (x + rng.normal(size=150)).astype(object)
    z[:60] = None
    times = rng.integers(1, 4, 150)
    columns = {"x": x, "z": z, "y": x + rng.normal(size=150)}
    weighted = cw.read({**columns, "w": times}, target="y", weight="w")
    repeated = cw.read({k: np.repeat(v, times) for k, v in columns.items()}, target="y")
    means = []
    for data in (weighted, repeated):
        rows = data.column("z").missing
        drawn = [
            np.polyfit(data.column("x").values[rows], t.column("z").values[rows], 1)[0]
            for t in imputed_tables(data, data.features, imputations=150, seed=0)
        ]
        means.append((np.mean(drawn), np.std(drawn) / np.sqrt(150)))
    (a, error_a), (b, error_b) = means
    assert abs(a - b) < 4 * np.hypot(error_a, error_b) + 0.05


def test_shares_and_complete_rows():
    data = cw.read({"a": [1.0, None, 3.0, 5.0], "b": ["u", "v", None, "u"], "c": [1, 2, 4, 3]})
    assert gap_shares(data.columns) == {"a": 0.25, "b": 0.25}
    np.testing.assert_array_equal(complete_rows(data, ["a", "b", "c"]), [0, 3])
    np.testing.assert_array_equal(complete_rows(data, ["c"]), np.arange(4))
    many = {f"c{k}": 0.1 * k for k in range(1, 8)}
    assert gaps_listed(many).endswith("and 3 more columns in fewer")
    assert gaps_listed({"a": 0.5}) == "'a' is missing in 50 % of the rows"


def test_a_column_that_is_hardly_known_is_refused():
    values = [1.0] * 5 + [None] * 95
    data = cw.read({"rare": values, "y": np.arange(100.0)}, target="y")
    with pytest.raises(cw.InputError, match=r"'rare' has only 5 known values.*gaps='complete'"):
        next(imputed_tables(data, ["rare"], imputations=2, seed=0))


def _slope(table):
    """Return the coefficient of x given z, with its variance."""
    z = table.column("z")
    own = [z.values] if not z.is_coded else [z.values == k for k in range(1, len(z.levels))]
    X = np.column_stack([np.ones(table.n_rows), table.column("x").values, *own]).astype(float)
    inverse = np.linalg.inv(X.T @ X)
    b = inverse @ X.T @ table.y
    off = table.y - X @ b
    return b[1], inverse[1, 1] * (off @ off) / (len(X) - X.shape[1])


@pytest.mark.parametrize("kind", ["number", "levels"])
@pytest.mark.parametrize("effect", [0.0, 0.5])
def test_intervals_of_imputed_tables_cover_where_gaps_depend_on_the_target(kind, effect):
    """40 % gaps in a confounder, more where x and y are large; nominal 90 %, 150 tables."""
    n, rounds, covered, complete = 300, 150, 0, 0
    for seed in range(rounds):
        rng = np.random.default_rng([seed, 5])
        z = rng.normal(size=n)
        x = 0.7 * z + rng.normal(size=n)
        shown = np.array(["a", "b", "c"], object)[np.digitize(z, [-0.5, 0.8])]
        if kind == "levels":
            y = effect * x + np.array([0, 1, 2])[np.digitize(z, [-0.5, 0.8])]
        else:
            shown, y = z.astype(object), effect * x + z
        y = y + rng.normal(size=n)
        tends = 0.8 * x + 0.6 * y
        shown[rng.random(n) < expit(1.5 * (tends - tends.mean()) / tends.std() - 0.5)] = None
        data = cw.read({"x": x, "z": shown, "y": y}, target="y")
        fits = [_slope(t) for t in imputed_tables(data, ["x", "z"], imputations=10, seed=seed)]
        values, variances = (np.array(side)[:, None] for side in zip(*fits, strict=True))
        joined = pool(values, variances, n - 4.0)
        reach = stats.t.ppf(0.95, joined.freedom[0]) * joined.standard_errors[0]
        covered += abs(joined.values[0] - effect) < reach
        estimate, variance = _slope(data.take(complete_rows(data, ["z"])))
        complete += abs(estimate - effect) < 1.65 * np.sqrt(variance)
    error = np.sqrt(0.9 * 0.1 / rounds)
    assert abs(covered / rounds - 0.9) < 3 * error
    assert complete / rounds < 0.8  # complete rows are those of small y
