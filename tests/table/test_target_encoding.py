import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import TargetEncoder

from clearwood import InputError
from clearwood.table import Column, Encoder, Kind, Table
from clearwood.table.encoding.target_encoding import cross_fitted_codes, target_codes


def category(codes, n_levels, name="town"):
    levels = tuple(f"l{i}" for i in range(n_levels))
    return Column(name, Kind.CATEGORY, np.asarray(codes, np.int32), levels)


def encode(codes, n_levels, y, **options):
    table = Table((category(codes, n_levels),))
    encoder = Encoder(categories="target", **options)
    return encoder, encoder.fit_transform(table, y), table


@pytest.mark.parametrize("smooth", [0.0, 10.0])
def test_codes_are_those_of_scikit_learn_less_the_mean(smooth):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 12, 400)
    y = rng.normal(size=400) + codes
    encoder, _, table = encode(codes, 12, y, smooth=smooth)
    theirs = TargetEncoder(smooth=smooth, target_type="continuous").fit(codes[:, None], y)
    expected = theirs.transform(codes[:, None]) - y.mean()
    np.testing.assert_allclose(encoder.transform(table), expected, atol=1e-12)


def test_multiclass_codes_are_those_of_scikit_learn_less_the_class_shares():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 6, 300)
    y = np.array(["ash", "elm", "oak"])[rng.integers(0, 3, 300)]
    encoder, _, table = encode(codes, 6, y)
    theirs = TargetEncoder(smooth=0.0, target_type="multiclass").fit(codes[:, None], y)
    expected = theirs.transform(codes[:, None]) - theirs.target_mean_
    np.testing.assert_allclose(encoder.transform(table), expected, atol=1e-12)
    assert [column.part for column in encoder.columns_] == [
        "target=ash",
        "target=elm",
        "target=oak",
    ]


def test_two_classes_give_one_column_for_the_class_that_sorts_last():
    encoder, _, table = encode([0, 0, 1, 1], 2, np.array(["no", "yes", "yes", "yes"]))
    np.testing.assert_allclose(encoder.transform(table).ravel(), [-0.25, -0.25, 0.25, 0.25])


def test_whole_numbers_are_classes_only_when_the_task_raises_an_error():
    codes, y = [0, 0, 1, 1, 2, 2], np.array([0, 1, 2, 2, 1, 1])
    as_numbers, _, _ = encode(codes, 3, y)
    as_classes, _, _ = encode(codes, 3, y, task="multiclass")
    assert len(as_numbers.columns_) == 1
    assert len(as_classes.columns_) == 3


weights = st.lists(st.integers(1, 4), min_size=6, max_size=30)


@given(weights, st.integers(0, 2**32 - 1))
def test_a_weight_counts_as_that_many_rows(weight, seed):
    rng = np.random.default_rng(seed)
    n = len(weight)
    slots, y = rng.integers(0, 4, n), rng.normal(size=(n, 2))
    weighted = target_codes(slots, 4, y, np.array(weight, float), 1.5)
    repeated = target_codes(np.repeat(slots, weight), 4, np.repeat(y, weight, axis=0), None, 1.5)
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(0, 59))
def test_a_rows_own_target_does_not_enter_its_cross_fitted_code(seed, row):
    rng = np.random.default_rng(seed)
    slots, y, fold = rng.integers(0, 5, 60), rng.normal(size=(60, 1)), rng.integers(0, 4, 60)
    before = cross_fitted_codes(slots, 5, y, None, 0.0, fold)
    y[row] += 1000.0
    after = cross_fitted_codes(slots, 5, y, None, 0.0, fold)
    same_fold = fold == fold[row]
    np.testing.assert_array_equal(before[same_fold], after[same_fold])


def test_a_level_with_one_row_is_the_mean_when_cross_fitted_and_its_own_value_afterwards():
    y = np.array([1.0, 2.0, 3.0, 10.0])
    encoder, training, table = encode([0, 0, 0, 1], 2, y)
    assert training[3, 0] == 0.0
    assert encoder.transform(table)[3, 0] == pytest.approx(10.0 - y.mean())


def test_noise_in_a_thousand_levels_teaches_a_linear_model_nothing():
    rng = np.random.default_rng(3)
    codes, y = rng.integers(0, 1000, 5000), rng.normal(size=5000)
    encoder, cross_fitted, table = encode(codes, 1000, y)
    leaking = encoder.transform(table)
    honest = LinearRegression().fit(cross_fitted, y)
    assert LinearRegression().fit(leaking, y).score(leaking, y) > 0.1
    assert honest.score(cross_fitted, y) < 0.01
    assert abs(honest.coef_[0]) < 0.1


def test_a_category_that_matters_is_still_found_after_cross_fitting():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 50, 5000)
    y = rng.normal(size=50)[codes] + rng.normal(size=5000)
    _, cross_fitted, _ = encode(codes, 50, y)
    assert LinearRegression().fit(cross_fitted, y).coef_[0] == pytest.approx(1.0, abs=0.1)


def test_folds_follow_the_seed():
    rng = np.random.default_rng(5)
    codes, y = rng.integers(0, 5, 100), rng.normal(size=100)
    first, again, other = (encode(codes, 5, y, seed=s)[1] for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_missing_has_a_mean_of_its_own_and_unseen_levels_get_zero():
    encoder, _, _ = encode([0, 0, -1, -1], 1, np.array([1.0, 1.0, 5.0, 5.0]))
    new = Table((category([0, -1, 1], 2),))
    np.testing.assert_allclose(encoder.transform(new).ravel(), [-2.0, 2.0, 0.0])


def test_target_encoding_without_a_target_is_refused():
    with pytest.raises(InputError, match=r"needs the target.*fit\(table, y\)"):
        Encoder(categories="target").fit(Table((category([0, 1], 2),)))


def test_a_target_of_another_length_is_refused():
    with pytest.raises(InputError, match="the target has 3 values for 2 rows"):
        Encoder(categories="target").fit(Table((category([0, 1], 2),)), [1.0, 2.0, 3.0])
