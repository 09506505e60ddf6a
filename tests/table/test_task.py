"""The task result from the target, and targets that cannot be learned."""

import numpy as np
import pytest

import clearwood as cw
from clearwood.table import Kind, find_task

N = 60


def draws(seed=0):
    return np.random.default_rng(seed)


def some_numbers(n=N):
    return draws(1).normal(size=n)


CASES = {
    "zero and one": ([0, 1] * 30, "binary"),
    "two words": (["good", "bad"] * 30, "binary"),
    "two numbers": ([1.5, 2.5] * 30, "binary"),
    "booleans": ([True, False] * 30, "binary"),
    "three words": (["a", "b", "c"] * 20, "multiclass"),
    "class numbers from 0": ([0, 1, 2] * 20, "multiclass"),
    "class numbers from 1": ([1, 2, 3, 4] * 15, "multiclass"),
    "counts": (np.minimum(draws().poisson(1.0, 600), 7), "count"),
    "rare counts": ([0] * 57 + [1, 1, 2], "count"),
    "numbers": (draws().normal(size=N), "regression"),
    "whole numbers from 3": (draws().integers(3, 9, N), "regression"),
    "many whole numbers": (draws().permutation(1000)[:N], "regression"),
    "negative whole numbers": (draws().integers(-3, 4, N), "regression"),
}


@pytest.mark.parametrize(("values", "task"), CASES.values(), ids=CASES)
def test_the_task_follows_from_the_target(values, task):
    assert str(find_task(values)) == task
    data = {"x": some_numbers(len(values)), "y": values}
    assert str(cw.read(data, target="y").task) == task


def test_the_task_can_be_set():
    data = {"x": some_numbers(), "y": [0, 1, 2] * 20}
    result = cw.read(data, target="y", task="count")
    assert str(result.task) == "count"
    np.testing.assert_array_equal(result.y, data["y"])


@pytest.mark.parametrize("values", [[0, 1, 2] * 20, [0] * 57 + [1, 1, 2]])
def test_where_the_values_leave_doubt_a_note_shows_how_to_set_the_task(values):
    result = cw.read({"x": some_numbers(), "y": values}, target="y")
    assert any("set task=" in str(note) for note in result.notes)


LABELS = {
    "whole": ([0, 1, 1] * 20, np.int64),
    "one and two": ([1, 2, 1] * 20, np.int64),
    "three": ([0, 1, 2] * 20, np.int64),
    "fractions": ([0.5, 1.5, 0.5] * 20, np.float64),
    "booleans": ([True, False, True] * 20, np.bool_),
    "words": (["a", "b", "a"] * 20, np.str_),
}


@pytest.mark.parametrize(("values", "dtype"), LABELS.values(), ids=LABELS)
def test_classes_keep_their_type(values, dtype):
    result = cw.read({"x": some_numbers(), "y": values}, target="y")
    assert result["y"].is_coded
    assert np.issubdtype(result.y.dtype, dtype)
    assert result.y.tolist() == values


def test_zero_and_one_in_a_file_are_numbers_again(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n" + "".join(f"{i / 7:.3f},{i % 2}\n" for i in range(N)))
    result = cw.read(path, target="y")
    assert result["y"].kind is Kind.YES_NO
    assert result.y.tolist() == [0, 1] * 30


def test_rows_without_a_target_are_dropped_and_counted():
    values = ["a", None, "b"] * 20
    result = cw.read({"x": np.arange(N) / 7, "y": values}, target="y")
    assert (result.n_rows, result.dropped) == (40, 20)
    assert result.notes == ("20 rows without a target left out",)
    np.testing.assert_allclose(result["x"].values * 7, [i for i in range(N) if i % 3 != 1])


def test_levels_that_only_dropped_rows_had_are_gone():
    data = {"x": ["rare", *["b", "c"] * 30], "y": [None, *some_numbers()]}
    assert cw.read(data, target="y").levels["x"] == ("b", "c")


def test_unused_levels_of_a_target_are_no_classes():
    pd = pytest.importorskip("pandas")
    y = pd.Categorical(["a", "b"] * 30, ["a", "b", "never"])
    result = cw.read({"x": some_numbers(), "y": pd.Series(y)}, target="y")
    assert str(result.task) == "binary"
    assert result.levels["y"] == ("a", "b")


BAD = {
    "misspelt": ({"accidents": [1, 2]}, "acidents", {}, "'acidents' .*did you mean 'accidents'"),
    "constant": ({"y": [3] * N}, "y", {}, "target 'y' is constant: every row has '3'"),
    "missing": ({"y": [None] * N}, "y", {}, "target 'y' is all missing"),
    "text": ({"y": [f"t{i}" for i in range(N)]}, "y", {}, "target 'y' has 60 different values"),
    "101 classes": (
        {"y": [f"t{i % 101}" for i in range(600)]},
        "y",
        {},
        "target 'y' has 101 different values, too many for classes",
    ),
    "infinite": ({"y": [np.inf, *range(N)]}, "y", {}, "column 'y' has 1 infinite value"),
    "dates": (
        {"y": np.arange(N).astype("datetime64[D]")},
        "y",
        {},
        "target 'y' holds dates, which cannot be predicted",
    ),
    "three rows": ({"y": [1, 2, 3]}, "y", {}, "the table has 3 rows with a target; at least 5"),
    "words as numbers": (
        {"y": ["a", "b"] * 30},
        "y",
        {"task": "regression"},
        "target 'y' holds words, not numbers",
    ),
    "negative counts": (
        {"y": [-1, 0, 1] * 20},
        "y",
        {"task": "count"},
        "target 'y' cannot be a count",
    ),
    "three classes as two": (
        {"y": ["a", "b", "c"] * 20},
        "y",
        {"task": "binary"},
        "target 'y' has 3 classes where a binary target has 2",
    ),
    "no such task": (
        {"y": [0, 1] * 30},
        "y",
        {"task": "regresion"},
        "task='regresion'.*did you mean 'regression'",
    ),
}


@pytest.mark.parametrize(("data", "target", "options", "message"), BAD.values(), ids=BAD)
def test_a_target_that_cannot_be_learned_is_refused_with_a_clear_message(
    data, target, options, message
):
    n_rows = len(next(iter(data.values())))
    with pytest.raises(cw.InputError, match=message):
        cw.read({"x": np.arange(n_rows) % 7 / 3, **data}, target=target, **options)


def test_a_target_with_decimal_commas_is_a_number():
    amounts = {"age": list(range(20)), "cost": [f"{i},25" for i in range(20)]}
    with pytest.warns(cw.ClearwoodWarning, match=r"',' as the decimal sign: 'cost' \(20 cells"):
        data = cw.read(amounts, target="cost")
    assert data.task == "regression"
    assert data.y.tolist() == [i + 0.25 for i in range(20)]
