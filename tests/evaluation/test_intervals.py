import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from clearwood import InputError
from clearwood.benchmarking import nested_interval
from clearwood.evaluation import (
    corrected_interval,
    holdout_interval,
    naive_interval,
    origin_interval,
)
from clearwood.resampling import KFold, pair_splits

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
    result = naive_interval(losses, confidence=0.9)
    se = losses.std(ddof=1) / np.sqrt(50)
    assert result.estimate == pytest.approx(losses.mean())
    assert result.se == pytest.approx(se)
    assert (result.low, result.high) == pytest.approx(
        (losses.mean() - Z90 * se, losses.mean() + Z90 * se)
    )
    assert (result.kind, result.n, result.inflation, result.bias) == ("naive", 50, 1.0, 0.0)


def test_hold_out_of_zero_one_losses_is_the_binomial_interval():
    result = holdout_interval(np.repeat([0.0, 1.0], [70, 30]))
    assert result.estimate == pytest.approx(0.3)
    assert result.se == pytest.approx(np.sqrt(0.3 * 0.7 / 99))
    assert result.kind == "hold-out"


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
    result = naive_interval(np.arange(8.0), groups=np.repeat([0, 1, 2, 3], 2))
    assert (result.high - result.estimate) / result.se == pytest.approx(stats.t.ppf(0.95, 3))


def test_group_robust_interval_covers_where_the_rowwise_one_does_not():
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(30), 10)
    rowwise = robust = 0
    for _ in range(400):
        losses = 1.0 + rng.normal(size=30)[groups] + rng.normal(size=300)
        rowwise += abs(naive_interval(losses).estimate - 1.0) < Z90 * naive_interval(losses).se
        result = naive_interval(losses, groups=groups)
        robust += result.low < 1.0 < result.high
    assert 0.86 < robust / 400 < 0.94
    assert rowwise / 400 < 0.6


def test_corrected_interval_is_wider_by_the_share_of_rows_that_is_tested():
    losses = [np.full(10, mean) for mean in (1.0, 2.0, 4.0)]
    result = corrected_interval(losses, [40, 40, 40])
    between = np.var([1.0, 2.0, 4.0], ddof=1)
    assert result.se == pytest.approx(np.sqrt((1 / 3 + 10 / 40) * between))
    assert result.inflation == pytest.approx(np.sqrt(1 + 3 / 4))


def test_spans_of_time_are_the_observations():
    result = origin_interval([[1.0, 1.0], [3.0, 3.0], [5.0, 5.0]])
    assert (result.estimate, result.n, result.kind) == (pytest.approx(3.0), 3, "per-origin")
    assert result.se == pytest.approx(2.0 / np.sqrt(3))


def test_nested_estimate_and_width_follow_their_formulas():
    # row by row and fold by fold, as the page on intervals writes them
    y = np.random.default_rng(4).normal(size=47) ** 3
    k, repeats, n = 5, 4, 47
    outer, pairs, rows = nested_parts(y, k, repeats)
    result = nested_interval(outer, pairs, rows=rows)

    losses, inside_of_row = np.zeros(n), np.zeros(n)
    shared, naive_inside = [], []
    for repeat, by_pair in enumerate(pairs):
        did = np.zeros((k, k))
        for fold in range(k):
            others = [other for other in range(k) if other != fold]
            without_two = np.mean([by_pair[fold, other] for other in others], axis=0)
            losses[rows[repeat][fold]] += outer[repeat][fold] / repeats
            inside_of_row[rows[repeat][fold]] += without_two / repeats
            for other in others:
                did[fold, other] = (by_pair[fold, other] - without_two).sum()
            together = np.concatenate([by_pair[other, fold] for other in others])
            naive_inside.append(together.var(ddof=1) / len(together))
        shared.append(sum(did[i, j] * did[j, i] for i in range(k) for j in range(k)) / n**2)
    corrected = losses - (k - 2) / k * (inside_of_row - losses)
    share = np.mean(shared) / np.mean(naive_inside)
    assert 0 < share < k - 1
    se = np.sqrt((1 + share) * corrected.var(ddof=1) / n)
    degrees = min(2 * n / (stats.kurtosis(corrected, fisher=False) - 1), n - 1)
    naive = losses.var(ddof=1) / n

    bias = (1 + (k - 2) / k) * (inside_of_row.mean() - losses.mean())
    assert result.estimate == pytest.approx(inside_of_row.mean() - bias)
    assert result.bias == pytest.approx(bias)
    assert result.se == pytest.approx(se)
    assert result.inflation == pytest.approx(se / np.sqrt(naive))
    assert result.high - result.estimate == pytest.approx(stats.t.ppf(0.95, degrees) * se)
    assert (result.kind, result.n) == ("nested", 47)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(3, 6), repeats=st.integers(1, 3))
def test_losses_that_do_not_depend_on_the_fit_have_the_naive_interval(seed, k, repeats):
    y = np.random.default_rng(seed).exponential(size=37)
    outer, pairs, rows = nested_parts(y, k, repeats, seed, losses=lambda y, _, test: y[test])
    result, naive = nested_interval(outer, pairs, rows=rows), naive_interval(y)
    assert (result.estimate, result.se) == pytest.approx((naive.estimate, naive.se))


def test_fits_that_come_out_better_or_worse_by_chance_have_a_wider_interval():
    # one number for all rows, drawn for each fit: what the fit to all rows will draw is unknown
    rng = np.random.default_rng(11)
    luck = {}

    def losses(_, train, test):
        of_fit = luck.setdefault(train.tobytes(), rng.normal())
        return of_fit + rng.normal(size=len(test))

    outer, pairs, rows = nested_parts(np.zeros(200), 5, 10, losses=losses)
    wide = nested_interval(outer, pairs, rows=rows)
    # the standard deviation of the luck is 1; from the rows alone it would be about 0.1
    assert wide.inflation > 1.5


def test_shares_of_covariance_below_zero_count_as_none():
    # what two folds do to each other has opposite signs
    outer = [[np.arange(8.0) - 3.5 for _ in range(4)]]
    pairs = [
        {
            (j, k): outer[0][j] + (0.5 if j < k else -0.5)
            for j in range(4)
            for k in range(4)
            if j != k
        }
    ]
    result = nested_interval(outer, pairs)
    per_row = np.concatenate(outer[0])
    inside = np.concatenate(
        [np.mean([pairs[0][j, k] for k in range(4) if k != j], 0) for j in range(4)]
    )
    corrected = per_row - (inside - per_row) / 2
    assert result.se == pytest.approx(naive_interval(corrected).se)


def test_few_rows_that_make_most_of_the_variance_get_students_quantile():
    losses = np.zeros(40)
    losses[:3] = 1.0
    outer, pairs, _ = nested_parts(losses, 4, 1, losses=lambda y, _, test: y[test])
    result = nested_interval(outer, pairs)
    # 37 squares of 0.075 and three of 0.925
    squares = np.repeat([0.075, 0.925], [37, 3]) ** 2
    degrees = 2 * squares.sum() ** 2 / ((squares - squares.mean()) ** 2).sum()
    assert degrees < 8
    assert (result.high - result.estimate) / result.se == pytest.approx(stats.t.ppf(0.95, degrees))


def test_bias_correction_is_exact_where_risk_falls_as_one_over_rows():
    # the training mean has risk variance x (1 + 1 / rows)
    k, n, rows = 5, 100, 20
    outer = [[np.full(rows, 1 + 1 / 80) + [1e-9, -1e-9] * 10 for _ in range(k)]]
    inner = np.full(rows, 1 + 1 / 60)
    pairs = [{(j, i): inner for j in range(k) for i in range(k) if i != j}]
    assert nested_interval(outer, pairs).estimate == pytest.approx(1 + 1 / n, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(3, 8), scale=st.floats(0.1, 100.0))
def test_nested_interval_scales_with_the_losses_and_is_bounded_by_identical_folds(seed, k, scale):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=40)
    outer, pairs, rows = nested_parts(y, k, 1, seed)
    result = nested_interval(outer, pairs)
    scaled = nested_interval(
        [[scale * part for part in folds] for folds in outer],
        [{key: scale * part for key, part in by_pair.items()} for by_pair in pairs],
    )
    assert scaled.low == pytest.approx(scale * result.low)
    assert scaled.inflation == pytest.approx(result.inflation)
    corrected = np.empty(40)
    for j in range(k):
        inside = np.mean([pairs[0][j, i] for i in range(k) if i != j], axis=0)
        corrected[rows[0][j]] = outer[0][j] - (k - 2) / k * (inside - outer[0][j])
    naive = naive_interval(corrected).se
    assert naive * (1 - 1e-9) <= result.se <= np.sqrt(k) * naive * (1 + 1e-9)


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
    with pytest.raises(InputError, match=r"the row of each loss.*pass rows"):
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
    with pytest.raises(InputError, match="confidence="):
        naive_interval([1.0, 2.0], confidence=confidence)


def test_a_single_row_has_an_estimate_and_no_interval():
    result = holdout_interval([2.0])
    assert result.estimate == 2.0
    assert np.isnan([result.se, result.low, result.high]).all()
    assert result.to_json()["se"] is None


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


def test_pairs_of_a_cheaper_model_are_compared_with_its_own_losses():
    rng = np.random.default_rng(5)
    losses = rng.exponential(size=100)
    outer = [np.split(losses, 5)]
    more = {(j, k): rng.normal(0.1, 0.05, size=20) for j in range(5) for k in range(5) if j != k}
    pairs = [{(j, k): outer[0][j] + more[j, k] for j, k in more}]
    plain = nested_interval(outer, pairs)
    # the cheaper model has a loss that is larger by three for every row, in all its fits
    dearer = [[part + 3.0 for part in outer[0]]]
    cheap = nested_interval(
        outer, [{key: one + 3.0 for key, one in pairs[0].items()}], reference=dearer
    )
    assert cheap.estimate == pytest.approx(plain.estimate)
    assert cheap.se == pytest.approx(plain.se)
    assert cheap.bias == pytest.approx(plain.bias)
