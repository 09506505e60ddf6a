import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from clearwood import InputError
from clearwood.benchmark._intervals import (
    corrected_interval,
    holdout_interval,
    naive_interval,
    origin_interval,
)
from clearwood.benchmark._nested_interval import nested_interval
from clearwood.benchmark._plans import KFold, pair_splits

Z90 = stats.norm.ppf(0.95)


def mean_model_losses(y, train, test):
    """Squared losses of the training mean."""
    return (y[test] - y[train].mean()) ** 2


def nested_parts(y, k=5, repeats=3, seed=0, losses=mean_model_losses):
    """The losses that the nested interval takes, by fitting for every fold and pair."""
    outer, pairs, rows = [], [], []
    splits = KFold(k, repeats).splits(len(y), seed=seed)
    for repeat in range(repeats):
        folds = [split for split in splits if split.repeat == repeat]
        outer.append([losses(y, split.train, split.test) for split in folds])
        rows.append([split.test for split in folds])
        by_pair = {}
        for pair in pair_splits(folds):
            by_pair[pair.j, pair.k] = losses(y, pair.train, pair.test_j)
            by_pair[pair.k, pair.j] = losses(y, pair.train, pair.test_k)
        pairs.append(by_pair)
    return outer, pairs, rows


def test_naive_is_the_textbook_interval_of_a_mean():
    losses = np.random.default_rng(0).exponential(size=50)
    found = naive_interval(losses, confidence=0.9)
    se = losses.std(ddof=1) / np.sqrt(50)
    assert found.estimate == pytest.approx(losses.mean())
    assert found.se == pytest.approx(se)
    assert (found.low, found.high) == pytest.approx(
        (losses.mean() - Z90 * se, losses.mean() + Z90 * se)
    )
    assert (found.kind, found.n, found.inflation, found.bias) == ("naive", 50, 1.0, 0.0)


def test_hold_out_of_zero_one_losses_is_the_binomial_interval():
    found = holdout_interval(np.repeat([0.0, 1.0], [70, 30]))
    assert found.estimate == pytest.approx(0.3)
    assert found.se == pytest.approx(np.sqrt(0.3 * 0.7 / 99))
    assert found.kind == "hold-out"


def test_whole_weights_give_the_mean_of_repeated_rows():
    losses, weights = np.array([1.0, 4.0, 2.0, 8.0]), np.array([1, 2, 3, 1])
    weighted = naive_interval(losses, weights)
    assert weighted.estimate == pytest.approx(np.repeat(losses, weights).mean())


def test_weights_all_alike_change_nothing():
    losses = np.random.default_rng(1).normal(size=30)
    one, other = naive_interval(losses), naive_interval(losses, np.full(30, 7.0))
    assert (one.estimate, one.se) == pytest.approx((other.estimate, other.se))


def test_rows_copied_within_groups_bring_no_certainty():
    losses = np.random.default_rng(2).normal(size=40)
    copied = naive_interval(np.repeat(losses, 5), groups=np.repeat(np.arange(40), 5))
    assert copied.se == pytest.approx(naive_interval(losses).se)
    assert copied.n == 40


def test_few_groups_get_students_quantile():
    found = naive_interval(np.arange(8.0), groups=np.repeat([0, 1, 2, 3], 2))
    assert (found.high - found.estimate) / found.se == pytest.approx(stats.t.ppf(0.95, 3))


def test_group_robust_interval_covers_where_the_rowwise_one_does_not():
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(30), 10)
    rowwise = robust = 0
    for _ in range(400):
        losses = 1.0 + rng.normal(size=30)[groups] + rng.normal(size=300)
        rowwise += abs(naive_interval(losses).estimate - 1.0) < Z90 * naive_interval(losses).se
        found = naive_interval(losses, groups=groups)
        robust += found.low < 1.0 < found.high
    assert 0.86 < robust / 400 < 0.94
    assert rowwise / 400 < 0.6


def test_corrected_interval_is_wider_by_the_share_of_rows_that_is_tested():
    losses = [np.full(10, mean) for mean in (1.0, 2.0, 4.0)]
    found = corrected_interval(losses, [40, 40, 40])
    between = np.var([1.0, 2.0, 4.0], ddof=1)
    assert found.se == pytest.approx(np.sqrt((1 / 3 + 10 / 40) * between))
    assert found.inflation == pytest.approx(np.sqrt(1 + 3 / 4))


def test_spans_of_time_are_the_observations():
    found = origin_interval([[1.0, 1.0], [3.0, 3.0], [5.0, 5.0]])
    assert (found.estimate, found.n, found.kind) == (pytest.approx(3.0), 3, "per-origin")
    assert found.se == pytest.approx(2.0 / np.sqrt(3))


def test_nested_estimate_and_width_follow_their_formulas():
    # row by row and fold by fold, as the page on intervals writes them
    y = np.random.default_rng(4).normal(size=47) ** 3
    k, repeats, n = 5, 4, 47
    outer, pairs, rows = nested_parts(y, k, repeats)
    found = nested_interval(outer, pairs, rows=rows)

    def squared_error(outer, insides):
        gaps, noises, naive = [], [], []
        for folds, inside in zip(outer, insides, strict=True):
            for e_out, e_in in zip(folds, inside, strict=True):
                gaps.append(e_in.mean() - e_out.mean())
                noises.append(e_out.var(ddof=1) / len(e_out))
                naive.append(e_in.var(ddof=1) / len(e_in))
        return np.var(gaps) - np.mean(noises), np.mean(naive)

    losses, inside_of_row = np.zeros(n), np.zeros(n)
    for repeat in range(repeats):
        for fold in range(k):
            losses[rows[repeat][fold]] += outer[repeat][fold] / repeats
            for other in set(range(k)) - {fold}:
                share = pairs[repeat][fold, other] / repeats / (k - 1)
                inside_of_row[rows[repeat][fold]] += share
    insides = [
        [np.concatenate([by_pair[j, i] for j in range(k) if j != i]) for i in range(k)]
        for by_pair in pairs
    ]
    unmoved = [[losses[part] for part in folds] for folds in rows]
    unmoved_insides = [
        [np.concatenate([folds[j] for j in range(k) if j != i]) for i in range(k)]
        for folds in unmoved
    ]
    mse, naive_inside = squared_error(outer, insides)
    accident, naive_unmoved = squared_error(unmoved, unmoved_insides)
    whole = [np.concatenate(folds) for folds in outer]
    naive_outer = np.mean([part.var(ddof=1) / n for part in whole])
    removed = np.var([part.mean() for part in whole], ddof=1) * (1 - 1 / repeats)
    error = (mse - accident + naive_unmoved) / naive_inside * naive_outer - removed
    naive = losses.var(ddof=1) / n
    corrected = losses - (k - 2) / k * (inside_of_row - losses)
    ratio = min(max(error / naive, 1), k)
    se = np.sqrt(ratio * max(naive, corrected.var(ddof=1) / n))

    bias = (1 + (k - 2) / k) * (inside_of_row.mean() - losses.mean())
    assert found.estimate == pytest.approx(inside_of_row.mean() - bias)
    assert found.bias == pytest.approx(bias)
    assert found.se == pytest.approx(se)
    assert found.inflation == pytest.approx(se / np.sqrt(naive))
    assert found.high - found.estimate == pytest.approx(Z90 * se)
    assert (found.kind, found.n) == ("nested", 47)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(3, 6), repeats=st.integers(1, 3))
def test_losses_that_do_not_depend_on_the_fit_have_the_naive_interval(seed, k, repeats):
    y = np.random.default_rng(seed).exponential(size=37)
    outer, pairs, rows = nested_parts(y, k, repeats, seed, losses=lambda y, _, test: y[test])
    found, naive = nested_interval(outer, pairs, rows=rows), naive_interval(y)
    assert (found.estimate, found.se) == pytest.approx((naive.estimate, naive.se))


def test_losses_that_all_change_with_the_fit_have_a_wider_interval():
    # one number for all rows of a fold, drawn for each fit: K observations, not n
    rng = np.random.default_rng(11)
    outer, pairs, rows = nested_parts(
        np.zeros(200),
        5,
        10,
        losses=lambda _, __, test: rng.normal() + 1e-3 * rng.normal(size=len(test)),
    )
    assert nested_interval(outer, pairs, rows=rows).inflation > 1.3


def test_bias_correction_is_exact_where_risk_falls_as_one_over_rows():
    # the training mean has risk variance x (1 + 1 / rows)
    k, n, rows = 5, 100, 20
    outer = [[np.full(rows, 1 + 1 / 80) + [1e-9, -1e-9] * 10 for _ in range(k)]]
    inner = np.full(rows, 1 + 1 / 60)
    pairs = [{(j, i): inner for j in range(k) for i in range(k) if i != j}]
    assert nested_interval(outer, pairs).estimate == pytest.approx(1 + 1 / n, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(3, 8), scale=st.floats(0.1, 100.0))
def test_nested_standard_error_is_no_less_than_the_naive_one_and_scales(seed, k, scale):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=40)
    outer, pairs, _ = nested_parts(y, k, 1, seed)
    found = nested_interval(outer, pairs)
    assert found.inflation >= 1 - 1e-9
    scaled = nested_interval(
        [[scale * part for part in folds] for folds in outer],
        [{key: scale * part for key, part in by_pair.items()} for by_pair in pairs],
    )
    assert scaled.low == pytest.approx(scale * found.low)
    assert scaled.inflation == pytest.approx(found.inflation)


def test_nested_difference_of_a_learner_to_itself_is_exactly_zero():
    outer, pairs, rows = nested_parts(np.random.default_rng(5).normal(size=30))
    zero = nested_interval(
        [[part - part for part in folds] for folds in outer],
        [{key: part - part for key, part in by_pair.items()} for by_pair in pairs],
        rows=rows,
    )
    assert (zero.estimate, zero.se, zero.inflation) == (0.0, 0.0, 1.0)


def test_nested_with_groups_of_copies_is_nested_on_the_originals():
    outer, pairs, rows = nested_parts(np.random.default_rng(6).normal(size=40))
    plain = nested_interval(outer, pairs, rows=rows)
    groups = [[np.repeat(part, 3) for part in folds] for folds in rows]
    copied = nested_interval(
        [[np.repeat(part, 3) for part in folds] for folds in outer],
        [{key: np.repeat(part, 3) for key, part in by_pair.items()} for by_pair in pairs],
        groups=groups,
    )
    assert (copied.estimate, copied.se) == pytest.approx((plain.estimate, plain.se))
    assert copied.n == plain.n


def test_nested_with_equal_weights_is_nested_without():
    outer, pairs, rows = nested_parts(np.random.default_rng(7).normal(size=40))
    plain = nested_interval(outer, pairs, rows=rows)
    weights = [[np.full(len(part), 2.5) for part in folds] for folds in outer]
    weighted = nested_interval(outer, pairs, rows=rows, weights=weights)
    assert (weighted.estimate, weighted.se) == pytest.approx((plain.estimate, plain.se))


def test_the_order_of_rows_within_a_fold_does_not_matter():
    outer, pairs, rows = nested_parts(np.random.default_rng(9).normal(size=40) ** 2, repeats=2)
    turned = nested_interval(
        [[part[::-1] for part in folds] for folds in outer],
        [{key: part[::-1] for key, part in by_pair.items()} for by_pair in pairs],
        rows=[[part[::-1] for part in folds] for folds in rows],
    )
    plain = nested_interval(outer, pairs, rows=rows)
    assert (turned.estimate, turned.se) == pytest.approx((plain.estimate, plain.se))


def test_repeats_without_the_rows_they_are_about_are_refused():
    outer, pairs, _ = nested_parts(np.random.default_rng(10).normal(size=30))
    with pytest.raises(InputError, match=r"which row is which.*rows="):
        nested_interval(outer, pairs)


def test_repeats_of_different_rows_are_refused():
    outer, pairs, rows = nested_parts(np.random.default_rng(10).normal(size=30), repeats=2)
    rows[1] = [part + 1 for part in rows[1]]
    with pytest.raises(InputError, match="same rows"):
        nested_interval(outer, pairs, rows=rows)


def test_a_missing_pair_is_refused():
    outer, pairs, rows = nested_parts(np.random.default_rng(8).normal(size=30))
    del pairs[1][2, 0]
    with pytest.raises(InputError, match="repeat 1 lacks losses"):
        nested_interval(outer, pairs, rows=rows)


def test_folds_of_one_row_are_refused():
    outer, pairs, _ = nested_parts(np.arange(4.0), k=4, repeats=1)
    with pytest.raises(InputError, match="two rows"):
        nested_interval(outer, pairs)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 90, -0.5])
def test_levels_outside_zero_to_one_are_refused(confidence):
    with pytest.raises(InputError, match="confidence is"):
        naive_interval([1.0, 2.0], confidence=confidence)


def test_a_single_row_has_an_estimate_and_no_interval():
    found = holdout_interval([2.0])
    assert found.estimate == 2.0
    assert np.isnan([found.se, found.low, found.high]).all()
    assert found.to_json()["se"] is None


def test_every_kind_says_what_it_is_about():
    kinds = {
        naive_interval([1.0, 2.0]).target,
        holdout_interval([1.0, 2.0]).target,
        corrected_interval([[1.0], [2.0]], [3, 3]).target,
        origin_interval([[1.0], [2.0]]).target,
        nested_interval(*nested_parts(np.arange(9.0), k=3, repeats=1)[:2]).target,
    }
    assert len(kinds) == 5


# Hiabu (2024), Examples 7 and 8: y = (1, 1, 1, 0), one algorithm always says 0, the other the mean
# of the training rows; squared loss.
Y = np.array([1.0, 1.0, 1.0, 0.0])


def zero_losses(y, train, test):
    return y[test] ** 2


def test_example_7_a_single_split_can_rank_the_worse_algorithm_first():
    splits = KFold(4).splits(4)
    zero = {int(s.test[0]): zero_losses(Y, s.train, s.test).mean() for s in splits}
    mean = {int(s.test[0]): mean_model_losses(Y, s.train, s.test).mean() for s in splits}
    assert zero == pytest.approx({0: 1, 1: 1, 2: 1, 3: 0})
    assert mean == pytest.approx({0: 1 / 9, 1: 1 / 9, 2: 1 / 9, 3: 1})
    unlucky = 3
    assert zero[unlucky] < mean[unlucky]


def test_example_8_cross_validation_ranks_them_right():
    splits = KFold(4).splits(4)
    zero = naive_interval(np.concatenate([zero_losses(Y, s.train, s.test) for s in splits]))
    mean = naive_interval(np.concatenate([mean_model_losses(Y, s.train, s.test) for s in splits]))
    assert zero.estimate == pytest.approx(3 / 4)
    assert mean.estimate == pytest.approx(1 / 3)
