import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from clearwood import ClearwoodWarning, InputError
from clearwood.table import Column, Encoder, Kind, Role, Schema, Table

NAN = np.nan


def number(values, name="age"):
    return Column(name, Kind.NUMBER, np.asarray(values, float))


def coded(codes, levels, kind=Kind.CATEGORY, name="town"):
    return Column(name, kind, np.asarray(codes, np.int32), tuple(levels))


def dates(values, name="start"):
    return Column(name, Kind.DATE, np.array(values, "datetime64[us]"))


def names(encoder):
    return list(encoder.get_feature_names_out())


@st.composite
def tables(draw):
    """A table with a column of each kind, some values missing."""
    n = draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = draw(st.sampled_from([0.0, 0.3]))

    def gaps(values, gap):
        values = np.array(values)
        values[rng.random(n) < missing] = gap
        return values

    day = np.datetime64("2019-06-01", "us") + rng.integers(0, 900, n) * np.timedelta64(1, "D")
    return Table(
        (
            number(gaps(rng.normal(40, 10, n), NAN)),
            Column("power", Kind.WHOLE, gaps(rng.integers(0, 9, n).astype(float), NAN)),
            coded(gaps(rng.integers(0, 2, n), -1), ("no", "yes"), Kind.YES_NO, "garage"),
            coded(gaps(rng.integers(0, 4, n), -1), "abcde"),
            coded(gaps(rng.integers(0, 3, n), -1), ("S", "M", "L"), Kind.ORDERED, "size"),
            dates(gaps(day, np.datetime64("NaT"))),
            Column("y", Kind.NUMBER, rng.normal(size=n)),
        ),
        {"garage": Role.PROTECTED, "y": Role.TARGET},
    )


options = st.fixed_dictionaries(
    {
        "categories": st.sampled_from(["onehot", "ordinal", "native", "target"]),
        "missing": st.sampled_from(["impute", "native"]),
        "scale": st.booleans(),
        "reference": st.booleans(),
    }
)


@given(tables(), options)
def test_a_row_is_encoded_the_same_whatever_rows_stand_beside_it(table, how):
    encoder = Encoder(**how).fit(table, table.y)
    together = encoder.transform(table)
    alone = np.vstack([encoder.transform(table.take([i])) for i in range(table.n_rows)])
    np.testing.assert_array_equal(together, alone)


@given(tables(), options, st.randoms(use_true_random=False))
def test_shuffling_rows_shuffles_the_matrix(table, how, random):
    order = list(range(table.n_rows))
    random.shuffle(order)
    encoder = Encoder(**how).fit(table, table.y)
    np.testing.assert_array_equal(
        encoder.transform(table.take(order)), encoder.transform(table)[order]
    )


@given(tables(), options)
def test_learning_does_not_depend_on_the_order_of_rows(table, how):
    assume(how["categories"] != "target" or not how["scale"])  # folds are drawn by position
    backwards = table.take(np.arange(table.n_rows)[::-1])
    one = Encoder(**how).fit(table, table.y)
    other = Encoder(**how).fit(backwards, backwards.y)
    np.testing.assert_allclose(one.transform(table), other.transform(table), atol=1e-9)
    assert one.columns_ == other.columns_


@given(tables(), options)
def test_the_map_covers_every_model_column(table, how):
    encoder = Encoder(**how)
    matrix = encoder.fit_transform(table, table.y)
    assert matrix.shape == (table.n_rows, len(encoder.columns_))
    assert matrix.dtype == np.float64
    assert matrix.flags.c_contiguous
    assert len(set(names(encoder))) == len(encoder.columns_)
    sources = [encoder.used_[i] for i in encoder.sources_]
    assert sources == [column.source for column in encoder.columns_]
    assert set(sources) == set(encoder.used_)
    assert set(encoder.used_) | set(encoder.left_out_) == set(table.names)
    assert encoder.schema_.names == encoder.used_
    assert set(encoder.categorical_) <= set(range(matrix.shape[1]))


@given(tables(), options)
def test_a_copy_made_from_the_state_encodes_to_the_same_bits(table, how):
    encoder = Encoder(**how).fit(table, table.y)
    values, arrays = encoder.state()
    copy = Encoder.from_state(json.loads(json.dumps(values)), arrays)
    np.testing.assert_array_equal(copy.transform(table), encoder.transform(table))
    assert copy.get_params() == encoder.get_params()
    for attribute in ("schema_", "columns_", "categorical_", "used_", "left_out_"):
        assert getattr(copy, attribute) == getattr(encoder, attribute)
    np.testing.assert_array_equal(copy.sources_, encoder.sources_)


@given(tables(), options)
def test_training_rows_are_encoded_alike_by_fit_transform_and_transform(table, how):
    assume(how["categories"] != "target")  # cross-fitted: differs on purpose
    encoder = Encoder(**how)
    np.testing.assert_array_equal(encoder.fit_transform(table, table.y), encoder.transform(table))


@given(tables(), options)
def test_imputed_matrices_have_no_gaps(table, how):
    how = {**how, "missing": "impute"}
    assume(how["categories"] != "native")
    assert np.isfinite(Encoder(**how).fit_transform(table, table.y)).all()


@given(tables())
def test_scaled_quantities_have_mean_zero_and_deviation_one(table):
    encoder = Encoder(categories="target", scale=True)
    matrix = encoder.fit_transform(table, table.y)
    for column, values in zip(encoder.columns_, matrix.T, strict=True):
        if column.part == "missing" or column.source == "garage":
            assert set(values) <= {0.0, 1.0}
        elif np.ptp(values) > 0:
            assert values.mean() == pytest.approx(0.0, abs=1e-7)
            assert values.std() == pytest.approx(1.0, abs=1e-7)
        else:
            assert (values == 0.0).all()


@given(tables(), options)
@settings(max_examples=20)
def test_what_is_learned_comes_from_the_training_rows_alone(table, how):
    half = table.take(slice(0, table.n_rows // 2 + 1))
    assume(len(set(half["town"].values)) > 2)
    one = Encoder(**how).fit(half, half.y)
    # the same rows, cut from a table whose other rows brought further levels
    fewer = sorted(set(half["town"].values) - {-1})
    codes = np.array([fewer.index(code) if code >= 0 else -1 for code in half["town"].values])
    town = coded(codes, [half["town"].levels[code] for code in fewer])
    cut = Table(tuple(town if c.name == "town" else c for c in half.columns), half.roles)
    other = Encoder(**how).fit(cut, cut.y)
    assert one.columns_ == other.columns_
    np.testing.assert_array_equal(one.transform(table), other.transform(table))


@given(tables(), options, st.data())
def test_a_weight_counts_as_that_many_rows(table, how, data):
    assume(how["categories"] != "target")  # folds are drawn by position
    n = table.n_rows
    weight = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    weighted = Encoder(**how).fit(table, sample_weight=weight)
    repeated = Encoder(**how).fit(table.take(np.repeat(np.arange(n), weight)))
    assert weighted.columns_ == repeated.columns_
    np.testing.assert_allclose(
        weighted.transform(table), repeated.transform(table), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], "sample_weight has 1 values for 2 rows"),
        ([1.0, -1.0], "numbers of 0 or more"),
        ([0.0, 0.0], "at least one of them above 0"),
        ([1.0, NAN], "numbers of 0 or more"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(weight, message):
    with pytest.raises(InputError, match=message):
        Encoder().fit(Table((number([1, 2]),)), sample_weight=weight)


def test_missing_numbers_are_filled_with_the_median_and_pointed_out():
    encoder = Encoder().fit(Table((number([1, 2, NAN, 30]),)))
    assert names(encoder) == ["age", "age:missing"]
    assert encoder.columns_[1].part == "missing"
    np.testing.assert_array_equal(
        encoder.transform(Table((number([NAN, 5]),))), [[2.0, 1.0], [5.0, 0.0]]
    )


def test_a_gap_that_training_rows_did_not_have_is_filled_without_a_sign():
    encoder = Encoder().fit(Table((number([1, 2, 30]),)))
    np.testing.assert_array_equal(encoder.transform(Table((number([NAN]),))), [[2.0]])


def test_native_missing_passes_gaps_on():
    table = Table((number([1, NAN]), coded([-1, 0], ("no", "yes"), Kind.YES_NO, "garage")))
    matrix = Encoder(missing="native").fit_transform(table)
    np.testing.assert_array_equal(matrix, [[1.0, NAN], [NAN, 0.0]])


def test_onehot_has_a_column_for_each_level_that_occurs_and_for_missing():
    encoder = Encoder().fit(Table((coded([0, 2, -1], ("Lund", "Malmö", "Ystad")),)))
    assert names(encoder) == ["town=Lund", "town=Ystad", "town:missing"]
    new = Table((coded([0, 1, 2, 3, -1], ("Lund", "Malmö", "Ystad", "Kiruna")),))
    np.testing.assert_array_equal(
        encoder.transform(new), [[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]
    )


def test_a_missing_category_never_met_in_training_is_all_zeros():
    encoder = Encoder().fit(Table((coded([0, 1], "ab"),)))
    np.testing.assert_array_equal(encoder.transform(Table((coded([-1], "ab"),))), [[0.0, 0.0]])


def test_the_reference_is_the_most_frequent_level():
    encoder = Encoder(reference=True).fit(Table((coded([0, 1, 1, 2], "abc"),)))
    assert names(encoder) == ["town=a", "town=c"]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"categories": "ordinal"}, [0, 1, -1, -1, -1]),
        ({"categories": "ordinal", "missing": "native"}, [0, 1, -1, -1, NAN]),
        ({"categories": "native"}, [0, 1, NAN, NAN, NAN]),
    ],
)
def test_codes_of_seen_unseen_and_missing_levels(how, expected):
    encoder = Encoder(**how).fit(Table((coded([0, 2, -1], "abc"),)))
    codes = encoder.transform(Table((coded([0, 2, 1, 3, -1], "abcd"),)))
    np.testing.assert_array_equal(codes.ravel(), expected)
    assert encoder.columns_[0].levels == ("a", "c")
    assert encoder.categorical_ == ((0,) if how["categories"] == "native" else ())


def test_ordered_categories_keep_their_order_and_count_unseen_levels_as_missing():
    size = coded([2, 0, 1, 1, -1], ("S", "M", "L"), Kind.ORDERED, "size")
    encoder = Encoder().fit(Table((size,)))
    assert names(encoder) == ["size", "size:missing"]
    new = coded([0, 1, 2, 3, -1], ("S", "M", "L", "XL"), Kind.ORDERED, "size")
    np.testing.assert_array_equal(
        encoder.transform(Table((new,))), [[0, 0], [1, 0], [2, 0], [1, 1], [1, 1]]
    )


def test_dates_become_the_calendar_features_that_vary():
    table = Table((dates(["2023-01-01", "2023-06-15", "2023-06-16"]),))
    encoder = Encoder().fit(table)
    assert [column.part for column in encoder.columns_] == [
        "days since 2000-01-01",
        "month",
        "day of week",
        "day of year",
    ]
    assert {column.source for column in encoder.columns_} == {"start"}
    np.testing.assert_array_equal(encoder.transform(table)[1], [8566.0, 6.0, 4.0, 166.0])


def test_a_missing_date_is_filled_with_the_features_of_the_median_date():
    table = Table((dates(["2023-01-01", "2023-06-15", "NaT", "2024-06-16"]),))
    matrix = Encoder().fit_transform(table)
    np.testing.assert_array_equal(matrix[2, :-1], matrix[1, :-1])
    np.testing.assert_array_equal(matrix[:, -1], [0, 0, 1, 0])


def test_levels_are_matched_by_name_where_their_order_differs():
    encoder = Encoder(categories="ordinal").fit(Table((coded([0, 1], ("Lund", "Ystad")),)))
    new = Table((coded([0, 1, 2, -1], ("Ystad", "Kiruna", "Lund")),))
    np.testing.assert_array_equal(encoder.transform(new).ravel(), [1, -1, 0, -1])


def test_columns_are_found_by_name():
    table = Table((number([1, 2]), coded([0, 1], "ab")))
    encoder = Encoder().fit(table)
    swapped = table.select(["town", "age"])
    np.testing.assert_array_equal(encoder.transform(swapped), encoder.transform(table))


def test_text_is_left_out_and_named_in_a_warning():
    note = Column("note", Kind.TEXT, np.array(["a b", None], object))
    with pytest.warns(ClearwoodWarning, match="text column 'note' is left out"):
        encoder = Encoder().fit(Table((number([1, 2]), note)))
    assert encoder.used_ == ("age",)
    assert encoder.left_out_ == {"note": "text"}


def test_columns_with_other_roles_are_left_out():
    table = Table((number([1, 2]), number([1, 1], "w")), {"w": Role.WEIGHT})
    encoder = Encoder().fit(table)
    assert encoder.left_out_ == {"w": "weight"}
    assert isinstance(encoder.schema_, Schema)


def test_a_category_with_too_many_levels_is_refused_with_the_ways_out():
    zips = coded(np.arange(30), [str(i) for i in range(30)], name="zip")
    with pytest.raises(InputError, match=r"'zip' has 30 levels, more than 20.*categories='target'"):
        Encoder(max_levels=20).fit(Table((zips,)))
    Encoder(max_levels=20, categories="target").fit(Table((zips,)), np.arange(30.0))


def test_native_categories_beyond_the_learners_limit_are_target_encoded():
    table = Table((coded([0, 1, 2, 0], "abc"), coded([0, 1, 0, 1], "ab", name="few")))
    encoder = Encoder(categories="native", native_levels=2).fit(table, [1.0, 2.0, 3.0, 1.0])
    assert [column.part for column in encoder.columns_] == ["target", None]
    assert encoder.categorical_ == (1,)


def test_a_table_without_usable_features_is_refused():
    table = Table((number([1, 2], "y"),), {"y": Role.TARGET})
    with pytest.raises(InputError, match=r"no column can be used as a feature: 'y' \(target\)"):
        Encoder().fit(table)


def test_a_table_without_rows_is_refused():
    with pytest.raises(InputError, match="no rows"):
        Encoder().fit(Table((number([]),)))


def test_a_table_without_rows_is_encoded_as_an_empty_matrix():
    table = Table((number([1, 2]), coded([0, 1], "ab"), dates(["2023-01-01", "2024-01-01"])))
    encoder = Encoder().fit(table)
    assert encoder.transform(table.take(slice(0, 0))).shape == (0, len(encoder.columns_))


def test_another_kind_of_column_is_refused():
    encoder = Encoder().fit(Table((number([1, 2]),)))
    with pytest.raises(InputError, match=r"'age' is a category here, but was a number when"):
        encoder.transform(Table((coded([0], "a", name="age"),)))


def test_something_other_than_a_table_is_refused():
    with pytest.raises(InputError, match=r"takes a Table, not ndarray.*cw\.read"):
        Encoder().fit(np.eye(2))


def test_an_unknown_option_error_offers_the_nearest():
    with pytest.raises(InputError, match=r"categories='one-hot' is not.*'onehot'"):
        Encoder(categories="one-hot").fit(Table((number([1]),)))


def test_a_column_all_missing_in_the_training_rows_is_filled_with_zero():
    encoder = Encoder(scale=True).fit(Table((number([NAN, NAN]), number([1, 2], "x"))))
    np.testing.assert_array_equal(
        encoder.transform(Table((number([NAN, 7]), number([1, 2], "x")))),
        [[0, 1, -1], [0, 0, 1]],
    )


def test_huge_numbers_are_standardised_without_overflow():
    matrix = Encoder(scale=True).fit_transform(Table((number([1e300, -1e300, 1e300, -1e300]),)))
    np.testing.assert_allclose(matrix.ravel(), [1, -1, 1, -1])


def test_names_that_meet_become_unique():
    table = Table((number([1, NAN]), number([1, 2], "age:missing")))
    assert names(Encoder().fit(table)) == ["age", "age:missing", "age:missing (2)"]


def test_matrices_longer_than_a_block_are_whole():
    rng = np.random.default_rng(0)
    table = Table((number(rng.normal(size=10_000)), coded(rng.integers(0, 3, 10_000), "abc")))
    matrix = Encoder().fit_transform(table)
    np.testing.assert_array_equal(matrix[:, 0], table["age"].values)
    np.testing.assert_array_equal(matrix[:, 1:].argmax(axis=1), table["town"].values)


def test_a_clone_has_the_options_and_nothing_learned():
    encoder = Encoder(categories="target", smooth=2.0, seed=7).fit(
        Table((coded([0, 1], "ab"),)), [0.0, 1.0]
    )
    copy = clone(encoder)
    assert copy.get_params() == encoder.get_params()
    assert not hasattr(copy, "columns_")
