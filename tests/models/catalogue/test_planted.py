"""Random planted forests: bookkeeping by hand, exact reading, laws, bad input, files."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import clearwood as cw
from clearwood import InputError
from clearwood.kernels import plant
from clearwood.models.catalogue.planted.estimators import (
    PlantedClassifier,
    PlantedPoisson,
    PlantedRegressor,
)
from clearwood.table import as_table

SMALL = {"n_trees": 4, "n_splits": 20}


def binned(n_rows=60, n_columns=3, n_bins=4, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    bins = rng.integers(1, n_bins + 1, (n_columns, n_rows)).astype(np.uint8)
    bins[rng.random(bins.shape) < missing] = 0
    return bins, np.full(n_columns, n_bins, np.int32), rng.normal(size=n_rows)


def scores(leaves, bins, n_families):
    """Add up, for every row, the leaves whose bounds it meets; families are averaged."""
    total = np.zeros((bins.shape[1], leaves.value.shape[1]))
    for k in range(len(leaves.family)):
        inside = np.ones(bins.shape[1], bool)
        for s in range(3):
            if leaves.column[k, s] >= 0:
                own = bins[leaves.column[k, s]]
                within = (own > leaves.low[k, s]) & (own <= leaves.high[k, s])
                inside &= np.where(own == 0, leaves.missing[k, s], within)
        total += inside[:, None] * leaves.value[k] / n_families
    return total


def best_first_split(bins, n_bins, y, l2, least):
    """Find the split of all rows that lowers the squared error most, by trying all."""
    residual = y - y.mean()
    best = (0.0, None)
    for column in range(len(bins)):
        own = bins[column]
        for last in range(1, n_bins[column] + 1):
            for missing_left in (False, True):
                left = np.where(own == 0, missing_left, own <= last)
                if min(left.sum(), (~left).sum()) < least:
                    continue
                gain = sum(residual[s].sum() ** 2 / (s.sum() + l2) for s in (left, ~left))
                if gain > best[0] + 1e-12:
                    best = (gain, left)
    return best


def everything(n_splits, **options):
    """Options with which every candidate and threshold is tried."""
    return {
        "n_families": 1, "n_splits": n_splits, "n_thresholds": 255, "max_candidates": 2000,
        "share": 1.0, "bootstrap": False, **options,
    }  # fmt: skip


def test_the_first_split_is_the_best_of_all():
    bins, n_bins, y = binned()
    # few columns are drawn where there is one leaf; enough families meet the best one
    gains = []
    for seed in range(30):
        leaves = plant(bins, n_bins, y, start=[y.mean()], seed=seed, **everything(1, l2=0.0))
        fitted = scores(leaves, bins, 1)[:, 0]
        gains.append(((y - y.mean()) ** 2).sum() - ((y - fitted) ** 2).sum())
    best, left = best_first_split(bins, n_bins, y, 0.0, 5)
    assert_allclose(max(gains), best)
    assert all(gain <= best + 1e-9 for gain in gains)
    assert left is not None


@pytest.mark.parametrize("order", [1, 2, 3])
def test_bookkeeping_of_trees_and_leaves(order):
    """Splitting by an own column replaces a leaf, by another one plants two and keeps it."""
    bins, n_bins, y = binned(200)
    before = plant(bins, n_bins, y, start=[y.mean()], order=order, **everything(1))
    for n_splits in range(2, 25):
        after = plant(bins, n_bins, y, start=[y.mean()], order=order, **everything(n_splits))
        known, new = ({_key(ls, k) for k in range(len(ls.family))} for ls in (before, after))
        gone, added = known - new, new - known
        assert len(added) == 2
        columns = {frozenset(c for c, *_ in key[0]) for key in added}
        assert len(columns) == 1  # both leaves are in the same tree
        (tree,) = columns
        assert len(tree) <= order
        if gone:  # the leaf is replaced, in its own tree, and its value goes on
            ((sides, _),) = gone
            assert frozenset(c for c, *_ in sides) == tree
        before = after
    # the leaf of the empty set is never replaced
    assert (before.column[0] == -1).all()
    assert_allclose(before.value[0], y.mean())


def _key(leaves, k):
    sides = [
        (int(c), int(lo), int(hi), bool(m))
        for c, lo, hi, m in zip(
            leaves.column[k], leaves.low[k], leaves.high[k], leaves.missing[k], strict=True
        )
        if c >= 0
    ]
    return tuple(sorted(sides)), tuple(leaves.value[k].round(9))


def test_every_split_lowers_the_squared_error_by_the_means_of_its_leaves():
    bins, n_bins, y = binned(200)
    errors = []
    for n_splits in range(1, 15):
        leaves = plant(bins, n_bins, y, start=[y.mean()], **everything(n_splits, l2=0.0))
        errors.append(((y - scores(leaves, bins, 1)[:, 0]) ** 2).sum())
    assert (np.diff(errors) < 0).all()


def test_a_leaf_covers_the_rows_inside_it():
    bins, n_bins, y = binned(150)
    weight = np.random.default_rng(1).integers(1, 4, 150).astype(float)
    leaves = plant(bins, n_bins, y, start=[0.0], weight=weight, **everything(20))
    for k in range(len(leaves.family)):
        alone = type(leaves)(
            **{name: getattr(leaves, name)[[k]] for name in leaves.__dataclass_fields__}
        )
        inside = scores(alone, bins, 1)[:, 0] != 0
        if leaves.value[k, 0] != 0:
            assert_allclose(leaves.cover[k], weight[inside].sum())


def test_results_do_not_depend_on_threads_but_on_the_seed():
    bins, n_bins, y = binned(200)
    one, two, other = (
        plant(bins, n_bins, y, start=[0.0], n_families=6, seed=seed, n_jobs=jobs)
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    )
    assert_array_equal(one.value, two.value)
    assert not np.array_equal(one.value[:50], other.value[:50])


def homes(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(40, 200, n),
            "age": rng.uniform(0, 100, n),
            "town": rng.choice(["Lund", "Malmö", "Ystad"], n),
        }
    )
    frame.loc[rng.random(n) < 0.15, "age"] = np.nan
    signal = frame["size"] / 50 + 2.0 * (frame["town"] == "Malmö") * (frame["size"] > 120)
    return frame, np.asarray(signal - 1.5 * frame["age"].isna()), rng


def test_missing_values_and_categories_are_learned():
    frame, signal, _ = homes()
    model = cw.learner("planted").fit(frame, signal)
    assert np.std(model.predict(frame) - signal) < 0.15 * np.std(signal)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_forest_is_read_exactly_up_to_its_order(order):
    frame, signal, _ = homes(150)
    model = cw.learner("planted", order=order, **SMALL).fit(frame, signal)
    why = cw.explain(model, frame, max_order=None)
    assert why.order <= order
    assert_allclose(why.predict(frame), model.predict(frame), atol=1e-9)
    # the purified components, against all coalitions of columns
    matrix = model.encoder_.transform(as_table(frame))
    score = model.estimator_.parts_
    row = matrix[7]
    values = why.values(frame.iloc[[7]])
    for k, names in enumerate(why.components):
        players = [why.columns.index(name) for name in names]
        component = 0.0
        for size in range(len(players) + 1):
            for held in combinations(players, size):
                mixed = matrix.copy()
                mixed[:, list(held)] = row[list(held)]
                component += (-1) ** (len(players) - size) * score(mixed)[:, 0].mean()
        assert_allclose(values.values[0, k], component, atol=1e-9)


def test_with_order_1_nothing_interacts():
    frame, signal, _ = homes(200)
    model = cw.learner("planted", order=1, **SMALL).fit(frame, signal)
    assert model.estimator_.parts_.trees is None
    assert {len(names) for names in cw.explain(model, frame).components} == {1}


def test_repeated_rows_are_whole_weights():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    weight = rng.integers(1, 4, 80)
    options = {"bootstrap": False, "n_trees": 2, "n_splits": 15}
    weighted = PlantedRegressor(**options).fit(X, y, sample_weight=weight)
    repeated = PlantedRegressor(**options).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)


def test_classes_and_counts():
    frame, signal, rng = homes(600)
    odds = 1 / (1 + np.exp(-(signal - signal.mean())))
    two = np.where(rng.random(600) < odds, "yes", "no")
    model = cw.learner("planted", n_trees=20).fit(frame, two)
    probability = model.predict_proba(frame)[:, 1]
    assert np.corrcoef(probability, odds)[0, 1] > 0.7
    three = np.array(["a", "b", "c"])[np.digitize(signal, np.quantile(signal, [0.3, 0.6]))]
    several = cw.learner("planted", n_trees=10).fit(frame, three)
    assert (several.predict(frame) == three).mean() > 0.9
    assert_allclose(several.predict_proba(frame).sum(axis=1), 1)
    assert cw.explain(several, frame).outputs == ("a", "b", "c")
    counts = rng.poisson(np.exp(signal / 3))
    rates = cw.learner("planted", task="count", n_trees=20).fit(frame, counts)
    assert np.corrcoef(rates.predict(frame), np.exp(signal / 3))[0, 1] > 0.8
    assert abs(rates.predict(frame).mean() / counts.mean() - 1) < 0.1


def test_a_saved_forest_predicts_the_same(tmp_path):
    frame, signal, _ = homes(150)
    model = cw.learner("planted", **SMALL).fit(frame, signal)
    cw.save(model, tmp_path / "planted.cw")
    loaded = cw.load(tmp_path / "planted.cw")
    assert_array_equal(loaded.predict(frame), model.predict(frame))


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_thin_data():
    """A constant column, one of gaps only, a level never seen, fewer rows than splits."""
    frame, signal, _ = homes(12)
    frame["same"], frame["gaps"] = 1.0, np.nan
    model = cw.learner("planted", **SMALL).fit(frame, signal)
    new = frame.assign(town="Åhus", size=1e6)
    assert np.isfinite(model.predict(new)).all()
    flat = cw.learner("planted", task="regression", **SMALL).fit(
        frame, np.append(np.zeros(11), 1e-9)
    )
    assert np.isfinite(flat.predict(frame)).all()


@pytest.mark.parametrize(
    ("setting", "value"),
    [("order", 4), ("n_trees", 0), ("share", 0.0), ("min_rows", -1), ("learning_rate", 2.0)],
)
def test_settings_that_make_no_sense_are_named(setting, value):
    frame, signal, _ = homes(50)
    with pytest.raises(InputError, match=setting):
        cw.learner("planted", **{setting: value}).fit(frame, signal)


def test_negative_counts_and_a_single_class_are_refused():
    X = np.arange(10.0)[:, None]
    with pytest.raises(InputError, match="negative"):
        PlantedPoisson().fit(X, -np.arange(10.0))
    with pytest.raises(InputError, match="one class"):
        PlantedClassifier().fit(X, np.zeros(10))


EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "bootstrap samples are drawn by row",
}


@pytest.mark.estimators(
    PlantedRegressor(**SMALL),
    PlantedClassifier(**SMALL),
    PlantedPoisson(**SMALL),
    expected=EXPECTED_FAILURES,
)
def test_a_learner_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)
