"""Boosted trees against a plain implementation, on every instruction set, and what they promise."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax

from clearwood.kernels import boost

LOSSES = ("squared", "logistic", "softmax", "poisson", "gamma")
FIELDS = ("curve", "roots", "left", "right", "feature", "last", "missing_left", "value", "cover")


def example(loss, *, n_rows=333, n_columns=5, n_folds=3, missing=0.1, seed=0):
    """Make bins with gaps, a target that suits the loss, and the fold of each row."""
    rng = np.random.default_rng(seed)
    bins = rng.integers(1, 13, (n_columns, n_rows)).astype(np.uint8)
    bins[1, rng.random(n_rows) < missing] = 0
    score = 0.3 * (bins[0] > 6) * (bins[1] < 5) + 0.1 * np.sin(bins[2].astype(float))
    y = {
        "squared": score + 0.2 * rng.standard_normal(n_rows),
        "logistic": rng.random(n_rows) < expit(4 * score - 1),
        "softmax": np.clip(np.round(3 * score + rng.random(n_rows)), 0, 2),
        "poisson": rng.poisson(np.exp(3 * score)),
        "gamma": np.exp(score) * rng.gamma(3.0, 1 / 3, n_rows),
    }[loss].astype(float)
    n_outputs = 3 if loss == "softmax" else 1
    return {
        "bins": bins,
        "n_bins": np.full(n_columns, 12, np.int32),
        "y": y,
        "loss": loss,
        "weight": rng.integers(1, 4, n_rows).astype(float),
        "fold_of_row": rng.permutation(n_rows) % n_folds,
        "offset": 0.1 * rng.standard_normal((n_folds, n_outputs, n_rows)),
        "max_rounds": 30,
        "patience": 30,
        "learning_rate": 0.1,
    }


def predictions(trees, bins, n_folds, n_outputs):
    """Add up the leaves of each fold's trees round by round: (rounds + 1, folds, outputs, rows)."""
    n_rows = bins.shape[1]
    out = np.zeros((trees.rounds + 1, n_folds, n_outputs, n_rows))
    for number, root in enumerate(trees.roots):
        fold, rest = divmod(number, trees.rounds * n_outputs)
        step, output = divmod(rest, n_outputs)
        node = np.full(n_rows, root)
        while (inner := trees.feature[node] >= 0).any():
            value = bins[np.maximum(trees.feature[node], 0), np.arange(n_rows)]
            left = np.where(value == 0, trees.missing_left[node], value <= trees.last[node])
            node = np.where(inner, np.where(left, trees.left[node], trees.right[node]), node)
        out[step + 1, fold, output] = trees.value[node]
    return out.cumsum(axis=0)


def row_loss(loss, y, score):
    """Return the loss of each row from scores of shape (outputs, rows)."""
    one = score[0]
    return {
        "squared": lambda: (y - one) ** 2,
        "logistic": lambda: np.logaddexp(0, one) - y * one,
        "softmax": lambda: -log_softmax(score, axis=0)[y.astype(int), np.arange(len(y))],
        "poisson": lambda: np.exp(one) - y * one,
        "gamma": lambda: y * np.exp(-one) + one,
    }[loss]()


def derivatives(loss, y, score):
    one = score[0]
    if loss == "squared":
        return y - one, np.ones_like(y)
    if loss == "logistic":
        return y - expit(one), expit(one) * (1 - expit(one))
    if loss == "softmax":
        share = softmax(score, axis=0)[0]
        return (y == 0) - share, share * (1 - share)
    if loss == "poisson":
        return y - np.exp(one), np.exp(one)
    return y * np.exp(-one) - 1, np.ones_like(y)


@pytest.mark.parametrize("random_thresholds", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_instruction_set_and_number_of_threads_gives_the_same_bits(
    loss, random_thresholds, each_level
):
    data = example(loss)
    here = boost(**data, random_thresholds=random_thresholds, n_jobs=3)
    assert each_level
    assert here.rounds > 0
    key = (loss, random_thresholds)
    first = _FIRST.setdefault(key, here)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(here, field), getattr(first, field), err_msg=field)
    alone = boost(**data, random_thresholds=random_thresholds, n_jobs=1)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(here, field), getattr(alone, field), err_msg=field)


_FIRST: dict[tuple[str, bool], object] = {}


@pytest.mark.parametrize("equal_weights", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_curve_is_the_loss_of_held_out_rows_under_the_trees_of_their_fold(loss, equal_weights):
    data = example(loss)
    if equal_weights:
        data["weight"] = np.full(len(data["y"]), 2.0)
    trees = boost(**data)
    assert trees.rounds == np.argmin(trees.curve)
    n_folds, n_outputs, n_rows = data["offset"].shape
    score = data["offset"] + predictions(trees, data["bins"], n_folds, n_outputs)
    held_out = score[:, data["fold_of_row"], :, np.arange(n_rows)]  # rows, rounds, outputs
    for step in range(trees.rounds + 1):
        each = row_loss(loss, data["y"], held_out[:, step].T)
        expected = np.average(each, weights=data["weight"])
        np.testing.assert_allclose(trees.curve[step], expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_first_split_is_the_best_of_all(loss):
    """Every column, threshold and side of missing values is tried by brute force."""
    data = example(loss, n_folds=2)
    l2, least = 0.7, 4.0
    trees = boost(
        **{**data, "max_rounds": 1}, l2=l2, least=least,
        random_thresholds=False, max_leaves=2, max_depth=1,
    )  # fmt: skip
    assert trees.rounds == 1
    n_outputs = data["offset"].shape[1]
    for fold in range(2):
        kept = data["fold_of_row"] != fold
        g, h = derivatives(loss, data["y"], data["offset"][fold])
        g, h = (g * data["weight"])[kept], (h * data["weight"])[kept]
        best = (0.0, -1, -1, False, 0.0, 0.0)
        for column, bins in enumerate(data["bins"][:, kept]):
            for last in range(1, 13):
                for missing_left in (False, True):
                    left = np.where(bins == 0, missing_left, bins <= last)
                    sides = [(g[s].sum(), h[s].sum()) for s in (left, ~left)]
                    if min(side[1] for side in sides) < least:
                        continue
                    gain = sum(a**2 / (b + l2) for a, b in sides) - g.sum() ** 2 / (h.sum() + l2)
                    values = [np.clip(a / (b + l2), *_bounds(loss)) for a, b in sides]
                    if gain > best[0] * (1 + 1e-6):
                        best = (gain, column, last, missing_left, *values)
        root = trees.roots[fold * n_outputs]
        assert (trees.feature[root], trees.last[root]) == best[1:3]
        if (data["bins"][best[1], kept] == 0).any():
            assert trees.missing_left[root] == best[3]
        children = [trees.left[root], trees.right[root]]
        np.testing.assert_allclose(trees.value[children], np.multiply(0.1, best[4:]), rtol=1e-4)
        np.testing.assert_allclose(trees.cover[root], h.sum(), rtol=1e-5)


def _bounds(loss):
    return (-2, 2) if loss in ("poisson", "gamma") else (-np.inf, np.inf)


@pytest.mark.parametrize("random_thresholds", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_whole_weights_equal_repeated_rows(loss, random_thresholds):
    data = example(loss)
    weight = data["weight"].astype(int)
    once = boost(**data, random_thresholds=random_thresholds)
    repeated = {
        **data,
        "bins": np.repeat(data["bins"], weight, axis=1),
        "y": np.repeat(data["y"], weight),
        "weight": np.ones(weight.sum()),
        "fold_of_row": np.repeat(data["fold_of_row"], weight),
        "offset": np.repeat(data["offset"], weight, axis=2),
    }
    again = boost(**repeated, random_thresholds=random_thresholds)
    np.testing.assert_allclose(once.curve, again.curve, rtol=1e-4)
    np.testing.assert_array_equal(once.feature[:20], again.feature[:20])


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize(
    "shape", [{"order": 2}, {"order": 3, "max_leaves": 8, "max_depth": 3}, {"max_leaves": 8}]
)
@pytest.mark.parametrize("random_thresholds", [True, False])
@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_no_tree_goes_against_its_direction(loss, shape, direction, random_thresholds):
    """The target falls and rises against the direction; the other column is free."""
    rng = np.random.default_rng(1)
    n_rows = 600
    bins = rng.integers(1, 13, (3, n_rows)).astype(np.uint8)
    bins[0, :50] = 0
    wild = 2 + np.sin(bins[0] / 1.5) + (bins[1] > 6) * np.cos(bins[0] / 2.0) + 0.1 * bins[2]
    trees = boost(
        bins, np.full(3, 12, np.int32), wild, loss=loss, fold_of_row=np.arange(n_rows) % 2,
        offset=np.zeros((2, 1, n_rows)), monotone=(direction, 0, direction), least=2.0,
        learning_rate=0.3, max_rounds=60, max_depth=shape.get("max_depth", shape.get("order", 7)),
        random_thresholds=random_thresholds, **{k: v for k, v in shape.items() if k != "max_depth"},
    )  # fmt: skip
    assert set(trees.feature[trees.feature >= 0]) == {0, 1, 2}
    grid = np.stack(np.meshgrid(*[np.arange(1, 13)] * 3, indexing="ij")).reshape(3, -1)
    each = np.diff(predictions(trees, grid.astype(np.uint8), 2, 1), axis=0)
    cubes = each.reshape(-1, 12, 12, 12)
    assert np.ptp(cubes) > 0
    for axis in (1, 3):
        assert (direction * np.diff(cubes, axis=axis) >= 0).all()


def paths(trees):
    """Yield the columns on the way to each leaf."""

    def below(node, columns):
        if trees.feature[node] < 0:
            yield columns
        else:
            further = columns | {int(trees.feature[node])}
            yield from below(trees.left[node], further)
            yield from below(trees.right[node], further)

    for root in trees.roots:
        yield from below(root, frozenset())


@pytest.mark.parametrize("random_thresholds", [True, False])
def test_paths_keep_to_the_pairs_allowed(random_thresholds):
    data = example("squared")
    pairs = np.zeros((5, 5), bool)
    for a, b in ((0, 1), (2, 3)):
        pairs[a, b] = pairs[b, a] = True
    trees = boost(
        **data, pairs=pairs, max_leaves=8, max_depth=8, random_thresholds=random_thresholds
    )
    seen = set(paths(trees))
    allowed = {frozenset(s) for s in ((), (0,), (1,), (2,), (3,), (4,), (0, 1), (2, 3))}
    assert frozenset((0, 1)) in seen
    assert seen <= allowed


@pytest.mark.parametrize("order", [1, 2, 3])
def test_paths_have_as_many_columns_as_the_order_allows(order):
    data = {**example("squared"), "max_rounds": 60, "patience": 60}
    trees = boost(**data, order=order, max_leaves=8, max_depth=3, least=1.0)
    assert max(map(len, paths(trees))) == order


@pytest.mark.parametrize("random_thresholds", [True, False])
def test_missing_values_go_where_they_lower_the_loss(random_thresholds):
    n_rows = 200
    bins = np.tile(np.array([0, 1, 2, 3], np.uint8), n_rows // 4)[None, :]
    for alike, y in (("low", [0, 0, 5, 5]), ("high", [5, 0, 5, 5]), ("none", [9, 0, 0, 0])):
        trees = boost(
            bins, np.array([3], np.int32), np.tile(np.array(y, float), n_rows // 4),
            fold_of_row=np.arange(n_rows) // 100, offset=np.full((2, 1, n_rows), 3.0),
            learning_rate=0.5, max_rounds=60, random_thresholds=random_thresholds,
        )  # fmt: skip
        assert trees.curve[-1] < 0.01, alike


def test_categories_are_split_in_the_order_of_their_fold():
    """Levels 2 and 4 are high: neighbours in the order given, apart in the codes."""
    levels = np.array([1, 2, 3, 4], np.uint8)
    bins = np.tile(levels, 50)[None, :]
    y = np.tile([0.0, 1.0, 0.0, 1.0], 50)
    orders = np.zeros((2, 1, 1, 256), np.uint8)
    orders[:, 0, 0, 1:5] = [1, 3, 2, 4]
    trees = boost(
        bins, np.array([4], np.int32), y, fold_of_row=np.arange(200) // 100,
        offset=np.full((2, 1, 200), 0.5), categories=(0,), orders=orders,
        random_thresholds=False, max_rounds=1, max_leaves=2, max_depth=1,
    )  # fmt: skip
    np.testing.assert_array_equal(trees.last[trees.roots], [2, 2])


def test_rows_that_do_not_match_are_refused():
    data = example("squared")
    with pytest.raises(ValueError, match="shapes of rows"):
        boost(**{**data, "y": data["y"][:-1]})
    with pytest.raises(ValueError, match="no such fold"):
        boost(**{**data, "fold_of_row": data["fold_of_row"] + 1})
    classes = example("softmax")
    with pytest.raises(ValueError, match="no such class"):
        boost(**{**classes, "y": classes["y"] + 5})
