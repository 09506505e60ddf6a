import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood import InputError
from clearwood.resampling import (
    Bootstrap,
    HoldOut,
    KFold,
    LeaveOneOut,
    MonteCarlo,
    TimeOrdered,
    default_plan,
    pair_splits,
    splits_of,
)

RANDOM = [HoldOut(0.3), KFold(3, 2), LeaveOneOut(), MonteCarlo(4, 0.3), Bootstrap(4)]
ALL = [*RANDOM, TimeOrdered(3)]
names = pytest.mark.parametrize("plan", ALL, ids=lambda plan: type(plan).__name__)
random_names = pytest.mark.parametrize("plan", RANDOM, ids=lambda plan: type(plan).__name__)


def options(plan, n):
    return {"times": np.arange(n)} if isinstance(plan, TimeOrdered) else {}


@names
@settings(max_examples=25, deadline=None)
@given(n=st.integers(4, 40), seed=st.integers(0, 2**32 - 1))
def test_no_row_is_trained_on_and_tested_in_one_split(plan, n, seed):
    for split in plan.splits(n, **options(plan, n), seed=seed):
        assert len(split.train)
        assert len(split.test)
        assert not set(split.train) & set(split.test)
        assert len(set(split.test)) == len(split.test)


@settings(max_examples=40, deadline=None)
@given(
    k=st.integers(2, 6),
    repeats=st.integers(1, 3),
    extra=st.integers(0, 20),
    seed=st.integers(0, 99),
)
def test_every_repeat_of_k_fold_tests_each_row_once(k, repeats, extra, seed):
    n = k + extra
    splits = KFold(k, repeats).splits(n, seed=seed)
    assert len(splits) == k * repeats
    for repeat in range(repeats):
        own = [split for split in splits if split.repeat == repeat]
        assert sorted(np.concatenate([split.test for split in own])) == list(range(n))
        assert [split.fold for split in own] == list(range(k))
        sizes = [len(split.test) for split in own]
        assert max(sizes) - min(sizes) <= 1


@names
def test_the_seed_alone_decides(plan):
    first, again = (plan.splits(30, **options(plan, 30), seed=5) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)


@pytest.mark.parametrize("plan", [KFold(4), MonteCarlo(4), Bootstrap(4), HoldOut()])
def test_another_seed_draws_other_rows(plan):
    one, other = plan.splits(50, seed=1)[0], plan.splits(50, seed=2)[0]
    assert one.test.tolist() != other.test.tolist()


def test_more_repeats_begin_with_the_same_ones():
    few, many = KFold(5, 2).splits(40, seed=3), KFold(5, 4).splits(40, seed=3)
    for one, other in zip(few, many, strict=False):
        np.testing.assert_array_equal(one.test, other.test)


def test_repeats_differ():
    splits = KFold(5, 2).splits(40, seed=3)
    assert splits[0].test.tolist() != splits[5].test.tolist()


def test_classes_are_spread_evenly_over_folds():
    y = np.array(["rare"] * 10 + ["common"] * 90)
    for split in KFold(5).splits(100, y=y):
        assert (y[split.test] == "rare").sum() == 2


def test_hold_out_takes_its_share_of_each_class():
    y = np.repeat(["a", "b"], [20, 80])
    (split,) = HoldOut(0.25).splits(100, y=y)
    assert (y[split.test] == "a").sum() == 5
    assert len(split.test) == 25


def test_bootstrap_draws_as_many_of_each_class_as_there_are():
    y = np.repeat(["a", "b"], [20, 80])
    for split in Bootstrap(5).splits(100, y=y):
        assert (y[split.train] == "a").sum() == 20


def test_bootstrap_leaves_out_about_one_row_in_e():
    left = [len(split.test) / 1000 for split in Bootstrap(30).splits(1000)]
    assert np.mean(left) == pytest.approx(1 / np.e, abs=0.01)


@random_names
def test_rows_of_a_group_stay_on_one_side(plan):
    groups = np.random.default_rng(0).integers(0, 9, 60)
    y = np.arange(60) % 2
    for classes in (None, y):
        for split in plan.splits(60, groups=groups, y=classes):
            assert not set(groups[split.train]) & set(groups[split.test])


def test_leave_one_out_leaves_out_groups_where_there_are_any():
    splits = LeaveOneOut().splits(5, groups=["x", "y", "x", "z", "y"])
    assert [split.test.tolist() for split in splits] == [[0, 2], [1, 4], [3]]


def test_leaving_out_one_of_very_many_raises_an_error_with_an_alternative():
    with pytest.raises(InputError, match=r"takes 20,000 fits.*linear_smoother"):
        LeaveOneOut().splits(20_000)


@settings(max_examples=50, deadline=None)
@given(times=st.lists(st.integers(0, 12), min_size=8, max_size=40), k=st.integers(1, 4))
def test_the_future_is_never_trained_on_and_moments_stay_together(times, k):
    times = np.array(times)
    if len(set(times)) < k + 1:
        with pytest.raises(InputError, match="different times"):
            TimeOrdered(k).splits(len(times), times=times)
        return
    splits = TimeOrdered(k).splits(len(times), times=times)
    assert len(splits) == k
    for split in splits:
        assert times[split.train].max() < times[split.test].min()
        expected = np.isin(times, times[split.test]).sum()
        assert len(split.test) == expected
    assert times[splits[-1].test].max() == times.max()


def test_spans_of_time_have_about_the_same_number_of_rows():
    splits = TimeOrdered(4).splits(100, times=np.arange(100)[::-1])
    assert [len(split.test) for split in splits] == [20, 20, 20, 20]
    assert splits[0].train.tolist() == list(range(80, 100))


def test_groups_in_the_future_are_not_trained_on_in_the_past():
    groups = np.array([0, 1, 2, 3, 0, 4, 5, 6])
    (first, _) = TimeOrdered(2).splits(8, times=np.arange(8), groups=groups)
    assert 0 not in groups[first.train]


def test_hold_out_takes_the_last_rows_where_there_is_time():
    (split,) = HoldOut(0.25).splits(8, times=[8, 7, 6, 5, 4, 3, 2, 1])
    assert split.test.tolist() == [0, 1]


@pytest.mark.parametrize("plan", [KFold(3), LeaveOneOut(), MonteCarlo(), Bootstrap()])
def test_plans_that_would_train_on_the_future_are_refused(plan):
    with pytest.raises(InputError, match=r"come after those it tests on.*time-ordered"):
        plan.splits(10, times=np.arange(10))


def test_fewer_rows_than_folds_are_refused():
    with pytest.raises(InputError, match=r"5-fold cross-validation needs 5 rows or more.*has 3"):
        KFold(5).splits(3)


def test_a_class_with_fewer_members_than_folds_is_refused_by_name():
    with pytest.raises(InputError, match=r"class 'rare' has 2.*fewer folds"):
        KFold(5).splits(22, y=["rare"] * 2 + ["common"] * 20)


def test_fewer_groups_than_folds_are_refused():
    with pytest.raises(InputError, match=r"needs 5 groups or more.*has 3"):
        KFold(5).splits(30, groups=np.arange(30) % 3)


def test_a_class_in_a_single_group_is_refused():
    y = np.array(["a"] * 10 + ["b"] * 20)
    groups = np.repeat(["g1", "g2", "g3"], 10)
    with pytest.raises(InputError, match="class 'a' is in a single group"):
        KFold(3).splits(30, y=y, groups=groups)


def test_stratified_groups_fall_back_to_groups_alone_rather_than_to_empty_folds():
    # one huge group holds nearly everything
    groups = np.array([0] * 50 + [1, 2, 3, 4])
    y = np.array([0, 1] * 25 + [0, 1, 0, 1])
    splits = KFold(5).splits(54, y=y, groups=groups)
    assert all(len(split.test) for split in splits)
    assert sorted(np.concatenate([split.test for split in splits])) == list(range(54))


@pytest.mark.parametrize(
    "values", [np.array([1.0, np.nan, 2.0]), np.array(["a", None, "b"], dtype=object)]
)
def test_rows_without_a_group_are_refused(values):
    with pytest.raises(InputError, match="1 rows have no group"):
        KFold(2).splits(3, groups=values)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KFold(1), "k=1: it must be a whole number of at least 2"),
        (lambda: KFold(2.5), "k=2.5: it must be a whole"),
        (lambda: KFold(True), "k=True: it must be a whole"),
        (lambda: KFold(5, 0), "repeats=0: it must be a whole"),
        (lambda: HoldOut(1.0), "share=1.0: it must lie between 0 and 1"),
        (lambda: MonteCarlo(3, "a"), "share='a': it must lie"),
        (lambda: Bootstrap(0), "repeats=0: it must be a whole"),
        (lambda: TimeOrdered(2).splits(9), "need a column that orders the rows"),
    ],
)
def test_impossible_plans_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_pairs_leave_out_two_folds_and_train_on_all_others():
    folds = KFold(4).splits(21, seed=1)
    pairs = pair_splits(folds)
    assert [(pair.j, pair.k) for pair in pairs] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for pair in pairs:
        everyone = np.concatenate([pair.train, pair.test_j, pair.test_k])
        assert sorted(everyone) == list(range(21))
        np.testing.assert_array_equal(pair.test_j, folds[pair.j].test)
        np.testing.assert_array_equal(pair.test_k, folds[pair.k].test)


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        (KFold(2).splits(10), "3 folds or more"),
        (KFold(3, 2).splits(12), "share no rows"),
        (MonteCarlo(4, 0.25).splits(12), "share no rows"),
        (TimeOrdered(3).splits(12, times=np.arange(12)), "share no rows"),
    ],
)
def test_pairs_need_the_folds_of_one_repeat(splits, message):
    with pytest.raises(InputError, match=message):
        pair_splits(splits)


def roles_table(**roles):
    columns = {
        "x": np.sin(np.arange(24.0)),
        "person": [f"p{i // 3}" for i in range(24)],
        "day": 3 * np.arange(24)[::-1],
        "y": ["no", "yes"] * 12,
    }
    return cw.read(columns, target="y", **roles)


def test_defaults_come_from_the_table():
    plain, ordered = roles_table(), roles_table(time="day")
    assert default_plan(plain, 4, repeats=2) == KFold(4, 2)
    assert default_plan(ordered, 4) == TimeOrdered(4)
    assert default_plan(ordered, HoldOut(0.1)) == HoldOut(0.1)
    for split in splits_of(plain, default_plan(plain, 4)):
        assert (plain.y[split.test] == "yes").sum() == 3
    grouped = roles_table(group="person")
    for split in splits_of(grouped, default_plan(grouped, 4)):
        assert not set(grouped.groups[split.train]) & set(grouped.groups[split.test])
    (last,) = splits_of(ordered, HoldOut(0.25))
    assert last.test.tolist() == list(range(6))


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("10", KFold(10)),
        ("k-fold:3", KFold(3)),
        ("hold-out", HoldOut()),
        ("hold-out:0.3", HoldOut(0.3)),
        ("leave-one-out", LeaveOneOut()),
        ("monte-carlo:7", MonteCarlo(7)),
        ("bootstrap:9", Bootstrap(9)),
        ("time-ordered:2", TimeOrdered(2)),
    ],
)
def test_plans_have_names(text, plan):
    assert default_plan(roles_table(), text) == plan


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("holdout", "no plan 'holdout'.*did you mean 'hold-out'"),
        ("hold-out:x", "'hold-out:x' is not a plan"),
        ("leave-one-out:3", "'leave-one-out:3' is not a plan"),
        ("k-fold:1", "k=1: it must be a whole number of at least 2"),
    ],
)
def test_wrong_names_of_plans_raise_an_error_with_right_ones(text, message):
    with pytest.raises(InputError, match=message):
        default_plan(roles_table(), text)


def test_rows_with_a_missing_group_are_refused_by_the_column():
    table = cw.read(
        {"x": [3, 1, 4, 1, 5, 9], "g": ["a", "a", None, "b", "b", "c"], "y": [2, 7, 1, 8, 2, 8]},
        target="y",
        group="g",
        task="regression",
    )
    with pytest.raises(InputError, match="1 rows have no group: 'g' is missing there"):
        splits_of(table, KFold(2))


def test_a_number_as_target_is_not_stratified():
    table = cw.datasets.load("diabetes")
    assert len(splits_of(table, KFold(5))) == 5


@random_names
def test_identical_rows_stay_on_one_side(plan):
    rng = np.random.default_rng(1)
    person = rng.integers(0, 20, 100)
    data = {"age": rng.normal(size=20)[person], "y": rng.choice(["no", "yes"], 100)}
    table = cw.read(data, target="y", group="identical rows")
    for split in splits_of(table, plan, seed=3):
        assert not set(person[split.train]) & set(person[split.test])
