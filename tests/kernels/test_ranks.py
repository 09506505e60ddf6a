import hashlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clearwood.kernels import _core, threads
from clearwood.kernels.split_codes import _as_float32

TINY = 5e-324
SPECIAL = [0.0, -0.0, np.inf, -np.inf, TINY, -TINY, 1e-60, -1e-60, 1e300, -1e300, 0.1, 16777217.0]
anything = st.one_of(st.sampled_from(SPECIAL), st.floats(allow_nan=False))
maybe_missing = st.one_of(anything, st.just(np.nan))
cuts = st.lists(anything, max_size=70).map(lambda given: np.unique(np.array(given, dtype=float)))
sides = st.sampled_from(["left", "right"])
# the fixture only sets the level, which every example may share
per_level = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def rank_columns(X, thresholds, *, side="left", precision="float64", n_jobs=1):
    """Call the kernel as trees do, with codes of the smallest type that has room."""
    cuts = [np.asarray(cut, np.float64) for cut in thresholds]
    flat = np.concatenate([np.empty(0), *cuts])
    if precision == "float32" or X.dtype == np.float32:
        # t <= x holds exactly if -x <= -t does, so the other side rounds the other way
        flat = _as_float32(flat) if side == "left" else -_as_float32(-flat)
    offsets = np.cumsum([0, *map(len, cuts)]).astype(np.int64)
    longest = max(map(len, cuts), default=0)
    types = (np.uint8, np.uint16, np.int32)
    dtype = next(one for one in types if longest < np.iinfo(one).max)
    codes = np.empty(X.shape, dtype, order="F")
    _core.rank_columns(X, flat, offsets, side == "right", codes, threads(n_jobs))
    return codes


def rank(values, thresholds, **options):
    return rank_columns(np.asarray(values)[:, np.newaxis], [thresholds], **options)[:, 0]


def expected(values, thresholds, side, precision):
    """Do the same with numpy: ranks as plain integers, -1 for missing."""
    values = np.asarray(values)
    if precision == "float32":
        with np.errstate(over="ignore"):
            values = values.astype(np.float32)
    # float64 holds every float32, so this comparison is the exact one
    found = np.searchsorted(thresholds, values.astype(np.float64), side=side)
    return np.where(np.isnan(values), -1, found)


def decoded(codes):
    return np.where(codes == np.iinfo(codes.dtype).max, -1, codes.astype(np.int64))


@per_level
@given(
    values=hnp.arrays(np.float64, st.integers(0, 600), elements=maybe_missing),
    thresholds=cuts,
    side=sides,
    precision=st.sampled_from(["float32", "float64"]),
)
def test_ranks_are_those_of_numpy(each_level, values, thresholds, side, precision):
    found = rank(values, thresholds, side=side, precision=precision)
    np.testing.assert_array_equal(decoded(found), expected(values, thresholds, side, precision))


@per_level
@given(
    values=hnp.arrays(np.float32, st.integers(0, 300), elements=st.floats(width=32)),
    thresholds=cuts,
    side=sides,
)
def test_float32_values_compare_exactly_with_float64_thresholds(
    each_level, values, thresholds, side
):
    found = rank(values, thresholds, side=side)
    np.testing.assert_array_equal(decoded(found), expected(values, thresholds, side, "float64"))


@per_level
@given(thresholds=cuts.filter(len), side=sides, precision=st.sampled_from(["float32", "float64"]))
def test_values_on_and_beside_a_threshold_fall_on_the_right_side(
    each_level, thresholds, side, precision
):
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
        values = np.concatenate(
            [
                thresholds,
                np.nextafter(thresholds, np.inf),
                np.nextafter(thresholds, -np.inf),
                single,
                np.nextafter(single, np.float32(np.inf)),
                np.nextafter(single, np.float32(-np.inf)),
            ]
        )
    found = rank(values, thresholds, side=side, precision=precision)
    np.testing.assert_array_equal(decoded(found), expected(values, thresholds, side, precision))


@pytest.mark.parametrize("n_thresholds", [0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 255, 1000, 70_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_are_those_of_numpy_for_few_and_many_thresholds(each_level, n_thresholds, dtype):
    random = np.random.default_rng(n_thresholds)
    thresholds = np.sort(random.normal(size=n_thresholds))
    values = random.normal(size=5000).astype(dtype)
    values[: min(n_thresholds, 1000)] = thresholds[:1000]
    values[1000:1003] = np.nan, np.inf, -np.inf
    for side in ("left", "right"):
        found = rank(values, thresholds, side=side)
        np.testing.assert_array_equal(decoded(found), expected(values, thresholds, side, "float64"))


def test_rank_tells_the_outcome_of_every_split():
    values, thresholds = np.array([1.0, 2.0, 2.5, 9.0]), np.array([2.0, 3.0])
    goes_left = rank(values, thresholds)[:, np.newaxis] <= np.arange(2)
    np.testing.assert_array_equal(goes_left, values[:, np.newaxis] <= thresholds)


def test_value_that_rounds_onto_a_threshold_goes_left_in_float32_only():
    threshold = float(np.float32(0.1))
    above = np.nextafter(threshold, 1.0)
    assert rank([above], [threshold], precision="float64")[0] == 1
    assert rank([above], [threshold], precision="float32")[0] == 0


def test_value_too_large_for_float32_counts_as_infinite():
    assert rank([1e300], [1e301], precision="float32")[0] == 1
    assert rank([1e300], [np.inf], precision="float32")[0] == 0


@pytest.mark.parametrize(
    ("n_thresholds", "dtype"),
    [(0, np.uint8), (254, np.uint8), (255, np.uint16), (65534, np.uint16), (65535, np.int32)],
)
def test_codes_have_the_smallest_type_with_room_for_missing(n_thresholds, dtype):
    thresholds = np.arange(n_thresholds, dtype=float)
    found = rank([np.inf, np.nan], thresholds)
    assert found.dtype == dtype
    assert found.tolist() == [n_thresholds, np.iinfo(dtype).max]


@per_level
@given(
    X=hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        st.tuples(st.integers(0, 40), st.integers(0, 5)),
        elements=st.floats(width=32),
    ),
    data=st.data(),
    side=sides,
)
def test_columns_are_ranked_each_against_its_own_thresholds(each_level, X, data, side):
    thresholds = [data.draw(cuts) for _ in range(X.shape[1])]
    found = rank_columns(X, thresholds, side=side)
    assert found.flags.f_contiguous
    assert found.shape == X.shape
    for j, cut in enumerate(thresholds):
        np.testing.assert_array_equal(decoded(found[:, j]), expected(X[:, j], cut, side, "float64"))


def _read_only(X):
    locked = X.copy()
    locked.flags.writeable = False
    return locked


@pytest.fixture
def table():
    random = np.random.default_rng(7)
    X = random.normal(size=(9001, 4))
    X[::13, 2] = np.nan
    thresholds = [np.sort(random.normal(size=size)) for size in (3, 0, 40, 300)]
    return X, thresholds, rank_columns(X, thresholds)


@pytest.mark.parametrize(
    "arrange",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.repeat(X, 3, axis=1)[:, ::3],
        lambda X: X[::-1].copy()[::-1],
        lambda X: X[:, ::-1].copy()[:, ::-1],
        lambda X: np.rec.fromarrays([X, X], dtype=[("x", "f8"), ("y", "f8")])["y"],
        _read_only,
    ],
    ids=[
        "column-major",
        "every second row",
        "every third column",
        "rows backwards",
        "columns backwards",
        "field of records",
        "read-only",
    ],
)
def test_memory_layout_does_not_matter(each_level, table, arrange):
    X, thresholds, codes = table
    arranged = arrange(X)
    np.testing.assert_array_equal(arranged, X)
    np.testing.assert_array_equal(rank_columns(arranged, thresholds), codes)


def test_broadcast_column_is_ranked_without_a_copy():
    constant = np.broadcast_to(np.float64(2.0), (1000,))
    assert (rank(constant, [1.0, 2.0, 3.0]) == 1).all()


@pytest.mark.parametrize("n_jobs", [2, 5, -1])
def test_number_of_threads_does_not_change_the_codes(each_level, table, n_jobs):
    X, thresholds, codes = table
    np.testing.assert_array_equal(rank_columns(X, thresholds, n_jobs=n_jobs), codes)


PROGRAM = """
import hashlib
import numpy as np
from clearwood.kernels import _core, simd_level
random = np.random.default_rng(3)
digest = hashlib.sha256()
for dtype in ("float32", "float64"):
    for size in (1, 20, 500):
        values = random.standard_cauchy((3001, 1)).astype(dtype)
        thresholds = np.sort(random.normal(size=size).astype(dtype))
        codes = np.empty(values.shape, np.uint16, order="F")
        _core.rank_columns(values, thresholds, np.array([0, size]), False, codes, 2)
        digest.update(codes.tobytes())
print(simd_level(), digest.hexdigest())
"""


def test_every_level_chosen_from_outside_gives_the_same_codes(run_python):
    digest = hashlib.sha256()
    random = np.random.default_rng(3)
    for dtype in (np.float32, np.float64):
        for size in (1, 20, 500):
            values = random.standard_cauchy(3001).astype(dtype)
            thresholds = np.sort(random.normal(size=size).astype(dtype))
            digest.update(np.searchsorted(thresholds, values).astype(np.uint16).tobytes())
    for level in _core.supported_levels():
        done = run_python(PROGRAM, CLEARWOOD_SIMD=level)
        assert done.stdout.split() == [level, digest.hexdigest()], done.stderr


@pytest.mark.parametrize(
    ("offsets", "shape"),
    [
        ([0, 1], (3, 2)),
        ([0, 1, 3], (3, 2)),
        ([0, 3, 2], (3, 2)),
        ([1, 1, 2], (3, 2)),
        ([0, 1, 2], (2, 2)),
    ],
)
def test_compiled_function_checks_shapes_before_it_reads(offsets, shape):
    codes = np.empty(shape, dtype=np.uint8, order="F")
    with pytest.raises(ValueError, match="rank_columns: "):
        _core.rank_columns(np.zeros((3, 2)), np.zeros(2), np.array(offsets), False, codes, 1)
